import sys

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.sort import top
from pytensor.link.onnx.errors import ConversionError
from pytensor.link.onnx.write.order import FLOATS, sortable, unsortable
from pytensor.link.onnx.write.sizes import count_to, length, scalar
from pytensor.tensor.extra_ops import Unique


@onnx_funcify.register(Unique)
def onnx_funcify_Unique(op, node, builder, x):
    (variable,) = node.inputs
    dtype = variable.type.dtype
    flat = op.axis is None or variable.type.ndim == 1
    if dtype not in FLOATS:
        key, work = sortable(builder, "Unique", x, dtype)
        if flat:
            values, *rest = builder.add("Unique", key, n_outputs=4)
        else:
            values, *rest = unique_slices(builder, work, key, variable.type.shape, op.axis)
        results = unsortable(builder, values, work, dtype), *rest
    elif flat:
        if variable.type.ndim != 1:
            x = builder.add("Reshape", x, builder.int64s([-1]))
        results = unique_floats(builder, dtype, x)
    else:
        raise ConversionError(
            "onnxruntime's unique slices of floats take no account of NaN; flatten them first"
        )
    wanted = True, op.return_index, op.return_inverse, op.return_counts
    return tuple(name for name, is_wanted in zip(results, wanted, strict=True) if is_wanted)


def unique_slices(builder, dtype, x, shape, axis):
    """Return the different slices of integers along `axis`.

    onnxruntime ends the process where they have no elements
    (thoughts/upstream/onnxruntime-unique-empty-slices.md), so they get one more that is the same
    in all of them along each axis that may be empty.
    """
    padded = [i for i, size in enumerate(shape) if i != axis and not size]
    if padded:
        widths = builder.int64s([0] * len(padded) + [1] * len(padded))
        x = builder.add("Pad", x, widths, builder.constant(0, dtype), builder.int64s(padded))
    values, *rest = builder.add("Unique", x, n_outputs=4, axis=axis)
    if padded:
        starts, ends = (builder.int64s([bound] * len(padded)) for bound in (0, -1))
        values = builder.add("Slice", values, starts, ends, builder.int64s(padded))
    return values, *rest


def unique_floats(builder, dtype, x):
    """Compute `numpy.unique` of a vector, for which all NaNs are one value.

    See ``thoughts/upstream/onnxruntime-nan-and-infinity.md``.
    """
    n = length(builder, x, 0)
    ordered, order = top(builder, dtype, x, n, 0)
    start, second, end = (builder.int64s([i]) for i in (0, 1, sys.maxsize))
    before = builder.add("Slice", ordered, start, builder.int64s([-1]))
    after = builder.add("Slice", ordered, second, end)
    # What comes after NaN is NaN too.
    same = builder.add("Or", builder.add("Equal", before, after), builder.add("IsNaN", before))
    is_new = builder.add("Concat", builder.constant([True]), builder.add("Not", same), axis=0)
    is_new = builder.add("Slice", is_new, start, n)
    number = builder.add(
        "CumSum", builder.cast(is_new, "bool", "int64"), builder.constant(0, "int64")
    )
    group = builder.add("Sub", number, builder.constant(1, "int64"))
    inverse = builder.add("ScatterElements", order, order, group)
    starts = builder.add("Compress", count_to(builder, scalar(builder, n)), is_new, axis=0)
    ends = builder.add("Concat", builder.add("Slice", starts, second, end), n, axis=0)
    values, first = (builder.add("Compress", v, is_new, axis=0) for v in (ordered, order))
    return values, first, inverse, builder.add("Sub", ends, starts)
