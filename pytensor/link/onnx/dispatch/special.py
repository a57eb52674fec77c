from pytensor.link.onnx.converters import onnx_funcify
from pytensor.tensor.special import LogSoftmax, Softmax


@onnx_funcify.register(Softmax)
@onnx_funcify.register(LogSoftmax)
def onnx_funcify_Softmax(op, node, builder, x):
    (variable,), (output,) = node.inputs, node.outputs
    axes = tuple(range(variable.type.ndim)) if op.axis is None else op.axis
    dtype = output.type.dtype
    # onnxruntime's kernel for this has values where NumPy's are NaN: beside NaN and infinity.
    # thoughts/upstream/onnxruntime-nan-and-infinity.md
    is_wrong = isinstance(op, LogSoftmax) and dtype == "float64"
    if len(axes) != 1 or is_wrong or variable.type.dtype != dtype:
        return builder.inline(op.fgraph, (x,))
    return builder.add(type(op).__name__, x, axis=axes[0])
