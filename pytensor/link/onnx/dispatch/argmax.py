from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.errors import ConversionError
from pytensor.tensor.math import Argmax


@onnx_funcify.register(Argmax)
def onnx_funcify_Argmax(op, node, builder, x):
    (variable,) = node.inputs
    dtype = variable.type.dtype
    kernels = ("float16", "float32", "float64", "int8", "int32", "int64", "uint8")
    if dtype not in kernels:
        work = {"bool": "uint8", "int16": "int32", "uint16": "int32", "uint32": "int64"}
        if dtype not in work:
            raise ConversionError(f"onnxruntime has no ArgMax of {dtype}")
        x = builder.cast(x, dtype, work[dtype])
    ndim = variable.type.ndim
    axes = tuple(range(ndim)) if op.axis is None else op.axis
    if not axes:
        raise ConversionError("argmax over no axis")
    if len(axes) > 1:
        kept = [axis for axis in range(ndim) if axis not in axes]
        order = [*kept, *axes]
        if order != list(range(ndim)):
            x = builder.add("Transpose", x, perm=order)
        x = builder.add("Reshape", x, builder.int64s([0] * len(kept) + [-1]))
        axes = (len(kept),)
    return builder.add("ArgMax", x, axis=axes[0], keepdims=0)
