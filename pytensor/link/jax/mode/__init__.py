"""`jax_mode`, a JAX mode for training networks."""

from pytensor.link.jax.mode.linker import TunedJAXLinker
from pytensor.link.jax.mode.mode import jax_mode
from pytensor.link.jax.mode.options import Options

__all__ = ["Options", "TunedJAXLinker", "jax_mode"]
