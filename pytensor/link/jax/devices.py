"""The devices and processes of a data-parallel training.

The rows of every batch are spread over the devices, and all else is on each of them: see
`pytensor.link.jax.sharding`.  One process drives all devices of a machine.  For several machines
one process is started on each, and prepares its part of the rows:

    jax.distributed.initialize("10.0.0.1:1234", num_processes=2, process_id=0)
    devices = Devices()
    agree(settings)
    devices.replicate(variables)             # all that the step reads or updates
    for batch in batches:                    # this process's rows, `devices.rows(batch_size)`
        step(*devices.shard(batch))

All processes make the same calls in the same order: a computation on all devices waits until every
process has started it.  Process 0 (`Devices.is_main`) alone writes files; all read them.
"""

import os
import pickle
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor, wait

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import PartitionSpec

from pytensor.link.jax.sharding import (
    AXIS,
    data_parallel_mesh,
    is_replicated,
    replicate,
    shard_batch,
)

__all__ = ["Devices", "ParallelError", "agree", "gather", "leave"]

# Seconds between the questions of waiting processes whether process 0 is done.
POLL = 0.5


class ParallelError(Exception):
    """The devices asked for aren't there, or processes don't fit together."""


def leave(status: int):
    """End this process at once, if it is one of several, after an error that only it has.

    An ordinary exit waits for the other processes, and those wait for this one.

    Parameters
    ----------
    status : int
        Exit status.
    """
    if jax.distributed.is_initialized():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def gather(value) -> list:
    """Return what every process gave, in the processes' order.

    Parameters
    ----------
    value : object
        Of what `pickle` can write.  Its size may be another in each process.
    """
    if jax.process_count() == 1:
        return [value]
    data = np.frombuffer(pickle.dumps(value), np.uint8)
    sizes = multihost_utils.process_allgather(np.array([data.size], np.int32)).ravel()
    rows = multihost_utils.process_allgather(np.pad(data, (0, sizes.max() - data.size)))
    return [pickle.loads(row[:size].tobytes()) for row, size in zip(rows, sizes, strict=True)]


def agree(settings: dict):
    """Check that all processes were started with the same settings.

    Raises
    ------
    ParallelError
        In every process; names the settings that differ.
    """
    first, *others = gather(settings)
    for process, other in enumerate(others, 1):
        different = [
            f"{name} {other.get(name, 'not set')!r} instead of {first.get(name, 'not set')!r}"
            for name in sorted(first.keys() | other.keys())
            if other.get(name, ...) != first.get(name, ...)
        ]
        if different:
            rest = f", and {len(different) - 5} more" if len(different) > 5 else ""
            raise ParallelError(
                f"process {process} differs from process 0: {', '.join(different[:5])}{rest}"
            )


class Devices:
    """The devices of a run.  With one device every method leaves what it is given as it is.

    Parameters
    ----------
    count : int, optional
        Of all processes together, each of which uses as many; all there are if not given.

    Attributes
    ----------
    count, local_count : int
        Of the run, and of this process.
    process_index, process_count : int
    mesh : jax.sharding.Mesh or None
        None with one device.

    Raises
    ------
    ParallelError
        If there are fewer, or processes can't have equally many.
    """

    def __init__(self, count: int | None = None):
        self.process_index, self.process_count = jax.process_index(), jax.process_count()
        self.count = jax.device_count() if count is None else count
        self.local_count, rest = divmod(self.count, self.process_count)
        own = [jax.local_devices(process) for process in range(self.process_count)]
        fewest = min(map(len, own))
        if self.count < 1 or rest or fewest < self.local_count:
            processes = f" in each of {self.process_count} processes" if len(own) > 1 else ""
            raise ParallelError(
                f"{self.count} devices asked for; it can be 1 to {fewest}{processes} "
                f"({jax.default_backend()}; for trying it out, a CPU has as many as "
                "XLA_FLAGS=--xla_force_host_platform_device_count says)"
            )
        used = [device for devices in own for device in devices[: self.local_count]]
        self.mesh = data_parallel_mesh(used) if self.count > 1 else None

    @property
    def is_main(self) -> bool:
        """Whether this is the process that writes files and prints."""
        return self.process_index == 0

    @property
    def part(self) -> tuple[int, int]:
        """Which of how many parts of a batch's rows this process prepares, from 0."""
        return self.process_index, self.process_count

    def check_batch_size(self, batch_size: int):
        """Raise a `ParallelError` if the devices can't share a batch equally."""
        if batch_size % self.count:
            raise ParallelError(
                f"{self.count} devices can't share a batch of {batch_size} equally; the batch size "
                f"must be a multiple of {self.count}"
            )

    def rows(self, batch_size: int) -> slice:
        """Rows of a batch that belong to this process."""
        size = batch_size // self.process_count
        return slice(self.process_index * size, (self.process_index + 1) * size)

    def replicate(self, shared_variables):
        """Copy shared variables to all devices; again after their `set_value`.

        Raises
        ------
        ParallelError
            In every process, if values differ between processes.
        """
        if self.mesh is None:
            return
        values = [(v, v.get_value(borrow=True)) for v in shared_variables]
        # Not those that lie there already: a data set, say, which is large.
        values = [(v, value) for v, value in values if not is_replicated(value, self.mesh)]
        if self.process_count > 1:
            sums = [zlib.crc32(np.ascontiguousarray(value)) for _, value in values]
            agree({f"{k} {v.name}": sums[k] for k, (v, _) in enumerate(values)})
        replicate([v for v, _ in values], self.mesh)

    def shard(self, arrays) -> list:
        """Spread this process's rows of a batch over its devices; see `shard_batch`."""
        return list(arrays) if self.mesh is None else shard_batch(arrays, self.mesh)

    def fetch(self, array) -> np.ndarray:
        """Whole array, in every process."""
        if getattr(array, "is_fully_addressable", True):
            return np.asarray(array)
        return multihost_utils.process_allgather(array, tiled=True)

    def local_rows(self, array) -> np.ndarray:
        """Rows of a batch's array that belong to this process."""
        if getattr(array, "is_fully_addressable", True):
            return np.asarray(array)
        rows = PartitionSpec(AXIS)
        return np.asarray(multihost_utils.global_array_to_host_local_array(array, self.mesh, rows))

    def largest(self, numbers) -> list:
        """Largest value of each of some numbers over the processes."""
        return [max(values) for values in zip(*gather(list(numbers)), strict=True)]

    def merge(self, found: dict) -> dict:
        """Join what the processes found in their parts of a data set, by rising key."""
        if self.process_count == 1:
            return found
        merged = {key: value for part in gather(found) for key, value in part.items()}
        return {key: merged[key] for key in sorted(merged)}

    def main_first(self, action):
        """Call a function in process 0, then in the others, which find the files that it left.

        Parameters
        ----------
        action : callable
            May take hours.

        Returns
        -------
        What it returns.

        Raises
        ------
        ParallelError
            In the others, if it failed in process 0, where its own error is raised.
        """
        if self.process_count == 1:
            return action()
        working, done, failed = range(3)
        with ThreadPoolExecutor(1) as thread:
            call = thread.submit(action) if self.is_main else None
            state = working
            # Short collectives: one that lasted as long as the action would run into its limit.
            while state == working:
                own = working
                if call is not None and wait([call], POLL).done:
                    own = done if call.exception() is None else failed
                [state] = self.largest([own])
        if call is not None:
            return call.result()
        if state == failed:
            raise ParallelError("process 0 has failed; its own message says why")
        return action()
