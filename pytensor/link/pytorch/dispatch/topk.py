import torch

from pytensor.link.pytorch.dispatch.basic import pytorch_funcify
from pytensor.tensor.topk import TopK, TopKGrad


@pytorch_funcify.register(TopK)
def pytorch_funcify_TopK(op, **kwargs):
    def topk(x):
        if op.k > x.shape[op.axis]:
            raise ValueError(
                f"topk: k={op.k} is larger than the length {x.shape[op.axis]} of axis {op.axis}"
            )
        # torch.topk doesn't say which of two equal entries comes first
        values, indices = torch.sort(x, dim=op.axis, descending=True, stable=True)
        return values.narrow(op.axis, 0, op.k), indices.narrow(op.axis, 0, op.k)

    return topk


@pytorch_funcify.register(TopKGrad)
def pytorch_funcify_TopKGrad(op, **kwargs):
    def topk_grad(x, indices, cotangent):
        return torch.zeros_like(x).scatter(op.axis, indices, cotangent.to(x.dtype))

    return topk_grad
