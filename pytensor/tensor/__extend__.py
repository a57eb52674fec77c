"""Names that this distribution adds to `pytensor.tensor`; most are loaded when they are asked for.

`resize` and `topk` are not: a module of the same name, once loaded, would take their place.
"""
# ruff: noqa: F822  # `__getattr__` has the other names of `__all__`

from importlib import import_module

import pytensor.tensor.integer_gradients
from pytensor.tensor.resize import resize
from pytensor.tensor.topk import topk

# By name, the module of `pytensor.tensor` that has it.
LAZY = {
    "batch_normalization": "batchnorm",
    "batch_normalization_train": "batchnorm",
    "conv2d": "conv",
    "nn": "nn",
    "pool_2d": "pool",
    "silu": "nn",
}

__all__ = [
    "batch_normalization", "batch_normalization_train", "conv2d", "nn", "pool_2d", "resize", "silu",
    "topk",
]  # fmt: skip


def __getattr__(name):
    if name not in LAZY:
        raise AttributeError(f"module 'pytensor.tensor' has no attribute {name!r}")
    module = import_module(f"pytensor.tensor.{LAZY[name]}")
    return module if name == "nn" else getattr(module, name)


def __dir__():
    return sorted({*globals(), *LAZY})
