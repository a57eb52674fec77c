"""Padding with what is computed from the entries along each axis."""

from pytensor.link.onnx.dispatch.careduce import max_or_min
from pytensor.link.onnx.write.term import concat, minimum


def pad_axes(x, ndim, pads, skipped, fill):
    """Put ``fill(x, axis, side, width)`` around `x`, one axis after the other.

    `pads` are all before and then all after, `skipped` those that are known to be 0; a side is 0 or
    1, and a width a vector of one entry.
    """
    for axis in range(ndim):
        before, after = (
            [fill(x, axis, side, pads.gather([place]))] if place not in skipped else []
            for side, place in enumerate((axis, ndim + axis))
        )
        x = concat([*before, x, *after], axis=axis)
    return x


def statistic(mode, ndim, stat_lengths):
    """Make a `fill` for the modes maximum, minimum and mean."""

    def fill(x, axis, side, width):
        if stat_lengths is not None:
            x = chunk(x, axis, side)
        if mode == "mean":
            # Not ReduceMean, which is 0 of no entries
            value = x.reduce_sum(axis, keepdims=True) / x.length(axis).cast(x.dtype)
        else:
            value = max_or_min(mode == "maximum", x, [axis], keepdims=True)
        return value.expand([*[1] * axis, width, *[1] * (ndim - 1 - axis)])

    def chunk(x, axis, side):
        size = x.length(axis)
        wanted = minimum(stat_lengths.gather([axis + side * ndim]), size)
        return x.slice(size - wanted, size, axis) if side else x.slice(0, wanted, axis)

    return fill


def linear_ramp(ndim, end_values):
    """Make a `fill` that goes from the end values to the edges."""

    def fill(x, axis, side, width):
        size = x.length(axis)
        edge = x.slice(size - 1, size, axis) if side else x.slice(0, 1, axis)
        outermost = end_values.gather(axis + side * ndim)
        numbers = x.builder.arange(width.squeeze(0))
        if side:
            numbers = width - 1 - numbers
        if ndim > 1:
            numbers = numbers.unsqueeze(*(i for i in range(ndim) if i != axis))
        # As pytensor.tensor.linspace: multiplied before it is divided.
        return (edge - outermost) * numbers.cast(x.dtype) / width.cast(x.dtype) + outermost

    return fill
