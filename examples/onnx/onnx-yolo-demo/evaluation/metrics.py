"""Detection metrics: matching, average precision, precision and recall, confusion.

NumPy alone. Boxes are matched in pixels of the network's input, and curves are interpolated as
YOLO's own figures are: linearly between the detections, where COCO takes the best precision to the
right, and with the trapezoid rule over 101 recalls, where COCO takes their mean. So the average
precision of a class of n boxes is above COCO's (`coco_metrics`) by at most 0.015 + 1 / 2n, and
below it by at most 0.015.
"""

import math
from typing import NamedTuple

import numpy as np
from evaluation.nms import box_iou

IOU_THRESHOLDS = np.linspace(0.5, 0.95, 10)
CONFIDENCES = np.linspace(0, 1, 1000)
SMOOTHING = 101  # width of the box filter over CONFIDENCES: a tenth of them, and odd


def match_detections(detections, boxes, classes, thresholds=None):
    """True positives of one image, greedily by descending score, at each IoU threshold.

    Parameters
    ----------
    detections : array, (n, 6)
        ``x1, y1, x2, y2, score, class`` sorted by score, descending.
    boxes : array, (m, 4)
        Ground truth ``x1, y1, x2, y2``, in the same pixels.
    classes : int array, (m,)
        Ground-truth class indices.
    thresholds : array, (t,), optional
        0.50 to 0.95 in steps of 0.05 by default.

    Returns
    -------
    bool array, (n, t)
        Whether a detection claims a ground-truth box nobody better has claimed.
    """
    detections = np.asarray(detections, dtype=np.float64).reshape(-1, 6)
    boxes = np.asarray(boxes, dtype=np.float64).reshape(-1, 4)
    classes = np.asarray(classes).reshape(-1)
    thresholds = IOU_THRESHOLDS if thresholds is None else np.asarray(thresholds)
    hit = np.zeros((len(detections), len(thresholds)), dtype=bool)
    if not len(detections) or not len(boxes):
        return hit
    overlap = box_iou(detections[:, :4], boxes)
    overlap[detections[:, 5:6].astype(int) != classes[None, :]] = -1.0
    for t, threshold in enumerate(thresholds):
        free = overlap.copy()
        for i in np.flatnonzero(free.max(axis=1) >= threshold):
            best = int(free[i].argmax())
            if free[i, best] >= threshold:
                hit[i, t] = True
                free[:, best] = -1.0
    return hit


def crowd_overlaps(detections, regions, classes, thresholds=None):
    """Which detections lie in a crowd region of their class, by COCO's rule.

    A detection that matches no box and lies in such a region is neither right nor wrong: nobody
    has counted the objects there.

    Parameters
    ----------
    detections : array, (n, 6)
        ``x1, y1, x2, y2, score, class``.
    regions : array, (m, 4)
        ``x1, y1, x2, y2``, in the same pixels.
    classes : int array, (m,)
        Class indices of the regions.
    thresholds : array, (t,), optional
        0.50 to 0.95 in steps of 0.05 by default.

    Returns
    -------
    bool array, (n, t)
        Whether at least the threshold's share of the detection's own area is in one region.
    """
    detections = np.asarray(detections, dtype=np.float64).reshape(-1, 6)
    regions = np.asarray(regions, dtype=np.float64).reshape(-1, 4)
    thresholds = IOU_THRESHOLDS if thresholds is None else np.asarray(thresholds)
    if not len(regions):
        return np.zeros((len(detections), len(thresholds)), dtype=bool)
    low = np.maximum(detections[:, None, :2], regions[None, :, :2])
    high = np.minimum(detections[:, None, 2:4], regions[None, :, 2:])
    inside = np.maximum(high - low, 0).prod(axis=2)
    inside[detections[:, 5:6].astype(int) != np.asarray(classes).reshape(1, -1)] = 0.0
    area = (detections[:, 2:4] - detections[:, :2]).prod(axis=1, keepdims=True)
    share = np.divide(inside, area, out=np.zeros_like(inside), where=area > 0)
    return share.max(axis=1, keepdims=True) >= thresholds


# ------------------------------------------------------------------------------ curves


def _sorted_by_class(scores, classes, num_classes):
    """Positions of each class's detections, by descending score."""
    order = np.argsort(-scores, kind="stable")
    return [order[classes[order] == label] for label in range(num_classes)]


def _recall_precision(hit, count):
    """(recall, precision) after each detection; `hit` (n,) is sorted by descending score."""
    true = hit.cumsum()
    return true / count, true / np.arange(1, len(hit) + 1)


def _interpolated_precision(hit, count, recalls):
    """Precision at given recalls; never rising, from 1 at recall 0 to 0 after the last recall."""
    if not len(hit):
        return np.zeros_like(recalls)
    recall, precision = _recall_precision(hit, count)
    x = np.concatenate([[0.0], recall, [recall[-1], 1.0]])
    y = np.concatenate([[1.0], precision, [0.0, 0.0]])
    return np.interp(recalls, x, np.maximum.accumulate(y[::-1])[::-1])


def _as_arrays(hits, scores, classes, ignored):
    hits, scores, classes = np.asarray(hits), np.asarray(scores), np.asarray(classes)
    ignored = np.zeros(hits.shape, bool) if ignored is None else np.asarray(ignored) & ~hits
    return hits, scores, classes, ignored


def average_precision(hits, scores, classes, truth_counts, ignored=None):
    """Average precision of every class, interpolated at 101 recalls.

    Parameters
    ----------
    hits : bool array, (n, t)
        `match_detections` of all images, concatenated.
    scores : array, (n,)
        Scores of the same detections, in any order.
    classes : int array, (n,)
        Class indices of the same detections.
    truth_counts : int array, (num_classes,)
        Ground-truth boxes of each class.
    ignored : bool array, (n, t), optional
        `crowd_overlaps` of the same detections; those that are no hits are left out.

    Returns
    -------
    float array, (num_classes, t)
        NaN for a class without ground truth, 0 for one without detections.
    """
    hits, scores, classes, ignored = _as_arrays(hits, scores, classes, ignored)
    recalls = np.linspace(0, 1, 101)
    result = np.full((len(truth_counts), hits.shape[1]), np.nan)
    places = _sorted_by_class(scores, classes, len(truth_counts))
    for label, (count, mine) in enumerate(zip(truth_counts, places, strict=True)):
        if not count:
            continue
        for t in range(hits.shape[1]):
            hit = hits[mine, t][~ignored[mine, t]]
            result[label, t] = np.trapezoid(_interpolated_precision(hit, count, recalls), recalls)
    return result


class Curves(NamedTuple):
    """Curves of every class at one IoU threshold; NaN for a class without ground truth.

    `precision`, `recall` and `f1` have a column for each of CONFIDENCES, and `best` is the column
    of the highest F1, averaged over the classes and smoothed.
    """

    precision: np.ndarray  # (num_classes, 1000)
    recall: np.ndarray  # (num_classes, 1000)
    f1: np.ndarray  # (num_classes, 1000)
    best: int
    precision_at_recall: np.ndarray  # (num_classes, 1000), for recalls from 0 to 1

    @property
    def best_confidence(self):
        """Confidence of the highest F1."""
        return float(CONFIDENCES[self.best])


def _smooth(values, width=SMOOTHING):
    """Box filter of odd width; the ends are continued by their own values."""
    padded = np.pad(values, width // 2, mode="edge")
    return np.convolve(padded, np.full(width, 1 / width), mode="valid")


def confidence_curves(hits, scores, classes, truth_counts, ignored=None):
    """Precision, recall and F1 of every class against the confidence.

    Parameters
    ----------
    hits : bool array, (n,)
        Whether a detection is right, at one IoU threshold.
    scores, classes, truth_counts
        See `average_precision`.
    ignored : bool array, (n,), optional
        Detections left out where they are no hits.

    Returns
    -------
    Curves
        Linear between the scores of the detections. A class without detections has 0 throughout.

    Raises
    ------
    ValueError
        If no class has ground truth.
    """
    hits, scores, classes, ignored = _as_arrays(hits, scores, classes, ignored)
    if not np.any(truth_counts):
        raise ValueError("no class has ground truth: precision and recall are undefined")
    shape = len(truth_counts), len(CONFIDENCES)
    precision, recall, f1, at_recall = (np.full(shape, np.nan) for _ in range(4))
    places = _sorted_by_class(scores, classes, len(truth_counts))
    for label, (count, mine) in enumerate(zip(truth_counts, places, strict=True)):
        if not count:
            continue
        mine = mine[~ignored[mine]]
        at_recall[label] = _interpolated_precision(hits[mine], count, CONFIDENCES)
        precision[label] = recall[label] = f1[label] = 0.0
        if not len(mine):
            continue
        found, right = _recall_precision(hits[mine], count)
        # np.interp wants rising positions, and the scores fall.
        precision[label] = np.interp(-CONFIDENCES, -scores[mine], right, left=1)
        recall[label] = np.interp(-CONFIDENCES, -scores[mine], found, left=0)
        total = precision[label] + recall[label]
        product = 2 * precision[label] * recall[label]
        f1[label] = np.divide(product, total, out=np.zeros_like(total), where=total > 0)
    best = int(_smooth(np.nanmean(f1, axis=0)).argmax())
    return Curves(precision, recall, f1, best, at_recall)


# ------------------------------------------------------------------------------ confusion


def confusion_matrix(
    detections,
    boxes,
    classes,
    num_classes,
    confidence=0.25,
    iou=0.45,
    regions=(),
    region_classes=(),
):
    """Count what the objects of one image were taken for.

    Detections and boxes are paired greedily by descending IoU, whatever their classes.

    Parameters
    ----------
    detections : array, (n, 6)
        ``x1, y1, x2, y2, score, class``; those at or below `confidence` don't count.
    boxes : array, (m, 4)
        Ground truth ``x1, y1, x2, y2``, in the same pixels.
    classes : int array, (m,)
        Ground-truth class indices.
    num_classes : int
    confidence : float
    iou : float
        Pairs need more than this.
    regions, region_classes : array (k, 4) and int array (k,)
        Crowd regions: a detection without a partner in one of its class doesn't count.

    Returns
    -------
    int array, (num_classes + 1, num_classes + 1)
        Row: predicted class; column: true class; the last of either is the background. So the
        last row counts missed objects, and the last column false alarms.
    """
    detections = np.asarray(detections, dtype=np.float64).reshape(-1, 6)
    detections = detections[detections[:, 4] > confidence]
    boxes = np.asarray(boxes, dtype=np.float64).reshape(-1, 4)
    true = np.asarray(classes, dtype=int).reshape(-1)
    predicted = detections[:, 5].astype(int)
    overlap = box_iou(detections[:, :4], boxes)
    rows, columns = np.nonzero(overlap > iou)
    order = np.argsort(-overlap[rows, columns], kind="stable")
    matrix = np.zeros((num_classes + 1, num_classes + 1), dtype=np.int64)
    alone = np.ones(len(detections), dtype=bool)
    missed = np.ones(len(boxes), dtype=bool)
    for i, j in zip(rows[order], columns[order], strict=True):
        if alone[i] and missed[j]:
            alone[i] = missed[j] = False
            matrix[predicted[i], true[j]] += 1
    alone &= ~crowd_overlaps(detections, regions, region_classes, [iou])[:, 0]
    np.add.at(matrix[:, -1], predicted[alone], 1)
    np.add.at(matrix[-1], true[missed], 1)
    return matrix


# ------------------------------------------------------------------------------ a whole set


class _Image(NamedTuple):
    image_id: int
    hits: np.ndarray  # bool (n, 10)
    ignored: np.ndarray  # bool (n, 10)
    scores: np.ndarray  # (n,)
    labels: np.ndarray  # int (n,)
    classes: np.ndarray  # int (m,), of the ground truth


class DetectionMetrics:
    """Metrics of a detector over a set of images, which are added one by one.

    Parameters
    ----------
    class_names : sequence of str

    Attributes
    ----------
    confusion : int array, (num_classes + 1, num_classes + 1)
        Sum of `confusion_matrix`, at its own confidence and IoU.

    Examples
    --------
    >>> metrics = DetectionMetrics(["person"])
    >>> metrics.add(7, [[0, 0, 10, 10, 0.9, 0]], [[0, 0, 10, 10]], [0])
    >>> round(metrics.scores()["map50"], 6)
    0.995
    """

    def __init__(self, class_names):
        self.class_names = list(class_names)
        self.images = []
        size = len(self.class_names) + 1
        self.confusion = np.zeros((size, size), dtype=np.int64)

    def add(self, image_id, detections, boxes, classes, regions=(), region_classes=()):
        """Add an image.

        Parameters
        ----------
        image_id : int
        detections : array, (n, 6)
            ``x1, y1, x2, y2, score, class`` sorted by score, descending.
        boxes, classes : array (m, 4) and int array (m,)
            Ground truth ``x1, y1, x2, y2`` in the same pixels, and class indices.
        regions, region_classes : array (k, 4) and int array (k,)
            Crowd regions.
        """
        detections = np.asarray(detections, dtype=np.float64).reshape(-1, 6)
        classes = np.asarray(classes, dtype=int).reshape(-1)
        hits = match_detections(detections, boxes, classes)
        ignored = crowd_overlaps(detections, regions, region_classes) & ~hits
        labels = detections[:, 5].astype(int)
        self.images.append(_Image(image_id, hits, ignored, detections[:, 4], labels, classes))
        self.confusion += confusion_matrix(
            detections,
            boxes,
            classes,
            len(self.class_names),
            regions=regions,
            region_classes=region_classes,
        )

    def _joined(self):
        """(hits, scores, labels, ignored) of all images."""
        images = self.images
        if not images:
            raise ValueError("no image was added: there is nothing to score")
        return (
            np.concatenate([image.hits for image in images]),
            np.concatenate([image.scores for image in images]),
            np.concatenate([image.labels for image in images]),
            np.concatenate([image.ignored for image in images]),
        )

    def truth_counts(self):
        """Boxes of each class, and images that hold any; two int arrays (num_classes,)."""
        size = len(self.class_names)
        counts = np.array([np.bincount(i.classes, minlength=size) for i in self.images])
        counts = counts.reshape(-1, size)
        return counts.sum(axis=0), (counts > 0).sum(axis=0)

    def curves(self):
        """`Curves` at IoU 0.5."""
        hits, scores, labels, ignored = self._joined()
        boxes, _ = self.truth_counts()
        return confidence_curves(hits[:, 0], scores, labels, boxes, ignored[:, 0])

    def scores(self, curves=None):
        """Score what was added.

        Parameters
        ----------
        curves : Curves, optional
            Of `curves`, where they are at hand already.

        Returns
        -------
        dict
            ``map50``, ``map50_95``, ``precision``, ``recall`` and ``f1`` (means over the classes
            that have ground truth), the ``confidence`` that the last three are for, ``images``,
            ``boxes``, and ``per_class``: class name to a dict of the same (``ap50`` and
            ``ap50_95``; NaN without ground truth).

        Raises
        ------
        ValueError
            If there is no ground truth at all.
        """
        curves = self.curves() if curves is None else curves
        hits, scores, labels, ignored = self._joined()
        boxes, images = self.truth_counts()
        ap = average_precision(hits, scores, labels, boxes, ignored)
        columns = {
            "precision": curves.precision[:, curves.best],
            "recall": curves.recall[:, curves.best],
            "f1": curves.f1[:, curves.best],
            "ap50": ap[:, 0],
            "ap50_95": ap.mean(axis=1),
        }
        per_class = {
            name: {"images": int(images[k]), "boxes": int(boxes[k])}
            | {key: float(column[k]) for key, column in columns.items()}
            for k, name in enumerate(self.class_names)
        }
        means = {key: float(np.nanmean(column)) for key, column in columns.items()}
        return {
            "map50": means.pop("ap50"),
            "map50_95": means.pop("ap50_95"),
            **means,
            "confidence": curves.best_confidence,
            "images": len(self.images),
            "boxes": int(boxes.sum()),
            "per_class": per_class,
        }

    def mistakes(self, confidence):
        """Count each image's mistakes at IoU 0.5.

        Parameters
        ----------
        confidence : float
            Detections below it don't count.

        Returns
        -------
        dict of int to (int, int)
            By image id: missed objects, false alarms.
        """
        result = {}
        for image in self.images:
            shown = image.scores >= confidence
            right = int((image.hits[:, 0] & shown).sum())
            wrong = int((shown & ~image.hits[:, 0] & ~image.ignored[:, 0]).sum())
            result[image.image_id] = len(image.classes) - right, wrong
        return result


def without_nan(value):
    """The same structure of dicts and lists, with None for NaN, which JSON can't say."""
    if isinstance(value, dict):
        return {key: without_nan(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(v) for v in value]
    if isinstance(value, float | np.floating):
        return None if math.isnan(value) else float(value)
    return value
