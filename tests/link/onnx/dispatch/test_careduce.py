from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytensor.tensor as pt
from pytensor.scalar import and_, or_, xor
from pytensor.tensor.elemwise import CAReduce
from pytensor.tensor.math import Max, Min, ProdWithoutZeros
from tests.link.onnx.strategies import DTYPES, FLOATS, INTEGERS, axes_of, small_floats, tensors
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types

RNG = np.random.default_rng(1)
X = RNG.normal(size=(2, 3, 4))


def nonzero(x):
    return pt.neq(x, np.array(0, x.type.dtype))


@pytest.mark.slow
@given(data=st.data())
def test_integers(data):
    x, value = data.draw(tensors(["bool", *INTEGERS]))
    axis = data.draw(axes_of(x.ndim))
    outputs = [f(x, axis=axis) for f in (pt.sum, pt.prod)]
    outputs += [f(nonzero(x), axis=axis) for f in (pt.any, pt.all)]
    outputs += [CAReduce(f, axis=axis)(x) for f in (and_, or_, xor)]
    outputs += [Max(axis, initial=True)(x), Min(axis, initial=True)(x)]
    compare_onnx_and_py([x], outputs, [value])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(data=st.data())
def test_floats(data):
    x, value = data.draw(tensors(FLOATS, elements=small_floats))
    axis = data.draw(axes_of(x.ndim))
    outputs = [f(x, axis=axis) for f in (pt.sum, pt.prod, pt.any, pt.all)]
    outputs += [Max(axis, initial=True)(x), Min(axis, initial=True)(x)]
    compare_onnx_and_py([x], outputs, [value], rtol=0, atol=0)


@pytest.mark.parametrize("dtype", ["int64", "uint32", "uint64"])
@pytest.mark.parametrize("axis", [0, 1, None])
def test_extrema_of_large_integers(dtype, axis):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(0)
    value = rng.integers(info.min, info.max, (7, 9), dtype=dtype, endpoint=True)
    value[0] //= 2**29
    value[1:3, 2] = 2**31, 2**31 + 1
    x = pt.matrix("x", dtype=dtype)
    outputs = [x.max(axis=axis), x.min(axis=axis)]
    compare_onnx_and_py([x], outputs, [value], rtol=0, atol=0)
    compare_onnx_and_py([x], outputs, [value[::-1, ::-1]], rtol=0, atol=0)


@given(data=st.data())
def test_extrema(data):
    x, value = data.draw(tensors(DTYPES, min_side=1))
    axis = data.draw(axes_of(x.ndim))
    # pt.min(x) is -max(-x) until it is rewritten, which is wrong for the smallest integer.
    outputs = [Max(axis)(x), Min(axis)(x)]
    compare_onnx_and_py([x], outputs, [value], rtol=0, atol=0)


@given(data=st.data())
def test_accumulators(data):
    wide = st.sampled_from(["int64", "float64"])
    x, value = data.draw(tensors(["int8", "uint8", "int32", "uint16"]))
    axis, acc = data.draw(axes_of(x.ndim)), data.draw(wide)
    to = data.draw(st.sampled_from(["int8", "int32", "uint32", "int64", "float64"]))
    outputs = [pt.sum(x, axis=axis, dtype=to), pt.sum(x, axis=axis, acc_dtype=acc)]
    compare_onnx_and_py([x], outputs, [value])


def test_extremum_of_negative_zeros():
    x = pt.fvector("x")
    compare_onnx_and_py([x], [1 / x.max(), 1 / x.min()], [np.float32([-0.0, -0.0])])


def test_integers_are_not_summed_in_double_precision():
    x = pt.lmatrix("x")
    value = np.array([[2**53 + 1, 1], [2**62, 5], [2**62, 7]])
    compare_onnx_and_py([x], [x.sum(), x.sum(axis=0), x.prod(axis=1)], [value])
    narrow = pt.tensor("narrow", shape=(100, 3), dtype="int32")
    model = compare_onnx_and_py([narrow], narrow.sum(axis=0), [np.full((100, 3), 2**31 - 1)])
    assert op_types(model) == ["Cast", "ReduceSum"]


@pytest.mark.parametrize(("shape", "stages"), [((30, 40), 2), ((5, 8), 1), ((1200,), 1)])
def test_sums_of_many_numbers_are_made_in_stages(shape, stages):
    x = pt.tensor("x", shape=shape, dtype="float32")
    model = compare_onnx_and_py([x], x.sum(), [np.full(shape, 0.0067, "float32")])
    assert op_types(model) == ["ReduceSum"] * stages


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_product_without_zeros(dtype):
    x = pt.matrix("x", dtype=dtype)
    value = [[0, 3, 0], [0, 0, 0], [2, -4, 5]]
    outputs = [ProdWithoutZeros(axis=axis)(x) for axis in (0, 1, None)]
    compare_onnx_and_py([x], outputs, [value])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8"])
@pytest.mark.parametrize("shape", [(3, 4), (0, 4)])
def test_sum_of_squares(dtype, shape):
    x = pt.matrix("x", dtype=dtype)
    value = (np.arange(prod(shape)).reshape(shape) - 5).astype(dtype)
    compare_onnx_and_py([x], [pt.sqr(x).sum(axis=axis) for axis in (None, 0, ())], [value])
