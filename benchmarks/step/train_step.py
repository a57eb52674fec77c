"""A training step of YOLO11n in PyTensor compared with the same step in plain JAX and in PyTorch.

    python -m benchmarks.step.train_step [--image-size 320] [--batch-size 8 16] [--steps 10]
        [--rounds 5] [--sides pytensor pure torch torch-compile] [--precision bf16] [--record]

One step is the forward pass in training mode, the loss with its assigner, the backward pass,
clipping, SGD with Nesterov's momentum, the averages and the running statistics.  Each side has a
process of its own.  All start from the same weights and get the same arrays, which are on the
device; the losses of the first step must agree.  The sides take turns in blocks of steps, and a
block ends when its results are there; the other processes wait meanwhile.  A ratio below 1 says
that the side that is named first is faster; on a shared machine only the ratios mean something.

Sides:
    pytensor              the demo's step, in the mode in which the demo trains
    pytensor-unguarded    the same without the guard against XLA's wrong numbers on CPUs
    pytensor-without-kernels  the same without our C++ kernels: only XLA's program
    pure                  plain JAX
    torch                 PyTorch, eagerly
    torch-channels-last   the same with channels last
    torch-compile         the same with torch.compile for network and loss
    torch-compile-graphs  with torch.compile's mode "reduce-overhead": CUDA graphs
    torch-compile-tuned   with torch.compile's mode "max-autotune", which takes minutes to compile
"""

import argparse
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import numpy as np

import benchmarks.common.float32  # noqa: F401, before pytensor
from benchmarks.common import results, step_sides
from benchmarks.common.child import device_facts, end_children_when_terminated
from benchmarks.common.machine import machine, machine_line
from benchmarks.common.side_process import COSTS, SIDES, TUNED, DoesNotFit, SideProcess
from benchmarks.common.timing import quartiles

# How far losses may differ, relatively, by what the network is computed in.
LARGEST_DIFFERENCE = {"float32": 1e-3, "tf32": 2e-2, "bf16": 1e-1}
# What a side's process needs to know.
PASSED_ON = ("precision", "devices", "matmul_precision")
WARMUP = 3
# Share of a core that a waiting process may take before a line says so.
IDLE = 0.02


def start_sides(stack, size, weights, options, backend):
    """Start a process for each side, one after another, and run its first step.

    Parameters
    ----------
    stack : contextlib.ExitStack
        Which ends the processes.
    size : image size, batch size
    weights : str
        File with a state dict.
    options : namespace
        What `parse` returned.
    backend : str
        JAX's.

    Returns
    -------
    sides : dict of str to SideProcess
    answers : dict of str to dict
        What `ServedSide.start` returned.
    left_out : dict of str to str
        Why sides aren't there: not enough memory.
    """
    sides, answers, left_out = {}, {}, {}
    passed_on = {name: getattr(options, name) for name in PASSED_ON} | {"backend": backend}
    for label, (key, allocator) in processes(options.sides, options.allocator).items():
        side = stack.enter_context(SideProcess(key))
        # The first call: it is for a process that has no threads yet.
        allocator = side.call("set_allocator", allocator)
        try:
            answer = side.call("start", key, size, weights, passed_on)
            answers[label] = answer | {"allocator": allocator}
            sides[label] = side
        except DoesNotFit as error:
            side.close()
            left_out[label] = f"does not fit into memory: {error}"
    return sides, answers, left_out


def processes(sides, choice):
    """Return, by label, each process's side, and its allocator, "kept" or "default"."""
    if choice == "each":
        return {f"{key}:{kind}": (key, kind) for key in sides for kind in ("default", "kept")}
    shipped = {key: "kept" if key in TUNED else "default" for key in sides}
    return {key: (key, shipped[key] if choice == "as-shipped" else choice) for key in sides}


def check_losses(losses, base, allowed):
    """Return the largest relative difference of each side's losses from `base`'s.

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


def time_blocks(sides, steps, rounds):
    """Time each side's blocks; who begins changes from round to round.

    Parameters
    ----------
    sides : dict of str to SideProcess
    steps : int
        In a block.
    rounds : int

    Returns
    -------
    dict of str to list of dict
        Of each side, what `ServedSide.run` returned in each round.
    """
    number = 1
    blocks = {key: [] for key in sides}
    for k in range(rounds):
        first = k % len(sides)
        for key in [*sides][first:] + [*sides][:first]:
            # A system can take memory from a process that waits: it gets that back here.
            waited = sides[key].call("run", number, WARMUP)
            block = sides[key].call("run", number + WARMUP, steps)
            blocks[key].append(block | {name: waited[name] for name in ("waited", "idled")})
        number += WARMUP + steps
    return blocks


def ratios(seconds):
    """Return quartiles over the rounds: each side to plain JAX, and PyTensor to each side.

    Where these two have several processes, the fastest counts.
    """
    fastest = {}
    for label in sorted(seconds, key=lambda label: quartiles(seconds[label])[1]):
        fastest.setdefault(label.partition(":")[0], label)
    pure, ours = (fastest.get(key) for key in ("pure", "pytensor"))
    pairs = [(label, pure) for label in seconds] + [(ours, label) for label in seconds]
    return {
        f"{a} / {b}": quartiles([x / y for x, y in zip(seconds[a], seconds[b], strict=True)])
        for a, b in dict.fromkeys(pairs)
        if a != b and a is not None and b is not None
    }


def measure(batch_size, weights, options, backend):
    """Run and time all sides for one batch size.

    Parameters
    ----------
    batch_size : int
    weights : str
        File with a state dict.
    options : namespace
        What `parse` returned.
    backend : str
        JAX's.

    Returns
    -------
    dict
    """
    size = options.image_size, batch_size
    with ExitStack() as stack:
        sides, answers, left_out = start_sides(stack, size, weights, options, backend)
        result = {"batch_size": batch_size, "sides": {}, "ratios": {}, "left_out": left_out}
        if not sides:
            return result
        losses = {key: answer["losses"] for key, answer in answers.items()}
        base = next((label for label in sides if label.startswith("pure")), next(iter(sides)))
        allowed = allowed_difference(options, backend)
        result["largest_difference"] = check_losses(losses, base, allowed)
        blocks = time_blocks(sides, options.steps, options.rounds)
        figures = {key: side.call("figures") for key, side in sides.items()}
    seconds = {key: [block["seconds"] for block in rows] for key, rows in blocks.items()}
    result["ratios"] = ratios(seconds)
    for key, rows in blocks.items():
        result["sides"][key] = {
            **{name: answers[key][name] for name in ("name", "allocator", "matmul", "torch")},
            "seconds": quartiles(seconds[key]),
            "images_per_s": batch_size / quartiles(seconds[key])[1],
            "page_faults": quartiles([row["page_faults"] for row in rows]),
            "idle_load": sum(row["idled"] for row in rows) / sum(row["waited"] for row in rows),
            **figures[key],
        }
    return result


def allowed_difference(options, backend):
    """Return how far the losses of the first step may differ."""
    exact = options.matmul_precision == "highest" or backend == "cpu"
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
        print(
            f"  {'':24} allocator {side['allocator']}, {side['page_faults'][1]:.0f} minor page "
            "faults a step"
        )
        if side["peak_bytes"] is not None:
            print(f"  {'':24} {side['peak_bytes'] / 1e6:8.0f} MB of the device's memory at most")
        if side["idle_load"] > IDLE and len(point["sides"]) > 1:
            print(f"  {'':24} waiting, it took {side['idle_load']:.0%} of a core")
    for pair, (low, middle, high) in point["ratios"].items():
        print(f"  ratio {pair:32} {middle:.3f} ({low:.3f} to {high:.3f})")
    if point["sides"]:
        difference = max(point["largest_difference"].values())
        print(f"  losses of the first step differ by {difference:.1e} at most", flush=True)


def figures(point):
    """Return the figures of one batch size, for the table of results."""
    found = {
        key: {
            "seconds": side["seconds"],
            "page faults": side["page_faults"][1],
            "device bytes": side["peak_bytes"],
            **(side["cost"] or {}),
        }
        for key, side in point["sides"].items()
    }
    found["ratio"] = {k: v for k, v in point["ratios"].items() if k.startswith("pytensor")}
    return {f"batch {point['batch_size']}": found}


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
    add(
        "--allocator",
        choices=["as-shipped", "kept", "default", "each"],
        default="as-shipped",
        help="whether a process keeps freed memory: as-shipped, which PyTensor's does, for the "
        "demo sets that when it trains, and no other; kept, all; default, none; each, two "
        "processes a side, NAME:kept and NAME:default (%(default)s)",
    )
    add("--devices", type=int, default=1, help="of JAX, which share the rows of a batch")
    results.add_options(parser)
    options = parser.parse_args(arguments)
    options.sides = list(dict.fromkeys(options.sides))
    if options.devices > 1 and not {*TUNED, "pure"}.issuperset(options.sides):
        parser.error(f"only the sides {', '.join(TUNED)} and pure run on several devices")
    return options


def facts_of_run(device, point):
    """Return the machine with PyTorch's version, and what the libraries compute products in."""
    facts, matmul = machine(device), {}
    for side in point["sides"].values():
        matmul |= side["matmul"]
        facts |= {"torch": side["torch"]} if side["torch"] else {}
    return {"machine": facts, "matmul": matmul}


def main():
    end_children_when_terminated()
    options = parse()
    if len(options.sides) > 1:
        # Each of JAX's processes would take most of a GPU's memory at its start.
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    device = device_facts()
    result = {k: v for k, v in vars(options).items() if k not in ("json", "record")}
    result["points"] = []
    with tempfile.TemporaryDirectory() as folder:
        weights = str(Path(folder) / "weights.npz")
        np.savez(weights, **step_sides.initial_weights())
        for batch_size in options.batch_size:
            point = measure(batch_size, weights, options, device["backend"])
            result["points"].append(point)
            if len(result["points"]) == 1:
                result |= facts_of_run(device, point)
                print(machine_line(result["machine"]))
                print(f"precision {options.precision}; {machine_line(result['matmul'])}")
            report(point)
            results.save(options, result, figures(point), result["machine"])
            if not point["sides"]:
                break  # larger batches fit even less
    print("in brackets: the quartiles over the rounds")


if __name__ == "__main__":
    sys.exit(main())
