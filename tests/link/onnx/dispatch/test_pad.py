import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pytensor.tensor as pt
from tests.link.onnx.strategies import DTYPES, FLOATS, INTEGERS, tensors
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types

X = np.arange(12, dtype="float32").reshape(3, 4)
WIDTHS = ((1, 0), (2, 1))


@pytest.mark.parametrize("mode", ["reflect", "symmetric", "wrap"])
def test_one_gather_per_axis(mode):
    x = pt.tensor("x", shape=(3, None), dtype="float32")
    model = compare_onnx_and_py([x], pt.pad(x, ((4, 5), (0, 0)), mode=mode), [X])
    assert op_types(model) == ["Gather"]


@given(mode=st.sampled_from(["reflect", "symmetric", "wrap"]), data=st.data())
def test_copies(mode, data):
    x, value = data.draw(tensors(DTYPES, min_dims=1, min_side=1))
    # ONNX has one turn only, and a model with symbolic sizes can't know that it needs more.
    most = 0 if mode == "reflect" and None in x.type.shape else 9
    widths = data.draw(hnp.arrays("int64", (x.ndim, 2), elements=st.integers(0, most)))
    outputs = [pt.pad(x, widths, mode=mode)]
    compare_onnx_and_py([x], outputs, [value], rtol=0, atol=0)


@pytest.mark.slow
@given(mode=st.sampled_from(["constant", "edge"]), data=st.data())
def test_fills(mode, data):
    side = 1 if mode == "edge" else 0
    x, value = data.draw(tensors([*INTEGERS[:3], *FLOATS], min_dims=1, min_side=side))
    shape = data.draw(st.sampled_from([(), (1,), (2,), (1, 2), (x.ndim, 2)]))
    widths = data.draw(hnp.arrays("int64", shape, elements=st.integers(0, 3)))
    fill = np.arange(np.prod(shape, dtype=int)).reshape(shape) + 0.5
    kwargs = {"constant_values": fill} if mode == "constant" else {}
    run_time = pt.tensor("widths", shape=shape, dtype="int32")
    outputs = [pt.pad(x, w, mode=mode, **kwargs) for w in (widths, run_time)]
    compare_onnx_and_py([x, run_time], outputs, [value, widths], rtol=0, atol=0)


def test_run_time_fill():
    x, fill = pt.dmatrix("x"), pt.dmatrix("fill")
    values = np.arange(4).reshape(2, 2) + 0.5
    compare_onnx_and_py([x, fill], pt.pad(x, WIDTHS, constant_values=fill), [X, values])


@pytest.mark.parametrize(
    "kwargs",
    [
        {"mode": "linear_ramp", "end_values": ((1, 2), (3, 4))},
        {"mode": "maximum"},
        {"mode": "mean", "stat_length": ((1, 2), (3, 9))},
    ],
)
def test_statistics(kwargs):
    x, widths = pt.tensor("x", shape=(3, 4), dtype="float64"), pt.lmatrix("widths")
    outputs = [pt.pad(x, w, **kwargs) for w in (WIDTHS, widths)]
    values = np.where(X == 6, np.nan, X)
    compare_onnx_and_py([x, widths], outputs, [X % 5, WIDTHS])
    compare_onnx_and_py([x, widths], outputs, [values, [[0, 3], [4, 0]]])


def test_mean_of_no_entries():
    x = pt.fmatrix("x")
    padded = pt.pad(x, ((1, 2), (0, 0)), mode="mean")
    compare_onnx_and_py([x], padded, [np.zeros((0, 3), "float32")])


def test_run_time_widths():
    x, widths = pt.fmatrix("x"), pt.lmatrix("widths")
    padded = [pt.pad(x, widths, mode=mode) for mode in ("reflect", "symmetric", "wrap")]
    for values in (((1, 0), (2, 1)), ((7, 2), (0, 9))):
        compare_onnx_and_py([x, widths], padded, [X, values])


def test_reflection_of_an_axis_that_turns_out_to_be_short():
    x = pt.fmatrix("x")
    padded = pt.pad(x, ((2, 3), (0, 5)), mode="reflect")
    for shape in ((1, 1), (2, 1), (3, 4)):
        value = np.arange(np.prod(shape)).reshape(shape)
        compare_onnx_and_py([x], padded, [value], exact=True)
