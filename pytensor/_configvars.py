"""Let ``config.mode`` and ``config.linker`` be ONNX, in PYTENSOR_FLAGS too.

PyTensor checks both against lists of its own while `pytensor.configdefaults` is executed, so the
graft enters this context around that.
thoughts/upstream/mode-names-are-fixed.md
"""

from contextlib import contextmanager

import pytensor_vision
from pytensor.configparser import PyTensorConfigParser

add = PyTensorConfigParser.add


@contextmanager
def onnx_is_known():
    PyTensorConfigParser.add = add_with_onnx
    try:
        yield
    finally:
        PyTensorConfigParser.add = add


def add_with_onnx(self, name, doc, configparam, *others, **named):
    try:
        if name == "mode":
            _accept(configparam, "ONNX")
        elif name == "linker":
            configparam.all.add("onnx")
    except AttributeError as error:  # of a PyTensor whose parameters are made in another way
        package = "pytensor.configdefaults"
        pytensor_vision.failures[package] = pytensor_vision.explain(package, error)
    add(self, name, doc, configparam, *others, **named)


def _accept(configparam, value):
    check = configparam._apply
    configparam._apply = lambda given: given if given == value else check(given)
