"""Converters; each module here registers some, a module of extras when its Op is met."""

from importlib import import_module
from pkgutil import walk_packages

from pytensor.link.onnx.converters import onnx_funcify

for module in walk_packages(__path__, f"{__name__}."):
    import_module(module.name)

__all__ = ["onnx_funcify"]
