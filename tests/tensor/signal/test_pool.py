import numpy as np
import pytest

import pytensor.tensor as pt
from pytensor.tensor.signal import downsample, pool
from tests.utils import REFERENCE_MODE

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 3, 6, 7))


def evaluate(out):
    return out.eval(mode=REFERENCE_MODE)


def test_names():
    assert pt.signal.pool is pool
    # Upstream's own are still there
    assert pt.signal.convolve1d is not None


@pytest.mark.parametrize(
    "arguments",
    [
        {"ws": (2, 3), "ignore_border": True},
        {"ds": (2, 3), "ignore_border": True},
        {"ws": (2, 3)},
        {"ds": 3, "st": (1, 2), "padding": (1, 0), "mode": "average_inc_pad"},
        {"ws": 3, "stride": (1, 2), "pad": (1, 0), "mode": "sum", "ignore_border": True},
    ],
)
def test_pool_2d(arguments):
    older = {"ds": "ws", "st": "stride", "padding": "pad"}
    expected = pt.pool_2d(X, **{older.get(k, k): v for k, v in arguments.items()})
    np.testing.assert_array_equal(evaluate(pool.pool_2d(X, **arguments)), evaluate(expected))


def test_order_of_arguments():
    expected = pt.pool_2d(X, (3, 2), True, (2, 1), (1, 0), "average_exc_pad")
    for out in (
        pool.pool_2d(X, (3, 2), True, (2, 1), (1, 0), "average_exc_pad"),
        downsample.max_pool_2d(X, (3, 2), True, (2, 1), (1, 0), "average_exc_pad"),
    ):
        np.testing.assert_array_equal(evaluate(out), evaluate(expected))


def test_pool_3d():
    blocks = X.reshape(2, 3, 2, 3, 7)[..., :6].reshape(2, 3, 1, 2, 3, 1, 3, 2)
    expected = blocks.max(axis=(3, 5, 7))
    out = pool.pool_3d(X.reshape(2, 3, 2, 3, 7), ws=(2, 1, 2), ignore_border=True)
    np.testing.assert_array_equal(evaluate(out), expected)
    out = pool.pool_3d(X.reshape(2, 3, 2, 3, 7), ds=(2, 1, 2), ignore_border=True)
    np.testing.assert_array_equal(evaluate(out), expected)


def test_errors():
    with pytest.raises(ValueError, match=r"pool_2d: ws \(the window\) is missing"):
        pool.pool_2d(X)
    for new, old in [("ws", "ds"), ("stride", "st"), ("pad", "padding")]:
        with pytest.raises(ValueError, match=f"pool_3d: give {new} or its older name {old}"):
            pool.pool_3d(X, **{"ws": 1, new: 1, old: 1})
    with pytest.raises(ValueError, match="ws must be an int or 2 ints"):
        pool.pool_2d(X, (2, 2, 2))


@pytest.mark.parametrize("size", [(2, 3), (3, 2), (1, 1)])
def test_max_pool_2d_same_size(size):
    expected = np.zeros_like(X)
    p, q = size
    for b, c, i, j in np.ndindex(2, 3, 6 // p, 7 // q):
        patch = X[b, c, i * p : (i + 1) * p, j * q : (j + 1) * q]
        expected[b, c, i * p : (i + 1) * p, j * q : (j + 1) * q] = patch * (patch == patch.max())
    np.testing.assert_array_equal(evaluate(pool.max_pool_2d_same_size(X, size)), expected)


def test_errors_name_the_function_and_argument():
    x = pt.tensor4()
    with pytest.raises(ValueError, match="pool_2d: ignore_border must be True or False"):
        pool.pool_2d(x, (2, 2), (2, 2))
    with pytest.raises(ValueError, match="pool_2d: stride must be"):
        pool.pool_2d(x, 2, stride=0)
    with pytest.raises(TypeError, match="max_pool_2d_same_size: input must be floating-point"):
        pool.max_pool_2d_same_size(pt.tensor4(dtype="int64"), 2)
