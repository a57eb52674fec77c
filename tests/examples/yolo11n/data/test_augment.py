"""Augmentation of the YOLO11n demo: choices and boxes, and that boxes follow the pixels."""

import numpy as np
import pytest
from data.augment import Augment, PasteOn, keep_boxes, stack_plans
from data.drawing import render
from data.images import to_corners

from tests.examples.yolo11n.data.pictures import (
    OFF,
    Pictures,
    batch_of,
    noise,
    pixels_in,
    plans_of,
    rectangles,
    shown,
)  # fmt: skip


@pytest.mark.parametrize("mosaic", [0.0, 1.0])
def test_boxes_enclose_what_is_drawn_and_keep_its_class(mosaic):
    # The letterbox neither enlarges nor shrinks these: every box must fit to the pixel.
    dataset = rectangles()
    options = {"hue": 0, "saturation": 0, "value": 0, "mosaic": mosaic}
    plans = plans_of(dataset, 80, **options)
    seen = flipped = 0
    images = render(stack_plans([plan for plan, _, _ in plans]), dataset.squares)
    for image, (plan, found, labels) in zip(images, plans, strict=True):
        corners = to_corners(found, 64)
        for label in set(labels.tolist()):
            # Corners are blended both ways, so a few of them are below half. Boxes that
            # keep_boxes drops would fail here; the plans of this test have none.
            own = corners[labels == label]
            assert (shown(image, label) != pixels_in(own)).sum() <= 4
            seen += len(own)
        flipped += plan.affine[0, 0] < 0
    assert seen > 60
    assert 20 < flipped < 60


def test_keep_boxes_rule():
    before = np.array([[0.0, 0, 10, 10]] * 5)
    before[4] = [0, 0, 400, 4]
    after = np.array(
        [[0.0, 0, 2, 20], [0, 0, 2.1, 20], [0, 0, 4, 9], [0, 0, 4, 11], [0, 0, 400, 3.9]]
    )
    # At twice the size: too narrow; wide enough; 9 % of the area; 11 %; aspect above 100.
    assert keep_boxes(before, after, 2.0).tolist() == [False, True, False, True, False]
    assert keep_boxes(np.zeros((0, 4)), np.zeros((0, 4)), 1.0).tolist() == []


# ---------------------------------------------------------------------------------- chances


@pytest.mark.parametrize(("scale", "low", "high"), [(0.5, 0.5, 1.5), ((0.5, 2), 0.5, 2)])
def test_scale_and_shift_ranges(scale, low, high):
    dataset = Pictures([np.zeros((96, 96, 3), np.uint8)], [[0.5, 0.5, 0.25, 0.25]], size=96)
    boxes = np.concatenate([boxes for _, boxes, _ in plans_of(dataset, 2000, scale=scale)])
    gain = boxes[:, 2] / 0.25
    np.testing.assert_allclose(boxes[:, 3], boxes[:, 2], atol=1e-6)
    assert low - 1e-5 <= gain.min() < low + 0.01
    assert high - 0.01 < gain.max() <= high + 1e-4
    assert abs(gain.mean() - (low + high) / 2) < 0.03
    for axis in range(2):
        assert 0.4 - 1e-6 <= boxes[:, axis].min() < 0.401
        assert 0.599 < boxes[:, axis].max() <= 0.6 + 1e-6
        assert abs(boxes[:, axis].mean() - 0.5) < 0.005
        # Uniform: the standard deviation of a uniform number is its range over root 12.
        assert abs(boxes[:, axis].std() - 0.2 / 12**0.5) < 0.003
    assert abs(np.corrcoef(boxes[:, 0], boxes[:, 1])[0, 1]) < 0.1


def test_choices_of_flip_mosaic_and_colors():
    dataset = noise([(48, 48)] * 6)
    options = {"flip": 0.3, "mosaic": 0.6, "hue": 0.1, "saturation": 0.5, "value": 0.25}
    plan = batch_of(dataset, 2000, **options)
    assert abs((plan.affine[:, 0, 0] < 0).mean() - 0.3) < 0.04
    assert abs((plan.content[:, 1, 2] > 0).mean() - 0.6) < 0.04
    middle, reach = np.array([0, 1, 1]), np.array([0.1, 0.5, 0.25])
    unit = (plan.color - middle) / reach
    assert (np.abs(unit) <= 1 + 1e-5).all()
    assert (np.abs(unit).max(axis=0) > 0.99).all()
    assert (np.abs(unit.mean(axis=0)) < 0.05).all()
    assert (np.abs(unit.std(axis=0) - 3**-0.5) < 0.02).all()
    assert np.abs(np.corrcoef(unit.T) - np.eye(3)).max() < 0.1


@pytest.mark.slow
def test_mosaic_partners_and_center():
    dataset = noise([(48, 48)] * 6)
    still = {**OFF, "mosaic": 1.0}
    plan = batch_of(dataset, 3000, **still)
    assert (plan.source[:, 0] == np.arange(3000) % 6).all()
    assert all(len(set(row)) == 4 for row in plan.source.tolist())
    partners = plan.source[plan.source[:, 0] == 2][:, 1:]
    for place in range(3):
        counts = np.bincount(partners[:, place], minlength=6)
        assert counts[2] == 0
        assert (np.delete(counts, 2) > 70).all()  # 100 each on average
    # The first layer ends at the centre, whose distance from the canvas' middle is also that
    # from the middle of the output: its map starts at 24 + 48 minus the centre.
    center = 72 - plan.affine[:, 0, 1::2]
    assert center.min(axis=0).tolist() == [24, 24]
    assert center.max(axis=0).tolist() == [72, 72]
    assert (np.abs(center.mean(axis=0) - 48) < 1).all()
    assert abs(np.corrcoef(center.T)[0, 1]) < 0.06
    # Four squares of the full side that meet at a point leave no gap and do not overlap.
    area = (plan.window[..., 2:] - plan.window[..., :2]).prod(axis=-1)
    assert (area.sum(axis=1) == 48 * 48).all()


def test_boxes_that_reach_far_beyond_the_image_are_kept():
    """At twice the size a person that fills its picture covers the image; a quarter is visible."""
    dataset = Pictures([np.zeros((96, 96, 3), np.uint8)], [[0.5, 0.5, 1, 1]], size=96)
    (plan, boxes, _), *_ = plans_of(dataset, 1, **OFF | {"scale": (2.0, 2.0)})
    np.testing.assert_allclose(boxes, [[0.5, 0.5, 1, 1]], atol=1e-6)
    assert plan.affine[0].tolist() == [0.5, 24, 0.5, 24]


@pytest.mark.parametrize(
    "change",
    [
        {"flip": 1.5},
        {"hue": -0.1},
        {"scale": 1.0},
        {"scale": (0.0, 2.0)},
        {"scale": (2.0, 0.5)},
        {"scale": (1.0, 11.0)},
        {"paste_on": PasteOn(0, 1, 1.5, None)},
    ],
)
def test_augment_errors(change):
    with pytest.raises(ValueError, match=next(iter(change))):
        Augment(**change)
