"""The things of a data set that can be pasted into other pictures (`augment` says where)."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from data.images import to_corners
from data.listing import DataError

MARGIN = 0.1  # pasted around a thing, as a fraction of its sides
LEAST_SIDE = 8  # pixels of a thing's shorter side, in its square and as pasted
MOST_SIDE = 0.5  # longer side of what is pasted, as a fraction of the image's
MOST_BOXES = 3  # that a pasted thing brings, its own among them
# Parts of another thing that what is pasted may not show: cut in two, it would be neither
# background (see `augment.keep_boxes`) nor worth learning.
CUT = 0.099, 0.5
# Scales of what is pasted onto a thing: nothing is blurred by much, or loses most of its pixels.
FITTED = 0.5, 1.5


class Things(NamedTuple):
    """Things that can be pasted, n of them, sorted by class and then by picture.

    A thing is pasted as a rectangle, a margin of its surroundings included: boxes tell no more of
    its shape. (Ghiasi et al., Simple Copy-Paste, 2021, cut things out by masks.) Other things in
    that rectangle come along with their boxes.
    """

    source: np.ndarray  # int32 (n,): pictures in the data set
    content: np.ndarray  # int32 (n, 4): what is pasted; left, top, right, bottom in the square
    gains: np.ndarray  # float64 (n, 2): least and greatest scale that things are pasted with
    bounds: np.ndarray  # int64 (k + 1,): where each of the k classes that have things begins
    most_boxes: int  # that one of them brings

    def choose(self, index, kind, which):
        """Choose a thing of another picture than `index`; its place here, or None if there is none.

        `kind` and `which` are uniform in [0, 1): first the class is chosen, so that of rare ones
        as many things are pasted as of others, then one of its things.
        """
        kind = int(kind * (len(self.bounds) - 1))
        first, end = self.bounds[kind : kind + 2].tolist()
        own, after = first + np.searchsorted(self.source[first:end], (index, index + 1))
        others = end - first - int(after - own)
        if not others:
            return None
        thing = first + int(which * others)
        return thing if thing < own else thing + int(after - own)

    def choose_fitting(self, index, least, most, which):
        """Choose a thing of another picture than `index` whose longer side can be made to fit.

        Returns it, and the scales with which that side is `least` to `most` pixels long, as far as
        its `gains` allow; None if no thing fits. `which` is uniform in [0, 1).
        """
        longer = (self.content[:, 2:] - self.content[:, :2]).max(axis=1)
        low = np.maximum(self.gains[:, 0], least / longer)
        high = np.minimum(self.gains[:, 1], most / longer)
        fits = np.flatnonzero((low <= high) & (self.source != index))
        if not len(fits):
            return None
        thing = int(fits[int(which * len(fits))])
        return thing, float(low[thing]), float(high[thing])


def _parts_inside(corners, content):
    """Return the part of each box (n, 4) of a picture that each rectangle (n, 4) shows; (n, n)."""
    low = np.maximum(corners[:, :2], content[:, None, :2])
    high = np.minimum(corners[:, 2:], content[:, None, 2:])
    return (high - low).clip(0).prod(axis=-1) / (corners[:, 2:] - corners[:, :2]).prod(axis=1)


def _limits(sides, low, high, size):
    """Return the least and the greatest scale with which rectangles around boxes can be pasted."""
    least = LEAST_SIDE / np.maximum(sides.min(axis=1), 1e-6)
    return least, MOST_SIDE * size / np.maximum((high - low).max(axis=1), 1)


def find_things(boxes, classes, bounds, pictures, size):
    """Find what can be pasted: nothing that is too small, long and thin, or hidden in a crowd.

    Parameters
    ----------
    boxes : float32 array, (n, 4)
        ``cx, cy, w, h`` as fractions of the square, of all pictures in their order.
    classes : int32 array, (n,)
    bounds : int array, (pictures + 1,)
        Where the boxes of each picture begin.
    pictures : int array, (pictures, 4)
        Left, top, right, bottom of pictures in their squares.
    size : int
        Side of the squares in pixels.

    Returns
    -------
    Things

    Raises
    ------
    DataError
        Nothing can be pasted.
    """
    corners = to_corners(boxes, size)
    sides = corners[:, 2:] - corners[:, :2]
    source = np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))
    inside = pictures[source]
    low = np.maximum(np.floor(corners[:, :2] - MARGIN * sides), inside[:, :2])
    high = np.minimum(np.ceil(corners[:, 2:] + MARGIN * sides), inside[:, 2:])
    content = np.concatenate([low, high], axis=1).astype(np.int32)
    least, most = _limits(sides, low, high, size)
    fits, shown = least <= np.minimum(most, 1), np.empty(len(boxes), int)
    for first, end in pairwise(bounds):
        parts = _parts_inside(corners[first:end], content[first:end])
        shown[first:end] = (parts >= CUT[1]).sum(axis=1)
        fits[first:end] &= ~((parts > CUT[0]) & (parts < CUT[1])).any(axis=1)
    fits &= shown <= MOST_BOXES
    if not fits.any():
        raise DataError(
            f"--copy-paste: none of the {len(boxes)} boxes can be pasted; each is below "
            f"{LEAST_SIDE} px, too long and thin, or hidden in a crowd; leave the option out"
        )
    order = np.flatnonzero(fits)
    order = order[np.argsort(classes[order], kind="stable")]
    starts = np.flatnonzero(np.diff(classes[order], prepend=-1))
    return Things(
        source[order], content[order], np.stack([least, most], axis=1)[order],
        np.append(starts, len(order)), int(shown[order].max()),
    )  # fmt: skip


def find_held(boxes, classes, bounds, pictures, size, below, above):
    """Find things of class `above` that can be pasted onto things of class `below`.

    Their rectangles are the boxes, to the nearest pixel: what is around them is not what is around
    a thing that is held. Boxes of class `below` that reach into a rectangle don't come along: a
    hand that holds a phone becomes one of the person onto whom it is pasted. A rectangle that shows
    another thing isn't used. Parameters and results are as for `find_things`; each
    brings one box: its rectangle.
    """
    corners = to_corners(boxes, size)
    source = np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))
    content = np.rint(corners).astype(np.int32)
    low, high = content[:, :2], content[:, 2:]
    least, most = _limits(corners[:, 2:] - corners[:, :2], low, high, size)
    gains = np.stack([np.maximum(least, FITTED[0]), np.minimum(most, FITTED[1])], axis=1)
    fits = (classes == above) & (gains[:, 0] <= gains[:, 1])
    for first, end in pairwise(bounds):
        others = classes[first:end] != below
        parts = _parts_inside(corners[first:end][others], content[first:end])
        fits[first:end] &= (parts > CUT[0]).sum(axis=1) == 1
    order = np.flatnonzero(fits)
    return Things(source[order], content[order], gains[order], np.array([0, len(order)]), 1)
