"""Measure what a size known at run time adds to a call in `jax_mode()`, in microseconds.

    python -m benchmarks.package.sizes [--turns 10] [--calls 2000] [--record]

The programs differ only in where a length comes from; the medians of the turns are printed.
"""

import argparse
import os
import time
from statistics import median

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np

import pytensor
import pytensor.tensor as pt
from benchmarks.common import results
from pytensor.link.jax import jax_mode


def functions():
    """Return functions of six numbers, by where the length of a reshape comes from."""
    x, n = pt.vector("x"), pytensor.shared(np.int64(3), "n")
    lengths = {"a constant": 3, "a shared integer": n, "computed from it": n // 2 + 2}
    return {
        name: pytensor.function(
            [x], x.reshape((length, -1)).sum(0), mode=jax_mode(), trust_input=True
        )
        for name, length in lengths.items()
    }


def microseconds(function, value, calls):
    """Return the processor's time of a call, in microseconds."""
    start = time.process_time()
    for _ in range(calls):
        function(value)
    return (time.process_time() - start) / calls * 1e6


def main():
    """Measure in turns, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--calls", type=int, default=2000)
    results.add_options(parser, json=False)
    options = parser.parse_args()
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    compiled, value, times = functions(), np.arange(6.0), {}
    for _ in range(options.turns):
        for name, function in compiled.items():
            function(value)
            times.setdefault(name, []).append(microseconds(function, value, options.calls))
    medians = {name: median(measured) for name, measured in times.items()}
    for name, middle in medians.items():
        print(f"{name}: {middle:.1f}")
    results.save(options, None, {"processor microseconds": medians})


if __name__ == "__main__":
    main()
