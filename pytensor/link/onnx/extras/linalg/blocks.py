from pytensor.link.onnx.write.batched import batch_ndim, expand_batch, register_batched
from pytensor.link.onnx.write.term import concat
from pytensor.tensor.linalg.constructors import BlockDiagonal


@register_batched(BlockDiagonal)
def onnx_funcify_BlockDiagonal(op, node, *matrices):
    dtype = node.outputs[0].type.dtype
    blocks = [expand_batch(node, matrices, i).cast(dtype) for i in range(len(matrices))]
    widths = [block.length(-1) for block in blocks]
    rows = []
    for i, block in enumerate(blocks):
        parts = [
            block if i == j else block.lift(0).expand([block.sizes(end=-1), width])
            for j, width in enumerate(widths)
        ]
        rows.append(concat(parts, axis=batch_ndim(node) + 1))
    return concat(rows, axis=batch_ndim(node))
