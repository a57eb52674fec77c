"""The module that this distribution adds to `pytensor.tensor.signal`, loaded when asked for."""

from importlib import import_module

# By name, the module that has it.
LAZY = {"pool": "pytensor.tensor.signal.pool"}

__all__ = []


def __getattr__(name):
    if name not in LAZY:
        raise AttributeError(f"module 'pytensor.tensor.signal' has no attribute {name!r}")
    return import_module(LAZY[name])


def __dir__():
    return sorted({*globals(), *LAZY})
