from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.tensor.special import LogSoftmax, Softmax


@onnx_funcify.register(Softmax)
@onnx_funcify.register(LogSoftmax)
def onnx_funcify_Softmax(op, node, builder, x):
    ndim = node.inputs[0].type.ndim
    axes = tuple(range(ndim)) if op.axis is None else op.axis
    if len(axes) != 1 or node.inputs[0].type.dtype != node.outputs[0].type.dtype:
        return builder.inline(op.fgraph, (x,))
    return builder.add(type(op).__name__, x, axis=axes[0])
