"""A process of the tests of several devices: one task, whose findings are printed as JSON.

python -m tests.examples.parallel_worker TASK [COORDINATOR PROCESSES ID]
"""

import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "onnx" / "onnx-yolo-demo"))

from pytensor.link.jax import devices as parallel
from pytensor.link.jax.devices import Devices, ParallelError, agree, initialize

SIZE, BATCH, MAX_BOXES = 64, 8, 4


def raised(function, *args):
    """Message of the `ParallelError` that a call raises."""
    try:
        function(*args)
    except ParallelError as error:
        return str(error)
    return None


# --------------------------------------------------------------------- small network, processes


def train_small_network():
    """Train on the devices of two processes; then one of them dies."""
    from tests.link.jax.data_parallel import ROWS, STEPS, Network, identical, train

    devices = Devices()
    agree({"seed": 0, "classes": ["person"]})
    network = Network()
    alone = train(network, STEPS)
    network.reset()
    devices.replicate(network.variables)

    def shard(batch):
        return devices.shard([array[devices.rows(ROWS)] for array in batch])

    found = train(network, STEPS, shard)
    found |= {
        "alone": alone["losses"],
        "identical": identical(network.variables),
        "count": devices.count,
        "local_count": devices.local_count,
        "part": devices.part,
        "is_main": devices.is_main,
        "description": devices.describe(),
    }
    if devices.is_main:  # which writes checkpoints, alone
        values = [np.asarray(v.get_value()) for v in network.variables]
        found["finite"] = all(np.isfinite(value).all() for value in values)
    return found | exchanges(devices) | disagreements(devices, network) | death(devices, network)


def fail():
    raise ParallelError("the action's own error")


def exchanges(devices):
    """What comes back from the devices, and what processes tell one another."""
    rows = np.arange(24, dtype=np.float64).reshape(8, 3)
    own = rows[devices.rows(8)]
    [array] = devices.shard([own])
    me = devices.process_index
    found = {me: np.full((me, 6), 0.1, dtype=np.float32), 10 - me: np.zeros((0, 6), np.float32)}
    merged = devices.merge(found)
    return {
        "whole": np.array_equal(devices.fetch(array), rows),
        "own": np.array_equal(devices.local_rows(array), own),
        "merged": {image: v.tolist() for image, v in merged.items()},
        "merged_dtype": str(merged[1].dtype),
        "merged_empty": devices.merge({}),
        "largest": devices.largest([me, 5 - me]),
        # Process 0 takes longer than a few questions whether it is done.
        "first": devices.main_first(lambda: (time.sleep(1.2 * devices.is_main), time.time())[1]),
        "failure": raised(devices.main_first, fail),
    }


def disagreements(devices, network):
    """What processes that don't fit together are told."""
    me = devices.process_index
    settings = {"seed": me, "epochs": 3} | ({"only here": 1} if me else {})
    values = network.initial[0] + 1e-9 * me
    network.variables[0].set_value(values)
    found = {
        "settings": raised(agree, settings),
        "values": raised(devices.replicate, network.variables),
        "odd count": raised(Devices, 3),
        "too many": raised(Devices, 16),
        "rows": raised(devices.shard, [np.zeros((3, 2))]),
        "again": raised(initialize, "127.0.0.1:1", 2, me),
    }
    network.reset()
    devices.replicate(network.variables)
    return found


def death(devices, network):
    """End process 1; how process 0 learns of it."""
    from tests.link.jax.data_parallel import ROWS, batches

    if not devices.is_main:
        return {}
    batch = [array[devices.rows(ROWS)] for array in next(batches())]
    start = time.monotonic()
    try:
        while True:
            float(network.step(*devices.shard(batch)))
    except (ValueError, RuntimeError) as error:
        return {"death": str(error), "death_seconds": time.monotonic() - start}


# ------------------------------------------------------------------------------------- YOLO11n


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


TASKS = {"small": train_small_network, "detector": train_detector}


def main():
    task, *processes = sys.argv[1:]
    if processes:
        coordinator, count, number = processes
        parallel.initialize(coordinator, int(count), int(number))
    print(json.dumps(TASKS[task]()))
    parallel.leave(0)


if __name__ == "__main__":
    main()
