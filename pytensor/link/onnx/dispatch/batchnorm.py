from pytensor.link.onnx.converters import onnx_funcify
from pytensor.tensor.batchnorm import BatchNormalization


@onnx_funcify.register(BatchNormalization)
def onnx_funcify_BatchNormalization(op, node, x, gamma, beta, mean, variance):
    ndim = x.ndim
    dtypes = {v.dtype for v in (x, gamma, beta, mean, variance)}
    # A vector has one channel, and its parameters no axis.
    other = ndim == 1 or not op.is_per_channel(ndim)
    # The attribute for epsilon is float32, and parameters must not be broadcast.
    if (
        other
        or len(dtypes) > 1
        or not dtypes <= {"float16", "float32"}
        or any(v.type.shape[0] == 1 != node.inputs[0].type.shape[1] for v in node.inputs[1:])
    ):
        return x.builder.inline(op.fgraph, (x, gamma, beta, mean, variance))
    epsilon = float(op.epsilon)
    return x.node("BatchNormalization", gamma, beta, mean, variance, epsilon=epsilon)
