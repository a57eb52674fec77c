"""Data-parallel training: the rows of every batch over several devices, all else on each of them.

The compiled functions stay those of one device (see `pytensor.link.jax.sharding`): the loss is that
of the whole batch, and so are the statistics of the batch normalizations.

One process drives all devices of a machine.  For several machines one process is started on each,
with the address of the first; each prepares its part of the rows:

    initialize("10.0.0.1:1234", num_processes=2, process_id=0)   # and process_id=1 on the other
    devices = Devices()
    agree(settings)
    loader = BatchLoader(data, batch_size, part=devices.part)    # batch_size is the whole batch's
    step = TrainStep(..., place=devices.replicate, put=devices.shard)

All processes run the same calls in the same order: a computation on all devices waits until every
process has started it.  Process 0 (`Devices.is_main`) alone writes files; all read them.
"""

import io
import json
import os
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor, wait

import jax
import numpy as np
from jax.experimental import multihost_utils

from pytensor.link.jax.sharding import (
    data_parallel_mesh,
    is_replicated,
    replicate,
    shard_batch,
)

# After so many seconds without a sign of life of one process, JAX ends the others.
HEARTBEAT = 60
# Seconds between the questions of waiting processes whether process 0 is done.
POLL = 0.5


class ParallelError(Exception):
    """The devices or processes asked for aren't there, or processes don't fit together."""


# ------------------------------------------------------------------------------ several processes


def initialize(coordinator=None, num_processes=None, process_id=None, timeout=120.0):
    """Join the processes of a run; call it before anything else uses JAX.

    With none of the arguments nothing is done.

    Parameters
    ----------
    coordinator : str
        ``host:port`` of process 0, with a free port, as the other processes reach it.
    num_processes, process_id : int
        How many there are, and which one this is, from 0.
    timeout : float
        Seconds to wait for the others.

    Raises
    ------
    ParallelError
        If arguments are missing or wrong, or JAX has started already.
    """
    given = {
        "coordinator": coordinator,
        "num_processes": num_processes,
        "process_id": process_id,
    }
    missing = [name for name, value in given.items() if value is None]
    if len(missing) == len(given):
        return
    if missing:
        raise ParallelError(
            f"{' and '.join(missing)} not given: a run of several processes needs the "
            "coordinator's address, the number of processes and this one's"
        )
    try:
        jax.distributed.initialize(
            coordinator,
            num_processes,
            process_id,
            initialization_timeout=max(int(timeout), 1),
            heartbeat_timeout_seconds=HEARTBEAT,
        )
    except (RuntimeError, ValueError) as error:
        raise ParallelError(f"JAX can't start with several processes: {error}") from error


def leave(status):
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


def agree(settings):
    """Check that all processes were started with the same settings.

    Parameters
    ----------
    settings : dict
        Of what JSON can say.

    Raises
    ------
    ParallelError
        In every process; names the settings that differ.
    """
    own = json.dumps(settings, sort_keys=True)
    first, *others = (json.loads(text) for text in _gather_bytes(own.encode()))
    for process, other in enumerate(others, 1):
        different = [
            f"{name} {other.get(name, 'not set')!r} instead of {first.get(name, 'not set')!r}"
            for name in sorted(first.keys() | other.keys())
            if first.get(name) != other.get(name)
        ]
        if different:
            rest = f", and {len(different) - 5} more" if len(different) > 5 else ""
            raise ParallelError(
                f"process {process} differs from process 0: {', '.join(different[:5])}{rest}"
            )


def _gather_bytes(data):
    """Bytes of all processes, in their order, in each process."""
    if jax.process_count() == 1:
        return [data]
    lengths = multihost_utils.process_allgather(np.array([len(data)], dtype=np.int32)).ravel()
    padded = np.zeros(max(lengths.max(), 1), dtype=np.uint8)
    padded[: len(data)] = np.frombuffer(data, dtype=np.uint8)
    rows = multihost_utils.process_allgather(padded)
    return [row[:length].tobytes() for row, length in zip(rows, lengths, strict=True)]


# -------------------------------------------------------------------------------------- devices


class Devices:
    """The devices of a run.  With one device every method leaves what it is given as it is.

    Parameters
    ----------
    count : int, optional
        Of all processes together; all there are if not given.  Each process uses as many.

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

    def __init__(self, count=None):
        self.process_index, self.process_count = jax.process_index(), jax.process_count()
        self.count = jax.device_count() if count is None else count
        if self.count < 1:
            raise ParallelError(f"{self.count} devices asked for; at least 1 is needed")
        if self.count > jax.device_count():
            raise ParallelError(_too_few(self.count))
        self.local_count, rest = divmod(self.count, self.process_count)
        if rest:
            raise ParallelError(
                f"{self.count} devices can't be shared equally by {self.process_count} processes"
            )
        own = [jax.local_devices(process) for process in range(self.process_count)]
        for process, devices in enumerate(own):
            if len(devices) < self.local_count:
                raise ParallelError(
                    f"process {process} has {len(devices)} devices; {self.count} over "
                    f"{self.process_count} processes need {self.local_count} in each"
                )
        used = [device for devices in own for device in devices[: self.local_count]]
        self.mesh = data_parallel_mesh(used) if self.count > 1 else None

    @property
    def is_main(self):
        """Whether this is the process that writes files and prints."""
        return self.process_index == 0

    @property
    def part(self):
        """Which of how many parts of a batch's rows this process prepares, from 0."""
        return self.process_index, self.process_count

    def describe(self):
        """Return one line for the log."""
        kind = jax.local_devices()[0].device_kind
        processes = f" of {self.process_count} processes" if self.process_count > 1 else ""
        return f"{self.count} device{'s' if self.count > 1 else ''} ({kind}){processes}"

    def check_batch_size(self, batch_size):
        """Raise a `ParallelError` if the devices can't share a batch equally."""
        if batch_size % self.count:
            raise ParallelError(
                f"{self.count} devices can't share a batch of {batch_size} equally; the batch size "
                f"must be a multiple of {self.count}"
            )

    def rows(self, batch_size):
        """Slice of a batch's rows that belong to this process."""
        size = batch_size // self.process_count
        return slice(self.process_index * size, (self.process_index + 1) * size)

    def replicate(self, shared_variables):
        """Copy shared variables to all devices; again after their `set_value`.

        Those that lie there already are left alone: a data set, say, which is large.

        Raises
        ------
        ParallelError
            In every process, if values differ between processes.
        """
        if self.mesh is None:
            return
        variables = [
            variable
            for variable in shared_variables
            if not is_replicated(variable.get_value(borrow=True), self.mesh)
        ]
        if self.process_count > 1:
            values = [np.asarray(v.get_value(borrow=True)) for v in variables]
            agree(
                {
                    f"{number} {variable.name}": zlib.crc32(np.ascontiguousarray(value))
                    for number, (variable, value) in enumerate(zip(variables, values, strict=True))
                }
            )
        replicate(variables, self.mesh)

    def shard(self, arrays):
        """Spread this process's rows of a batch over its devices.

        Parameters
        ----------
        arrays : iterable of arrays
            Equally many rows in every process.

        Returns
        -------
        list
            Of jax.Array, each of the whole batch; with one device, what was given.

        Raises
        ------
        ParallelError
            If the devices can't share the rows equally.
        """
        arrays = list(arrays)
        if self.mesh is None:
            return arrays
        try:
            return shard_batch(arrays, self.mesh)
        except ValueError as error:
            raise ParallelError(str(error)) from error

    def fetch(self, array):
        """Whole array as NumPy array, in every process."""
        if isinstance(array, jax.Array) and not (
            array.is_fully_addressable or array.is_fully_replicated
        ):
            return multihost_utils.process_allgather(array, tiled=True)
        return np.asarray(array)

    def local_rows(self, array):
        """Rows of a batch's array that belong to this process, as NumPy array."""
        if not isinstance(array, jax.Array) or array.is_fully_addressable:
            return np.asarray(array)
        if array.is_fully_replicated:
            return np.asarray(array)[self.rows(len(array))]
        shards = sorted(array.addressable_shards, key=lambda shard: shard.index[0].start or 0)
        return np.concatenate([np.asarray(shard.data) for shard in shards])

    def largest(self, numbers):
        """Largest value of each of some integers over the processes, as a list in every process."""
        if self.process_count == 1:
            return list(numbers)
        rows = multihost_utils.process_allgather(np.array(numbers, dtype=np.int32))
        return np.reshape(rows, (self.process_count, -1)).max(axis=0).tolist()

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

    def merge(self, found):
        """Join what the processes found in their parts of a data set.

        Parameters
        ----------
        found : dict of int to float array (n, 6)
            Detections by image id.

        Returns
        -------
        dict
            Of all processes, by image id in rising order, in every process; with one process,
            what was given.
        """
        if self.process_count == 1:
            return found
        rows = [np.asarray(v).reshape(-1, 6) for v in found.values()]
        buffer = io.BytesIO()
        np.savez(
            buffer,
            ids=np.array(list(found), dtype=np.int64),
            ends=np.cumsum([len(v) for v in rows], dtype=np.int64),
            rows=np.concatenate(rows) if rows else np.zeros((0, 6)),
        )
        merged = {}
        for data in _gather_bytes(buffer.getvalue()):
            with np.load(io.BytesIO(data), allow_pickle=False) as part:
                parts = np.split(part["rows"], part["ends"][:-1]) if len(part["ids"]) else []
                merged |= dict(zip(part["ids"].tolist(), parts, strict=True))
        return dict(sorted(merged.items()))


def _too_few(count):
    """Say how many devices there are, and what helps."""
    available, platform = jax.device_count(), jax.default_backend()
    there = "is 1" if available == 1 else f"are {available}"
    message = f"{count} devices asked for, but there {there} ({platform})"
    if platform == "cpu":
        message += (
            "; to try it on a CPU, set "
            f"XLA_FLAGS=--xla_force_host_platform_device_count={count // jax.process_count()}"
        )
    return message
