"""What runs where, found out by trying: every operator, backend and order of differentiation.

    python -m docs.tools.backends
    python -m docs.tools.backends --backends PyTorch,MLX
    python -m docs.tools.backends --rows conv2d,resize

tries the cells of the backends that are installed, or of those named, and of all rows, or of those
whose functions are named.  The rows are examples of `tests.catalogue`.  What is known of the other
cells is kept in ``backends.json``, from which the table in ``docs/backends.md`` is made.
"""

import argparse
import datetime
import json
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from tests.catalogue.formulas import FORMULAS
from tests.catalogue.operators import OPERATORS
from tests.utils import REFERENCE_MODE

ORDERS = ("forward", "gradient", "second gradient")
WARNS = "warns: "
STATE = Path(__file__).with_name("backends.json")
TABLE = Path(__file__).parents[1] / "backends.md"
# Asked before a test can switch the compiler off
CXX = pytensor.config.cxx
# torch.compile takes up to minutes a cell; operator by operator PyTorch has the same results
os.environ.setdefault("TORCH_COMPILE_DISABLE", "1")


@dataclass(frozen=True)
class Backend:
    """How to run a graph, and the packages without which it can't be."""

    mode: str | Mode | Callable | None
    packages: tuple[str, ...]
    dtype: str = "float64"
    remark: str = ""

    @property
    def installed(self):
        return all(find_spec(package) for package in self.packages)

    @property
    def versions(self):
        return ", ".join(f"{p} {version(p)}" for p in self.packages) + self.remark


def _pytorch_mode():
    from pytensor.link.pytorch.corrected import pytorch_mode

    return pytorch_mode()


def _mlx_mode():
    from pytensor.link.mlx.corrected import mlx_mode

    return mlx_mode()


BACKENDS = {
    # Fused scalar Ops compute with Python's own numbers, where ~True is -2
    "Python": Backend(
        Mode(linker="py", optimizer="fast_run").excluding("fusion"), ("numpy", "scipy")
    ),
    "C": Backend(Mode(linker="cvm", optimizer="fast_run"), ("numpy", "scipy")),
    "Numba": Backend("NUMBA", ("numba",)),
    "JAX": Backend("JAX", ("jax",)),
    "ONNX": Backend(None, ("onnx", "onnxruntime"), "float32"),
    "PyTorch": Backend(_pytorch_mode, ("torch",), remark=" (`pytorch_mode()`, eager)"),
    "MLX": Backend(_mlx_mode, ("mlx",), "float32", " (`mlx_mode()`)"),
}
# Largest error, relative to the largest entry of a result (or to 1)
TOLERANCES = {"float32": 5e-4, "float64": 1e-7}


def installed():
    return [
        name
        for name, backend in BACKENDS.items()
        if backend.installed and (name != "C" or CXX)
    ]


ROWS = {name: e for name, e in (OPERATORS | FORMULAS).items() if e.row}


# Trying


def _is_float(array):
    return array.dtype.kind == "f"


class Graph:
    """An example's graph for one dtype: the outputs and gradients, and values for the inputs.

    The gradient is that of the sum of the squared outputs, each times a weight; the second is the
    gradient of a weighted sum of the first.  Squared, so that neither is constant.
    """

    def __init__(self, example, dtype, known="some"):
        self.inputs, self.outputs, self.values = example.graph(dtype, known=known)
        self.dtype = dtype

    def _add_weights(self, value, shape):
        self.inputs.append(pt.tensor(f"x{len(self.inputs)}", shape=shape, dtype=value.dtype))
        self.values.append(value)
        return self.inputs[-1]

    def _weighted_sum(self, terms, shapes):
        rng = np.random.default_rng(0)
        weights = [
            self._add_weights(rng.normal(size=shape).astype(self.dtype), term.type.shape)
            for term, shape in zip(terms, shapes, strict=True)
        ]
        return pt.add(*[(w * term).sum() for w, term in zip(weights, terms, strict=True)])

    def differentiate(self, output_shapes):
        """Add the gradients; `output_shapes` are those of the outputs."""
        wrt = [x for x in self.inputs if x.type.dtype == self.dtype]
        shapes = [value.shape for value in self.values if _is_float(value)]
        outputs = [
            (pt.sqr(out), shape)
            for out, shape in zip(self.outputs, output_shapes, strict=True)
            if out.type.dtype == self.dtype
        ]
        first_cost = self._weighted_sum(*zip(*outputs, strict=True))
        gradients = pt.grad(first_cost, wrt)
        second_cost = self._weighted_sum(gradients, shapes)
        self.costs = [first_cost, second_cost]
        return [self.outputs, gradients, pt.grad(second_cost, wrt)]


def compute(name, graph, outputs, mode=None):
    """Return the results of a graph in a backend."""
    if name == "ONNX":
        return _compute_with_onnx(graph, outputs)
    mode = mode or BACKENDS[name].mode
    mode = mode() if callable(mode) else mode
    # Inner graphs are compiled by C in any mode that isn't told otherwise
    with pytensor.config.change_flags(cxx=CXX if name == "C" else ""):
        compiled = pytensor.function(graph.inputs, outputs, mode=mode, on_unused_input="ignore")
        return [np.asarray(result) for result in compiled(*graph.values)]


def _compute_with_onnx(graph, outputs):
    from pytensor.link.onnx import DroppedCheckWarning, export_onnx
    from tests.link.onnx.test_basic import run

    # What is checked while a function runs isn't part of a model
    with warnings.catch_warnings(action="ignore", category=DroppedCheckWarning):
        return run(export_onnx(graph.inputs, outputs), graph.values)


def _flat(lists):
    return [item for entries in lists for item in entries]


@cache
def reference(name):
    """Return results in Python, unrewritten, in float64 with static shapes, for each order."""
    graph = Graph(ROWS[name], "float64", known="all")
    outputs = compute("Python", graph, graph.outputs, REFERENCE_MODE)
    orders = graph.differentiate([output.shape for output in outputs])
    results = iter(compute("Python", graph, _flat(orders), REFERENCE_MODE))
    return [[next(results) for _ in order] for order in orders]


def _difference(results, expected, dtype):
    """Return what is wrong with the results, or ""."""
    for result, wanted in zip(results, expected, strict=True):
        wanted_dtype = dtype if _is_float(wanted) else str(wanted.dtype)
        if result.dtype != wanted_dtype or result.shape != wanted.shape:
            return (
                f"gives {result.dtype} of shape {result.shape}, not {wanted_dtype} of shape "
                f"{wanted.shape}"
            )
        error = np.abs(result - wanted).max(initial=0)
        if not error <= TOLERANCES[dtype] * max(1, np.abs(wanted).max(initial=0)):
            return f"is wrong by up to {error:.1e}"
    return ""


def _first_line(text):
    line = str(text).strip().partition("\n")[0]
    return line if len(line) <= 160 else f"{line[:160]} …"


def _reason(error):
    if hasattr(error, "failures"):
        # An export that fails says for each Op why
        return _first_line(error.failures[0][1])
    return f"{type(error).__name__}: {_first_line(error)}"


def _attempt(backend_name, graph, outputs, expected):
    with warnings.catch_warnings(record=True, action="always") as caught:
        try:
            results = compute(backend_name, graph, outputs)
        except Exception as error:  # whatever it is, it is what the table has to say
            return _reason(error)
    warns = f"{WARNS}{_first_line(caught[0].message)}" if caught else ""
    return _difference(results, expected, graph.dtype) or warns


def try_cell(name, backend_name):
    """Return what is wrong with an operator in a backend.

    Returns
    -------
    list of str
        For each of `ORDERS` the reason why it fails, `WARNS` and a warning, or "".
    """
    expected = reference(name)
    with pytensor.config.change_flags(floatX=BACKENDS[backend_name].dtype):
        graph = Graph(ROWS[name], BACKENDS[backend_name].dtype)
        orders = graph.differentiate([result.shape for result in expected[0]])
        # All at once, which is all that most cells need
        if not _attempt(backend_name, graph, _flat(orders), _flat(expected)):
            return ["", "", ""]
        return [
            _attempt(backend_name, graph, outputs, wanted)
            for outputs, wanted in zip(orders, expected, strict=True)
        ]


# The table


def read_state():
    return json.loads(STATE.read_text()) if STATE.exists() else {}


def _mark(reason, reasons):
    if not reason:
        return "✓" if reason == "" else "?"
    number = reasons.setdefault(reason, len(reasons) + 1)
    return f"✓[{number}]" if reason.startswith(WARNS) else f"[{number}]"


def document(state):
    """Return the table's Markdown."""
    reasons = {}
    lines = [f"| Function | {' | '.join(BACKENDS)} |", f"| --- |{' :-: |' * len(BACKENDS)}"]
    for name in ROWS:
        cells = [
            " ".join(
                _mark(reason, reasons)
                for reason in state.get(backend, {"cells": {}})["cells"].get(name, [None] * 3)
            )
            for backend in BACKENDS
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    columns = [
        f"| {backend} | {entry['versions']} | {entry['dtype']} | {entry['date']} |"
        for backend, entry in ((name, state[name]) for name in BACKENDS if name in state)
    ]
    notes = [f"{number}. {reason}" for reason, number in reasons.items()]
    return "\n".join(
        [
            "# What runs where",
            "",
            "Made by `python -m docs.tools.backends`, which compiles a small graph for each",
            "cell, with a batch size and an image size that aren't known beforehand, and compares",
            "its results with those of Python in float64.",
            "",
            "A cell stands for the function, its gradient and its second gradient, in this order:",
            "✓ works; [1] doesn't, for the reason below the table; ✓[1] works, with the warning",
            "below the table; ? not tried yet.",
            "",
            *lines,
            "",
            "| Backend | Tried with | dtype | Date |",
            "| --- | --- | --- | --- |",
            *columns,
            *(["", "## Reasons and warnings", "", *notes] if notes else []),
            "",
        ]
    )


def record(backend_name, name, reasons):
    """Keep what a cell gave, in the state and in the table."""
    state = read_state()
    backend = BACKENDS[backend_name]
    cells = {**state.get(backend_name, {}).get("cells", {}), name: reasons}
    state[backend_name] = {
        "versions": f"pytensor {version('pytensor')}, {backend.versions}",
        "dtype": backend.dtype,
        "date": datetime.date.today().isoformat(),
        "cells": {row: cells[row] for row in ROWS if row in cells},
    }
    STATE.write_text(json.dumps(state, indent=1, ensure_ascii=False) + "\n")
    TABLE.write_text(document(state))


def main(arguments=None):
    functions = sorted({row.function for row in ROWS.values()})
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--backends", default=",".join(installed()))
    parser.add_argument("--rows", default=",".join(functions))
    options = parser.parse_args(arguments)
    names = {name.lower(): name for name in BACKENDS}
    for backend_name in [names[backend] for backend in options.backends.lower().split(",")]:
        for name, row in ROWS.items():
            if row.function in options.rows.split(","):
                # Each is kept at once: some backends take long to compile all of them
                reasons = try_cell(name, backend_name)
                record(backend_name, name, reasons)
                print(backend_name, name, *(reason or "✓" for reason in reasons), flush=True)


if __name__ == "__main__":
    main()
