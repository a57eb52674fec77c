"""Pooling in Numba: every kernel works along one axis of arrays (before, length, after).

Windows are given by a table with a row of integers per pooled axis, see `window_table`; a
pooling of several axes does one after the other.
"""

import numpy as np

from pytensor.link.numba.dispatch.kernels import kernel, module_key, split
from pytensor.tensor.conv.lengths import adaptive_bins, pool_output_length, window_extent
from pytensor.tensor.pool.adaptive import AdaptivePool

KEY = module_key(__file__)
compiled_bins, compiled_extent = kernel(adaptive_bins), kernel(window_extent)
compiled_output_length = kernel(pool_output_length)


def window_table(op):
    """Describe the windows of an Op: window, stride, before, after, dilation, floor, and number.

    The number is 0 where it follows from the others, and -1 where every cell is a window.
    """
    if isinstance(op, AdaptivePool):
        rows = [(1, 1, 0, 0, 1, 0, -1 if m is None else m) for m in op.output_size]
    else:
        geometry = zip(op.ws, op.stride, op.pad, op.dilation, strict=True)
        rows = [(w, s, *pad, d, op.ignore_border, 0) for w, s, pad, d in geometry]
    return np.array(rows, dtype="int64")


@kernel
def number_of_windows(length, row):
    window, stride, before, after, dilation, floor, number = row
    if number:
        return length if number < 0 else number
    extent = compiled_extent(window, dilation)
    return compiled_output_length(length, extent, stride, (before, after), floor != 0)


@kernel
def all_fit(shape, table):
    """Return whether there are windows along all axes, and cells for windows of a given number."""
    first = len(shape) - len(table)
    for i in range(len(table)):
        length = shape[first + i]
        if number_of_windows(length, table[i]) < 1 and table[i, 6] >= 0:
            return False
        if length == 0 and table[i, 6] > 0:
            return False
    return True


FIRST, END, OUTSIDE, COUNT = range(4)


@kernel
def axis_windows(length, row):
    """Return where the windows along an axis lie: four integers for each.

    The first cell of the window inside of the image, and where its cells end; of windows that
    begin in the padding the first cell of the image that the steps of such a window can reach,
    of others -1; and how many cells the window has, the padding included.
    """
    window, stride, before, after, dilation, _, number = row
    m = number_of_windows(length, row)
    out = np.empty((m, 4), np.int64)
    for i in range(m):
        out[i, OUTSIDE] = -1
        if number:
            out[i, FIRST], out[i, END] = compiled_bins(i, length, m)
            out[i, COUNT] = out[i, END] - out[i, FIRST]
            continue
        start = i * stride - before
        out[i, FIRST] = start
        if start < 0:
            out[i, FIRST] = start % dilation
            out[i, OUTSIDE] = max(min(start % dilation, length - 1), 0)
        out[i, END] = min(start + compiled_extent(window, dilation), length)
        out[i, COUNT] = min(window, (length + after - start + dilation - 1) // dilation)
    return out


@kernel
def axis_maxima(x, row, lowest):
    rows, length, columns = x.shape
    windows, step = axis_windows(length, row), row[4]
    out = np.empty((rows, len(windows), columns), x.dtype)
    for a in range(rows):
        for o in range(len(windows)):
            start = windows[o, FIRST]
            inside = windows[o, OUTSIDE] < 0
            for b in range(columns):
                out[a, o, b] = x[a, start, b] if inside else lowest
            if inside:
                start += step
            if columns == 1:
                best = out[a, o, 0]
                for c in range(start, windows[o, END], step):
                    new = x[a, c, 0]
                    best = best if best >= new or best != best else new
                out[a, o, 0] = best
            else:
                for c in range(start, windows[o, END], step):
                    for b in range(columns):
                        best, new = out[a, o, b], x[a, c, b]
                        out[a, o, b] = best if best >= new or best != best else new
    return out


@kernel
def pool_maxima(x, shape, table, lowest):
    """Return maxima, as a vector, and the shape that they have."""
    shape = shape.copy()
    for i in range(len(table)):
        axis = len(shape) - len(table) + i
        out = axis_maxima(x.reshape(split(shape, axis)), table[i], lowest)
        shape[axis] = out.shape[1]
        x = out.ravel()
    return x, shape


@kernel
def axis_winners(x, row, lowest, image_only):
    """Return maxima along an axis, and their positions in the flattened `x`."""
    rows, length, columns = x.shape
    windows, step = axis_windows(length, row), row[4]
    out = np.empty((rows, len(windows), columns), x.dtype)
    winners = np.empty(out.shape, np.int64)
    for a in range(rows):
        for o in range(len(windows)):
            start = windows[o, FIRST]
            base = a * length * columns
            inside = windows[o, OUTSIDE] < 0
            cell = base + (start if inside else windows[o, OUTSIDE]) * columns
            tell = inside or (image_only and length > 0)
            for b in range(columns):
                out[a, o, b] = x[a, start, b] if inside else lowest
                winners[a, o, b] = cell + b if tell else -1
            if inside:
                start += step
            if columns == 1:
                best, winner = out[a, o, 0], winners[a, o, 0]
                for c in range(start, windows[o, END], step):
                    new = x[a, c, 0]
                    if not (best >= new or best != best):
                        best, winner = new, base + c
                out[a, o, 0], winners[a, o, 0] = best, winner
            else:
                for c in range(start, windows[o, END], step):
                    cell = base + c * columns
                    for b in range(columns):
                        best, new = out[a, o, b], x[a, c, b]
                        keep = best >= new or best != best
                        out[a, o, b] = best if keep else new
                        winners[a, o, b] = winners[a, o, b] if keep else cell + b
    return out, winners


@kernel
def pool_winners(x, shape, table, lowest, image_only):
    """Return maxima and their positions in the vector `x`, as vectors, and their shape.

    Padding has position -1; with `image_only`, it has that of the first cell of the image in the
    same window.
    """
    shape = shape.copy()
    places = np.empty(0, np.int64)
    n = len(table)
    # The last axis first: then a tie across rows is settled after that within each row, which
    # makes the winner the first in row-major order.
    for i in range(n - 1, -1, -1):
        axis = len(shape) - n + i
        image = x.reshape(split(shape, axis))
        out, winners = axis_winners(image, table[i], lowest, image_only)
        shape[axis] = out.shape[1]
        x, found = out.ravel(), winners.ravel()
        if i < n - 1:
            for j in range(found.size):
                if found[j] >= 0:
                    found[j] = places[found[j]]
        places = found
    return x, places, shape


@kernel
def within_images(places, cells):
    """Turn positions in all images, of as many cells each, into those in each image."""
    for i in range(places.size):
        places[i] %= cells
    return places


@kernel
def scatter_add(values, places, size):
    out = np.zeros(size, values.dtype)
    for i in range(places.size):
        if places[i] >= 0:
            out[places[i]] += values[i]
    return out


@kernel
def divisors(windows, step, average, include_pad, dtype):
    """Return what the sum of each window is divided by."""
    numbers = np.empty(len(windows), dtype)
    for o in range(len(windows)):
        inside = max((windows[o, END] - windows[o, FIRST] + step - 1) // step, 0)
        numbers[o] = 1 if not average else windows[o, COUNT] if include_pad else inside
    return numbers


@kernel
def axis_sums(x, row, average, include_pad):
    rows, length, columns = x.shape
    windows, step = axis_windows(length, row), row[4]
    numbers = divisors(windows, step, average, include_pad, x.dtype)
    out = np.zeros((rows, len(windows), columns), x.dtype)
    for a in range(rows):
        for o in range(len(windows)):
            if columns == 1:
                total = out[a, o, 0]
                for c in range(windows[o, FIRST], windows[o, END], step):
                    total += x[a, c, 0]
                out[a, o, 0] = total
            else:
                for c in range(windows[o, FIRST], windows[o, END], step):
                    for b in range(columns):
                        out[a, o, b] += x[a, c, b]
            if average:
                for b in range(columns):
                    out[a, o, b] /= numbers[o]
    return out


@kernel
def pool_sums(x, shape, table, average, include_pad):
    """Return sums or averages, as a vector, and the shape that they have."""
    shape = shape.copy()
    for i in range(len(table)):
        axis = len(shape) - len(table) + i
        out = axis_sums(x.reshape(split(shape, axis)), table[i], average, include_pad)
        shape[axis] = out.shape[1]
        x = out.ravel()
    return x, shape


@kernel
def axis_sums_transposed(x, length, row, average, include_pad):
    rows, _, columns = x.shape
    windows, step = axis_windows(length, row), row[4]
    numbers = divisors(windows, step, average, include_pad, x.dtype)
    out = np.zeros((rows, length, columns), x.dtype)
    for a in range(rows):
        for o in range(len(windows)):
            for c in range(windows[o, FIRST], windows[o, END], step):
                for b in range(columns):
                    out[a, c, b] += x[a, o, b] / numbers[o]
    return out


@kernel
def pool_sums_transposed(x, shape, table, average, include_pad):
    """Return the gradient of `pool_sums` for images of the given shape, as a vector."""
    lengths = shape.copy()
    n = len(table)
    for i in range(n):
        axis = len(shape) - n + i
        lengths[axis] = number_of_windows(shape[axis], table[i])
    for i in range(n - 1, -1, -1):
        axis = len(shape) - n + i
        image = x.reshape(split(lengths, axis))
        out = axis_sums_transposed(image, shape[axis], table[i], average, include_pad)
        lengths[axis] = shape[axis]
        x = out.ravel()
    return x
