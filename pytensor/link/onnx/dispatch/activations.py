"""Activation functions: ONNX's own operators, unless onnxruntime is slower with them."""

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import cast_inputs, fills_output, output_dtype
from pytensor.link.onnx.write.term import Term, exp, where
from pytensor.scalar import activations

# Operators of single precision with the formula and the parameters of the Op of the same name.
SINGLE_NODE = (
    activations.HardSigmoid,
    activations.HardSwish,
    activations.LeakyRelu,
    activations.Softsign,
)


@onnx_funcify.register(activations.Activation)
def onnx_funcify_Activation(op, node, builder, x):
    dtype = output_dtype(node)
    if dtype == "float64" or not isinstance(op, SINGLE_NODE):
        composite = op.composite(node.inputs[0].type.dtype)
        return builder.inline(composite.fgraph, (x,))
    (x,) = cast_inputs(builder, node, [x], dtype)
    attributes = {name: getattr(op, name) for name in op.params}
    return builder.add(type(op).__name__, x, **attributes)


@onnx_funcify.register(activations.Relu)
def onnx_funcify_Relu(op, node, builder, x):
    (x,) = cast_inputs(builder, node, [x], output_dtype(node))
    return builder.add("Relu", x)


@onnx_funcify.register(activations.SiLU)
def onnx_funcify_SiLU(op, node, builder, x):
    dtype = output_dtype(node)
    (x,) = cast_inputs(builder, node, [x], dtype)
    if dtype == "float64":
        x = Term(builder, x)
        decay = exp(-abs(x))
        return (where(x < 0.0, x * decay, x) / (1.0 + decay)).name
    if builder.swish and builder.opset >= 24:
        return builder.add("Swish", x)
    return builder.add("Mul", x, builder.add("Sigmoid", x))


@onnx_funcify.register(activations.Selu)
def onnx_funcify_Selu(op, node, builder, x):
    dtype = output_dtype(node)
    if dtype == "float64":
        return onnx_funcify_Activation(op, node, builder, x)
    (x,) = cast_inputs(builder, node, [x], dtype)
    return builder.add("Selu", x, alpha=op.alpha, gamma=op.gamma)


@onnx_funcify.register(activations.PRelu)
def onnx_funcify_PRelu(op, node, builder, x, alpha):
    dtype = output_dtype(node)
    # The operator broadcasts the slope alone; scalars are broadcast by nobody.
    if dtype == "float64" or not fills_output(node, 0):
        composite = op.composite(*(v.type.dtype for v in node.inputs))
        return builder.inline(composite.fgraph, (x, alpha))
    return builder.add("PRelu", *cast_inputs(builder, node, [x, alpha], dtype))


@onnx_funcify.register(activations.Relu6)
def onnx_funcify_Relu6(op, node, builder, x):
    dtype = output_dtype(node)
    (x,) = cast_inputs(builder, node, [x], dtype)
    return builder.add("Clip", x, builder.constant(0, dtype), builder.constant(6, dtype))


@onnx_funcify.register(activations.Gelu)
def onnx_funcify_Gelu(op, node, builder, x):
    dtype = output_dtype(node)
    erf = op.approximate == "none"
    if dtype == "float64" or (builder.opset < 20 and not erf):
        return onnx_funcify_Activation(op, node, builder, x)
    (x,) = cast_inputs(builder, node, [x], dtype)
    if builder.opset >= 20:
        return builder.add("Gelu", x, approximate=op.approximate)
    # In this form and order, onnxruntime recognizes the function and has a kernel for it.
    one, half, root = (builder.constant(v, dtype) for v in (1, 0.5, np.sqrt(2)))
    error_function = builder.add("Erf", builder.add("Div", x, root))
    twice = builder.add("Mul", x, builder.add("Add", error_function, one))
    return builder.add("Mul", twice, half)


@onnx_funcify.register(activations.Elu)
def onnx_funcify_Elu(op, node, builder, x):
    dtype = output_dtype(node)
    if dtype == "float64":
        return onnx_funcify_Activation(op, node, builder, x)
    (x,) = cast_inputs(builder, node, [x], dtype)
    x = builder.cast(x, dtype, "float32")
    # exp(x) - 1 = 2 t / (1 - t) with t = tanh(x / 2), which is faster than onnxruntime's Elu, and
    # keeps the digits that the difference of exp(x) and 1 would cancel: NIST DLMF 4.35.
    zero, one, half, twice = (builder.constant(v, "float32") for v in (0, 1, 0.5, 2 * op.alpha))
    tanh = builder.add("Tanh", builder.add("Mul", builder.add("Clip", x, "", zero), half))
    numerator = builder.add("Mul", tanh, twice)
    negative = builder.add("Div", numerator, builder.add("Sub", one, tanh))
    positive = builder.add("Greater", x, zero)
    return builder.cast(builder.add("Where", positive, x, negative), "float32", dtype)
