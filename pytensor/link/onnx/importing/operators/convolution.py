"""Convolutions."""

import math

import numpy as np

import pytensor.tensor as pt
from pytensor.link.onnx.importing.registry import Refused, converts, must_be_known
from pytensor.link.onnx.importing.sampling import linear
from pytensor.link.onnx.importing.sizes import positions
from pytensor.link.onnx.importing.windows import (
    Windows,
    auto_pad,
    filled,
    filtered,
    kernel_of,
    known_pads,
    lengths,
    like,
    must_have_size,
    spatial_axes,
    split,
    windows,
    with_bias,
)
from pytensor.tensor.basic import constant
from pytensor.tensor.conv import conv, conv_transpose


@converts("Conv")
def conv_(node, x, w, b=None):
    spatial_axes(x)
    w, kernel = kernel_of(node, w)
    x, found = known_pads(x, windows(node, kernel, lengths(x)[2:]))
    out = conv(
        x,
        w,
        border_mode=found.pads,
        subsample=found.strides,
        filter_dilation=found.dilations,
        num_groups=node.attribute("group", 1),
        filter_flip=False,
    )
    return with_bias(out, b)


@converts("ConvTranspose")
def conv_transpose_(node, x, w, b=None):
    n = spatial_axes(x)
    w, kernel = kernel_of(node, w)
    paddings = node.attribute("output_padding", [0] * n)
    found, paddings = _transposed_windows(node, kernel, paddings, x.type.shape[2:])
    out = conv_transpose(
        x,
        w,
        border_mode=found.pads,
        subsample=found.strides,
        filter_dilation=found.dilations,
        num_groups=node.attribute("group", 1),
        filter_flip=False,
        output_padding=tuple(paddings),
    )
    return with_bias(out, b)


def _transposed_windows(node, kernel, paddings, spatial):
    """Return windows and output padding, such that the output has the shape that is asked for."""
    mode = auto_pad(node)
    n = len(kernel)
    found = Windows(
        kernel,
        tuple(node.attribute("strides", [1] * n)),
        tuple(node.attribute("dilations", [1] * n)),
        ((0, 0),) * n,
    )
    wanted = node.attribute("output_shape")
    if wanted is not None or mode.startswith("SAME"):
        must_have_size(kernel)
    if wanted is not None:
        if None in spatial:
            raise Refused(
                "output_shape needs the length of the image, which the model leaves open: use "
                "pads and output_padding, or fix the length"
            )
        # Some models count batch and channels too
        wanted = wanted[-n:]
        surplus = [
            s * (length - 1) + p + extent - out
            for s, length, p, extent, out in zip(
                found.strides, spatial, paddings, found.extents, wanted, strict=True
            )
        ]
    elif mode.startswith("SAME"):
        axes = zip(paddings, found.extents, found.strides, strict=True)
        surplus = [p + extent - stride for p, extent, stride in axes]
    else:
        return windows(node, kernel), paddings
    found = found._replace(pads=tuple(split(max(s, 0), mode) for s in surplus))
    return found, [p - min(s, 0) for p, s in zip(paddings, surplus, strict=True)]


@converts("DeformConv")
def deform_conv(node, x, w, offset, b=None, mask=None):
    w, kernel = kernel_of(node, w)
    must_have_size(kernel)
    found = windows(node, kernel)
    n, parts = len(kernel), node.attribute("offset_group", 1)
    batch, channels, *spatial = lengths(x)
    counts = lengths(offset)[2:]
    cells = math.prod(kernel)
    offset = offset.reshape((batch * parts, cells, n, *counts))
    places = []
    for axis, taps in enumerate(np.indices(kernel).reshape(n, cells)):
        taps = constant(taps * found.dilations[axis] - found.pads[axis][0])
        starts = positions(counts[axis]) * found.strides[axis]
        shape = [0 if a == axis else "x" for a in range(n)]
        place = taps.dimshuffle(0, *["x"] * n) + starts.dimshuffle("x", *shape)
        places.append(pt.cast(place, x.type.dtype) + offset[:, :, axis])
    images = x.reshape((batch * parts, channels // parts, *spatial))
    columns = linear(images, places).reshape((batch, parts, channels // parts, cells, *counts))
    if mask is not None:
        columns = columns * mask.reshape((batch, parts, 1, cells, *counts))
    columns = columns.reshape((batch, channels, cells, *counts))
    return with_bias(filtered(columns, w, node.attribute("group", 1)), b)


@converts("Col2Im")
def col2im(node, x, image_shape, block_shape):
    image = must_be_known(image_shape, "the shape of the image").tolist()
    found = windows(node, must_be_known(block_shape, "the shape of a block").tolist())
    counts = found.counts(image)
    batch, rows, _ = lengths(x)
    taps = list(found.taps(counts))
    channels = rows // len(taps)
    columns = x.reshape((batch, channels, len(taps), *counts))
    wider = [n + lo + hi for n, (lo, hi) in zip(image, found.pads, strict=True)]
    out = filled(like(x, 0), (batch, channels, *wider))
    for number, tap in enumerate(taps):
        out = pt.inc_subtensor(out[(..., *tap)], columns[:, :, number])
    inside = [slice(lo, lo + n) for n, (lo, _) in zip(image, found.pads, strict=True)]
    return out[(..., *inside)]
