"""Updates are spared from rewrites in `jax_mode`, and computed as in mode JAX."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pytensor
import pytensor.tensor as pt

pytest.importorskip("jax")

from pytensor.link.jax import jax_mode
from pytensor.link.jax.rewriting.updates import Update
from pytensor.optimizers import SGD, ExponentialMovingAverage, clip_by_global_norm, merge_updates


def make_step(mode):
    """Return a compiled step of a small network, and the variables that it changes."""
    rng = np.random.default_rng(3)

    def shared(name, *shape):
        return pytensor.shared(rng.normal(0, 0.3, shape), name=name, shape=shape)

    x = pt.tensor("x", dtype="float64", shape=(2, 3, 8, 8))
    labels = pt.tensor("labels", dtype="int32", shape=(2,))
    rate = pt.scalar("rate", dtype="float64")
    filters, dense = shared("filters", 4, 3, 3, 3), shared("dense", 4, 5)
    gamma, beta, mean = (shared(name, 4) for name in ("gamma", "beta", "mean"))
    variance = pytensor.shared(np.ones(4), name="variance", shape=(4,))
    h, _, _, new_mean, new_variance = pt.batch_normalization_train(
        pt.conv2d(x, filters), gamma, beta, "spatial", running_mean=mean, running_var=variance
    )
    h = pt.nn.max_pool2d(h * pt.sigmoid(h), 2).mean((2, 3)) @ dense
    scores = pt.log(pt.special.softmax(h, axis=-1))
    loss = -scores[pt.arange(2), labels].sum() + pt.log(1 + pt.exp(h)).mean()
    params = [filters, gamma, beta, dense]
    gradients, norm = clip_by_global_norm(pytensor.grad(loss, params), 0.5)
    optimizer = SGD(rate, momentum=0.9, nesterov=True, weight_decay=0.01)
    updates = optimizer.get_updates(params, gradients)
    updates = merge_updates(updates, {mean: new_mean, variance: new_variance})
    ema = ExponentialMovingAverage([*params, mean, variance], 0.99)
    updates = merge_updates(updates, ema.get_updates(updates))
    step = pytensor.function([x, labels, rate], [loss, norm], updates=updates, mode=mode)
    return step, list(updates)


@pytest.mark.slow
def test_step_is_that_of_mode_jax():
    rng = np.random.default_rng(5)
    batches = [(rng.normal(size=(2, 3, 8, 8)), np.array([1, 4], "int32"), 0.1) for _ in range(3)]
    sides = [make_step(mode) for mode in ("JAX", jax_mode())]
    for batch in batches:
        results = [step(*batch) for step, _ in sides]
        np.testing.assert_allclose(*results, rtol=1e-9)
    for wanted, got in zip(*(variables for _, variables in sides), strict=True):
        assert wanted.name == got.name
        np.testing.assert_allclose(got.get_value(), wanted.get_value(), rtol=1e-9, atol=1e-12)
    graph = sides[1][0].maker.fgraph
    # One for each parameter, and one for each average of a running statistic.
    assert sum(isinstance(node.op, Update) for node in graph.apply_nodes) == 6
    assert len(graph.outputs) == 2 + len(sides[1][1])


def test_forms_without_overflow_remain():
    x = pt.vector("x")
    y = pt.log(1 + pt.exp(x)).sum() - pt.log(pt.special.softmax(x))[0]
    total = pytensor.shared(0.0, name="total")
    f = pytensor.function([x], y, updates={total: total + 2 * y}, mode=jax_mode())
    value = f(np.array([-1000.0, 0.0, 1000.0]))
    np.testing.assert_allclose(value, 1000 + np.log(2) + 2000)
    np.testing.assert_allclose(total.get_value(), 2 * value)


def test_other_modes_see_no_update():
    w = pytensor.shared(np.ones(3), name="w")
    updates = {w: w * 2 - 1}
    for mode, number in ((jax_mode(), 1), ("JAX", 0)):
        nodes = pytensor.function([], [], updates=updates, mode=mode).maker.fgraph.apply_nodes
        assert sum(isinstance(node.op, Update) for node in nodes) == number


def test_updates_that_differ_in_a_number_only():
    """Arrays of one shape share an Op if they are computed in the same way."""
    v, w = (pytensor.shared(np.ones(3), name=name, shape=(3,)) for name in "vw")
    pytensor.function([], [], updates={v: 2 * v - 0.5, w: 3 * w - 0.5}, mode=jax_mode())()
    np.testing.assert_array_equal(v.get_value(), [1.5] * 3)
    np.testing.assert_array_equal(w.get_value(), [2.5] * 3)


def test_scalars_alone_can_make_an_array():
    a, b = (pytensor.shared(v) for v in (2.0, 3.0))
    one, row = pytensor.shared(np.zeros(1), shape=(1,)), pytensor.shared(np.ones(3), shape=(3,))
    wide = [v.dimshuffle("x") for v in (a, b)]
    product = wide[0] * wide[1]
    updates = {one: product, row: row * product.dimshuffle()}
    pytensor.function([], [], updates=updates, mode=jax_mode())()
    np.testing.assert_array_equal(one.get_value(), [6.0])
    np.testing.assert_array_equal(row.get_value(), [6.0] * 3)


SHAPES = [(), (1,), (3,), (2, 3), (1, 1), (1, 3)]


@st.composite
def programs(draw):
    """Draw arithmetic of state of several shapes, with axes added and dropped, and new values."""
    state = [pytensor.shared(np.full(s, 0.5 + k), shape=s) for k, s in enumerate(SHAPES)]
    values = [*state, pt.as_tensor(np.array([[0.25, -1.0, 3.0]]))]
    for _ in range(draw(st.integers(2, 12))):
        a, b = (draw(st.sampled_from(values)) for _ in range(2))
        kind = draw(st.sampled_from(["add", "sub", "mul", "neg", "sqr", "axes", "drop", "sum"]))
        if kind in ("add", "sub", "mul"):
            values.append(getattr(pt, kind)(a, b))
        elif kind in ("neg", "sqr"):
            values.append(getattr(pt, kind)(a))
        elif kind == "axes" and a.type.ndim < 2:
            values.append(a.dimshuffle("x", *range(a.type.ndim)))
        elif kind == "drop":
            kept = [axis for axis, n in enumerate(a.type.shape) if n != 1]
            values.append(a.dimshuffle(kept))
        elif kind == "sum":
            values.append(a.sum())
    updates = {}
    for variable in state:
        same = [v for v in values if v.type.shape == variable.type.shape and v is not variable]
        if same:
            updates[variable] = draw(st.sampled_from(same))
    outputs = [draw(st.sampled_from(values)) for _ in range(draw(st.integers(0, 2)))]
    return state, outputs, updates


@pytest.mark.slow
@given(programs())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_any_updates_are_computed(program):
    state, outputs, updates = program
    before = [v.get_value() for v in state]
    results = []
    for mode in ("FAST_COMPILE", jax_mode()):
        for variable, value in zip(state, before, strict=True):
            variable.set_value(value)
        returned = pytensor.function([], outputs, updates=updates, mode=mode)()
        results.append([*returned, *(v.get_value() for v in state)])
    for wanted, got in zip(*results, strict=True):
        assert np.shape(wanted) == np.shape(got)
        np.testing.assert_allclose(got, wanted, rtol=1e-12)
