"""How a training step's cost grows with the batch, the image and the number of devices.

    python -m benchmarks.step.scaling [--axis batch image devices] [--batches 1 2 4] [--record]

Each point is a run of `train_step.py` of its own, PyTensor and plain JAX in turn, with XLA's counts
of their programs.  What doesn't fit into memory, or takes too long, is said so.  On a CPU the
devices are virtual ones, which share its cores: their figures show what the division of the work
costs, not what it gains.
"""

import argparse
import os
import sys

from benchmarks.common import results
from benchmarks.common.child import device_facts, end_children_when_terminated, run_benchmark

AXES = ("batch", "image", "devices")
# Grid, and the sizes that an axis holds constant.
SMALL = {"batch": [1, 2, 4], "image": [64, 96, 128], "devices": [1, 2]}
LARGE = {
    "batch": [1, 2, 4, 8, 16, 32, 64, 128, 256],
    "image": [160, 224, 320, 448, 640],
    "devices": [1, 2, 4, 8],
}
HELD = {"cpu": {"batch": 2, "image": 64}, "gpu": {"batch": 16, "image": 320}}


def settings_of(axis, value, options):
    """Return the batch, image size and devices of a point."""
    settings = {"batch": options.batch_size, "image": options.image_size, "devices": 1}
    return settings | {axis: value}


def environment_of(settings, on_cpu):
    """Return the variables for a point: as many virtual devices of a CPU as it needs."""
    if not on_cpu or settings["devices"] == 1:
        return {}
    flag = f"--xla_force_host_platform_device_count={settings['devices']}"
    return {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {flag}".strip()}


def measure(settings, options, on_cpu):
    """Time one point."""
    if settings["batch"] % settings["devices"]:
        return {**settings, "left_out": "the devices can't share the batch equally"}
    result, reason = run_benchmark(
        "step.train_step",
        [
            "--batch-size", settings["batch"], "--image-size", settings["image"],
            "--devices", settings["devices"], "--steps", options.steps,
            "--rounds", options.rounds, "--precision", options.precision,
            *(["--record", options.record.resolve()] if options.record else []),
        ],
        options.timeout,
        environment_of(settings, on_cpu),
    )  # fmt: skip
    if reason:
        return {**settings, "left_out": reason}
    (point,) = result["points"]
    return {**settings, "machine": result["machine"], **point}


def line(axis, point):
    """Return one line of the table."""
    start = f"{axis:8} {point[axis]:5}"
    if not isinstance(point["left_out"], dict):
        return f"{start}  left out: {point['left_out']}"
    words = [f"{key} {reason}" for key, reason in point["left_out"].items()]
    for side in point["sides"].values():
        cost = side["cost"]
        words.append(
            f"{side['name']} {1e3 * side['seconds'][1]:.1f} ms, {cost['flops'] / 1e9:.1f} GFLOP, "
            f"{cost['bytes accessed'] / 1e9:.2f} GB, {cost['bytes allocated'] / 1e6:.0f} MB"
        )
    for pair, (low, middle, high) in point["ratios"].items():
        words.append(f"ratio {pair} {middle:.3f} ({low:.3f} to {high:.3f})")
    return f"{start}  {'; '.join(words)}"


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--axis", choices=AXES, nargs="+", default=list(AXES))
    add("--batches", dest="batch", type=int, nargs="+", help="values of the axis")
    add("--images", dest="image", type=int, nargs="+", help="values of the axis, pixels")
    add("--devices", type=int, nargs="+", help="values of the axis")
    add("--batch-size", type=int, help="of the other axes")
    add("--image-size", type=int, help="of the other axes")
    add("--precision", choices=["float32", "bf16"], default="float32")
    add("--steps", type=int, default=5, help="in a block (%(default)s)")
    add("--rounds", type=int, default=5, help="blocks of a side (%(default)s)")
    add("--timeout", type=float, default=600, help="seconds for a point (%(default)s)")
    results.add_options(parser)
    return parser.parse_args(arguments)


def fill_in(options, facts):
    """Choose what wasn't given, by the device: a small grid on a CPU."""
    on_cpu = facts["backend"] == "cpu"
    held, grid = (HELD["cpu"], SMALL) if on_cpu else (HELD["gpu"], LARGE)
    options.batch_size = options.batch_size or held["batch"]
    options.image_size = options.image_size or held["image"]
    for axis in AXES:
        given = getattr(options, axis)
        setattr(options, axis, given or grid[axis])
    if not on_cpu:
        options.devices = [n for n in options.devices if n <= facts["devices"]]
    return on_cpu


def main():
    end_children_when_terminated()
    options = parse()
    facts = device_facts()
    on_cpu = fill_in(options, facts)
    settings = {k: v for k, v in vars(options).items() if k not in ("json", "record")}
    result = {"device": facts, "settings": settings, "axes": {}}
    for axis in dict.fromkeys(options.axis):
        points = result["axes"].setdefault(axis, [])
        for value in getattr(options, axis):
            points.append(measure(settings_of(axis, value, options), options, on_cpu))
            results.save(options, result)  # each point's process records its figures
    for axis, points in result["axes"].items():
        for point in points:
            print(line(axis, point))


if __name__ == "__main__":
    sys.exit(main())
