"""`interpolate` by factors, where lengths are open; PyTorch's results are in `torch_cases`."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.utils import compare_mode_and_py

SCALED = [
    {"scale_factor": (1.5, 0.7), "mode": "area"},
    {"scale_factor": (1.5, 0.6), "mode": "bilinear", "align_corners": True},
    {"scale_factor": 1.7, "mode": "bicubic", "align_corners": True},
    {"scale_factor": 0.6, "mode": "nearest", "recompute_scale_factor": True},
    {"scale_factor": 0.6, "mode": "bilinear", "recompute_scale_factor": True, "antialias": True},
]
SHAPES = [(1, 2, 5, 7), (2, 1, 6, 4)]


def results(x, y):
    return [y, pytensor.grad((y**2).sum(), x)]


def compare_scaled(how, mode, dtype="float64"):
    """Compare values and gradients in a mode with those in Python, at two shapes."""
    x = pt.tensor4("x", dtype=dtype)
    outputs = results(x, pt.nn.interpolate(x, **how))
    for shape in SHAPES:
        value = np.random.default_rng(0).normal(size=shape).astype(dtype)
        compare_mode_and_py(mode, [x], outputs, [value], py_mode="FAST_COMPILE")


@pytest.mark.parametrize("how", SCALED, ids=str)
def test_open_lengths_are_as_known_ones(how):
    x = pt.tensor4("x")
    f = pytensor.function([x], results(x, pt.nn.interpolate(x, **how)), mode="FAST_COMPILE")
    for shape in SHAPES:
        value = np.random.default_rng(0).normal(size=shape)
        known = pt.tensor(shape=shape)
        outputs = results(known, pt.nn.interpolate(known, **how))
        expected = pytensor.function([known], outputs, mode="FAST_COMPILE")(value)
        for result, right in zip(f(value), expected, strict=True):
            np.testing.assert_allclose(result, right, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("scale", [0.5, 1.5])
def test_area_of_a_ramp(scale):
    x = pt.tensor3("x")
    y = pt.nn.interpolate(x, scale_factor=scale, mode="area")
    f = pytensor.function([x], y, mode="FAST_COMPILE")
    bins = {0.5: [(0, 2), (2, 4)], 1.5: [(0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4)]}[scale]
    ramp = np.arange(4.0)
    np.testing.assert_allclose(f(ramp[None, None])[0, 0], [ramp[a:b].mean() for a, b in bins])


@pytest.mark.parametrize("how", [{"mode": "area"}, {"mode": "linear", "align_corners": True}])
def test_a_factor_that_leaves_no_cell(how):
    x = pt.tensor3("x")
    f = pytensor.function([x], pt.nn.interpolate(x, scale_factor=0.3, **how), mode="FAST_COMPILE")
    assert f(np.ones((1, 1, 4))).shape == (1, 1, 1)
    with pytest.raises(AssertionError, match="leaves no cell of an axis; use a larger"):
        f(np.ones((1, 1, 3)))


def test_area_to_lengths_of_another_image():
    x, like = pt.tensor4("x"), pt.tensor4("like")
    y = pt.nn.interpolate(x, size=(like.shape[2], 4), mode="area")
    value = np.random.default_rng(0).normal(size=(1, 2, 6, 8))
    found = y.eval({x: value, like: np.zeros((1, 1, 3, 9))}, mode="FAST_COMPILE")
    np.testing.assert_allclose(found, value.reshape(1, 2, 3, 2, 4, 2).mean((3, 5)))
