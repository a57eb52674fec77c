"""Layer, RMS, instance and group normalization.

In double precision their inner graphs are written: the operators' epsilon has single precision,
and onnxruntime's kernels for it are few.
"""

from math import prod

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.write.sizes import length
from pytensor.tensor.normalization import (
    GroupNormalization,
    InstanceNormalization,
    LayerNormalization,
    RMSNormalization,
)


def parameters_for(op, node, builder, parameters, lengths, *, needs_bias=True):
    """Scale and bias, with constants for those that are needed; None if that can't be said.

    Operators broadcast no parameter, and PyTensor does those with a static length of 1.
    """
    dtype = node.outputs[0].type.dtype
    shapes = [variable.type.shape for variable in node.inputs[1:]]
    broadcast = any(
        length == 1 and own != 1
        for shape in shapes
        for length, own in zip(shape, lengths, strict=True)
    )
    incomplete = not op.scaled or (needs_bias and not op.shifted)
    if dtype == "float64" or broadcast or (incomplete and None in lengths):
        return None
    given = iter(parameters)
    scale = next(given) if op.scaled else builder.constant(np.ones(lengths), dtype)
    if op.shifted:
        return scale, next(given)
    return (scale, builder.constant(np.zeros(lengths), dtype)) if needs_bias else (scale,)


def parameters_over_last_axes(op, node, builder, parameters):
    """Return what `parameters_for` does, or None where an axis may be empty: kernels fail there."""
    shapes = [node.inputs[0].type.shape[op.axis :], *(v.type.shape for v in node.inputs[1:])]
    lengths = [next((n for n in axis if n is not None), None) for axis in zip(*shapes, strict=True)]
    if 0 in lengths or (builder.exact and None in lengths):
        return None
    return parameters_for(op, node, builder, parameters, shapes[0], needs_bias=False)


@onnx_funcify.register(LayerNormalization)
@onnx_funcify.register(RMSNormalization)
def onnx_funcify_LayerNormalization(op, node, builder, x, *parameters):
    known = parameters_over_last_axes(op, node, builder, parameters)
    if known is None or (isinstance(op, RMSNormalization) and builder.opset < 23):
        return builder.inline(op.fgraph, (x, *parameters))
    return builder.add(type(op).__name__, x, *known, axis=op.axis, epsilon=op.epsilon)


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
    # thoughts/upstream/onnxruntime-missing-kernels.md
    variable = node.inputs[0]
    dtype, ndim = variable.type.dtype, variable.type.ndim
    if dtype == "float64":
        return builder.inline(op.fgraph, (x, *parameters))
    ones, zeros = (builder.constant(np.full(op.num_groups, v), dtype) for v in (1, 0))
    full, grouped, allowzero = group_shapes(op, variable.type.shape, builder, x)
    out = builder.add("Reshape", x, grouped, allowzero=allowzero)
    out = builder.add("InstanceNormalization", out, ones, zeros, epsilon=op.epsilon)
    out = builder.add("Reshape", out, full, allowzero=allowzero)
    op_types = ["Mul"] * op.scaled + ["Add"] * op.shifted
    for op_type, parameter in zip(op_types, parameters, strict=True):
        if ndim > 2:
            parameter = builder.add("Unsqueeze", parameter, builder.int64s(range(1, ndim - 1)))
        out = builder.add(op_type, out, parameter)
    return out


def group_shapes(op, lengths, builder, x):
    """Return the shapes of the input and of groups (batch, groups, elements), and `allowzero`."""
    _, *rest = lengths
    # A 0 stands for the batch, whatever its length is; beside one of length 0, -1 is ambiguous.
    if all(rest):
        grouped = [0, op.num_groups, prod(rest) // op.num_groups]
        return builder.int64s([0, *rest]), builder.int64s(grouped), None
    if not builder.exact:
        return builder.add("Shape", x), builder.int64s([0, op.num_groups, -1]), None
    batch, groups = length(builder, x, 0), builder.int64s([op.num_groups])
    axis = builder.int64s([0])
    elements = builder.add("ReduceProd", builder.add("Shape", x, start=1), axis, keepdims=1)
    elements = builder.add("Div", elements, groups)
    return builder.add("Shape", x), builder.add("Concat", batch, groups, elements, axis=0), 1
