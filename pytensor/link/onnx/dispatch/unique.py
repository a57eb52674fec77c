import sys

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.sort import top
from pytensor.link.onnx.errors import ConversionError
from pytensor.link.onnx.write.lengths import pad
from pytensor.link.onnx.write.order import sortable, unsortable
from pytensor.link.onnx.write.term import concat
from pytensor.tensor.extra_ops import Unique


@onnx_funcify.register(Unique)
def onnx_funcify_Unique(op, node, x):
    flat = op.axis is None or x.ndim == 1
    if not x.is_float:
        key = sortable("Unique", x)
        if flat:
            values, *rest = key.node("Unique", n_outputs=4)
        else:
            values, *rest = unique_slices(key, node.inputs[0].type.shape, op.axis)
        results = unsortable(values, x.dtype), *rest
    elif flat:
        results = unique_floats(x if x.ndim == 1 else x.flatten())
    else:
        raise ConversionError(
            "onnxruntime's unique slices of floats take no account of NaN; flatten them first"
        )
    wanted = True, op.return_index, op.return_inverse, op.return_counts
    return tuple(term for term, is_wanted in zip(results, wanted, strict=True) if is_wanted)


def unique_slices(x, shape, axis):
    """Return the different slices of integers along `axis`.

    onnxruntime ends the process where they have no elements
    (thoughts/upstream/onnxruntime-unique-empty-slices.md), so they get one more that is the same
    in all of them along each axis that may be empty.
    """
    padded = [i for i, size in enumerate(shape) if i != axis and not size]
    if padded:
        x = pad(x, [(0, 1)] * len(padded), axes=padded)
    values, *rest = x.node("Unique", n_outputs=4, axis=axis)
    if padded:
        values = values.slice([0] * len(padded), [-1] * len(padded), padded)
    return values, *rest


def unique_floats(x):
    """Compute `numpy.unique` of a vector, for which all NaNs are one value.

    See ``thoughts/upstream/onnxruntime-nan-and-infinity.md``.
    """
    n = x.length(0)
    ordered, order = top(x, n, 0)
    before, after = ordered.slice(0, -1), ordered.slice(1, sys.maxsize)
    # What comes after NaN is NaN too.
    same = (before == after) | before.is_nan()
    is_new = concat([same.builder.constant([True]), ~same]).slice(0, n)
    group = is_new.cast("int64").cumulative_sum(0) - 1
    inverse = order.scatter_elements(order, group, axis=0)
    starts = x.builder.arange(n.squeeze(0)).node("Compress", is_new, axis=0)
    ends = concat([starts.slice(1, sys.maxsize), n])
    values, first = (v.node("Compress", is_new, axis=0) for v in (ordered, order))
    return values, first, inverse, ends - starts
