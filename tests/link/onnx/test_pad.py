import numpy as np
import pytest

import pytensor.tensor as pt
from pytensor.link.onnx import UnsupportedOpError, export_onnx
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types

X = np.arange(12, dtype="float32").reshape(3, 4)
WIDTHS = ((1, 0), (2, 1))


@pytest.mark.parametrize("kwargs", [{"constant_values": 3}, {"mode": "edge"}, {"mode": "reflect"}])
def test_pad(kwargs):
    x = pt.fmatrix("x")
    model = compare_onnx_and_py([x], pt.pad(x, WIDTHS, **kwargs), [X])
    assert op_types(model)[-1] == "Pad"


def test_other_modes_are_refused():
    x = pt.fmatrix("x")
    with pytest.raises(UnsupportedOpError, match="only the pad modes constant, edge, reflect"):
        export_onnx([x], pt.pad(x, WIDTHS, mode="mean"))
