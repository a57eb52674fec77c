"""Mode JAX with choices that PyTensor's own doesn't offer: see `jax_mode`."""

from pytensor.link.jax.tuned.linker import TunedJAXLinker
from pytensor.link.jax.tuned.mode import jax_mode
from pytensor.link.jax.tuned.options import Options

__all__ = ["Options", "TunedJAXLinker", "jax_mode"]
