"""What scores are worth: intervals by bootstrap, and what is said of few pictures."""

from collections import Counter

import numpy as np
import pytest
from evaluation import verdict as module
from evaluation.detectors import as_drawn
from evaluation.metrics import coco_map, mistakes
from evaluation.verdict import average_precision, label_first, map50_interval, verdict, worst_images


@pytest.fixture
def found(builder):
    """Draw pictures with boxes; detect some of them, some beside them, at random scores."""
    rng = np.random.default_rng(0)
    detections = {}
    for k in range(30):
        boxes = [((1, 77)[j % 2], 5 + 20 * j, 8, 14, 14) for j in range(k % 4)]
        number = builder.add(80, 40, boxes)
        rows = [
            [x + rng.choice([0, 0, 9]), y, x + w, y + h, rng.random(), 0 if kind == 1 else 1]
            for kind, x, y, w, h in boxes
            if rng.random() < 0.8
        ]
        rows.append([60, 20, 75, 35, rng.random(), 1])
        detections[number] = np.array(rows, float)
    return builder.dataset(), detections


def test_each_image_once_gives_cocos_score(found, monkeypatch):
    dataset, detections = found
    right = coco_map(dataset, detections)["map50"]
    assert 0.1 < right < 0.9

    class Once:
        def integers(self, low, high, count):
            return np.arange(count)

    monkeypatch.setattr(module, "SAMPLES", 1)
    monkeypatch.setattr(np.random, "default_rng", lambda _: Once())
    assert map50_interval(dataset, detections) == pytest.approx((right, right), abs=1e-6)


def test_interval(found):
    dataset, detections = found
    score = coco_map(dataset, detections)["map50"]
    low, high = map50_interval(dataset, detections)
    assert low < score < high
    assert 0.05 < high - low < 0.5
    assert map50_interval(dataset, detections) == (low, high)
    assert map50_interval(dataset, dict.fromkeys(detections, np.empty((0, 6)))) == (0, 0)


def test_average_precision():
    ones = np.ones(4)
    assert average_precision(ones, np.array([1, 1, 0, 0]), 2) == 1
    # Twice the same detection of a thing that is there twice.
    assert average_precision(2 * ones, np.array([1, 1, 0, 0]), 4) == 1
    # Half of the things, right behind one wrong detection: 51 of 101 recalls at 0.5.
    assert average_precision(ones[:2], np.array([0, 1]), 2) == pytest.approx(0.5 * 51 / 101)
    assert average_precision(ones[:0], ones[:0], 2) == 0


def test_what_is_said(found, builder):
    dataset, detections = found
    training = {"per_class": {"person": 40, "cell phone": 3}}
    lines = verdict(dataset, detections, coco_map(dataset, detections), training)
    assert lines[0].startswith("mAP@0.5 is 0.")
    assert "on 30 images with 43 boxes; with others" in lines[0]
    assert "that tells little" in lines[1]
    assert lines[-2] == "  label more of these first: cell phone (AP@0.5 0.13, 3 boxes in training)"
    worst, *others = worst_images(dataset, as_drawn(detections))
    false, missed = mistakes(dataset, as_drawn(detections))
    count = Counter(row["image_id"] for row in [*false, *missed])
    assert sum(worst[1:]) == max(count.values()) >= 2
    assert len(others) == 2
    assert (
        f"  most mistakes (mistakes.png shows some): {worst[0]} ({worst[1]} missed, " in lines[-1]
    )
    builder.images, builder.annotations = builder.images[1:3], builder.annotations[:3]
    few = builder.dataset()
    detections = {image_id: detections[image_id] for image_id in few.image_ids}
    nothing = dict.fromkeys(detections, np.empty((0, 6)))
    lines = verdict(few, detections, coco_map(few, nothing), training)
    assert "  2 images tell nothing: label at least 30 for the validation" in lines
    assert "  2 of 2 classes have less than 10 boxes for validation, which tell nothing" in lines[2]
    assert lines[2].endswith(": cell phone (1), person (2)")


@pytest.mark.parametrize(
    ("precisions", "named"),
    [
        ([0.9, 0.7], ["b"]),
        ([0.9, 0.85], []),
        ([0.0, 0.0, 0.0], []),
        ([0.98, 0.87, 0.7, np.nan], ["c"]),
        ([0.6] * 9 + [0.3, 0.1, 0.4, 0.2, 0.55], ["k", "m", "j"]),  # the three worst of five
        ([0.5], []),
    ],
)
def test_the_classes_behind_the_others_are_named(precisions, named):
    rows = [(name, ap, 7) for name, ap in zip("abcdefghijklmn", precisions, strict=False)]
    line = label_first(rows)
    if named:
        said = [f"{name} (AP@0.5 {precisions[ord(name) - 97]:.2f}, 7 boxes" for name in named]
        assert line == f"  label more of these first: {' in training), '.join(said)} in training)"
    elif len(precisions) == 1:
        assert line == "  label more images"
    else:
        assert line == "  label more of every class: none is far behind the others (0.1 in AP@0.5)"
