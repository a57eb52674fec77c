"""`jax_mode`: mode JAX with options that PyTensor's own doesn't offer."""

from pytensor.link.jax.mode.linker import TunedJAXLinker
from pytensor.link.jax.mode.mode import jax_mode
from pytensor.link.jax.mode.options import Options

__all__ = ["Options", "TunedJAXLinker", "jax_mode"]
