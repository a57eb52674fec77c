"""Layer, RMS, instance and group normalization.

In double precision their inner graphs are written: the operators' epsilon has single precision,
and onnxruntime's kernels for it are few.
"""

import numpy as np

from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.tensor.normalization import (
    GroupNormalization,
    InstanceNormalization,
    LayerNormalization,
    RMSNormalization,
)


def parameters_for(op, node, builder, parameters, shape):
    """Scale and bias, with constants for those that aren't there; None if that can't be said.

    Operators broadcast no parameter, and PyTensor does those with a static length of 1.
    """
    if node.outputs[0].type.dtype == "float64":
        return None
    lengths = [v.type.shape for v in node.inputs[1:]]
    if any(1 in pair and pair != (1, 1) for p in lengths for pair in zip(p, shape, strict=True)):
        return None
    given = list(parameters)
    if not (op.scaled and op.shifted) and None in shape:
        return None
    dtype = node.outputs[0].type.dtype
    scale = given.pop(0) if op.scaled else builder.constant(np.ones(shape), dtype)
    bias = given.pop(0) if op.shifted else builder.constant(np.zeros(shape), dtype)
    return scale, bias


@onnx_funcify.register(LayerNormalization)
def onnx_funcify_LayerNormalization(op, node, builder, x, *parameters):
    shape = node.inputs[0].type.shape[op.axis :]
    known = parameters_for(op, node, builder, parameters, shape)
    if known is None:
        return builder.inline(op.fgraph, (x, *parameters))
    scale, bias = known
    inputs = (x, scale, bias) if op.shifted else (x, scale)
    return builder.add("LayerNormalization", *inputs, axis=op.axis, epsilon=op.epsilon)


@onnx_funcify.register(RMSNormalization)
def onnx_funcify_RMSNormalization(op, node, builder, x, *parameters):
    shape = node.inputs[0].type.shape[op.axis :]
    known = parameters_for(op, node, builder, parameters, shape)
    if known is None or builder.opset < 23:
        return builder.inline(op.fgraph, (x, *parameters))
    return builder.add("RMSNormalization", x, known[0], axis=op.axis, epsilon=op.epsilon)


@onnx_funcify.register(InstanceNormalization)
def onnx_funcify_InstanceNormalization(op, node, builder, x, *parameters):
    known = parameters_for(op, node, builder, parameters, node.inputs[0].type.shape[1:2])
    if known is None:
        return builder.inline(op.fgraph, (x, *parameters))
    return builder.add("InstanceNormalization", x, *known, epsilon=op.epsilon)


@onnx_funcify.register(GroupNormalization)
def onnx_funcify_GroupNormalization(op, node, builder, x, *parameters):
    # onnxruntime has no kernel for ONNX's GroupNormalization and writes the variance as the mean of
    # squares less the square of the mean, which has no digit left where the mean is large.
    variable = node.inputs[0]
    dtype, ndim = variable.type.dtype, variable.type.ndim
    if dtype == "float64":
        return builder.inline(op.fgraph, (x, *parameters))
    ones, zeros = (builder.constant(np.full(op.num_groups, v), dtype) for v in (1, 0))
    groups = builder.add("Reshape", x, builder.int64s([0, op.num_groups, -1]))
    normalized = builder.add("InstanceNormalization", groups, ones, zeros, epsilon=op.epsilon)
    out = builder.add("Reshape", normalized, builder.add("Shape", x))
    axes = builder.int64s(range(1, ndim - 1))
    for op_type, parameter in zip(
        ["Mul"] * op.scaled + ["Add"] * op.shifted, parameters, strict=True
    ):
        if ndim > 2:
            parameter = builder.add("Unsqueeze", parameter, axes)
        out = builder.add(op_type, out, parameter)
    return out
