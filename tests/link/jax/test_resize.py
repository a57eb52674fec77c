import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.tensor.resize import COORDINATE_MODES, NEAREST_MODES
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")

TARGETS = [{"size": (7, 4)}, {"scale": (2, 3)}, {"scale": (0.5, 1.7)}]


@pytest.mark.parametrize("how", COORDINATE_MODES)
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_resize(mode, how):
    value = np.random.default_rng(0).normal(size=(2, 1, 5, 6))
    x = pt.tensor4("x")
    resized = [
        pt.resize(x, **target, mode=mode, coordinate_transformation_mode=how) for target in TARGETS
    ]
    gradients = [pytensor.grad((out**2).sum(), x) for out in resized]
    compare_jax_and_py([x], resized + gradients, [value])


@pytest.mark.parametrize("rounding", NEAREST_MODES)
def test_rounding(rounding):
    value = np.random.default_rng(1).normal(size=(1, 1, 4, 6))
    x = pt.tensor4("x", shape=value.shape)
    out = pt.resize(x, size=(6, 4), nearest_mode=rounding)
    compare_jax_and_py([x], [out, pytensor.grad((out**3).sum(), x)], [value])


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_plain_sum_with_unknown_shapes(target):
    x = pt.tensor4("x")
    gradient = pytensor.grad(pt.resize(x, **target, mode="linear").sum(), x)
    compare_jax_and_py([x], gradient, [np.ones((1, 2, 6, 4))])


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_dtype_is_kept(dtype):
    x = pt.tensor4("x", dtype=dtype)
    out = pt.resize(x, scale=1.5, mode="linear")
    gradient = pytensor.grad((out * out).sum(dtype=dtype), x)
    compare_jax_and_py([x], [out, gradient], [np.ones((1, 1, 4, 2), dtype)])
