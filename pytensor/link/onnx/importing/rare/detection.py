"""Regions of images, and the choice among them."""

from functools import reduce
from operator import add
from typing import Literal

import numpy as np

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx.importing.registry import Refused, attributes_of, operator_funcify
from pytensor.link.onnx.importing.sampling import corners
from pytensor.link.onnx.importing.sizes import known, like, positions, wide
from pytensor.tensor.batching import lengths_of
from pytensor.tensor.moments import total
from pytensor.tensor.topk import topk

Mode = Literal["half_pixel", "output_half_pixel"]


@operator_funcify.register("RoiAlign")
def roi_align(
    x,
    rois,
    batch_indices,
    *,
    coordinate_transformation_mode: Mode = "half_pixel",
    mode: Literal["avg", "max"] = "avg",
    output_height=1,
    output_width=1,
    sampling_ratio=0,
    spatial_scale=1.0,
):
    if sampling_ratio < 0:
        raise Refused(f"its sampling_ratio is {sampling_ratio}; it must be at least 0")
    dtype, x, rois = x.type.dtype, wide(x), wide(rois)
    scaled = rois * like(x, spatial_scale)
    if coordinate_transformation_mode == "half_pixel":
        scaled = scaled - like(x, 0.5)
    counts = [output_height, output_width]
    places, outside, samples, kept = [], [], [], []
    for axis, (count, length) in enumerate(zip(counts, lengths_of(x)[2:], strict=True)):
        start, end = scaled[:, 1 - axis], scaled[:, 3 - axis]
        size = end - start
        if coordinate_transformation_mode != "half_pixel":
            size = pt.maximum(size, like(x, 1))
        size = size / like(x, count)
        steps, number, among = _samples(sampling_ratio, size)
        place = like(x, np.arange(count))[:, None] + steps[:, None, :]
        place = place.reshape((lengths_of(place)[0], count * number))  # maybe of no regions
        place = start[:, None] + place * size[:, None]
        last = pt.cast(length - 1, x.type.dtype)
        shape = (0, 1, "x") if axis == 0 else (0, "x", 1)
        places.append(pt.clip(place, like(x, 0), last).dimshuffle(shape))
        beyond = pt.or_(place < like(x, -1), place > last + like(x, 1))
        outside.append(beyond.dimshuffle(shape))
        samples.append(number)
        kept.append(among)
    terms = corners(x, places, batch_indices[:, None, None])
    # The standard's maximum is of the terms of interpolations, not of their sums
    found = reduce(pt.maximum if mode == "max" else add, terms)
    found = pt.switch(pt.expand_dims(pt.or_(*outside), 1), like(x, 0), found)
    rows, channels = lengths_of(found)[:2]
    found = found.reshape((rows, channels, counts[0], samples[0], counts[1], samples[1]))
    return pt.cast(_of_samples(found, kept, mode == "max"), dtype)


@operator_funcify.register("RoiAlign", before=16)
@attributes_of(roi_align)
def roi_align_by_outputs(
    x, rois, batch_indices, *, coordinate_transformation_mode: Mode = "output_half_pixel", **others
):
    places = {"coordinate_transformation_mode": coordinate_transformation_mode}
    return roi_align(x, rois, batch_indices, **places, **others)


def _samples(ratio, size):
    """Return where samples of a cell lie, from 0 to 1, and how many there are.

    With the ratio 0 there are as many as a region's cell is large: then all regions have as many
    as the largest, and the last value says which of them count.
    """
    if ratio > 0:
        return like(size, (np.arange(ratio) + 0.5) / ratio)[None], ratio, None
    number = pt.maximum(pt.ceil(size), like(size, 0))[:, None]
    most = pt.cast(pt.maximum(number.max(initial=-np.inf), like(size, 1)), "int64")
    place = positions(most, size.type.dtype)[None]
    return (place + like(size, 0.5)) / pt.maximum(number, like(size, 1)), most, place < number


def _of_samples(found, kept, is_max):
    """Return maximum or mean of samples (regions, channels, rows, samples, columns, samples)."""
    rows, columns = kept
    if rows is None:
        if is_max:
            return _largest(found)
        return total(found, (3, 5)) / like(found, found.type.shape[3] * found.type.shape[5])
    among = pt.and_(rows.dimshuffle(0, "x", "x", 1, "x", "x"), columns.dimshuffle(0, *"xxxx", 1))
    if is_max:
        # 0 where a region has no samples
        largest = _largest(pt.switch(among, found, like(found, -np.inf)))
        return pt.switch(among.any(axis=(3, 5)), largest, like(found, 0))
    number = pt.maximum(total(pt.cast(among, found.type.dtype), (3, 5)), like(found, 1))
    return total(pt.switch(among, found, like(found, 0)), (3, 5)) / number


def _largest(found):
    # Not by `max`, whose gradient counts twice where two samples are the same share of one cell
    found = found.transpose(0, 1, 2, 4, 3, 5)
    *others, rows, columns = lengths_of(found)
    largest, _ = topk(found.reshape((*others, rows * columns)), 1, 4)
    return largest[..., 0]


@operator_funcify.register("MaxRoiPool")
def max_roi_pool(x, rois, *, pooled_shape, spatial_scale=1.0):
    images, empty = x[pt.cast(rois[:, 0], "int64")], None
    scaled = rois[:, 1:] * like(x, spatial_scale)
    edges = pt.round(scaled, mode="half_away_from_zero")
    for axis, count in enumerate(pooled_shape):
        start, end = edges[:, 1 - axis], edges[:, 3 - axis]
        size = pt.maximum(end - start + like(x, 1), like(x, 1)) / like(x, count)
        bounds = like(x, np.arange(count + 1)) * size[:, None]
        low = (pt.floor(bounds[:, :-1]) + start[:, None])[:, :, None]
        high = (pt.ceil(bounds[:, 1:]) + start[:, None])[:, :, None]
        cells = positions(lengths_of(x)[2 + axis], x.type.dtype)
        inside = pt.and_(cells >= low, cells < high)  # (regions, bins, cells)
        none = pt.invert(inside.any(axis=2))
        if axis == 0:
            inside, none = inside.dimshuffle(0, "x", 1, 2, "x"), none.dimshuffle(0, "x", 1, "x")
            images, empty = pt.expand_dims(images, 2), none
        else:
            inside, none = inside.dimshuffle(0, "x", "x", 1, 2), none.dimshuffle(0, "x", "x", 1)
            images, empty = pt.expand_dims(images, 3), pt.or_(empty, none)
        images = pt.switch(inside, images, like(x, -np.inf)).max(axis=3 + axis)
    return pt.switch(empty, like(x, 0), images)


@operator_funcify.register("NonMaxSuppression")
def non_max_suppression(
    boxes, scores, most=None, iou_threshold=None, score_threshold=None, *, center_point_box=0
):
    if center_point_box not in (0, 1):
        raise Refused(f"its center_point_box is {center_point_box}; there are 0 and 1")
    threshold = None if iou_threshold is None else known(iou_threshold)
    if threshold is not None and not (threshold >= 0).all() & (threshold <= 1).all():
        raise Refused(f"its iou_threshold is {threshold.ravel()[0]}; it must be from 0 to 1")
    if most is None:
        return pt.zeros((0, 3), dtype="int64")
    limit = like(boxes, 0) if iou_threshold is None else iou_threshold.reshape(())
    order = pt.argsort(-scores, axis=-1, kind="stable")
    sorted_scores = pt.take_along_axis(scores, order, axis=-1)
    valid = pt.ones_like(scores, dtype="bool")
    if score_threshold is not None:
        valid = sorted_scores > score_threshold.reshape(())
    image = positions(lengths_of(boxes)[0])[:, None, None]
    lows, highs = _corners(boxes[image, order], center_point_box)

    def choose(i, free, number, lows, highs, limit, most):
        chosen = pt.and_(free[:, :, i], number < most)
        low = pt.maximum(lows, lows[:, :, i][:, :, None])
        high = pt.minimum(highs, highs[:, :, i][:, :, None])
        common = _area(low, high)
        areas = _area(lows, highs)
        overlap = common / (areas + areas[:, :, i][:, :, None] - common)
        hidden = pt.and_(chosen[:, :, None], overlap > limit)
        return [pt.and_(free, ~hidden), number + pt.cast(chosen, "int64"), chosen]

    number = pt.zeros_like(valid.any(axis=2), dtype="int64")  # of maybe no boxes
    *_, chosen = pytensor.scan(
        choose,
        sequences=[positions(lengths_of(boxes)[1])],
        outputs_info=[valid, number, None],
        non_sequences=[lows, highs, limit, most.reshape(())],
        strict=True,
        return_updates=False,
    )
    batch, of_class, rank = pt.nonzero(chosen.dimshuffle(1, 2, 0))
    return pt.stack([batch, of_class, order[batch, of_class, rank]], axis=1)


def _corners(boxes, centred):
    first, second = boxes[..., :2], boxes[..., 2:]
    if centred:
        half = second / like(boxes, 2)
        return first - half, first + half
    return pt.minimum(first, second), pt.maximum(first, second)


def _area(low, high):
    sides = pt.maximum(high - low, like(low, 0))
    return sides[..., 0] * sides[..., 1]
