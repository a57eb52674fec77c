"""From decoded predictions to detections: non-maximum suppression, with NumPy alone."""

from typing import Any

import numpy as np

# Boxes of different classes are moved this many pixels apart, so that one pass of
# suppression handles every class. It has to exceed the side of any network input.
CLASS_SHIFT = 7680.0
MAX_CANDIDATES = 30000  # the best ones enter the suppression
MAX_DETECTIONS = 300  # of an image in validation, unless images have more things
MOST_DRAWN = 1000  # of a picture that is drawn, as in page/src/worker/nms.js


class NotFiniteError(ValueError):
    """Predictions that no detection can be made of."""


def box_iou(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Compute the IoU (n, m) of each box of `a` with each of `b`, as corners; 0 for empty ones."""
    width = np.minimum(a[:, None, 2], b[None, :, 2])
    width -= np.maximum(a[:, None, 0], b[None, :, 0])
    height = np.minimum(a[:, None, 3], b[None, :, 3])
    height -= np.maximum(a[:, None, 1], b[None, :, 1])
    inter = np.maximum(width, 0, out=width)
    inter *= np.maximum(height, 0, out=height)
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    union = (area_a[:, None] + area_b[None, :]) - inter
    return np.divide(inter, union, out=np.zeros_like(inter), where=union > 0)


def _candidates(
    predictions: np.ndarray, confidence: float | np.ndarray, multi_label: bool
) -> np.ndarray:
    """Return rows (x1, y1, x2, y2, score, class) of all scores strictly above `confidence`."""
    boxes, scores = predictions[:4], predictions[4:]
    least = np.broadcast_to(np.float32(confidence), len(scores))
    if multi_label and len(scores) > 1:
        # Anchor-major, as a stable sort then keeps the lower anchor first among equal scores.
        by_anchor = scores.T
        anchor, label = np.nonzero(by_anchor > least)
        score = by_anchor[anchor, label]
    else:
        best = scores.argmax(axis=0)
        score = np.take_along_axis(scores, best[None], axis=0)[0]
        (anchor,) = np.nonzero(score > least[best])
        label, score = best[anchor], score[anchor]
    centre, half = boxes[:2, anchor].T, boxes[2:, anchor].T / 2
    corners = np.concatenate([centre - half, centre + half], axis=1)
    return np.concatenate([corners, score[:, None], label[:, None].astype(corners.dtype)], axis=1)


def _greedy_keep(boxes: np.ndarray, iou: float, most: int, block: int = 128) -> np.ndarray:
    """Return indices kept by greedy suppression of `boxes`, sorted by score already.

    Block by block, each is compared with the boxes kept so far, then with itself, until there are
    `most`: so the cost grows with what is kept, not with the square of the candidates.
    """
    kept = np.empty(0, dtype=np.int64)
    for start in range(0, len(boxes), block):
        index = np.arange(start, min(start + block, len(boxes)))
        if len(kept):
            index = index[~(box_iou(boxes[index], boxes[kept]) > iou).any(axis=1)]
        clash = box_iou(boxes[index], boxes[index]) > iou
        alive = np.ones(len(index), dtype=bool)
        for i in range(len(index)):
            if alive[i]:
                alive[i + 1 :] &= ~clash[i, i + 1 :]
        kept = np.concatenate([kept, index[alive]])
        if len(kept) >= most:
            break
    return kept[:most]


def nms(
    predictions: np.ndarray, confidence: float | np.ndarray, iou: float,
    max_detections: int = MAX_DETECTIONS, multi_label: bool = True, class_aware: bool = True,
) -> np.ndarray:  # fmt: skip
    """Suppress non-maxima in one image's decoded predictions, (4 + num_classes, anchors).

    They are rows ``cx, cy, w, h`` in pixels of the network input, then one row of scores a class.
    Scores must be strictly above `confidence`, a number or an array with one for each class; a box
    is suppressed when its IoU with a better one is strictly above `iou`.  With `multi_label`, every
    class above the threshold makes a candidate (validation), else only an anchor's best class
    (prediction).  Suppression is among boxes of a class, unless `class_aware` is False.

    Returns float32 (n, 6): ``x1, y1, x2, y2, score, class`` sorted by score, descending; not
    clipped.
    """
    predictions = np.asarray(predictions, dtype=np.float32)
    if not np.isfinite(predictions).all():
        raise NotFiniteError("predictions contain NaN or infinity; check the weights and the input")
    rows = _candidates(predictions, confidence, multi_label)
    rows = rows[np.argsort(-rows[:, 4], kind="stable")[:MAX_CANDIDATES]]
    boxes = rows[:, :4]
    if class_aware:
        boxes = boxes + rows[:, 5:6] * np.float32(CLASS_SHIFT)
    return rows[_greedy_keep(boxes, iou, max_detections)]


def suppressed(detections: np.ndarray, confidence: float, iou: float) -> np.ndarray:
    """Keep the detections (n, 6) of `nms` that stricter thresholds leave, best first."""
    rows = detections[detections[:, 4] > confidence]
    rows = rows[np.argsort(-rows[:, 4], kind="stable")]
    shift = np.abs(rows[:, :4]).max(initial=0) * 2 + 1
    return rows[_greedy_keep(rows[:, :4] + rows[:, 5:6] * shift, iou, len(rows))]


def scale_detections(detections: np.ndarray, geometry: Any) -> np.ndarray:
    """Move `nms`'s detections by the `Letterbox` to the original picture, and clip them."""
    detections = np.array(detections, dtype=np.float32).reshape(-1, 6)
    detections[:, :4] = geometry.undo(detections[:, :4])
    return detections
