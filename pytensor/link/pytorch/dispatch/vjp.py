import torch

from pytensor.link.pytorch.dispatch.basic import pytorch_funcify
from pytensor.tensor.pullback import SymbolicPullback


@pytorch_funcify.register(SymbolicPullback)
def pytorch_funcify_SymbolicPullback(op, **kwargs):
    forward = pytorch_funcify(op.op, **kwargs)

    def connected(*inputs):
        outputs = forward(*inputs)
        outputs = outputs if isinstance(outputs, tuple | list) else [outputs]
        return tuple(outputs[i] for i in op.connected)

    def pullback(*arguments):
        inputs, cotangents = op.split(arguments)
        _, vjp = torch.func.vjp(connected, *inputs)
        gradients = tuple(op.select(vjp(tuple(cotangents))))
        return gradients[0] if len(gradients) == 1 else gradients

    return pullback
