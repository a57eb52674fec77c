import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.utils import compare_jax_and_py


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int64", "bool"])
@pytest.mark.parametrize("reduction", [pt.sum, pt.prod, pt.max])
def test_dtype_is_the_graphs(dtype, reduction):
    x = pt.tensor("x", dtype=dtype, shape=(2, 3))
    value = np.array([[1, 0, 1], [1, 1, 0]]).astype(dtype)
    compare_jax_and_py([x], [reduction(x), reduction(x, axis=1)], [value])


@pytest.mark.usefixtures("float32_everywhere")
def test_no_warning_with_64_bit_types_off():
    """Warnings are errors here."""
    x = pt.tensor("x", dtype="float32", shape=(None, 3))
    bias = pt.tensor("bias", dtype="float32", shape=(3,))
    total = pt.sum(pt.tanh(x + bias))
    f = pytensor.function([x, bias], [total, pytensor.grad(total, bias)], mode="JAX")
    results = f(np.ones((4, 3), np.float32), np.zeros(3, np.float32))
    assert [r.dtype for r in results] == [np.float32] * 2
