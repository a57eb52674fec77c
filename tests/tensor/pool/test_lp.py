import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.gradient import verify_grad
from pytensor.tensor.pool import lp_pool
from tests.tensor.pool.test_pool import naive_pool
from tests.utils import REFERENCE_MODE


@pytest.mark.slow
def test_against_definition():
    p = 3.5
    value = np.random.default_rng(0).normal(size=(2, 7, 8))
    x = pt.tensor3("x")
    out = lp_pool(x, p, (3, 2), (2, 3), ((1, 0), 1), (1, 2))
    result = out.eval({x: value}, mode=REFERENCE_MODE)
    powers = np.abs(value) ** p
    expected = naive_pool(powers, (3, 2), False, (2, 3), ((1, 0), (1, 1)), "sum", (1, 2))
    np.testing.assert_allclose(result, expected ** (1 / p), rtol=1e-12)
    verify_grad(
        lambda x: lp_pool(x, p, (3, 2), (2, 3), 1, (1, 2)),
        [np.sign(value) + value],
        mode=REFERENCE_MODE,
    )
    verify_grad(lambda x: pt.nn.global_lp_pool(x, p), [np.sign(value) + value], mode=REFERENCE_MODE)


@pytest.mark.parametrize("p", [0.5, 3])
def test_gradients_at_zero(p):
    x = pt.tensor("x", shape=(1, 1, 6))
    value = np.array([[[0.0, 0, 0, 2, 0, 0]]])
    for out in (lp_pool(x, p, (2,)), pt.nn.global_lp_pool(x, p)):
        first = pytensor.grad(out.sum(), x)
        second = pytensor.grad((first**2).sum(), x)
        results = pytensor.function([x], [first, second], mode=REFERENCE_MODE)(value)
        np.testing.assert_allclose(results[0], value / 2)
        np.testing.assert_allclose(results[1], 0 * value, atol=1e-12)


def test_extreme_values():
    for value in (1e200, 1e-200, np.inf):
        out = lp_pool(np.array([[value, value]]), 3, (2,)).eval(mode=REFERENCE_MODE)
        np.testing.assert_allclose(out, [[2 ** (1 / 3) * value]], rtol=1e-12)
        out = pt.nn.global_lp_pool(np.array([[[value, value]]]), 3).eval(mode=REFERENCE_MODE)
        np.testing.assert_allclose(out, [[[2 ** (1 / 3) * value]]], rtol=1e-12)
    out = lp_pool(np.array([[1, np.nan, 2, 3]]), 2, (2,)).eval(mode=REFERENCE_MODE)
    np.testing.assert_allclose(out, [[np.nan, 13**0.5]])
    half = np.full((1, 4), 2e4, "float16")
    out = lp_pool(half, 2, (4,)).eval(mode=REFERENCE_MODE)
    np.testing.assert_array_equal(out, np.full((1, 1), 4e4, "float16"))
