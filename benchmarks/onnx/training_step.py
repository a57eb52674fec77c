"""The training step of YOLO11n in mode ONNX beside mode JAX: its losses, and how long it takes.

    python -m benchmarks.onnx.training_step [--size 96] [--batch 4] [--steps 50] [--json OUT]

Both sides start from the same weights and see the same random pictures, in turn, in the same
process, at the rates of the demo's warm-up.  On a shared machine only the ratio of the medians
means something.  In single precision the losses may separate for good after some tens of steps:
the assigner gives an anchor to another box where two of them are nearly equal.
"""

import os

# Before the first import of pytensor, which reads it once.
os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float32", os.environ.get("PYTENSOR_FLAGS")])
)

import argparse
import json
import platform
import statistics
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "onnx" / "onnx-yolo-demo"))

from data.loader import Batch
from model import YOLO11n
from training.recipe import Recipe, StepSettings
from training.train_step import LOSS_PARTS, TrainStep

MODES = ("ONNX", "JAX")
CLASSES, MAX_BOXES = 2, 4


def random_batch(k, batch, size):
    rng = np.random.default_rng(k)
    centres = rng.uniform(0.3, 0.7, (batch, MAX_BOXES, 2))
    sides = rng.uniform(0.2, 0.6, (batch, MAX_BOXES, 2))
    return Batch(
        rng.integers(0, 256, (batch, 3, size, size), dtype=np.uint8),
        np.concatenate([centres, sides], axis=-1).astype("float32"),
        rng.integers(0, CLASSES, (batch, MAX_BOXES), dtype=np.int32),
        rng.integers(1, MAX_BOXES + 1, batch, dtype=np.int32),
        np.arange(batch),
    )


def compile_steps(size, batch):
    steps, seconds = {}, {}
    for mode in MODES:
        start = time.perf_counter()
        steps[mode] = TrainStep(YOLO11n(CLASSES), size, batch, MAX_BOXES, 5e-4, mode=mode)
        seconds[mode] = time.perf_counter() - start
    return steps, seconds


def run(steps, settings, number, size, batch):
    """Run all steps in turn; returns losses and gradient norms, and seconds, of each mode."""
    rows, seconds = {mode: [] for mode in steps}, {mode: [] for mode in steps}
    for k in range(number):
        data = random_batch(k, batch, size)
        rates, _ = settings.at(k, k)
        for mode, step in steps.items():
            start = time.perf_counter()
            parts, norm = step.run(data, rates)
            row = [float(value) for value in (*parts, norm)]
            # The losses may be there before the new weights are.
            np.asarray(step.model.params[-1].get_value(borrow=True))
            seconds[mode].append(time.perf_counter() - start)
            rows[mode].append(row)
    return {mode: np.array(r) for mode, r in rows.items()}, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--warmup", type=int, default=3, help="steps that aren't timed")
    parser.add_argument("--json", help="file to write the result to")
    options = parser.parse_args()
    settings = StepSettings(
        Recipe(nominal_batch=options.batch), epochs=100, batches=100, batch_size=options.batch
    )
    steps, compiling = compile_steps(options.size, options.batch)
    rows, seconds = run(steps, settings, options.steps, options.size, options.batch)
    names = [*LOSS_PARTS, "norm"]
    print("step  " + "  ".join(f"{name:>21}" for name in names) + "   (ONNX, JAX)")
    for k, pairs in enumerate(zip(*rows.values(), strict=True)):
        cells = (f"{a:10.5g} {b:10.5g}" for a, b in zip(*pairs, strict=True))
        print(f"{k:4d}  " + "  ".join(cells))
    error = np.abs(rows["ONNX"] / rows["JAX"] - 1)
    print("largest relative difference: " + ", ".join(
        f"{name} {value:.1e}" for name, value in zip(names, error.max(axis=0), strict=True)
    ))  # fmt: skip
    medians = {mode: statistics.median(s[options.warmup :]) for mode, s in seconds.items()}
    ratio = medians["ONNX"] / medians["JAX"]
    for mode in MODES:
        print(f"mode {mode}: {1e3 * medians[mode]:.1f} ms a step, {compiling[mode]:.1f} s to build")
    print(f"ratio ONNX to JAX {ratio:.2f}")
    if options.json:
        result = {
            "machine": platform.processor() or platform.machine(),
            **{key: getattr(options, key) for key in ("size", "batch", "steps")},
            "losses": {mode: r.tolist() for mode, r in rows.items()},
            "largest_relative_difference": dict(zip(names, error.max(axis=0), strict=True)),
            "median_ms": {mode: 1e3 * m for mode, m in medians.items()},
            "ratio": ratio,
        }
        Path(options.json).write_text(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
