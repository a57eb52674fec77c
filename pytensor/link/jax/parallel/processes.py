"""Several processes, perhaps on several machines, that compute one thing together.

`join` makes this process one of them, before JAX is used for anything else: JAX then knows the
devices of all, and `pytensor.link.jax.parallel.devices.Devices` spreads batches over them.

    group = join()                          # as SLURM or Open MPI says; None for one process
    group = join("10.0.0.1:1234", 2, 0)     # or as told: on the first of two machines
    ...
    group.leave()                           # once all have come so far

Where a process is lost, JAX's collectives of the others fail with no name, or wait.  So each
process keeps another connection to process 0: if it closes, or nothing comes over it for
`SILENCE_S`, all others end with a message that names the process.
"""

import hashlib
import json
import os
import secrets
import selectors
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import NoReturn

import jax

from pytensor.link.jax.internals import coordinator_address, publish, published
from pytensor.link.jax.parallel.devices import ParallelError

__all__ = ["SILENCE_S", "ProcessGroup", "join", "launched_together"]

# On a machine with ten times more to do than it can, five seconds of silence meant nothing.
BEAT_S, SILENCE_S = 1.0, 40.0
# JAX's own limit, for a process whose threads of Python hang.
HEARTBEAT_S = 45
# What waits for others that may still compile, decode or download.
PATIENCE_S = 24 * 3600
# A collective fails sooner than the lost process is found where that is on this machine.
GRACE_S = 2.0


def launched_together(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether SLURM (``srun``) or Open MPI started this process as one of several."""
    slurm = "SLURM_STEP_NODELIST" in environment and "SLURM_PROCID" in environment
    tasks = environment.get("SLURM_NTASKS", "1") if slurm else "1"
    return int(tasks) > 1 or int(environment.get("OMPI_COMM_WORLD_SIZE", "1")) > 1


def join(
    coordinator: str | None = None, count: int | None = None, number: int | None = None
) -> "ProcessGroup | None":
    """Make this process one of several; JAX must not have been used before.

    Parameters
    ----------
    coordinator : str, optional
        ``"HOST:PORT"`` of process 0, the port a free one; all others must reach it.  ``"auto"``:
        whatever JAX finds out by itself, as on Kubernetes with its client installed.  If not given,
        as SLURM or Open MPI says; where neither started this process, there is one process.
    count, number : int, optional
        How many processes there are, and which of them, from 0 on, this one is.  With `count` 1
        there is one process, whatever the environment says.

    Returns
    -------
    ProcessGroup, or None for one process

    Raises
    ------
    ParallelError
        If an argument is missing or wrong, nobody is at the coordinator's address, or JAX doesn't
        find out what is left to it.
    """
    if count == 1 or (coordinator is None and count is number is None and not launched_together()):
        return None
    known: dict[str, object] = {}
    if coordinator not in (None, "auto"):
        known = checked(coordinator, count, number)
    elif count is not None or number is not None:
        raise ParallelError("a number of processes, or of one of them, needs the coordinator, too")
    # It takes SIGTERM for itself.
    jax.config.update("jax_enable_preemption_service", False)
    try:
        jax.distributed.initialize(heartbeat_timeout_seconds=HEARTBEAT_S, **known)  # type: ignore[arg-type]
    except (RuntimeError, ValueError) as error:
        raise ParallelError(
            f"JAX can't join the other processes: {error}; give the coordinator as HOST:PORT, the "
            "number of processes and which one this is"
        ) from error
    if jax.process_count() == 1:
        jax.distributed.shutdown()
        return None
    return ProcessGroup(jax.process_index(), jax.process_count())


def checked(coordinator: str, count: int | None, number: int | None) -> dict[str, object]:
    """Return arguments of JAX; ParallelError for wrong ones, or if nobody is at the address."""
    host, _, port = coordinator.rpartition(":")
    if not host or not port.isdigit():
        raise ParallelError(f"the coordinator is {coordinator!r}; it must be HOST:PORT")
    if count is None or number is None or not 0 <= number < count:
        raise ParallelError(
            f"process {number} of {count}: a coordinator needs the number of processes, and which "
            "of them, from 0 on, this one is"
        )
    if number:
        connect(host.strip("[]"), int(port), 300).close()
    given = {"coordinator_address": coordinator, "num_processes": count, "process_id": number}
    # else SLURM's, if it is there, would say which devices are this process's
    return given | {"cluster_detection_method": "deactivate"}


def connect(host: str, port: int, seconds: float) -> socket.socket:
    """Connect to process 0, which may not have started yet."""
    end = time.monotonic() + seconds
    while True:
        try:
            return socket.create_connection((host, port), timeout=10)
        except OSError as error:
            if time.monotonic() > end:
                raise ParallelError(
                    f"no process answers at {host}:{port} ({error}); start process 0 there, and "
                    "open the port in the firewall"
                ) from None
            time.sleep(0.5)


class Link:
    """A connection to another process."""

    def __init__(self, stream: socket.socket, number: int, host: str) -> None:
        self.stream, self.name = stream, f"process {number} on {host}"
        self.heard, self.rest, self.done = time.monotonic(), b"", False

    def send(self, text: str) -> bool:
        """Send a line; return whether the connection still stands."""
        try:
            self.stream.sendall(f"{text}\n".encode())
        except OSError:
            return False
        return True

    def read(self) -> list[str] | None:
        """Return the lines that have come; None where the connection was closed."""
        try:
            data = self.stream.recv(2**16)
        except OSError:
            data = b""
        if not data:
            return None
        self.heard = time.monotonic()
        *lines, self.rest = (self.rest + data).split(b"\n")
        return [line.decode() for line in lines]


class ProcessGroup:
    """The processes that `join` has brought together, as one of them sees them.

    Attributes
    ----------
    number, count : int
        This process's, from 0 on, and that of all.
    on_loss : callable
        Called with a message, in a thread, before this process ends for another's sake.
    """

    def __init__(self, number: int, count: int) -> None:
        self.number, self.count = number, count
        self.on_loss: Callable[[str], object] = lambda message: None
        self._host = socket.gethostname()
        self._links = self._listen() if number == 0 else [self._call()]
        self._all_done, self._closed = threading.Event(), False
        self._thread = threading.Thread(target=self._watch, name="processes", daemon=True)
        self._thread.start()

    def _listen(self) -> list[Link]:
        """Accept the connections of all others, who must know a word that JAX has told them."""
        word, links = secrets.token_hex(16), list[Link]()
        with socket.create_server(("", 0), backlog=self.count) as server:
            server.settimeout(300)
            publish("processes/0", json.dumps([server.getsockname()[1], word, self._host]))
            while len(links) < self.count - 1:
                stream, _ = server.accept()
                stream.settimeout(10)
                with stream.makefile("r") as lines:
                    said = lines.readline(1000).split(maxsplit=2)
                if len(said) == 3 and said[0] == word:
                    links.append(Link(stream, int(said[1]), said[2].strip()))
                else:
                    stream.close()
        return links

    def _call(self) -> Link:
        """Connect to process 0, where JAX found it."""
        port, word, host = json.loads(published("processes/0", PATIENCE_S))
        stream = connect(coordinator_address().rpartition(":")[0].strip("[]"), port, 60)
        stream.sendall(f"{word} {self.number} {self._host}\n".encode())
        return Link(stream, 0, host)

    # ------------------------------------------------------------------------------ the watch

    def _watch(self) -> None:
        """Send and hear signs of life until all are done."""
        with selectors.DefaultSelector() as selector:
            for link in self._links:
                selector.register(link.stream, selectors.EVENT_READ, link)
            beat = 0.0
            while not self._closed:
                for key, _ in selector.select(BEAT_S):
                    self._hear(key.data, selector)
                if (now := time.monotonic()) - beat >= BEAT_S:
                    beat = now
                    for link in self._links:
                        self._beat(link, now)

    def _hear(self, link: Link, selector: selectors.BaseSelector) -> None:
        lines = link.read()
        if lines is None:
            selector.unregister(link.stream)
            if not link.done:
                self._end(f"{link.name} is lost: it was killed, or its machine is gone")
        for line in lines or ():
            word, _, text = line.partition(" ")
            if word == "end":
                self._end(text)
            elif word == "done":
                link.done = True
                if all(each.done for each in self._links):
                    self._all_done.set()

    def _beat(self, link: Link, now: float) -> None:
        if link.done:
            return
        link.send("")  # what is closed is heard
        if now - link.heard > SILENCE_S:
            self._end(f"{link.name} is lost: nothing was heard of it for {SILENCE_S:.0f} s")

    def _end(self, message: str) -> NoReturn:
        """End this process because of another one, and tell those that don't know yet."""
        # JAX may be about to end the process from a thread of its own.
        os.write(2, f"error: {message}; all processes end\n".encode())
        for link in self._links:
            link.send(f"end {message}")
        try:
            self.on_loss(message)
        finally:
            os._exit(1)

    # ------------------------------------------------------------------------------ for callers

    def check_same(self, what: str, value: Callable[[], object]) -> None:
        """Raise a `ParallelError` in processes where a value is not what it is in process 0.

        `what` names it, and must be a new name each time; the value's text is compared.  It is
        asked for when process 0 has come so far, and all wait here until everyone has.
        """
        expected = None if self.number == 0 else published(f"same/{what}/0", PATIENCE_S)
        digest = hashlib.sha256(str(value()).encode()).hexdigest()
        publish(f"same/{what}/{self.number}", digest)
        for number in range(self.count):
            published(f"same/{what}/{number}", PATIENCE_S)
        if self.number and expected != digest:
            raise ParallelError(
                f"process {self.number} on {self._host} has other {what} than process 0: all need "
                "the same files, options and versions"
            )

    def leave(self) -> None:
        """Wait until all processes call this, however long process 0 needs, and part from JAX."""
        if self.number == 0:
            self._all_done.wait()
        for link in self._links:
            link.send("done")
        self._all_done.wait()
        self._closed = True
        self._thread.join()
        jax.distributed.shutdown()
        for link in self._links:
            link.stream.close()

    def fail(self, report: str) -> NoReturn:
        """Print why this process ends, perhaps a traceback, and end it; others print its last line.

        Where another process is lost, that was the reason, and is printed instead.
        """
        self._thread.join(GRACE_S)  # which ends this process if another one is found lost
        print(report.rstrip(), file=sys.stderr)
        for link in self._links:
            last = report.rstrip().splitlines()[-1]
            link.send(f"end process {self.number} on {self._host} ended: {last}")
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)  # JAX would wait for the others
