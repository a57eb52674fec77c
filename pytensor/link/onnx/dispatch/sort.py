import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import where
from pytensor.link.onnx.write.order import FLOATS, sortable, unsortable
from pytensor.link.onnx.write.sizes import length
from pytensor.tensor.sort import ArgSortOp, SortOp
from pytensor.tensor.topk import TopK, TopKGrad


@onnx_funcify.register(TopK)
def onnx_funcify_TopK(op, node, builder, x):
    (variable,) = node.inputs
    n = sorted_length(builder, variable, x, op.axis)
    k = builder.int64s([op.k])
    return top(builder, variable.type.dtype, x, n, op.axis, k=k, largest=1)


@onnx_funcify.register(TopKGrad)
def onnx_funcify_TopKGrad(op, node, builder, x, indices, cotangent):
    variable, _, gradient = node.inputs
    dtype = variable.type.dtype
    zeros = builder.add("Expand", builder.constant(0, dtype), builder.add("Shape", x))
    cotangent = builder.cast(cotangent, gradient.type.dtype, dtype)
    return builder.add("ScatterElements", zeros, indices, cotangent, axis=op.axis)


@onnx_funcify.register(SortOp)
@onnx_funcify.register(ArgSortOp)
def onnx_funcify_SortOp(op, node, builder, x):
    (variable,) = node.inputs
    n = sorted_length(builder, variable, x, op.axis)
    values, indices = top(builder, variable.type.dtype, x, n, op.axis)
    return indices if isinstance(op, ArgSortOp) else values


def sorted_length(builder, variable, x, axis):
    """Return the length of the axis that is sorted, a constant where it's known."""
    static = variable.type.shape[axis]
    return length(builder, x, axis) if static is None else builder.int64s([static])


def top(builder, dtype, x, n, axis, *, k=None, largest=0):
    """Sort along an axis of length `n`, and keep the first `k` entries and their indices.

    Among equals the lower index comes first, so that the sort is stable; NaN counts as largest.
    """
    options = {"n_outputs": 2, "axis": axis, "largest": largest}
    k = n if k is None else k
    if dtype not in FLOATS:
        key, work = sortable(builder, "TopK", x, dtype)
        values, indices = builder.add("TopK", key, k, **options)
        return unsortable(builder, values, work, dtype), indices
    # The kernel has no place for NaN: sort by value, NaN as infinity, and then by being NaN.
    missing = builder.add("IsNaN", x)
    key = where(builder, dtype, missing, builder.constant(np.inf, dtype), x)
    _, order = builder.add_as(dtype, "TopK", key, rest=(n,), **options)
    flags = builder.cast(missing, "bool", "int32")
    flags = builder.add("GatherElements", flags, order, axis=axis)
    _, again = builder.add("TopK", flags, k, **options)
    indices = builder.add("GatherElements", order, again, axis=axis)
    return builder.add("GatherElements", x, indices, axis=axis), indices
