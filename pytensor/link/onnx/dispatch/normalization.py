"""Layer, RMS, instance and group normalization.

In double precision their inner graphs are written: the operators' epsilon has single precision,
and onnxruntime's kernels for it are few.
"""

from math import prod

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.write.term import concat
from pytensor.tensor.normalization import (
    GroupNormalization,
    InstanceNormalization,
    LayerNormalization,
    RMSNormalization,
)


def parameters_for(op, node, parameters, lengths, *, needs_bias=True):
    """Scale and bias, with constants for those that are needed; None if that can't be said.

    Operators broadcast no parameter, and PyTensor does those with a static length of 1.
    """
    shapes = [variable.type.shape for variable in node.inputs[1:]]
    broadcast = any(
        length == 1 and own != 1
        for shape in shapes
        for length, own in zip(shape, lengths, strict=True)
    )
    incomplete = not op.scaled or (needs_bias and not op.shifted)
    if node.outputs[0].type.dtype == "float64" or broadcast or (incomplete and None in lengths):
        return None
    given = iter(parameters)
    scale = next(given) if op.scaled else np.ones(lengths)
    if op.shifted:
        return scale, next(given)
    return (scale, np.zeros(lengths)) if needs_bias else (scale,)


def parameters_over_last_axes(op, node, x, parameters):
    """Return what `parameters_for` does, or None where an axis may be empty: kernels fail there."""
    shapes = [node.inputs[0].type.shape[op.axis :], *(v.type.shape for v in node.inputs[1:])]
    lengths = [next((n for n in axis if n is not None), None) for axis in zip(*shapes, strict=True)]
    if 0 in lengths or (x.builder.exact and None in lengths):
        return None
    return parameters_for(op, node, parameters, shapes[0], needs_bias=False)


@onnx_funcify.register(LayerNormalization)
@onnx_funcify.register(RMSNormalization)
def onnx_funcify_LayerNormalization(op, node, x, *parameters):
    known = parameters_over_last_axes(op, node, x, parameters)
    if known is None or (isinstance(op, RMSNormalization) and x.builder.opset < 23):
        return x.builder.inline(op.fgraph, (x, *parameters))
    return x.node(type(op).__name__, *known, axis=op.axis, epsilon=op.epsilon)


@onnx_funcify.register(InstanceNormalization)
def onnx_funcify_InstanceNormalization(op, node, x, *parameters):
    known = parameters_for(op, node, parameters, node.inputs[0].type.shape[1:2])
    if known is None:
        return x.builder.inline(op.fgraph, (x, *parameters))
    return x.node("InstanceNormalization", *known, epsilon=op.epsilon)


@onnx_funcify.register(GroupNormalization)
def onnx_funcify_GroupNormalization(op, node, x, *parameters):
    # onnxruntime has no kernel for ONNX's GroupNormalization and writes the variance as the mean of
    # squares less the square of the mean, which has no digit left where the mean is large.
    # thoughts/upstream/onnxruntime-missing-kernels.md
    if x.dtype == "float64":
        return x.builder.inline(op.fgraph, (x, *parameters))
    n, ndim = op.num_groups, x.ndim
    full, grouped, allowzero = group_shapes(op, node.inputs[0].type.shape, x)
    out = x.node("Reshape", grouped, allowzero=allowzero)
    out = out.node("InstanceNormalization", np.ones(n), np.zeros(n), epsilon=op.epsilon)
    out = out.node("Reshape", full, allowzero=allowzero)
    parameters = iter(parameters)
    if op.scaled:
        out = out * along_channels(next(parameters), ndim)
    return out + along_channels(next(parameters), ndim) if op.shifted else out


def along_channels(parameter, ndim):
    return parameter.unsqueeze(*range(1, ndim - 1)) if ndim > 2 else parameter


def group_shapes(op, lengths, x):
    """Return the shapes of the input and of groups (batch, groups, elements), and `allowzero`."""
    _, *rest = lengths
    # A 0 stands for the batch, whatever its length is; next to a length of 0, -1 is ambiguous.
    if all(rest):
        return [0, *rest], [0, op.num_groups, prod(rest) // op.num_groups], None
    if not x.builder.exact:
        return x.sizes(), [0, op.num_groups, -1], None
    # Channels that don't divide into groups are too many for the new shape.
    channels = x.length(1).truncated_quotient([op.num_groups])
    elements = concat([channels, x.sizes(2)]).reduce_prod(0, keepdims=True)
    return x.sizes(), [x.length(0), op.num_groups, elements], 1
