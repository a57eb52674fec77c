import sys
from functools import reduce
from operator import and_

import numpy as np

from pytensor.graph.basic import Constant
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.write.term import concat, where
from pytensor.tensor.basic import AllocDiag, ExtractDiag, Eye
from pytensor.tensor.extra_ops import FillDiagonal, FillDiagonalOffset


def diagonal_mask(height, width, offset):
    """Return where column minus row is `offset`; all three are int64 scalars."""
    arange = height.builder.arange
    return arange(height).unsqueeze(1) + offset == arange(width)


@onnx_funcify.register(Eye)
def onnx_funcify_Eye(op, node, n, m, k):
    if all(isinstance(v, Constant) for v in node.inputs):
        shape = (int(v.data) for v in node.inputs)
        return n.builder.constant(np.eye(*shape, dtype=op.dtype))
    return diagonal_mask(n.cast("int64"), m.cast("int64"), k.cast("int64")).cast(op.dtype)


@onnx_funcify.register(ExtractDiag)
def onnx_funcify_ExtractDiag(op, node, x):
    ndim = x.ndim
    axes = [op.axis1 % ndim, op.axis2 % ndim]
    x = x.transpose(*(axis for axis in range(ndim) if axis not in axes), *axes)
    if op.offset:
        # The entries before the first row or column of the diagonal are cut off.
        x = x.slice(abs(op.offset), sys.maxsize, ndim - 2 if op.offset < 0 else ndim - 1)
    n = x.sizes(-2).reduce_min()
    column = x.builder.arange(n).unsqueeze(1)
    index = column.expand(concat([x.sizes(end=-2), column.sizes()]))
    return x.gather_elements(index, axis=ndim - 1).squeeze(-1)


@onnx_funcify.register(AllocDiag)
def onnx_funcify_AllocDiag(op, node, x):
    ndim, extra = x.ndim, abs(op.offset)
    n = x.size(ndim - 1) + extra
    mask = diagonal_mask(n, n, op.offset)
    if extra:
        x = x.node("Pad", [0] * (2 * ndim - 1) + [extra])
    # Each entry is spread over its row, or its column below the main diagonal.
    x = x.unsqueeze(ndim if op.offset >= 0 else ndim - 1)
    order = list(range(ndim - 1))
    order.insert(op.axis1, ndim - 1)
    order.insert(op.axis2, ndim)
    return where(mask, x, 0).transpose(*order)


@onnx_funcify.register(FillDiagonal)
def onnx_funcify_FillDiagonal(op, node, x, value):
    ndim, parts = x.ndim, []
    for axis in range(ndim - 1):
        part = diagonal_mask(x.size(axis), x.size(axis + 1), 0)
        if ndim > 2:
            part = part.unsqueeze(*(i for i in range(ndim) if i not in (axis, axis + 1)))
        parts.append(part)
    return where(reduce(and_, parts), value.cast(x.dtype), x)


@onnx_funcify.register(FillDiagonalOffset)
def onnx_funcify_FillDiagonalOffset(op, node, x, value, offset):
    mask = diagonal_mask(x.size(0), x.size(1), offset.cast("int64"))
    return where(mask, value.cast(x.dtype), x)
