"""What tests of programs on disk share."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode
from pytensor.link.jax.internals import forget_compilation_cache

MODE = jax_mode(donate=True, keep_programs=True)


def make_step(rate=0.5, mode=MODE, rows=3, start=1.0, **options):
    """Return (function, state): a loss, a weight's update; equal graphs for equal arguments."""
    x = pt.tensor("x", dtype="float64", shape=(rows, 4))
    w = pytensor.shared(np.full((4, 2), start), name="w", shape=(4, 2))
    loss = pt.tanh(x @ w).sum()
    updates = [(w, w - rate * pytensor.grad(loss, w))]
    return pytensor.function([x], loss, updates=updates, mode=mode, **options), w


def values(seed=0, rows=3):
    return np.random.default_rng(seed).normal(size=(rows, 4))


def run(step, w, times=3):
    """Return all that calls return and leave."""
    return [float(step(values(k))) for k in range(times)], w.get_value()


def assert_equal_runs(one, other):
    assert one[0] == other[0]
    np.testing.assert_array_equal(one[1], other[1])


def programs(folder):
    return sorted(p.name for p in folder.glob("*")) if folder.exists() else []


def empty_jax_cache(folder):
    for file in folder.parent.glob("*-cache"):
        file.unlink()
    forget_compilation_cache()


def compile_graph(inputs, outputs, **options):
    return pytensor.function(inputs, outputs, mode=MODE, **options)
