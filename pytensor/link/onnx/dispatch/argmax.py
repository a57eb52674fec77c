from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import where
from pytensor.link.onnx.write.order import FLOATS, sortable
from pytensor.tensor.math import Argmax


@onnx_funcify.register(Argmax)
def onnx_funcify_Argmax(op, node, builder, x):
    (variable,) = node.inputs
    dtype, ndim = variable.type.dtype, variable.type.ndim
    axes = tuple(range(ndim)) if op.axis is None else op.axis
    if not axes:
        return builder.add("Expand", builder.constant(0, "int64"), builder.add("Shape", x))
    if len(axes) == 1:
        return argmax(builder, x, dtype, axes[0])
    kept = [axis for axis in range(ndim) if axis not in axes]
    order = [*kept, *axes]
    if order != list(range(ndim)):
        x = builder.add("Transpose", x, perm=order)
    if not kept:
        return argmax(builder, builder.add("Reshape", x, builder.int64s([-1])), dtype, 0)
    shape = builder.add("Shape", x, start=0, end=len(kept))
    result = argmax(builder, builder.add("Flatten", x, axis=len(kept)), dtype, 1)
    if len(kept) == 1:
        return result
    return builder.add("Reshape", result, shape, allowzero=1)


def argmax(builder, x, dtype, axis):
    key, _ = sortable(builder, "ArgMax", x, dtype)
    result = builder.add("ArgMax", key, axis=axis, keepdims=0)
    if dtype not in FLOATS:
        return result
    # The kernel doesn't find a NaN; a sum of absolute values is NaN only if there is one.
    absolute = builder.add("ReduceL1", x, builder.int64s([axis]), keepdims=0)
    flags = builder.cast(builder.add("IsNaN", x), "bool", "uint8")
    first_nan = builder.add("ArgMax", flags, axis=axis, keepdims=0)
    return where(builder, "int64", builder.add("IsNaN", absolute), first_nan, result)
