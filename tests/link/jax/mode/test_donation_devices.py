"""Donation on two virtual devices, in a process that has them."""

import pytest

pytest.importorskip("jax")

from tests.link.jax.parallel.data_parallel import found_by

SCRIPT = """
import jax, numpy as np, pytensor, pytensor.tensor as pt
from pytensor.link.jax.parallel.devices import Devices
from pytensor.link.jax.parallel.sharding import is_replicated
from pytensor.link.jax import jax_mode

devices = Devices()
v, x = pytensor.shared(np.zeros(1000)), pt.matrix("x", shape=(4, None))
step = pytensor.function(
    [x], x.sum(), updates=[(v, v + x.mean())], mode=jax_mode(donate=True), trust_input=True
)
batch, = devices.shard([np.ones((4, 3))])
storage = v.container.storage

def places():
    return [s.data.unsafe_buffer_pointer() for s in storage[0].addressable_shards]

# A given array stays: on one device, that is the user's own memory.
mine = storage[0] = jax.numpy.full(1000, 4.0)
devices.replicate([v])
step(batch)
assert not mine.is_deleted() and mine[0] == 4
shards = storage[0] = jax.device_put(np.full(1000, 4.0), storage[0].sharding)
step(batch)
assert not shards.is_deleted() and shards[0] == 4
# The state that the step made is used again on each device.
before, piece = places(), storage[0].addressable_data(1)
step(batch)
assert places() == before and piece.is_deleted()
# An array of the host goes where the last one was, without another program.
programs = step.vm.jit_fn._cache_size()
v.set_value(np.full(1000, 7.0))
step(batch)
assert is_replicated(storage[0], devices.mesh)
step(batch)
assert step.vm.jit_fn._cache_size() == programs
print(v.get_value()[::999].tolist())
"""


@pytest.mark.slow
def test_donation_on_two_devices():
    assert found_by("-c", SCRIPT, devices=2) == [9.0, 9.0]
