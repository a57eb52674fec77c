import numpy as np

from pytensor.graph.fg import FunctionGraph
from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.tensor.batchnorm import BatchNormalization, BatchNormalizationTrain
from pytensor.tensor.moments import count


def fits_operator(op, node):
    """Whether ONNX's operator has a node's axes and shapes; it broadcasts no parameter."""
    ndim = node.inputs[0].type.ndim
    channels = node.inputs[0].type.shape[1] if ndim > 1 else None
    return op.axes == tuple(i for i in range(ndim) if i != 1) and all(
        v.type.shape[0] == channels or v.type.shape[0] != 1 for v in node.inputs[1:]
    )


@onnx_funcify.register(BatchNormalization)
def onnx_funcify_BatchNormalization(op, node, builder, x, gamma, beta, mean, variance):
    dtypes = {v.type.dtype for v in node.inputs}
    # The attribute for epsilon is float32.
    if not (fits_operator(op, node) and len(dtypes) == 1 and dtypes <= {"float16", "float32"}):
        return builder.inline(op.fgraph, (x, gamma, beta, mean, variance))
    return builder.add(
        "BatchNormalization", x, gamma, beta, mean, variance, epsilon=float(op.epsilon)
    )


@onnx_funcify.register(BatchNormalizationTrain)
def onnx_funcify_BatchNormalizationTrain(op, node, builder, x, gamma, beta, *running):
    # In onnxruntime, x * scale and mean * scale cancel where the mean is large, and the statistics
    # of no elements are NaN.
    variable = node.inputs[0]
    single = variable.type.dtype == "float32" and fits_operator(op, node)
    if builder.exact or not single or 0 in variable.type.shape or variable.type.shape[1] is None:
        return builder.inline(op.fgraph, (x, gamma, beta, *running))
    # All that the operator has for the batch's own statistics is what they would make of running
    # ones.  With the momentum 0, those of before count nothing.
    zeros = builder.constant(np.zeros(variable.type.shape[1]), "float32")
    out, mean, biased = builder.add(
        "BatchNormalization",
        *(x, gamma, beta, zeros, zeros),
        n_outputs=3,
        epsilon=float(op.epsilon),
        momentum=0.0,
        training_mode=1,
    )
    inputs = [v.type() for v in (variable, *node.outputs[1:3], *node.inputs[3:])]
    new = op.new_running(count(inputs[0], op.axes), *inputs[1:])
    new = builder.inline(FunctionGraph(inputs, new, clone=False), (x, mean, biased, *running))
    return (out, mean, biased, *new)
