from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.write.order import sortable
from pytensor.link.onnx.write.term import where
from pytensor.tensor.math import Argmax


@onnx_funcify.register(Argmax)
def onnx_funcify_Argmax(op, node, x):
    ndim = x.ndim
    axes = tuple(range(ndim)) if op.axis is None else op.axis
    if not axes:
        return x.builder.constant(0, "int64").expand_as(x)
    if len(axes) == 1:
        return argmax(x, axes[0])
    kept = [axis for axis in range(ndim) if axis not in axes]
    x = x.transpose(*kept, *axes)
    if not kept:
        return argmax(x.flatten(), 0)
    shape = x.sizes(0, len(kept))
    result = argmax(x.node("Flatten", axis=len(kept)), 1)
    return result if len(kept) == 1 else result.reshape(shape)


def argmax(x, axis):
    result = sortable("ArgMax", x).node("ArgMax", axis=axis, keepdims=0)
    if not x.is_float:
        return result
    # The kernel doesn't find a NaN; a sum of absolute values is NaN only if there is one.
    absolute = x.node("ReduceL1", [axis], keepdims=0)
    first_nan = x.is_nan().cast("uint8").node("ArgMax", axis=axis, keepdims=0)
    return where(absolute.is_nan(), first_nan, result)
