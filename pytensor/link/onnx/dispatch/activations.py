"""Activation functions: ONNX's own operators, unless onnxruntime is slower with them."""

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import fills_output, output_dtype
from pytensor.link.onnx.write.formula import exp, tanh
from pytensor.link.onnx.write.term import where
from pytensor.scalar import activations

# Operators of single precision with the formula and the parameters of the Op of the same name.
SINGLE_NODE = (
    activations.HardSigmoid,
    activations.HardSwish,
    activations.LeakyRelu,
    activations.Softsign,
)


@onnx_funcify.register(activations.Activation)
def onnx_funcify_Activation(op, node, x):
    dtype = output_dtype(node)
    if dtype == "float64" or not isinstance(op, SINGLE_NODE):
        return x.builder.inline(op.composite(x.dtype).fgraph, (x,))
    attributes = {name: getattr(op, name) for name in op.params}
    return x.cast(dtype).node(type(op).__name__, **attributes)


@onnx_funcify.register(activations.Relu)
def onnx_funcify_Relu(op, node, x):
    return x.cast(output_dtype(node)).node("Relu")


@onnx_funcify.register(activations.SiLU)
def onnx_funcify_SiLU(op, node, x):
    x = x.cast(output_dtype(node))
    if x.dtype == "float64":
        decay = exp(-abs(x))
        return where(x < 0.0, x * decay, x) / (1.0 + decay)
    if x.builder.swish and x.builder.opset >= 24:
        return x.node("Swish")
    return x * x.node("Sigmoid")


@onnx_funcify.register(activations.Selu)
def onnx_funcify_Selu(op, node, x):
    dtype = output_dtype(node)
    if dtype == "float64":
        return onnx_funcify_Activation(op, node, x)
    return x.cast(dtype).node("Selu", alpha=op.alpha, gamma=op.gamma)


@onnx_funcify.register(activations.PRelu)
def onnx_funcify_PRelu(op, node, x, alpha):
    dtype = output_dtype(node)
    # The operator broadcasts only the slope; nothing broadcasts scalars.
    if dtype == "float64" or not fills_output(node, 0):
        return x.builder.inline(op.composite(x.dtype, alpha.dtype).fgraph, (x, alpha))
    return x.cast(dtype).node("PRelu", alpha.cast(dtype))


@onnx_funcify.register(activations.Relu6)
def onnx_funcify_Relu6(op, node, x):
    return x.cast(output_dtype(node)).node("Clip", 0, 6)


@onnx_funcify.register(activations.Gelu)
def onnx_funcify_Gelu(op, node, x):
    dtype, opset = output_dtype(node), x.builder.opset
    erf = op.approximate == "none"
    if dtype == "float64" or (opset < 20 and not erf):
        return onnx_funcify_Activation(op, node, x)
    x = x.cast(dtype)
    if opset >= 20:
        return x.node("Gelu", approximate=op.approximate)
    # In this form and order, onnxruntime recognizes the function and has a kernel for it.
    return x * ((x / np.sqrt(2)).node("Erf") + 1) * 0.5


@onnx_funcify.register(activations.Elu)
def onnx_funcify_Elu(op, node, x):
    dtype = output_dtype(node)
    if dtype == "float64":
        return onnx_funcify_Activation(op, node, x)
    x = x.cast(dtype).cast("float32")
    # exp(x) - 1 = 2 t / (1 - t) with t = tanh(x / 2), which is faster than onnxruntime's Elu, and
    # keeps the digits that the difference of exp(x) and 1 would cancel: NIST DLMF 4.35.
    t = tanh(x.node("Clip", None, 0) * 0.5)
    return where(x > 0, x, t * (2 * op.alpha) / (1 - t)).cast(dtype)
