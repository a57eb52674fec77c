"""Draws of mode ONNX against their distributions, and their independence."""

import numpy as np
import pytest
import scipy.stats as st

import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from pytensor.link.onnx import ONNXLinker
from tests.link.onnx.extras.random.test_generators import correlation_is_small
from tests.link.onnx.extras.random.test_random import OPSETS, P_VALUE

SIZE = 20_000
LAWS = {
    "normal": ((1.0, 2.0), st.norm(1, 2)),
    "uniform": ((-1.0, 3.0), st.uniform(-1, 4)),
    "gamma": ((2.5,), st.gamma(2.5)),  # by rejection, in a loop
    "laplace": ((0.0, 1.0), st.laplace()),
}


def draws_of(build, calls=2, seed=5, opset=20):
    """Return the results of several calls of a function of mode ONNX; `build` gets a generator."""
    generator = pytensor.shared(np.random.default_rng(seed))
    moved, outputs = build(generator)
    mode = Mode(ONNXLinker(opset_version=opset))
    f = pytensor.function([], outputs, updates={generator: moved}, mode=mode)
    return [f() for _ in range(calls)]


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("name", LAWS)
def test_distributions(name, opset):
    parameters, law = LAWS[name]
    kwargs = {"scale": 1.0} if name == "gamma" else {}

    def build(generator):
        draw = getattr(pt.random, name)
        return draw(*parameters, **kwargs, size=SIZE, rng=generator, return_next_rng=True)

    first, second = draws_of(build, opset=opset)
    for draws in (first, second):
        assert len(np.unique(draws)) == SIZE
        assert st.kstest(draws, law.cdf).pvalue > P_VALUE
    assert correlation_is_small(first, second)
    assert correlation_is_small(first[1:], first[:-1])
    assert (draws_of(build, 1, opset=opset)[0] == first).all()


def test_draws_of_seeds_calls_and_nodes_are_independent():
    def build(generator):
        moved, x = pt.random.uniform(size=SIZE, rng=generator, return_next_rng=True)
        last, y = pt.random.uniform(size=SIZE, rng=moved, return_next_rng=True)
        return last, [x, y]

    draws = [x for seed in (5, 6) for call in draws_of(build, seed=seed) for x in call]
    for k, x in enumerate(draws):
        for y in draws[:k]:
            assert correlation_is_small(x, y)


@pytest.mark.slow
def test_steps_of_loops_are_independent():
    def inner(total, generator):
        moved, x = pt.random.uniform(size=SIZE, rng=generator, return_next_rng=True)
        return total * 2 + x, moved

    def step(generator):
        moved, x = pt.random.uniform(size=SIZE, rng=generator, return_next_rng=True)
        totals, last = pytensor.scan(
            inner, outputs_info=[pt.zeros(SIZE), moved], n_steps=2, return_updates=False
        )
        first = totals[0]
        return last, pt.stack([x, first, totals[1] - 2 * first])

    def build(generator):
        moved, rows = pytensor.scan(
            step, outputs_info=[generator, None], n_steps=2, return_updates=False
        )
        return moved, rows

    rows = np.reshape(draws_of(build), (-1, SIZE))
    for k, x in enumerate(rows):
        assert st.kstest(x, st.uniform.cdf).pvalue > P_VALUE
        for y in rows[:k]:
            assert correlation_is_small(x, y)
