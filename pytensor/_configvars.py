"""Let ``config.mode`` and ``config.linker`` be ONNX, in PYTENSOR_FLAGS too.

PyTensor checks both against lists of its own while `pytensor.configdefaults` is executed, so the
graft enters this context around that.
"""

from contextlib import contextmanager

from pytensor.configparser import PyTensorConfigParser


@contextmanager
def onnx_is_known():
    add = PyTensorConfigParser.add

    def add_with_onnx(self, name, doc, configparam, in_c_key):
        if name == "mode":
            _accept(configparam, "ONNX")
        elif name == "linker":
            configparam.all.add("onnx")
        add(self, name, doc, configparam, in_c_key)

    PyTensorConfigParser.add = add_with_onnx
    try:
        yield
    finally:
        PyTensorConfigParser.add = add


def _accept(configparam, value):
    check = configparam._apply
    configparam._apply = lambda given: given if given == value else check(given)
