"""Padding with what is computed from the entries along each axis."""

from pytensor.link.onnx.dispatch.careduce import max_or_min
from pytensor.link.onnx.write.sizes import count_to, length, scalar, vector


def pad_axes(builder, x, ndim, pads, skipped, fill):
    """Put ``fill(x, axis, side, width)`` around `x`, one axis after the other.

    `pads` are all before and then all after, `skipped` those that are known to be 0; a side is 0 or
    1, and a width a vector of one entry.
    """
    for axis in range(ndim):
        parts = []
        for side, place in enumerate((axis, ndim + axis)):
            if place not in skipped:
                width = builder.add("Gather", pads, builder.int64s([place]))
                parts.append((side, fill(x, axis, side, width)))
        before = [part for side, part in parts if side == 0]
        after = [part for side, part in parts if side == 1]
        if parts:
            x = builder.add("Concat", *before, x, *after, axis=axis)
    return x


def statistic(builder, dtype, mode, ndim, stat_lengths):
    """Make a `fill` for the modes maximum, minimum and mean."""

    def fill(x, axis, side, width):
        if stat_lengths is not None:
            x = chunk(x, axis, side)
        axes = builder.int64s([axis])
        if mode == "mean":
            value = builder.add("ReduceMean", x, axes, keepdims=1)
        else:
            value = max_or_min(builder, mode == "maximum", dtype, x, [axis], keepdims=1)
        shape = vector(builder, [*[1] * axis, width, *[1] * (ndim - 1 - axis)])
        return builder.add("Expand", value, shape)

    def chunk(x, axis, side):
        size = length(builder, x, axis)
        place = builder.int64s([axis + side * ndim])
        wanted = builder.add("Min", builder.add("Gather", stat_lengths, place), size)
        start = builder.add("Sub", size, wanted) if side else builder.int64s([0])
        end = size if side else wanted
        return builder.add("Slice", x, start, end, builder.int64s([axis]))

    return fill


def linear_ramp(builder, dtype, ndim, end_values):
    """Make a `fill` that goes from the end values to the edges."""

    def fill(x, axis, side, width):
        size = length(builder, x, axis)
        start = builder.add("Sub", size, builder.int64s([1])) if side else builder.int64s([0])
        end = size if side else builder.int64s([1])
        edge = builder.add("Slice", x, start, end, builder.int64s([axis]))
        place = builder.constant(axis + side * ndim, "int64")
        outermost = builder.add("Gather", end_values, place)
        numbers = count_to(builder, scalar(builder, width))
        if side:
            last = builder.add("Sub", width, builder.int64s([1]))
            numbers = builder.add("Sub", last, numbers)
        if ndim > 1:
            others = [i for i in range(ndim) if i != axis]
            numbers = builder.add("Unsqueeze", numbers, builder.int64s(others))
        numbers = builder.cast(numbers, "int64", dtype)
        # As pytensor.tensor.linspace: multiplied before it is divided.
        rise = builder.add("Mul", builder.add("Sub", edge, outermost), numbers)
        rise = builder.add("Div", rise, builder.cast(width, "int64", dtype))
        return builder.add("Add", rise, outermost)

    return fill
