import jax.numpy as jnp

from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.tensor.broadcasting import BroadcastAs, SumAs


@jax_funcify.register(BroadcastAs)
def jax_funcify_BroadcastAs(op, **kwargs):
    def broadcast_as(x, y):
        shape = list(x.shape)
        for axis in op.axes:
            if shape[axis] == 1:
                shape[axis] = y.shape[axis]
        return jnp.broadcast_to(x, shape)

    return broadcast_as


@jax_funcify.register(SumAs)
def jax_funcify_SumAs(op, **kwargs):
    def sum_as(x, y):
        axes = tuple(axis for axis in op.axes if y.shape[axis] == 1)
        return jnp.sum(x, axes, keepdims=True) if axes else x

    return sum_as
