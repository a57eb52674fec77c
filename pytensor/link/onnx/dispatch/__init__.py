"""Converters; each module of this folder and of the room for extras registers its own."""

from importlib import import_module
from pkgutil import walk_packages

from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.extras import linalg, random, special

for package in (None, special, linalg, random):
    path, name = (package.__path__, package.__name__) if package else (__path__, __name__)
    for module in walk_packages(path, f"{name}."):
        import_module(module.name)

__all__ = ["onnx_funcify"]
