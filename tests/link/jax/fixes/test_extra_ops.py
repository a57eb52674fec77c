"""Indices and diagonals that PyTensor's conversions to JAX refuse or get wrong."""

import numpy as np
import pytest

import pytensor.tensor as pt
from pytensor.tensor.extra_ops import ravel_multi_index

pytest.importorskip("jax")

from tests.link.jax.fixes.comparing import compare

rng = np.random.default_rng(0)


@pytest.mark.by_default("0-shape0", "0-shape1")
@pytest.mark.parametrize("shape", [(3, 5), (5, 3)])
@pytest.mark.parametrize("offset", [0, 2, -2])
def test_fill_diagonal_offset(offset, shape):
    a, value, k = pt.matrix("a"), pt.scalar("value"), pt.iscalar("k")
    filled = pt.fill_diagonal_offset(a, value, k)
    outputs = [filled, pt.grad((filled**2).sum(), a)]
    compare([a, value, k], outputs, [rng.normal(size=shape), 7.0, offset])


@pytest.mark.parametrize("shape", [(3, 3, 3), (2, 4), (4, 2)])
def test_fill_diagonal(shape):
    a = pt.tensor("a", shape=[None] * len(shape))
    compare([a], pt.fill_diagonal(a, 7.0), [rng.normal(size=shape)])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_ravel_multi_index(mode, order):
    """With lengths that are known when the function runs alone."""
    rows, columns, lengths = pt.lvector("rows"), pt.lvector("columns"), pt.lvector("lengths")
    place = ravel_multi_index((rows, columns), lengths, mode=mode, order=order)
    outside = 0 if mode == "raise" else 6
    values = [[0, 2, 1 + outside], [3, 1 - outside, 0], [3, 4]]
    compare([rows, columns, lengths], place, [np.array(v) for v in values])


def test_searchsorted_with_a_sorter():
    a, v, sorter = pt.vector("a"), pt.vector("v"), pt.lvector("sorter")
    values = rng.normal(size=5)
    place = pt.searchsorted(a, v, side="right", sorter=sorter)
    compare([a, v, sorter], place, [values, [*values, 0.3], np.argsort(values)])


@pytest.mark.by_default("shape0-F")
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(6,), (2, 3), (2, 3, 4)])
def test_unravel_index(shape, order):
    flat = pt.vector("flat", dtype="int64")
    results = [pt.unravel_index(v, shape, order=order) for v in (flat, flat[0])]
    compare([flat], [*results[0], *results[1]], [np.array([5, 1, 4])])


def test_searchsorted():
    """In float64, for 2**24 + 1 is no float32; the result is int64."""
    x, y = pt.vector("x", dtype="int32"), pt.vector("y", dtype="float32")
    values = [np.array([1, 2**24 + 1], "int32"), np.array([0, 2**24], "float32")]
    compare([x, y], [pt.searchsorted(x, y), pt.searchsorted(x, y, side="right")], values)
