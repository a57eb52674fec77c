"""Every operator of the catalogue, in every backend: one table of questions.

A cell is an operator, a backend and a question, and a new entry of the catalogue has all of them.
`by_default` says which cells are not left to the weekly run; `Example.fails` which ones fail, and
why.  A row of the table of backends must be true, too: `second_gradient` tries its cells again.
"""

from functools import cache
from importlib.util import find_spec
from inspect import isfunction

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from docs.tools.backends import TABLE, document, read_state, try_cell
from pytensor.compile.mode import Mode
from pytensor.graph.replace import vectorize_graph
from pytensor.tensor import __extend__
from tests.catalogue.backends import BACKENDS, REFERENCE, WARNS, difference, installed, reference
from tests.catalogue.formulas import FORMULAS
from tests.catalogue.operators import OPERATORS
from tests.tensor.ops import is_ours, repeated
from tests.utils import REFERENCE_MODE

STATE = read_state()
ROWS = {name: e for name, e in (OPERATORS | FORMULAS).items() if e.row}
# Functions whose nodes are those of another row
OF_ANOTHER_ROW = dict.fromkeys(("batch_normalization", "batch_normalization_train"), "batch_norm")
OF_ANOTHER_ROW |= {n: "dropout" for n in pt.nn.__all__ if "dropout" in n and n != "dropout"}
OF_ANOTHER_ROW |= {"rrelu": "leaky_relu", "upsample": "interpolate"}
HINT = "run python -m docs.tools.backends"
PY = Mode("py", "fast_run")
FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "uint8", "int64")


@pytest.fixture(scope="module", autouse=True)
def programs_compiled_sooner(request):
    """Have JAX compile sooner: each program runs once, and on little."""
    if find_spec("jax"):
        request.getfixturevalue("compiled_sooner")


def value(example, backend):
    """Ask for results in each dtype, and for half precision's gradients of plain sums, at once.

    The gradient of a sum is an array of ones.
    """
    inputs, outputs, values, expected = [], [], [], []
    for dtype in FLOATS + INTEGERS * example.integers:
        new, results, own = example.graph(dtype, known="all")
        wanted = reference(example, dtype, order=0)
        if dtype == "float16":
            results += gradients_of_sum(new, results)
            wanted = wanted + plain_gradients(example)
        inputs, outputs, values = inputs + new, outputs + results, values + own
        expected.append((dtype, wanted))
    found = iter(backend.compute(inputs, outputs, values))
    for dtype, wanted in expected:
        fault = difference([next(found) for _ in wanted], wanted, dtype)
        assert not fault, f"{dtype}: {fault}"


def gradients_of_sum(inputs, results):
    """Return the gradients of the sum of all results of the inputs' floating dtype."""
    wrt = [x for x in inputs if x.type.dtype in FLOATS]
    sums = [out.sum(dtype=out.dtype) for out in results if out.type.dtype in FLOATS]
    return pt.grad(pt.add(*sums), wrt, disconnected_inputs="ignore")


@cache
def plain_gradients(example):
    """Return half precision's gradients of plain sums, computed in float64."""
    inputs, results, _ = example.graph(known="all")
    values = zip(example.values("float16"), inputs, strict=True)
    values = [value.astype(x.type.dtype) for value, x in values]
    return REFERENCE.compute(inputs, gradients_of_sum(inputs, results), values)


def gradient(example, backend):
    """Ask for results and gradients, with unknown lengths."""
    graph = example.graph(backend.dtype, order=1)
    fault = difference(backend.compute(*graph), reference(example, order=1), backend.dtype)
    assert not fault, fault


def second_gradient(example, backend):
    """Ask for the cell of the table of backends, which is of the lengths that a user knows."""
    cells = STATE.get(backend.name, {"cells": {}})["cells"]
    reasons = try_cell(example, backend)
    expected = cells.get(example.name, ["", "", ""])
    told = f"{reasons}; if that can't work, {HINT}"
    assert list(map(outcome, reasons)) == list(map(outcome, expected)), told


def outcome(reason):
    """Return whether a cell works, warns or fails."""
    if not reason:
        return "works"
    return "warns" if reason.startswith(WARNS) else "fails"


def shape(example, backend):
    """Ask for shapes: each is a formula of the inputs' shapes, which computes no element."""
    inputs, outputs, values = example.graph(backend.dtype, order=1)
    shapes = [v.shape for v in outputs]
    formulas = pytensor.function(inputs, shapes, mode=PY, on_unused_input="ignore")
    assert not [node for node in formulas.maker.fgraph.apply_nodes if is_ours(node.op)]
    expected = [result.shape for result in reference(example, order=1)]
    in_python = backend.name == "Python"
    found = formulas(*values) if in_python else backend.compute(inputs, shapes, values)
    assert [tuple(s) for s in found] == expected
    for out, n in zip(outputs, expected, strict=True):
        assert len(out.type.shape) == len(n)
    static = [v.type.shape for v in example.outputs(*example.variables(known="all"))]
    for known, lengths in zip(static, expected, strict=False):
        assert all(k in (None, n) for k, n in zip(known, lengths, strict=True))


def unrewritten(backend):
    """Return a backend, and instead of Python the same without rewrites.

    They take two thirds of the time, and `second_gradient` asks for them.
    """
    return REFERENCE if backend.name == "Python" else backend


def batch(example, backend):
    """Ask for a batch of the first input, of the others, of all: `vectorize_graph` has a rule."""
    dtype, length = backend.dtype, 3
    inputs, outputs, _ = example.graph(dtype, known="all", order=1)
    rng = np.random.default_rng(2)
    batches = [entry.value(rng, dtype, (length,)) for entry in example.inputs]
    first, others = {0}, {*range(1, len(inputs))}
    one = pytensor.function(inputs, outputs, mode=REFERENCE_MODE, on_unused_input="ignore")
    given, vectorized, values, wanted = [], [], [], []
    for batched in [first, others, first | others] if others else [first]:
        new = [
            pt.tensor(shape=(length,) * (k in batched) + x.type.shape, dtype=x.type.dtype)
            for k, x in enumerate(inputs)
        ]
        results = vectorize_graph(outputs, dict(zip(inputs, new, strict=True)))
        assert not repeated(results)
        for out, v in zip(outputs, results, strict=True):
            added = v.type.ndim - out.type.ndim
            own = (length,) * added + out.type.shape
            assert all(n in (None, k) for n, k in zip(own, v.type.shape, strict=True))
        assert results[0].type.ndim > outputs[0].type.ndim
        own = [b if k in batched else b[0] for k, b in enumerate(batches)]
        loop = [
            one(*(v[i] if k in batched else v for k, v in enumerate(own))) for i in range(length)
        ]
        for out, v, found in zip(outputs, results, zip(*loop, strict=True), strict=True):
            wanted.append(np.stack(found) if v.type.ndim > out.type.ndim else found[0])
        given, vectorized, values = given + new, vectorized + results, values + own
    fault = difference(unrewritten(backend).compute(given, vectorized, values), wanted, dtype)
    assert not fault, fault


def round_trip(example, backend):
    """Ask for results and gradients of the graph that is imported from its own export."""
    onnx = pytest.importorskip("pytensor.link.onnx")
    # Mode JAX makes a warning of each check of a length
    known = "all" if backend.name == "JAX" else "some"
    inputs, outputs, values = example.graph(backend.dtype, known=known, order=1)
    model = onnx.from_onnx(onnx.export_onnx(inputs, outputs, exact=True))
    imported = list(model.inputs.values()), list(model.outputs.values())
    results = unrewritten(backend).compute(*imported, values)
    fault = difference(results, reference(example, order=1), backend.dtype)
    assert not fault, fault


QUESTIONS = (value, gradient, second_gradient, shape, batch, round_trip)


# Where a graph takes many seconds to compile, the operators that are tried by default
QUICK = {
    "C": ("conv2d", "silu"),
    "Numba": ("conv2d", "conv_transpose2d", "silu", "topk", "batch_norm, training"),
}
# Of these, each has the rows in turn for second gradients, which take seconds to rewrite
IN_TURN = ("Python", "JAX", "ONNX")


def by_default(place, example, backend, question):
    """Return whether a cell is tried in every run; the others are in the weekly one.

    Parameters
    ----------
    place : int
        The operator's, in the catalogue.
    example : Example
    backend, question : str
    """
    if example.name in FORMULAS:
        return backend in IN_TURN and example.name in ("linear", "cross_entropy")
    if backend in QUICK:
        return question == "second_gradient" and example.name in QUICK[backend]
    if example.long:
        return question == "value" and backend in ("ONNX", "PyTorch", "MLX")
    if question in ("shape", "batch", "round_trip"):
        return backend == "Python" and (example.row or question != "round_trip")
    if backend not in IN_TURN:
        return True
    if question == "second_gradient":
        return example.row and backend == IN_TURN[place % len(IN_TURN)]
    # The values of a variant in one of the two, its gradients in the other
    turn = ("value", "gradient")[(place + (backend == "JAX")) % 2]
    return backend != "Python" and (example.row or question == turn)


def cells():
    for place, (name, example) in enumerate((OPERATORS | FORMULAS).items()):
        for backend in installed():
            # Formulas are of PyTensor's Ops, whose rules have tests of their own
            for question in QUESTIONS if name in OPERATORS else (second_gradient,):
                asked = question.__name__
                marks = []
                if not by_default(place, example, backend, asked):
                    marks.append(pytest.mark.long)
                reason = example.fails.get(asked) or example.fails.get(f"{backend} {asked}")
                if reason:
                    marks.append(pytest.mark.xfail(strict=True, reason=reason))
                yield pytest.param(
                    name, backend, question, marks=marks, id=f"{name}-{backend}-{asked}"
                )


@pytest.mark.parametrize(("operator", "backend", "question"), list(cells()))
def test_operator(operator, backend, question):
    with pytensor.config.change_flags(floatX=BACKENDS[backend].dtype):
        question((OPERATORS | FORMULAS)[operator], BACKENDS[backend])


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


def test_cells_that_fail_are_there():
    questions = {question.__name__ for question in QUESTIONS}
    known = questions | {f"{b} {q}" for b in BACKENDS for q in questions}
    assert {cell for example in OPERATORS.values() for cell in example.fails} <= known


LONG = {name for name, example in ROWS.items() if example.long or name in FORMULAS}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name in LONG)) for name in ROWS]
)
def test_reference(name):
    """What the cells are compared with: its gradients agree with finite differences."""
    example = ROWS[name]
    inputs, outputs, values = example.graph(known="all", order=2)
    wrt = [k for k, x in enumerate(inputs) if x.type.dtype == "float64"]
    orders = [outputs[: -2 * len(wrt)], outputs[-2 * len(wrt) : -len(wrt)]]
    # As `Example.graph` defines the costs
    costs = [
        sum((out**power).sum() for out in order if out.type.dtype == "float64")
        for order, power in zip(orders, (3, 2), strict=True)
    ]
    rng = np.random.default_rng(1)
    directions = [rng.normal(size=values[k].shape) for k in wrt]
    step = 1e-5

    compute = pytensor.function(inputs, costs, mode=REFERENCE_MODE, on_unused_input="ignore")

    def at(step):
        moved = list(values)
        for k, direction in zip(wrt, directions, strict=True):
            moved[k] = values[k] + step * direction
        return np.array(compute(*moved))

    slopes = (at(step) - at(-step)) / (2 * step)
    gradients = np.reshape(np.arange(-2 * len(wrt), 0), (2, -1))
    results = reference(example)
    expected = [
        sum(np.vdot(results[k], d) for k, d in zip(order, directions, strict=True))
        for order in gradients
    ]
    np.testing.assert_allclose(slopes, expected, rtol=1e-5, atol=1e-6)
