"""Augmentation of the YOLO11n demo: what happens to pixels and to boxes."""

import colorsys
import time
from pathlib import Path

import numpy as np
import pytest
from augment import Augment, augment_sample, keep_boxes
from images import to_corners
from loader import BatchLoader
from PIL import Image

DATA = Path(__file__).parent / "data"


OFF = dict.fromkeys(vars(Augment()), 0.0)


def test_augment_nothing(seven):
    for k in (0, 1, 3):
        image, boxes, classes = augment_sample(seven, k, Augment(**OFF), np.random.default_rng(0))
        np.testing.assert_array_equal(image, seven[k].image)
        np.testing.assert_allclose(boxes, seven[k].boxes, atol=1e-6)
        np.testing.assert_array_equal(classes, seven[k].classes)


def test_augment_flip(seven):
    image, boxes, classes = augment_sample(
        seven, 3, Augment(**{**OFF, "flip": 1.0}), np.random.default_rng(0)
    )
    np.testing.assert_array_equal(image, seven[3].image[:, ::-1])
    want = seven[3].boxes.copy()
    want[:, 0] = 1 - want[:, 0]
    np.testing.assert_allclose(boxes, want, atol=1e-6)
    np.testing.assert_array_equal(classes, seven[3].classes)


def marked_set(builder, count, size=96):
    """Images with one plainly coloured box on black each, sides of several proportions."""
    rng = np.random.default_rng(5)
    for _ in range(count):
        width, height = rng.integers(60, 160, 2).tolist()
        pixels = np.zeros((height, width, 3), np.uint8)
        x, y = int(rng.integers(0, width // 2)), int(rng.integers(0, height // 2))
        w, h = int(rng.integers(20, width // 2)), int(rng.integers(20, height // 2))
        pixels[y : y + h, x : x + w] = 255
        builder.add(width, height, [(1, x, y, w, h)], picture=Image.fromarray(pixels))
    return builder.dataset(size=size)


@pytest.mark.parametrize("mosaic", [0.0, 1.0])
def test_boxes_follow_the_pixels(builder, mosaic):
    # The one thing that matters of an augmentation: after any of them, the boxes are exactly
    # where the white areas are.
    dataset = marked_set(builder, 6)
    augment = Augment(
        flip=0.5, hue=0, saturation=0, value=0, brightness=0, contrast=0, mosaic=mosaic
    )
    seen = 0
    for k in range(60):
        image, boxes, _ = augment_sample(dataset, k % 6, augment, np.random.default_rng(k))
        corners = to_corners(boxes, 96)
        assert corners.min(initial=0) > -1e-4
        assert corners.max(initial=96) < 96 + 1e-4
        inside = np.zeros((96, 96), bool)
        near = np.zeros((96, 96), bool)
        for x1, y1, x2, y2 in corners:
            # Edges are smeared over about a pixel either way, in the source and in the warp.
            inside[int(y1 + 3) : int(y2 - 2), int(x1 + 3) : int(x2 - 2)] = True
            near[max(int(y1 - 3), 0) : int(y2 + 4), max(int(x1 - 3), 0) : int(x2 + 4)] = True
        white = image.min(axis=2) > 200
        assert white[inside].all()
        # Only slivers, which keep_boxes drops, may be white elsewhere.
        assert (white & ~near).sum() < 0.1 * 96 * 48
        if not mosaic and len(boxes):
            assert not (white & ~near).any()
        seen += len(boxes)
    assert seen > (85 if mosaic else 50)


def test_mosaic_shows_four_images(builder):
    for level in (30, 60, 150, 200, 250):
        builder.add(80, 60, [(1, 10, 10, 40, 40)], picture=Image.new("RGB", (80, 60), (level,) * 3))
    dataset = builder.dataset(size=96)
    augment = Augment(**{**OFF, "mosaic": 1.0})
    seen = set()
    for k in range(20):
        image, boxes, _ = augment_sample(dataset, 0, augment, np.random.default_rng(k))
        levels = set(np.unique(image)) - {114}
        seen |= levels
        assert levels <= {30, 60, 150, 200, 250}
        assert len(levels) <= 4
        assert len(boxes) <= 4
    assert seen == {30, 60, 150, 200, 250}
    assert dataset.max_boxes == 1
    assert dataset.max_boxes_with(mosaic=True) == 4


def test_small_sets_repeat_images_in_mosaics(builder):
    builder.add(80, 60, [(1, 10, 10, 40, 40), (1, 20, 20, 30, 30)])
    dataset = builder.dataset(size=96)
    assert dataset.max_boxes_with(mosaic=True) == 8
    loader = BatchLoader(dataset, 2, augment=Augment(mosaic=1.0))
    assert max(int(b.num_boxes.max()) for e in range(10) for b in loader.epoch(e)) > 2


def test_keep_boxes_rule():
    before = np.array([[0.0, 0, 10, 10]] * 5)
    before[4] = [0, 0, 400, 4]
    after = np.array(
        [[0.0, 0, 2, 20], [0, 0, 2.1, 20], [0, 0, 4, 9], [0, 0, 4, 11], [0, 0, 400, 3.9]]
    )
    # At twice the size: too narrow; wide enough; 9 % of the area; 11 %; aspect above 100.
    assert keep_boxes(before, after, 2.0).tolist() == [False, True, False, True, False]


def test_scale_and_shift_ranges(builder):
    pixels = np.zeros((96, 96, 3), np.uint8)
    builder.add(96, 96, [(1, 38, 38, 20, 20)], picture=Image.fromarray(pixels))
    dataset = builder.dataset(size=96)
    augment = Augment(scale=0.5, translate=0.1)
    boxes = np.concatenate(
        [augment_sample(dataset, 0, augment, np.random.default_rng(k))[1] for k in range(400)]
    )
    gain = boxes[:, 2] * 96 / 20
    assert 0.5 <= gain.min() < 0.55
    assert 1.45 < gain.max() <= 1.5
    for axis in range(2):
        assert 0.4 - 1e-6 <= boxes[:, axis].min() < 0.41
        assert 0.59 < boxes[:, axis].max() <= 0.6 + 1e-6


def colors_of(builder, color, **gains):
    builder.add(64, 64, picture=Image.new("RGB", (64, 64), color))
    dataset = builder.dataset()
    augment = Augment(**{**OFF, **gains})
    images = [augment_sample(dataset, 0, augment, np.random.default_rng(k))[0] for k in range(200)]
    return np.array([image[32, 32] for image in images])


def test_hsv_gains(builder):
    colors = colors_of(builder, (200, 110, 95), hue=0.1, saturation=0.5, value=0.2)
    hsv = np.array([colorsys.rgb_to_hsv(*(c / 255)) for c in colors])
    hue, saturation, value = colorsys.rgb_to_hsv(200 / 255, 110 / 255, 95 / 255)
    turn = (hsv[:, 0] - hue + 0.5) % 1 - 0.5
    # The ends of each range are reached, and not passed but for rounding to 8 bits.
    for got, gain in ((turn, 0.1), (hsv[:, 1] / saturation - 1, 0.5), (hsv[:, 2] / value - 1, 0.2)):
        assert 0.9 * gain < got.max() < gain + 0.02
        assert -0.9 * gain > got.min() > -gain - 0.02


def test_grey_stays_grey(builder):
    colors = colors_of(builder, (90, 90, 90), hue=0.5, saturation=0.7, value=0.4).astype(int)
    assert np.ptp(colors, axis=1).max() == 0
    assert colors.min() < 60
    assert colors.max() > 120


def test_brightness_and_contrast(builder):
    bright = colors_of(builder, (120, 60, 200), brightness=0.1).astype(int) - [120, 60, 200]
    assert np.ptp(bright, axis=1).max() <= 1
    assert 22 < bright.max() <= 26
    assert -22 > bright.min() >= -26
    contrast = (colors_of(builder, (120, 60, 200), contrast=0.5)[:, 2] - 127.5) / 72.5
    assert 1.45 < contrast.max() <= 1.51
    assert 0.49 <= contrast.min() < 0.55


@pytest.mark.parametrize("change", [{"flip": 1.5}, {"hue": -0.1}, {"scale": 1.0}])
def test_augment_errors(change):
    with pytest.raises(ValueError, match=next(iter(change))):
        Augment(**change)


def test_augmentation_is_fast(builder):
    builder.add(320, 240, [(1, 10, 10, 100, 100)])
    dataset = builder.dataset(size=320)
    for mosaic in (0.0, 1.0):
        times = []
        for k in range(15):
            start = time.perf_counter()
            augment_sample(dataset, 0, Augment(mosaic=mosaic), np.random.default_rng(k))
            times.append(time.perf_counter() - start)
        assert min(times) < 0.02  # about 4 ms
