"""Donation on two virtual devices: what `SCRIPT` printed in a process that has them."""

import pytest

pytest.importorskip("jax")

from tests.link.jax.parallel.data_parallel import found_by

pytestmark = pytest.mark.slow


def test_state_is_used_again_on_each(found):
    assert found["places"] == "same"
    assert found["deleted"]


def test_given_arrays_stay(found):
    assert found["mine"] == [False, 4.0]
    assert found["shard"] == [False, 4.0]


def test_host_array_goes_where_the_last_was(found):
    assert found["replicated"]
    assert found["programs_later"] == found["programs"]


def test_values(found):
    assert found["value"] == [9.0, 9.0]


SCRIPT = """
import json, jax, numpy as np, pytensor, pytensor.tensor as pt
from pytensor.link.jax.parallel.devices import Devices
from pytensor.link.jax.parallel.sharding import is_replicated
from pytensor.link.jax import jax_mode

devices = Devices()
v, x = pytensor.shared(np.zeros(1000)), pt.matrix("x", shape=(4, None))
step = pytensor.function(
    [x], x.sum(), updates=[(v, v + x.mean())], mode=jax_mode(donate=True), trust_input=True
)
batch, = devices.shard([np.ones((4, 3))])
found = {}

def held():
    return v.container.storage[0]

def places():
    return [s.data.unsafe_buffer_pointer() for s in held().addressable_shards]

def give(value):
    v.container.storage[0] = value

mine = jax.numpy.full(1000, 4.0)
give(mine)
devices.replicate([v])  # on one device, that is the user's own memory
step(batch)
found["mine"] = [mine.is_deleted(), float(mine[0])]
shards = jax.device_put(np.full(1000, 4.0), held().sharding)
give(shards)
step(batch)
found["shard"] = [shards.is_deleted(), float(shards[0])]
before = places()
piece = held().addressable_data(1)
step(batch)
found["places"] = "same" if places() == before else "others"
found["deleted"] = piece.is_deleted()
count = step.vm.jit_fn._cache_size
found["programs"] = count()
v.set_value(np.full(1000, 7.0))
step(batch)
found["replicated"] = is_replicated(held(), devices.mesh)
step(batch)
found["programs_later"] = count()
found["value"] = [float(held()[0]), float(held()[-1])]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found():
    return found_by("-c", SCRIPT, devices=2)
