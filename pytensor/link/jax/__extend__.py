"""What this distribution adds to `pytensor.link.jax`: loaded with PyTensor, so it loads no jax."""

from pytensor.link.jax.xla_guard import guard_xla

__all__ = ["guard_xla"]
