"""Lengths that only run time knows stay known while plain mode JAX traces."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.catalogue.operators import OPERATORS
from tests.utils import REFERENCE_MODE

pytest.importorskip("jax")

# Another shape beside the example's own
SHAPES = {
    "lp_pool2d, ceil": (2, 3, 1, 9),
    "max_pool2d, ceil": (1, 1, 2, 3),
    "resize, scale": (1, 1, 10, 5),
    "resize, not larger": (1, 1, 6, 7),
}


@pytest.mark.by_default("resize, not larger")
@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_shapes_that_need_the_length(name):
    example = OPERATORS[name]
    [x] = example.variables()
    y = example.build(x)
    batch, channels, *spatial = y.shape
    out = y.reshape((channels, batch, *spatial)) + pt.ones((channels, batch, *spatial))
    f = pytensor.function([x], out, mode="JAX")
    for shape in (*example.shapes, SHAPES[name]):
        value = np.random.default_rng(0).normal(size=shape)
        expected = example.build(pt.constant(value)).eval(mode=REFERENCE_MODE)
        np.testing.assert_allclose(f(value).ravel(), expected.ravel() + 1, rtol=1e-12)


def test_parts_joined_to_rows():
    x = pt.tensor("x", shape=(None, 4, 2, 3))
    first, second = pt.split(pt.nn.conv2d(x, np.ones((4, 4, 1, 1))), [1, 3], n_splits=2, axis=1)
    rows = pt.join(1, second, first).reshape((x.shape[0], -1))
    value = np.random.default_rng(0).normal(size=(5, 4, 2, 3))
    outputs = [rows, pytensor.grad(pt.sqr(rows).sum(), x)]
    results, expected = (
        pytensor.function([x], outputs, mode=mode)(value) for mode in ("JAX", REFERENCE_MODE)
    )
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-12, atol=1e-12)
