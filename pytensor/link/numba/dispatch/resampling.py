"""Resampling in Numba, along one axis of arrays (before, length, after) at a time."""

import numpy as np

from pytensor.link.numba.dispatch.kernels import kernel, module_key, split

KEY = module_key(__file__)


@kernel
def axis_lookup(x, cells, weights):
    """Sum cells with their weights; what has no weight isn't read, for zero times NaN is NaN."""
    rows, _, columns = x.shape
    windows, taps = cells.shape
    out = np.zeros((rows, windows, columns), x.dtype)
    for a in range(rows):
        for o in range(windows):
            for t in range(taps):
                weight, c = weights[o, t], cells[o, t]
                if weight != 0:
                    for b in range(columns):
                        out[a, o, b] += weight * x[a, c, b]
    return out


@kernel
def axis_lookup_transposed(x, length, cells, weights):
    rows, _, columns = x.shape
    windows, taps = cells.shape
    out = np.zeros((rows, length, columns), x.dtype)
    for a in range(rows):
        for o in range(windows):
            for t in range(taps):
                weight, c = weights[o, t], cells[o, t]
                if weight != 0:
                    for b in range(columns):
                        out[a, c, b] += weight * x[a, o, b]
    return out


@kernel
def lookup(x, shape, axes, layout, cells, weights):
    """Resample a vector of entries of the given shape; the result's shape comes second.

    For each axis, `layout` has how many cells it gets and how many taps each of these has; taps
    follow one another in `cells` and `weights`.
    """
    shape = shape.copy()
    first = 0
    for i in range(len(axes)):
        out, taps = layout[i]
        end = first + out * taps
        image = axis_lookup(
            x.reshape(split(shape, axes[i])),
            cells[first:end].reshape((out, taps)),
            weights[first:end].reshape((out, taps)),
        )
        first = end
        shape[axes[i]] = out
        x = image.ravel()
    return x, shape


@kernel
def lookup_transposed(x, shape, axes, layout, cells, weights):
    """Return the gradient of `lookup` for entries of the given shape."""
    lengths = shape.copy()
    for i in range(len(axes)):
        lengths[axes[i]] = layout[i, 0]
    first = 0
    for i in range(len(axes)):
        out, taps = layout[i]
        end = first + out * taps
        image = axis_lookup_transposed(
            x.reshape(split(lengths, axes[i])),
            shape[axes[i]],
            cells[first:end].reshape((out, taps)),
            weights[first:end].reshape((out, taps)),
        )
        first = end
        lengths[axes[i]] = shape[axes[i]]
        x = image.ravel()
    return x


@kernel
def fill_outside(x, shape, axes, outside, value):
    """Return `x` with a value where a cell lies outside along one of the axes."""
    x = x.copy()
    first = 0
    for i in range(len(axes)):
        rows, length, columns = split(shape, axes[i])
        for c in range(length):
            if outside[first + c]:
                for a in range(rows):
                    start = (a * length + c) * columns
                    x[start : start + columns] = value
        first += length
    return x
