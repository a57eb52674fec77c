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
