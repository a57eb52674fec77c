"""Measure a call of a small function in mode ONNX, in other modes and in a bare session.

    python -m benchmarks.onnx.call_overhead [--rounds 3000] [--record]

All sides run in turn in one process, with medians; compare the ratios.
"""

import argparse

import numpy as np
import onnxruntime

import pytensor
import pytensor.tensor as pt
from benchmarks.common import results
from benchmarks.common.timing import alternate
from pytensor.link.onnx import export_onnx

MODES = ("ONNX", "NUMBA", "FAST_COMPILE")


def small_function():
    """Compute ``tanh(x) * 2 + 1`` of 8 numbers."""
    x = pt.vector("x", dtype="float32")
    y = pt.tanh(x) * 2 + 1
    value = np.linspace(-1, 1, 8, dtype="float32")
    sides = {mode: pytensor.function([x], y, mode=mode) for mode in MODES}
    session = onnxruntime.InferenceSession(export_onnx([x], [y]).SerializeToString())
    runs = {mode: lambda f=f: f(value) for mode, f in sides.items()}
    return runs | {"bare session": lambda: session.run(None, {"x": value})}


def scan():
    """Compute 1,000 steps of a recurrence on 8 numbers, and its gradient."""
    x = pt.matrix("x", dtype="float32")
    states = pytensor.scan(
        lambda row, state: pt.tanh(state + row), x, pt.zeros(8, dtype="float32"),
        return_updates=False,
    )  # fmt: skip
    outputs = [states[-1], pt.grad(states[-1].sum(), x)]
    value = np.random.default_rng(0).normal(size=(1000, 8)).astype("float32")
    sides = {mode: pytensor.function([x], outputs, mode=mode) for mode in ("ONNX", "NUMBA")}
    return {mode: lambda f=f: f(value) for mode, f in sides.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3000)
    results.add_options(parser, json=False)
    options = parser.parse_args()
    figures = {}
    for case, rounds in ((small_function, options.rounds), (scan, max(options.rounds // 30, 1))):
        times = alternate(case(), rounds)
        figures[case.__name__] = times
        base = times["ONNX"]["median_ms"]
        print(f"{case.__name__}: {case.__doc__}")
        for name, time in times.items():
            print(f"  {name:14} {1e3 * time['median_ms']:9.1f} us = {time['median_ms'] / base:.2f}")
    results.save(options, None, figures)


if __name__ == "__main__":
    main()
