"""What can be exported, found out by trying: one small graph for every Op, dtype and operator set.

    python -m docs.tools.onnx_support
    python -m docs.tools.onnx_support --rows Abs,Conv

tries every cell, or the cells of the named rows, and writes the table in
``docs/onnx_support.md``.  The rows are the classes that have a converter, and the graphs are in
`tests.catalogue.ops`; a test fails when a class has no graph there, or the table is out of date.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np

import pytensor
from pytensor.link.onnx import (
    DroppedCheckWarning,
    DroppedPrintWarning,
    DroppedRandomStateWarning,
    UnsupportedOpError,
    export_onnx,
)
from pytensor.link.onnx.settings import OPSETS
from tests.catalogue.backends import REFERENCE
from tests.catalogue.ops import DTYPES, examples
from tests.utils import TOLERANCES

TABLE = Path(__file__).parents[1] / "onnx_support.md"

def attempt(example, dtype):
    """Return a cell's graph with PyTensor's own results, or None where PyTensor has none."""
    quiet = warnings.catch_warnings(action="ignore", category=DeprecationWarning)
    try:
        with np.errstate(all="ignore"), quiet:
            inputs, outputs, values = example.graph(dtype, known="some")
            expected = REFERENCE.compute(inputs, outputs, values)
    except Exception:  # whatever keeps PyTensor from it, there is nothing to export
        return None
    # Some Ops don't return what their types say, for integers that NumPy makes floats.
    if any(e.dtype != o.type.dtype for e, o in zip(expected, outputs, strict=True)):
        return None
    return inputs, outputs, values, expected


def try_cell(example, dtype, opsets):
    """Try a cell at each of `opsets`.

    Returns
    -------
    None, dict of int to str
        None where PyTensor itself doesn't have the Op for this dtype; otherwise the reasons for
        operator sets at which it can't be exported.
    """
    from tests.link.onnx.test_basic import check_results, run

    found = attempt(example, dtype)
    if found is None:
        return None
    inputs, outputs, values, expected = found
    is_random = not inputs
    failures = {}
    for opset in opsets:
        try:
            model = export(inputs, outputs, opset)
        except UnsupportedOpError as error:
            failures[opset] = error.failures[0][1]
            continue
        results = run(model, values)
        if is_random:
            assert [(r.dtype, r.shape) for r in results] == [(e.dtype, e.shape) for e in expected]
        else:
            # NumPy computes functions of 8 bits in float16, whatever the result's dtype.
            half = dtype in ("bool", "int8", "uint8") and expected[0].dtype.kind == "f"
            rtol, atol = TOLERANCES.get("float16" if half else dtype, (None, None))
            check_results(model, results, expected, rtol=rtol, atol=atol)
    return failures


def export(inputs, outputs, opset=20):
    """Export without warnings, and past rewrites of PyTensor's own that fail."""
    with warnings.catch_warnings(), pytensor.config.change_flags(on_opt_error="ignore"):
        warnings.simplefilter("ignore", DeprecationWarning)  # SciPy's, of constants that are folded
        warnings.simplefilter("ignore", DroppedCheckWarning)
        warnings.simplefilter("ignore", DroppedPrintWarning)
        warnings.simplefilter("ignore", DroppedRandomStateWarning)
        return export_onnx(inputs, outputs, opset_version=opset)


def symbol(result):
    if result is None:
        return " "
    if not result:
        return "✓"
    first = max(result) + 1
    return "✗" if first not in OPSETS else f"{first}+"


def try_row(example):
    """Return a row of the table, and a line for each reason why a cell can't be exported."""
    results = [try_cell(example, dtype, OPSETS) for dtype in DTYPES]
    reasons = {}
    for dtype, result in zip(DTYPES, results, strict=True):
        for reason in (result or {}).values():
            reasons.setdefault(reason, {})[dtype] = None
    return f"| {example.name} | {' | '.join(map(symbol, results))} |", [
        f"- {example.name} ({', '.join(dtypes)}): {reason}" for reason, dtypes in reasons.items()
    ]


def kept_row(name):
    """Return the same of the table as it is; ValueError if it lacks the row."""
    lines = TABLE.read_text().splitlines()
    rows = [line for line in lines if line.startswith(f"| {name} |")]
    if not rows:
        raise ValueError(f"the table has no row {name} yet: give --rows its name, too")
    return rows[0], [line for line in lines if line.startswith(f"- {name} (")]


def document(rows=None):
    """Return the table's Markdown, in which only the named `rows`, by default all, are tried."""
    titles = [d.replace("float", "f").replace("uint", "u").replace("int", "i") for d in DTYPES]
    table = [f"| Op | {' | '.join(titles)} |", f"| --- |{' :-: |' * len(DTYPES)}"]
    reasons, count = [], 0
    for example in examples():
        tried = rows is None or example.name in rows
        row, why = try_row(example) if tried else kept_row(example.name)
        table.append(row)
        reasons += why
        count += any(cell.strip() not in ("", "✗") for cell in row.split("|")[2:-1])
    return TEMPLATE.format(count=count, table="\n".join(table), reasons="\n".join(reasons))


TEMPLATE = """# Ops that can be exported to ONNX

✓ at every operator set from 18 to 24; 20+ from that one on; ✗ not, for the reason below the table;
blank: PyTensor itself doesn't have it. {count} rows have at least one dtype that works. A row is an
Op with all of its variants.

`python -m docs.tools.onnx_support` exports one small graph for each cell at every operator set,
runs it in onnxruntime and compares it with PyTensor.

{table}

## Not exported

{reasons}
"""


def main(arguments=None):
    """Try cells as the command line says, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", metavar="NAME,...", help="as in the first column; default: all")
    rows = parser.parse_args(arguments).rows
    rows = None if rows is None else rows.split(",")
    if unknown := {*(rows or ())} - {example.name for example in examples()}:
        parser.error(f"--rows: there is no row {', '.join(sorted(unknown))}")
    TABLE.write_text(document(rows))
    print(f"wrote {TABLE}")


if __name__ == "__main__":
    main()
