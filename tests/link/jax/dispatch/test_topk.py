import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "uint8", "int64"])
def test_ties_and_dtypes(dtype):
    x = pt.vector("x", dtype=dtype)
    compare_jax_and_py([x], pt.topk(x, 5), [np.array([3, 7, 0, 7, 3, 7, 1], dtype)])


def test_nan():
    x = pt.vector("x")
    compare_jax_and_py([x], pt.topk(x, 4), [np.array([1, np.nan, np.inf, np.nan, -np.inf])])


def test_too_many_at_run_time():
    x = pt.vector("x")
    f = pytensor.function([x], pt.topk(x, 4), mode="JAX")
    with pytest.raises(ValueError, match="k=4"):
        f([1.0, 2.0, 3.0])
