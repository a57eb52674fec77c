"""Which files a reader of `export_onnx` opens, in what order, as a tracer sees it.

    python -m tests.link.onnx.walk [--depth 2]

Followed are the functions that `export_onnx` calls and those that they call in turn, down to
`depth`, each at its first call.  A stay is a run of such calls in one file of the backend; one in a
file that was left before is a return.
"""

import argparse
import sys
from itertools import groupby
from pathlib import Path

import numpy as np

import pytensor
import pytensor.link.onnx
import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx

FOLDER = Path(pytensor.link.onnx.__file__).parent
DEPTH = 2


def network():
    """Return a layer with an open axis, which is what exports are for."""
    x = pt.tensor("x", shape=(None, 4), dtype="float32")
    w = pytensor.shared(np.ones((4, 3), "float32"), name="w")
    return [x], [pt.tanh(x @ w)]


def calls(function, *arguments, **options):
    """Return the depth, file and name of each function of the backend at its first call."""
    found, seen = [], set()

    def path_of(frame):
        path = Path(frame.f_code.co_filename)
        return path.relative_to(FOLDER).as_posix() if path.is_relative_to(FOLDER) else None

    def enter(frame, event, argument):
        if event != "call" or frame.f_code in seen or (path := path_of(frame)) is None:
            return
        seen.add(frame.f_code)
        depth, outer = 0, frame.f_back
        while outer is not None:
            depth += path_of(outer) is not None
            outer = outer.f_back
        found.append((depth, path, frame.f_code.co_qualname))

    sys.setprofile(enter)
    try:
        function(*arguments, **options)
    finally:
        sys.setprofile(None)
    return found


def walk(depth=DEPTH):
    """Return the stays of one export: each a file, and what was called in it."""
    inputs, outputs = network()
    export_onnx(inputs, outputs)  # what only the first export does, such as importing
    found = calls(export_onnx, inputs, outputs)
    entered = [(path, name) for level, path, name in found if level <= depth]
    return [(path, [name for _, name in run]) for path, run in groupby(entered, lambda v: v[0])]


def returns(stays):
    """Return how many stays are in a file that was left before."""
    return len(stays) - len({path for path, _ in stays})


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--depth", type=int, default=DEPTH, help=f"of calls (default: {DEPTH})")
    stays = walk(parser.parse_args().depth)
    for path, names in stays:
        print(f"{path:24} {', '.join(names)}")
    print(f"{len(stays)} stays, {returns(stays)} returns")


if __name__ == "__main__":
    main()
