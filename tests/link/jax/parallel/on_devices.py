"""Check what several devices share and refuse; `test_sharding` runs it where there are some."""

import json
import sys

import jax
import numpy as np
import pytest
from jax.sharding import Mesh

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import jax_mode
from pytensor.link.jax.parallel.devices import Devices
from pytensor.link.jax.parallel.sharding import is_replicated
from pytensor.tensor.collectives import all_reduce
from tests.link.jax.parallel.data_parallel import ROWS, batches, collectives

VALUES = np.arange(24.0).reshape(8, 3)


def check_replication(devices):
    """Check that what is replicated already stays, and what can't be is refused."""
    large, other = (pytensor.shared(np.zeros((8, 3)), borrow=True) for _ in range(2))
    large.container.storage[0] = jax.device_put(np.ones((8, 3)))
    devices.replicate([large])
    placed = large.get_value(borrow=True)
    devices.replicate([large, other])
    assert placed is large.get_value(borrow=True)
    assert np.all(placed == 1)
    assert all(is_replicated(v.get_value(borrow=True), devices.mesh) for v in (large, other))
    assert not is_replicated(np.zeros(2), devices.mesh)
    rng = pytensor.shared(np.random.default_rng(3), name="generator")
    for call, values, message in (
        (devices.shard, [VALUES, VALUES[:6]], "array 1 has 6 rows, which 8 devices can't share"),
        (devices.shard, [np.float64(1)], "array 0 is a scalar"),
        (devices.replicate, [rng], "generator has a Generator as its value"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            call(values)


def check_rows_without_a_mesh(devices):
    """Check that each device computes its own rows: nothing passes between them."""
    images, filters = pt.tensor("images", shape=(ROWS, 3, 6, 10)), np.linspace(-1, 1, 108)
    out = pt.silu(pt.conv2d(images, filters.reshape(4, 3, 3, 3), border_mode=1)).mean((2, 3))
    infer = pytensor.function([images], out, mode=jax_mode(), trust_input=True)
    rows, _ = next(batches())
    (shards,) = devices.shard([rows])
    several = infer(shards)
    np.testing.assert_allclose(several, infer(rows), rtol=1e-12)
    assert len(several.addressable_shards) == devices.count
    assert not collectives(infer.vm.jit_fn.lower(shards).compile().as_text())


def check_random_numbers(devices):
    """Check that functions of one device and of several continue one stream."""
    rng = pytensor.shared(np.random.default_rng(3), name="generator")
    rows = pt.matrix("rows", shape=VALUES.shape)
    moved, noise = pt.random.normal(size=VALUES.shape, rng=rng, return_next_rng=True)
    one, several = (
        pytensor.function([rows], rows + noise, updates={rng: moved}, mode=mode, trust_input=True)
        for mode in (jax_mode(), jax_mode(donate=True))
    )
    placed, shards = jax.device_put(VALUES, jax.devices()[0]), devices.shard([VALUES])
    draws = [f(x) for f, x in ((one, placed), (several, *shards)) * 2]
    rng.set_value(np.random.default_rng(3))
    np.testing.assert_allclose(draws, [one(VALUES) for _ in draws], rtol=1e-12)


def check_refused(mesh):
    """Check that graphs are refused on whose results devices would not agree."""
    x, table = pt.tensor4("x", shape=(4, 2, 3, 3)), pytensor.shared(np.zeros(2), name="table")
    draws = pytensor.shared(np.random.default_rng(3), name="generator")
    ones, zeros = np.ones(2), np.zeros(2)
    out, mean, _ = pt.batch_normalization_train(x, ones, zeros, axes="spatial")
    half = pt.batch_normalization_train(
        x.astype("float16"), ones.astype("float16"), zeros.astype("float16"), axes="spatial"
    )[0]
    of_mean = pytensor.grad(pt.sqr(mean).sum() + out.sum(), x).sum()
    _, noise = pt.random.normal(size=(3,), rng=draws, return_next_rng=True)
    own, common = jax_mode(mesh=mesh), jax_mode(mesh=mesh, sync_batchnorm=True)
    for outputs, updates, mode, error, message in (
        ((2 * x.sum()).copy(name="total"), {}, own, ValueError,
         r"^output 0 \(total\) depends on one device's rows; reduce it"),
        ([], {table: table + x.sum((0, 2, 3))}, own, ValueError,
         "^the update of table depends on one device's rows"),
        (all_reduce([x.sum() + noise.sum()]), {}, own, ValueError,
         "^generator: random numbers would be the same on all devices"),
        (all_reduce([of_mean]), {}, common, NotImplementedError,
         "^sync_batchnorm: .* mean or variance is read"),
        (all_reduce([half.sum()]), {}, common, NotImplementedError,
         "^sync_batchnorm: .* is of float16"),
    ):  # fmt: skip
        with pytest.raises(error, match=message):
            pytensor.function([x], outputs, updates=updates, mode=mode)
    with pytest.raises(ValueError, match=r"the mesh has the axes \('rows',\); it must have one, "):
        jax_mode(mesh=Mesh(np.array(jax.devices()), ("rows",)))


def main():
    devices = Devices()
    check_replication(devices)
    check_rows_without_a_mesh(devices)
    check_random_numbers(devices)
    check_refused(devices.mesh)
    json.dump(devices.count, sys.stdout)


if __name__ == "__main__":
    main()
