"""Data sets of pictures that are already in memory, and plans of them."""

from functools import cached_property

import numpy as np
from data.augment import Augment, make_plan, stack_plans
from data.images import letterbox
from data.things import find_held, find_things
from dataset import Sample

OFF = {**dict.fromkeys(vars(Augment()), 0.0), "paste_on": None}
COLORS = np.array([[250, 0, 0], [0, 250, 0], [0, 0, 250], [250, 250, 0], [0, 250, 250]])


class Pictures:
    """A data set of pictures that are already in memory, by default each with its own class."""

    def __init__(self, pictures, boxes=None, size=48, labels=None):
        self.image_size, self.parts, self.labelled = size, [], None
        fitted = [letterbox(picture, size) for picture in pictures]
        self.squares = np.stack([square for square, _ in fitted])
        self.samples = []
        for k, (square, geometry) in enumerate(fitted):
            found = np.array(boxes[k] if boxes else [], np.float32).reshape(-1, 4)
            kinds = np.full(len(found), k) if labels is None else np.array(labels[k], int)
            none = np.empty((0, 4), np.float32), np.empty(0, np.int32)
            self.samples.append(Sample(square, found, kinds.astype(np.int32), k, geometry, *none))
        self.placed = [
            (g.left, g.top, g.left + g.resized_width, g.top + g.resized_height)
            for _, g in fitted
        ]  # fmt: skip

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index]

    def max_regions(self, mosaic, pasted):
        return 0

    @cached_property
    def things(self):
        return find_things(*self.all_boxes())

    def held_things(self, below, above):
        return find_held(*self.all_boxes(), below, above)

    def all_boxes(self):
        counts = [len(sample.classes) for sample in self.samples]
        boxes, classes = (
            np.concatenate([getattr(sample, name) for sample in self.samples])
            for name in ("boxes", "classes")
        )
        bounds = np.cumsum([0, *counts])
        return boxes, classes, bounds, np.array(self.placed), self.image_size


def noise(shapes, size=48, boxes=None):
    rng = np.random.default_rng(7)
    drawn = [rng.integers(0, 256, (*s, 3), dtype=np.uint8) for s in shapes]
    return Pictures(drawn, boxes, size=size)


def rectangles(column=16):
    """Draw black pictures with a rectangle, each of a colour and class of its own, and a box.

    In squares of 64 px the k-th rectangle has rows 10 to 38 + k, and columns from `column` on.
    """
    pictures, boxes = [], []
    for k, color in enumerate(COLORS.astype(np.uint8)):
        # Every second picture is padded by 8 px on the left or above.
        left, top = ((0, 0), (8, 0), (0, 0), (0, 8), (0, 0))[k]
        picture = np.zeros((64 - 2 * top, 64 - 2 * left, 3), np.uint8)
        picture[10 - top : 38 + k - top, column - left : column + 24 - k - left] = color
        pictures.append(picture)
        boxes.append([(column + 12 - k / 2) / 64, (24 + k / 2) / 64, (24 - k) / 64, (28 + k) / 64])
    return Pictures(pictures, [[box] for box in boxes], size=64)


def shown(image, k):
    """Return where an image (3, S, S) shows more than half of the k-th colour, and no other."""
    return (np.abs(image - COLORS[k][:, None, None]) < 125).all(axis=0)


def pixels_in(corners, size=64):
    """Return which pixels of a square have their centre in one of the boxes."""
    inside = np.zeros((size, size), bool)
    for x0, y0, x1, y1 in np.ceil(np.asarray(corners) - 0.5).astype(int):
        inside[y0:y1, x0:x1] = True
    return inside


def plans_of(dataset, count, **options):
    augment = Augment(**options)
    return [
        make_plan(dataset, k % len(dataset), augment, np.random.default_rng(k))
        for k in range(count)
    ]


def batch_of(dataset, count, **options):
    return stack_plans([plan for plan, _, _ in plans_of(dataset, count, **options)])


def leaves(batch):
    """Return the arrays of a batch, with its plan's."""
    parts = [x for field in batch for x in (field if isinstance(field, tuple) else [field])]
    return [part for part in parts if part is not None]


def same_batches(a, b):
    return all(np.array_equal(x, y) for x, y in zip(leaves(a), leaves(b), strict=True))


def same(first, second):
    """Return whether two data sets have the same samples."""
    assert len(first) == len(second)
    for k in range(len(first)):
        a, b = first[k], second[k]
        assert first.file_name(k) == second.file_name(k)
        np.testing.assert_array_equal(a.image, b.image)
        np.testing.assert_allclose(a.boxes, b.boxes, atol=2e-7)
        np.testing.assert_array_equal(a.classes, b.classes)
        assert a.boxes.dtype == b.boxes.dtype == np.float32
        assert a.classes.dtype == b.classes.dtype == np.int32
        assert a.geometry == b.geometry
    return True
