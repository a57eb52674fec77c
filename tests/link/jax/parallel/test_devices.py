"""How many devices a run asks for; what several of them compute is tested in `test_sharding`."""

import jax
import numpy as np
import pytest

from pytensor.link.jax.parallel.devices import Devices, ParallelError
from tests.link.jax.process import in_a_process


def test_one_device_leaves_everything_as_it_is():
    devices = Devices(1)
    arrays = [np.zeros((3, 2)), np.zeros(3)]
    assert all(a is b for a, b in zip(devices.shard(arrays), arrays, strict=True))
    devices.replicate([object()])  # isn't even looked at
    assert (devices.count, devices.mesh) == (1, None)
    devices.check_batch_size(7)


@pytest.mark.parametrize("count", [0, 1000])
def test_counts_that_are_not_there(count):
    message = f"^{count} devices asked for; it can be 1 to {jax.device_count()} "
    with pytest.raises(ParallelError, match=message):
        Devices(count)


@pytest.mark.slow
def test_a_platform_that_is_not_there():
    code = "from pytensor.link.jax.parallel.devices import Devices; Devices()"
    done = in_a_process(code, check=False, JAX_PLATFORMS="tpu")
    assert "ParallelError: JAX finds no device for JAX_PLATFORMS=tpu: unset" in done.stderr


def test_batch_size():
    devices = Devices(1)
    devices.count = 8
    with pytest.raises(ParallelError, match=r"batch of 12 .* multiple of 8"):
        devices.check_batch_size(12)
