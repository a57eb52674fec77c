"""Many steps in one program give what as many calls give."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

jax = pytest.importorskip("jax")

from pytensor.link.jax.steps import ManySteps  # noqa: E402
from pytensor.link.jax.tuned import jax_mode  # noqa: E402

STEPS = 4
XS = np.random.default_rng(1).normal(size=(STEPS, 3, 5))
RATES = np.array([0.1, 0.2, 0.05, 0.3])


def make_step(mode=None, single=False):
    """A regression on one target, with momentum; the step, and its variables."""
    x, rate = pt.matrix("x", shape=(3, 5)), pt.scalar("rate")
    w, m = pytensor.shared(np.ones(5), name="w"), pytensor.shared(np.zeros(5), name="m")
    target = pytensor.shared(np.array([1.0, -2.0, 3.0]), name="target", shape=(3,))
    loss = ((x @ w - target) ** 2).mean()
    new = 0.9 * m - rate * pt.grad(loss, w)
    outputs = loss if single else [loss, x @ w]
    step = pytensor.function(
        [x, rate], outputs, updates=[(m, new), (w, w + new)],
        mode=mode or jax_mode(donate=True), trust_input=True,
    )  # fmt: skip
    return step, (w, m, target)


@pytest.fixture(scope="module")
def both():
    """Step and variables, and many steps and their variables."""
    step, variables = make_step()
    other, other_variables = make_step()
    return step, variables, ManySteps(other, STEPS), other_variables


def test_same_as_calls(both):
    step, variables, many, others = both
    for scale in (1, 2):
        for v in (variables[2], others[2]):
            v.set_value(np.array([1.0, -2.0, 3.0]) * scale)  # read in the call, not when compiled
        expected = [step(x, rate) for x, rate in zip(XS, RATES, strict=True)]
        losses, predictions = many(XS, RATES)
        assert losses.shape == (STEPS,)
        assert np.ptp(losses) > 0.1
        np.testing.assert_allclose(losses, [e[0] for e in expected], rtol=1e-12)
        np.testing.assert_allclose(predictions, [e[1] for e in expected], rtol=1e-12)
        for ours, theirs in zip(others, variables, strict=True):
            np.testing.assert_allclose(ours.get_value(), theirs.get_value(), rtol=1e-12)


def test_state_is_donated_and_borrowed_values_stay(both):
    _, _, many, (w, *_) = both
    many(XS, RATES)
    before = w.get_value(borrow=True).addressable_data(0)
    many(XS, RATES)
    assert before.is_deleted()
    mine = w.get_value(borrow=True)
    values = np.array(mine)
    many(XS, RATES)
    np.testing.assert_array_equal(mine, values)
    assert many._thunk.jit_fn._cache_size() <= 2


def test_alternates_with_single_calls():
    step, (w, *_) = make_step(single=True)
    many = ManySteps(step, STEPS)
    first, rest = step(XS[0], RATES[0]), many(XS, RATES)
    before = w.get_value(borrow=True).addressable_data(0)
    last = step(XS[0], RATES[0])
    assert before.is_deleted()
    other, (v, *_) = make_step(mode="JAX", single=True)
    order = [0, *range(STEPS), 0]
    expected = [other(XS[k], RATES[k]) for k in order]
    np.testing.assert_allclose([first, *rest, last], expected, rtol=1e-12)
    np.testing.assert_allclose(w.get_value(), v.get_value(), rtol=1e-12)


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        ((XS,), TypeError, "1 inputs; the function takes x, rate"),
        ((XS, RATES[:3]), ValueError, r"rate has shape \(3,\); its first axis must have length 4"),
        ((XS, 0.1), ValueError, r"rate has shape \(\)"),
    ],
)
def test_wrong_inputs(both, inputs, error, message):
    _, _, many, (w, *_) = both
    before = w.get_value()
    with pytest.raises(error, match=message):
        many(*inputs)
    np.testing.assert_array_equal(w.get_value(), before)


@pytest.mark.filterwarnings("ignore:The RandomType SharedVariables:UserWarning")
def test_wrong_functions():
    with pytest.raises(TypeError, match="must have updates and be compiled with mode=jax_mode"):
        ManySteps(make_step(mode="JAX")[0], STEPS)
    with pytest.raises(ValueError, match="0 steps"):
        ManySteps(make_step()[0], 0)
    n, v, rng = pt.lscalar("n"), pytensor.shared(np.ones(2)), pt.random.shared_rng(seed=1)
    next_rng, draw = rng.normal(size=(n,))
    updates = [(v, v + 1), (rng, next_rng)]
    step = pytensor.function([n], draw, updates=updates, mode=jax_mode(donate=True))
    with pytest.raises(ValueError, match="n is part of the program"):
        ManySteps(step, STEPS)


@pytest.mark.filterwarnings("ignore:The RandomType SharedVariables:UserWarning")
def test_random_generator_and_no_inputs():
    """The generator's state passes from step to step too."""
    rng, v = pt.random.shared_rng(seed=1), pytensor.shared(np.zeros(3))
    next_rng, draw = rng.normal(size=3)
    steps = [
        pytensor.function([], draw, updates=[(rng, next_rng), (v, v + draw)], mode=mode)
        for mode in ("JAX", jax_mode(donate=True))
    ]
    many = ManySteps(steps[1], STEPS)
    for _ in range(2):
        expected = [steps[0]() for _ in range(STEPS)]
        np.testing.assert_allclose(many(), expected)
    assert np.ptp(expected) > 0.1
