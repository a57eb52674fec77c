import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.write.order import sortable, unsortable
from pytensor.link.onnx.write.term import where
from pytensor.tensor.sort import ArgSortOp, SortOp
from pytensor.tensor.topk import TopK, TopKGrad


@onnx_funcify.register(TopK)
def onnx_funcify_TopK(op, node, x):
    return top(x, sorted_length(x, op.axis), op.axis, k=x.builder.vector([op.k]), largest=1)


@onnx_funcify.register(TopKGrad)
def onnx_funcify_TopKGrad(op, node, x, indices, cotangent):
    return x.lift(0).expand_as(x).scatter_elements(indices, cotangent.cast(x.dtype), axis=op.axis)


@onnx_funcify.register(SortOp)
@onnx_funcify.register(ArgSortOp)
def onnx_funcify_SortOp(op, node, x):
    values, indices = top(x, sorted_length(x, op.axis), op.axis)
    return indices if isinstance(op, ArgSortOp) else values


def sorted_length(x, axis):
    """Return the length of the axis that is sorted, a constant where it's known."""
    static = x.shape[axis]
    return x.length(axis) if static is None else x.builder.vector([static])


def top(x, n, axis, *, k=None, largest=0):
    """Sort along an axis of length `n`, and keep the first `k` entries and their indices.

    Among equals the lower index comes first, so that the sort is stable; NaN counts as largest.
    """
    options = {"n_outputs": 2, "axis": axis, "largest": largest}
    k = n if k is None else k
    if not x.is_float:
        values, indices = sortable("TopK", x).node("TopK", k, **options)
        return unsortable(values, x.dtype), indices
    # The kernel has no place for NaN: sort by value, NaN as infinity, and then by being NaN.
    missing = x.is_nan()
    _, order = where(missing, np.inf, x).node("TopK", n, **options)
    flags = missing.cast("int32").gather_elements(order, axis=axis)
    _, again = flags.node("TopK", k, **options)
    indices = order.gather_elements(again, axis=axis)
    return x.gather_elements(indices, axis=axis), indices
