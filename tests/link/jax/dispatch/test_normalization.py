import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode

SHAPE = (8, 1600, 64)
UNIT = np.ones(SHAPE[1], "float32"), np.zeros(SHAPE[1], "float32")


def centred(x, axes):
    return x - x.mean(axis=axes, keepdims=True)


def gradient(x, g, axes, centre=True):
    """Return the gradient through a normalization without parameters, from its definition."""
    x = centred(x, axes) if centre else x
    std = np.sqrt(np.square(x).mean(axis=axes, keepdims=True) + 1e-5)
    out = x / std
    projection = out * (g * out).mean(axis=axes, keepdims=True)
    return ((centred(g, axes) if centre else g) - projection) / std


@pytest.mark.by_default("JAX-rms")
@pytest.mark.parametrize(
    ("normalize", "axes", "centre"),
    [
        (lambda x: pt.nn.layer_norm(x, (None,)), -1, True),
        (lambda x: pt.nn.rms_norm(x, (None,), eps=1e-5), -1, False),
        (pt.nn.instance_norm, -1, True),
        (lambda x: pt.batch_normalization_train(x, *UNIT, "spatial", 1e-5)[0], (0, 2), True),
    ],
    ids=["layer", "rms", "instance", "batch"],
)
@pytest.mark.parametrize("mode", ["JAX", jax_mode()], ids=["JAX", "jax_mode"])
def test_gradient_of_many_rows(normalize, axes, centre, mode):
    # At this size XLA for CPUs compiles the gradient of a product with rsqrt wrongly.
    x, g = np.random.default_rng(0).normal(1, 2, (2, *SHAPE)).astype("float32")
    variables = [pt.tensor(shape=(None,) * 3, dtype="float32") for _ in range(2)]
    out = normalize(variables[0])
    grad = pt.grad(None, variables[0], known_grads={out: variables[1]})
    actual = pytensor.function(variables, grad, mode=mode)(x, g)
    expected = gradient(x.astype("float64"), g.astype("float64"), axes, centre)
    np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-5)
