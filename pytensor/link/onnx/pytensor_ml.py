"""Layers of pytensor-ml, which become the operators that ONNX has for them.

Its arrays have the channels last, and its filters are (taps, in, out).
"""

import numpy as np
from pytensor_ml.layers.conv import (
    Col2Im,
    ConvLayer,
    ConvLayerGrad,
    Im2Col,
    PoolLayer,
    PoolLayerGrad,
)

import pytensor.tensor as pt
from pytensor.graph.fg import FunctionGraph
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.tensor.conv.lengths import tap_slices, window_count, window_extent
from pytensor.tensor.conv.ops import Conv
from pytensor.tensor.pool import pool_nd

MODES = {"max": "max", "mean": "average_exc_pad"}


def register(op_class):
    """Register ``function(op, *variables) -> variables``, whose graph is written."""

    def add(build):
        @onnx_funcify.register(op_class)
        def converter(op, node, x, *inputs):
            variables = [v.type() for v in node.inputs]
            fgraph = FunctionGraph(variables, build(op, *variables), clone=False)
            return x.builder.inline(fgraph, (x, *inputs))

        return build

    return add


def gradients(build, op, x, *parameters_and_cotangent):
    """Return the gradients by `x` and the parameters."""
    *parameters, cotangent = parameters_and_cotangent
    (y,) = build(op, x, *parameters)
    return pt.grad(None, [x, *parameters], known_grads={y: cotangent})


@register(ConvLayer)
def convolution(op, x, filters, *bias):
    taps = range(filters.ndim - 2)
    conv = Conv(
        border_mode=((0, 0),) * len(taps), subsample=op.stride, filter_dilation=op.dilation,
        filter_flip=False,
    )  # fmt: skip
    y = conv(pt.moveaxis(x, -1, 1), pt.moveaxis(filters, (-1, -2), (0, 1)))
    if bias:
        y = y + bias[0].reshape((-1, *[1] * len(taps)))
    return [pt.moveaxis(y, 1, -1)]


@register(ConvLayerGrad)
def gradients_of_convolution(op, x, filters, cotangent):
    by_x, by_filters = gradients(convolution, op, x, filters, cotangent)
    return [by_x] * op.compute_dX + [by_filters] * op.compute_dW


@register(PoolLayer)
def pooling(op, x):
    y = pool_nd(
        pt.moveaxis(x, -1, 1), op.kernel_size, ignore_border=True, stride=op.stride,
        mode=MODES[op.reduction], dilation=op.dilation,
    )  # fmt: skip
    return [pt.moveaxis(y, 1, -1)]


@register(PoolLayerGrad)
def gradient_of_pooling(op, x, cotangent):
    return gradients(pooling, op, x, cotangent)


@register(Im2Col)
def windows(op, x):
    """Stack a strided slice for each tap."""
    n, extents = len(op.kernel_size), map(window_extent, op.kernel_size, op.dilation)
    lengths = [x.shape[1 + axis] for axis in range(n)]
    counts = [*map(window_count, lengths, extents, op.stride, [(0, 0)] * n)]
    cells = [tap_slices(tap, op.dilation, op.stride, counts) for tap in np.ndindex(op.kernel_size)]
    taps = pt.stack([x[(slice(None), *places)] for places in cells], axis=1 + n)
    return [taps.reshape((x.shape[0], *counts, *op.kernel_size, x.shape[-1]))]


@register(Col2Im)
def summed_windows(op, patches, *lengths):
    x = pt.zeros((patches.shape[0], *lengths, patches.shape[-1]), patches.dtype)
    return gradients(windows, op, x, patches)
