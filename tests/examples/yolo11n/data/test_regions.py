"""Regions of crowds and uncertain boxes: read, moved with their pictures, put into batches."""

import numpy as np
import pytest
from data.augment import LAYERS, Augment, make_plan, move_regions, stack_plans
from data.drawing import render
from data.images import to_corners
from data.loader import BatchLoader
from dataset import load_data, load_split
from evaluation.metrics import coco_map

from tests.examples.conftest import CLASSES, draw_set, edit
from tests.examples.yolo11n.data.pictures import leaves, pixels_in, rectangles, shown

# ------------------------------------------------------------------------------ reading


def test_regions_are_read_and_kept_apart_from_boxes(builder):
    builder.add(50, 40, [
        (1, 5, 5, 10, 10),
        (1, -10, 5, 30, 20, 1),  # over the edge
        (77, 10, 0, 20, 20, 1),
        (77, 10, 0, 20, 20, 1),  # again
        (1, 60, 5, 10, 10, 1),  # outside
        (18, 1, 1, 9, 9, 1),  # of a class that isn't asked for
    ])  # fmt: skip
    builder.add(50, 40, [(1, 5, 5, 10, 10), (1, 20, 5, 10, 20), (1, 5, 5, 9, 9)])
    builder.annotations[-2]["uncertain"] = True
    del builder.annotations[-2]["iscrowd"]
    builder.annotations[-1]["uncertain"] = False
    builder.add(50, 40)
    dataset = builder.dataset()
    assert [len(sample.boxes) for sample in dataset] == [1, 2, 0]
    assert [sample.region_classes.tolist() for sample in dataset] == [[0, 1], [0], []]
    first, second, third = (sample.regions for sample in dataset)
    undo = dataset[0].geometry.undo
    np.testing.assert_allclose(undo(to_corners(first, 64))[0], [0, 5, 20, 25], atol=1e-4)
    np.testing.assert_allclose(undo(to_corners(first, 64))[1], [10, 0, 30, 20], atol=1e-4)
    np.testing.assert_allclose(undo(to_corners(second, 64)), [[20, 5, 30, 25]], atol=1e-4)
    assert third.shape == (0, 4)
    assert first.dtype == np.float32
    assert dataset[0].region_classes.dtype == np.int32
    report = dataset.report
    assert (report["regions"], report["boxes"], report["background"]) == (3, 3, 1)
    assert (report["clipped"], report["zero_area"], report["duplicates"]) == (1, 1, 1)
    assert "  3 regions left out of the loss" in dataset.summary()
    assert (dataset.max_boxes(False), dataset.max_regions(False)) == (2, 2)
    assert dataset.max_regions(True) == 2 + 1 + 0 + 2  # a set of three: its fullest comes twice


def test_what_is_uncertain_is_passed_over_by_scores(builder):
    builder.add(50, 40, [(1, 5, 5, 10, 10), (1, 20, 5, 10, 20)])
    builder.annotations[1] |= {"uncertain": "true", "iscrowd": "0"}
    dataset = builder.dataset()
    rows = [[5, 5, 15, 15, 0.5, 0], [20, 5, 30, 25, 0.9, 0], [21, 6, 30, 25, 0.8, 0]]
    for found, score in (([0], 1), ([0, 1, 2], 1), ([1, 2], 0)):
        scores = coco_map(dataset, {10: [rows[k] for k in found]})
        assert scores["per_class"]["person"]["map50"] == pytest.approx(score)


@pytest.fixture
def sets(tmp_path):
    """Draw a set whose pictures have one and two regions, and one without."""
    one = [(1, 4, 4, 20, 24), (77, 22, 2, 20, 30, 1)]
    two = [(1, 4, 4, 20, 24), (1, 22, 2, 20, 30, 1), (77, 0, 30, 20, 30, 1)]
    none = [[(77, 4, 4, 20, 24)], [], []]
    return [
        draw_set(tmp_path / "with", [(80, 64)] * 2, [one, two]),
        draw_set(tmp_path / "without", [(80, 64)] * 3, none),
    ]


def test_regions_of_several_sets(sets):
    """The second set knows its classes in another order, and by other numbers."""

    def renumber(data):
        data["categories"] = [{"id": 5, "name": "person"}, {"id": 9, "name": "cell phone"}]
        for annotation in data["annotations"]:
            annotation["category_id"] = {1: 5, 77: 9}[annotation["category_id"]]

    for split in ("train", "val"):
        edit(sets[0], renumber, split)
    joined, _ = load_data(sets[::-1], ["cell phone", "person"], 64)
    alone = load_split(sets[0], "train", ["cell phone", "person"], 64, antialias=False)
    assert [s.region_classes.tolist() for s in joined] == [[], [], [], [0], [1, 0]]
    for k in range(2):
        np.testing.assert_array_equal(joined[3 + k].regions, alone[k].regions)
        np.testing.assert_array_equal(joined[3 + k].boxes, alone[k].boxes)
    assert joined.max_regions(mosaic=True) == 3
    spread = load_split(sets, "train", CLASSES, 64, spread=2)  # the first and the last picture
    assert [s.region_classes.tolist() for s in spread] == [[1], []]


# ------------------------------------------------------------------------------ with pictures


def colored():
    """Draw pictures with a region of a colour of its own, and a box next to it."""
    dataset = rectangles(column=32)
    dataset.samples = [
        sample._replace(
            boxes=np.array([[22, 24 + k / 2, 20, 28 + k]], np.float32) / 64,
            regions=sample.boxes,
            region_classes=sample.classes,
        )
        for k, sample in enumerate(dataset.samples)
    ]
    return dataset


@pytest.mark.parametrize(
    "options", [{}, {"mosaic": 1.0}, {"copy_paste": 1.0}, {"mosaic": 1.0, "copy_paste": 1.0}]
)
def test_regions_are_where_they_are_drawn(options):
    """However little of them shows: pasted rectangles show 2 px of their picture's region."""
    dataset, augment = colored(), Augment(hue=0, saturation=0, value=0, **options)
    made = [make_plan(dataset, k % 5, augment, np.random.default_rng(k))[0] for k in range(60)]
    images = render(stack_plans(made), dataset.squares)
    seen = slivers = pasted = 0
    for image, plan in zip(images, made, strict=True):
        regions, classes = move_regions(dataset, plan)
        assert (regions.dtype, classes.dtype) == (np.float32, np.int32)
        # What the regions of layers of one picture say, above each other, of its colour.
        for source in set(plan.source[plan.window[:, 2] > 0].tolist()):
            corners = to_corners(regions[classes == source], 64)
            lit, wanted = shown(image, source), pixels_in(corners)
            # Pasted rectangles cover regions, which stay; corners are blended both ways.
            covered = pixels_in(plan.window[LAYERS:])
            assert (lit & ~wanted).sum() <= 6
            assert ((lit != wanted) & ~covered).sum() <= 6
            seen += len(corners)
            slivers += ((corners[:, 2:] - corners[:, :2]).min(axis=1) < 2.5).sum()
            pasted += (lit & covered & wanted).any()
    assert seen > 50
    if "copy_paste" in options:
        assert slivers > 20
        assert pasted > 20


# ------------------------------------------------------------------------------ in batches


@pytest.mark.parametrize(("mosaic", "rendered"), [(0.0, True), (1.0, False)])
def test_batches_have_the_regions_of_their_plans(sets, mosaic, rendered):
    train, _ = load_data(sets, CLASSES, 64)
    options = {"augment": Augment(mosaic=mosaic), "seed": 3}
    loader = BatchLoader(train, 3, workers=0, render=rendered, **options)
    planned = BatchLoader(train, 3, workers=0, render=False, **options)
    assert loader.max_regions == (3 if mosaic else 2)
    # One of two processes, with threads.
    half = BatchLoader(train, 3, workers=2, render=rendered, rows=range(1, 3), **options)
    found = 0
    with half:
        for batch, other, own in zip(*(x.epoch(1) for x in (loader, planned, half)), strict=True):
            assert batch.regions.shape == (3, loader.max_regions, 4)
            assert (batch.regions.dtype, batch.region_classes.dtype) == (np.float32, np.int32)
            for row in range(3):
                plan = type(other.plan)(*(field[row] for field in other.plan))
                regions, classes = move_regions(train, plan)
                count = len(regions)
                np.testing.assert_array_equal(batch.regions[row, :count], regions)
                np.testing.assert_array_equal(batch.region_classes[row, :count], classes)
                assert not batch.regions[row, count:].any()
                assert not batch.region_classes[row, count:].any()
                found += count
            for ours, theirs in zip(leaves(batch), leaves(own), strict=True):
                np.testing.assert_array_equal(ours[1:], theirs)
    assert found


def test_without_augmentation_regions_are_those_of_the_data(sets):
    train, _ = load_data(sets[0], CLASSES, 64)
    (batch,) = BatchLoader(train, 2, workers=0).epoch(0)
    for row, index in enumerate(batch.indices.tolist()):
        sample = train[index]
        count = len(sample.regions)
        np.testing.assert_allclose(batch.regions[row, :count], sample.regions, atol=1e-6)
        np.testing.assert_array_equal(batch.region_classes[row, :count], sample.region_classes)


def test_without_regions_batches_have_no_arrays_of_them(sets):
    train, _ = load_data(sets[1], CLASSES, 64)
    loader = BatchLoader(train, 2, augment=Augment(mosaic=1.0), workers=0)
    assert loader.max_regions == 0
    for batch in loader.epoch(0):
        assert batch.regions is batch.region_classes is None


def test_a_mosaic_with_too_many_regions_becomes_one_image(sets):
    """With shares, a picture may come twice in a mosaic."""
    train, _ = load_data(sets, CLASSES, 64, shares=[9.0, 1.0])
    augment = Augment(mosaic=1.0, translate=0, scale=0)
    loader = BatchLoader(train, 5, augment=augment, workers=0, render=False)
    alone = joined = 0
    for epoch in range(12):
        (batch,) = loader.epoch(epoch)
        for row in range(5):
            if (batch.plan.window[row, :, 2] > 0).sum() == 1:
                alone += 1
            else:
                joined += 1
    assert loader.max_regions == 3
    assert alone > 5
    assert joined > 5


def test_pasted_things_bring_the_regions_of_their_pictures(sets):
    train, _ = load_data(sets, CLASSES, 64)
    augment = Augment(copy_paste=1.0)
    loader = BatchLoader(train, 5, augment=augment, workers=0)
    assert loader.max_regions == train.max_regions(mosaic=False, pasted=2) == 2 + 2 * 2
    most = max(
        (batch.regions[..., 2] > 0).sum(axis=1).max()
        for epoch in range(10)
        for batch in loader.epoch(epoch)
    )
    assert 2 < most <= 6
