"""Padding where JAX rounds, or PyTensor's conversion fails."""

import numpy as np
import pytest

import pytensor.tensor as pt

pytest.importorskip("jax")

from tests.link.jax.fixes.comparing import compare


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_integers_and_float32_are_padded_in_the_dtype_of_the_result(dtype):
    """It is float64: thoughts/upstream/pad-makes-float64.md."""
    x = pt.tensor("x", shape=(None, None), dtype=dtype)
    outputs = [
        pt.pad(x, 2, constant_values=0.1),
        pt.pad(x, 2, constant_values=np.nan),
        pt.pad(x, 2, mode="mean"),
        pt.pad(x, 2, mode="linear_ramp", end_values=0.1),
    ]
    compare([x], outputs, [np.array([[1, 2, 5], [3, 7, 11]], dtype)])


@pytest.mark.parametrize("option", [2, (1, 2), [(1, 2)], [(1, 2), (3, 1)]])
def test_numbers_for_each_side(option):
    x = pt.matrix("x")
    outputs = [
        pt.pad(x, 2, mode="mean", stat_length=option),
        pt.pad(x, 2, mode="maximum", stat_length=option),
        pt.pad(x, 2, mode="linear_ramp", end_values=option),
    ]
    compare([x], outputs, [np.array([[1.0, 2, 5], [3, 7, 11]])])
