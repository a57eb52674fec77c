"""Convolution and pooling in dtypes without a kernel: lookups with arrays of positions."""

from math import prod

from pytensor.link.onnx.write.lengths import pad
from pytensor.link.onnx.write.term import maximum, where


def positions_of(builder, length):
    """Return 0, 1, ... up to `length`, an int or a term of one entry."""
    return builder.arange(length if isinstance(length, int) else length.squeeze(0))


def window_positions(builder, outputs, taps, stride, dilation):
    """Return the cell of the padded axis that each output (row) reads by each tap (column)."""
    rows = positions_of(builder, outputs).unsqueeze(1) * stride
    return rows + positions_of(builder, taps).unsqueeze(0) * dilation


def cotangent_positions(builder, length, before, outputs, taps, stride, dilation, *, per_tap):
    """Transpose `window_positions`: return which outputs each cell of the image went into.

    Rows are cells of the image, columns taps.  The values number an axis of outputs, or with
    `per_tap` one of taps times outputs; one past its end stands for none.
    """
    taps_ = positions_of(builder, taps).unsqueeze(0)
    offset = (positions_of(builder, length).unsqueeze(1) + before) - taps_ * dilation
    output = maximum(offset, 0) // stride
    valid = (offset.lift(-1) < offset) & (output < outputs)
    if stride != 1:
        valid = valid & (offset % stride == 0)
    if per_tap:
        return where(valid, taps_ * outputs + output, taps * outputs)
    return where(valid, output, outputs)


def gather_windows(x, first, positions):
    """Replace each axis, from `first` on, by two: output position and tap."""
    for i, index in enumerate(positions):
        x = x.gather(index, axis=first + 2 * i)
    return x


def columns(op, padded, image, kernel, outputs):
    """Return rows of patches, shape (groups, batch * positions, channels / groups * taps)."""
    n, groups = op.n_spatial, op.num_groups
    batch, channels = image[:2]
    positions = [
        window_positions(padded.builder, *axis)
        for axis in zip(outputs, kernel, op.subsample, op.filter_dilation, strict=True)
    ]
    x = gather_windows(padded, 2, positions)
    pairs = [length for pair in zip(outputs, kernel, strict=True) for length in pair]
    x = x.reshape([batch, groups, channels // groups, *pairs])
    x = x.transpose(1, 0, *range(3, 3 + 2 * n, 2), 2, *range(4, 4 + 2 * n, 2))
    rows, taps = batch * prod(outputs), channels // groups * prod(kernel)
    return x.reshape([groups, rows, taps])


def filter_matrix(op, filters, shape):
    """Reshape filters to (groups, out channels / groups, channels / groups * taps)."""
    return filters.reshape([op.num_groups, shape[0] // op.num_groups, prod(shape[1:])])


def cotangent_matrix(op, cotangent, shape):
    """Reshape an output's gradient to (groups, batch * positions, out channels / groups)."""
    (batch, channels, *outputs), groups, n = shape, op.num_groups, op.n_spatial
    x = cotangent.reshape([batch, groups, channels // groups, *outputs])
    x = x.transpose(1, 0, *range(3, 3 + n), 2)
    return x.reshape([groups, batch * prod(outputs), channels // groups])


def add_windows(x, first, axes, *, per_tap):
    """Add up what each cell of the image was sent by the windows that it is in.

    From axis `first` on the axes of `x` number outputs, or with `per_tap` taps times outputs.
    `axes` has for each of them the image's length, its padding, outputs, taps, stride and dilation.
    """
    x = pad(x, [(0, 1)] * len(axes))
    for axis, (length, (before, _), *rest) in enumerate(axes, start=first):
        index = cotangent_positions(x.builder, length, before, *rest, per_tap=per_tap)
        x = x.gather(index, axis=axis).reduce_sum(axis + 1)
    return x
