import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytensor.tensor as pt
from pytensor import function
from pytensor.link.onnx import UnsupportedOpError, export_onnx
from pytensor.tensor.basic import PermuteRowElements
from pytensor.typed_list import make_list
from tests.link.onnx.strategies import DTYPES, FLOATS, INTEGERS, tensors
from tests.link.onnx.test_basic import compare_onnx_and_py

X = np.arange(24, dtype="float32").reshape(2, 3, 4)


@pytest.mark.parametrize(("shapes", "axis"), [(((0, 3), (2, 4)), 0), (((2, 4), (0, 3)), 1)])
def test_parts_that_do_not_fit_an_empty_one(shapes, axis):
    """onnxruntime doesn't look at empty parts, and returned memory that nobody wrote."""
    x, y = pt.matrices("xy")
    f = function([x, y], pt.join(axis, x, y), mode="ONNX")
    with pytest.raises(ValueError, match="other lengths"):
        f(*map(np.zeros, shapes))
    rows = np.ones((2, 3))
    nothing = np.ones((0, 3) if axis == 0 else (2, 0))
    np.testing.assert_array_equal(f(rows, nothing), rows)


def test_stack_of_an_empty_vector():
    x, y = pt.vectors("xy")
    f = function([x, y], pt.stack([x, y]), mode="ONNX")
    with pytest.raises(ValueError, match="other lengths"):
        f(np.zeros(0), np.ones(3))
    np.testing.assert_array_equal(f(np.zeros(3), np.ones(3)), [[0] * 3, [1] * 3])


@pytest.mark.slow
@given(data=st.data())
def test_join_and_split_of_any_dtype(data):
    x, value = data.draw(tensors(DTYPES, min_dims=1))
    y = pt.tensor("y", dtype=data.draw(st.sampled_from(DTYPES)), shape=(None,) * x.ndim)
    sizes = pt.tensor(
        "sizes", dtype=data.draw(st.sampled_from(["int8", "int64", "uint16"])), shape=(None,)
    )
    axis = data.draw(st.integers(0, x.ndim - 1))
    first = data.draw(st.integers(0, value.shape[axis]))
    outputs = [pt.join(axis, x, y), pt.stack([x, x], axis=axis)]
    outputs += pt.split(x, sizes, n_splits=2, axis=axis)
    split = [first, value.shape[axis] - first]
    compare_onnx_and_py([x, y, sizes], outputs, [value, np.ones(value.shape), split])


def test_split_into_known_parts():
    x, y = pt.tensor("x", shape=(None, 3, 4)), pt.tensor("y", shape=(3, None))
    outputs = [*pt.split(x, [1, 3], n_splits=2, axis=2), pt.split(y, [3], n_splits=1, axis=0)]
    compare_onnx_and_py([x, y], outputs, [X, np.ones((3, 0))])


@given(dtype=st.sampled_from([*INTEGERS, *FLOATS]), data=st.data())
def test_arange_of_integers(dtype, data):
    of = data.draw(st.sampled_from(INTEGERS))
    bounds = [pt.scalar(name, dtype=of) for name in ("start", "stop", "step")]
    low = 0 if of.startswith("u") else -100
    start, stop = data.draw(st.tuples(st.integers(low, 100), st.integers(low, 100)))
    step = data.draw(st.integers(1, 20)) * (-1 if low and data.draw(st.booleans()) else 1)
    if dtype.startswith("u"):
        start, stop, step = abs(start), abs(stop), abs(step)
    compare_onnx_and_py(bounds, pt.arange(*bounds, dtype=dtype), [start, stop, step])


def test_arange_of_large_integers():
    for dtype, low in (
        ("int64", -(2**63)),
        ("int64", 2**53),
        ("uint64", 2**63 - 2),
        ("uint64", 2**64 - 6),
    ):
        bounds = [pt.scalar(name, dtype=dtype) for name in ("start", "stop")]
        compare_onnx_and_py(bounds, pt.arange(*bounds, dtype=dtype), [low + 1, low + 5])


@pytest.mark.slow
@given(dtype=st.sampled_from([*FLOATS, "int32"]), data=st.data())
def test_arange_of_floats(dtype, data):
    of = data.draw(st.sampled_from(FLOATS))
    bounds = [pt.scalar(name, dtype=of) for name in ("start", "stop", "step")]
    number = st.floats(-20, 20, width=16)
    step = data.draw(st.floats(0.125, 7, width=16)) * data.draw(st.sampled_from([1, -1]))
    values = [data.draw(number), data.draw(number), step]
    compare_onnx_and_py(bounds, pt.arange(*bounds, dtype=dtype), values, rtol=0, atol=0)


def test_arange_counts_as_numpy_does():
    bounds = pt.dscalars("start", "stop", "step")
    numbers = pt.arange(*bounds)
    for values in ((0, 1, 0.1), (1, 1.3, 0.1), (0.5, 0.1, -0.2)):
        compare_onnx_and_py(bounds, numbers, values, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", ["bool", "uint16", "float64"])
def test_run_time_eye_and_tri(dtype):
    n, m, k = pt.iscalar("n"), pt.lscalar("m"), pt.bscalar("k")
    outputs = [pt.eye(n, m, k, dtype=dtype), pt.tri(n, m, k, dtype=dtype)]
    for values in ((3, 5, 0), (4, 2, 1), (3, 3, -2), (0, 2, 0), (2, 0, 1), (2, 2, 9)):
        compare_onnx_and_py([n, m, k], outputs, values)


@given(data=st.data())
def test_diagonals(data):
    x, value = data.draw(tensors(DTYPES, min_dims=2))
    first, second = data.draw(st.permutations(range(x.ndim)))[:2]
    offset = data.draw(st.integers(-4, 4))
    outputs = [pt.diagonal(x, offset=offset, axis1=first, axis2=second)]
    compare_onnx_and_py([x], outputs, [value])


@pytest.mark.slow
@given(data=st.data())
def test_matrices_of_diagonals(data):
    x, value = data.draw(tensors(DTYPES, min_dims=1))
    first, second = data.draw(st.permutations(range(x.ndim + 1)))[:2]
    offset = data.draw(st.integers(-2, 2))
    compare_onnx_and_py([x], pt.basic.alloc_diag(x, offset, first, second), [value])


@pytest.mark.parametrize("inverse", [False, True])
def test_permute_row_elements(inverse):
    x, one, each = pt.matrix("x"), pt.ivector("one"), pt.lmatrix("each")
    row = pt.dvector("row")
    permute = PermuteRowElements(inverse)
    outputs = [permute(x, one), permute(x, each), permute(row, each)]
    values = [X[0], [2, 0, 3, 1], [[2, 0, 3, 1], [0, 1, 3, 2], [3, 1, 2, 0]], X[1, 0]]
    compare_onnx_and_py([x, one, each, row], outputs, values)


def test_choose():
    index, choices = pt.lmatrix("index"), pt.tensor3("choices")
    vectors, flat = pt.matrix("vectors"), pt.lvector("flat")
    for mode, values in (("raise", [0, 1, 1, 0]), ("wrap", [-3, 2, 5, 0]), ("clip", [-3, 7, 1, 0])):
        outputs = [pt.choose(a, c, mode=mode) for a in (index, flat) for c in (choices, vectors)]
        arrays = [[values, values[::-1], values], X, X[:, 0], values]
        compare_onnx_and_py([index, choices, vectors, flat], outputs, arrays)


def test_choose_from_a_list():
    """A typed list has no shape, and constants become a constant one."""
    index, x, y = pt.lmatrix("index"), pt.matrix("x"), pt.matrix("y")
    row, flat = pt.row("row"), pt.lvector("flat")
    pairs = [[x, y], [x, row], [row, row], [X[0, 0], X[1, 0]]]
    outputs = [pt.choose(index, pair, mode="wrap") for pair in pairs]
    outputs += [pt.choose(index, x[0], mode="wrap"), pt.choose(flat, [2, 5, 7], mode="wrap")]
    numbers = [-3, 2, 5, 0]
    values = [[numbers, numbers[::-1], numbers], X[0], X[1], X[0, :1], numbers]
    compare_onnx_and_py([index, x, y, row, flat], outputs, values)


def test_choices_larger_than_the_index_are_refused():
    x = pt.vector("x")
    with pytest.raises(UnsupportedOpError, match="choices in the list are larger; stack them"):
        export_onnx([x], pt.choose(pt.constant([1]), [x, x]))


def test_lists_are_refused():
    x = pt.vector("x")
    with pytest.raises(UnsupportedOpError, match=r"2 node.*\n.*MakeList.*\n.*\n.*GetItem"):
        export_onnx([x], make_list([x, x])[0])


@pytest.mark.parametrize("wrong", [-1, 2])
def test_choosing_what_there_is_not_is_an_error(wrong):
    index, choices = pt.lvector("index"), pt.matrix("choices")
    f = function([index, choices], pt.choose(index, choices), mode="ONNX")
    with pytest.raises(Exception, match="choose_0"):
        f([0, wrong], X[0, :2, :2])


@pytest.mark.slow
@given(data=st.data())
def test_alloc_of_any_dtype(data):
    x, value = data.draw(tensors(DTYPES))
    n, m = pt.lscalar("n"), pt.tensor("m", shape=(), dtype="uint8")
    outputs = [pt.alloc(x, n, *x.shape), pt.alloc(x, m, 2, *x.shape), pt.zeros_like(x)]
    outputs += [pt.stack([n, m, 3, n + 1])]
    sizes = data.draw(st.tuples(*[st.integers(0, 2)] * 2))
    compare_onnx_and_py([x, n, m], outputs, [value, *sizes])
