"""What this distribution adds to `pytensor.link.jax`: loaded with PyTensor, so it loads no jax."""

from pytensor.link.generators import reseed
from pytensor.link.jax.generators import share_generators
from pytensor.link.jax.xla_guard import guard_xla

share_generators()

__all__ = ["guard_xla", "reseed"]
