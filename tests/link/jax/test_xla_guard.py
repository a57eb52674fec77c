"""The guard against wrong products of XLA's on CPUs: where it is, and that it works."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

pytest.importorskip("jax")

import jax

from pytensor.link.jax.tuned import jax_mode

pytestmark = pytest.mark.skipif(jax.default_backend() != "cpu", reason="XLA is wrong on CPUs only")
KINDS = {"float32": 1e-5, "float64": 1e-12}  # tolerances
CHOICES = [
    {}, {"donate": True}, {"cpu_kernels": True}, {"named_scopes": False}, {"keep_programs": True},
    {"donate": True, "keep_programs": True},
]  # fmt: skip


def product_with_sum(dtype, shape=(5, 60, 60)):
    """Graph that XLA gets wrong, and its arguments."""
    e, c = pt.tensor("e", shape=shape, dtype=dtype), pt.scalar("c", dtype=dtype)
    value = np.random.default_rng(60).normal(size=shape).astype(dtype)
    return [e, c], ((e @ pt.full_like(e, c)) * e).sum(-1), [value, np.dtype(dtype).type(1.3)]


def expected_of(value, c):
    value = value.astype("longdouble")
    return value.sum(-1) ** 2 * c


def error_of(result, arguments):
    expected = expected_of(*arguments)
    return np.abs(np.asarray(result) - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("choices", CHOICES, ids=str)
def test_jax_mode_is_right(choices, dtype):
    inputs, out, arguments = product_with_sum(dtype)
    total = pytensor.shared(np.zeros(out.type.shape, dtype), name="total")
    f = pytensor.function(inputs, out, updates={total: total + out}, mode=jax_mode(**choices))
    for calls in (1, 2):
        assert error_of(f(*arguments), arguments) < KINDS[dtype]
        assert error_of(total.get_value() / calls, arguments) < KINDS[dtype]
