from pytensor.link.onnx.converters import onnx_funcify
from pytensor.tensor.special import LogSoftmax, Softmax


@onnx_funcify.register(Softmax)
@onnx_funcify.register(LogSoftmax)
def onnx_funcify_Softmax(op, node, x):
    axes = tuple(range(x.ndim)) if op.axis is None else op.axis
    dtype = node.outputs[0].type.dtype
    # onnxruntime's kernel for this has values where NumPy's are NaN, next to NaN and infinity.
    # thoughts/upstream/onnxruntime-nan-and-infinity.md
    is_wrong = isinstance(op, LogSoftmax) and dtype == "float64"
    if len(axes) != 1 or is_wrong or x.dtype != dtype:
        return x.builder.inline(op.fgraph, (x,))
    return x.node(type(op).__name__, axis=axes[0])
