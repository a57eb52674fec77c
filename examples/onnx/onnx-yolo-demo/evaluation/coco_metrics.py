"""COCO's average precision and recall, computed by pycocotools."""

import contextlib
import io
import math

import numpy as np

AREAS = ("all", "small", "medium", "large")
COCO_LIMITS = (1, 10, 100)  # detections per image and class of COCO's recalls


def _ground_truth(source, class_names):
    """(COCO dict, category id of each class index, class names) of a dataset or a dict."""
    if hasattr(source, "ground_truth"):
        if class_names is not None and list(class_names) != source.classes:
            raise ValueError(f"class_names are {class_names}; the dataset's are {source.classes}")
        return source.ground_truth(), list(source.category_ids), source.classes
    missing = [key for key in ("images", "annotations", "categories") if key not in source]
    if missing:
        raise ValueError(f"ground truth lacks {missing}; pass a CocoDataset or a COCO dictionary")
    ids = {category["name"]: category["id"] for category in source["categories"]}
    names = list(ids if class_names is None else class_names)
    unknown = [name for name in names if name not in ids]
    if unknown:
        raise ValueError(f"ground truth has no category {unknown}; it has {sorted(ids)}")
    return source, [ids[name] for name in names], names


def _result_rows(detections, category_ids, image_ids):
    """COCO's (image id, x, y, w, h, score, category id) rows of all detections."""
    rows = []
    for image_id, found in detections.items():
        if image_id not in image_ids:
            raise ValueError(f"detections name image {image_id}, which the ground truth lacks")
        found = np.asarray(found, dtype=np.float64).reshape(-1, 6)
        if not len(found):
            continue
        if not np.isfinite(found).all():
            raise ValueError(f"detections of image {image_id} are not finite")
        label = found[:, 5].astype(int)
        if label.min() < 0 or label.max() >= len(category_ids):
            raise ValueError(
                f"detections of image {image_id} have class {label.max()}, "
                f"but there are only {len(category_ids)} classes"
            )
        out = np.empty((len(found), 7))
        out[:, 0] = image_id
        out[:, 1:3] = found[:, :2]
        out[:, 3:5] = found[:, 2:4] - found[:, :2]
        out[:, 5] = found[:, 4]
        out[:, 6] = np.asarray(category_ids)[label]
        rows.append(out)
    return np.concatenate(rows) if rows else np.empty((0, 7))


def _annotations(source, category_ids, names):
    """The classes' annotations, with the fields and numbers that pycocotools relies on."""
    wanted = set(category_ids)
    annotations = [
        # Files made by annotation tools often lack the first two. A match is noted by the id of
        # the annotation, where 0 stands for none: ids that count from 0 would lose one.
        {"iscrowd": 0, "area": a["bbox"][2] * a["bbox"][3], **a, "id": number}
        for number, a in enumerate(source["annotations"], 1)
        if a["category_id"] in wanted
    ]
    if all(a["iscrowd"] for a in annotations):
        raise ValueError(f"no ground-truth box of {names}: average precision is undefined")
    return annotations


def _accumulate(source, category_ids, names, detections, limits, areas):
    """Run COCOeval silently; its classes come in ascending order of category id."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    annotations = _annotations(source, category_ids, names)
    rows = _result_rows(detections, category_ids, {i["id"] for i in source["images"]})
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {
            "images": source["images"],
            "annotations": annotations,
            "categories": [c for c in source["categories"] if c["id"] in set(category_ids)],
        }
        truth.createIndex()
        if len(rows):
            found = truth.loadRes(rows)
        else:  # loadRes cannot read an empty list
            found = COCO()
            found.dataset = {**truth.dataset, "annotations": []}
            found.createIndex()
        evaluation = COCOeval(truth, found, "bbox")
        evaluation.params.catIds = list(category_ids)
        evaluation.params.maxDets = list(limits)
        evaluation.params.areaRng = evaluation.params.areaRng[:areas]
        evaluation.params.areaRngLbl = evaluation.params.areaRngLbl[:areas]
        evaluation.evaluate()
        evaluation.accumulate()
    return evaluation


def _known_mean(values):
    """Mean of what is defined: COCOeval marks what isn't by -1; NaN if nothing is."""
    known = values[values > -1]
    return float(known.mean()) if known.size else math.nan


def _map_and_classes(evaluation, category_ids, names):
    """``map50_95``, ``map50`` and ``per_class``, for all areas and the largest limit."""
    # (10 IoU thresholds, 101 recalls, classes)
    precision = evaluation.eval["precision"][:, :, :, 0, -1]
    # COCOeval has sorted the categories.
    position = {category: k for k, category in enumerate(evaluation.params.catIds)}
    per_class = {}
    for name, category in zip(names, category_ids, strict=True):
        values = precision[:, :, position[category]]
        per_class[name] = {"map50_95": _known_mean(values), "map50": _known_mean(values[0])}
    return {
        key: float(np.nanmean([values[key] for values in per_class.values()]))
        for key in ("map50_95", "map50")
    } | {"per_class": per_class}


def coco_map(ground_truth, detections, class_names=None, max_detections=100):
    """COCO mean average precision, computed by pycocotools.

    Parameters
    ----------
    ground_truth : CocoDataset or dict
        A dataset (its usable images and its classes are scored), or a COCO dictionary with
        ``images``, ``annotations`` and ``categories``. Crowd regions are ignored the way
        COCO does.
    detections : dict of int to array, (n, 6)
        Per image id ``x1, y1, x2, y2, score, class index``, in pixels of the original
        picture. Images left out count as having none.
    class_names : sequence of str, optional
        Class order of a dictionary; that of its ``categories`` by default. A dataset has its
        own.
    max_detections : int
        Best so many per image and class are scored; 100 is COCO's own setting.

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
    source, category_ids, names = _ground_truth(ground_truth, class_names)
    evaluation = _accumulate(source, category_ids, names, detections, [max_detections], 1)
    return _map_and_classes(evaluation, category_ids, names)


def coco_scores(ground_truth, detections, class_names=None):
    """COCO's twelve standard scores, computed by pycocotools with COCO's own settings.

    Parameters
    ----------
    ground_truth, detections, class_names
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
    source, category_ids, names = _ground_truth(ground_truth, class_names)
    evaluation = _accumulate(source, category_ids, names, detections, COCO_LIMITS, areas=len(AREAS))
    precision = evaluation.eval["precision"]  # (IoU, recall, class, area, limit)
    recall = evaluation.eval["recall"]  # (IoU, class, area, limit)
    scores = _map_and_classes(evaluation, category_ids, names)
    scores["map75"] = _known_mean(precision[5, :, :, 0, -1])
    for area, name in enumerate(AREAS[1:], 1):
        scores[f"map_{name}"] = _known_mean(precision[:, :, :, area, -1])
        scores[f"ar_{name}"] = _known_mean(recall[:, :, area, -1])
    for k, limit in enumerate(COCO_LIMITS):
        scores[f"ar_{limit}"] = _known_mean(recall[:, :, 0, k])
    return scores
