"""A training step of YOLO11n in PyTensor beside the same step in plain JAX and in PyTorch.

    python benchmarks/train_step.py [--image-size 320] [--batch-size 8 16] [--steps 10]
        [--rounds 5] [--sides pytensor pure torch torch-compile] [--precision bf16] [--json OUT]

One step is the forward pass in training mode, the loss with its assigner, the backward pass,
clipping, SGD with Nesterov's momentum, the averages and the running statistics.  All sides start
from the same weights and get the same arrays, which lie on the device; the losses of the first
step must agree.  They take turns in blocks of steps, and a block ends when its results are there.
A ratio below 1 says that the side that is named first is faster; on a shared machine only the
ratios mean something.

Sides:
    pytensor              the demo's step, in the mode in which the demo trains
    pure                  plain JAX
    torch                 PyTorch, eagerly
    torch-channels-last   the same with channels last
    torch-compile         the same with torch.compile for network and loss
    torch-compile-graphs  with torch.compile's mode "reduce-overhead": CUDA graphs
    pytorch-mode          the demo's step in PyTensor's mode PYTORCH, arrays from and to the host
"""

import os

# Before the first import of pytensor, which reads it once.
os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float32", os.environ.get("PYTENSOR_FLAGS")])
)

import argparse
import json
import sys
import time
from pathlib import Path

import step_sides
from step_sides import DemoStep, PureStep, TorchStep, draw_sample, machine, machine_line, quartiles

SAMPLES = 4
# How far losses may differ, relatively, by what the network is computed in.
LARGEST_DIFFERENCE = {"float32": 1e-3, "tf32": 2e-2, "bf16": 1e-1}
COSTS = {"flops": "GFLOP", "bytes accessed": "GB accessed"}
TORCH = {
    "torch": {},
    "torch-channels-last": {"channels_last": True},
    "torch-compile": {"channels_last": True, "compiled": "default"},
    "torch-compile-graphs": {"channels_last": True, "compiled": "reduce-overhead"},
}
SIDES = ["pytensor", "pure", *TORCH, "pytorch-mode"]


def make_side(key, size, weights, options):
    """Make the side of a name in `SIDES`."""
    common = {"precision": options.precision}
    if key in TORCH:
        return TorchStep(*size, weights, **TORCH[key], **common)
    if key == "pytorch-mode":
        side = DemoStep(*size, weights, mode="PYTORCH")
        side.name = "PyTensor, mode PYTORCH"
        return side
    common |= {"donate": options.donate, "devices": options.devices}
    if key == "pure":
        return PureStep(*size, weights, options.layout, **common)
    return DemoStep(*size, weights, **common)


def losses_of_first_step(key, size, weights, options, sample):
    """Make a side and run its first step.

    Returns
    -------
    side, losses
        Or None and a reason, if there isn't enough memory for it.
    """
    try:
        side = make_side(key, size, weights, options)
        losses, _ = side.run(side.place(sample), 0)
        return side, {name: float(value) for name, value in losses.items()}
    except Exception as error:
        if not step_sides.out_of_memory(error):
            raise
        first_line = (str(error).strip() or type(error).__name__).splitlines()[0]
        return None, f"does not fit into memory: {first_line[:200]}"


def check_losses(losses, base, allowed):
    """Largest relative difference of each side's losses from those of the side `base`.

    Raises
    ------
    RuntimeError
        If they differ by more than rounding: a ratio of times would mean nothing.
    """
    differences = {}
    for key, values in losses.items():
        differences[key] = max(abs(values[name] / losses[base][name] - 1) for name in values)
        if not differences[key] < allowed:
            pairs = ", ".join(f"{n} {values[n]} and {losses[base][n]}" for n in values)
            raise RuntimeError(f"{key} and {base} don't compute the same: {pairs}")
    return differences


def time_blocks(sides, samples, steps, rounds, warmup=3):
    """Seconds a step of each side, by round; who begins changes from round to round.

    Parameters
    ----------
    sides : dict of str to side
    samples : dict of str to list
        Of each side, placed.
    steps : int
        In a block.
    rounds, warmup : int
    """
    number = 1
    for key, side in sides.items():
        for k in range(warmup):
            side.run(samples[key][k % SAMPLES], number + k)
        side.wait()
    number += warmup
    seconds = {key: [] for key in sides}
    for k in range(rounds):
        first = k % len(sides)
        for key in [*sides][first:] + [*sides][:first]:
            start = time.perf_counter()
            for i in range(steps):
                sides[key].run(samples[key][i % SAMPLES], number + i)
            sides[key].wait()
            seconds[key].append((time.perf_counter() - start) / steps)
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


def ratios(seconds):
    """Quartiles over the rounds: each side to plain JAX, and PyTensor to each side."""
    pairs = [(key, "pure") for key in seconds] + [("pytensor", key) for key in seconds]
    return {
        f"{a} / {b}": quartiles([x / y for x, y in zip(seconds[a], seconds[b], strict=True)])
        for a, b in dict.fromkeys(pairs)
        if a != b and a in seconds and b in seconds
    }


def measure(batch_size, weights, options):
    """Run and time all sides for one batch size."""
    step_sides.forget_compiled()
    size = options.image_size, batch_size
    samples = [draw_sample(seed, batch_size, options.image_size) for seed in range(SAMPLES)]
    sides, losses, left_out = {}, {}, {}
    for key in options.sides:
        side, answer = losses_of_first_step(key, size, weights, options, samples[0])
        if side is None:
            left_out[key] = answer
        else:
            sides[key], losses[key] = side, answer
    result = {"batch_size": batch_size, "sides": {}, "ratios": {}, "left_out": left_out}
    if not sides:
        return result
    base = "pure" if "pure" in sides else next(iter(sides))
    result["largest_difference"] = check_losses(losses, base, allowed_difference(options))
    placed = {key: [side.place(sample) for sample in samples] for key, side in sides.items()}
    seconds = time_blocks(sides, placed, options.steps, options.rounds)
    result["ratios"] = ratios(seconds)
    for key, side in sides.items():
        result["sides"][key] = {
            "name": side.name,
            "seconds": quartiles(seconds[key]),
            "images_per_s": batch_size / quartiles(seconds[key])[1],
            "cost": cost(side) if key in ("pytensor", "pure") else None,
            # What other sides hold can't be told apart.
            "peak_bytes": step_sides.peak_bytes(side) if len(options.sides) == 1 else None,
        }
    return result


def allowed_difference(options):
    """How far the losses of the first step may differ."""
    import jax

    exact = options.matmul_precision == "highest" or jax.default_backend() == "cpu"
    kind = options.precision if options.precision == "bf16" or exact else "tf32"
    return LARGEST_DIFFERENCE[kind]


def report(point):
    """Print what was measured for one batch size."""
    print(f"batch {point['batch_size']}")
    for key, reason in point["left_out"].items():
        print(f"  {key}: {reason}")
    for side in point["sides"].values():
        low, middle, high = side["seconds"]
        print(
            f"  {side['name']:24} {1e3 * middle:8.1f} ms a step ({1e3 * low:.1f} to "
            f"{1e3 * high:.1f}), {side['images_per_s']:.1f} images/s{cost_line(side['cost'])}"
        )
        if side["peak_bytes"] is not None:
            print(f"  {'':24} {side['peak_bytes'] / 1e6:8.0f} MB of the device's memory at most")
    for pair, (low, middle, high) in point["ratios"].items():
        print(f"  ratio {pair:32} {middle:.3f} ({low:.3f} to {high:.3f})")
    if point["sides"]:
        difference = max(point["largest_difference"].values())
        print(f"  losses of the first step differ by {difference:.1e} at most", flush=True)


def cost_line(costs):
    if costs is None:
        return ""
    counts = ", ".join(f"{costs[key] / 1e9:.2f} {unit}" for key, unit in COSTS.items())
    return f"; XLA: {counts}, {costs['bytes allocated'] / 1e6:.0f} MB allocated"


def parse(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--image-size", type=int, default=320)
    add("--batch-size", type=int, nargs="+", default=[8], help="one or several, rising")
    add("--steps", type=int, default=10, help="in a block (%(default)s)")
    add("--rounds", type=int, default=5, help="blocks of a side (%(default)s)")
    add("--sides", choices=SIDES, nargs="+", default=["pytensor", "pure"])
    add("--precision", choices=["float32", "bf16"], default="float32", help="of the network")
    add(
        "--matmul-precision",
        choices=["default", "tf32", "highest"],
        default="default",
        help="of float32 convolutions and matrix products on a GPU; default: each side's own",
    )
    add("--layout", choices=["NHWC", "NCHW"], default="NHWC", help="of plain JAX (%(default)s)")
    add(
        "--no-donate",
        dest="donate",
        action="store_false",
        help="PyTensor and plain JAX may not write the new state over the old one",
    )
    add(
        "--allocator",
        choices=["kept", "default"],
        default="kept",
        help="whether the process keeps freed memory, as when the demo trains (%(default)s); "
        "for all sides",
    )
    add("--threads", type=int, help="of the CPU, for every side; all cores otherwise")
    add("--devices", type=int, default=1, help="of JAX, which share the rows of a batch")
    add("--json", help="file to write the result to")
    options = parser.parse_args(arguments)
    options.sides = list(dict.fromkeys(options.sides))
    if "pytorch-mode" in options.sides and options.precision == "bf16":
        parser.error("the side pytorch-mode has no bf16")
    if options.devices > 1 and not {"pytensor", "pure"}.issuperset(options.sides):
        parser.error("only the sides pytensor and pure run on several devices")
    return options


def main():
    options = parse()
    if options.threads:
        step_sides.use_threads(options.threads)
    if not {"pytensor", "pure"}.issuperset(options.sides):
        # JAX would take most of a GPU's memory at its start, and PyTorch needs some.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if options.allocator == "kept" and not step_sides.keep_freed_memory():
        options.allocator = "default"  # it isn't glibc
    step_sides.use_matmul_precision(options.matmul_precision)
    weights = step_sides.initial_weights()
    result = {key: value for key, value in vars(options).items() if key != "json"}
    result["points"] = []
    for batch_size in options.batch_size:
        result["points"].append(measure(batch_size, weights, options))
        result |= {"machine": machine(), "matmul": step_sides.matmul_precision()}
        if len(result["points"]) == 1:
            print(machine_line(result["machine"]))
            print(
                f"precision {options.precision}, allocator {options.allocator}; "
                f"{machine_line(result['matmul'])}"
            )
        report(result["points"][-1])
        if options.json:
            Path(options.json).write_text(json.dumps(result, indent=2) + "\n")
        if not result["points"][-1]["sides"]:
            break  # larger batches fit even less
    print("in brackets: the quartiles over the rounds")


if __name__ == "__main__":
    sys.exit(main())
