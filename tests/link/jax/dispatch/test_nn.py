import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.scalar.activations import HardSigmoid
from pytensor.tensor.nn.activations import elementwise, slopes_below_zero
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")

from pytensor.link.jax.tuned import jax_mode


def test_silu():
    x = pt.matrix("x")
    out = pt.silu(x * 2) + 1
    value = np.random.default_rng(0).normal(size=(3, 4)) * 5
    first = pytensor.grad((out**2).sum(), x)
    compare_jax_and_py([x], [out, first, pytensor.grad(first.sum(), x)], [value])


ACTIVATIONS = {
    "gelu": pt.nn.gelu,
    "gelu_tanh": lambda x: pt.nn.gelu(x, approximate="tanh"),
    "hard_sigmoid": lambda x: elementwise(HardSigmoid(alpha=0.3, beta=0.4), x),
    "hard_swish": pt.nn.hardswish,
    "elu": lambda x: pt.nn.elu(x, 1.5),
    "leaky_relu": lambda x: pt.nn.leaky_relu(x, 0.1),
    "prelu": lambda x: pt.nn.prelu(x, 0.3),
    "relu": pt.nn.relu,
    "relu6": pt.nn.relu6,
    "selu": pt.nn.selu,
    "mish": pt.nn.mish,
    "softsign": pt.nn.softsign,
}


@pytest.mark.parametrize("shape", [(3, 4), (None, None)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name, dtype, shape):
    x = pt.tensor("x", shape=shape, dtype=dtype)
    out = ACTIVATIONS[name](x)
    gradient = pytensor.grad(out.sum(dtype=dtype), x)
    value = (np.random.default_rng(0).normal(size=(3, 4)) * 5).astype(dtype)
    value[0, 0], value[1, 2], value[2, 3] = np.nan, 1e4, -1e4
    compare_jax_and_py([x], [out, gradient], [value])


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_of_scalars_and_integers(name):
    for dtype, value in (("int64", -2), ("uint8", 3), ("float32", 0.5)):
        x = pt.scalar("x", dtype=dtype)
        compare_jax_and_py([x], ACTIVATIONS[name](x), [np.asarray(value, dtype=dtype)])


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
