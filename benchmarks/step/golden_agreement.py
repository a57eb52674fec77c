"""How close three training steps come to the golden vectors, on the device at hand.

    python -m benchmarks.step.golden_agreement [--matmul-precision highest] [--precision bf16]
        [--record]

The steps follow the golden trajectory: 320 px, two images, the demo's step in the mode in
which the demo trains.  A figure is the largest relative difference over the steps.  With
"highest", matrix products are in IEEE's float32, and all figures must be below 1e-3; a GPU's
default, TF32, rounds more.
"""

import argparse

import numpy as np

import benchmarks.common.float32  # noqa: F401, before pytensor
from benchmarks.common import results, step_sides
from benchmarks.common.machine import machine

LARGEST_DIFFERENCE = 1e-3
KEYS = ["box", "cls", "dfl", "grad_norm_before_clip"]
STEPS, MAX_BOXES = 3, 8


def golden_steps(golden, precision):
    """Yield the loss parts and the gradient norm of each of the first steps."""
    step_sides.use_demo()
    from model import YOLO11n
    from training.recipe import Rates, Recipe
    from training.train_step import DeviceBatch, HostImages, TrainStep

    from pytensor.link.jax import jax_mode

    model = YOLO11n(step_sides.CLASSES)
    golden.load_golden_weights(model)
    step = TrainStep(
        model, 320, 2, MAX_BOXES, step_sides.WEIGHT_DECAY, images=HostImages(320, 2, "float32"),
        mode=jax_mode(donate=True, precision=precision),
    )  # fmt: skip
    batch = DeviceBatch(None, [golden.images(), *golden.targets("main", MAX_BOXES)])
    for k in range(STEPS):
        rates = Rates(0.002, 0.002, 0.937, Recipe().decay_of_averages(k))
        parts, norm = step.run(batch, rates)
        yield [float(value) for value in (*parts, norm)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--matmul-precision", choices=["default", "tf32", "highest"], default="highest")
    add("--precision", choices=["float32", "bf16"], default="float32", help="of the network")
    results.add_options(parser)
    options = parser.parse_args()
    from tests.examples import yolo11n_golden as golden

    step_sides.use_matmul_precision(options.matmul_precision)
    expected = golden.load_json("trajectory_nc2.json")["float32"][:STEPS]
    differences = dict.fromkeys(KEYS, 0.0)
    for row, values in zip(expected, golden_steps(golden, options.precision), strict=True):
        for key, value in zip(KEYS, values, strict=True):
            # Not max of Python, which drops NaN.
            differences[key] = float(np.maximum(differences[key], abs(value / row[key] - 1)))
    largest = np.max([*differences.values()])
    result = {
        "machine": machine(),
        "matmul": step_sides.matmul_precision(),
        "precision": options.precision,
        "largest_relative_differences": differences,
        "within_tolerance": bool(largest < LARGEST_DIFFERENCE),
    }
    words = ", ".join(f"{key} {value:.1e}" for key, value in differences.items())
    print(f"golden steps, {options.precision}, matmul {options.matmul_precision}: {words}")
    results.save(options, result, {"largest relative difference": differences})
    exact = options.precision == "float32" and options.matmul_precision == "highest"
    if exact and not result["within_tolerance"]:
        raise SystemExit(f"the golden steps differ by {largest:.1e}, {LARGEST_DIFFERENCE} at most")


if __name__ == "__main__":
    main()
