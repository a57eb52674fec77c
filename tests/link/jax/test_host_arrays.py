"""Arrays that are written to after the call that they were given to has returned."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt

jax = pytest.importorskip("jax")

from pytensor.link.jax import jax_mode  # noqa: E402
from pytensor.link.jax.host_arrays import own  # noqa: E402
from pytensor.link.jax.parallel.prefetch import prefetch  # noqa: E402
from pytensor.link.jax.parallel.sharding import data_parallel_mesh, replicate, shard_batch  # noqa: E402

N = 200
X = pt.tensor("x", dtype="float32", shape=(N, N))


def aligned(value):
    """Copy an array to an address that 64 divides, where XLA takes it without a copy."""
    memory = np.empty(value.nbytes + 64, "uint8")
    start = -memory.ctypes.data % 64
    array = memory[start : start + value.nbytes].view(value.dtype).reshape(value.shape)
    array[...] = value
    return array


def buffer_of(number):
    return aligned(np.full((N, N), number, "float32"))


def slow_mean(x):
    """Return the mean of `x`, when 16 products of matrices have been computed."""
    busy = x
    for _ in range(16):
        busy = pt.tanh(busy @ x * np.float32(0.01))
    return (x + busy * np.float32(1e-30)).mean(dtype="float32")


MODES = {
    "plain": jax_mode(),
    "donate": jax_mode(donate=True),
    "cpu_kernels": jax_mode(cpu_kernels=True),
    "kept": jax_mode(keep_programs=True),
}


@pytest.mark.parametrize("mode", MODES)
def test_a_buffer_is_filled_again_after_each_call(mode):
    total = pytensor.shared(np.float32(0))
    updates = {total: total + slow_mean(X)}
    f = pytensor.function(
        [X], slow_mean(X), updates=updates, mode=MODES[mode], trust_input=True
    )
    buffer, results = buffer_of(0), []
    for number in range(4):
        buffer[:] = number
        results.append(f(buffer))
    buffer[:] = 9
    assert [float(result) for result in results] == [0, 1, 2, 3]
    assert total.get_value() == 6


@pytest.mark.parametrize("mode", MODES)
def test_what_a_function_returns_or_keeps_is_not_the_buffer(mode):
    kept = pytensor.shared(np.zeros((N, N), "float32"))
    f = pytensor.function([X], X, updates={kept: X}, mode=MODES[mode])
    buffer = buffer_of(1)
    result = f(buffer)
    buffer[:] = 5
    assert np.asarray(result).max() == 1
    assert kept.get_value().max() == 1


@pytest.mark.parametrize("mode", MODES)
def test_a_shared_variable_made_with_borrow(mode):
    buffer = buffer_of(1)
    x = pytensor.shared(buffer, borrow=True, shape=(N, N))
    count = pytensor.shared(np.float32(0))
    f = pytensor.function([], slow_mean(x), updates={count: count + 1}, mode=MODES[mode])
    float(f())
    result = f()
    buffer[:] = 5
    assert float(result) == 1
    assert float(f()) == 5  # the next call reads what is there now


def test_a_borrowed_variable_that_is_updated():
    buffer = buffer_of(1)
    x = pytensor.shared(buffer, borrow=True, shape=(N, N))
    f = pytensor.function([], [], updates={x: x + slow_mean(x)}, mode=jax_mode(donate=True))
    f()
    buffer[:] = 5
    assert x.get_value().max() == 2


def batches(buffer):
    for number in (1, 2, 3):
        buffer[:] = number
        yield [buffer]


def test_prefetch_of_a_loader_that_fills_one_buffer():
    assert [float(x.mean()) for (x,) in prefetch(batches(buffer_of(0)))] == [1, 2, 3]


@pytest.mark.parametrize("offset", [0, 16])
def test_shards_of_a_buffer(offset):
    mesh = data_parallel_mesh()
    buffer = buffer_of(0)[:, offset:]
    shards = [shard_batch(batch, mesh)[0] for batch in batches(buffer)]
    assert [float(x.mean()) for x in shards] == [1, 2, 3]


def test_a_replicated_variable():
    buffer = buffer_of(1)
    x = pytensor.shared(buffer, borrow=True)
    replicate([x], data_parallel_mesh())
    buffer[:] = 5
    assert x.get_value().max() == 1


def test_arrays_that_xla_copies_by_itself_are_left_as_they_are():
    array = aligned(np.zeros(33, "float32"))
    assert own(array) is not array
    assert own(array[1:]).ctypes.data == array[1:].ctypes.data
    number = np.array(3.0)
    kept = own(number)
    number[...] = 4
    assert kept == 3
    assert own(3.0) == 3.0
    on_device = jax.numpy.ones(3)
    assert own(on_device) is on_device
