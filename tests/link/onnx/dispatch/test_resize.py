import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytensor.tensor as pt
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types
from tests.tensor.nn.test_interpolation import SCALED, results
from tests.tensor.resize.test_resize import naive_resize, resizings

X = np.random.default_rng(8).normal(size=(2, 3, 5, 8)).astype("float32")

TARGETS = [{"scale": (2.0, 1.5)}, {"size": (7, 4)}, {"size": (10, 16)}]


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("how", ["pytorch_half_pixel", "align_corners", "tf_half_pixel_for_nn"])
def test_interpolation(how, static):
    x = pt.tensor("x", shape=(None, 3, 5, 8) if static else (None,) * 4, dtype="float32")
    for target in TARGETS:
        y = pt.resize(x, mode="linear", coordinate_transformation_mode=how, **target)
        model = compare_onnx_and_py([x], y, [X])
        # Corners aligned by onnxruntime are those of the length after rounding, by ONNX those
        # before.
        native = not how.startswith("tf_")
        if "scale" in target and how == "align_corners":
            native = static
        assert (op_types(model) == ["Resize"]) == native


def test_cells_outside_are_left_out():
    # onnxruntime ignores exclude_outside without antialias
    x = pt.tensor("x", shape=(None, 3, 5, 8), dtype="float32")
    y = pt.resize(x, scale=(2.0, 1.5), mode="linear", exclude_outside=True)
    compare_onnx_and_py([x], y, [X])


def test_lengths_that_stay():
    # onnxruntime would return the input
    x = pt.tensor("x", shape=(1, 1, 3, 2), dtype="float32")
    y = pt.resize(x, scale=1.25, mode="linear")
    compare_onnx_and_py([x], y, [X[:1, :1, :3, :2]])


def test_nearest_cell_of_a_long_axis():
    # In single precision 30 / 0.3 and others fall short of a cell's edge
    x = pt.tensor("x", shape=(1, 1, None), dtype="float32")
    for how in ({"scale": 0.3}, {"size": 300}):
        y = pt.resize(x, coordinate_transformation_mode="asymmetric", nearest_mode="floor", **how)
        compare_onnx_and_py([x], y, [np.arange(1000).reshape(1, 1, -1)], rtol=0)


def test_length_of_an_open_axis():
    # Times 2.3 it is 115 in single precision, and a little less in double precision.
    x = pt.tensor("x", shape=(1, 1, None), dtype="float32")
    y = pt.resize(x, scale=2.3, mode="linear")
    compare_onnx_and_py([x], y, [np.arange(50).reshape(1, 1, -1)])


def test_double_precision_is_not_narrowed():
    x = pt.tensor("x", shape=(None, 1, None), dtype="float64")
    value = np.array([[[1 + 2.0**-40, 1 + 2.0**-39, 3.0]]])
    for mode in ("nearest", "linear"):
        model = compare_onnx_and_py([x], pt.resize(x, scale=2.0, mode=mode), [value], rtol=1e-15)
        assert "Resize" not in op_types(model)


def test_mode_that_needs_a_later_opset():
    x = pt.tensor4("x", dtype="float32")
    y = pt.resize(
        x, scale=2.5, mode="linear", coordinate_transformation_mode="half_pixel_symmetric"
    )
    model = compare_onnx_and_py([x], y, [X], opset_version=18)
    assert "Resize" not in op_types(model)
    model = compare_onnx_and_py([x], y, [X], opset_version=19)
    assert op_types(model) == ["Resize"]


@pytest.mark.slow
@given(resizings(), st.data())
def test_any_arguments(resizing, data):
    shape, options = resizing
    static = [data.draw(st.sampled_from([length, None])) for length in shape]
    dtype = data.draw(st.sampled_from(["float32", "float64"]))
    # places exactly at a border are others in single precision
    if "roi" in options:
        options["roi"] = tuple(bound + 0.01 * i for i, bound in enumerate(options["roi"]))
    x = pt.tensor("x", shape=static, dtype=dtype)
    value = data.draw(hnp.arrays(dtype, shape, elements=st.integers(-4, 4)))
    y = pt.resize(x, **options)
    g_shape = naive_resize(value, **options).shape
    g = pt.tensor("g", shape=g_shape, dtype=dtype)
    g_value = data.draw(hnp.arrays(dtype, g_shape, elements=st.integers(-4, 4)))
    outputs = [y, pt.grad(None, x, known_grads={y: g})]
    compare_onnx_and_py([x, g], outputs, [value, g_value], atol=1e-4)


@pytest.mark.parametrize("how", SCALED, ids=str)
def test_factors_of_open_lengths(how):
    x = pt.tensor4("x", dtype="float32")
    compare_onnx_and_py([x], results(x, pt.nn.interpolate(x, **how)), [X], atol=1e-5)
