"""What a call of a function with many small arrays costs, in PyTensor and in plain JAX.

    python -m benchmarks.package.call_overhead [--arrays 540 1089] [--rounds 300] [--record]

The function adds 1 to arrays of 4 numbers, which are its state: shared variables in PyTensor, and
what the next call gets in plain JAX.  There is next to nothing to compute, so a time is that of
Python and of JAX's dispatch.  YOLO11n's training step has about 1,100 arrays.  All sides run in
turn in one process; a call ends before the next begins, and only the call itself is timed, not the
wait for its results.  A ratio below 1 says that PyTensor's side is faster.
"""

import argparse
import random
import time

import jax
import numpy as np

import benchmarks.common.float32  # noqa: F401, before pytensor
import pytensor
from benchmarks.common import results
from benchmarks.common.machine import machine, machine_line
from benchmarks.common.timing import quartiles
from pytensor.link.jax import jax_mode

PAIRS = {"mode JAX": "plain JAX", "jax_mode(donate=True)": "plain JAX, donated"}
WARMUP = 3


class PureCall:
    """The function in plain JAX.

    Parameters
    ----------
    arrays : int
    donate : bool
    """

    def __init__(self, arrays, donate):
        places = tuple(range(arrays)) if donate else ()
        self._function = jax.jit(
            lambda *values: tuple(value + np.float32(1) for value in values), donate_argnums=places
        )
        self._values = jax.device_put(initial_values(arrays))

    def call(self):
        self._values = self._function(*self._values)

    def values(self):
        return self._values


class SharedCall:
    """The function in PyTensor.

    Parameters
    ----------
    arrays : int
    mode : str or Mode
    """

    def __init__(self, arrays, mode):
        self._variables = [
            pytensor.shared(value, shape=value.shape) for value in initial_values(arrays)
        ]
        self.call = pytensor.function(
            [], updates=[(v, v + np.float32(1)) for v in self._variables], mode=mode,
            trust_input=True,
        )  # fmt: skip

    def values(self):
        return [v.get_value(borrow=True) for v in self._variables]


def initial_values(arrays):
    return [np.full(4, k, dtype="float32") for k in range(arrays)]


def make_sides(arrays):
    return {
        "plain JAX": PureCall(arrays, False),
        "plain JAX, donated": PureCall(arrays, True),
        "mode JAX": SharedCall(arrays, "JAX"),
        "jax_mode(donate=True)": SharedCall(arrays, jax_mode(donate=True)),
    }


def time_calls(sides, rounds):
    """Return the seconds of each side's calls; in each round their order is another.

    A call finds the processor's caches as the one before left them, so no side may always come
    after the same other.
    """
    seconds = {name: [] for name in sides}
    order = random.Random(0)
    for k in range(-WARMUP, rounds):
        for name in order.sample(list(sides), len(sides)):
            start = time.perf_counter()
            sides[name].call()
            end = time.perf_counter()
            jax.block_until_ready(sides[name].values())
            if k >= 0:
                seconds[name].append(end - start)
    return seconds


def check(sides, calls):
    """Raise an error if a side did not do its work: all have run `calls` calls."""
    for name, side in sides.items():
        for k, value in enumerate(side.values()):
            if not np.array_equal(value, np.full(4, k + calls, dtype="float32")):
                raise RuntimeError(f"{name}: array {k} is {value} after {calls} calls")


def measure(arrays, rounds):
    """Return the times of all sides and their ratios, for a number of arrays."""
    sides = make_sides(arrays)
    seconds = time_calls(sides, rounds)
    check(sides, WARMUP + rounds)
    # Medians of many short calls: a ratio of single calls would be noise.
    medians = {name: quartiles(values)[1] for name, values in seconds.items()}
    return {
        "arrays": arrays,
        "seconds": {name: quartiles(values) for name, values in seconds.items()},
        "ratios": {f"{a} / {b}": medians[a] / medians[b] for a, b in PAIRS.items()},
    }


def report(point):
    print(f"{point['arrays']} arrays")
    for name, (low, middle, high) in point["seconds"].items():
        print(f"  {name:22} {1e6 * middle:9.1f} us ({1e6 * low:.1f} to {1e6 * high:.1f})")
    for pair, ratio in point["ratios"].items():
        print(f"  ratio {pair:42} {ratio:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arrays", type=int, nargs="+", default=[540, 1089])
    parser.add_argument("--rounds", type=int, default=300, help="calls of a side (%(default)s)")
    results.add_options(parser)
    options = parser.parse_args()
    result = {"machine": machine(), "rounds": options.rounds, "points": []}
    print(machine_line(result["machine"]))
    for arrays in options.arrays:
        result["points"].append(measure(arrays, options.rounds))
        report(result["points"][-1])
    print("in brackets: the quartiles over the rounds")
    figures = {
        f"{point['arrays']} arrays": {"seconds": point["seconds"], "ratio": point["ratios"]}
        for point in result["points"]
    }
    results.save(options, result, figures)


if __name__ == "__main__":
    main()
