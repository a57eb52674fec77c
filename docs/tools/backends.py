"""What runs where, found out by trying: every operator, backend and order of differentiation.

    python -m docs.tools.backends
    python -m docs.tools.backends --backends PyTorch,MLX
    python -m docs.tools.backends --rows conv2d,resize

tries the cells of the backends that are installed, or of those named, and of all rows, or of those
whose functions are named.  The rows are examples of `tests.catalogue`.  The table is in
``docs/backends.md``, which keeps the other cells as they are.
"""

import argparse
import datetime
import re
import warnings
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import pytensor
from tests.catalogue.backends import BACKENDS, WARNS, difference, installed, reference
from tests.catalogue.formulas import FORMULAS
from tests.catalogue.operators import OPERATORS

TABLE = Path(__file__).parents[1] / "backends.md"
ROWS = {name: e for name, e in (OPERATORS | FORMULAS).items() if e.row}


# Trying


def _first_line(text):
    line = str(text).strip().partition("\n")[0]
    return line if len(line) <= 160 else f"{line[:160]} …"


def _reason(error):
    if hasattr(error, "failures"):
        # An export that fails says for each Op why
        return _first_line(error.failures[0][1])
    return f"{type(error).__name__}: {_first_line(error)}"


def _attempt(backend, graph, outputs, expected):
    inputs, _, values = graph
    with warnings.catch_warnings(record=True, action="always") as caught:
        try:
            results = backend.compute(inputs, outputs, values)
        except Exception as error:  # whatever it is, it is what the table has to say
            return _reason(error)
    warns = f"{WARNS}{_first_line(caught[0].message)}" if caught else ""
    return difference(results, expected, backend.dtype) or warns


def try_cell(example, backend):
    """Return what is wrong with an operator in a backend.

    Returns
    -------
    list of str
        For each of `ORDERS` the reason why it fails, `WARNS` and a warning, or "".
    """
    expected = reference(example)
    with pytensor.config.change_flags(floatX=backend.dtype):
        graph = inputs, outputs, _ = example.graph(backend.dtype, known="some", order=2)
        # All at once, which is all that most cells need
        if not _attempt(backend, graph, outputs, expected):
            return ["", "", ""]
        count = sum(x.type.dtype == backend.dtype for x in inputs)
        forward = len(outputs) - 2 * count
        bounds = (0, forward, forward + count, len(outputs))
        return [
            _attempt(backend, graph, outputs[start:stop], expected[start:stop])
            for start, stop in pairwise(bounds)
        ]


# The table


def _table(text, title):
    """Return the header of the table with this first title, and its rows by their first cell."""
    _, _, rest = text.partition(f"\n| {title} | ")
    lines = [line.strip("| ").split(" | ") for line in rest.partition("\n\n")[0].splitlines()]
    header, _, *rows = lines
    return header, {first: others for first, *others in rows}


def read_state():
    """Return what the page says of each backend: `document` of it is the page.

    Returns
    -------
    dict of str to dict
        Versions, dtype and date, and the cells that were tried: lists as of `try_cell`.
    """
    text = TABLE.read_text()
    notes = dict(re.findall(r"^(\d+)\. (.*)", text, re.MULTILINE))
    reasons = {"✓": ""} | {f"{tick}[{n}]": note for n, note in notes.items() for tick in ("", "✓")}
    backends, table = _table(text, "Function")
    state = {}
    for backend, (versions, dtype, date) in _table(text, "Backend")[1].items():
        place = backends.index(backend)
        cells = {name: [*map(reasons.get, row[place].split())] for name, row in table.items()}
        cells = {name: cells[name] for name in ROWS if name in cells and None not in cells[name]}
        state[backend] = {"versions": versions, "dtype": dtype, "date": date, "cells": cells}
    return state


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
            "# Operators and gradients in every backend",
            "",
            "A cell has marks for the function, its gradient and its second gradient, in order:",
            "✓ works; [1] doesn't, for the reason below the table; ✓[1] works, with the warning",
            "below the table; ? not tried yet.",
            "",
            "`python -m docs.tools.backends` compiles a small graph for each cell, with open batch",
            "and image sizes, and compares its results with Python's in float64.",
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
    """Write what a cell gave into the page."""
    state = read_state()
    backend = BACKENDS[backend_name]
    cells = {**state.get(backend_name, {}).get("cells", {}), name: reasons}
    state[backend_name] = {
        "versions": f"pytensor {version('pytensor')}, {backend.versions}",
        "dtype": backend.dtype,
        "date": datetime.date.today().isoformat(),
        "cells": {row: cells[row] for row in ROWS if row in cells},
    }
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
                reasons = try_cell(row, BACKENDS[backend_name])
                record(backend_name, name, reasons)
                print(backend_name, name, *(reason or "✓" for reason in reasons), flush=True)


if __name__ == "__main__":
    main()
