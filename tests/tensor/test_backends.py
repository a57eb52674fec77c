"""The table of backends says what is so: cells are tried again."""

from inspect import isfunction

import numpy as np
import pytest

import pytensor.tensor as pt
from docs.tools.backends import (
    ROWS,
    TABLE,
    WARNS,
    Graph,
    compute,
    document,
    installed,
    read_state,
    reference,
    try_cell,
)
from pytensor.tensor import __extend__
from tests.catalogue.formulas import FORMULAS
from tests.utils import REFERENCE_MODE

STATE = read_state()
# Functions whose nodes are those of another row
OF_ANOTHER_ROW = dict.fromkeys(("batch_normalization", "batch_normalization_train"), "batch_norm")
OF_ANOTHER_ROW |= {n: "dropout" for n in pt.nn.__all__ if "dropout" in n and n != "dropout"}
OF_ANOTHER_ROW |= {"rrelu": "leaky_relu", "upsample": "interpolate"}
HINT = "run python -m docs.tools.backends"
# Where a graph takes many seconds to compile, the rows that are tried by default.
QUICK = {
    "C": ("conv2d", "silu"),
    "Numba": ("conv2d", "conv_transpose2d", "silu", "topk"),
}
# Of these, each has the rows in turn; the tests of JAX and of ONNX run the others, too.
IN_TURN = ("Python", "JAX", "ONNX")
# Slow in every backend; rows with fewer axes are like them.
LARGE = ("adaptive_max_pool3d", "lp_pool1d", "lp_pool3d", "max_pool3d")


def outcome(reason):
    if not reason:
        return "works"
    return "warns" if reason.startswith(WARNS) else "fails"


def tried_by_default(backend, place, name):
    if name in FORMULAS:
        return backend in IN_TURN and name in ("linear", "cross_entropy")
    if name in LARGE or backend in QUICK:
        return name in QUICK.get(backend, ())
    return backend not in IN_TURN or backend == IN_TURN[place % len(IN_TURN)]


def cells():
    for backend in installed():
        for place, name in enumerate(ROWS):
            long = not tried_by_default(backend, place, name)
            yield pytest.param(backend, name, marks=[pytest.mark.long] * long)


def test_every_function_has_a_row():
    public = {name for name in __extend__.__all__ if isfunction(getattr(__extend__, name))}
    public |= {*pt.nn.__all__}
    assert {row.function for row in ROWS.values()} == public - {*OF_ANOTHER_ROW}
    assert {*OF_ANOTHER_ROW.values()} < public


def test_the_table_has_every_cell():
    for backend in installed():
        assert list(STATE[backend]["cells"]) == list(ROWS), f"{backend}: {HINT}"


def test_the_table_is_that_of_the_state():
    assert TABLE.read_text() == document(STATE), HINT


@pytest.mark.parametrize(("backend", "name"), list(cells()))
def test_cell(backend, name):
    reasons = try_cell(name, backend)
    assert list(map(outcome, reasons)) == list(map(outcome, STATE[backend]["cells"][name])), (
        f"{reasons}; {HINT}"
    )


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.long] * (n in {*LARGE, *FORMULAS})) for n in ROWS]
)
def test_reference(name):
    """What the cells are compared with: its gradients agree with finite differences."""
    outputs, *gradients = reference(name)
    graph = Graph(ROWS[name], "float64", known="all")
    graph.differentiate([output.shape for output in outputs])
    values = list(graph.values)
    wrt = [i for i, value in enumerate(ROWS[name].values()) if value.dtype.kind == "f"]
    rng = np.random.default_rng(1)
    directions = [rng.normal(size=values[i].shape) for i in wrt]
    step = 1e-5

    def costs(step):
        for i, direction in zip(wrt, directions, strict=True):
            graph.values[i] = values[i] + step * direction
        return np.array(compute("Python", graph, graph.costs, REFERENCE_MODE))

    slopes = (costs(step) - costs(-step)) / (2 * step)
    expected = [np.sum([np.vdot(g, d) for g, d in zip(order, directions, strict=True)])
                for order in gradients]
    np.testing.assert_allclose(slopes, expected, rtol=1e-5, atol=1e-6)
