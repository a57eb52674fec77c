import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.tensor.nn.test_interpolation import SCALED, compare_scaled
from tests.tensor.resize.test_resize import CROP
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode


@pytest.mark.by_default("size0")
@pytest.mark.slow
@pytest.mark.parametrize("size", [(40, 3), (5, 4)])
def test_most_readers_read_few_cells(size):
    x = pt.tensor4("x")
    out = pt.resize(x, size=size, mode="linear", **CROP | {"roi": (0.5, 0, 0.51, 1)})
    gradient = pytensor.grad((out**2).sum(), x)
    compare_jax_and_py([x], [out, gradient], [np.random.default_rng(2).normal(size=(1, 2, 5, 4))])


@pytest.mark.slow
def test_what_has_no_weight_is_not_read():
    value = np.array([1.0, np.nan, 3.0, np.inf, 5.0, 6.0])
    x = pt.vector("x")
    same = pt.resize(x, size=(6,), mode="cubic")
    every_other = pt.resize(
        x, size=(3,), mode="linear", coordinate_transformation_mode="asymmetric"
    )
    gradient = pytensor.grad(None, x, known_grads={every_other: pt.constant([np.nan, 1, 1])})
    compare_jax_and_py([x], [same, every_other, gradient], [value])


@pytest.mark.by_default("scale2")
@pytest.mark.parametrize("scale", [(2, 3), (1, 2), (5, 1)])
def test_gradient_for_gpus(scale):
    """Of whole repetitions: a sum of slices there, if there are few."""
    x = pt.tensor("x", shape=(2, 3, 4, 5))
    options = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    weights = np.random.default_rng(0).normal(size=(2, 3, 4 * scale[0], 5 * scale[1]))
    gradient = pytensor.grad((pt.resize(x, scale=scale, **options) * weights).sum(), x)
    mode = pytest.importorskip("pytensor.link.jax.mode").jax_mode(platform="cuda")
    compare_jax_and_py([x], gradient, [np.ones(x.type.shape)], jax_mode=mode)


@pytest.mark.slow
@pytest.mark.parametrize("how", SCALED, ids=str)
def test_factors_of_open_lengths(how):
    compare_scaled(how, jax_mode(), "float32")
    if not how.get("antialias"):  # how many taps there are follows from a length divided by another
        compare_scaled(how, "JAX")
