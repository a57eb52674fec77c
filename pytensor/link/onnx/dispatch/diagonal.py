import sys

import numpy as np

from pytensor.graph.basic import Constant
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import cast_inputs, where
from pytensor.link.onnx.write.sizes import count_to, size
from pytensor.tensor.basic import AllocDiag, ExtractDiag, Eye
from pytensor.tensor.extra_ops import FillDiagonal, FillDiagonalOffset


def diagonal_mask(builder, height, width, offset):
    """Return where column minus row is `offset`; all three are int64 scalars."""
    rows = builder.add("Unsqueeze", count_to(builder, height), builder.int64s([1]))
    on_diagonal = builder.add("Add", rows, offset)
    return builder.add("Equal", on_diagonal, count_to(builder, width))


@onnx_funcify.register(Eye)
def onnx_funcify_Eye(op, node, builder, *sizes):
    if all(isinstance(v, Constant) for v in node.inputs):
        n, m, k = (int(v.data) for v in node.inputs)
        return builder.constant(np.eye(n, m, k, dtype=op.dtype))
    n, m, k = cast_inputs(builder, node, sizes, "int64")
    return builder.cast(diagonal_mask(builder, n, m, k), "bool", op.dtype)


@onnx_funcify.register(ExtractDiag)
def onnx_funcify_ExtractDiag(op, node, builder, x):
    ndim = node.inputs[0].type.ndim
    axes = [op.axis1 % ndim, op.axis2 % ndim]
    perm = [axis for axis in range(ndim) if axis not in axes] + axes
    if perm != list(range(ndim)):
        x = builder.add("Transpose", x, perm=perm)
    if op.offset:
        # The entries before the first row or column of the diagonal are cut off.
        along = ndim - 2 if op.offset < 0 else ndim - 1
        bounds = (builder.int64s([i]) for i in (abs(op.offset), sys.maxsize, along))
        x = builder.add("Slice", x, *bounds)
    n = builder.add("ReduceMin", builder.add("Shape", x, start=-2), keepdims=0)
    column = builder.add("Unsqueeze", count_to(builder, n), builder.int64s([1]))
    batch = builder.add("Shape", x, end=-2)
    shape = builder.add("Concat", batch, builder.add("Shape", column), axis=0)
    index = builder.add("Expand", column, shape)
    diagonal = builder.add("GatherElements", x, index, axis=ndim - 1)
    return builder.add("Squeeze", diagonal, builder.int64s([-1]))


@onnx_funcify.register(AllocDiag)
def onnx_funcify_AllocDiag(op, node, builder, x):
    (variable,) = node.inputs
    ndim, dtype = variable.type.ndim, variable.type.dtype
    extra = abs(op.offset)
    n = builder.add("Add", size(builder, x, ndim - 1), builder.constant(extra, "int64"))
    mask = diagonal_mask(builder, n, n, builder.constant(op.offset, "int64"))
    if extra:
        pads = [0] * (2 * ndim)
        pads[-1] = extra
        x = builder.add_as(dtype, "Pad", x, rest=(builder.int64s(pads),))
    # Each entry is spread over its row, or its column below the main diagonal.
    x = builder.add("Unsqueeze", x, builder.int64s([ndim if op.offset >= 0 else ndim - 1]))
    result = where(builder, dtype, mask, x, builder.constant(0, dtype))
    order = list(range(ndim - 1))
    order.insert(op.axis1, ndim - 1)
    order.insert(op.axis2, ndim)
    if order == list(range(ndim + 1)):
        return result
    return builder.add("Transpose", result, perm=order)


@onnx_funcify.register(FillDiagonal)
def onnx_funcify_FillDiagonal(op, node, builder, x, value):
    variable, value_variable = node.inputs
    dtype, ndim = variable.type.dtype, variable.type.ndim
    value = builder.cast(value, value_variable.type.dtype, dtype)
    zero = builder.constant(0, "int64")
    mask = None
    for axis in range(ndim - 1):
        part = diagonal_mask(builder, size(builder, x, axis), size(builder, x, axis + 1), zero)
        if ndim > 2:
            others = [i for i in range(ndim) if i not in (axis, axis + 1)]
            part = builder.add("Unsqueeze", part, builder.int64s(others))
        mask = part if mask is None else builder.add("And", mask, part)
    return where(builder, dtype, mask, value, x)


@onnx_funcify.register(FillDiagonalOffset)
def onnx_funcify_FillDiagonalOffset(op, node, builder, x, value, offset):
    variable, value_variable, offset_variable = node.inputs
    dtype = variable.type.dtype
    value = builder.cast(value, value_variable.type.dtype, dtype)
    offset = builder.cast(offset, offset_variable.type.dtype, "int64")
    mask = diagonal_mask(builder, size(builder, x, 0), size(builder, x, 1), offset)
    return where(builder, dtype, mask, value, x)
