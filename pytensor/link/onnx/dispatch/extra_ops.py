import numpy as np

from pytensor.graph.basic import Constant
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.checks import require
from pytensor.link.onnx.dispatch.tensor_basic import bring_inside
from pytensor.link.onnx.write.fold import accumulate
from pytensor.link.onnx.write.term import maximum
from pytensor.tensor.extra_ops import (
    Bartlett,
    CumOp,
    RavelMultiIndex,
    Repeat,
    SearchsortedOp,
    UnravelIndex,
)


@onnx_funcify.register(CumOp)
def onnx_funcify_CumOp(op, node, x):
    if op.mode == "add":
        # Sums of unsigned and of signed integers wrap around in the same way.
        work = "int64" if x.dtype in ("bool", "uint64") else x.dtype
        return x.cast(work).cumulative_sum(op.axis).cast(x.dtype)
    work = "uint8" if x.dtype == "bool" else x.dtype
    return accumulate(x.cast(work), op.axis, x.ndim, 1, "Mul").cast(x.dtype)


@onnx_funcify.register(SearchsortedOp)
def onnx_funcify_SearchsortedOp(op, node, x, values, sorter=None):
    common = np.promote_types(x.dtype, values.dtype).name
    # onnxruntime takes no negative axis where there are no elements.
    # thoughts/upstream/onnxruntime-empty-tensors.md
    last = values.ndim
    if sorter is not None:
        sorter = sorter.cast("int64")
        same = sorter.length(0) == x.length(0)
        require(same, ValueError, "sorter.size must equal a.size")
        require(sorter >= 0, ValueError, "Sorter index out of range.")
        x = x.node("Gather", sorter)
    x, values = x.cast(common), values.cast(common).unsqueeze(last)
    before = is_before(x, values) if op.side == "left" else ~is_before(values, x)
    return before.cast("int64").reduce_sum(last)


def is_before(x, y):
    """Return whether `x` comes before `y` when sorted, which puts NaN last."""
    return (x < y) | (~x.is_nan() & y.is_nan()) if x.is_float else x < y


@onnx_funcify.register(Repeat)
def onnx_funcify_Repeat(op, node, x, repeats):
    variable, repeats_variable = node.inputs
    static = variable.type.shape[op.axis]
    if static is not None and isinstance(repeats_variable, Constant):
        indices = np.repeat(np.arange(static), repeats_variable.data)
        return x.gather(indices.tolist(), axis=op.axis)
    repeats = repeats.cast("int64").expand(x.length(op.axis))
    # Each entry ends where the running sum of the repeats says; counting the ends before a place
    # gives its entry.  All of the places are one more than the result has.
    ends = repeats.cumulative_sum(0)
    total = repeats.reduce_sum(0, keepdims=True)
    places = x.builder.vector([0]).expand(total + 1)
    ones = x.builder.vector([1]).expand_as(ends)
    counts = places.scatter_elements(ends, ones, axis=0, reduction="add")
    return x.gather(counts.cumulative_sum(0).slice(0, total), axis=op.axis)


@onnx_funcify.register(Bartlett)
def onnx_funcify_Bartlett(op, node, n):
    # See numpy.bartlett; a window of one point is its peak.
    n = n.cast("int64")
    last = n - 1
    distance = abs((-last).node("Range", n, 2))
    return 1 - distance.cast("float64") / maximum(last, 1).cast("float64")


OUT_OF_BOUNDS = "index out of bounds of the array's shape"


def is_inside(index, n):
    return (index >= 0) & (index < n)


@onnx_funcify.register(UnravelIndex)
def onnx_funcify_UnravelIndex(op, node, indices, dims):
    rest, dims = indices.cast("int64"), dims.cast("int64")
    require(is_inside(rest, dims.reduce_prod()), ValueError, OUT_OF_BOUNDS)
    if dims.data is None or not dims.data.all():
        # No index is inside then; but onnxruntime refuses the divisor before it has seen any.
        dims = dims + (dims == 0).cast("int64")
    coordinates = {}
    axes = range(len(node.outputs))
    for axis in reversed(axes) if op.order == "C" else axes:
        n = dims.gather(axis)
        coordinates[axis] = rest % n
        rest = rest.truncated_quotient(n)
    return tuple(coordinates[axis] for axis in axes)


@onnx_funcify.register(RavelMultiIndex)
def onnx_funcify_RavelMultiIndex(op, node, *inputs):
    *indices, dims = (x.cast("int64") for x in inputs)
    flat = None
    axes = range(len(indices))
    for axis in axes if op.order == "C" else reversed(axes):
        n = dims.gather(axis)
        if op.mode == "raise":
            require(is_inside(indices[axis], n), ValueError, OUT_OF_BOUNDS)
        index = bring_inside(indices[axis], n, op.mode)
        flat = index if flat is None else flat * n + index
    return flat
