"""Which cells of an axis each resampled cell reads, and with which weights.

Every function takes `xp`: NumPy, for lengths that are known, or `Symbolic`, for scalar variables.
Coordinates and weights have double precision.
"""

from typing import Any, NamedTuple

import numpy as np

import pytensor.tensor.basic as ptb
import pytensor.tensor.math as ptm


class Symbolic:
    """The few functions that the formulas need, on variables; NumPy has the same."""

    abs = staticmethod(ptm.abs)
    ceil = staticmethod(ptm.ceil)
    clip = staticmethod(ptm.clip)
    equal = staticmethod(ptm.eq)
    floor = staticmethod(ptm.floor)
    greater = staticmethod(ptm.gt)
    minimum = staticmethod(ptm.minimum)
    maximum = staticmethod(ptm.maximum)
    where = staticmethod(ptb.switch)

    @staticmethod
    def arange(start, stop):
        return ptb.arange(start, stop, dtype="int64")


class Axis(NamedTuple):
    """Lengths of one axis that is resampled, before and after: integers, or scalar variables.

    `factor` is the scale, and `width` is `length` times it: `out` before it was rounded.
    """

    length: Any
    out: Any
    factor: Any
    width: Any


def along(vector, axis, ndim):
    """Return an array's only axis as one of `ndim`, the others having one entry; in any library."""
    return vector.reshape([-1 if a == axis else 1 for a in range(ndim)])


def _half_pixel(i, axis, xp):
    return (i + 0.5) / axis.factor - 0.5


def _half_pixel_symmetric(i, axis, xp):
    # the part of the output that rounding cut off is shared by both ends
    return axis.length / 2 * (1 - axis.out / axis.width) + _half_pixel(i, axis, xp)


def _pytorch_half_pixel(i, axis, xp):
    return xp.where(xp.greater(axis.out, 1), _half_pixel(i, axis, xp), 0.0)


def _intervals(axis, xp):
    """Return the number of steps between the first and the last cell of the output; never zero."""
    return xp.where(xp.equal(axis.width, 1), 1.0, axis.width - 1.0)


COORDINATES = {
    "half_pixel": _half_pixel,
    "half_pixel_symmetric": _half_pixel_symmetric,
    "pytorch_half_pixel": _pytorch_half_pixel,
    "align_corners": lambda i, axis, xp: i * (axis.length - 1) / _intervals(axis, xp),
    "asymmetric": lambda i, axis, xp: i / axis.factor,
    "tf_half_pixel_for_nn": lambda i, axis, xp: (i + 0.5) / axis.factor,
}


def crop_coordinates(i, axis, start, end, xp):
    """Return places of ``"tf_crop_and_resize"``: `start` to `end`, fractions of the axis."""
    last = axis.length - 1
    spread = i * (end - start) * last / _intervals(axis, xp)
    return xp.where(xp.greater(axis.out, 1), spread, (end - start) * last / 2) + start * last


ROUNDINGS = {
    "round_prefer_floor": lambda x, xp: xp.ceil(x - 0.5),
    "round_prefer_ceil": lambda x, xp: xp.floor(x + 0.5),
    "floor": lambda x, xp: xp.floor(x),
    "ceil": lambda x, xp: xp.ceil(x),
}


def _linear(distance, a, xp):
    return xp.maximum(1 - distance, 0.0)


def _cubic(distance, a, xp):
    inner = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    outer = ((distance - 5) * distance + 8) * distance * a - 4 * a
    return xp.where(xp.greater(1, distance), inner, xp.where(xp.greater(2, distance), outer, 0.0))


# function of the distance, and where it ends
KERNELS = {"linear": (_linear, 1), "cubic": (_cubic, 2)}


def nearest_cells(x, axis, nearest_mode, xp=np):
    """Return the cells nearest to the places `x`, of the same shape."""
    # Rewrites divide by a length as a product with its inverse: 7 * (9 * (1 / 9)) is below 7.
    x = xp.floor(x * 2.0**20 + 0.5) / 2.0**20
    return xp.clip(ROUNDINGS[nearest_mode](x, xp), 0, axis.length - 1).astype("int64")


def weighted_cells(x, axis, mode, a=0.0, antialias=False, exclude_outside=False, xp=np):
    """Return cells to read for the places `x`, and their weights (float64), of shape (out, taps).

    Cells beyond an end are the last one there.
    """
    kernel, reach = KERNELS[mode]
    squeeze = xp.minimum(axis.factor, 1.0) if antialias else 1.0
    half = xp.ceil(reach / squeeze).astype("int64") if antialias else reach
    x = x[:, None]
    cells = xp.floor(x) + xp.arange(1 - half, half + 1)[None, :]
    weights = kernel(xp.abs(cells - x) * squeeze, a, xp)
    inside = xp.clip(cells, 0, axis.length - 1)
    if exclude_outside:
        weights = xp.where(xp.equal(cells, inside), weights, 0.0)
    if antialias or exclude_outside:
        total = weights.sum(axis=1, keepdims=True)
        weights = weights / xp.where(xp.equal(total, 0), 1.0, total)
    return inside.astype("int64"), weights


def transpose_taps(cells, weights, length):
    """Return taps of the transposed map: for each cell of the input, which of the output read it.

    Cells and weights (None for ones) have shape (out, taps); those returned have shape (length,
    most readers of one cell), with zeros as weights where there are fewer.  None in their place
    where a few cells have most of the readers: to scatter is less work then.
    """
    weights = np.ones(cells.shape) if weights is None else weights
    reader = np.broadcast_to(np.arange(len(cells))[:, None], cells.shape)
    used = weights != 0
    sources, reader, weights = cells[used], reader[used], weights[used]
    order = np.argsort(sources, kind="stable")
    sources, reader, weights = sources[order], reader[order], weights[order]
    counts = np.bincount(sources, minlength=length)
    position = np.arange(len(sources)) - (np.cumsum(counts) - counts)[sources]
    most = max(counts.max(initial=0), 1)
    if length * most > 4 * cells.size + 16:
        return None, None
    back = np.zeros((length, most), "int64")
    back_weights = np.zeros((length, most))
    back[sources, position] = reader
    back_weights[sources, position] = weights
    return back, back_weights
