"""Things pasted into other pictures by the YOLO11n demo: which ones, where, and what they cover."""

import numpy as np
import pytest
from data.augment import (
    LAYERS,
    PASTED,
    VISIBLE,
    Augment,
    PasteOn,
    _fitting_lengths,
    make_plan,
    stack_plans,
)
from data.drawing import render
from data.images import to_corners
from data.listing import DataError
from data.loader import BatchLoader
from data.things import LEAST_SIDE, MARGIN, MOST_SIDE, find_held, find_things
from scipy.ndimage import binary_opening

from tests.examples.yolo11n.data.pictures import (
    OFF,
    Pictures,
    batch_of,
    plans_of,
    rectangles,
    shown,
)  # fmt: skip

PASTING = {**OFF, "copy_paste": 1.0}

# --------------------------------------------------------------------- pixels and boxes together


def around(lit):
    """Return the smallest box's corners around pixels; the image's middle if there is none."""
    y, x = np.nonzero(lit)
    return np.array([x.min(), y.min(), x.max() + 1, y.max() + 1]) if len(x) else np.full(4, 32)


@pytest.mark.by_default("0.0")
@pytest.mark.slow
@pytest.mark.parametrize("mosaic", [0.0, 1.0])
def test_boxes_enclose_what_is_visible(mosaic):
    dataset = rectangles()
    plans = plans_of(dataset, 120, **PASTING | {"mosaic": mosaic, "flip": 0.5, "scale": 0.5})
    images = render(stack_plans([plan for plan, _, _ in plans]), dataset.squares)
    framed = shrunk = hidden = 0
    for image, (plan, boxes, labels) in zip(images, plans, strict=True):
        layers = np.flatnonzero(plan.window[:, 2])
        for layer in layers:
            label = plan.source[layer]
            if (plan.source[layers] == label).sum() > 1:
                continue
            lit = shown(image, label)
            whole = np.array([24 - label, 28 + label]) / plan.affine[layer, 2]
            found = to_corners(boxes[labels == label], 64)
            if len(found):
                # With what is thinner than 3 px, and without: slivers count from 1 px on. Half a
                # pixel is lost to rounding, and as much where a scaled edge is blended.
                whole_box, thick_box = around(lit), around(binary_opening(lit, np.ones((3, 3))))
                assert (np.minimum(whole_box, thick_box) - 1.2 < found[0]).all()
                assert (np.maximum(whole_box, thick_box) + 1.2 > found[0]).all()
                framed += np.array_equal(whole_box, thick_box)
                shrunk += layer == 0 and (found[0, 2:] - found[0, :2] < whole - 2).any()
            else:
                assert lit.sum() < VISIBLE * whole.prod() + whole.sum()
                hidden += 1
    assert framed > 150
    assert shrunk > 5
    assert hidden > 5


# ---------------------------------------------------------------------------- what, and where


def test_chances_of_pasting():
    dataset = rectangles()
    plan = batch_of(dataset, 2000, **PASTING | {"copy_paste": 0.3, "flip": 0.2})
    used = plan.window[:, LAYERS:, 2] > 0
    # A fifth of the things chosen are of the class that the picture itself alone has.
    assert (np.abs(used.mean(axis=0) - 0.3 * 0.8) < 0.03).all()
    assert abs(np.corrcoef(used.T)[0, 1]) < 0.06
    source = plan.source[:, LAYERS:][used]
    assert (np.bincount(source) > 0.14 * len(source)).all()
    assert (source != np.repeat(plan.source[:, 0], used.sum(axis=1))).all()
    flipped = plan.affine[:, LAYERS:, 0][used] < 0
    assert abs(flipped.mean() - 0.2) < 0.04


@pytest.mark.slow
def test_size_and_place():
    dataset = rectangles()
    plan = batch_of(dataset, 2000, **PASTING | {"scale": 0.5})
    used = plan.window[:, LAYERS:, 2] > 0
    window, affine, content, source = (field[:, LAYERS:][used] for field in (
        plan.window, plan.affine, plan.content, plan.source
    ))  # fmt: skip
    gain = 1 / affine[:, 0]
    least, most = dataset.things.gains.T
    assert (least == LEAST_SIDE / np.arange(24, 19, -1)).all()
    # A tenth of 28 px more on either side, in whole pixels: 34 px.
    assert most[0] == MOST_SIDE * 64 / 34
    for k in range(5):
        gains = gain[source == k]
        low, high = max(least[k], 0.5), min(most[k], 1.5)
        assert low - 1e-4 <= gains.min() < low + 0.01
        assert high - 0.01 < gains.max() <= high + 1e-4
        assert abs(gains.mean() - (low + high) / 2) < 0.02
    sides = window[:, 2:] - window[:, :2]
    assert sides.max() == MOST_SIDE * 64
    # Anywhere, but whole.
    assert window.min(axis=0).tolist()[:2] == [0, 0]
    assert window.max(axis=0).tolist()[2:] == [64, 64]
    assert np.abs(sides - (content[:, 2:] - content[:, :2]) * gain[:, None]).max() <= 1


def found(boxes, classes=None, size=100, held=None):
    """Apply `find_things`, or `find_held`, to corners by picture, without letterboxing."""
    counts = [len(each) for each in boxes]
    x1, y1, x2, y2 = np.concatenate([np.reshape(each, (-1, 4)) for each in boxes]).T / size
    fractions = np.stack([(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1], axis=1)
    classes = np.zeros(len(x1)) if classes is None else np.array(classes)
    how = (
        fractions.astype(np.float32), classes.astype(np.int32), np.cumsum([0, *counts]),
        np.array([[0, 0, size, size]] * len(boxes)), size,
    )  # fmt: skip
    return find_things(*how) if held is None else find_held(*how, *held)


def test_which_things_can_be_pasted():
    person, beside = (20.5, 10.5, 40.5, 60.5), (36, 10, 56, 60)
    close, phone = (10.5, 10.5, 50.5, 90.5), (25, 20, 33.5, 29)
    things = found([
        [person],
        [(0, 0, 7.9, 30)],  # too small
        [(0, 0, 10, 81)],  # of 8 px if as long as allowed: too small as well
        [close, phone],
        [person, beside],  # the rectangle of either shows a quarter of the other one
        [(10, 10, 60, 60), *[(20, 20 + k, 40, 40 + k) for k in range(3)]],  # a crowd
        [],
        [(0, 0, 8.5, 8.5)],
    ])  # fmt: skip
    assert things.source.tolist() == [0, 3, 3, 7]
    # A tenth more on either side, in whole pixels, inside the picture.
    assert things.content.tolist()[:2] == [[18, 5, 43, 66], [6, 2, 55, 99]]
    assert things.content.tolist()[2:] == [[24, 19, 35, 30], [0, 0, 10, 10]]
    assert MARGIN == 0.1
    assert things.most_boxes == 2


def test_classes_have_equal_chances_and_own_pictures_none():
    box = (20, 20, 40, 40)
    # Class 1 has no thing; class 3 has those of picture 0 alone.
    things = found([[box, (60, 60, 90, 90)]] + [[box]] * 5, [2, 3, 0, 0, 0, 0, 2])
    assert things.bounds.tolist() == [0, 4, 6, 7]
    steps = (np.arange(60) + 0.5) / 60
    for index in range(6):
        chosen = [things.choose(index, kind, which) for kind in steps for which in steps]
        assert chosen.count(None) == (1200 if index == 0 else 0)
        counts = np.bincount([k for k in chosen if k is not None], minlength=7)
        assert (counts[things.source == index] == 0).all()
        totals = [counts[first:end].sum() for first, end in ((0, 4), (4, 6), (6, 7))]
        assert totals == [1200, 1200, 0 if index == 0 else 1200]
        for first, end in ((0, 4), (4, 6)):
            others = counts[first:end][things.source[first:end] != index]
            assert others.max() - others.min() <= 60


def test_nothing_to_paste():
    with pytest.raises(DataError, match="--copy-paste: none of the 1 boxes can be pasted"):
        found([[(0, 0, 7, 7)], []])
    with pytest.raises(DataError, match="none of the 0 boxes"):
        found([[], []])
    # A single picture has no other one.
    dataset = Pictures([np.zeros((64, 64, 3), np.uint8)], [[0.5, 0.5, 0.5, 0.5]], size=64)
    plan, boxes, _ = make_plan(dataset, 0, Augment(copy_paste=1.0), np.random.default_rng(0))
    assert not plan.window[LAYERS:].any()
    assert len(boxes) == 1


# ------------------------------------------------------------------------- things onto others

PHONES = {2: (0, 0, 250), 3: (0, 250, 0)}  # colours by picture


def people(size=160):
    """Draw a person whom the lower edge cuts, one who stands, and two phones; each with a box."""
    corners = [(20, 40, 140, 160), (60, 4, 110, 154), (50, 60, 70, 100), (40, 50, 100, 80)]
    colors = [(250, 0, 0), (250, 250, 0), *PHONES.values()]
    pictures, boxes = [], []
    for (x0, y0, x1, y1), color in zip(corners, colors, strict=True):
        picture = np.zeros((size, size, 3), np.uint8)
        picture[y0:y1, x0:x1] = color
        pictures.append(picture)
        boxes.append(np.array([(x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0]) / size)
    return Pictures(pictures, boxes, size, labels=[[0], [0], [1], [1]])


class Chosen:
    """A generator of numbers that leave a picture as it is, and of those of one thing pasted."""

    def __init__(self, *held):
        self.held = held

    def random(self, shape):
        numbers = np.full(shape, 0.5)
        if np.ndim(shape):
            numbers[0] = self.held
        return numbers


def onto(dataset, index, *held, **options):
    """Paste a phone as numbers say; return its window, the plan, boxes in pixels and classes."""
    augment = Augment(**OFF | {"paste_on": PasteOn(0, 1, 0.5, dataset.held_things(0, 1))} | options)
    plan, boxes, classes = make_plan(dataset, index, augment, Chosen(*held))
    return plan.window[LAYERS].tolist(), plan, to_corners(boxes, dataset.image_size), classes


def test_length_of_a_phone_that_fits():
    boxes = np.array([
        (10, 20, 60, 170),  # stands: a tenth of 150
        (10, 20, 160, 60),  # lies
        (20, 40, 140, 200),  # to the lower edge: a third of 120
        (20, 110, 140, 199),  # almost to the edge: a third of 89, which is less than the shoulders
        (20, 110, 140, 196),  # not to the edge
        (0, 0, 30, 200),  # half outside of the picture
    ])  # fmt: skip
    ends = np.full(len(boxes), 200)
    want = [15, 15, 40, 89 / 3, 12, 20]
    np.testing.assert_allclose(_fitting_lengths(boxes, ends), want)


@pytest.mark.parametrize(
    ("edge", "x", "y", "window"),
    [
        (0, 0.5, 0, (70, 136, 90, 160)),  # from below, with three fifths of it
        (0, 0.5, 1, (70, 110, 90, 150)),
        (0, 0, 1, (15, 110, 35, 150)),  # from beside, with a quarter of it
        (0, 1, 1, (125, 110, 145, 150)),
        (0.5, 0, 0, (20, 40, 40, 80)),  # in the corner of the box
        (0.5, 1, 0, (120, 40, 140, 80)),
        (0.5, 0.5, 1, (70, 80, 90, 120)),  # centred
    ],
)
def test_where_things_are_held(edge, x, y, window):
    dataset = people()
    # The first phone, 40 px long: 0.7 times 40 px and three sevenths of what is up to 1.4 times.
    found, plan, boxes, classes = onto(dataset, 0, 0, 0, 0, 3 / 7, 0.9, edge, x, y)
    assert found == list(window)
    assert plan.source[LAYERS] == 2
    assert plan.content[LAYERS].tolist() == [50, 60, 70, 100]
    np.testing.assert_allclose(boxes, [(20, 40, 140, 160), window], atol=1e-4)
    assert classes.tolist() == [0, 1]
    assert not plan.window[LAYERS + 1 :].any()


def test_sizes_of_what_is_held():
    dataset = people()
    rest = (0.9, 0.9, 0.5, 0)

    def sides(index, which, zoom, **options):
        (x0, y0, x1, y1), plan, *_ = onto(dataset, index, 0, 0, which, zoom, *rest, **options)
        return plan.source[LAYERS], x1 - x0, y1 - y0

    last = 1 - 1e-9
    assert sides(0, 0, 0) == (2, 14, 28)
    assert sides(0, 0, 1) == (2, 28, 56)
    assert sides(0, last, 0) == (3, 30, 15)  # at least half of 60 px
    assert sides(0, last, 1) == (3, 56, 28)
    # The standing one: 10.5 to 21 px, and of the second phone that would be less than half.
    assert sides(1, last, 0) == (2, 10, 20)
    assert sides(1, 0, 1) in ((2, 10, 21), (2, 11, 21))
    # Never enlarged by more, nor longer than half of the image.
    dataset.samples[0].boxes[0] = 0.5, 0.5, 1, 1
    assert sides(0, 0, 1) == (2, 30, 60)
    assert sides(0, 0, 1, scale=(2.0, 2.0)) == (3, 80, 40)


def test_nothing_is_held():
    dataset = people()

    def is_held(index, used=0.0):
        window, *_ = onto(dataset, index, used, 0, 0, 0.5, 0.9, 0, 0.5, 0)
        return window != [0] * 4

    assert not is_held(0, used=0.5)  # the chance
    assert not is_held(2)  # no person
    dataset.samples[1].boxes[0, 3] = 0.71  # a tenth of 113.6 px, times 1.4, is below 16 px
    assert not is_held(1)
    dataset.samples[1].boxes[0, 3] = 0.9
    assert is_held(1)
    # Too little of the person is visible in width: 0.7 times 16 px are more than 0.7 times 15 px.
    dataset.samples[1].boxes[0] = 0.5, 0.5, 15 / 160, 1
    assert not is_held(1)


def test_what_a_held_thing_covers():
    """A person keeps the whole box, a phone below shrinks or goes, a hidden person goes."""
    size = 160
    corners = np.array([
        (20, 40, 140, 160),
        (70, 110, 90, 128),  # a phone of which a third remains visible
        (70, 110, 90, 132),  # 27 %
        (72, 120, 88, 140),  # a person of whom nothing remains visible
        (72, 86, 88, 136),  # 60 %
    ])  # fmt: skip
    middles, sides = (corners[:, :2] + corners[:, 2:]) / 2, corners[:, 2:] - corners[:, :2]
    dataset = people()
    own, boxes = dataset.samples[0], np.concatenate([middles, sides], axis=1) / size
    dataset.samples[0] = own._replace(
        boxes=boxes.astype(np.float32), classes=np.array([0, 1, 1, 0, 0], np.int32)
    )
    things = people().held_things(0, 1)
    # From 116 px on; the first of the persons is the one who is chosen.
    paste_on = PasteOn(0, 1, 0.5, things)
    window, _, found, classes = onto(
        dataset, 0, 0, 0, 0, 3 / 7, 0.9, 0, 0.5, 10 / 13, paste_on=paste_on
    )
    assert window == [70, 116, 90, 156]
    want = [corners[0], (70, 110, 90, 116), corners[4], window]
    assert classes.tolist() == [0, 1, 0, 1]
    np.testing.assert_allclose(found, want, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("mosaic", [0.0, 1.0])
def test_held_things_and_their_boxes(mosaic):
    dataset = people()
    options = {**OFF, "mosaic": mosaic, "flip": 0.5, "scale": (0.5, 2.0), "translate": 0.2}
    paste_on = PasteOn(0, 1, 0.8, dataset.held_things(0, 1))
    before = plans_of(dataset, 150, **options)
    plans = plans_of(dataset, 150, **options | {"paste_on": paste_on})
    images = render(stack_plans([plan for plan, _, _ in plans]), dataset.squares)
    held = cut = 0
    for image, (plan, boxes, labels), (_, alone, kinds) in zip(images, plans, before, strict=True):
        np.testing.assert_array_equal(boxes[labels == 0], alone[kinds == 0])
        layers = LAYERS + np.flatnonzero(plan.window[LAYERS:, 2])
        found = to_corners(boxes[len(boxes) - len(layers) :], 160)
        for layer, box in zip(layers, found, strict=True):
            part, window = layer - LAYERS, plan.window[layer]
            assert plan.source[layer] != plan.source[part]
            assert (window[:2] >= plan.window[part, :2]).all()
            assert (window[2:] <= plan.window[part, 2:]).all()
            lit = np.abs(image - np.reshape(PHONES[plan.source[layer]], (3, 1, 1))).max(axis=0) < 9
            x0, y0, x1, y1 = window
            assert lit[y0 + 1 : y1 - 1, x0 + 1 : x1 - 1].all()
            assert np.abs(window - box).max() <= 0.51
            sides = (plan.content[layer, 2:] - plan.content[layer, :2]) / plan.affine[layer, 2]
            assert 1 / 1.5 - 1e-3 <= plan.affine[layer, 2] <= 2
            assert sides.min() >= 8
            assert (window[2:] - window[:2] >= [0.7 * sides[0], 0.55 * sides[1]]).all()
            held, cut = held + 1, cut + ((window[2:] - window[:2]) < sides - 1).any()
    assert held > 40
    assert 5 < cut < 0.6 * held


def test_which_things_can_be_held():
    phone, hand = (20.4, 10.4, 40.6, 50), (20, 10, 45, 50)
    things = found(
        [
            [phone, hand],  # a hand that is almost hidden: it is what is below
            [phone, hand],  # but a thing of another class isn't
            [phone, (35, 40, 60, 90)],  # another phone with a corner: less than a tenth of it
            [phone, (25, 20, 35, 30)],  # another phone
            [(0, 0, 7, 30)],  # 8 px at a scale of 1.2
            [(0, 0, 5, 30)],  # at 1.6
            [(0, 0, 99, 100)],  # half of the image at the least scale
            [],
        ],
        [1, 0, 1, 2, 1, 1, 1, 1, 1, 1, 1],
        held=(0, 1),
    )
    assert things.source.tolist() == [0, 2, 2, 4, 6]
    assert things.content.tolist()[0] == [20, 10, 41, 50]
    want = [(0.5, 1.25), (0.5, 1.25), (0.5, 1), (8 / 7, 1.5), (0.5, 0.5)]
    np.testing.assert_allclose(things.gains, want)
    assert things.most_boxes == 1


def test_fitting_things_have_equal_chances():
    things = found([[(0, 0, 20, side)] for side in (40, 30, 60, 90)], [1] * 4, held=(0, 1))
    assert things.gains.tolist() == [[0.5, 1.25], [0.5, 1.5], [0.5, 50 / 60], [0.5, 50 / 90]]
    # 24 to 29 px: all but the longest two. Of picture 1, the first one alone.
    assert [things.choose_fitting(9, 24, 29, u) for u in (0, 0.49)] == [(0, 0.6, 29 / 40)] * 2
    assert things.choose_fitting(9, 24, 29, 0.51) == (1, 24 / 30, 29 / 30)
    assert things.choose_fitting(1, 24, 29, 0.99) == (0, 0.6, 29 / 40)
    assert things.choose_fitting(9, 51, 60, 0.5) is None
    assert things.choose_fitting(9, 5, 14, 0.5) is None


def test_no_thing_can_be_held(builder):
    builder.add(64, 64, [(1, 8, 8, 24, 24), (77, 8, 8, 3, 3)])
    with pytest.raises(DataError, match="--paste-on: none of the 1 boxes of cell phone can be"):
        builder.dataset().held_things(0, 1)
    assert len(builder.dataset().held_things(1, 0).source) == 1


# ------------------------------------------------------------------------------- in batches


def test_max_boxes_suffices(builder):
    builder.add(64, 64, [(1, 8, 8, 24, 24), (77, 10, 10, 9, 9), (77, 20, 20, 9, 9)])
    builder.add(64, 64, [(1, 8, 8, 24, 24)])
    dataset = builder.dataset()
    assert dataset.things.most_boxes == 3
    assert dataset.max_boxes(mosaic=False) == 3
    assert dataset.max_boxes(mosaic=False, pasted=2) == 9
    assert dataset.max_boxes(mosaic=True, pasted=2) == 14
    assert dataset.max_boxes(mosaic=True, pasted=2, held=4) == 18
    most = {0: 0, 1: 0}
    for k in range(400):
        _, boxes, _ = make_plan(dataset, k % 2, Augment(copy_paste=1), np.random.default_rng(k))
        most[k % 2] = max(most[k % 2], len(boxes))
    assert most == {0: 5, 1: 7}  # the first one gets things of the second one only


def test_batches_with_held_things(builder):
    """With room for all boxes, and what is labelled in each layer."""
    builder.add(160, 160, [(1, 20, 40, 120, 120)])
    builder.add(160, 160, [(77, 50, 60, 20, 40)])
    dataset = builder.dataset(size=160)
    dataset.labelled = np.array([[True, False], [False, True]])
    paste_on = PasteOn(0, 1, 1.0, dataset.held_things(0, 1))
    augment = Augment(mosaic=0.5, scale=(0.5, 2.0), copy_paste=0.5, paste_on=paste_on)
    loader = BatchLoader(dataset, 6, augment=augment, workers=0, render=False)
    assert loader.max_boxes == dataset.max_boxes(mosaic=True, pasted=PASTED, held=LAYERS)
    held = 0
    for epoch in range(8):
        (batch,) = loader.epoch(epoch)
        used = batch.windows[:, LAYERS + PASTED :, 2] > 0
        assert batch.labelled.shape == (6, LAYERS + PASTED + LAYERS, 2)
        assert (batch.labelled[:, LAYERS + PASTED :][used] == [False, True]).all()
        held += used.sum()
    assert held > 8
