import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.tensor.signal import convolve1d
from tests.link.onnx.test_basic import compare_onnx_and_py

RNG = np.random.default_rng(4)


@pytest.mark.parametrize("dtype", ["uint64", "float64"])
def test_convolve1d(dtype):
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
    outputs = [convolve1d(x, y, mode=mode) for mode in ("full", "valid")]
    for sizes in ((5, 3), (3, 5), (4, 1), (2, 2)):
        values = [(RNG.normal(size=size) * 100).astype("int8").astype(dtype) for size in sizes]
        compare_onnx_and_py([x, y], outputs, values)


def test_same():
    x, y = pt.tensor3("x"), pt.matrix("y")
    values = [RNG.normal(size=(2, 3, 7)), RNG.normal(size=(3, 4))]
    output = convolve1d(x, y[None], mode="same")
    compare_onnx_and_py([x, y], output, values)


def test_infinity_is_not_multiplied_by_padding():
    x, y = pt.vector("x"), pt.vector("y")
    values = [[1, np.inf, 2, 3], [np.nan, 1]]
    compare_onnx_and_py([x, y], convolve1d(x, y), values)


def test_gradient():
    x, y = pt.vector("x"), pt.vector("y")
    cost = (convolve1d(x, y, mode="full") ** 2).sum()
    values = [RNG.normal(size=6), RNG.normal(size=3)]
    compare_onnx_and_py([x, y], pytensor.grad(cost, [x, y]), values)
