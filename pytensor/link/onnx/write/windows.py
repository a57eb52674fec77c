"""Convolution and pooling in dtypes without a kernel: lookups with arrays of positions."""

from math import prod

from pytensor.link.onnx.write.lengths import (
    arange,
    expand_dims,
    ints,
    maximum,
    pad,
    reshape,
    where,
)


def window_positions(builder, outputs, taps, stride, dilation):
    """Return the cell of the padded axis that each output (row) reads by each tap (column)."""
    rows = expand_dims(arange(builder, outputs), 1) * stride
    return rows + expand_dims(arange(builder, taps), 0) * dilation


def cotangent_positions(builder, length, before, outputs, taps, stride, dilation, *, per_tap):
    """Transpose `window_positions`: return which outputs each cell of the image went into.

    Rows are cells of the image, columns taps.  The values number an axis of outputs, or with
    `per_tap` one of taps times outputs; one past its end stands for none.
    """
    taps_ = expand_dims(arange(builder, taps), 0)
    offset = (expand_dims(arange(builder, length), 1) + before) - taps_ * dilation
    output = maximum(offset, 0) // stride
    valid = (ints(builder, -1) < offset) & (output < outputs)
    if stride != 1:
        valid = valid & (offset % stride == 0)
    if per_tap:
        return where(valid, taps_ * outputs + output, taps * outputs)
    return where(valid, output, outputs)


def gather_windows(builder, x, first, positions):
    """Replace each axis, from `first` on, by two: output position and tap."""
    for i, index in enumerate(positions):
        x = builder.add("Gather", x, index.name, axis=first + 2 * i)
    return x


def columns(builder, op, padded, image, kernel, outputs):
    """Return rows of patches, shape (groups, batch * positions, channels / groups * taps)."""
    n, groups = op.n_spatial, op.num_groups
    batch, channels = image[:2]
    positions = [
        window_positions(builder, *axis)
        for axis in zip(outputs, kernel, op.subsample, op.filter_dilation, strict=True)
    ]
    x = gather_windows(builder, padded, 2, positions)
    pairs = [length for pair in zip(outputs, kernel, strict=True) for length in pair]
    x = reshape(builder, x, [batch, groups, channels // groups, *pairs])
    order = [1, 0, *range(3, 3 + 2 * n, 2), 2, *range(4, 4 + 2 * n, 2)]
    x = builder.add("Transpose", x, perm=order)
    rows, taps = batch * prod(outputs), channels // groups * prod(kernel)
    return reshape(builder, x, [groups, rows, taps])


def filter_matrix(builder, op, filters, shape):
    """Reshape filters to (groups, out channels / groups, channels / groups * taps)."""
    return reshape(builder, filters, [op.num_groups, shape[0] // op.num_groups, prod(shape[1:])])


def cotangent_matrix(builder, op, cotangent, shape):
    """Reshape an output's gradient to (groups, batch * positions, out channels / groups)."""
    (batch, channels, *outputs), groups, n = shape, op.num_groups, op.n_spatial
    x = reshape(builder, cotangent, [batch, groups, channels // groups, *outputs])
    x = builder.add("Transpose", x, perm=[1, 0, *range(3, 3 + n), 2])
    return reshape(builder, x, [groups, batch * prod(outputs), channels // groups])


def add_windows(builder, x, dtype, first, axes, *, per_tap):
    """Add up what each cell of the image was sent by the windows that it is in.

    From axis `first` on the axes of `x` number outputs, or with `per_tap` taps times outputs.
    `axes` has for each of them the image's length, its padding, outputs, taps, stride and dilation.
    """
    x = pad(builder, x, dtype, [(0, 1)] * len(axes))
    for axis, (length, (before, _), *rest) in enumerate(axes, start=first):
        index = cotangent_positions(builder, length, before, *rest, per_tap=per_tap)
        x = builder.add("Gather", x, index.name, axis=axis)
        x = builder.add_as(dtype, "ReduceSum", x, rest=[builder.int64s([axis + 1])], keepdims=0)
    return x
