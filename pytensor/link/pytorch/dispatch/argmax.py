from pytensor.link.pytorch.dispatch.basic import pytorch_funcify
from pytensor.tensor.math import Argmax


@pytorch_funcify.register(Argmax)
def pytorch_funcify_Argmax(op, node, **kwargs):
    # PyTensor's own dispatch for PyTorch has none
    ndim = node.inputs[0].type.ndim
    axes = tuple(range(ndim)) if op.axis is None else op.axis
    kept = [axis for axis in range(ndim) if axis not in axes]

    def argmax(x):
        x = x.permute(*kept, *axes)
        return x.reshape(*x.shape[: len(kept)], -1).argmax(dim=-1)

    return argmax
