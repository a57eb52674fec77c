"""Find which runtime computes a model wrongly, and from which node on.

    python -m pytensor.link.onnx compare MODEL.onnx
    python -m pytensor.link.onnx compare MODEL.onnx INPUTS.npz --runtimes ort "node run.mjs"

The exit code is 1 if a runtime is wrong or doesn't run the model.
"""

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from pytensor.link.onnx.compare.graph import ComparisonError, Model
from pytensor.link.onnx.compare.inputs import edge_cases, ordinary_cases, read_inputs
from pytensor.link.onnx.compare.report import Report, reports
from pytensor.link.onnx.compare.runtimes import DEFAULT, LEVELS, WEB
from pytensor.link.onnx.compare.smallest import write


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare as the command line says; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m pytensor.link.onnx compare", description=__doc__.splitlines()[0]
    )
    parser.add_argument("model", metavar="MODEL.onnx")
    parser.add_argument(
        "inputs", nargs="?", metavar="INPUTS.npz",
        help="by the model's names; default: test_data_set_N next to the model, or random",
    )  # fmt: skip
    parser.add_argument(
        "--runtimes", nargs="+", default=DEFAULT, metavar="RUNTIME",
        help=f"of {', '.join((*LEVELS, *WEB, 'reference'))}, and programs, to which "
        f"'MODEL.onnx INPUTS.npz OUTPUTS.npz' is appended; default: {' '.join(DEFAULT)}",
    )  # fmt: skip
    parser.add_argument("--ort-web", metavar="FOLDER", help="npm's package onnxruntime-web")
    parser.add_argument(
        "--edges", action="store_true", help="also zeros, ties, subnormals, infinities, NaN, empty"
    )
    parser.add_argument("--seed", type=int, default=0, help="of random inputs; default: 0")
    parser.add_argument(
        "--sizes", nargs="+", default=(), metavar="NAME=N", help="lengths of open axes; default: 2"
    )
    parser.add_argument(
        "--smallest", metavar="FOLDER", type=Path,
        help="where models that still differ go; default: MODEL-differs",
    )  # fmt: skip
    o = parser.parse_args(arguments)
    try:
        return _compare(o)
    except (ComparisonError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1


def _compare(o: argparse.Namespace) -> int:
    model = Model.read(o.model)
    sizes = dict(_size(text) for text in o.sizes)
    if o.inputs is not None:
        cases = [read_inputs(model, o.inputs)]
    else:
        cases = ordinary_cases(model, o.model, o.seed, sizes)
    folder = o.smallest or Path(o.model).with_name(f"{Path(o.model).stem}-differs")
    more = edge_cases(model, o.seed, sizes) if o.edges else ()
    return int(_print(reports(model, chain(cases, more), o.runtimes, o.ort_web), folder))


def _size(text: str) -> tuple[str, int]:
    name, equals, length = text.partition("=")
    if not (name and equals and length.isdecimal()):
        raise ComparisonError(f"--sizes {text}: write NAME=N, as batch=1")
    return name, int(length)


def _print(found: Iterable[Report], folder: Path) -> bool:
    """Print a table, and write models that differ; whether anything is wrong."""
    wrong = False
    for one in found:
        print(f"{one.runtime:<12} {one.case:<24} {describe(one)}")
        wrong |= one.wrong
        if one.smallest is not None:
            place = folder / re.sub(r"\W+", "-", f"{one.runtime} {one.case}").strip("-")
            write(one.smallest, one.script, place)
            print(f"{'':<37} {len(one.smallest.proto.graph.node)} nodes still differ: {place}")
    return wrong


def describe(one: Report) -> str:
    """Say in one line what a report says."""
    if one.failure is not None:
        return f"doesn't run: {one.failure}"
    if one.skipped is not None:
        return f"not compared: {one.skipped}"
    if one.grown is not None:
        return (
            f"output {one.grown!r}: {one.difference}; but no node is beyond its own bound: "
            f"rounding, which this model enlarges"
        )
    if one.node is None:
        return f"right; uses {one.used:.2g} of what rounding may do"
    what = f"first wrong node: {one.node}"
    if one.fused:
        what = f"wrong while fused: {', '.join(one.nodes)}"
    outputs = ", ".join(map(repr, one.outputs)) or "no output"
    return f"{what}: {one.difference}; {one.dependents} nodes depend on it, and {outputs}"
