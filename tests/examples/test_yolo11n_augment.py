"""Augmentation of the YOLO11n demo: what happens to pixels and to boxes."""

import colorsys
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from data import augment as augment_module
from data.augment import Augment, Plan, augment_sample, keep_boxes, make_plan, render, stack_plans
from data.images import FILL, letterbox, to_corners
from dataset import Sample
from PIL import Image

OFF = dict.fromkeys(vars(Augment()), 0.0)


class Pictures:
    """A data set of pictures that are already in memory."""

    def __init__(self, pictures, boxes=None, size=48):
        self.image_size = size
        fitted = [letterbox(picture, size) for picture in pictures]
        self.squares = np.stack([square for square, _ in fitted])
        self.samples = []
        for k, (square, geometry) in enumerate(fitted):
            found = np.array(boxes[k] if boxes else [], np.float32).reshape(-1, 4)
            labels = np.full(len(found), k, np.int32)
            self.samples.append(Sample(square, found, labels, k, geometry))

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index]


def noise(shapes, size=48, **options):
    rng = np.random.default_rng(7)
    return Pictures([rng.integers(0, 256, (*s, 3), dtype=np.uint8) for s in shapes], size=size)


def plans_of(dataset, count, **options):
    augment = Augment(**options)
    return [
        make_plan(dataset, k % len(dataset), augment, np.random.default_rng(k))
        for k in range(count)
    ]


def batch_of(dataset, count, **options):
    return stack_plans([plan for plan, _, _ in plans_of(dataset, count, **options)])


# ----------------------------------------------------------------- pixels and boxes together


def test_augment_nothing(seven):
    for k in (0, 1, 3):
        image, boxes, classes = augment_sample(seven, k, Augment(**OFF), np.random.default_rng(0))
        np.testing.assert_array_equal(image, seven[k].image)
        np.testing.assert_allclose(boxes, seven[k].boxes, atol=1e-6)
        np.testing.assert_array_equal(classes, seven[k].classes)
        assert (image.dtype, boxes.dtype, classes.dtype) == (np.uint8, np.float32, np.int32)


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
    augment = Augment(flip=0.5, hue=0, saturation=0, value=0, mosaic=mosaic)
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


@pytest.mark.parametrize("mosaic", [0.0, 1.0])
def test_boxes_enclose_what_is_drawn_and_keep_its_class(mosaic):
    # Rectangles of one colour, not enlarged or shrunk by the letterbox: every box must fit its
    # pixels to the pixel.
    colors = np.array([[250, 0, 0], [0, 250, 0], [0, 0, 250], [250, 250, 0], [0, 250, 250]])
    pictures, boxes = [], []
    for k, color in enumerate(colors.astype(np.uint8)):
        picture = np.zeros((64, 64, 3), np.uint8)
        picture[8 : 40 + k, 16 : 44 - k] = color
        pictures.append(picture)
        boxes.append([(30 - k / 2) / 64, (24 + k / 2) / 64, (28 - k) / 64, (32 + k) / 64])
    dataset = Pictures(pictures, boxes, size=64)
    options = {"hue": 0, "saturation": 0, "value": 0, "mosaic": mosaic}
    plans = plans_of(dataset, 80, **options)
    seen = 0
    images = render(stack_plans([plan for plan, _, _ in plans]), dataset.squares)
    for image, (_, found, labels) in zip(images, plans, strict=True):
        corners = to_corners(found, 64)
        for label in set(labels.tolist()):
            # More than half of the box's colour, and no other's.
            lit = (np.abs(image - colors[label][:, None, None]) < 125).all(axis=0)
            wanted = np.zeros((64, 64), bool)
            for x1, y1, x2, y2 in corners[labels == label]:
                x1, y1, x2, y2 = np.ceil(np.array([x1, y1, x2, y2]) - 0.5).astype(int)
                wanted[y1:y2, x1:x2] = True
            # Corners are blended both ways, so a few of them are below half. Boxes that
            # keep_boxes drops would fail here; the plans of this test have none.
            assert (lit != wanted).sum() <= 4
            seen += (labels == label).sum()
    assert seen > 60


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
    most = max(len(boxes) for _, boxes, _ in plans_of(dataset, 20, mosaic=1.0))
    assert 2 < most <= 8


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


def test_scale_and_shift_ranges():
    dataset = Pictures([np.zeros((96, 96, 3), np.uint8)], [[0.5, 0.5, 0.25, 0.25]], size=96)
    boxes = np.concatenate([boxes for _, boxes, _ in plans_of(dataset, 2000)])
    gain = boxes[:, 2] / 0.25
    np.testing.assert_allclose(boxes[:, 3], boxes[:, 2], atol=1e-6)
    assert 0.5 <= gain.min() < 0.51
    assert 1.49 < gain.max() <= 1.5 + 1e-5
    assert abs(gain.mean() - 1) < 0.02
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


def test_plans_depend_on_the_generator_alone():
    dataset = noise([(30, 48), (48, 20), (48, 48), (10, 48), (48, 11)])
    first, second = (plans_of(dataset, 10, mosaic=0.5) for _ in range(2))
    for (plan, boxes, _), (again, boxes_again, _) in zip(first, second, strict=True):
        for one, other in zip(plan, again, strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(boxes, boxes_again)
    assert len({plan.affine.tobytes() for plan, _, _ in first}) == 10
    # And all take as many numbers, so that what follows from the same generator is the same.
    states = set()
    for mosaic in (0.0, 1.0):
        rng = np.random.default_rng(3)
        make_plan(dataset, 1, Augment(mosaic=mosaic), rng)
        states.add(rng.bit_generator.state["state"]["state"])
    assert len(states) == 1


def test_plan_reads_no_pixels():
    dataset = noise([(30, 48), (48, 20), (48, 48), (10, 48)])
    dataset.samples = [sample._replace(image=None) for sample in dataset.samples]
    plan = batch_of(dataset, 4, mosaic=1.0)
    shapes = [(4, 4), (4, 4, 4), (4, 4, 4), (4, 4, 4), (4, 3)]
    dtypes = ["int32", "int32", "float32", "int32", "float32"]
    assert [field.shape for field in plan] == shapes
    assert [field.dtype.name for field in plan] == dtypes


@pytest.mark.parametrize("change", [{"flip": 1.5}, {"hue": -0.1}, {"scale": 1.0}])
def test_augment_errors(change):
    with pytest.raises(ValueError, match=next(iter(change))):
        Augment(**change)


# --------------------------------------------------------------------- pixels, independently


def expected(plan, squares):
    """Float64 pixels (B, S, S, 3) before rounding and colours, in the plainest way."""
    size = squares.shape[1]
    images = np.full((len(plan.source), size, size, 3), float(FILL))
    for n, k in np.ndindex(plan.source.shape):
        (x0, y0, x1, y1), (left, top, right, bottom) = plan.window[n, k], plan.content[n, k]
        ax, bx, ay, by = plan.affine[n, k].astype(float)
        square = squares[plan.source[n, k]].astype(float)
        for y in range(y0, y1):
            for x in range(x0, x1):
                u, v = ax * (x + 0.5) + bx - 0.5, ay * (y + 0.5) + by - 0.5
                i, j = int(np.floor(u)), int(np.floor(v))
                images[n, y, x] = sum(
                    square[np.clip(row, top, bottom - 1), np.clip(column, left, right - 1)]
                    * (1 - abs(u - column))
                    * (1 - abs(v - row))
                    for row in (j, j + 1)
                    for column in (i, i + 1)
                )
    return images


def assert_rounded(got, want, tolerance):
    """`got` is `want` rounded half up, but where `want` is within `tolerance` of a half."""
    difference = np.abs(got.astype(int) - np.floor(want + 0.5))
    assert difference.max() <= 1
    assert np.abs(want % 1 - 0.5)[difference > 0].max(initial=0) < tolerance
    return (difference > 0).mean()


SHAPES = [(20, 20), (20, 7), (9, 20), (1, 1), (20, 1), (1, 20), (13, 16)]


@pytest.mark.parametrize("mosaic", [0.0, 1.0])
@pytest.mark.parametrize("size", [20, 17])
def test_pixels_match_a_plain_renderer(size, mosaic):
    dataset = noise(SHAPES, size=size)
    plan = batch_of(dataset, 14, hue=0, saturation=0, value=0, mosaic=mosaic, translate=0.3)
    assert (plan.affine[:, 0, 0] < 0).any()
    # Weights are multiples of 2**-11: off by at most 2**-12 each, times 255 levels.
    want = expected(plan, dataset.squares).transpose(0, 3, 1, 2)
    unequal = assert_rounded(render(plan, dataset.squares), want, 2 * 255 * 2**-12 + 0.01)
    assert unequal < 0.0055
    covered = (plan.window[..., 2:] > plan.window[..., :2]).all(axis=-1)
    assert covered.any(axis=1).all()
    if mosaic:
        assert not covered.all()  # layers outside the output were among them


def single_plan(windows, colors=(0, 1, 1), size=16, affine=(1, 0, 1, 0)):
    """Plan of one image with layers of whole stored squares, in the order of the sources."""
    plan = Plan(
        np.zeros((1, 4), np.int32),
        np.zeros((1, 4, 4), np.int32),
        np.zeros((1, 4, 4), np.float32),
        np.zeros((1, 4, 4), np.int32),
        np.array([colors], np.float32),
    )
    for k, window in enumerate(windows):
        plan.source[0, k] = k
        plan.window[0, k], plan.affine[0, k] = window, affine
        plan.content[0, k] = (0, 0, size, size)
    return plan


def test_halves_round_up_and_neighbors_are_clamped():
    squares = noise([(16, 16)], size=16).squares
    # Halfway between columns every second sum is odd; the last column has no neighbour.
    image = render(single_plan([(0, 0, 16, 16)], affine=(1, 0.5, 1, 0)), squares)[0]
    beyond = np.concatenate([squares[0, :, 1:], squares[0, :, -1:]], axis=1)
    want = (squares[0].astype(int) + beyond + 1) // 2
    np.testing.assert_array_equal(image.transpose(1, 2, 0), want)
    # A window that reaches far beyond its picture repeats the border.
    plan = single_plan([(0, 0, 16, 16)], affine=(-2.5, 20.0, 3.0, -19.0))
    plan.content[0, 0] = (3, 2, 12, 15)
    assert_rounded(render(plan, squares)[0].transpose(1, 2, 0), expected(plan, squares)[0], 0.14)


def test_fill_changes_its_value_only():
    squares = np.zeros((1, 16, 16, 3), np.uint8)
    plan = single_plan([(2, 3, 9, 8)], colors=(0.2, 1.5, 0.8))
    image = render(plan, squares)[0]
    drawn = np.zeros((16, 16), bool)
    drawn[3:8, 2:9] = True
    assert (image[:, drawn] == 0).all()
    assert (image[:, ~drawn] == 91).all()  # 114 * 0.8 = 91.2
    assert (render(plan._replace(window=plan.window * 0), squares) == 91).all()


def test_last_layer_shows():
    squares = np.stack([np.full((16, 16, 3), level, np.uint8) for level in (10, 20)])
    image = render(single_plan([(0, 0, 10, 10), (5, 6, 16, 16)]), squares)[0, 0]
    assert (image[6:, 5:] == 20).all()
    assert (image[:6, :10] == 10).all()
    assert (image[:6, 10:] == FILL).all()


def hsv_expected(colors, shift, richer, brighter):
    rows = []
    for color in colors:
        hue, saturation, value = colorsys.rgb_to_hsv(*(color / 255))
        saturation, value = min(saturation * richer, 1), min(value * brighter, 1)
        rows.append(colorsys.hsv_to_rgb((hue + shift) % 1, saturation, value))
    return 255 * np.array(rows)


@pytest.mark.parametrize(
    "gains", [(0.013, 0.4, 1.3), (-0.3, 1.7, 0.6), (0.5, 1.0, 1.0), (0.95, 0.0, 1.9), (0, 2, 1)]
)
def test_colors_match_colorsys(gains):
    gains = tuple(np.array(gains, np.float32).tolist())
    levels = np.array([0, 1, 2, 50, 51, 100, 127, 128, 200, 254, 255])
    colors = np.stack(np.meshgrid(levels, levels, levels), axis=-1).reshape(-1, 3)
    colors = np.concatenate([colors, np.zeros((37 * 37 - len(colors), 3), int)])
    squares = colors.astype(np.uint8).reshape(1, 37, 37, 3)
    plan = single_plan([(0, 0, 37, 37)], colors=gains, size=37)
    got = render(plan, squares)[0].reshape(3, -1).T
    assert_rounded(got, hsv_expected(colors, *gains), 1e-3)


def colors_of(color, **gains):
    picture = np.full((16, 16, 3), color, np.uint8)
    dataset = Pictures([picture], size=16)
    return render(batch_of(dataset, 300, **{**OFF, **gains}), dataset.squares)[:, :, 8, 8]


def test_hsv_gains():
    colors = colors_of((200, 110, 95), hue=0.1, saturation=0.5, value=0.2)
    hsv = np.array([colorsys.rgb_to_hsv(*(c / 255)) for c in colors])
    hue, saturation, value = colorsys.rgb_to_hsv(200 / 255, 110 / 255, 95 / 255)
    turn = (hsv[:, 0] - hue + 0.5) % 1 - 0.5
    # The ends of each range are reached, and not passed but for rounding to 8 bits.
    for got, gain in ((turn, 0.1), (hsv[:, 1] / saturation - 1, 0.5), (hsv[:, 2] / value - 1, 0.2)):
        assert 0.9 * gain < got.max() < gain + 0.02
        assert -0.9 * gain > got.min() > -gain - 0.02


@pytest.mark.parametrize("name", ["hue", "saturation", "value"])
def test_one_gain_changes_nothing_else(name):
    colors = colors_of((200, 110, 95), **{name: 0.2})
    hsv = np.array([colorsys.rgb_to_hsv(*(c / 255)) for c in colors])
    spread = np.ptp((hsv + np.array([0.5, 0, 0])) % 1, axis=0)
    changed = ["hue", "saturation", "value"].index(name)
    assert spread[changed] > 0.15
    assert np.delete(spread, changed).max() < 0.02


def test_grey_stays_grey():
    colors = colors_of((90, 90, 90), hue=0.5, saturation=0.7, value=0.4).astype(int)
    assert np.ptp(colors, axis=1).max() == 0
    assert colors.min() < 60
    assert colors.max() > 120


# ---------------------------------------------------------------------------------- drawing


def test_render_into_parts_of_a_batch_from_a_file_and_in_threads(tmp_path):
    dataset = noise(SHAPES)
    plan = batch_of(dataset, 8, mosaic=0.5)
    want = render(plan, dataset.squares)
    dataset.squares.tofile(tmp_path / "squares")
    mapped = np.memmap(tmp_path / "squares", np.uint8, mode="r", shape=dataset.squares.shape)
    out = np.empty_like(want)

    def part(rows):
        given = render(Plan(*(field[rows] for field in plan)), mapped, out[rows])
        assert np.shares_memory(given, out)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(part, [slice(0, 3), slice(3, 4), slice(4, 8)]))
    np.testing.assert_array_equal(out, want)
    # The caller's array is left writeable.
    assert dataset.squares.flags.writeable


def changed(plan, name, value):
    field = getattr(plan, name).copy()
    field[0, 0] = value
    return plan._replace(**{name: field})


def test_render_errors():
    squares = np.zeros((2, 16, 16, 3), np.uint8)
    plan = single_plan([(0, 0, 16, 16)])
    wrong = [
        (changed(plan, "source", 2), "names image 2, but there are 2"),
        (changed(plan, "source", -1), "names image"),
        (changed(plan, "window", (0, 0, 17, 16)), "beyond the 16 px"),
        (changed(plan, "window", (-1, 0, 16, 16)), "beyond the 16 px"),
        (changed(plan, "content", (0, 0, 17, 16)), "content does not fit"),
        (changed(plan, "content", (5, 0, 5, 16)), "content does not fit"),
        (plan._replace(affine=plan.affine.astype(float)), r"affine is float64 \(1, 4, 4\)"),
        (plan._replace(color=plan.color[0]), r"color is float32 \(3,\)"),
    ]
    for bad, message in wrong:
        with pytest.raises(ValueError, match=message):
            render(bad, squares)
    for bad in (squares[0], squares[:, :, ::2], squares.astype(np.float32)):
        with pytest.raises(ValueError, match="C-contiguous uint8 \\(N, S, S, 3\\)"):
            render(plan, bad)
    for bad in (np.empty((1, 3, 16, 15), np.uint8), np.empty((1, 3, 16, 16), np.float32)):
        with pytest.raises(ValueError, match="out is"):
            render(plan, squares, bad)


CHILD = """
import sys
import numpy as np
from data.augment import Augment, Plan, render
plan = Plan(*(np.zeros((1, *s), t) for s, t in (
    ((4,), "i4"), ((4, 4), "i4"), ((4, 4), "f4"), ((4, 4), "i4"), ((3,), "f4"))))
image = render(plan, np.zeros((1, 8, 8, 3), np.uint8))
print(image.sum(), sorted({"jax", "pytensor"} & set(sys.modules)))
"""


@pytest.mark.parametrize("writeable", [True, False])
def test_compiled_code_without_a_folder_of_its_own(tmp_path, writeable):
    # A file where the folder of compiled code would be: nothing can be written next to the
    # source, whoever runs the test.
    room = tmp_path / "data"
    room.mkdir()
    for name in ("augment.py", "images.py"):
        shutil.copy(Path(augment_module.__file__).with_name(name), room)
    (room / "__pycache__").touch()
    home = tmp_path / "home"
    home.mkdir() if writeable else home.touch()
    env = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA", "XDG"))}
    env |= {"HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    child = subprocess.run(
        [sys.executable, "-W", "error", "-c", CHILD],
        cwd=tmp_path, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    assert child.stdout.split() == ["0", "[]"]
    assert bool(list(tmp_path.rglob("*_render*.nbc"))) == writeable


def test_augmentation_is_fast():
    dataset = noise([(240, 320)] * 5, size=320)
    for mosaic in (0.0, 1.0):
        plan = batch_of(dataset, 1, mosaic=mosaic)
        render(plan, dataset.squares)
        planning, drawing = [], []
        for k in range(15):
            start = time.perf_counter()
            make_plan(dataset, 0, Augment(mosaic=mosaic), np.random.default_rng(k))
            planning.append(time.perf_counter() - start)
            start = time.perf_counter()
            render(plan, dataset.squares)
            drawing.append(time.perf_counter() - start)
        assert min(planning) < 0.002  # about 0.1 ms
        assert min(drawing) < 0.01  # about 1 ms
