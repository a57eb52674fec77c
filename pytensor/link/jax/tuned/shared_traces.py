"""Trace nodes that are alike once: a network repeats its layers.

JAX keeps what it has traced of a jitted function for arguments of the same shapes and dtypes.  So
nodes of equal Ops share one such function.  It is inlined: XLA gets the program that it would have
got without.
"""

from functools import wraps

import jax

from pytensor.graph.basic import Constant
from pytensor.tensor.batchnorm import (
    BatchNormalization,
    BatchNormalizationTrain,
    BatchNormalizationTrainGrad,
)
from pytensor.tensor.conv.ops import BaseConv
from pytensor.tensor.pool import Pool
from pytensor.tensor.rewriting.channels_last import ChannelsLast
from pytensor.tensor.rewriting.updates import Update
from pytensor.tensor.vjp import SymbolicPullback

__all__ = ["in_shared_traces"]

# Many operations each, all of arrays, whose conversion depends on the Op and the types alone.
SHARED = (
    BaseConv,
    BatchNormalization,
    BatchNormalizationTrain,
    BatchNormalizationTrainGrad,
    ChannelsLast,
    Pool,
    SymbolicPullback,
    Update,
)


def in_shared_traces(convert):
    """Wrap a node conversion, such that nodes of equal Ops and types share a traced function.

    Parameters
    ----------
    convert : callable of (op, node, **kwargs) -> callable
        `jax_funcify`, or what stands in for it.
    """
    shared = {}

    @wraps(convert)
    def converted(op, node=None, **kwargs):
        if not isinstance(op, SHARED) or any(isinstance(v, Constant) for v in node.inputs):
            return convert(op, node=node, **kwargs)
        key = op, *(v.type for v in (*node.inputs, *node.outputs))
        if key not in shared:
            shared[key] = jax.jit(convert(op, node=node, **kwargs), inline=True)
        return shared[key]

    return converted
