"""The default mode, NUMBA, runs every pooling and its gradients without a warning."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.utils import compare_mode_and_py

pytest.importorskip("numba")

TIES = np.random.default_rng(2).integers(0, 3, (2, 2, 7, 8)).astype("float64")
HIDDEN = np.random.default_rng(3).random(TIES.shape) < 0.3


def with_indices(x):
    windows = pt.nn.max_pool2d(
        x, (2, 3), (1, 2), ((1, 0), (1, 2)), dilation=(2, 1), return_indices=True
    )
    return [*windows, *pt.nn.adaptive_max_pool2d(x, (3, 2), return_indices=True)]


@pytest.mark.slow
def test_ties_nan_and_infinity():
    x = pt.tensor("x", shape=(None,) * 4)
    outputs = with_indices(x)
    gradient = pytensor.grad((outputs[0] ** 2).sum(), x)
    for value in (TIES, np.where(HIDDEN, np.nan, TIES), np.where(HIDDEN, TIES, -np.inf)):
        compare_mode_and_py("NUMBA", [x], [*outputs, gradient], [value], rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_unpooling_and_errors_at_run_time():
    x, indices = pt.matrix("x"), pt.matrix("indices", dtype="int64")
    pool = pytensor.function([x], pt.nn.max_pool2d(x, (3, 2)), mode="NUMBA")
    with pytest.raises(AssertionError, match="larger than the padded image"):
        pool(np.ones((2, 5)))
    unpool = pytensor.function([x, indices], pt.nn.max_unpool2d(x, indices, 2), mode="NUMBA")
    image = unpool(np.array([[5.0, 7]]), np.array([[3, 0]]))
    np.testing.assert_array_equal(image, [[7, 0, 0, 5], [0] * 4])
    with pytest.raises(IndexError, match="outside of the output"):
        unpool(np.ones((1, 2)), np.array([[0, 8]]))
    with pytest.raises(ValueError, match="the same shape"):
        unpool(np.ones((1, 2)), np.array([[0]]))
