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
def onnx_funcify_Dot(op, node, builder, x, y):
    dtype, shape = node.outputs[0].type.dtype, node.outputs[0].type.shape
    if None not in shape and 0 in (*shape, node.inputs[0].type.shape[-1]):
        # onnxruntime forgets the sizes of a batch, and believes its own inference of them.
        # thoughts/upstream/onnxruntime-empty-tensors.md
        return builder.constant(np.zeros(shape, dtype))
    work = sum_dtype(dtype)
    x, y = (
        cast_through(builder, name, v.type.dtype, dtype, work)
        for name, v in zip((x, y), node.inputs, strict=True)
    )
    product = builder.add("MatMul", x, y)
    if builder.exact and is_left_broadcast(node):
        product = builder.add("Expand", product, product_shape(builder, node, x, y))
    return builder.cast(product, work, dtype)


def is_left_broadcast(node):
    """Return whether the first of two batches is broadcast: an empty product lacks its sizes."""
    left, right = (variable.type.shape[:-2] for variable in node.inputs)
    return len(left) == len(right) and any(a == 1 != b for a, b in zip(left, right, strict=True))


def product_shape(builder, node, x, y):
    sources = [y if size == 1 else x for size in node.inputs[0].type.shape[:-2]]
    sizes = [
        builder.add("Shape", source, start=axis, end=axis + 1)
        for axis, source in enumerate([*sources, x])
    ]
    return builder.add("Concat", *sizes, builder.add("Shape", y, start=-1), axis=0)


def sum_dtype(dtype):
    """Return the dtype in which to sum products of `dtype`.

    Integers wrap around, so that the lowest bits don't depend on the width or the sign of the sum.
    """
    # onnxruntime's product of unsigned matrices fails where there is nothing to sum up.
    # thoughts/upstream/onnxruntime-empty-tensors.md
    return work_dtype("MatMul", {"uint32": "int32", "uint64": "int64"}.get(dtype, dtype))


def cast_through(builder, name, dtype, through, to):
    """Cast to the dtype of a result, and then to the one that it is computed in."""
    return builder.cast(builder.cast(name, dtype, through), through, to)
