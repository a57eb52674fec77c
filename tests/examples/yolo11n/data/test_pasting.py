"""Things pasted into other pictures by the YOLO11n demo: which ones, where, and what they cover."""

import numpy as np
import pytest
from data.augment import LAYERS, PASTED, VISIBLE, Augment, _visible_parts, make_plan, stack_plans
from data.drawing import plan_variables, render, render_graph
from data.images import to_corners
from data.listing import DataError
from data.loader import BatchLoader
from data.things import LEAST_SIDE, MARGIN, MOST_SIDE, find_things
from scipy.ndimage import binary_opening

import pytensor
from pytensor.link.jax.tuned import jax_mode
from tests.examples import yolo11n_golden as golden
from tests.examples.yolo11n.data.pictures import OFF, Pictures, batch_of, noise, plans_of
from tests.examples.yolo11n.data.test_drawing import assert_rounded, expected

PASTING = {**OFF, "copy_paste": 1.0}
COLORS = np.array([[250, 0, 0], [0, 250, 0], [0, 0, 250], [250, 250, 0], [0, 250, 250]])


def rectangles(size=64):
    """Draw black pictures with a rectangle, each of a colour and class of its own, and a box."""
    pictures, boxes = [], []
    for k, color in enumerate(COLORS.astype(np.uint8)):
        # Every second picture is padded by 8 px on the left or above.
        left, top = ((0, 0), (8, 0), (0, 0), (0, 8), (0, 0))[k]
        picture = np.zeros((size - 2 * top, size - 2 * left, 3), np.uint8)
        picture[10 - top : 38 + k - top, 16 - left : 40 - k - left] = color
        pictures.append(picture)
        boxes.append([(28 - k / 2) / 64, (24 + k / 2) / 64, (24 - k) / 64, (28 + k) / 64])
    return Pictures(pictures, boxes, size=size)


# --------------------------------------------------------------------- pixels and boxes together


def around(lit):
    """Return the smallest box's corners around pixels; the image's middle if there is none."""
    y, x = np.nonzero(lit)
    return np.array([x.min(), y.min(), x.max() + 1, y.max() + 1]) if len(x) else np.full(4, 32)


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
            # More than half of the thing's colour, and no other's.
            lit = (np.abs(image - COLORS[label][:, None, None]) < 125).all(axis=0)
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


@pytest.mark.slow
def test_visible_parts():
    windows = np.array([(10, 0, 20, 30), (0, 0, 0, 0), (15, 0, 30, 8)], np.int32)
    boxes = [
        (0.5, 2, 14.5, 12),  # its right end covered
        (12, 2, 18, 28),  # all of it
        (12, 2, 22, 12),  # but for a corner, by both
        (5, 5, 25, 9),  # in two parts, of which the other one is low
        (40, 1, 50, 2),  # nothing
        (15, 1, 16, 1),  # without area
    ]
    areas, parts = _visible_parts(np.array(boxes, float), np.zeros(6, int), windows, 4)
    np.testing.assert_allclose(areas, [95, 0, 8, 20 + 5, 10, 0])
    want = [(0.5, 2, 10, 12), (0, 0, 0, 0), (20, 8, 22, 12), (5, 5, 25, 9), (40, 1, 50, 2)]
    np.testing.assert_allclose(parts, [*want, (0, 0, 0, 0)])
    # Boxes of layers 4 to 6 end with their windows, and are covered by later ones only.
    corners = np.array([(12, 2, 22, 12)] * 3, float)
    areas, parts = _visible_parts(corners, np.arange(4, 7), windows, 4)
    np.testing.assert_allclose(areas, [8 * 10 - 5 * 6, 0, 7 * 6])
    np.testing.assert_allclose(parts, [(12, 2, 20, 12), (0, 0, 0, 0), (15, 2, 22, 8)])


@pytest.mark.slow
def test_other_layers_and_choices_are_what_they_were():
    dataset = rectangles()
    off = plans_of(dataset, 20, mosaic=0.5)
    on = plans_of(dataset, 20, mosaic=0.5, copy_paste=0.5)
    for (plan, _, _), (more, _, _) in zip(off, on, strict=True):
        for ours, theirs in zip(plan[:4], more[:4], strict=True):
            np.testing.assert_array_equal(ours, theirs[:LAYERS])
            assert len(theirs) == LAYERS + PASTED
        np.testing.assert_array_equal(plan.color, more.color)
    # Where nothing is pasted, the boxes are the same as well, to the bit.
    kept = [k for k, (plan, _, _) in enumerate(on) if not plan.window[LAYERS:].any()]
    assert kept
    for k in kept:
        np.testing.assert_array_equal(off[k][1], on[k][1])
        np.testing.assert_array_equal(off[k][2], on[k][2])
    for chance, numbers in ((0.0, 13), (0.1, 27), (1.0, 27)):
        rng, same = np.random.default_rng(5), np.random.default_rng(5)
        make_plan(dataset, 0, Augment(copy_paste=chance), rng)
        same.random(numbers)
        assert rng.bit_generator.state == same.bit_generator.state


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


def found(boxes, classes=None, size=100):
    """Apply `find_things` to corners by picture, without letterboxing."""
    counts = [len(each) for each in boxes]
    x1, y1, x2, y2 = np.concatenate([np.reshape(each, (-1, 4)) for each in boxes]).T / size
    fractions = np.stack([(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1], axis=1)
    classes = np.zeros(len(x1)) if classes is None else np.array(classes)
    return find_things(
        fractions.astype(np.float32), classes.astype(np.int32), np.cumsum([0, *counts]),
        np.array([[0, 0, size, size]] * len(boxes)), size,
    )  # fmt: skip


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


# ------------------------------------------------------------------------------- in batches


def test_max_boxes_suffices(builder):
    builder.add(64, 64, [(1, 8, 8, 24, 24), (77, 10, 10, 9, 9), (77, 20, 20, 9, 9)])
    builder.add(64, 64, [(1, 8, 8, 24, 24)])
    dataset = builder.dataset()
    assert dataset.things.most_boxes == 3
    assert dataset.max_boxes(mosaic=False) == 3
    assert dataset.max_boxes(mosaic=False, pasted=2) == 9
    assert dataset.max_boxes(mosaic=True, pasted=2) == 14
    most = {0: 0, 1: 0}
    for k in range(400):
        _, boxes, _ = make_plan(dataset, k % 2, Augment(copy_paste=1), np.random.default_rng(k))
        most[k % 2] = max(most[k % 2], len(boxes))
    assert most == {0: 5, 1: 7}  # the first one gets things of the second one only


def leaves(batch):
    return [*batch[1:5], *(batch.plan or [batch.images])]


@pytest.mark.parametrize("render", [True, False])
def test_batches_depend_on_seed_epoch_and_place(seven, render):
    settings = {"augment": Augment(mosaic=0.5, copy_paste=0.5), "seed": 4, "render": render}
    loaders = [BatchLoader(seven, 3, workers=n, mosaic_until=2, **settings) for n in (0, 2)]
    assert loaders[0].max_boxes == seven.max_boxes(mosaic=True, pasted=PASTED)
    for epoch in (0, 2):
        one, two = (list(loader.epoch(epoch)) for loader in loaders)
        again = list(loaders[0].epoch(epoch, start_batch=1))
        for a, b in [*zip(one, two, strict=True), *zip(one[1:], again, strict=True)]:
            assert all(np.array_equal(x, y) for x, y in zip(leaves(a), leaves(b), strict=True))
        if not render:
            # In the epochs without mosaic, too.
            assert any(batch.plan.window[:, LAYERS:].any() for batch in one)
    loaders[1].close()


# ---------------------------------------------------------------------------------- drawing

SIZE, BATCH = 33, 10


@pytest.fixture(scope="module")
def pictures():
    boxes = [[0.5, 0.4 + 0.05 * (k % 3), 0.3, 0.3 + 0.1 * (k % 4)] for k in range(8)]
    shapes = [(33, 33), (33, 20), (22, 33), (33, 33), (33, 28), (25, 33), (21, 26), (300, 200)]
    dataset = noise(shapes, size=SIZE)
    return Pictures([sample.image for sample in dataset], [[box] for box in boxes], size=SIZE)


@pytest.mark.slow
def test_pixels_match_a_plain_renderer(pictures):
    options = {"hue": 0, "saturation": 0, "value": 0, "mosaic": 0.5, "copy_paste": 0.8}
    plan = batch_of(pictures, 12, **options)
    assert (plan.window[:, LAYERS:, 2] > 0).sum() > 12
    want = expected(plan, pictures.squares).transpose(0, 3, 1, 2)
    unequal = assert_rounded(render(plan, pictures.squares), want, 2 * 255 * 2**-12 + 0.01)
    assert unequal < 0.01


def draw_on_device(pictures, mode):
    squares = pytensor.shared(pictures.squares, shape=pictures.squares.shape)
    variables = plan_variables(BATCH, pasted=PASTED)
    draw = pytensor.function([*variables], render_graph(squares, variables, SIZE), mode=mode)
    for first in (0, BATCH):
        augment = Augment(mosaic=0.5, copy_paste=0.8, translate=0.3)
        plan = stack_plans([
            make_plan(pictures, k % 8, augment, np.random.default_rng(k))[0]
            for k in range(first, first + BATCH)
        ])  # fmt: skip
        assert [v.type.shape for v in variables] == [field.shape for field in plan]
        levels = np.rint(np.asarray(draw(*plan)) * 255)
        difference = np.abs(levels - render(plan, pictures.squares))
        assert difference.max() <= 1
        assert (difference == 0).mean() >= 0.999


def test_device_draws_what_the_host_draws(pictures):
    draw_on_device(pictures, "FAST_COMPILE")


@pytest.mark.slow
@pytest.mark.parametrize("form", golden.FORMS)
def test_device_draws_by_jax_what_the_host_draws(pictures, form):
    draw_on_device(pictures, jax_mode(**form))
