import numpy as np
import pytest

import pytensor.tensor as pt
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types

X = np.random.default_rng(4).permutation(60).reshape(3, 4, 5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_topk(axis, dtype):
    x = pt.tensor("x", shape=(None, None, 5), dtype=dtype)
    model = compare_onnx_and_py([x], pt.topk(x, 3, axis=axis), [X])
    assert op_types(model) == ["TopK"]


def test_topk_of_ties():
    x = pt.fvector("x")
    compare_onnx_and_py([x], pt.topk(x, 4), [[1, 3, 3, 2, 3]])


def test_sort():
    x = pt.tensor("x", shape=(None, 4, None), dtype="float32")
    compare_onnx_and_py([x], [pt.sort(x, axis=1), pt.argsort(x, axis=-1)], [X])


def test_cumsum():
    x = pt.tensor3("x", dtype="float32")
    compare_onnx_and_py([x], pt.cumsum(x, axis=1), [X])
