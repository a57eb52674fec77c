"""Scores of detections; ``data/map.json`` holds results of the reference implementation."""

import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from evaluation.metrics import TWELVE
from utils import DetectionMetrics, coco_map, coco_scores, without_nan

DATA = Path(__file__).parents[2] / "data"
NAMES = ["person", "cell phone"]
IDS = {"cell phone": 77, "person": 1}  # not in the order of the classes
TRUTH = [(7, 1, [10, 20, 30, 40], 0), (8, 1, [5, 5, 20, 30], 0), (8, 77, [50, 10, 20, 40], 0)]
PERFECT = {
    7: [[10, 20, 40, 60, 0.9, 0]],
    8: [[5, 5, 25, 35, 0.8, 0], [50, 10, 70, 50, 0.7, 1]],
}


def make_set(boxes, names=NAMES, ids=IDS, images=(7, 8, 9)):
    """As much of a data set as metrics read, from (image, category, x y w h, iscrowd) rows."""
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
        ground_truth=lambda: dict(truth), classes=list(names), category_ids=category_ids
    )


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


@pytest.mark.parametrize("found", [{}, {7: np.empty((0, 6))}])
def test_nothing_found(found):
    metrics = DetectionMetrics(make_set(TRUTH[:2]), found)
    assert metrics.coco["map50"] == metrics.coco["map50_95"] == metrics.coco["ar_100"] == 0.0
    scores = metrics.scores()
    assert (scores["recall"], scores["images"], scores["boxes"]) == (0, 3, 2)
    assert metrics.mistakes(0.5) == {7: (1, 0), 8: (1, 0)}
    assert metrics.confusion().tolist() == [[0, 0, 0], [0, 0, 0], [2, 0, 0]]


def test_class_without_ground_truth_changes_no_mean():
    metrics = DetectionMetrics(make_set(TRUTH[:2]), PERFECT)
    assert metrics.coco["map50"] == pytest.approx(1.0)
    assert math.isnan(metrics.coco["per_class"]["cell phone"]["map50"])
    scores = metrics.scores()
    assert scores["precision"] == scores["recall"] == 1
    assert without_nan(scores)["per_class"]["cell phone"]["precision"] is None
    assert metrics.confusion()[1].tolist() == [0, 0, 1]  # a false alarm all the same


@pytest.mark.parametrize(
    ("truth", "found", "message"),
    [
        ([], {}, "no ground-truth box"),
        ([(9, 1, [0, 0, 100, 80], 1)], {}, "no ground-truth box"),
        (TRUTH, {10: [[0, 0, 1, 1, 0.5, 0]]}, "image 10"),
        (TRUTH, {7: [[0, 0, 1, 1, 0.5, 2]]}, "class 2"),
        (TRUTH, {7: [[0, 0, 1, np.nan, 0.5, 0]]}, "not finite"),
    ],
)
def test_errors(truth, found, message):
    with pytest.raises(ValueError, match=message):
        coco_map(make_set(truth), found)


def random_set(seed, images=20):
    """A data set of two classes with crowd regions, and detections near its boxes and elsewhere."""
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
    np.testing.assert_allclose([result[key] for key in TWELVE], wanted)
    assert 0.1 < result["map50_95"] < result["map50"] < 0.9
    assert math.isnan(result["map_large"])  # no box is that large
    assert set(result) == {*TWELVE, "per_class"}
    of_training = coco_map(dataset, detections)
    assert of_training == {key: result[key] for key in of_training}


# ------------------------------------------------------------------------------ at IoU 0.5


def test_reference():
    """Precision, recall and F1 where F1 is best are the reference's; its mAP is interpolated.

    The bound of the difference follows from the two rules of interpolation.
    """
    data = json.loads((DATA / "map.json").read_text())
    truth = [
        (k, int(c) + 1, [x1, y1, x2 - x1, y2 - y1], 0)
        for k, rows in enumerate(data["gt"])
        for c, x1, y1, x2, y2 in rows
    ]
    dataset = make_set(truth, "abc", {"a": 1, "b": 2, "c": 3}, range(len(data["gt"])))
    metrics = DetectionMetrics(dataset, dict(enumerate(data["pred"])))
    scores = metrics.scores()
    for key in ("precision", "recall", "f1"):
        values = [scores["per_class"][name][key] for name in "abc"]
        np.testing.assert_allclose(values, data[key], rtol=1e-9)
        assert scores[key] == pytest.approx(np.mean(data[key]))
    for key in ("map50", "map50_95"):
        few = min(own["boxes"] for own in scores["per_class"].values())
        assert -0.015 < data[key] - metrics.coco[key] < 0.015 + 1 / (2 * few)
    assert scores["boxes"] == len(truth)
    for name, label in zip("abc", range(3), strict=True):
        holding = sum(any(row[0] == label for row in rows) for rows in data["gt"])
        assert scores["per_class"][name]["images"] == holding


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
    with_region = DetectionMetrics(make_set([(9, 1, box, 0), (9, 1, region, 1)]), found)
    without = DetectionMetrics(make_set([(9, 1, box, 0)]), found)
    assert with_region.scores()["precision"] == 1
    assert without.scores()["precision"] < 0.6
    assert with_region.coco["map50"] == pytest.approx(1)
    assert without.coco["map50"] == pytest.approx(0.5)
    assert with_region.mistakes(0.65) == {9: (0, 0)}
    assert without.mistakes(0.65) == {9: (0, 2)}
    assert with_region.confusion(0.65)[:2].sum() == 1


def test_curves():
    # Of two persons one is found at 0.8 and 0.4 (twice), the other at 0.9.
    found = {
        7: [[10, 20, 40, 60, 0.8, 0], [10, 20, 40, 60, 0.4, 0]],
        8: [[5, 5, 25, 35, 0.9, 0]],
    }
    curves = DetectionMetrics(make_set(TRUTH), found).curves
    assert not curves.f1[1].any()  # boxes, but no detection
    at = {c: np.abs(np.linspace(0, 1, 1000) - c).argmin() for c in (0.2, 0.85, 0.95)}
    assert curves.precision[0, at[0.2]] == pytest.approx(2 / 3)
    assert curves.recall[0, at[0.2]] == 1
    assert curves.recall[0, at[0.85]] == pytest.approx(3 / 4, abs=0.01)  # halfway
    assert (curves.precision[0, at[0.95]], curves.recall[0, at[0.95]]) == (1, 0)
    assert 0.4 < curves.best_confidence < 0.8
    assert curves.precision_at_recall[0].min() == 1


def test_confusion_matrix():
    boxes = [[0, 0, 10, 10], [20, 0, 10, 10], [40, 0, 10, 10], [60, 0, 10, 10]]
    found = [
        [0, 0, 10, 9, 0.9, 0],
        [0, 0, 10, 10, 0.5, 1],  # the better score has the first box
        [20, 0, 30, 10, 0.8, 0],  # another class
        [40, 0, 50, 4, 0.8, 0],  # IoU 0.4: too little
        [60, 0, 70, 10, 0.2, 1],  # below the confidence
        [80, 0, 90, 10, 0.9, 1],
    ]
    truth = [(9, (1, 77, 1, 77)[k], box, 0) for k, box in enumerate(boxes)]
    metrics = DetectionMetrics(make_set(truth), {9: found})
    # rows predicted, columns true, background last
    assert metrics.confusion().tolist() == [[1, 1, 1], [0, 0, 2], [1, 1, 0]]
    assert metrics.confusion(0.1)[1, 1] == 1
    assert metrics.mistakes(0.3) == {9: (3, 4)}


def test_without_nan():
    value = {"a": [1.0, math.nan, {"b": np.float32("nan")}], "c": (1, "x"), "d": None}
    assert without_nan(value) == {"a": [1.0, None, {"b": None}], "c": [1, "x"], "d": None}
