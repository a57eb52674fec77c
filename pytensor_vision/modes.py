"""Let ``config.mode`` and ``config.linker`` be ONNX, in PYTENSOR_FLAGS too.

PyTensor checks both against lists of its own while `pytensor.configdefaults` is executed, so the
graft enters this context around that.
thoughts/upstream/mode-names-are-fixed.md
"""

from contextlib import contextmanager

from pytensor.configparser import PyTensorConfigParser
from pytensor_vision.state import explain, failures

add = PyTensorConfigParser.add


@contextmanager
def onnx_is_known():
    """Have PyTensor's configuration take ONNX for a mode and a linker in here."""
    PyTensorConfigParser.add = add_with_onnx
    try:
        yield
    finally:
        PyTensorConfigParser.add = add


def add_with_onnx(self, name, doc, configparam, *others, **named):
    """Add a variable of the configuration, with ONNX among the modes and linkers."""
    try:
        if name == "mode":
            _accept(configparam, "ONNX")
        elif name == "linker":
            configparam.all.add("onnx")
    except AttributeError as error:  # of a PyTensor whose parameters are made in another way
        package = "pytensor.configdefaults"
        failures[package] = explain(package, error)
    add(self, name, doc, configparam, *others, **named)


def _accept(configparam, value):
    check = configparam._apply
    configparam._apply = lambda given: given if given == value else check(given)
