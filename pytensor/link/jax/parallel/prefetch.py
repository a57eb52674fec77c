"""Bring batches to the device ahead of time, and measure whether that was in time."""

import time
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

import jax

from pytensor.compile.executor import Function
from pytensor.link.jax.host_arrays import own

__all__ = ["IdleClock", "prefetch"]


def put_copy(batch: Any) -> Any:
    """Bring a batch to the device; its arrays may be written to afterwards."""
    with jax.enable_x64(True):  # else JAX would halve numbers of 64 bits
        return jax.device_put(jax.tree.map(own, batch))


def prefetch(
    batches: Iterable[Any], put: Callable[[Any], Any] = put_copy,
    function: Function | None = None,
) -> Generator[Any, None, None]:  # fmt: skip
    """Yield ``put(batch)`` for each batch, with the next one made while the caller works.

    Parameters
    ----------
    batches : iterable
        Asked for its items in a thread, one after the other.
    put : callable
        Brings a batch to the device, so that it is there before its step begins.  By default the
        batch's arrays may be written to when the next one is made.  `jax.device_put` copies less:
        give it where they aren't.
    function : pytensor.compile.executor.Function, optional
        A function of `jax_mode` that gets the batches as its arguments: the arrays of indices among
        them are compared with their bounds before they are put, for on the device nothing is.

    Raises
    ------
    IndexError
        If an index is out of bounds.

    Notes
    -----
    Errors of all three are raised where their batch is asked for.  One batch at most is taken from
    `batches` that isn't yielded.
    """
    batches = iter(batches)
    checks: Any = None
    end: Any = object()
    containers: list[Any] = []
    if function is not None:
        checks, containers = getattr(function.vm, "checks", None), function.input_storage

    def fetch() -> Any:
        batch = next(batches, end)
        if batch is end:
            return end
        if checks is not None:
            shared = [container.storage[0] for container in containers[len(batch) :]]
            checks.check_arrays([*batch, *shared])
        return put(batch)

    with ThreadPoolExecutor(1, thread_name_prefix="prefetch") as thread:
        ahead = thread.submit(fetch)
        while (batch := ahead.result()) is not end:
            ahead = thread.submit(fetch)
            yield batch


class IdleClock:
    """Measures how long the device had nothing to do, where steps are dispatched asynchronously.

    It is idle from the moment when all outputs of a step are ready until the next step is
    dispatched: its host was waiting for a batch, or busy otherwise.  A thread waits for the outputs
    and takes the time.

    ::

        with IdleClock() as clock:
            for batch in prefetch(batches):
                clock.stop()
                outputs = step(*batch)
                clock.watch(outputs)
        share = clock.idle_s / epoch_s

    Attributes
    ----------
    idle_s : float
        Seconds so far.
    """

    def __init__(self) -> None:
        self.idle_s = 0.0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="idle-clock")
        self._ready: Future[float] | None = None

    @staticmethod
    def _time_when_ready(outputs: Any) -> float:
        jax.block_until_ready(outputs)
        return time.perf_counter()

    def watch(self, outputs: Any) -> None:
        """Note when the outputs of a dispatched step are ready.

        Parameters
        ----------
        outputs : structure of arrays, with None for what isn't there
        """
        self._ready = self._thread.submit(self._time_when_ready, outputs)

    def stop(self) -> None:
        """Add the time since the outputs were ready, as the next step is about to be dispatched.

        Raises what the watched step raised.
        """
        now = time.perf_counter()
        # If it isn't done, the device is still at work and hasn't been idle.
        if self._ready is not None and self._ready.done():
            self.idle_s += max(now - self._ready.result(), 0.0)
        self._ready = None

    def close(self) -> None:
        """End the thread, after the step that it waits for."""
        self._thread.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
