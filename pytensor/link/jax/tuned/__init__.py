"""Mode JAX with choices that PyTensor's own doesn't offer: see `jax_mode`."""

from pytensor.link.jax.tuned.linker import PRECISIONS, TunedJAXLinker
from pytensor.link.jax.tuned.mode import jax_mode

__all__ = ["PRECISIONS", "TunedJAXLinker", "jax_mode"]
