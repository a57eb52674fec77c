"""All that is worth measuring on a machine with a GPU, in one command of less than ten minutes.

    python -m benchmarks.gpu.suite --record         # what a GPU is worth
    python -m benchmarks.gpu.suite --quick          # a trial of some minutes, on a CPU too

Each part is a separate process with a time limit; one that fails is reported, and the others go
on.  The result is written to a file after each part.  Parts that the budget has no time for are
measured when the command is run again, which keeps the parts that are there; `--again` measures all
of them again.  With `--record` each part's process puts its figures into the table of results.

Parts:
    agreement      the golden steps with highest matmul precision, and with the device's own
    step-B-P       a step at batch B: PyTensor, plain JAX and PyTorch, in turn; P is bf16 or tf32,
                   which is float32 with convolutions and matrix products in TF32 on every side
    overhead       calls with many small arrays
    memory-S       peak memory of a side alone
    largest-S      the largest batch of a side alone, by doubling

The share of peak is that of the multiply-adds of the network's convolutions and attention, three
times a forward pass's, in the device's dense peak for the precision.
"""

import argparse
import json
import re
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from benchmarks.common import results
from benchmarks.common.child import (
    ROOT,
    device_facts,
    end_children_when_terminated,
    run_benchmark,
)

# Dense TFLOP/s by a word of the device's name, as its maker gives them; the first that fits.
PEAKS = {
    "H100 PCIe": {"bf16": 756, "tf32": 378},
    "H100 NVL": {"bf16": 835, "tf32": 418},
    "H100": {"bf16": 989, "tf32": 495},
    "H200": {"bf16": 989, "tf32": 495},
    "GH200": {"bf16": 989, "tf32": 495},
    "A100": {"bf16": 312, "tf32": 156},
    "A10": {"bf16": 125, "tf32": 62.5},
    "L4": {"bf16": 121, "tf32": 60},
}
# Multiply-adds of a forward pass with two classes, at 320 px: these grow with the number of
# pixels, and the attention's with its square.
CONVOLUTIONS, ATTENTION = 788_953_600, 1_920_000
TORCH_SIDES = ["torch", "torch-channels-last", "torch-compile"]
NO_TIME = "no time left for it"


class Part(NamedTuple):
    """One process: a module below `benchmarks`, its arguments, its seconds, and variables.

    Where it fails, `otherwise` are the arguments for another try, under a name of its own.
    """

    name: str
    program: str
    arguments: list
    seconds: float
    environment: dict = MappingProxyType({})
    otherwise: list | None = None


def steps_part(batch_size, precision, options, seconds):
    """Return a part with all sides in turn; without PyTorch, if that doesn't run with JAX."""
    common = [
        "--batch-size", batch_size, "--image-size", options.image_size,
        "--steps", options.steps, "--rounds", options.rounds, *numbers(precision),
        "--sides", "pytensor", "pure",
    ]  # fmt: skip
    return Part(
        f"step-{batch_size}-{precision}",
        "step.train_step",
        [*common, *options.torch_sides],
        seconds,
        otherwise=common if options.torch_sides else None,
    )


def numbers(precision):
    """Arguments of `step.train_step` for "bf16" or "tf32"."""
    float32 = "bf16" if precision == "bf16" else "float32"
    return ["--precision", float32, "--matmul-precision", "tf32"]


def alone(name, side, batch_sizes, options, seconds):
    """Return a part with one side in a separate process, at rising batch sizes."""
    return Part(
        f"{name}-{side}",
        "step.train_step",
        [
            "--batch-size", *batch_sizes, "--image-size", options.image_size, "--sides", side,
            "--steps", 1, "--rounds", 1, *numbers("tf32"),
        ],
        seconds,
        # JAX takes three quarters of a GPU's memory otherwise.
        {"XLA_PYTHON_CLIENT_MEM_FRACTION": "0.95"},
    )  # fmt: skip


def plan(options):
    """List all parts; what matters most comes first."""
    agreement = [
        Part(f"agreement-{matmul}", "step.golden_agreement", ["--matmul-precision", matmul], 150)
        for matmul in ("highest", "default")
    ]
    sides = ["pytensor", "pure", *options.torch_sides[-1:]]
    overhead = ["--arrays", *options.arrays, "--rounds", options.calls]
    if options.quick:
        (batch_size,) = options.batches
        return [
            agreement[0],
            steps_part(batch_size, "tf32", options, 600),
            Part("overhead", "package.call_overhead", overhead, 300),
            alone("memory", "pytensor", [batch_size], options, 600),
            alone("largest", "pure", [batch_size, 2 * batch_size], options, 600),
        ]
    first, *others = options.batches
    doubled = [2**k for k in range(8, 17)]
    return [
        agreement[0],
        *(steps_part(first, p, options, 240) for p in ("bf16", "tf32")),
        Part("overhead", "package.call_overhead", overhead, 60),
        *(steps_part(b, p, options, 240) for b in others for p in ("tf32", "bf16")),
        *(alone("memory", side, [first], options, 150) for side in sides),
        *(alone("largest", side, doubled, options, 400) for side in sides),
        agreement[1],
    ]


def run_parts(parts, result, path, budget, more=()):
    """Run the parts that have no result yet, as long as there is time, and write each down.

    `more` are arguments for each of their programs.
    """
    end = time.monotonic() + budget
    queue = list(parts)
    while queue:
        part = queue.pop(0)
        if result["parts"].get(part.name, {}).get("reason", "missing") is None:
            continue
        left = end - time.monotonic()
        if left < min(20.0, part.seconds):
            result["parts"][part.name] = {"reason": NO_TIME, "result": None}
        else:
            print(f"--- {part.name}", flush=True)
            start = time.monotonic()
            answer, reason = run_benchmark(
                part.program, [*part.arguments, *more], min(part.seconds, left),
                dict(part.environment),
            )  # fmt: skip
            result["parts"][part.name] = {
                "reason": reason, "result": answer, "seconds": time.monotonic() - start
            }  # fmt: skip
            if reason and part.otherwise:
                name = f"{part.name}-without-torch"
                queue.insert(0, part._replace(name=name, arguments=part.otherwise, otherwise=None))
        path.write_text(json.dumps(result, indent=2) + "\n")


def peak_of(kind, given):
    """Return the peak TFLOP/s of a device by precision; empty if it is unknown."""
    if given:
        return dict(zip(("bf16", "tf32"), given, strict=True))
    return next((peak for word, peak in PEAKS.items() if re.search(rf"\b{word}\b", kind)), {})


def tflop(batch_size, image_size):
    """Return the floating-point operations of a step's network, 10**12."""
    pixels = (image_size / 320) ** 2
    forward = 2 * (CONVOLUTIONS * pixels + ATTENTION * pixels**2)
    return 3 * forward * batch_size / 1e12


def step_rows(name, points, peak):
    """Yield the lines of the table for a part with steps."""
    precision = name.rsplit("-", 1)[1]
    for point in points:
        for key, reason in point["left_out"].items():
            yield f"{name:22} {key:20} {reason}"
        for key, side in point["sides"].items():
            seconds = side["seconds"][1]
            words = [f"{1e3 * seconds:8.2f} ms", f"{side['images_per_s']:8.0f} images/s"]
            ratio = point["ratios"].get(f"{key} / pure")
            words += [f"{ratio[1]:.3f} of plain JAX's time"] if ratio else []
            if precision in peak:
                work = tflop(point["batch_size"], point["image_size"])
                words.append(f"{work / seconds / peak[precision]:.1%} of peak")
            yield f"{name:22} {key:20} {', '.join(words)}"


def alone_rows(name, points):
    """Yield the lines for a side alone: its memory, and the largest batch that fitted."""
    fitted = [point for point in points if point["sides"]]
    if not fitted:
        yield f"{name:22} none fits"
        return
    (side,) = fitted[-1]["sides"].values()
    limit = "; the next doesn't fit" if len(fitted) < len(points) else ", more was not tried"
    memory = side["peak_bytes"]
    words = f"{memory / 1e9:.2f} GB at most" if memory else "the device doesn't tell its memory"
    yield f"{name:22} batch {fitted[-1]['batch_size']}: {words}{limit}"


def rows(name, part, peak):
    """Yield the lines of the table for a part."""
    result = part["result"]
    if part["reason"]:
        yield f"{name:22} {part['reason']}"
    if result is None:
        return
    if name.startswith("agreement"):
        differences = result["largest_relative_differences"]
        words = ", ".join(f"{key} {value:.1e}" for key, value in differences.items())
        yield f"{name:22} {words}"
    elif name.startswith("step"):
        points = [point | {"image_size": result["image_size"]} for point in result["points"]]
        yield from step_rows(name, points, peak)
    elif name == "overhead":
        yield from overhead_rows(name, result)
    else:
        yield from alone_rows(name, result["points"])


def overhead_rows(name, result):
    """Yield the lines of the table for the calls."""
    for point in result["points"]:
        for pair, ratio in point["ratios"].items():
            yield f"{name:22} {point['arrays']} arrays, {pair}: {ratio:.3f}"


def report(result):
    """Print the table."""
    device, peak = result["device"], result["peak"] or "unknown, see --peak"
    print(f"\n{device['kind']}, {device['devices']} device(s); peak TFLOP/s: {peak}")
    for name, part in result["parts"].items():
        for row in rows(name, part, result["peak"]):
            print(row)


def parse(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="few parts and tiny sizes, to try the suite")
    add("--budget", type=float, default=570, help="seconds for all parts (%(default)s)")
    add("--batches", type=int, nargs="+", help="batch sizes; the first matters most")
    add("--image-size", type=int, help="pixels")
    add("--peak", type=float, nargs=2, metavar=("BF16", "TF32"), help="dense TFLOP/s")
    add("--only", help="parts whose names begin so")
    add("--again", action="store_true", help="measure parts that have a result too")
    add("--no-torch", action="store_true", help="leave PyTorch out")
    add("--output", type=Path, help="the parts so far; default: build/gpu_suite/DEVICE.json")
    results.add_options(parser, json=False)
    options = parser.parse_args(arguments)
    options.batches = options.batches or ([2] if options.quick else [64, 8, 256, 16])
    if options.quick and len(options.batches) > 1:
        parser.error("--quick takes one batch size")
    options.image_size = options.image_size or (64 if options.quick else 320)
    options.steps, options.rounds = (1, 2) if options.quick else (10, 10)
    options.arrays, options.calls = ([20], 5) if options.quick else ([540, 1089], 300)
    return options


def earlier(path, settings):
    """Return the parts of an earlier run with the same settings."""
    if not path.exists():
        return {}
    before = json.loads(path.read_text())
    return before["parts"] if before["settings"] == settings else {}


def main():
    end_children_when_terminated()
    options = parse()
    with_torch = find_spec("torch") is not None and not options.no_torch
    options.torch_sides = TORCH_SIDES if with_torch else []
    if options.quick:
        options.torch_sides = options.torch_sides[:1]
    device = device_facts()
    slug = re.sub(r"[^a-z0-9]+", "-", device["kind"].lower()).strip("-")
    path = options.output or ROOT / "build" / "gpu_suite" / f"{slug}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    names = ("quick", "image_size", "torch_sides", "steps", "rounds")
    settings = {name: getattr(options, name) for name in names}
    parts = {} if options.again else earlier(path, settings)
    result = {
        "device": device, "settings": settings, "peak": peak_of(device["kind"], options.peak),
        "parts": parts,
    }  # fmt: skip
    chosen = [part for part in plan(options) if part.name.startswith(options.only or "")]
    more = ["--record", options.record.resolve()] if options.record else []
    run_parts(chosen, result, path, options.budget, more)
    report(result)
    print(f"written: {path}")
    failed = [n for n, p in result["parts"].items() if p["reason"] not in (None, NO_TIME)]
    return f"failed: {', '.join(failed)}" if failed else 0


if __name__ == "__main__":
    sys.exit(main())
