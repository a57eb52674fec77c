"""Augmentation of training images, and of their boxes.

Every random choice comes from the generator that is passed in.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from images import FILL, to_corners, to_fractions
from PIL import Image


@dataclass(frozen=True)
class Augment:
    """What training images undergo; 0 turns a step off.

    Attributes
    ----------
    flip : float
        Probability of a left-right flip.
    hue, saturation, value : float
        Gains. Hue moves by up to this fraction of a turn; saturation and value are multiplied
        by 1 plus or minus up to this.
    brightness, contrast : float
        Brightness moves by up to this fraction of 255; contrast about mid-grey is multiplied
        by 1 plus or minus up to this.
    scale : float
        Size is multiplied by 1 plus or minus up to this (below 1).
    translate : float
        The centre moves by up to this fraction of the side.
    mosaic : float
        Probability of joining four images.
    """

    flip: float = 0.5
    hue: float = 0.015
    saturation: float = 0.7
    value: float = 0.4
    brightness: float = 0.1
    contrast: float = 0.1
    scale: float = 0.5
    translate: float = 0.1
    mosaic: float = 0.0

    def __post_init__(self):
        for name, number in vars(self).items():
            if not 0 <= number <= 1:
                raise ValueError(f"Augment.{name} is {number}; it must lie between 0 and 1")
        if self.scale >= 1:
            raise ValueError("Augment.scale must be below 1, or images could vanish")


class _Layer(NamedTuple):
    """A picture placed on the canvas: pixels, boxes in its own pixels, offset."""

    image: np.ndarray
    corners: np.ndarray
    classes: np.ndarray
    offset: tuple


def keep_boxes(before, after, gain):
    """Which boxes are still worth learning after a warp.

    Parameters
    ----------
    before, after : arrays, (n, 4)
        ``x1, y1, x2, y2`` in pixels, before the warp and after it and the clipping.
    gain : float
        Scale of the warp.

    Returns
    -------
    bool array, (n,)
        Wider and higher than 2 px, more than a tenth of the area left, aspect below 100.
    """
    width, height = after[:, 2] - after[:, 0], after[:, 3] - after[:, 1]
    old = (before[:, 2] - before[:, 0]) * (before[:, 3] - before[:, 1]) * gain**2
    eps = 1e-16
    aspect = np.maximum(width / (height + eps), height / (width + eps))
    return (width > 2) & (height > 2) & (width * height / (old + eps) > 0.1) & (aspect < 100)


def _mosaic_layers(dataset, index, rng):
    """Four images with one corner each at a random point of a canvas of twice the side."""
    size = dataset.image_size
    others = rng.choice(len(dataset) - 1, 3, replace=False) if len(dataset) > 3 else None
    if others is None:
        chosen = [index, *rng.integers(0, len(dataset), 3)]
    else:
        chosen = [index, *(others + (others >= index))]
    center_x, center_y = rng.integers(size // 2, 3 * size // 2 + 1, 2)
    layers = []
    for corner, k in enumerate(chosen):
        sample = dataset[int(k)]
        g = sample.geometry
        content = sample.image[g.top : g.top + g.resized_height, g.left : g.left + g.resized_width]
        corners = to_corners(sample.boxes, size) - [g.left, g.top, g.left, g.top]
        offset = (
            int(center_x) - (0 if corner % 2 else g.resized_width),
            int(center_y) - (0 if corner >= 2 else g.resized_height),
        )
        layers.append(_Layer(np.ascontiguousarray(content), corners, sample.classes, offset))
    return layers


def _span(edges, canvas, sign, gain, shift, center, size):
    """First pixel and end, in the output, of a layer's `edges` along one axis."""
    edges = np.clip(edges, 0, canvas)
    mapped = np.sort(sign * gain * (edges - center) + shift)
    # Pixels whose centres lie inside.
    low, high = np.ceil(np.clip(mapped, 0, size) - 0.5)
    return int(low), int(high)


def _warp(layers, canvas, size, gain, shift, flip):
    """Scale, shift and flip placed layers into one image.

    A canvas point X goes to ``sign * gain * (X - canvas / 2) + shift``. Each layer is sampled
    from its own picture straight into its part of the output: no canvas is ever drawn.
    """
    image = np.full((size, size, 3), FILL, dtype=np.uint8)
    signs = (-1.0 if flip else 1.0, 1.0)
    all_corners, all_classes = [], []
    for layer in layers:
        height, width = layer.image.shape[:2]
        low, high, slope, start = [], [], [], []
        for axis, side in enumerate((width, height)):
            edges = np.array([0, side]) + layer.offset[axis]
            first, end = _span(edges, canvas, signs[axis], gain, shift[axis], canvas / 2, size)
            low.append(first)
            high.append(end)
            a = signs[axis] / gain
            slope.append(a)
            start.append((first - shift[axis]) * a + canvas / 2 - layer.offset[axis])
        shape = (high[0] - low[0], high[1] - low[1])
        if min(shape) > 0:
            part = Image.fromarray(layer.image).transform(
                shape,
                Image.Transform.AFFINE,
                (slope[0], 0.0, start[0], 0.0, slope[1], start[1]),
                Image.Resampling.BILINEAR,
                fillcolor=(FILL,) * 3,
            )
            image[low[1] : high[1], low[0] : high[0]] = np.asarray(part)
        before = (layer.corners + np.tile(layer.offset, 2)).clip(0, canvas)
        after = before.copy()
        for axis in range(2):
            moved = signs[axis] * gain * (before[:, axis::2] - canvas / 2) + shift[axis]
            after[:, axis::2] = np.sort(moved, axis=1).clip(0, size)
        keep = keep_boxes(before, after, gain)
        all_corners.append(after[keep])
        all_classes.append(layer.classes[keep])
    return image, np.concatenate(all_corners), np.concatenate(all_classes)


def _change_colors(image, augment, rng):
    """Move hue, scale saturation and value, then brightness and contrast."""
    hue, saturation, value, brightness, contrast = rng.uniform(-1, 1, 5)
    levels = np.arange(256)
    picture = Image.fromarray(image)
    if augment.hue or augment.saturation or augment.value:
        tables = np.concatenate(
            [
                np.round(levels + 256 * hue * augment.hue) % 256,
                np.clip(levels * (1 + saturation * augment.saturation), 0, 255),
                np.clip(levels * (1 + value * augment.value), 0, 255),
            ]
        )
        picture = picture.convert("HSV").point(tables.astype(np.uint8).tolist()).convert("RGB")
    if augment.brightness or augment.contrast:
        table = (levels - 127.5) * (1 + contrast * augment.contrast) + 127.5
        table = np.clip(table + 255 * brightness * augment.brightness, 0, 255)
        picture = picture.point(np.round(table).astype(np.uint8).tolist() * 3)
    return np.asarray(picture)


def augment_sample(dataset, index, augment, rng):
    """Read an image and augment it.

    Parameters
    ----------
    dataset : CocoDataset
    index : int
    augment : Augment
    rng : numpy.random.Generator
        The only source of chance.

    Returns
    -------
    image : uint8 array, (S, S, 3)
    boxes : float32 array, (n, 4)
        ``cx, cy, w, h`` as fractions of S.
    classes : int32 array, (n,)
    """
    size = dataset.image_size
    if rng.random() < augment.mosaic:
        canvas = 2 * size
        layers = _mosaic_layers(dataset, index, rng)
    else:
        canvas = size
        sample = dataset[index]
        corners = to_corners(sample.boxes, size)
        layers = [_Layer(sample.image, corners, sample.classes, (0, 0))]
    gain = rng.uniform(1 - augment.scale, 1 + augment.scale)
    shift = rng.uniform(0.5 - augment.translate, 0.5 + augment.translate, 2) * size
    flip = rng.random() < augment.flip
    image, corners, classes = _warp(layers, canvas, size, gain, shift, flip)
    image = _change_colors(image, augment, rng)
    return image, to_fractions(corners, size), classes.astype(np.int32)
