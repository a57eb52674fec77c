"""What few graphs need is loaded when it is met."""


import pytest

from pytensor.link.onnx.converters import EXTRAS
from pytensor.link.onnx.dispatch import onnx_funcify
from pytensor.link.onnx.write.batched import onnx_batched
from tests.link.onnx.test_basic import run_python

EXTRAS_PACKAGE = "pytensor.link.onnx.extras."
SMALL = """
import sys
import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx

def loaded():
    return [name for name in sys.modules if name.startswith("pytensor.link.onnx")]

x = pt.matrix("x")
model = export_onnx([x], [pt.sigmoid(x @ x.T).sum(axis=1)])
from pytensor.link.onnx import from_onnx
from_onnx(model)
extras = [name for name in loaded() if ".extras." in name]
model = export_onnx([x], [pt.gammaln(x)])
special = {name.split(".")[4] for name in loaded() if ".extras." in name}
print(extras, special)
"""


@pytest.mark.slow
def test_a_small_export_loads_no_extras():
    assert run_python(SMALL, PYTENSOR_FLAGS="cxx=") == "[] {'special'}"


@pytest.mark.parametrize("table", [onnx_funcify, onnx_batched], ids=["ops", "batches"])
def test_extras_are_found_by_where_ops_are_defined(table):
    table.load()
    places = {
        op_class: converter.__globals__["__name__"]
        for op_class, converter in table.registry.items()
        if converter.__globals__["__name__"].startswith(EXTRAS_PACKAGE)
    }
    assert len(places) > 10
    for op_class, place in places.items():
        wanted = [name for start, name in EXTRAS.items() if op_class.__module__.startswith(start)]
        # A package, or a single module
        assert wanted in ([place.rpartition(".")[0]], [place])
