import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.tensor.nn.activations import slopes_below_zero
from tests.catalogue.operators import ACTIVATIONS, OPERATORS
from tests.utils import compare_jax_and_py, in_turn

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode


def test_silu():
    x = pt.matrix("x")
    out = pt.silu(x * 2) + 1
    value = np.random.default_rng(0).normal(size=(3, 4)) * 5
    first = pytensor.grad((out**2).sum(), x)
    compare_jax_and_py([x], [out, first, pytensor.grad(first.sum(), x)], [value])


@in_turn(
    "name, shape, dtype", ACTIVATIONS, [(3, 4), (None, None)], ["float16", "float32", "float64"]
)
def test_activations(name, dtype, shape):
    x = pt.tensor("x", shape=shape, dtype=dtype)
    out = OPERATORS[name].build(x)
    gradient = pytensor.grad(out.sum(dtype=dtype), x)
    value = (np.random.default_rng(0).normal(size=(3, 4)) * 5).astype(dtype)
    value[0, 0], value[1, 2], value[2, 3] = np.nan, 1e4, -1e4
    compare_jax_and_py([x], [out, gradient], [value])


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_of_scalars_and_integers(name):
    for dtype, value in (("int64", -2), ("uint8", 3), ("float32", 0.5)):
        x = pt.scalar("x", dtype=dtype)
        compare_jax_and_py([x], OPERATORS[name].build(x), [np.asarray(value, dtype=dtype)])


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_prelu(dtype, static):
    values = [np.random.default_rng(0).normal(size=s).astype(dtype) for s in ((2, 3, 4), (3, 1))]
    x = pt.tensor("x", shape=(2, 3, 4) if static else (None,) * 3, dtype=dtype)
    alpha = pt.tensor("alpha", shape=(3 if static else None, 1), dtype=dtype)
    out = slopes_below_zero(x, alpha)
    gradients = pytensor.grad((out**2).sum(dtype=dtype), [x, alpha])
    # In mode JAX the sum in the second gradient has the dtype of its accumulator.
    compare_jax_and_py([x, alpha], [out, *gradients], values, jax_mode=jax_mode())
