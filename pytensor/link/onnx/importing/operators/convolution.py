"""Convolutions."""

import math

import numpy as np

import pytensor.tensor as pt
from pytensor.link.onnx.importing.registry import Refused, operator_funcify
from pytensor.link.onnx.importing.sampling import linear
from pytensor.link.onnx.importing.sizes import filled, like, must_be_known, positions
from pytensor.link.onnx.importing.windows import (
    AutoPad,
    Sliding,
    filtered,
    known_pads,
    must_have_size,
    spatial_axes,
    split,
    with_bias,
    with_kernel,
)
from pytensor.tensor.basic import constant
from pytensor.tensor.batching import lengths_of
from pytensor.tensor.conv import conv, conv_transpose


@operator_funcify.register("Conv")
def conv_(
    x,
    w,
    b=None,
    *,
    auto_pad: AutoPad = "NOTSET",
    dilations=None,
    group=1,
    kernel_shape=None,
    pads=None,
    strides=None,
):
    spatial_axes(x)
    w, kernel = with_kernel(w, kernel_shape)
    sliding = Sliding(kernel, auto_pad, dilations, pads, strides)
    x, found = known_pads(x, sliding.windows(lengths_of(x)[2:]))
    out = conv(
        x,
        w,
        border_mode=found.pads,
        subsample=found.strides,
        filter_dilation=found.dilations,
        num_groups=group,
        filter_flip=False,
    )
    return with_bias(out, b)


@operator_funcify.register("ConvTranspose")
def conv_transpose_(
    x,
    w,
    b=None,
    *,
    auto_pad: AutoPad = "NOTSET",
    dilations=None,
    group=1,
    kernel_shape=None,
    output_padding=None,
    output_shape=None,
    pads=None,
    strides=None,
):
    n = spatial_axes(x)
    w, kernel = with_kernel(w, kernel_shape)
    sliding = Sliding(kernel, auto_pad, dilations, pads, strides)
    paddings = output_padding or [0] * n
    found, paddings = _transposed_windows(sliding, paddings, output_shape, x.type.shape[2:])
    out = conv_transpose(
        x,
        w,
        border_mode=found.pads,
        subsample=found.strides,
        filter_dilation=found.dilations,
        num_groups=group,
        filter_flip=False,
        output_padding=tuple(paddings),
    )
    return with_bias(out, b)


def _transposed_windows(sliding, paddings, wanted, spatial):
    """Return windows and output padding, such that the output has the shape that is wanted."""
    mode, kernel, found = sliding.auto_pad, sliding.kernel, sliding.unpadded()
    if wanted is not None or mode.startswith("SAME"):
        must_have_size(kernel)
    if wanted is not None:
        if None in spatial:
            raise Refused(
                "output_shape needs the length of the image, which the model leaves open: use "
                "pads and output_padding, or fix the length"
            )
        # Some models count batch and channels too
        wanted = wanted[-len(kernel) :]
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
        return sliding.windows(), paddings
    # The standard adds an odd cell at the beginning, but for SAME_UPPER
    mode = "SAME_UPPER" if mode == "SAME_UPPER" else "SAME_LOWER"
    found = found._replace(pads=tuple(split(max(s, 0), mode) for s in surplus))
    return found, [p - min(s, 0) for p, s in zip(paddings, surplus, strict=True)]


@operator_funcify.register("DeformConv")
def deform_conv(
    x,
    w,
    offset,
    b=None,
    mask=None,
    *,
    dilations=None,
    group=1,
    kernel_shape=None,
    offset_group=1,
    pads=None,
    strides=None,
):
    w, kernel = with_kernel(w, kernel_shape)
    must_have_size(kernel)
    found = Sliding(kernel, dilations=dilations, pads=pads, strides=strides).windows()
    n, parts = len(kernel), offset_group
    batch, channels, *spatial = lengths_of(x)
    counts = lengths_of(offset)[2:]
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
    return with_bias(filtered(columns, w, group), b)


@operator_funcify.register("Col2Im")
def col2im(x, image_shape, block_shape, *, dilations=None, pads=None, strides=None):
    image = must_be_known(image_shape, "the shape of the image").tolist()
    block = must_be_known(block_shape, "the shape of a block").tolist()
    found = Sliding(block, dilations=dilations, pads=pads, strides=strides).windows()
    counts = found.counts(image)
    batch, rows, _ = lengths_of(x)
    taps = list(found.taps(counts))
    channels = rows // len(taps)
    columns = x.reshape((batch, channels, len(taps), *counts))
    wider = [n + lo + hi for n, (lo, hi) in zip(image, found.pads, strict=True)]
    out = filled(like(x, 0), (batch, channels, *wider))
    for number, tap in enumerate(taps):
        out = pt.inc_subtensor(out[(..., *tap)], columns[:, :, number])
    inside = [slice(lo, lo + n) for n, (lo, _) in zip(image, found.pads, strict=True)]
    return out[(..., *inside)]
