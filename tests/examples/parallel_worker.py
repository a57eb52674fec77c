"""A process of the test of several devices: the first steps of the detector, printed as JSON.

python -m tests.examples.parallel_worker [COORDINATOR PROCESSES ID]
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import jax
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "onnx" / "onnx-yolo-demo"))

from pytensor.link.jax.devices import Devices, leave

SIZE, BATCH, MAX_BOXES = 64, 8, 4


def detector_batches(count):
    """Random images and boxes; enough to make every part of the loss work."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        centres = rng.uniform(0.3, 0.7, (BATCH, MAX_BOXES, 2))
        sides = rng.uniform(0.2, 0.6, (BATCH, MAX_BOXES, 2))
        yield SimpleNamespace(
            images=rng.integers(0, 256, (BATCH, 3, SIZE, SIZE), dtype=np.uint8),
            boxes=np.concatenate([centres, sides], axis=2).astype(np.float32),
            classes=rng.integers(0, 2, (BATCH, MAX_BOXES)).astype(np.int32),
            num_boxes=rng.integers(1, MAX_BOXES + 1, BATCH).astype(np.int32),
        )


def train_detector():
    """First three steps of YOLO11n, with the rates of a warm-up, on all counts of devices."""
    from model import YOLO11n
    from training.recipe import Recipe
    from training.train_step import TrainStep

    from tests.link.jax.data_parallel import identical

    step = TrainStep(YOLO11n(2, seed=0), SIZE, BATCH, MAX_BOXES, weight_decay=5e-4)
    initial = [np.array(v.get_value()) for v in step.variables]
    every = Devices()
    counts = (1, 2, 8) if every.process_count == 1 else (every.count,)
    found = {}
    for count in counts:
        for variable, value in zip(step.variables, initial, strict=True):
            variable.set_value(value)
        devices = Devices(count)
        step.place, step.put = devices.replicate, devices.shard
        step.place_variables()
        losses = []
        for number, batch in enumerate(detector_batches(3)):
            own = SimpleNamespace(**{k: v[devices.rows(BATCH)] for k, v in vars(batch).items()})
            rates = (0.01 * number / 500, 0.1, 0.8)
            parts, norm = step.run(own, rates, True, number, Recipe())
            losses.append([float(v) for v in (*parts, norm)])
        found[count] = {"losses": losses, "programs": step._step.vm.jit_fn._cache_size()}
        if count > 1:
            found[count]["identical"] = identical(step.variables)
    return found


def main():
    if sys.argv[1:]:
        coordinator, count, number = sys.argv[1:]
        jax.distributed.initialize(coordinator, int(count), int(number))
    print(json.dumps(train_detector()))
    leave(0)


if __name__ == "__main__":
    main()
