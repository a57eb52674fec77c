import numpy as np
import pytest

import pytensor.tensor as pt
from tests.link.onnx.test_basic import compare_onnx_and_py, dims, op_types

X = np.arange(2 * 6 * 4 * 5, dtype="float32").reshape(2, 6, 4, 5)


def images(*, static):
    shape = (None, 6, 4, 5) if static else (None, 6, None, None)
    return pt.tensor("x", shape=shape, dtype="float32")


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize(
    "shape",
    [
        lambda x: (x.shape[0], 2, 3, -1),
        lambda x: (x.shape[0], -1),
        lambda x: (x.shape[0], 6, x.shape[2] * x.shape[3]),
        lambda x: (-1, 3, 20),
        lambda x: (x.shape[0] * 6, 20),
        lambda x: (x.shape[0], 3, 2, x.shape[2] * x.shape[3]),
    ],
)
def test_reshape_needs_no_shape_arithmetic(shape, static):
    x = images(static=static)
    y = pt.exp(x)
    model = compare_onnx_and_py([x], y.reshape(shape(x)), [X % 3])
    assert sorted(op_types(model)) == ["Exp", "Reshape"]


def test_reshape_of_unrelated_sizes():
    x, n = images(static=False), pt.lscalar("n")
    outputs = [x.reshape((n, x.shape[2], -1)), x.reshape((x.shape[0], 3, 2, x.shape[2], -1))]
    compare_onnx_and_py([x, n], outputs, [X, 3])


def test_reshape_knows_its_sizes():
    x = images(static=True)
    model = compare_onnx_and_py(
        [x], x.reshape((x.shape[0], 2, -1)), [X], dynamic_axes={"x": {0: "N"}}
    )
    assert dims(model.graph.output[0]) == ["N", 2, 60]


def test_reshape_to_nothing():
    x = pt.fmatrix("x")
    compare_onnx_and_py([x], x.reshape((3, 0)), [np.zeros((0, 5))])


def test_shape():
    x = images(static=False)
    compare_onnx_and_py([x], [x.shape, x.shape[2], x.shape[0] * x.shape[3], x.size], [X])


def test_join_and_split_dims():
    x = images(static=False)
    outputs = [
        pt.join_dims(x, 1, 2),
        pt.join_dims(x, 2),
        pt.split_dims(x, (2, 3), axis=1),
        pt.split_dims(x, (x.shape[2] // 2, 2), axis=2),
    ]
    compare_onnx_and_py([x], outputs, [X])


def test_specify_shape():
    x = pt.fmatrix("x")
    model = compare_onnx_and_py([x], pt.exp(pt.specify_shape(x, (2, 3))), [np.ones((2, 3))])
    assert op_types(model) == ["Exp"]
    assert dims(model.graph.output[0]) == [2, 3]
