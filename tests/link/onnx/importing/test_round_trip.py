"""Graphs, exported and imported, have the graph's own results and derivatives."""

import numpy as np
import pytest

import pytensor.tensor as pt
from pytensor import function, grad
from pytensor.gradient import zero_grad
from pytensor.link.onnx import export_onnx, from_onnx
from tests.catalogue.random_graphs.items import Item
from tests.catalogue.random_graphs.search import RandomGraph
from tests.fuzz import round_trip
from tests.utils import REFERENCE_MODE

REAL = [0, 1e-9, -1e-9, 1e-3, 0.25, -0.5, 0.5, -0.75, 1, -1, 2, -2, 3, -7, 20, 30]
WITHIN = [0, 0.5, -0.5, 0.25, -0.75, 1e-3, 0.9, -0.99]
POSITIVE = [1, 2, 3, 4, 7, 10, 20, 0.5, 1.5, 2.5, 1.00001]
# Where formulas of the export go from one branch to another, or one that isn't taken is infinite
POINTS = {
    "arccosh": POSITIVE[:7],
    "arcsin": WITHIN,
    "arcsinh": REAL,
    "arctan": REAL,
    "arctanh": WITHIN,
    "erf": REAL,
    "erfc": REAL,
    "erfcx": REAL,
    "erfinv": WITHIN,
    "expm1": REAL,
    "gamma": [*POSITIVE, -0.5, -1.5, -2.5],
    "gammaln": [*POSITIVE, -0.5, -1.5, -2.5],
    "log1p": REAL[:8],
    "psi": POSITIVE,
    "sigmoid": REAL,
    "sinh": REAL,
    "softplus": REAL,
    "tan": REAL,
}


@pytest.mark.parametrize("name", POINTS)
def test_derivatives_of_formulas(name):
    x = pt.vector("x", dtype="float64")
    y = getattr(pt, name)(x)
    model = from_onnx(export_onnx([x], [y]))
    sides = (x, y), (*model.inputs.values(), *model.outputs.values())
    wanted, found = (
        function([x], grad(y.sum(), x), mode=REFERENCE_MODE)(np.array(POINTS[name], "float64"))
        for x, y in sides
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-15)


def test_lengths_behind_elements_that_are_sorted():
    x = pt.tensor("x", shape=(None, None, 4))
    model = from_onnx(export_onnx([x], [pt.sort(x, axis=2) - x]))
    (y,) = model.outputs.values()
    value = np.random.default_rng(0).normal(size=(2, 3, 4))
    result = function([*model.inputs.values()], y, mode=REFERENCE_MODE)(value)
    np.testing.assert_array_equal(result, np.sort(value, axis=2) - value)


@pytest.fixture
def graph():
    graph = RandomGraph()
    x = pt.vector("x", dtype="float32")
    graph.inputs.append(x)
    graph.computed[x] = np.array([0.5, 0.25], "float32")
    graph.items.append(Item(x, graph.computed[x]))
    graph.add(pt.tanh(x) * x, exact=False)
    return graph


@pytest.mark.parametrize(
    "change", [lambda y: y * 1.001, lambda y: pt.cast(y, "float64"), zero_grad]
)
def test_differences_are_found(monkeypatch, graph, change):
    options = {"opset_version": 20, "optimize": True}
    assert round_trip.compare(graph, options) == "equal"

    def changed(model):
        imported = from_onnx(model)
        imported.outputs = {name: change(y) for name, y in imported.outputs.items()}
        return imported

    monkeypatch.setattr(round_trip, "from_onnx", changed)
    with pytest.raises(AssertionError):
        round_trip.compare(graph, options)
