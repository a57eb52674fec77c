from pytensor.link.onnx.write.batched import batch_ndim, expand_batch, register_batched
from pytensor.link.onnx.write.sizes import length
from pytensor.tensor.linalg.constructors import BlockDiagonal


@register_batched(BlockDiagonal)
def onnx_funcify_BlockDiagonal(op, node, builder, *matrices):
    dtype = node.outputs[0].type.dtype
    blocks = [
        builder.cast(expand_batch(builder, node, matrices, i), v.type.dtype, dtype)
        for i, v in enumerate(node.inputs)
    ]
    widths = [length(builder, block, -1) for block in blocks]
    rows = []
    for i, block in enumerate(blocks):
        parts = [
            block if i == j else zeros_beside(builder, block, width, dtype)
            for j, width in enumerate(widths)
        ]
        rows.append(builder.add("Concat", *parts, axis=batch_ndim(node) + 1))
    return builder.add("Concat", *rows, axis=batch_ndim(node))


def zeros_beside(builder, block, width, dtype):
    """Return zeros beside `block`, as many columns of them as `width` says."""
    shape = builder.add("Concat", builder.add("Shape", block, end=-1), width, axis=0)
    return builder.add("Expand", builder.constant(0, dtype), shape)
