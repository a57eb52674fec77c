"""Boxes, non-maximum suppression, and the way back to the original picture.

NumPy alone.
"""

import numpy as np

# Boxes of different classes are moved this many pixels apart, so that one pass of
# suppression handles every class. It has to exceed the side of any network input.
CLASS_SHIFT = 7680.0
MAX_CANDIDATES = 30000  # the best so many enter the suppression


def box_iou(a, b):
    """Intersection over union of every box of `a` with every box of `b`.

    Parameters
    ----------
    a : array, (n, 4)
        ``x1, y1, x2, y2``.
    b : array, (m, 4)
        ``x1, y1, x2, y2``.

    Returns
    -------
    array, (n, m)
        IoU without an epsilon; a pair of empty boxes gives 0.
    """
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


def _candidates(predictions, confidence, multi_label):
    """Rows (x1, y1, x2, y2, score, class) of all scores strictly above `confidence`."""
    boxes, scores = predictions[:4], predictions[4:]
    if multi_label and len(scores) > 1:
        # Anchor-major, as a stable sort then keeps the lower anchor first among equal scores.
        by_anchor = scores.T
        anchor, label = np.nonzero(by_anchor > confidence)
        score = by_anchor[anchor, label]
    else:
        best = scores.argmax(axis=0)
        score = np.take_along_axis(scores, best[None], axis=0)[0]
        (anchor,) = np.nonzero(score > confidence)
        label, score = best[anchor], score[anchor]
    centre, half = boxes[:2, anchor].T, boxes[2:, anchor].T / 2
    corners = np.concatenate([centre - half, centre + half], axis=1)
    return np.concatenate([corners, score[:, None], label[:, None].astype(corners.dtype)], axis=1)


def _greedy_keep(boxes, iou, max_detections, block=128):
    """Indices kept by greedy suppression of `boxes`, which are sorted by score already.

    Works through blocks: each is compared with the boxes kept so far, then with itself, and
    the search ends at `max_detections`. So the cost grows with what is kept, not with the
    square of the candidates.
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
        if len(kept) >= max_detections:
            break
    return kept[:max_detections]


def nms(
    predictions,
    confidence,
    iou,
    max_detections=300,
    multi_label=True,
    class_aware=True,
):
    """Non-maximum suppression of one image's decoded predictions.

    Parameters
    ----------
    predictions : float array, (4 + num_classes, anchors)
        Rows ``cx, cy, w, h`` in pixels of the network input, then one row of scores a class.
    confidence : float
        Scores must be strictly above it.
    iou : float
        A box is suppressed when its IoU with a better one is strictly above it.
    max_detections : int
        The best so many are kept.
    multi_label : bool
        True: every class above the threshold makes a candidate (validation).
        False: only an anchor's best class (prediction).
    class_aware : bool
        False suppresses across classes.

    Returns
    -------
    float32 array, (n, 6)
        ``x1, y1, x2, y2, score, class`` sorted by score, descending. Not clipped.

    Raises
    ------
    ValueError
        `predictions` is not of the shape above, or is not finite.
    """
    predictions = np.asarray(predictions, dtype=np.float32)
    if predictions.ndim != 2 or predictions.shape[0] < 5:
        raise ValueError(
            f"predictions have shape {predictions.shape}; pass one image's "
            "(4 + num_classes, anchors) array"
        )
    if not np.isfinite(predictions).all():
        raise ValueError("predictions contain NaN or infinity; check the weights and the input")
    rows = _candidates(predictions, confidence, multi_label)
    rows = rows[np.argsort(-rows[:, 4], kind="stable")[:MAX_CANDIDATES]]
    boxes = rows[:, :4]
    if class_aware:
        boxes = boxes + rows[:, 5:6] * np.float32(CLASS_SHIFT)
    return rows[_greedy_keep(boxes, iou, max_detections)]


def scale_detections(detections, geometry):
    """Move detections from the letterboxed square to the original picture and clip them.

    Parameters
    ----------
    detections : array, (n, 6)
        ``x1, y1, x2, y2, score, class``, pixels of the network input, as `nms` returns them.
    geometry : Letterbox
        Returned by `letterbox`.

    Returns
    -------
    float32 array, (n, 6)
        The same with boxes in pixels of the original picture.
    """
    detections = np.array(detections, dtype=np.float32).reshape(-1, 6)
    detections[:, :4] = geometry.undo(detections[:, :4])  # which clips
    return detections
