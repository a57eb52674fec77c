import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.tensor.fft import irfft, irfft_op, rfft, rfft_op
from tests.link.onnx.test_basic import compare_onnx_and_py

# PyTensor calls NumPy in a way that NumPy warns of.
pytestmark = pytest.mark.filterwarnings("ignore:`axes` should not be:DeprecationWarning")

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 4), (2, 96)])
def test_there_and_back(shape):
    x = pt.tensor("x", shape=(None,) * len(shape), dtype="float64")
    spectrum = rfft(x, norm="ortho")
    back = irfft(spectrum, norm="ortho", is_odd=bool(shape[-1] % 2))
    compare_onnx_and_py([x], [spectrum, back], [RNG.normal(size=shape)], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("length", [3, 4, 7, 8])
def test_lengths(length):
    x, y = pt.matrix("x"), pt.tensor3("y")
    n = np.array([length])
    values = [RNG.normal(size=(2, 5)), RNG.normal(size=(2, 4, 2))]
    compare_onnx_and_py([x, y], [rfft_op(x, n), irfft_op(y, n)], values, atol=1e-9)


def test_gradient():
    x = pt.matrix("x")
    cost = (rfft(x)[:, 1:] ** 2).sum()
    compare_onnx_and_py([x], pytensor.grad(cost, x), [RNG.normal(size=(2, 6))], atol=1e-9)
