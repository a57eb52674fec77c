import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")


def test_silu():
    x = pt.matrix("x")
    out = pt.silu(x * 2) + 1
    value = np.random.default_rng(0).normal(size=(3, 4)) * 5
    first = pytensor.grad((out**2).sum(), x)
    compare_jax_and_py([x], [out, first, pytensor.grad(first.sum(), x)], [value])
