"""COCO's scores, and precision, recall and confusion at IoU 0.5: all as pycocotools matches boxes.

`coco_map` is what training validates with, `coco_scores` are COCO's twelve scores, and
`DetectionMetrics` says which detections made them.
"""

import contextlib
import io
import math
from typing import NamedTuple

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

# The order of COCOeval's `stats`.
TWELVE = ("map50_95", "map50", "map75", "map_small", "map_medium", "map_large")
TWELVE += ("ar_1", "ar_10", "ar_100", "ar_small", "ar_medium", "ar_large")
CONFIDENCES = np.linspace(0, 1, 1000)
SMOOTHING = 101  # width of the box filter over CONFIDENCES: a tenth of them, and odd


# ------------------------------------------------------------------------------ pycocotools


def _result_rows(detections, category_ids, image_ids):
    """COCO's (image id, x, y, w, h, score, category id) rows of all detections."""
    rows = [np.empty((0, 7))]
    for image_id, found in detections.items():
        if image_id not in image_ids:
            raise ValueError(f"detections name image {image_id}, which the ground truth lacks")
        found = np.asarray(found, dtype=np.float64).reshape(-1, 6)
        if not np.isfinite(found).all():
            raise ValueError(f"detections of image {image_id} are not finite")
        corners, score, label = found[:, :4], found[:, 4:5], found[:, 5].astype(int)
        unknown = label[(label < 0) | (label >= len(category_ids))]
        if len(unknown):
            raise ValueError(
                f"detections of image {image_id} have class {unknown[0]}, "
                f"but there are only {len(category_ids)} classes"
            )
        sides = corners[:, 2:] - corners[:, :2]
        category = np.asarray(category_ids)[label][:, None]
        image = np.full_like(score, image_id)
        rows.append(np.concatenate([image, corners[:, :2], sides, score, category], axis=1))
    return np.concatenate(rows)


def _matched(dataset, detections, areas=4, **settings):
    """A COCOeval that has matched detections with boxes; its classes are in ascending order of id.

    Parameters
    ----------
    areas : int
        1: boxes of any size; 4: also small, medium and large ones by themselves.
    settings
        Other attributes of its parameters.
    """
    source = dataset.ground_truth()
    if all(a.get("iscrowd", 0) for a in source["annotations"]):
        raise ValueError(f"no ground-truth box of {dataset.classes}: precision is undefined")
    annotations = [
        # Files made by annotation tools often lack the first two. A match is noted by the id of
        # the annotation, where 0 stands for none: ids that count from 0 would lose one.
        {"iscrowd": 0, "area": a["bbox"][2] * a["bbox"][3], **a, "id": number}
        for number, a in enumerate(source["annotations"], 1)
    ]
    rows = _result_rows(detections, dataset.category_ids, {i["id"] for i in source["images"]})
    with contextlib.redirect_stdout(io.StringIO()):
        truth, found = COCO(), COCO()
        truth.dataset = source | {"annotations": annotations}
        found.dataset = source | {"annotations": []}
        truth.createIndex()
        found.createIndex()
        # loadRes cannot read an empty list.
        evaluation = COCOeval(truth, truth.loadRes(rows) if len(rows) else found, "bbox")
        parameters = evaluation.params
        settings["areaRng"] = parameters.areaRng[:areas]
        settings["areaRngLbl"] = parameters.areaRngLbl[:areas]
        vars(parameters).update(settings)
        evaluation.evaluate()
        evaluation.accumulate()
    return evaluation


def _map_and_classes(evaluation, dataset):
    """What `coco_map` returns."""
    precision = evaluation.eval["precision"][:, :, :, 0, -1]  # (10 IoUs, 101 recalls, classes)
    precision = np.where(precision < 0, np.nan, precision)  # -1 where there is no ground truth
    per_class = {}
    for name, category in zip(dataset.classes, dataset.category_ids, strict=True):
        own = precision[:, :, evaluation.params.catIds.index(category)].copy()
        per_class[name] = {"map50_95": float(own.mean()), "map50": float(own[0].mean())}
    return {
        key: float(np.nanmean([values[key] for values in per_class.values()]))
        for key in ("map50_95", "map50")
    } | {"per_class": per_class}


def coco_map(dataset, detections):
    """COCO mean average precision, computed by pycocotools.

    Parameters
    ----------
    dataset : Dataset
        Its usable images and its classes are scored.  Crowd regions are ignored the way COCO does.
    detections : dict of int to array, (n, 6)
        By image id: ``x1, y1, x2, y2, score, class index``, in pixels of the original picture.
        Images left out count as having none; of an image and class, the best 100 count.

    Returns
    -------
    dict
        ``map50_95`` and ``map50`` (0 to 1, mean over the classes that have ground truth) and
        ``per_class``: class name to a dict with the same two keys, NaN for a class without
        ground truth.

    Raises
    ------
    ValueError
        No ground truth of any class, unknown image or class, or values that are not finite.
    """
    return _map_and_classes(_matched(dataset, detections, areas=1), dataset)


def coco_scores(dataset, detections):
    """COCO's twelve standard scores, computed by pycocotools with COCO's own settings.

    Parameters
    ----------
    dataset, detections
        See `coco_map`.

    Returns
    -------
    dict
        What `coco_map` returns, and ``map75``; ``map_small``, ``map_medium`` and ``map_large``
        (areas below 32², below 96² and above, in pixels of the original picture); the recalls
        ``ar_1``, ``ar_10``, ``ar_100`` (best so many per image and class) and ``ar_small``,
        ``ar_medium``, ``ar_large``. NaN where there is no ground truth of that size.

    Raises
    ------
    ValueError
        See `coco_map`.
    """
    return DetectionMetrics(dataset, detections).coco


# ------------------------------------------------------------------------------ at IoU 0.5


class Curves(NamedTuple):
    """Curves of every class at IoU 0.5; NaN for a class without ground truth.

    `precision`, `recall` and `f1` have a column for each of CONFIDENCES, and `best` is the column
    of the highest F1, averaged over the classes and smoothed.
    """

    precision: np.ndarray  # (num_classes, 1000)
    recall: np.ndarray  # (num_classes, 1000)
    f1: np.ndarray  # (num_classes, 1000)
    best: int
    precision_at_recall: np.ndarray  # (num_classes, 101), for recalls from 0 to 1; COCO's

    @property
    def best_confidence(self):
        """Confidence of the highest F1."""
        return float(CONFIDENCES[self.best])


class _Matches(NamedTuple):
    """What became of one class's detections and boxes in one image."""

    image_id: int
    scores: np.ndarray  # (n,)
    hits: np.ndarray  # bool (n,)
    ignored: np.ndarray  # bool (n,): in a crowd region
    boxes: int


class DetectionMetrics:
    """What detections of a whole data set got right and wrong at IoU 0.5, beside COCO's scores.

    Parameters
    ----------
    dataset, detections
        See `coco_map`.

    Attributes
    ----------
    coco : dict
        See `coco_scores`.
    curves : Curves
    """

    def __init__(self, dataset, detections):
        self.dataset, self.detections = dataset, detections
        evaluation = _matched(dataset, detections)
        with contextlib.redirect_stdout(io.StringIO()):
            evaluation.summarize()
        known = np.where(evaluation.stats < 0, np.nan, evaluation.stats)
        self.coco = dict(zip(TWELVE, known.tolist(), strict=True))
        self.coco |= _map_and_classes(evaluation, dataset)
        self._images = len(evaluation.params.imgIds)
        order = [evaluation.params.catIds.index(category) for category in dataset.category_ids]
        self._matches = [self._of_class(evaluation, k) for k in order]
        self.curves = self._draw_curves(evaluation.eval["precision"][0, :, order, 0, -1])

    def _of_class(self, evaluation, k):
        """`_Matches` of the images that have a detection or a box of the k-th class."""
        first = k * 4 * self._images  # boxes of any size come first, then the three sizes
        found = [e for e in evaluation.evalImgs[first : first + self._images] if e is not None]
        return [
            _Matches(
                e["image_id"],
                np.array(e["dtScores"]),
                (e["dtMatches"][0] > 0) & ~e["dtIgnore"][0],
                e["dtIgnore"][0],
                int((e["gtIgnore"] == 0).sum()),
            )
            for e in found
        ]

    def _draw_curves(self, precision_at_recall):
        precision, recall = np.full((2, len(self.dataset.classes), len(CONFIDENCES)), np.nan)
        for k, matches in enumerate(self._matches):
            boxes = sum(m.boxes for m in matches)
            if not boxes:
                continue
            precision[k] = recall[k] = 0.0
            counted = np.concatenate([~m.ignored for m in matches])
            scores = np.concatenate([m.scores for m in matches])[counted]
            order = np.argsort(-scores, kind="stable")
            if not len(order):
                continue
            right = np.concatenate([m.hits for m in matches])[counted][order].cumsum()
            # np.interp wants rising positions, and the scores fall.
            x, xp = -CONFIDENCES, -scores[order]
            precision[k] = np.interp(x, xp, right / np.arange(1, len(right) + 1), left=1)
            recall[k] = np.interp(x, xp, right / boxes, left=0)
        total = precision + recall
        f1 = np.divide(2 * precision * recall, total, out=0 * total, where=total > 0)
        mean = np.pad(np.nanmean(f1, axis=0), SMOOTHING // 2, mode="edge")
        best = np.convolve(mean, np.full(SMOOTHING, 1 / SMOOTHING), mode="valid").argmax()
        known = np.where(precision_at_recall < 0, np.nan, precision_at_recall)
        return Curves(precision, recall, f1, int(best), known)

    def scores(self):
        """Precision and recall at the confidence of the highest F1.

        Returns
        -------
        dict
            ``precision``, ``recall`` and ``f1`` (means over the classes that have ground truth),
            the ``confidence`` that they are for, ``images``, ``boxes``, and ``per_class``: class
            name to a dict of the same but for the confidence, NaN without ground truth.
        """
        curves = self.curves
        best = {k: getattr(curves, k)[:, curves.best] for k in ("precision", "recall", "f1")}
        per_class = {}
        for k, (name, matches) in enumerate(zip(self.dataset.classes, self._matches, strict=True)):
            per_class[name] = {"images": sum(m.boxes > 0 for m in matches)}
            per_class[name]["boxes"] = sum(m.boxes for m in matches)
            per_class[name] |= {key: float(values[k]) for key, values in best.items()}
        return {
            **{key: float(np.nanmean(values)) for key, values in best.items()},
            "confidence": curves.best_confidence,
            "images": self._images,
            "boxes": sum(own["boxes"] for own in per_class.values()),
            "per_class": per_class,
        }

    def mistakes(self, confidence):
        """Count the mistakes in each image that has a detection or a box.

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
        for m in (m for matches in self._matches for m in matches):
            shown = m.scores >= confidence
            missed, wrong = result.get(m.image_id, (0, 0))
            missed += m.boxes - int((m.hits & shown).sum())
            result[m.image_id] = missed, wrong + int((shown & ~m.hits & ~m.ignored).sum())
        return result

    def confusion(self, confidence=0.25):
        """Count what objects were taken for: boxes are matched whatever their classes.

        Parameters
        ----------
        confidence : float
            Detections below it don't count.

        Returns
        -------
        int array, (num_classes + 1, num_classes + 1)
            Row: predicted class; column: true class; the last of either is the background. So the
            last row counts missed objects, and the last column false alarms.
        """
        shown = {k: [row for row in v if row[4] >= confidence] for k, v in self.detections.items()}
        evaluation = _matched(self.dataset, shown, areas=1, useCats=0, iouThrs=np.array([0.5]))
        label = {category: k for k, category in enumerate(self.dataset.category_ids)}
        background = len(label)
        matrix = np.zeros((background + 1, background + 1), dtype=np.int64)

        def class_of(coco, number):
            return label[coco.anns[number]["category_id"]] if number else background

        for image in evaluation.evalImgs:
            if image is None:
                continue
            for number, match, ignored in zip(
                image["dtIds"], image["dtMatches"][0], image["dtIgnore"][0], strict=True
            ):
                if not ignored:
                    row = class_of(evaluation.cocoDt, number)
                    matrix[row, class_of(evaluation.cocoGt, int(match))] += 1
            unseen = (image["gtMatches"][0] == 0) & (image["gtIgnore"] == 0)
            for number in np.array(image["gtIds"])[unseen]:
                matrix[background, class_of(evaluation.cocoGt, number)] += 1
        return matrix


def without_nan(value):
    """The same structure of dicts and lists, with None for NaN, which JSON can't say."""
    if isinstance(value, dict):
        return {key: without_nan(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(v) for v in value]
    if isinstance(value, float | np.floating):
        return None if math.isnan(value) else float(value)
    return value
