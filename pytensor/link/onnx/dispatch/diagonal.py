import numpy as np

from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.dispatch.ranges import count_to, diagonal_mask, size
from pytensor.link.onnx.dispatch.scalar import where
from pytensor.tensor.basic import AllocDiag, Choose, ExtractDiag, PermuteRowElements
from pytensor.tensor.extra_ops import FillDiagonal, FillDiagonalOffset


@onnx_funcify.register(ExtractDiag)
def onnx_funcify_ExtractDiag(op, node, builder, x):
    (variable,) = node.inputs
    ndim, axes = variable.type.ndim, (op.axis1, op.axis2)
    n = node.outputs[0].type.shape[-1]
    row, column = max(-op.offset, 0), max(op.offset, 0)
    if n is not None:
        places = builder.constant(
            np.stack([np.arange(n) + row, np.arange(n) + column], axis=1), "int64"
        )
    else:
        places = run_time_places(builder, x, axes, row, column)
    if axes != (0, 1):
        others = [axis for axis in range(ndim) if axis not in axes]
        x = builder.add("Transpose", x, perm=[*axes, *others])
    diagonal = builder.add("GatherND", x, places)
    if ndim == 2:
        return diagonal
    return builder.add("Transpose", diagonal, perm=[*range(1, ndim - 1), 0])


def run_time_places(builder, x, axes, row, column):
    """Rows and columns of a diagonal that starts at `row` and `column`."""
    lengths = [
        builder.add("Sub", size(builder, x, axis), builder.constant(start, "int64"))
        for axis, start in zip(axes, (row, column), strict=True)
    ]
    n = builder.add("Max", builder.add("Min", *lengths), builder.constant(0, "int64"))
    steps = builder.add("Unsqueeze", count_to(builder, n), builder.int64s([1]))
    return builder.add("Add", steps, builder.int64s([row, column]))


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


@onnx_funcify.register(PermuteRowElements)
def onnx_funcify_PermuteRowElements(op, node, builder, x, order):
    order = builder.cast(order, node.inputs[1].type.dtype, "int64")
    x = builder.add("Expand", x, builder.add("Shape", order))
    order = builder.add("Expand", order, builder.add("Shape", x))
    axis = node.outputs[0].type.ndim - 1
    if op.inverse:
        return builder.add("ScatterElements", x, order, x, axis=axis)
    return builder.add("GatherElements", x, order, axis=axis)


@onnx_funcify.register(Choose)
def onnx_funcify_Choose(op, node, builder, index, choices):
    variable, choices_variable = node.inputs
    index = builder.cast(index, variable.type.dtype, "int64")
    n = size(builder, choices, 0)
    if op.mode == "wrap":
        index = builder.add("Mod", index, n)
    elif op.mode == "clip":
        last = builder.add("Sub", n, builder.constant(1, "int64"))
        index = builder.add("Max", builder.add("Min", index, last), builder.constant(0, "int64"))
    missing = choices_variable.type.ndim - 1 - variable.type.ndim
    index = builder.add("Unsqueeze", index, builder.int64s(range(max(missing, 0) + 1)))
    if missing < 0:
        choices = builder.add("Unsqueeze", choices, builder.int64s(range(1, 1 - missing)))
    # Only the index broadcasts along the choices, which are as many as there are.
    entries = builder.add("Shape", choices, start=1, end=node.outputs[0].type.ndim + 1)
    index = builder.add("Expand", index, entries)
    inner = builder.add("Shape", index, start=1, end=node.outputs[0].type.ndim + 1)
    choices = builder.add(
        "Expand", choices, builder.add("Concat", builder.int64s([1]), inner, axis=0)
    )
    return builder.add(
        "Squeeze", builder.add("GatherElements", choices, index, axis=0), builder.int64s([0])
    )


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
