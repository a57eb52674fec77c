"""The default mode, NUMBA, runs every pooling and its gradients without a warning."""

import numpy as np
import pytest

import pytensor
from tests.tensor import pool_cases
from tests.utils import REFERENCE_MODE

pytest.importorskip("numba")


@pytest.mark.parametrize("name", pool_cases.CASES)
def test_default_mode(name):
    x, outputs, value = pool_cases.graph(name, static=False)
    results = pytensor.function([x], outputs, mode="NUMBA")(value)
    expected = pytensor.function([x], outputs, mode=REFERENCE_MODE)(value)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["max", "average", "unpool"])
def test_second_order(name):
    x, outputs, value = pool_cases.graph(name, static=False, order=2)
    (result,) = pytensor.function([x], outputs[-1:], mode="NUMBA")(value)
    (wanted,) = pytensor.function([x], outputs[-1:], mode=REFERENCE_MODE)(value)
    np.testing.assert_allclose(result, wanted, rtol=1e-9, atol=1e-12)
