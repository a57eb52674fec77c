"""Diagonals, blocks and products of matrices."""

from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.dispatch.batched import batch_ndim, expand_batch, register_batched
from pytensor.tensor.basic import ExtractDiag
from pytensor.tensor.linalg.constructors import BlockDiagonal


@onnx_funcify.register(ExtractDiag)
def onnx_funcify_ExtractDiag(op, node, builder, x):
    ndim = node.inputs[0].type.ndim
    axes = [op.axis1 % ndim, op.axis2 % ndim]
    perm = [axis for axis in range(ndim) if axis not in axes] + axes
    if perm != list(range(ndim)):
        x = builder.add("Transpose", x, perm=perm)
    axis = 0 if op.offset < 0 else 1
    if op.offset:
        start, end, along = abs(op.offset), 2**63 - 1, ndim - 2 + axis
        x = builder.add("Slice", x, *(builder.int64s([i]) for i in (start, end, along)))
    zero, one = builder.constant(0, "int64"), builder.constant(1, "int64")
    length = builder.add("ReduceMin", builder.add("Shape", x, start=-2), keepdims=0)
    column = builder.add("Unsqueeze", builder.add("Range", zero, length, one), builder.int64s([1]))
    batch = builder.add("Shape", x, end=-2)
    shape = builder.add("Concat", batch, builder.add("Shape", column), axis=0)
    index = builder.add("Expand", column, shape)
    return builder.add(
        "Squeeze", builder.add("GatherElements", x, index, axis=ndim - 1), builder.int64s([-1])
    )


@register_batched(BlockDiagonal)
def onnx_funcify_BlockDiagonal(op, node, builder, *matrices):
    dtype = node.outputs[0].type.dtype
    blocks = [
        builder.cast(expand_batch(builder, node, matrices, i), v.type.dtype, dtype)
        for i, v in enumerate(node.inputs)
    ]
    widths = [builder.add("Shape", block, start=-1) for block in blocks]
    rows = []
    for i, block in enumerate(blocks):
        parts = [
            block if i == j else _zeros(builder, block, width, dtype)
            for j, width in enumerate(widths)
        ]
        rows.append(builder.add("Concat", *parts, axis=batch_ndim(node) + 1))
    return builder.add("Concat", *rows, axis=batch_ndim(node))


def _zeros(builder, block, width, dtype):
    """Zeros beside `block`, as many columns of them as `width` says."""
    shape = builder.add("Concat", builder.add("Shape", block, end=-1), width, axis=0)
    return builder.add("Expand", builder.constant(0, dtype), shape)
