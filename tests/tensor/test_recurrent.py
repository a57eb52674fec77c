"""Loops of recurrent layers: their graph takes their place, and their gradient is its gradient."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor import layers
from pytensor.compile.mode import get_mode
from pytensor.graph.replace import vectorize_graph
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.scan.op import Scan
from pytensor.tensor.recurrent import Recurrent
from tests.utils import REFERENCE_MODE


@pytest.mark.parametrize("cell", ["LSTM", "GRU"])
def test_a_training_has_two_loops(cell):
    """One forwards and one backwards: the gradient's own forward loop is the network's."""
    net, x = getattr(layers, cell)(3, 4), pt.tensor3("x")
    y, last = net(x)
    state = last[0] if net.states > 1 else last
    loss = pt.sqr(y).sum() + state.sum()
    outputs = [loss, *pt.grad(loss, net.parameters())]
    step = pytensor.function([x], outputs, mode=get_mode("FAST_RUN").excluding("fusion"))
    nodes = step.maker.fgraph.apply_nodes
    assert len([node for node in nodes if isinstance(node.op, Scan)]) == 2
    assert not [node for node in nodes if isinstance(node.op, Recurrent)]


@pytest.mark.parametrize("used", [[0, 1, 2], [2]])
def test_gradient_where_inputs_and_outputs_depend_on_each_other(used):
    """A state is computed from the sequence; the last hidden state is one of all."""
    net, x = layers.LSTM(3, 3), pt.tensor3("x")
    state = pt.tanh(x[:, 0])[None]
    y, (hidden, cell) = net(x, (state, 2 * state))
    loss = sum((k + 1) * pt.sqr([y, hidden, cell][k]).sum() for k in used)
    # the same without an Op around the loop
    plain = rewrite_graph(loss, include=("inline_ofg_expansion",))
    wrt = [x, *net.parameters()]
    run = pytensor.function([x], [*pt.grad(loss, wrt), *pt.grad(plain, wrt)], mode=REFERENCE_MODE)
    found = run(np.random.default_rng(0).normal(size=(2, 5, 3)))
    for got, expected in zip(found[: len(wrt)], found[len(wrt) :], strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9)
        assert np.abs(got).max() > 0


def test_vectorized_weights():
    net, x = layers.GRU(3, 2), pt.tensor3("x")
    weights = pt.tensor3("weights", shape=(2, 6, 2))
    y = net(x)[0]
    several = vectorize_graph(y, {net.weight_hh_l0: weights})
    rng = np.random.default_rng(0)
    value, drawn = rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 6, 2))
    found = pytensor.function([x, weights], several, mode=REFERENCE_MODE)(value, drawn)
    one = pytensor.function([x], y, mode=REFERENCE_MODE)
    for weight, got in zip(drawn, found, strict=True):
        net.weight_hh_l0.set_value(weight)
        np.testing.assert_allclose(got, one(value))
