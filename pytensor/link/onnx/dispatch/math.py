import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.kernels import work_dtype
from pytensor.link.onnx.write.batched import onnx_batched
from pytensor.tensor.blas import BatchedDot, Dot22
from pytensor.tensor.math import Dot


@onnx_batched.register(Dot)
@onnx_funcify.register(Dot)
@onnx_funcify.register(Dot22)
@onnx_funcify.register(BatchedDot)
def onnx_funcify_Dot(op, node, x, y):
    dtype, shape = node.outputs[0].type.dtype, node.outputs[0].type.shape
    if None not in shape and 0 in (*shape, node.inputs[0].type.shape[-1]):
        # onnxruntime forgets the sizes of a batch, and believes its own inference of them.
        # thoughts/upstream/onnxruntime-empty-tensors.md
        return x.builder.constant(np.zeros(shape, dtype))
    work = sum_dtype(dtype)
    x, y = x.cast(dtype).cast(work), y.cast(dtype).cast(work)
    product = x @ y
    if x.builder.exact and is_left_broadcast(node):
        product = product.expand(product_sizes(node, x, y))
    return product.cast(dtype)


def is_left_broadcast(node):
    """Return whether the first of two batches is broadcast: an empty product lacks its sizes."""
    left, right = (variable.type.shape[:-2] for variable in node.inputs)
    return len(left) == len(right) and any(a == 1 != b for a, b in zip(left, right, strict=True))


def product_sizes(node, x, y):
    sources = [y if size == 1 else x for size in node.inputs[0].type.shape[:-2]]
    lengths = [source.length(axis) for axis, source in enumerate([*sources, x])]
    return [*lengths, y.length(-1)]


def sum_dtype(dtype):
    """Return the dtype in which to sum products of `dtype`.

    Integers wrap around, so that the lowest bits don't depend on the width or the sign of the sum.
    """
    # onnxruntime's product of unsigned matrices fails where there is nothing to sum up.
    # thoughts/upstream/onnxruntime-empty-tensors.md
    return work_dtype("MatMul", {"uint32": "int32", "uint64": "int64"}.get(dtype, dtype))
