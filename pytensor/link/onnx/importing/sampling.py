"""Reading images at computed places."""

from functools import reduce
from itertools import product
from operator import add, mul

import pytensor.tensor as pt
from pytensor.link.onnx.importing.sizes import like, positions
from pytensor.tensor.batching import lengths_of


def at_cells(x, batch, cells):
    """Return the entries of images `x`, shape (batch, channels, *lengths), at cells.

    `cells` has an array of integers for each spatial axis; with `batch`, the numbers of the
    images, they broadcast to (rows, *out).  Returns (rows, channels, *out).
    """
    n = x.type.ndim
    found = x.dimshuffle(0, *range(2, n), 1)[(batch, *cells)]
    return pt.moveaxis(found, -1, 1)


def all_images(x, ndim: int):
    """Return the numbers of all images, with `ndim` axes."""
    return positions(lengths_of(x)[0]).dimshuffle(0, *["x"] * (ndim - 1))


def bounded(place, length):
    """Return a cell for each place that is the number of one; and whether it lies on the axis.

    A place that is NaN doesn't.
    """
    last = pt.cast(length - 1, place.type.dtype)
    inside = pt.and_(place >= like(place, 0), place <= last)
    return pt.cast(pt.switch(inside, place, like(place, 0)), "int64"), inside


def linear(x, places, batch=None):
    """Interpolate linearly between the nearest cells, those beyond the ends being 0.

    `places` are as the cells of `at_cells`, and of the dtype of `x`; so is the result.
    """
    return reduce(add, corners(x, places, batch))


def corners(x, places, batch=None):
    """Yield the terms of linear interpolation: each neighbouring cell times its weight."""
    batch = all_images(x, places[0].type.ndim) if batch is None else batch
    spatial = lengths_of(x)[2:]
    floors = [pt.floor(place) for place in places]
    for corner in product((0, 1), repeat=len(places)):
        shares, cells, on_axes = [], [], []
        for place, floor, length, upper in zip(places, floors, spatial, corner, strict=True):
            share = place - floor if upper else like(x, 1) - (place - floor)
            cell, inside = bounded(floor + like(x, upper), length)
            shares.append(share)
            cells.append(cell)
            on_axes.append(inside)
        term = at_cells(x, batch, cells) * pt.expand_dims(reduce(mul, shares), 1)
        # Not by shares of 0: the cell that is read instead may be infinite
        yield pt.switch(pt.expand_dims(reduce(pt.and_, on_axes), 1), term, like(x, 0))
