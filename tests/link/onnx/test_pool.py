import numpy as np
import pytest

import pytensor.tensor as pt
from pytensor.link.onnx import UnsupportedOpError, export_onnx
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types

X = np.random.default_rng(7).normal(size=(2, 3, 9, 12)).astype("float32") - 1


@pytest.mark.parametrize("mode", ["max", "sum", "average_inc_pad", "average_exc_pad"])
@pytest.mark.parametrize("ignore_border", [True, False])
@pytest.mark.parametrize(
    ("ws", "stride", "pad"),
    [((2, 3), None, (0, 0)), ((3, 2), (2, 3), (1, 0)), ((5, 5), (1, 1), (2, 2)),
     ((2, 4), (3, 5), (1, 3)), ((4, 3), (3, 2), (2, 1))],
)  # fmt: skip
def test_pool_2d(ws, stride, pad, ignore_border, mode):
    x = pt.tensor("x", shape=(None, 3, 9, 12), dtype="float32")
    y = pt.pool_2d(x, ws, ignore_border, stride, pad, mode)
    model = compare_onnx_and_py([x], y, [X])
    assert not any(a.name == "ceil_mode" for n in model.graph.node for a in n.attribute)


@pytest.mark.parametrize("mode", ["max", "average_exc_pad"])
@pytest.mark.parametrize("ignore_border", [True, False])
def test_unknown_image_size(ignore_border, mode):
    x = pt.tensor4("x", dtype="float32")
    for height in (7, 8, 9):
        y = pt.pool_2d(x, (3, 2), ignore_border, (2, 3), (1, 1), mode)
        compare_onnx_and_py([x], y, [X[:, :, :height]])


def test_stride_one_is_always_floor_mode():
    x = pt.tensor4("x", dtype="float32")
    model = compare_onnx_and_py([x], pt.pool_2d(x, 3, False, 1, 1), [X])
    (pool,) = model.graph.node
    assert not any(a.name == "ceil_mode" for a in pool.attribute)


def test_padding_is_minus_infinity():
    x = pt.tensor("x", shape=(None, 3, 9, 12), dtype="float32")
    model = compare_onnx_and_py([x], pt.max_pool2d(x, 5, 1, 2), [-np.abs(X)])
    assert op_types(model) == ["MaxPool"]


def test_matrix():
    x = pt.fmatrix("x")
    compare_onnx_and_py([x], pt.max_pool2d(x, 2), [X[0, 0]])


def test_average_in_double_precision_is_refused():
    x = pt.dtensor4("x")
    with pytest.raises(UnsupportedOpError, match="no AveragePool for float64"):
        export_onnx([x], pt.avg_pool2d(x, 2))
    compare_onnx_and_py([x], pt.max_pool2d(x, 2), [X])
