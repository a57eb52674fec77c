import numpy as np

from pytensor.graph.basic import Constant
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.checks import require
from pytensor.link.onnx.dispatch.scalar.basic import cast_inputs
from pytensor.link.onnx.dispatch.tensor_basic import bring_inside
from pytensor.link.onnx.write.fold import accumulate
from pytensor.link.onnx.write.order import FLOATS
from pytensor.link.onnx.write.sizes import length
from pytensor.tensor.extra_ops import (
    Bartlett,
    CumOp,
    RavelMultiIndex,
    Repeat,
    SearchsortedOp,
    UnravelIndex,
)


@onnx_funcify.register(CumOp)
def onnx_funcify_CumOp(op, node, builder, x):
    (variable,) = node.inputs
    dtype = variable.type.dtype
    if op.mode == "add":
        # Sums of unsigned and of signed integers wrap around alike.
        work = "int64" if dtype in ("bool", "uint64") else dtype
        x = builder.cast(x, dtype, work)
        x = builder.add_as(work, "CumSum", x, rest=(builder.constant(op.axis, "int64"),))
    else:
        work = "uint8" if dtype == "bool" else dtype
        x = builder.cast(x, dtype, work)
        x = accumulate(builder, x, work, op.axis, variable.type.ndim, 1, "Mul")
    return builder.cast(x, work, dtype)


@onnx_funcify.register(SearchsortedOp)
def onnx_funcify_SearchsortedOp(op, node, builder, x, values, sorter=None):
    x_dtype, dtype = (v.type.dtype for v in node.inputs[:2])
    common = np.promote_types(x_dtype, dtype).name
    if sorter is not None:
        sorter = builder.cast(sorter, node.inputs[2].type.dtype, "int64")
        same = builder.add("Equal", length(builder, sorter, 0), length(builder, x, 0))
        require(builder, same, ValueError, "sorter.size must equal a.size")
        positive = builder.add("GreaterOrEqual", sorter, builder.constant(0, "int64"))
        require(builder, positive, ValueError, "Sorter index out of range.")
        x = builder.add("Gather", x, sorter)
    x = builder.cast(x, x_dtype, common)
    values = builder.cast(values, dtype, common)
    # onnxruntime takes no negative axis where there are no elements.
    # thoughts/upstream/onnxruntime-empty-tensors.md
    last = builder.int64s([node.inputs[1].type.ndim])
    values = builder.add("Unsqueeze", values, last)
    if op.side == "left":
        before = less(builder, common, x, values)
    else:
        before = builder.add("Not", less(builder, common, values, x))
    count = builder.cast(before, "bool", "int64")
    return builder.add("ReduceSum", count, last, keepdims=0)


def less(builder, dtype, x, y):
    """Return whether `x` comes before `y` when sorted, which puts NaN last."""
    if dtype not in FLOATS:
        return builder.add_as(dtype, "Less", x, y, to="bool")
    numbers = builder.add("Less", x, y)
    missing = builder.add(
        "And", builder.add("Not", builder.add("IsNaN", x)), builder.add("IsNaN", y)
    )
    return builder.add("Or", numbers, missing)


@onnx_funcify.register(Repeat)
def onnx_funcify_Repeat(op, node, builder, x, repeats):
    variable, repeats_variable = node.inputs
    static = variable.type.shape[op.axis]
    if static is not None and isinstance(repeats_variable, Constant):
        indices = builder.int64s(np.repeat(np.arange(static), repeats_variable.data))
        return builder.add("Gather", x, indices, axis=op.axis)
    repeats = builder.cast(repeats, repeats_variable.type.dtype, "int64")
    repeats = builder.add("Expand", repeats, length(builder, x, op.axis))
    # Each entry ends where the running sum of the repeats says; counting the ends before a place
    # gives its entry.  All of the places are one more than the result has.
    ends = builder.add("CumSum", repeats, builder.constant(0, "int64"))
    total = builder.add("ReduceSum", repeats, builder.int64s([0]), keepdims=1)
    one = builder.int64s([1])
    places = builder.add("Expand", builder.int64s([0]), builder.add("Add", total, one))
    ones = builder.add("Expand", one, builder.add("Shape", ends))
    counts = builder.add("ScatterElements", places, ends, ones, reduction="add")
    indices = builder.add("CumSum", counts, builder.constant(0, "int64"))
    indices = builder.add("Slice", indices, builder.int64s([0]), total)
    return builder.add("Gather", x, indices, axis=op.axis)


@onnx_funcify.register(Bartlett)
def onnx_funcify_Bartlett(op, node, builder, n):
    # See numpy.bartlett; a window of one point is its peak.
    n = builder.cast(n, node.inputs[0].type.dtype, "int64")
    one, two = builder.constant(1, "int64"), builder.constant(2, "int64")
    last = builder.add("Sub", n, one)
    distance = builder.add("Abs", builder.add("Range", builder.add("Neg", last), n, two))
    last = builder.cast(builder.add("Max", last, one), "int64", "float64")
    slope = builder.add("Div", builder.cast(distance, "int64", "float64"), last)
    return builder.add("Sub", builder.constant(1, "float64"), slope)


OUT_OF_BOUNDS = "index out of bounds of the array's shape"


def is_inside(builder, index, n):
    not_negative = builder.add("GreaterOrEqual", index, builder.constant(0, "int64"))
    return builder.add("And", not_negative, builder.add("Less", index, n))


@onnx_funcify.register(UnravelIndex)
def onnx_funcify_UnravelIndex(op, node, builder, indices, dims):
    rest, dims = cast_inputs(builder, node, (indices, dims), "int64")
    total = builder.add("ReduceProd", dims, keepdims=0)
    require(builder, is_inside(builder, rest, total), ValueError, OUT_OF_BOUNDS)
    known = builder.constant_value(dims)
    if known is None or not known.all():
        # No index is inside then; but onnxruntime refuses the divisor before it has seen any.
        is_zero = builder.add("Equal", dims, builder.constant(0, "int64"))
        dims = builder.add("Add", dims, builder.cast(is_zero, "bool", "int64"))
    coordinates = {}
    axes = range(len(node.outputs))
    for axis in reversed(axes) if op.order == "C" else axes:
        n = builder.add("Gather", dims, builder.constant(axis, "int64"))
        coordinates[axis] = builder.add("Mod", rest, n)
        rest = builder.add("Div", rest, n)
    return tuple(coordinates[axis] for axis in axes)


@onnx_funcify.register(RavelMultiIndex)
def onnx_funcify_RavelMultiIndex(op, node, builder, *inputs):
    *indices, dims = cast_inputs(builder, node, inputs, "int64")
    flat = None
    axes = range(len(indices))
    for axis in axes if op.order == "C" else reversed(axes):
        n = builder.add("Gather", dims, builder.constant(axis, "int64"))
        if op.mode == "raise":
            require(builder, is_inside(builder, indices[axis], n), ValueError, OUT_OF_BOUNDS)
        index = bring_inside(builder, indices[axis], n, op.mode)
        flat = index if flat is None else builder.add("Add", builder.add("Mul", flat, n), index)
    return flat
