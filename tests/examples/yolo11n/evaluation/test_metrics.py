"""Scores of detections; ``data/map.json`` holds results of the reference implementation."""

import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from evaluation.metrics import (
    CONFIDENCES,
    TWELVE,
    best_confidences,
    coco_map,
    coco_scores,
    confusion,
    counts_by_size,
    curves,
    limit_note,
    matches,
    mistakes,
    scores_by_source,
    without_nan,
)

DATA = Path(__file__).parents[2] / "data"
NAMES = ["person", "cell phone"]
IDS = {"cell phone": 77, "person": 1}  # not in the order of the classes
TRUTH = [(7, 1, [10, 20, 30, 40], 0), (8, 1, [5, 5, 20, 30], 0), (8, 77, [50, 10, 20, 40], 0)]
PERFECT = {
    7: [[10, 20, 40, 60, 0.9, 0]],
    8: [[5, 5, 25, 35, 0.8, 0], [50, 10, 70, 50, 0.7, 1]],
}


def make_set(boxes, names=NAMES, ids=IDS, images=(7, 8, 9), labelled=None, sources=None):
    """Make as much of a data set as metrics read, of (image, category, x y w h, iscrowd) rows."""
    truth = {
        "images": [{"id": k, "width": 200, "height": 150} for k in images],
        "annotations": [
            {"id": k, "image_id": i, "category_id": c, "bbox": b, "iscrowd": crowd}
            for k, (i, c, b, crowd) in enumerate(boxes)  # from 0, as some tools count
            if c in [ids[name] for name in names]
        ],
        "categories": [{"id": ids[name], "name": name} for name in ids if name in names],
    }
    category_ids = [ids[name] for name in names]
    return SimpleNamespace(
        ground_truth=lambda: dict(truth), classes=list(names), category_ids=category_ids,
        image_ids=list(images), labelled=labelled, sources=sources,
    )  # fmt: skip


# ------------------------------------------------------------------------------ COCO's scores


def test_perfect_detections_in_any_order_of_the_classes(capsys):
    result = coco_map(make_set(TRUTH), PERFECT)
    assert (result["map50"], result["map50_95"]) == (pytest.approx(1), pytest.approx(1))
    assert result["per_class"]["cell phone"]["map50"] == pytest.approx(1.0)
    assert capsys.readouterr().out == ""
    other_order = make_set(TRUTH, NAMES[::-1])
    assert coco_map(other_order, PERFECT)["map50"] == 0.0
    per_class = coco_map(other_order, {8: [[50, 10, 70, 50, 0.7, 0]]})["per_class"]
    assert per_class["cell phone"]["map50"] == pytest.approx(1.0)
    assert per_class["person"]["map50"] == 0.0


def test_values_by_hand():
    # The person of image 7 is found with IoU 0.5 exactly (half its height): it counts at 0.5
    # alone, behind the other person. Precision 1 up to recall 1/2, which is 51 of 101 recalls.
    found = {7: [[10, 20, 40, 40, 0.5, 0]], 8: [[5, 5, 25, 35, 0.8, 0]]}
    result = coco_map(make_set(TRUTH), found)
    person = result["per_class"]["person"]
    assert person["map50"] == pytest.approx(1.0)
    assert person["map50_95"] == pytest.approx((1 + 9 * 51 / 101) / 10)
    assert result["per_class"]["cell phone"] == {"map50": 0.0, "map50_95": 0.0}
    assert result["map50"] == pytest.approx(0.5)


def test_a_picture_counts_for_the_classes_that_it_labels():
    """Image 9 has no boxes of phones, though there are some: what is found there isn't false."""
    found = PERFECT | {9: [[1, 1, 60, 60, 0.95, 1], [1, 1, 60, 60, 0.95, 0]]}
    every = coco_map(make_set(TRUTH), found)["per_class"]
    assert every["cell phone"]["map50"] == pytest.approx(0.5)
    labelled = np.array([[True, True], [True, True], [True, False]])
    own = coco_map(make_set(TRUTH, labelled=labelled), found)["per_class"]
    assert own["cell phone"]["map50"] == pytest.approx(1)
    assert own["person"] == every["person"]
    # A box there doesn't count, either: it would be one of several.
    truth = [*TRUTH, (9, 77, [100, 100, 20, 20], 0)]
    assert coco_map(make_set(truth, labelled=labelled), found)["per_class"] == own
    nothing = make_set(TRUTH, labelled=np.zeros((3, 2), bool))
    with pytest.raises(ValueError, match="no ground-truth box"):
        coco_map(nothing, found)


def test_scores_by_source():
    data = make_set(TRUTH, sources=["a", "b", "a"])
    found = scores_by_source(data, {7: [], 8: PERFECT[8]})
    assert {name: own["images"] for name, own in found.items()} == {"a": 2, "b": 1}
    a, b = found["a"]["per_class"], found["b"]["per_class"]
    assert (a["person"]["map50"], b["person"]["map50"]) == (0, pytest.approx(1))
    assert (a["person"]["boxes"], b["cell phone"]["boxes"]) == (1, 1)
    assert math.isnan(a["cell phone"]["map50"])
    empty = scores_by_source(make_set(TRUTH, sources=["a", "a", "c"]), PERFECT)["c"]
    assert math.isnan(empty["per_class"]["person"]["map50"])


@pytest.mark.parametrize("found", [{}, {7: np.empty((0, 6))}])
def test_nothing_found(found):
    scores = coco_scores(make_set(TRUTH[:2]), found)
    assert scores["map50"] == scores["map50_95"] == scores["twelve"]["ar_100"] == 0.0
    person = scores["per_class"]["person"]
    assert (person["precision"], person["recall"], person["boxes"]) == (0, 0, 2)


def test_class_without_ground_truth_changes_no_mean():
    scores = coco_scores(make_set(TRUTH[:2]), PERFECT)
    assert scores["map50"] == pytest.approx(1.0)
    person, phone = (scores["per_class"][name] for name in NAMES)
    assert person["precision"] == person["recall"] == 1
    assert phone.pop("boxes") == 0
    assert set(without_nan(phone).values()) == {None}


@pytest.mark.parametrize("truth", [[], [(9, 1, [0, 0, 100, 80], 1)]])
def test_no_box(truth):
    with pytest.raises(ValueError, match="no ground-truth box"):
        coco_map(make_set(truth), {})


def random_set(seed, images=20):
    """Draw a data set of two classes with crowd regions, and detections near and far of boxes."""
    rng = np.random.default_rng(seed)
    boxes, detections = [], {}
    for k in range(images):
        rows = []
        for _ in range(rng.integers(0, 8)):
            corner, side, label = rng.uniform(0, 100, 2), rng.uniform(10, 60, 2), rng.integers(2)
            boxes.append((k, (3, 5)[label], [*corner, *side], int(rng.random() < 0.15)))
            for _ in range(rng.integers(0, 4)):
                box = np.concatenate([corner, corner + side])
                box += rng.normal(0, rng.choice([0.5, 3, 8]), 4)
                rows.append([*np.minimum(box[:2], box[2:] - 1), *box[2:], rng.random(), label])
        for corner in rng.uniform(0, 100, (rng.integers(0, 6), 2)):
            size = rng.uniform(10, 60, 2)
            rows.append([*corner, *(corner + size), 0.7 * rng.random(), rng.integers(0, 2)])
        detections[k] = np.array(sorted(rows, key=lambda row: -row[4])).reshape(-1, 6)
    return make_set(boxes, "ab", {"b": 5, "a": 3}, range(images)), detections


def test_scores_are_those_of_pycocotools():
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    dataset, detections = random_set(0)
    result = coco_scores(dataset, detections)
    plain = COCO()
    plain.dataset = dataset.ground_truth()
    plain.dataset["annotations"] = [
        {**a, "id": a["id"] + 1, "area": a["bbox"][2] * a["bbox"][3]}
        for a in plain.dataset["annotations"]
    ]
    plain.createIndex()
    rows = [
        [k, *row[:2], *(row[2:4] - row[:2]), row[4], (3, 5)[int(row[5])]]
        for k, found in detections.items()
        for row in found
    ]
    evaluation = COCOeval(plain, plain.loadRes(np.array(rows)), "bbox")
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    wanted = np.where(evaluation.stats < 0, np.nan, evaluation.stats)
    twelve = result["twelve"]
    np.testing.assert_allclose([twelve[key] for key in TWELVE], wanted)
    assert 0.1 < result["map50_95"] < result["map50"] < 0.9
    assert math.isnan(twelve["map_large"])  # no box is that large
    assert set(result) == {"map50", "map50_95", "max_detections", "per_class", "twelve"}
    assert (result["map50"], result["map50_95"]) == (twelve["map50"], twelve["map50_95"])
    assert (result["max_detections"], limit_note(result)) == (100, "")
    of_training = coco_map(dataset, detections)
    for name, own in of_training.pop("per_class").items():
        assert own.items() <= result["per_class"][name].items()
    assert of_training.items() <= result.items()


@pytest.mark.parametrize("count", [100, 101])
def test_more_things_than_coco_counts(count):
    """All are found: the project's scores are 1, COCO's twelve count the best hundred."""
    corners = [(15 * (k % 20), 15 * (k // 20)) for k in range(count)]
    truth = [(9, 1, [x, y, 10, 10], 0) for x, y in corners]
    truth += [(9, 77, [0, 400, 10, 10], 0), (8, 1, [0, 0, 10, 10], 0)]
    rows = [[x, y, x + 10, y + 10, 0.9 - k / 1000, 0] for k, (x, y) in enumerate(corners)]
    found = {9: [*rows, [0, 400, 10, 410, 0.5, 1]], 8: rows[:1]}
    dataset = make_set(truth)
    scores = coco_scores(dataset, found)
    assert (scores["map50"], scores["map50_95"]) == (pytest.approx(1), pytest.approx(1))
    of_training = coco_map(dataset, found)
    assert of_training["map50"] == pytest.approx(1)
    assert of_training["max_detections"] == scores["max_detections"]
    assert scores["per_class"]["person"]["recall"] == 1
    assert all(right for _, right in matches(dataset, found)[1])
    recalled = np.mean([101 / (count + 1), 1])
    assert scores["twelve"]["ar_100"] == pytest.approx(recalled if count > 100 else 1)
    note = limit_note(scores)
    assert (note == "") == (count == 100)
    if count > 100:
        assert scores["twelve"]["map50"] < 1
        assert f"an image has {count} things of one class: mAP counts {2 * count} " in note


# ------------------------------------------------------------------------------ at IoU 0.5


def test_reference():
    """Beside the reference's rules of interpolation, and its one confidence for all classes.

    The bound of the difference follows from the two rules of interpolation; the best F1 of each
    class by itself can't be lower but for COCO's steps of a hundredth in recall.
    """
    data = json.loads((DATA / "map.json").read_text())
    truth = [
        (k, int(c) + 1, [x1, y1, x2 - x1, y2 - y1], 0)
        for k, rows in enumerate(data["gt"])
        for c, x1, y1, x2, y2 in rows
    ]
    dataset = make_set(truth, "abc", {"a": 1, "b": 2, "c": 3}, range(len(data["gt"])))
    scores = coco_scores(dataset, dict(enumerate(data["pred"])))
    classes = scores["per_class"].values()
    for key in ("map50", "map50_95"):
        few = min(own["boxes"] for own in classes)
        assert -0.015 < data[key] - scores[key] < 0.015 + 1 / (2 * few)
    assert sum(own["boxes"] for own in classes) == len(truth)
    for own, f1 in zip(classes, data["f1"], strict=True):
        p, r = own["precision"], own["recall"]
        assert f1 - 0.01 < 2 * p * r / (p + r) < 1


def test_crowds_are_ignored():
    """A detection without a box, in a region of its class, is neither right nor wrong."""
    box, region = [0, 0, 10, 10], [20, 0, 40, 60]
    found = {
        9: [
            [22, 2, 30, 10, 0.9, 0],  # inside the region
            [*box, 0.8, 0],
            [16, 0, 26, 10, 0.7, 0],  # six tenths in it
            [22, 2, 30, 10, 0.6, 1],  # of another class
        ]
    }
    with_region = coco_scores(make_set([(9, 1, box, 0), (9, 1, region, 1)]), found)
    without = coco_scores(make_set([(9, 1, box, 0)]), found)
    assert with_region["map50"] == pytest.approx(1)
    assert with_region["per_class"]["person"]["precision"] == pytest.approx(1)
    assert with_region["per_class"]["person"]["boxes"] == 1
    assert without["map50"] == without["per_class"]["person"]["precision"] == pytest.approx(0.5)


def test_where_f1_is_highest():
    """Of two persons, one is found twice, behind a false alarm, and the other late."""
    found = {
        7: [[10, 20, 40, 60, 0.8, 0], [10, 20, 40, 60, 0.3, 0]],
        8: [[100, 100, 120, 120, 0.5, 0], [5, 5, 25, 35, 0.4, 0]],
    }
    person, phone = coco_scores(make_set(TRUTH), found)["per_class"].values()
    # F1 is 2/3 after one detection, and 4/5 after the third.
    assert (person["precision"], person["recall"]) == (pytest.approx(2 / 3), 1)
    assert person["confidence"] == pytest.approx(0.4)
    assert (phone["boxes"], phone["precision"], phone["recall"]) == (1, 0, 0)


def test_without_nan():
    value = {"a": [1.0, math.nan, {"b": np.float32("nan")}], "c": (1, "x"), "d": None}
    assert without_nan(value) == {"a": [1.0, None, {"b": None}], "c": [1, "x"], "d": None}


# ------------------------------------------------------------------------------ mistakes


def test_mistakes_by_hand():
    """Image 7 has a box of 0.4 of the height, too, and 8 a crowd; in 9 no phone counts."""
    boxes = [*TRUTH, (8, 1, [100, 0, 100, 150], 1)]
    labelled = np.array([[True, True], [True, True], [True, False]])
    found = {
        7: [[10, 20, 40, 60, 0.5, 0], [10, 20, 40, 36, 0.9, 0]],
        8: [[120, 10, 150, 50, 0.8, 0], [52, 10, 70, 50, 0.7, 1]],
        9: [[1, 2, 3, 4, 0.6, 0], [1, 2, 3, 4, 0.9, 1]],
    }
    false, missed = mistakes(make_set(boxes, labelled=labelled), found)
    expected = [
        {"image_id": 7, "class": "person", "box": [10, 20, 40, 36], "score": 0.9, "overlap": 0.4},
        {"image_id": 9, "class": "person", "box": [1, 2, 3, 4], "score": 0.6, "overlap": 0.0},
    ]
    assert [row | {"overlap": pytest.approx(row["overlap"])} for row in expected] == false
    assert missed == [{"image_id": 8, "class": "person", "box": [5, 5, 25, 35], "area": 600}]
    assert mistakes(make_set(TRUTH), PERFECT) == ([], [])
    # A share of it in a crowd is no overlap with a thing.
    beside = {8: [*PERFECT[8], [85, 10, 110, 50, 0.6, 0]], 7: PERFECT[7]}
    [row], _ = mistakes(make_set(boxes), beside)
    assert row["overlap"] == 0
    _, missed = mistakes(make_set(TRUTH), {})
    assert [row["area"] for row in missed] == [1200, 800, 600]


# ------------------------------------------------------------------------------ as a page draws


def test_counts_by_size():
    """Image 7 is wholly right, 8 has a miss, 9 a false detection; 10 isn't labelled for phones."""
    truth = [*TRUTH, (10, 1, [0, 0, 100, 100], 0), (10, 1, [120, 0, 60, 150], 1)]
    labelled = np.array([[True, True]] * 3 + [[True, False]])
    found = {
        7: PERFECT[7],
        8: PERFECT[8][1:],
        9: [[0, 0, 100, 100, 0.6, 1]],
        10: [[0, 0, 100, 90, 0.5, 0], [130, 0, 170, 40, 0.4, 0], [1, 1, 9, 9, 0.9, 1]],
    }
    counts = counts_by_size(make_set(truth, images=(7, 8, 9, 10), labelled=labelled), found)
    assert (counts["wholly_right"], counts["complete"]) == (1, 3)
    person, phone = counts["per_class"].values()
    assert person["all"] == {
        "things": 3, "found": 2, "false": 0, "recall": pytest.approx(2 / 3), "precision": 1,
    }  # fmt: skip
    kinds = {size: (own["things"], own["found"], own["false"]) for size, own in phone.items()}
    assert kinds == {"all": (1, 1, 1), "small": (1, 1, 0), "medium": (0, 0, 0), "large": (0, 0, 1)}
    assert {size: own["things"] for size, own in person.items()} == {
        "all": 3, "small": 1, "medium": 1, "large": 1,
    }  # fmt: skip
    assert math.isnan(phone["medium"]["recall"])
    assert math.isnan(phone["medium"]["precision"])
    assert (phone["all"]["precision"], phone["large"]["precision"]) == (0.5, 0)


def test_confusion():
    """A phone taken for a person; a person found twice; a phone on nothing, and one not counted."""
    labelled = np.array([[True, True], [True, True], [True, False]])
    found = {
        7: [[10, 20, 40, 60, 0.8, 0], [12, 20, 40, 60, 0.7, 0]],
        8: [[50, 10, 70, 48, 0.9, 0], [150, 100, 160, 110, 0.5, 1]],
        9: [[1, 1, 30, 30, 0.9, 1]],
    }
    table = confusion(make_set(TRUTH, labelled=labelled), found)
    assert table.tolist() == [[1, 0, 1], [1, 0, 0], [1, 1, 0]]
    assert confusion(make_set(TRUTH), {}).tolist() == [[0, 0, 2], [0, 0, 1], [0, 0, 0]]


def test_curves():
    """Persons: right at 0.8, false at 0.505, right at 0.4; no phone is labelled."""
    found = {
        7: [[10, 20, 40, 60, 0.8, 0], [100, 100, 120, 120, 0.505, 0]],
        8: [[5, 5, 25, 35, 0.4, 0], [50, 10, 70, 50, 0.3, 1]],
    }
    person, phone = curves(make_set(TRUTH[:2]), found).values()
    at = {int(100 * c + 0.5): column for c, *column in zip(CONFIDENCES, *person, strict=True)}
    assert at[39] == pytest.approx([2 / 3, 1, 4 / 5])
    assert at[40] == pytest.approx([1 / 2, 1 / 2, 1 / 2])
    assert at[60] == pytest.approx([1, 1 / 2, 2 / 3])
    assert at[90] == [0, 0, 0]
    assert np.isnan(phone).all()


def test_best_confidences():
    """Persons: right at 0.8, false at 0.505, right at 0.4, false at 0.2; phones: false, right."""
    found = {
        7: [[10, 20, 40, 60, 0.8, 0], [100, 100, 120, 120, 0.505, 0], [0, 0, 5, 5, 0.9, 1]],
        8: [[5, 5, 25, 35, 0.4, 0], [50, 10, 70, 50, 0.3, 1]],
        9: [[1, 1, 30, 30, 0.2, 0]],
    }
    dataset = make_set(TRUTH)
    person, phone = best_confidences(dataset, found).values()
    assert person["confidence"] == pytest.approx(0.2)  # scores are strictly above it
    assert (person["recall"], person["precision"]) == (1, pytest.approx(2 / 3))
    assert person["f1"] == pytest.approx(4 / 5)
    assert (phone["confidence"], phone["f1"]) == (pytest.approx(0.01), pytest.approx(2 / 3))
    person, again = best_confidences(dataset, found, least_precision=0.8).values()
    assert (person["recall"], person["precision"]) == (0.5, 1)
    assert person["confidence"] == pytest.approx(0.79)
    assert again == phone  # no confidence has that precision
    person, _ = best_confidences(dataset, found, least_precision=0.6).values()
    assert person["confidence"] == pytest.approx(0.39)  # the highest of equal recall
    # It is what counting at that confidence gives.
    above = {k: [row for row in rows if row[4] > person["confidence"]] for k, rows in found.items()}
    counts = counts_by_size(dataset, above)["per_class"]["person"]["all"]
    assert (counts["recall"], counts["precision"]) == (person["recall"], person["precision"])
    nothing = best_confidences(make_set(TRUTH[:2]), found)["cell phone"]
    assert set(without_nan(nothing).values()) == {None}


def test_counts_are_those_of_the_mistakes():
    dataset, detections = random_set(3)
    false, missed = mistakes(dataset, detections)
    sizes = counts_by_size(dataset, detections)["per_class"]
    for name, own in sizes.items():
        everything = own.pop("all")
        for key in ("things", "found", "false"):
            assert everything[key] == sum(counts[key] for counts in own.values())
        assert everything["false"] == sum(row["class"] == name for row in false) > 20
        lost = everything["things"] - everything["found"]
        assert lost == sum(row["class"] == name for row in missed) > 2
