"""Arrays that `jax_mode` makes, joins and splits where PyTensor's conversions to JAX fail."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode
from tests.link.jax.fixes.comparing import compare


@pytest.mark.parametrize("axis", [0, 1])
def test_an_array_without_elements_is_cut_off_again(axis):
    x, y = pt.matrix("x", dtype="float64"), pt.matrix("y", dtype="float64")
    joined = pt.join(axis, x, y)
    values = np.ones((2, 2)), np.ones((0, 2) if axis == 0 else (2, 0))
    compare([x, y], [joined, joined[2:] if axis == 0 else joined[:, 2:]], values)


def test_sizes_of_parts_may_follow_from_lengths():
    x = pt.vector("x", dtype="float64")
    half = x.shape[0] // 2
    parts = pt.split(x, [half, half], n_splits=2)
    f = pytensor.function([x], [part.sum() for part in parts], mode=jax_mode())
    assert [float(total) for total in f(np.arange(6.0))] == [3, 12]
    with pytest.raises(ValueError, match="x has 5 elements along axis 0"):
        f(np.arange(5.0))


def test_eye_of_a_computed_offset():
    k = pt.iscalar("k")
    compare([k], [pt.eye(3, 4, k), pt.eye(3, 4, k - 1, dtype="int8")], [1])
