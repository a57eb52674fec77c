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
import socket
import sys
import time
import zlib

import jax
import numpy as np
from jax.experimental import multihost_utils

from pytensor.link.jax.sharding import data_parallel_mesh, replicate, shard_batch

# After so many seconds without a sign of life of one process, JAX ends the others.
HEARTBEAT = 60


class ParallelError(Exception):
    """The devices or processes asked for aren't there, or processes don't fit together."""


# ------------------------------------------------------------------------------ several processes


def initialize(coordinator=None, num_processes=None, process_id=None, timeout=120.0):
    """Join the processes of a run; call it before anything else uses JAX.

    With none of the arguments, or one process, nothing is done.

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
        If arguments are missing or wrong, JAX has started already, the coordinator can't be
        reached, a process doesn't come, two have one number, or their counts differ.
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
    if num_processes < 1:
        raise ParallelError(f"num_processes is {num_processes}; it must be at least 1")
    if not 0 <= process_id < num_processes:
        raise ParallelError(
            f"process_id is {process_id}; {num_processes} processes count from 0 to "
            f"{num_processes - 1}"
        )
    host, port = split_address(coordinator)
    if num_processes == 1:
        return
    if jax.distributed.is_initialized():
        raise ParallelError("initialize was called before in this process")
    # JAX itself aborts the process, without an exception, if anything is wrong with the others.
    meet(host, port, num_processes, process_id, timeout)
    try:
        jax.distributed.initialize(
            coordinator,
            num_processes,
            process_id,
            cluster_detection_method="deactivate",
            initialization_timeout=max(int(timeout), 1),
            heartbeat_timeout_seconds=HEARTBEAT,
        )
    except RuntimeError as error:
        raise ParallelError(f"JAX can't start with several processes: {error}") from error


def split_address(address):
    """Split ``host:port``; IPv6 hosts stand in brackets.

    Raises
    ------
    ParallelError
        If it isn't of that form.
    """
    host, _, port = address.rpartition(":")
    if not (host and port.isdecimal() and 0 < int(port) < 65536):
        raise ParallelError(f"coordinator {address!r} isn't host:port, as 10.0.0.1:1234 is")
    return host.strip("[]"), int(port)


def meet(host, port, num_processes, process_id, timeout):
    """Wait until all processes have met at the coordinator, and check that they fit together.

    Parameters
    ----------
    host : str
    port : int
    num_processes, process_id : int
    timeout : float
        Seconds.

    Raises
    ------
    ParallelError
        In every process that came, with the same message.
    """
    if process_id:
        problem = _visit(host, port, f"{process_id} {num_processes}\n", timeout)
    else:
        problem = _welcome(port, num_processes, timeout)
    if problem:
        raise ParallelError(problem)


def _welcome(port, num_processes, timeout):
    """Meet the others as process 0: what is wrong, or ""."""
    deadline = time.monotonic() + timeout
    dual = socket.has_dualstack_ipv6()
    try:
        server = socket.create_server(
            ("", port),
            family=socket.AF_INET6 if dual else socket.AF_INET,
            backlog=num_processes,
            dualstack_ipv6=dual,
        )
    except OSError as error:
        return f"port {port} can't be used for the coordinator ({error}); choose another"
    problem, present, connections = "", {0}, []
    with server:
        while not problem and len(present) < num_processes:
            server.settimeout(max(deadline - time.monotonic(), 0.01))
            try:
                connection, _ = server.accept()
            except TimeoutError:
                missing = sorted(set(range(num_processes)) - present)
                problem = f"process {missing[0]} of {num_processes} didn't come in {timeout:g} s"
                if len(missing) > 1:
                    problem += f", nor did {len(missing) - 1} others"
                break
            line = _read_line(connection)
            number, _, count = line.partition(" ")
            if not (number.isdecimal() and count.isdecimal()):
                connection.close()  # no process of a run: a port scanner, say
                continue
            connections.append(connection)
            problem = _misfit(int(number), int(count), num_processes, present)
            present.add(int(number))
        for connection in connections:
            _answer(connection, problem)
    return problem


def _misfit(number, count, num_processes, present):
    """What is wrong with a process that says it is `number` of `count`, or ""."""
    if count != num_processes:
        return f"process {number} was told of {count} processes, process 0 of {num_processes}"
    if number in present:
        return f"two processes have the number {number}; each needs its own process_id"
    return ""


def _read_line(connection):
    """First line that comes, without its end; "" if none comes in five seconds."""
    connection.settimeout(5)
    try:
        with connection.makefile("r", encoding="utf-8", errors="replace") as file:
            return file.readline(100).rstrip("\n")
    except OSError:
        return ""


def _answer(connection, problem):
    with connection:
        try:
            connection.sendall(f"{problem or 'ok'}\n".encode())
            connection.shutdown(socket.SHUT_WR)
            # The other end closes first, so that the port is free at once for JAX's own service.
            connection.recv(1)
        except OSError:
            return  # that process is gone, which JAX finds out


def _visit(host, port, greeting, timeout):
    """Meet process 0 as another one: what is wrong, or ""."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            connection = socket.create_connection((host, port), timeout)
            break
        except socket.gaierror as error:
            return f"the coordinator's host {host} isn't known ({error})"
        except OSError as error:
            if time.monotonic() > deadline:
                return (
                    f"no coordinator at {host}:{port} in {timeout:g} s ({error}); start process 0 "
                    "there, and check address and firewall"
                )
            time.sleep(0.2)
    with connection:
        # Process 0 answers once all are there, or its own time is over.
        connection.settimeout(timeout + 5)
        try:
            connection.sendall(greeting.encode())
            with connection.makefile("r", encoding="utf-8", errors="replace") as file:
                answer = file.readline().rstrip("\n")
        except OSError as error:
            answer, reason = "", f" ({error})"
        else:
            reason = ""
    if not answer:
        return f"what listens at {host}:{port} isn't process 0 of a run, or it ended{reason}"
    return "" if answer == "ok" else answer


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

        Raises
        ------
        ParallelError
            In every process, if values differ between processes.
        """
        if self.mesh is None:
            return
        variables = list(shared_variables)
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
