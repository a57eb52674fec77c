import torch

from pytensor.link.pytorch.dispatch.basic import pytorch_funcify
from pytensor.tensor.vjp import SymbolicPullback


@pytorch_funcify.register(SymbolicPullback)
def pytorch_funcify_SymbolicPullback(op, **kwargs):
    forward = pytorch_funcify(op.op, **kwargs)
    n = op.n_inputs

    def pullback(*arguments):
        inputs, cotangents = arguments[:n], arguments[n:]
        _, vjp = torch.func.vjp(forward, *inputs)
        gradients = vjp(cotangents[0] if len(cotangents) == 1 else cotangents)
        return gradients[0] if n == 1 else gradients

    return pullback
