"""Non-maximum suppression; ``data/nms.npz`` holds results of the reference implementation."""

from pathlib import Path

import numpy as np
import pytest
import utils
from data.images import Letterbox
from utils import box_iou, nms, scale_detections

from tests.examples import yolo11n_golden as golden

DATA = Path(__file__).parents[1] / "data"


def predictions_of(boxes, scores):
    """Make (4 + nc, n) predictions of x1, y1, x2, y2 boxes and (n, nc) scores."""
    boxes = np.asarray(boxes, dtype=np.float32)
    center, size = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]
    return np.concatenate([center, size, np.asarray(scores, dtype=np.float32)], axis=1).T


@pytest.mark.parametrize(
    ("key", "settings"),
    [
        ("val_conf0p001_iou0p7_multilabel_max300", {"confidence": 0.001, "iou": 0.7}),
        (
            "predict_conf0p25_iou0p7_max300",
            {"confidence": 0.25, "iou": 0.7, "multi_label": False},
        ),
        (
            "agnostic_conf0p25_iou0p45_max20",
            {
                "confidence": 0.25,
                "iou": 0.45,
                "max_detections": 20,
                "multi_label": False,
                "class_aware": False,
            },
        ),
    ],
)
def test_nms_reference(key, settings):
    vectors = golden.load_arrays(DATA / "nms.npz")
    found = nms(vectors["pred_1x6xN_xywh_scores"][0], **settings)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, vectors[key])


def slow_nms(rows, iou):
    kept = []
    for row in sorted(rows.tolist(), key=lambda r: -r[4]):
        same = [k for k in kept if k[5] == row[5]]
        if all(box_iou(np.array([row]), np.array([k]))[0, 0] <= iou for k in same):
            kept.append(row)
    return np.array(kept)


@pytest.mark.slow
def test_nms_across_blocks():
    # More candidates than one block of the search, most of them suppressed.
    rng = np.random.default_rng(0)
    corners = rng.integers(0, 60, (700, 2)).astype(float)
    boxes = np.concatenate([corners, corners + rng.integers(10, 40, (700, 2))], axis=1)
    scores = rng.permutation(700)[:, None] / 700
    found = nms(predictions_of(boxes, scores), 0.01, 0.5, max_detections=1000)
    rows = np.concatenate([boxes, scores, np.zeros((700, 1))], axis=1)
    want = slow_nms(rows[scores[:, 0] > 0.01], 0.5)
    assert 128 < len(want) < 400  # so several blocks keep some
    np.testing.assert_allclose(found, want, atol=1e-5)


def test_nms_thresholds_are_strict():
    # IoU of the first two is exactly 1/2, the third scores exactly the threshold.
    boxes = [[0, 0, 10, 10], [0, 0, 10, 5], [50, 50, 60, 60]]
    predictions = predictions_of(boxes, [[0.75], [0.5], [0.25]])
    assert nms(predictions, 0.25, 0.5)[:, 4].tolist() == [0.75, 0.5]
    two_classes = predictions_of(boxes, [[0.75, 0], [0.5, 0], [0.25, 0]])
    assert nms(two_classes, 0.25, 0.5)[:, 4].tolist() == [0.75, 0.5]
    assert nms(predictions, 0.125, 0.4999)[:, 4].tolist() == [0.75, 0.25]


def test_nms_limits_and_labels(monkeypatch):
    boxes = [[0, 0, 10, 10], [30, 0, 40, 10], [60, 0, 70, 10]]
    predictions = predictions_of(boxes, [[0.5, 0.25], [0.125, 0.75], [0.375, 0.375]])
    many = nms(predictions, 0.001, 0.7)
    assert len(many) == 6  # both classes of every box
    assert nms(predictions, 0.001, 0.7, multi_label=False)[:, 5].tolist() == [1, 0, 0]
    assert nms(predictions, 0.001, 0.7, class_aware=False)[:, 4].tolist() == [0.75, 0.5, 0.375]
    np.testing.assert_array_equal(nms(predictions, 0.001, 0.7, max_detections=2), many[:2])
    assert nms(predictions, 0.9, 0.7).shape == (0, 6)
    monkeypatch.setattr(utils, "MAX_CANDIDATES", 3)
    np.testing.assert_array_equal(nms(predictions, 0.001, 0.7), many[:3])


@pytest.mark.parametrize("multi_label", [True, False])
def test_nms_has_a_threshold_for_each_class(multi_label):
    boxes = [[0, 0, 10, 10], [30, 0, 40, 10], [60, 0, 70, 10]]
    predictions = predictions_of(boxes, [[0.5, 0.1], [0.1, 0.4], [0.3, 0.1]])
    found = nms(predictions, np.array([0.4, 0.2]), 0.7, multi_label=multi_label)
    np.testing.assert_allclose(found[:, 4:], [[0.5, 0], [0.4, 1]])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nms_rejects(bad):
    with pytest.raises(ValueError, match="NaN or infinity"):
        nms(np.full((6, 3), bad), 0.5, 0.5)


def test_box_iou_values():
    a = np.array([[0.0, 0, 4, 2], [1, 1, 1, 1]])
    b = np.array([[2.0, 0, 6, 2], [0, 0, 4, 2], [10, 10, 12, 12], [1, 1, 1, 1]])
    np.testing.assert_allclose(box_iou(a, b), [[1 / 3, 1, 0, 0], [0, 0, 0, 0]])


def test_scale_detections():
    # 500 x 333 in 320: resized to 320 x 213, 53 px of padding above.
    geometry = Letterbox.fit(500, 333, 320)
    box = np.array([100.0, 50.0, 300.0, 200.0])
    row = np.array([[*geometry.apply(box[None])[0], 0.5, 1]])
    np.testing.assert_allclose(scale_detections(row, geometry)[0, :4], box, atol=1e-4)
    outside = scale_detections([[-20, 0, 400, 400, 0.5, 1]], geometry)
    np.testing.assert_array_equal(outside[0], [0, 0, 500, 333, 0.5, 1])
    assert scale_detections(np.empty((0, 6)), geometry).shape == (0, 6)
