import numpy as np
import pytest

import pytensor.tensor as pt
from pytensor.link.onnx import UnsupportedOpError, export_onnx
from pytensor.tensor.resize import COORDINATE_MODES, NEAREST_MODES
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types

X = np.random.default_rng(8).normal(size=(2, 3, 5, 8)).astype("float32")


@pytest.mark.parametrize("coordinates", COORDINATE_MODES)
@pytest.mark.parametrize("how", [{"scale": (2.0, 1.5)}, {"size": (7, 4)}, {"size": (10, 16)}])
@pytest.mark.parametrize("static", [True, False])
def test_linear(coordinates, how, static):
    x = pt.tensor("x", shape=(None, 3, 5, 8) if static else (None,) * 4, dtype="float32")
    y = pt.resize(x, mode="linear", coordinate_transformation_mode=coordinates, **how)
    model = compare_onnx_and_py([x], y, [X])
    assert op_types(model) == ["Resize"]


@pytest.mark.parametrize("nearest", NEAREST_MODES)
@pytest.mark.parametrize("coordinates", ["half_pixel", "asymmetric", "align_corners"])
@pytest.mark.parametrize("how", [{"scale": (2.0, 2.0)}, {"size": (10, 4)}])
def test_nearest(coordinates, nearest, how):
    x = pt.tensor("x", shape=(None, 3, 5, 8), dtype="float32")
    y = pt.resize(x, mode="nearest", coordinate_transformation_mode=coordinates,
                  nearest_mode=nearest, **how)  # fmt: skip
    model = compare_onnx_and_py([x], y, [X])
    assert op_types(model) == ["Resize"]


def test_double_precision_is_refused():
    x = pt.dtensor4("x")
    with pytest.raises(UnsupportedOpError, match="no Resize for float64"):
        export_onnx([x], pt.resize(x, scale=2.0))


def test_mode_that_needs_a_later_opset():
    x = pt.tensor4("x", dtype="float32")
    y = pt.resize(
        x, scale=2.5, mode="linear", coordinate_transformation_mode="half_pixel_symmetric"
    )
    with pytest.raises(UnsupportedOpError, match="opset_version 19"):
        export_onnx([x], y, opset_version=18)
