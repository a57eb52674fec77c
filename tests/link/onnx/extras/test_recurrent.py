"""LSTM and GRU as ONNX's operators, in onnxruntime, and read again."""

from collections import Counter

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor import layers
from pytensor.link.onnx import export_onnx, from_onnx
from tests.utils import in_turn

LENGTH, BATCH, SIZE = 5, 2, 4


@pytest.fixture(autouse=True)
def single():
    with pytensor.config.change_flags(floatX="float32"):
        yield


def operators(model):
    bodies = [a.g for node in model.graph.node for a in node.attribute if a.name == "body"]
    nodes = [node for graph in (model.graph, *bodies) for node in graph.node]
    return Counter(node.op_type for node in nodes)


def outputs_of(net, x, states):
    y, last = net(x, (tuple(states) if net.states > 1 else states[0]) if states else None)
    return [y, *(last if net.states > 1 else [last])]


@in_turn(
    "cell, directions, bias, given", ["LSTM", "GRU"], [1, 2], [True, False], [False, True]
)  # fmt: skip
def test_one_operator_for_each_layer_and_direction(cell, directions, bias, given):
    net = getattr(layers, cell)(3, SIZE, 2, bias=bias, bidirectional=directions > 1)
    x = pt.tensor("x", shape=(None, None, 3))
    states = [pt.tensor3(f"state{k}") for k in range(net.states * given)]
    rng = np.random.default_rng(0)
    shapes = [(BATCH, LENGTH, 3), *[(2 * directions, BATCH, SIZE)] * len(states)]
    values = [rng.normal(size=shape).astype("float32") for shape in shapes]
    outputs, axes = outputs_of(net, x, states), {"x": {0: "N", 1: "T"}}
    model = export_onnx([x, *states], outputs, dynamic_axes=axes, verify=values)
    found = operators(model)
    assert found[cell] == 2 * directions
    assert not found.keys() & {"Loop", "Scan", "MatMul"}
    assert given or "Gather" not in found  # the gates are in ONNX's order in the file
    names = [v.name for v in [x, *states]]
    read = from_onnx(model, dict(zip(names, map(pt.constant, values), strict=True)))
    expected = pytensor.function([x, *states], outputs, mode="FAST_COMPILE")(*values)
    again = pytensor.function([], [*read.outputs.values()], mode="FAST_COMPILE")()
    for got, wanted in zip(again, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("cell", ["LSTM", "GRU"])
def test_onnx_mode_runs_the_operator(cell):
    net, x = getattr(layers, cell)(3, SIZE), pt.tensor3("x")
    run = pytensor.function([x], outputs_of(net, x, []), mode="ONNX")
    model = export_onnx(x, outputs_of(net, x, []), half=True)
    assert operators(model)[cell] == 1  # and no kernel is asked for that onnxruntime lacks
    value = np.random.default_rng(0).normal(size=(BATCH, LENGTH, 3)).astype("float32")
    expected = pytensor.function([x], outputs_of(net, x, []), mode="FAST_COMPILE")(value)
    for got, wanted in zip(run(value), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-6)


def test_a_loop_where_the_operator_does_not_fit():
    x = pt.tensor3("x")
    net = layers.GRU(3, SIZE)
    y = net(x)[0]
    # the gradient needs the loop, which isn't run twice
    gradient = pt.grad(pt.sqr(y).sum(), net.weight_hh_l0)
    value = np.random.default_rng(0).normal(size=(BATCH, LENGTH, 3)).astype("float32")
    found = operators(export_onnx(x, [y, gradient], verify=[value]))
    assert (found["GRU"], found["Loop"] + found["Scan"]) == (0, 2)
    # onnxruntime has no kernel of double precision
    with pytensor.config.change_flags(floatX="float64"):
        x, net = pt.tensor3("x"), layers.LSTM(3, SIZE)
        model = export_onnx(x, net(x)[0], verify=[value.astype("float64")])
    assert operators(model)["LSTM"] == 0
