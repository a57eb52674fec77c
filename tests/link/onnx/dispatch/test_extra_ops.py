import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pytensor.tensor as pt
from pytensor.link.onnx import UnsupportedOpError, export_onnx
from pytensor.tensor.extra_ops import (
    Repeat,
    Unique,
    bartlett,
    fill_diagonal,
    fill_diagonal_offset,
)
from tests.link.onnx.strategies import (
    DTYPES,
    FLOATS,
    INTEGERS,
    few_values,
    small_floats,
    tensors,
    tensors_with_ties,
)
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types, run

X = np.arange(24, dtype="float32").reshape(2, 3, 4)
cumulative = st.sampled_from(["cumsum", "cumprod"])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(name=cumulative, data=st.data())
def test_cumulative(name, data):
    # NumPy accumulates narrower integers in int64, which isn't the dtype that the Op promises.
    floats = tensors(FLOATS, min_dims=1, elements=small_floats)
    x, value = data.draw(floats | tensors(["int64", "uint64"], min_dims=1))
    axis = data.draw(st.sampled_from([None, *range(x.ndim)]))
    compare_onnx_and_py([x], getattr(pt, name)(x, axis=axis), [value], rtol=0, atol=0)


@given(name=cumulative, data=st.data())
def test_cumulative_of_narrow_integers(name, data):
    x, value = data.draw(tensors(["bool", *INTEGERS], min_dims=1))
    axis = data.draw(st.integers(0, x.ndim - 1))
    for opset in (18, 24):
        (result,) = run(export_onnx([x], getattr(pt, name)(x, axis), opset_version=opset), [value])
        np.testing.assert_array_equal(result, getattr(np, name)(value, axis, dtype=value.dtype))
        assert result.dtype == value.dtype


def test_cumprod_goes_from_the_first_to_the_last():
    x = pt.dvector("x")
    compare_onnx_and_py([x], pt.cumprod(x), [[1e-300, 1e-300, 1e300, 1e300, 3]])


@pytest.mark.slow
@given(side=st.sampled_from(["left", "right"]), data=st.data())
def test_searchsorted(side, data):
    special = data.draw(st.booleans())
    elements = few_values if special else None
    dtypes = FLOATS if special else DTYPES
    x, array = data.draw(tensors(dtypes, min_dims=1, max_dims=1, elements=elements))
    v, values = data.draw(tensors(dtypes, elements=elements))
    order = pt.lvector("order")
    outputs = [
        pt.searchsorted(pt.sort(x), v, side=side),
        pt.searchsorted(x, v, side=side, sorter=order),
    ]
    compare_onnx_and_py([x, v, order], outputs, [array, values, np.argsort(array)])


@pytest.mark.slow
@given(data=st.data())
def test_repeat(data):
    x, value = data.draw(tensors(["bool", *INTEGERS[:7], *FLOATS], min_dims=1))
    axis = data.draw(st.integers(0, x.ndim - 1))
    n = value.shape[axis]
    counts = data.draw(hnp.arrays("int64", n, elements=st.integers(0, 3)))
    r, several = pt.lscalar("r"), pt.lvector("several")
    outputs = [pt.repeat(x, several, axis=axis), Repeat(axis)(x, pt.constant(counts))]
    if value.size:
        # Ends in a reshape that leaves a size over, which onnxruntime can't tell of nothing.
        outputs.append(pt.repeat(x, r, axis=axis))
    compare_onnx_and_py([x, r, several], outputs, [value, 3, counts])


def test_repeat_of_all_entries_alike():
    x, several = pt.fmatrix("x"), pt.tensor("several", shape=(None,), dtype="int32")
    outputs = [Repeat(1)(x, several), pt.repeat(x, 2), pt.repeat(x, 0, axis=1)]
    compare_onnx_and_py([x, several], outputs, [X[0], [2]])
    x = pt.tensor("x", shape=(1, None), dtype="float32")
    compare_onnx_and_py([x], pt.repeat(x, 0, axis=1), [X[0, :1, :0]])


@pytest.mark.slow
@given(data=st.data())
def test_unique(data):
    x, value = data.draw(tensors_with_ties(min_dims=1))
    wanted = data.draw(st.tuples(*[st.booleans()] * 3))
    outputs = Unique(*wanted)(x)
    compare_onnx_and_py([x], outputs, [value], rtol=0, atol=0)


def test_unique_of_a_scalar():
    x = pt.scalar("x")
    values, first, inverse, counts = Unique(True, True, True)(x)
    outputs = [values, first, inverse, counts, inverse.shape, Unique(axis=None)(x)]
    compare_onnx_and_py([x], outputs, [2.5])


@given(data=st.data())
def test_unique_slices(data):
    x, value = data.draw(
        tensors(
            ["bool", *INTEGERS], min_dims=1, min_side=1, elements=lambda dtype: st.integers(0, 1)
        )
    )
    axis = data.draw(st.integers(0, x.ndim - 1))
    compare_onnx_and_py([x], Unique(True, True, True, axis=axis)(x), [value])


@pytest.mark.parametrize("shape", [(3, 0), (1, 0), (0, 0), (3, 2, 0), (2, 0, 3)])
@pytest.mark.parametrize("static", [False, True])
def test_unique_slices_without_elements(shape, static):
    x = pt.tensor("x", shape=shape if static else (None,) * len(shape), dtype="int8")
    outputs = Unique(True, True, True, axis=0)(x)
    # Before it is run: onnxruntime's kernel ends the process.
    assert "Pad" in op_types(export_onnx([x], outputs))
    compare_onnx_and_py([x], outputs, [np.zeros(shape, "int8")])


def test_unique_slices_of_floats_are_refused():
    x = pt.fmatrix("x")
    with pytest.raises(UnsupportedOpError, match="flatten them first"):
        export_onnx([x], Unique(axis=1)(x))


def test_bartlett():
    n = pt.iscalar("n")
    window = bartlett(n)
    for value in (-3, 0, 1, 2, 5, 8):
        compare_onnx_and_py([n], window, [value])


@pytest.mark.parametrize("dtype", ["int16", "float16"])
def test_fill_diagonal(dtype):
    x, cube = pt.matrix("x", dtype=dtype), pt.tensor3("cube", dtype=dtype)
    offset = pt.bscalar("offset")
    value = pt.scalar("value", dtype=dtype)
    outputs = [fill_diagonal(x, value), fill_diagonal_offset(x, value, offset)]
    for shape in ((3, 5), (5, 3), (1, 4)):
        for k in (0, 1, -1):
            compare_onnx_and_py([x, value, offset], outputs, [np.zeros(shape), 1, k])
    compare_onnx_and_py([cube], fill_diagonal(cube, 1), [np.zeros((3, 3, 3))])


def test_unravel_and_ravel_index():
    i, dims = pt.imatrix("i"), pt.tensor("dims", shape=(3,), dtype="int16")
    outputs = [*pt.unravel_index(i, dims), *pt.unravel_index(i, dims, order="F")]
    compare_onnx_and_py([i, dims], outputs, [np.arange(60).reshape(5, 12), [3, 4, 5]])
    compare_onnx_and_py([i, dims], outputs, [np.zeros((0, 2)), [3, 4, 5]])
    compare_onnx_and_py([i, dims], outputs, [np.zeros((0, 2)), [3, 0, 5]])
    known = pt.unravel_index(i, (0, 3))
    compare_onnx_and_py([i], known, [np.zeros((0, 2))])
    j = pt.lmatrix("j")
    inside = np.arange(4).reshape(2, 2) % 3
    flat = [pt.ravel_multi_index((i, j, i), dims, order=order) for order in "CF"]
    compare_onnx_and_py([i, j, dims], flat, [inside, inside + 1, [3, 4, 5]])
    outside = np.array([[-1, 7], [-13, 100]])
    for mode in ("wrap", "clip"):
        flat = pt.ravel_multi_index((i, j, i), dims, mode=mode)
        compare_onnx_and_py([i, j, dims], flat, [outside, outside.T, [3, 4, 5]])
