from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.tensor.batchnorm import BatchNormalization


@onnx_funcify.register(BatchNormalization)
def onnx_funcify_BatchNormalization(op, node, builder, x, gamma, beta, mean, variance):
    ndim = node.inputs[0].type.ndim
    channels_second = tuple(op.axes) == tuple(i for i in range(ndim) if i != 1)
    one_dtype = len({v.type.dtype for v in node.inputs}) == 1
    if not (channels_second and one_dtype):
        return builder.inline(op.fgraph, (x, gamma, beta, mean, variance))
    return builder.add(
        "BatchNormalization", x, gamma, beta, mean, variance, epsilon=float(op.epsilon)
    )
