"""Batches that are brought to the device ahead of time, and the time that it waits for them."""

import threading
import time
from types import SimpleNamespace

import pytest

from pytensor.link.jax.parallel import prefetch as prefetching
from pytensor.link.jax.parallel.prefetch import IdleClock, prefetch


def test_prefetch_keeps_order_and_runs_ahead():
    second_taken = threading.Event()

    def batches():
        for k in range(4):
            if k == 1:
                second_taken.set()
            yield k

    items = prefetch(batches(), lambda k: 10 * k)
    assert next(items) == 0
    assert second_taken.wait(60)  # while the caller is busy with the first
    assert list(items) == [10, 20, 30]
    assert list(prefetch([], str)) == []


def test_prefetch_is_one_batch_ahead_at_most():
    taken = []
    items = prefetch(iter(range(10)), taken.append)
    next(items)
    next(items)
    items.close()  # waits for what is under way
    assert len(taken) == 3


@pytest.mark.parametrize("where", ["load", "put"])
def test_prefetch_passes_errors_on(where):
    def batches():
        yield 1
        if where == "load":
            raise OSError("image 2 is gone")
        yield 2

    def put(k):
        if k == 2:
            raise OSError("image 2 is gone")
        return k

    items = prefetch(batches(), put)
    assert next(items) == 1
    with pytest.raises(OSError, match="image 2 is gone"):
        next(items)
    assert not [t for t in threading.enumerate() if t.name.startswith("prefetch")]


class Output:
    """Stands in for an array that is ready when somebody says so."""

    def __init__(self, error=None):
        self.done, self.error = threading.Event(), error

    def block_until_ready(self):
        assert self.done.wait(60)
        if self.error:
            raise self.error
        return self


def until(condition):
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.001)


@pytest.fixture
def fake_time(monkeypatch):
    """Set the clock of the module by hand."""
    now = [0.0]
    monkeypatch.setattr(prefetching, "time", SimpleNamespace(perf_counter=lambda: now[0]))

    def set_time(seconds):
        now[0] = seconds

    return set_time


def test_idle_time_counts_from_readiness_to_the_next_dispatch(fake_time):
    with IdleClock() as clock:
        clock.stop()  # nothing ran yet
        output = Output()
        clock.watch(([output], None))
        fake_time(3.0)
        output.done.set()
        until(clock._ready.done)
        fake_time(5.0)
        clock.stop()
        assert clock.idle_s == 2.0
        fake_time(9.0)
        clock.stop()  # the same step isn't counted twice
        assert clock.idle_s == 2.0


def test_no_idle_time_while_the_device_works(fake_time):
    with IdleClock() as clock:
        output = Output()
        clock.watch(output)
        fake_time(5.0)
        clock.stop()
        output.done.set()
        later = Output()
        clock.watch(later)
        fake_time(6.0)
        later.done.set()
        until(clock._ready.done)
        fake_time(6.5)
        clock.stop()
        assert clock.idle_s == 0.5


def test_idle_clock_raises_what_the_step_raised():
    with IdleClock() as clock:
        output = Output(RuntimeError("out of memory"))
        output.done.set()
        clock.watch(output)
        until(clock._ready.done)
        with pytest.raises(RuntimeError, match="out of memory"):
            clock.stop()
