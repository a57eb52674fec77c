"""Pooling."""

from functools import reduce
from operator import mul

import numpy as np

import pytensor.tensor as pt
from pytensor.link.onnx.importing.registry import Refused, operator_funcify
from pytensor.link.onnx.importing.sizes import entries, filled, known, like, positions
from pytensor.link.onnx.importing.windows import AutoPad, Sliding, Windows, known_pads, spatial_axes
from pytensor.tensor.batching import lengths_of
from pytensor.tensor.conv.lengths import conv_transpose_output_length
from pytensor.tensor.pool import lp_pool, pool_nd
from pytensor.tensor.pool.ops import lowest

MAX = {1: pt.nn.max_pool1d, 2: pt.nn.max_pool2d, 3: pt.nn.max_pool3d}
UNPOOL = {1: pt.nn.max_unpool1d, 2: pt.nn.max_unpool2d, 3: pt.nn.max_unpool3d}


def _maxima(x, **windows):
    return MAX[spatial_axes(x)](x, **windows)


def _averages(x, kernel_size, stride, padding, dilation, ceil_mode, count_include_pad):
    mode = "average_inc_pad" if count_include_pad else "average_exc_pad"
    return pool_nd(x, kernel_size, not ceil_mode, stride, padding, mode, dilation=dilation)


def _pooled(x, function, sliding, *, value=0, **more):
    """Return what a function of ours makes of an image and windows; cells beyond it are `value`."""
    if len(sliding.kernel) != x.type.ndim - 2:
        raise Refused(
            f"its kernel_shape has {len(sliding.kernel)} entries, and its input "
            f"{x.type.ndim - 2} spatial axes"
        )
    image, declared = x, sliding.windows(lengths_of(x)[2:])
    x, found = known_pads(x, declared, value)
    if x is not image and "return_indices" in more:
        raise Refused("the positions of its maxima need the lengths of the image: fix them")
    if x is not image and more.get("count_include_pad") is False:
        # The share of a window's cells that lie on the image
        more["count_include_pad"] = True
        share, _ = known_pads(pt.ones_like(image), declared)
        return _pooled_with(x, found, function, more) / _pooled_with(share, found, function, more)
    if x.type.ndim > 5 and "return_indices" not in more:
        return _pooled_beside(x, found, function, more)
    return _pooled_with(x, found, function, more)


def _pooled_beside(x, found, function, more):
    """Pool an image of axes along which windows are single cells: these join the channels."""
    cells = zip(found.kernel, found.strides, found.pads, strict=True)
    single = [i for i, cell in enumerate(cells) if cell == (1, 1, (0, 0))]
    others = [i for i in range(len(found.kernel)) if i not in single]
    order = [0, 1, *(i + 2 for i in (*single, *others))]
    x = x.transpose(*order)
    batch, *channels = lengths_of(x)[: 2 + len(single)]
    found = Windows(*(tuple(part[i] for i in others) for part in found))
    together = x.reshape((batch, reduce(mul, channels), *lengths_of(x)[2 + len(single) :]))
    out = _pooled_with(together, found, function, more)
    out = out.reshape((batch, *channels, *lengths_of(out)[2:]))
    return out.transpose(*np.argsort(order).tolist())


def _pooled_with(x, found, function, more):
    spatial_axes(x)  # which refuses what our operators don't take
    return function(
        x,
        kernel_size=found.kernel,
        stride=found.strides,
        padding=found.pads,
        dilation=found.dilations,
        **more,
    )


@operator_funcify.register("MaxPool")
def max_pool(
    node,
    x,
    *,
    auto_pad: AutoPad = "NOTSET",
    ceil_mode=0,
    dilations=None,
    kernel_shape,
    pads=None,
    storage_order=0,
    strides=None,
):
    sliding = Sliding(kernel_shape, auto_pad, dilations, pads, strides)
    ceil = bool(ceil_mode)
    if 1 not in node.wanted_outputs:
        return _pooled(x, _maxima, sliding, value=lowest(x.type.dtype), ceil_mode=ceil)
    values, indices = _pooled(x, _maxima, sliding, ceil_mode=ceil, return_indices=True)
    batch, channels, *spatial = lengths_of(x)
    if storage_order:
        indices = _column_major(indices, spatial)
    images = positions(batch)[:, None] * channels + positions(channels)
    for length in spatial:
        images = images * length
    return values, indices + images.dimshuffle(0, 1, *["x"] * len(spatial))


def _column_major(indices, spatial):
    """Return positions in an image whose first spatial axis changes fastest."""
    along = []
    for length in reversed(spatial):
        along.append(indices % length)
        indices = indices // length
    out = along[0]
    for position, length in zip(along[1:], reversed(spatial[:-1]), strict=True):
        out = out * length + position
    return out


@operator_funcify.register("AveragePool")
def average_pool(
    x,
    *,
    auto_pad: AutoPad = "NOTSET",
    ceil_mode=0,
    count_include_pad=0,
    dilations=None,
    kernel_shape,
    pads=None,
    strides=None,
):
    sliding = Sliding(kernel_shape, auto_pad, dilations, pads, strides)
    counted = bool(count_include_pad)
    return _pooled(x, _averages, sliding, ceil_mode=bool(ceil_mode), count_include_pad=counted)


@operator_funcify.register("LpPool")
def lp_pool_(
    x,
    *,
    auto_pad: AutoPad = "NOTSET",
    ceil_mode=0,
    dilations=None,
    kernel_shape,
    p=2,
    pads=None,
    strides=None,
):
    sliding = Sliding(kernel_shape, auto_pad, dilations, pads, strides)
    return _pooled(x, lp_pool, sliding, ceil_mode=bool(ceil_mode), norm_type=p)


@operator_funcify.register("GlobalMaxPool")
def global_max_pool(x):
    return pt.nn.global_max_pool(x)


@operator_funcify.register("GlobalAveragePool")
def global_average_pool(x):
    return pt.nn.global_avg_pool(x)


@operator_funcify.register("GlobalLpPool")
def global_lp_pool(x, *, p=2):
    return pt.nn.global_lp_pool(x, p)


@operator_funcify.register("MaxUnpool")
def max_unpool(x, indices, output_shape=None, *, kernel_shape, pads=None, strides=None):
    n = spatial_axes(x)
    found = Sliding(kernel_shape, pads=pads, strides=strides).windows()
    cropped = found.pads if output_shape is None else ((0, 0),) * n
    axes = zip(lengths_of(x)[2:], found.kernel, cropped, found.strides, strict=True)
    image = [conv_transpose_output_length(*axis, dilation=1) for axis in axes]
    # Indices count all images; one image's suffice
    out = UNPOOL[n](x, indices % reduce(mul, image), found.kernel, found.strides, cropped)
    if output_shape is None:
        return out
    wanted = entries(output_shape)
    if wanted is None:
        raise Refused("the number of entries of its output_shape isn't known")
    lengths = lengths_of(out)
    if len(wanted) != len(lengths):
        raise Refused(f"its output_shape has {len(wanted)} entries, and its input {n + 2} axes")
    for number, length in zip(map(known, wanted[:2]), lengths, strict=False):
        if number is not None and isinstance(length, int) and number != length:
            raise Refused(f"its output_shape has {number} where its input has {length}")
    # The standard's indices are for the smallest image, to which zeros are added at the ends
    larger = filled(like(x, 0), (*lengths_of(out)[:2], *wanted[2:]))
    inside = tuple(slice(0, length) for length in lengths_of(out)[2:])
    return pt.set_subtensor(larger[(..., *inside)], out)
