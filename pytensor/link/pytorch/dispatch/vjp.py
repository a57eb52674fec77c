from functools import singledispatch

import torch

from pytensor.link.pytorch.dispatch.basic import pytorch_funcify, pytorch_funcify_OpFromGraph
from pytensor.tensor.pullback import SymbolicPullback


@pytorch_funcify.register(SymbolicPullback)
def pytorch_funcify_SymbolicPullback(op, **kwargs):
    return pytorch_pullback(op.op, op, **kwargs)


@singledispatch
def pytorch_pullback(op, pullback, **kwargs):
    """Return the function for `pullback`, that of `op`; by default its inner graph's."""
    return pytorch_funcify_OpFromGraph(pullback, **kwargs)


def of_node(op, *inputs):
    """Return a symbolic Op as its node has it.

    Before there is a node, it has no inner graph and so no hash, for which PyTorch's compiler asks.
    """
    return op(*(v.type() for v in inputs)).owner.op


def differentiated(op, pullback, **kwargs):
    """Return the function for `pullback` that PyTorch makes of the one for `op`, of one output."""
    inputs, _ = pullback.split(kwargs["node"].inputs)
    forward = pytorch_funcify(of_node(op, *inputs), **kwargs)

    def pull(*arguments):
        inputs, (cotangent,) = pullback.split(arguments)
        _, vjp = torch.func.vjp(forward, *inputs)
        gradients = pullback.select(vjp(cotangent))
        return gradients[0] if len(gradients) == 1 else tuple(gradients)

    return pull
