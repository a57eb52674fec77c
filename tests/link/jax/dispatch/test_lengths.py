"""Lengths that only run time knows stay known while plain mode JAX traces."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

pytest.importorskip("jax")

OPERATORS = {
    "ceil mode": (
        lambda x: pt.nn.max_pool2d(x, 3, 2, ceil_mode=True),
        [(2, 3, 7, 6), (2, 3, 1, 9)],
    ),
    "ceil mode, padding": (
        lambda x: pt.nn.max_pool2d(x, (2, 3), 3, 1, ceil_mode=True),
        [(2, 3, 7, 6), (1, 1, 2, 3)],
    ),
    "scale": (lambda x: pt.resize(x, scale=(1.7, 0.6)), [(2, 3, 7, 6), (1, 1, 10, 5)]),
    "one factor": (
        lambda x: pt.resize(x, size=(9, 4), keep_aspect_ratio_policy="not_larger"),
        [(2, 3, 7, 6)],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATORS)
def test_shapes_that_need_the_length(name):
    build, shapes = OPERATORS[name]
    x = pt.tensor("x", shape=(None,) * 4, dtype="float64")
    y = build(x)
    batch, channels, *spatial = y.shape
    out = y.reshape((channels, batch, *spatial)) + pt.ones((channels, batch, *spatial))
    f = pytensor.function([x], out, mode="JAX")
    for shape in shapes:
        value = np.random.default_rng(0).normal(size=shape)
        expected = build(pt.constant(value)).eval()
        np.testing.assert_allclose(f(value).ravel(), expected.ravel() + 1, rtol=1e-12)
