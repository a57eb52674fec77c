from collections import defaultdict

import jax
import jax.numpy as jnp

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.target import AXIS, sharing_devices
from pytensor.tensor.collectives import AllReduce


def sum_over_devices(arrays):
    """Sum arrays over the devices, by one message for each dtype; see `all_reduce`."""
    by_dtype = defaultdict(list)
    for i, array in enumerate(arrays):
        by_dtype[array.dtype].append(i)
    results = list(arrays)
    for places in by_dtype.values():
        sizes = [arrays[i].size for i in places]
        ends = [sum(sizes[: k + 1]) for k in range(len(sizes))]
        flat = jnp.concatenate([arrays[i].ravel() for i in places])
        parts = jnp.split(jax.lax.psum(flat, AXIS), ends[:-1])
        for i, part in zip(places, parts, strict=True):
            results[i] = part.reshape(arrays[i].shape)
    return results


@jax_funcify.register(AllReduce)
def jax_funcify_AllReduce(op, **kwargs):
    def all_reduce(*arrays):
        devices = sharing_devices()
        if devices > 1:
            sums = sum_over_devices([jnp.asarray(v) for v in arrays])
            arrays = tuple(
                v / devices if reduction == "mean" else v
                for v, reduction in zip(sums, op.reductions, strict=True)
            )
        return arrays if len(arrays) > 1 else arrays[0]

    return all_reduce
