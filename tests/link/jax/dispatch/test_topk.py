import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")


def test_ties_and_nan():
    x = pt.vector("x")
    value = np.array([3, np.nan, 7, np.inf, 0, 7, np.nan, 3, 7, -np.inf])
    compare_jax_and_py([x], pt.topk(x, 7), [value])


def test_too_many_at_run_time():
    x = pt.vector("x")
    f = pytensor.function([x], pt.topk(x, 4), mode="JAX")
    with pytest.raises(ValueError, match="k=4"):
        f([1.0, 2.0, 3.0])
