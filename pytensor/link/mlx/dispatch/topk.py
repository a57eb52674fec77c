import mlx.core as mx

from pytensor.link.mlx.dispatch.basic import mlx_funcify
from pytensor.tensor.topk import TopK, TopKGrad


@mlx_funcify.register(TopK)
def mlx_funcify_TopK(op, **kwargs):
    def topk(x):
        length = x.shape[op.axis]
        op.check(length)
        # A stable ascending sort of the flipped array, read backwards, puts the lower of two equal
        # entries first.
        first = [slice(None)] * x.ndim
        first[op.axis] = slice(None, None, -1)
        backwards = tuple(first)
        order = mx.argsort(x[backwards], axis=op.axis)[backwards]
        first[op.axis] = slice(op.k)
        indices = length - 1 - order[tuple(first)].astype(mx.int64)
        return mx.take_along_axis(x, indices, axis=op.axis), indices

    return topk


@mlx_funcify.register(TopKGrad)
def mlx_funcify_TopKGrad(op, **kwargs):
    def topk_grad(x, indices, cotangent):
        return mx.put_along_axis(mx.zeros_like(x), indices, cotangent.astype(x.dtype), axis=op.axis)

    return topk_grad
