"""One of several processes with several devices each, for the tests of `pytensor.link.jax.devices`.

python -m tests.link.jax.several_processes COORDINATOR PROCESSES ID
"""

import json
import sys
import time

import jax
import numpy as np

from pytensor.link.jax.devices import Devices, ParallelError, agree, gather, leave
from tests.link.jax.data_parallel import ROWS, STEPS, Network, batches, identical, train


def raised(function, *args):
    """Message of the error that a call raises."""
    try:
        function(*args)
    except (ParallelError, ValueError) as error:
        return str(error)
    return None


def train_small_network(devices, network):
    """Train alone, then on the devices of all processes."""
    alone = train(network, STEPS)
    network.reset()
    devices.replicate(network.variables)

    def shard(batch):
        return devices.shard([array[devices.rows(ROWS)] for array in batch])

    return train(network, STEPS, shard) | {
        "alone": alone["losses"],
        "identical": identical(network.variables),
        "part": devices.part,
        "is_main": devices.is_main,
        "count": [devices.count, devices.local_count],
    }


def fail():
    raise ParallelError("the action's own error")


def exchanges(devices):
    """What comes back from the devices, and what processes tell one another."""
    rows = np.arange(24, dtype=np.float64).reshape(8, 3)
    own = rows[devices.rows(8)]
    [array] = devices.shard([own])
    me = devices.process_index
    merged = devices.merge({me: np.full((me, 6), 0.1, np.float32), 10 - me: np.zeros((0, 6))})
    return {
        "whole": np.array_equal(devices.fetch(array), rows),
        "own": np.array_equal(devices.local_rows(array), own),
        "merged": {key: [str(v.dtype), *v.shape] for key, v in merged.items()},
        "gathered": gather({"own": "x" * 100 * me}),
        "largest": devices.largest([me, 5 - me]),
        # Process 0 takes longer than a few questions whether it is done.
        "first": devices.main_first(lambda: (time.sleep(1.2 * devices.is_main), time.time())[1]),
        "failure": raised(devices.main_first, fail),
    }


def disagreements(devices, network):
    """What processes that don't fit together are told."""
    me = devices.process_index
    agree({"seed": 0})
    network.variables[0].set_value(network.initial[0] + 1e-9 * me)
    found = {
        "settings": raised(agree, {"seed": me, "epochs": 3} | ({"only here": 1} if me else {})),
        "values": raised(devices.replicate, network.variables),
        "odd count": raised(Devices, 3),
        "too many": raised(Devices, 16),
        "rows": raised(devices.shard, [np.zeros((3, 2))]),
    }
    network.reset()
    devices.replicate(network.variables)
    return found


def death(devices, network):
    """End process 1; how process 0 learns of it."""
    if not devices.is_main:
        return {}
    batch = [array[devices.rows(ROWS)] for array in next(batches())]
    start = time.monotonic()
    try:
        while True:
            float(network.step(*devices.shard(batch)))
    except (ValueError, RuntimeError) as error:
        return {"death": str(error), "death_seconds": time.monotonic() - start}


def main():
    coordinator, count, number = sys.argv[1:]
    jax.distributed.initialize(coordinator, int(count), int(number))
    devices, network = Devices(), Network()
    found = train_small_network(devices, network) | exchanges(devices)
    found |= disagreements(devices, network) | death(devices, network)
    print(json.dumps(found))
    leave(0)


if __name__ == "__main__":
    main()
