"""Converters; each module of this folder registers its own, those of extras when they are met."""

from importlib import import_module
from pkgutil import walk_packages

from pytensor.link.onnx.converters import onnx_funcify

for module in walk_packages(__path__, f"{__name__}."):
    import_module(module.name)

__all__ = ["onnx_funcify"]
