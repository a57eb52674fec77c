"""Bring batches to the device ahead of time, and measure whether that was in time."""

import time
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Self

import jax

__all__ = ["IdleClock", "prefetch"]


def prefetch(
    batches: Iterable[Any], put: Callable[[Any], Any] = jax.device_put
) -> Generator[Any, None, None]:
    """Yield ``put(batch)`` for each batch, with the next one made while the caller works.

    Parameters
    ----------
    batches : iterable
        Asked for its items in a thread, one after the other.
    put : callable
        Brings a batch to the device, so that it is there before its step begins.

    Notes
    -----
    Errors of both are raised where their batch is asked for.  One batch at most is taken from
    `batches` that isn't yielded.
    """
    batches, end = iter(batches), object()

    def fetch() -> Any:
        batch = next(batches, end)
        return end if batch is end else put(batch)

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
