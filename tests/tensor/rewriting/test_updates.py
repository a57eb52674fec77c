"""Updates are spared from rewrites in `jax_mode`, and computed as in mode JAX."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

pytest.importorskip("jax")

from pytensor.compile.mode import get_mode
from pytensor.graph.fg import FunctionGraph
from pytensor.link.jax.tuned import jax_mode
from pytensor.optimizers import SGD, ExponentialMovingAverage, clip_by_global_norm, merge_updates
from pytensor.tensor.rewriting.updates import HideUpdates, ShowUpdates, Tail


def make_step(mode):
    """A compiled step of a small network, and the variables that it changes."""
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
    h = pt.max_pool2d(h * pt.sigmoid(h), 2).mean((2, 3)) @ dense
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
    assert not any(isinstance(node.op, Tail) for node in graph.apply_nodes)
    assert len(graph.outputs) == 2 + len(sides[1][1])


def test_forms_without_overflow_remain():
    x = pt.vector("x")
    y = pt.log(1 + pt.exp(x)).sum() - pt.log(pt.special.softmax(x))[0]
    total = pytensor.shared(0.0, name="total")
    f = pytensor.function([x], y, updates={total: total + 2 * y}, mode=jax_mode())
    value = f(np.array([-1000.0, 0.0, 1000.0]))
    np.testing.assert_allclose(value, 1000 + np.log(2) + 2000)
    np.testing.assert_allclose(total.get_value(), 2 * value)


def graph_with_updates():
    """A graph whose second output updates the first input, and the third the second."""
    w, v, x = pt.vectors("w", "v", "x")
    loss = pt.exp(w * x)
    new_v = 0.9 * v + loss
    graph = FunctionGraph([w, v, x], [loss, w - new_v, new_v], clone=False)
    graph.update_mapping = {1: 0, 2: 1}
    return graph


def test_hidden_and_shown_again():
    graph = graph_with_updates()
    before = [str(node) for node in graph.toposort()]
    HideUpdates().apply(graph)
    names = [type(node.op).__name__ for node in graph.toposort()]
    # What the loss is computed by stays in sight.
    assert names == ["Elemwise", "Elemwise", "Tail"]
    assert graph.outputs[1:3] == graph.inputs[:2]
    ShowUpdates().apply(graph)
    assert sorted(before) == sorted(str(node) for node in graph.toposort())
    assert len(graph.outputs) == 3
    # The update of w reads that of v, not a copy of it.
    assert graph.outputs[2] in graph.outputs[1].owner.inputs


def test_rewrites_between_reach_the_updates():
    graph = graph_with_updates()
    HideUpdates().apply(graph)
    (loss,) = graph.outputs[:1]
    graph.replace(loss, pt.sqr(graph.inputs[2]))
    ShowUpdates().apply(graph)
    values = graph.outputs[1].eval(dict(zip(graph.inputs, np.eye(3), strict=True)))
    np.testing.assert_allclose(values, [1, -0.9, -1])


def test_graph_without_updates_is_left_alone():
    x = pt.vector("x")
    graph = FunctionGraph([x], [x + 1], clone=False)
    HideUpdates().apply(graph)
    assert not any(isinstance(node.op, Tail) for node in graph.apply_nodes)
    assert "jax_tuned" not in str(get_mode("JAX")._optimizer)
