"""A training step of YOLO11n in mode JAX beside the same step written in plain JAX.

    python benchmarks/train_step.py [--image-size 320] [--batch-size 8] [--steps 10] [--rounds 5]
        [--layout NHWC] [--no-donate] [--json OUT]

One step is the forward pass in training mode, the loss with its assigner, the backward pass,
clipping, SGD with Nesterov's momentum, the averages and the running statistics.  Both sides start
from the same weights and get the same arrays, which lie on the device; the losses of the first
step must agree.  They take turns in blocks of steps, and a block ends when its results are there.
A ratio below 1 says that PyTensor's side is faster; on a shared machine only the ratio means
something.
"""

import os

# Before the first import of pytensor, which reads it once.
os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float32", os.environ.get("PYTENSOR_FLAGS")])
)

import argparse
import json
import time
from pathlib import Path

import jax
from step_sides import DemoStep, PureStep, draw_sample, machine, machine_line, quartiles

SAMPLES = 4
LARGEST_DIFFERENCE = 1e-3
COSTS = {"flops": "GFLOP", "bytes accessed": "GB accessed"}


def first_step(sides, sample):
    """Run one step of each side; the largest relative difference of their losses.

    Raises
    ------
    RuntimeError
        If the losses differ by more than rounding: a ratio of times would mean nothing.
    """
    demo, pure = (side.run(sample, 0)[0] for side in sides)
    difference = max(abs(float(demo[name]) / float(pure[name]) - 1) for name in demo)
    if not difference < LARGEST_DIFFERENCE:
        losses = ", ".join(f"{name} {float(demo[name])} and {float(pure[name])}" for name in demo)
        raise RuntimeError(f"the sides don't compute the same: {losses}")
    return difference


def time_blocks(sides, samples, steps, rounds, warmup=3):
    """Seconds a step of each side, by round; who begins changes from round to round."""
    number = 1
    for side in sides:
        for k in range(warmup):
            side.run(samples[k % len(samples)], number + k)
        side.wait()
    number += warmup
    seconds = {side.name: [] for side in sides}
    for k in range(rounds):
        for side in sides[:: -1 if k % 2 else 1]:
            start = time.perf_counter()
            for i in range(steps):
                side.run(samples[i % len(samples)], number + i)
            side.wait()
            seconds[side.name].append((time.perf_counter() - start) / steps)
        number += steps
    return seconds


def cost(side):
    """What XLA counts for a side's program."""
    function, arguments = side.program()
    # JAX keeps what it has compiled: this is the program that ran.
    program = function.lower(*arguments).compile()
    costs = program.cost_analysis()
    memory = program.memory_analysis()
    over_arguments = memory.alias_size_in_bytes
    return {
        **{name: costs[name] for name in COSTS},
        # Together, for a program uses the place of its results for temporary values too.
        "bytes allocated": memory.temp_size_in_bytes + memory.output_size_in_bytes - over_arguments,
        "bytes written over arguments": over_arguments,
    }


def report(result):
    print(machine_line(result["machine"]))
    print(f"losses of the first step differ by {result['largest_difference']:.1e} at most")
    batch_size = result["batch_size"]
    for name, side in result["sides"].items():
        low, middle, high = side["seconds"]
        costs = ", ".join(f"{side['cost'][key] / 1e9:.2f} {unit}" for key, unit in COSTS.items())
        memory = side["cost"]["bytes allocated"] / 1e6
        print(
            f"{name:10} {1e3 * middle:8.1f} ms a step ({1e3 * low:.1f} to {1e3 * high:.1f}), "
            f"{batch_size / middle:.1f} images/s; XLA: {costs}, {memory:.0f} MB allocated"
        )
    low, middle, high = result["ratio"]
    print(f"ratio PyTensor to plain JAX {middle:.3f} ({low:.3f} to {high:.3f})")
    print("in brackets: the quartiles over the rounds")


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--image-size", type=int, default=320)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--steps", type=int, default=10, help="in a block (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="blocks of a side (%(default)s)")
    parser.add_argument(
        "--layout", choices=["NHWC", "NCHW"], default="NHWC", help="of plain JAX (%(default)s)"
    )
    parser.add_argument(
        "--no-donate",
        dest="donate",
        action="store_false",
        help="plain JAX may not write the new state over the old one",
    )
    parser.add_argument("--json", help="file to write the result to")
    return parser.parse_args(arguments)


def main():
    options = parse()
    size = options.image_size, options.batch_size
    demo = DemoStep(*size)
    weights = demo.model.state_dict()
    sides = [demo, PureStep(*size, weights, options.layout, options.donate)]
    samples = [
        jax.device_put(draw_sample(seed, options.batch_size, options.image_size))
        for seed in range(SAMPLES)
    ]
    difference = first_step(sides, samples[0])
    seconds = time_blocks(sides, samples, options.steps, options.rounds)
    ours, theirs = seconds.values()
    result = {
        "machine": machine(),
        **{key: value for key, value in vars(options).items() if key != "json"},
        "largest_difference": difference,
        "sides": {
            side.name: {"seconds": quartiles(seconds[side.name]), "cost": cost(side)}
            for side in sides
        },
        "ratio": quartiles([a / b for a, b in zip(ours, theirs, strict=True)]),
    }
    report(result)
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
