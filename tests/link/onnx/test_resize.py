import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytensor.tensor as pt
from pytensor.tensor.resize import COORDINATE_MODES, NEAREST_MODES, RESIZE_MODES, Resize
from pytensor.tensor.vjp import SymbolicPullback
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
    assert (op_types(model) == ["Resize"]) == (coordinates != "align_corners")


def test_nearest_cell_of_a_long_axis():
    # In single precision 30 / 0.3 and others fall short of a cell's edge
    x = pt.tensor("x", shape=(1, 1, None), dtype="float32")
    for how in ({"scale": 0.3}, {"size": 300}):
        y = pt.resize(
            x, coordinate_transformation_mode="asymmetric", nearest_mode="floor", **how
        )
        compare_onnx_and_py([x], y, [np.arange(1000).reshape(1, 1, -1)], rtol=0)


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


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("how", [{"scale": (2.0, 1.5)}, {"size": (7, 4)}])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_gradient(mode, how, static, dtype):
    x = pt.tensor("x", shape=(None, 3, 5, 8) if static else (None,) * 4, dtype=dtype)
    y = pt.resize(x, mode=mode, **how)
    g = pt.tensor4("g", dtype=dtype)
    spatial = [y.owner.op.output_length(length, i) for i, length in enumerate(X.shape[2:])]
    g_value = np.random.default_rng(9).normal(size=(*X.shape[:2], *spatial))
    compare_onnx_and_py([x, g], pt.grad(None, x, known_grads={y: g}), [X, g_value])


@st.composite
def resizings(draw):
    """An Op and the shape of its input."""
    n = draw(st.integers(1, 3))
    shape = [draw(st.integers(0, 3)), draw(st.integers(0, 3))]
    spatial = [draw(st.integers(1, 6)) for _ in range(n)]
    size = scale = None
    if draw(st.booleans()):
        size = tuple(draw(st.integers(1, 9)) for _ in range(n))
    else:
        scale = tuple(
            max(draw(st.sampled_from([0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0])), 1 / length)
            for length in spatial
        )
    mode = draw(st.sampled_from(RESIZE_MODES))
    op = Resize(
        size=size,
        scale=scale,
        mode=mode,
        coordinate_transformation_mode=draw(st.sampled_from(COORDINATE_MODES)),
        nearest_mode=draw(st.sampled_from(NEAREST_MODES)) if mode == "nearest" else "",
    )
    return op, (*shape, *spatial)


@given(resizings(), st.data())
def test_resizing_and_its_gradient_in_double_precision(resizing, data):
    op, shape = resizing
    static = [data.draw(st.sampled_from([length, None])) for length in shape]
    x = pt.tensor("x", shape=static, dtype="float64")
    value = data.draw(hnp.arrays("float64", shape, elements=st.integers(-4, 4)))
    y = op(x)
    spatial = [op.output_length(length, i) for i, length in enumerate(shape[2:])]
    g_shape = (*shape[:2], *spatial)
    g = pt.tensor("g", shape=g_shape, dtype="float64")
    g_value = data.draw(hnp.arrays("float64", g_shape, elements=st.integers(-4, 4)))
    compare_onnx_and_py([x, g], [y, SymbolicPullback(op=op)(x, g)], [value, g_value])
