import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytensor
import pytensor.tensor as pt
from tests.link.onnx.strategies import DTYPES, tensors
from tests.link.onnx.test_basic import compare_onnx_and_py, dims, op_types

X = np.arange(2 * 6 * 4 * 5, dtype="float32").reshape(2, 6, 4, 5)


def images(*, static):
    shape = (None, 6, 4, 5) if static else (None, 6, None, None)
    return pt.tensor("x", shape=shape, dtype="float32")


def test_reshape_knows_its_sizes():
    x = images(static=True)
    model = compare_onnx_and_py(
        [x], x.reshape((x.shape[0], 2, -1)), [X], dynamic_axes={"x": {0: "N"}}
    )
    assert dims(model.graph.output[0]) == ["N", 2, 60]


def test_sizes_that_follow_from_those_of_weights_are_known():
    """Here to padding, which is one node where it knows the length."""
    x, w = pt.fmatrix("x"), pytensor.shared(np.ones((3, 6), "float32"))
    y = pt.pad((x @ w).reshape((x.shape[0], 2, -1)), [(0, 0), (0, 0), (1, 2)], mode="symmetric")
    model = compare_onnx_and_py([x], y, [np.arange(6).reshape(2, 3)])
    assert op_types(model) == ["MatMul", "Reshape", "Gather"]


def test_reshape_to_nothing():
    x = pt.fmatrix("x")
    compare_onnx_and_py([x], x.reshape((3, 0)), [np.zeros((0, 5))])


def test_specified_sizes():
    x, y = pt.fmatrix("x"), pt.tensor3("y", dtype="float32")
    outputs = [
        pt.exp(pt.specify_shape(x, (2, 3))),
        pt.specify_shape(y, (None, 3, None)),
        pt.specify_broadcastable(y, 2),
    ]
    model = compare_onnx_and_py([x, y], outputs, [np.ones((2, 3)), np.ones((0, 3, 1))])
    whole, middle, last = map(dims, model.graph.output)
    assert (whole, middle[1], last[2]) == ([2, 3], 3, 1)


def test_reshape_of_no_images():
    for static in (True, False):
        x = images(static=static)
        shapes = (x.shape[0], 2, 3, 20), (-1, 3, 20), (x.shape[0] // 2, 2, 120)
        compare_onnx_and_py([x], [x.reshape(shape) for shape in shapes], [X[:0]])


@pytest.mark.slow
@given(data=st.data())
def test_shapes_of_any_dtype(data):
    x, value = data.draw(tensors(DTYPES))
    first = data.draw(st.integers(0, x.ndim))
    n_axes = data.draw(st.integers(0, x.ndim - first))
    outputs = [x.shape, x.size, *x.shape, x.ravel()]
    outputs += [x.reshape([x.shape[i] for i in reversed(range(x.ndim))]), pt.atleast_3d(x)]
    if value.size:
        # Of nothing, NumPy can't tell what is left over, and PyTensor's rewrites fail.
        outputs += [pt.join_dims(x, first, n_axes), x.reshape((x.size, 1))]
    compare_onnx_and_py([x], outputs, [value])


@pytest.mark.slow
@given(data=st.data())
def test_run_time_reshape(data):
    x, value = data.draw(tensors(DTYPES, min_side=1))
    shape = pt.tensor("shape", shape=(3,), dtype=data.draw(st.sampled_from(["int8", "int64"])))
    parts = pt.lvector("parts")
    ravelled = x.ravel()
    sizes = data.draw(st.permutations([value.size, 1, -1]))
    outputs = [x.reshape(shape), ravelled.reshape((parts[0], 1, -1))]
    outputs += [pt.split_dims(ravelled, (parts[0], parts[1]), axis=0)]
    compare_onnx_and_py([x, shape, parts], outputs, [value, sizes, [value.size, 1]])


@pytest.mark.slow
def test_exact_reshapes_of_nothing():
    x = pt.tensor("x", shape=(None, None, None), dtype="float32")
    n, m, k = x.shape
    outputs = [
        x.reshape((n, m * k)),
        x.reshape((n * m, k)),
        x.reshape((n, 1, k, m)),
        pt.repeat(x, 3, axis=0),
        pt.repeat(pt.repeat(x, 0, axis=0), 0, axis=0),
        pt.repeat(pt.repeat(x.sum(axis=1), 0, axis=0), 0, axis=0),
    ]
    for shape in ((2, 3, 4), (0, 3, 4), (2, 0, 4), (2, 3, 0)):
        compare_onnx_and_py([x], outputs, [np.ones(shape)], exact=True)
