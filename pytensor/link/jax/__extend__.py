"""What this distribution adds to `pytensor.link.jax`: loaded with PyTensor, so it loads no jax."""

from importlib import import_module

from pytensor.link.generators import reseed
from pytensor.link.jax.generators import share_generators
from pytensor.link.jax.xla_guard import guard_xla

share_generators()

# By name, the module that has it.
LAZY = {"jax_mode": "pytensor.link.jax.mode"}

__all__ = ["guard_xla", "reseed"]


def __getattr__(name):
    if name not in LAZY:
        raise AttributeError(f"module 'pytensor.link.jax' has no attribute {name!r}")
    return getattr(import_module(LAZY[name]), name)


def __dir__():
    return sorted({*globals(), *LAZY})
