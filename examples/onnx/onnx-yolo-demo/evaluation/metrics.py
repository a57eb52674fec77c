"""Score detections by pycocotools.

`coco_map` is what training validates with.  `coco_scores` computes COCO's twelve scores, and the
precision and recall of each class.  `matches` says which detections are right at an IoU of 0.5:
`mistakes` lists the others, `counts_by_size` and `confusion` count them, and `best_confidences`
finds thresholds on the `curves` of precision and recall.
All take a `Dataset`, whose usable images and classes are scored with crowd regions ignored the way
COCO does, and detections as `detect` finds them: by image id, arrays (n, 6) of ``x1, y1, x2, y2,
score, class index`` in pixels of the original picture.  An image that isn't labelled for a class
takes no part in that class's scores.

COCO counts the best 100 detections of a class in an image.  Where an image has more things of a
class, all scores but COCO's twelve count twice as many detections as it has things.
"""

import contextlib
import io
import json
import math
from collections import Counter

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from utils import box_iou

# The order of COCOeval's `stats`.
TWELVE = ("map50_95", "map50", "map75", "map_small", "map_medium", "map_large")
TWELVE += ("ar_1", "ar_10", "ar_100", "ar_small", "ar_medium", "ar_large")
SIZES = {"small": 32**2, "medium": 96**2, "large": math.inf}  # areas below these, as COCO's
COCO_DETECTIONS = 100  # of a class in an image
CONFIDENCES = np.arange(1, 100) / 100  # what a page's slider can be set to


def coco_map(dataset, detections):
    """Compute COCO's mean average precision.

    Returns ``map50_95`` and ``map50`` (0 to 1, mean over the classes that have ground truth);
    ``per_class``: class name to a dict with the same two keys, NaN for a class without ground
    truth; and ``max_detections``, how many of a class in an image count.  ValueError if there is
    no ground truth of any class.
    """
    return _means(_matched(dataset, detections, areas=1), dataset)


def limit_note(scores):
    """Return in words how many detections of an image `scores` count; "" where as many as COCO."""
    most = scores["max_detections"]
    if most <= COCO_DETECTIONS:
        return ""
    return (
        f"an image has {most // 2} things of one class: mAP counts {most} detections of a class in "
        f"an image (COCO's twelve scores: {COCO_DETECTIONS})"
    )


def coco_scores(dataset, detections):
    """Compute COCO's twelve standard scores, with COCO's own settings, and the project's.

    Returns what `coco_map` does, and ``twelve``, a dict with the names of `TWELVE`: ``map50_95``,
    ``map50``, ``map75``; ``map_small``, ``map_medium`` and ``map_large``
    (areas below 32², below 96² and above, in pixels of the original picture); the recalls
    ``ar_1``, ``ar_10``, ``ar_100`` (the best 1, 10, 100 per image and class) and ``ar_small``,
    ``ar_medium``, ``ar_large``.  NaN where there is no ground truth of that size.

    Each class has its number of ``boxes``, too, and ``precision``, ``recall`` and ``confidence``
    where F1 is highest on COCO's curve at IoU 0.5, which has 101 recalls.
    """
    evaluation = _matched(dataset, detections)
    with contextlib.redirect_stdout(io.StringIO()):
        evaluation.summarize()
    known = np.where(evaluation.stats < 0, np.nan, evaluation.stats)
    scores = _means(evaluation, dataset)
    scores["twelve"] = dict(zip(TWELVE, known.tolist(), strict=True))
    recall, boxes = evaluation.params.recThrs, evaluation.cocoGt.anns.values()
    for name, category in zip(dataset.classes, dataset.category_ids, strict=True):
        # Of all boxes, at IoU 0.5; -1 where there is no ground truth.
        curve = 0, slice(None), evaluation.params.catIds.index(category), 0, -1
        precision = evaluation.eval["precision"][curve]
        best = np.argmax(precision * recall / np.maximum(precision + recall, 1e-9))
        at_best = precision[best], recall[best], evaluation.eval["scores"][curve][best]
        if precision[0] < 0:
            at_best = [np.nan] * 3
        own = scores["per_class"][name]
        own["boxes"] = sum(b["category_id"] == category and not b["iscrowd"] for b in boxes)
        own |= zip(("precision", "recall", "confidence"), map(float, at_best), strict=True)
    return scores


def _result_rows(detections, category_ids):
    """Return COCO's (image id, x, y, w, h, score, category id) rows of all detections."""
    rows = [np.empty((0, 7))]
    for image_id, found in detections.items():
        x, y, right, bottom, score, label = np.reshape(found, (-1, 6)).astype(float).T
        image, category = np.full_like(x, image_id), np.asarray(category_ids)[label.astype(int)]
        columns = [image, x, y, right - x, bottom - y, score, category]
        rows.append(np.column_stack(columns))
    return np.concatenate(rows)


def scores_by_source(dataset, detections):
    """Compute COCO's mean average precision of each class, by where the images are from.

    Returns, for each of the dataset's `sources`, a dict: ``images``, their number; and
    ``per_class``, as of `coco_map`, and the number of ``boxes`` (without crowd regions) there.
    """
    found = {}
    for source in sorted(set(dataset.sources)):
        pairs = zip(dataset.image_ids, dataset.sources, strict=True)
        images = {number for number, own in pairs if own == source}
        boxes = [a for a in _scored(dataset, images)[0] if not a.get("iscrowd", 0)]
        nothing = {"map50_95": math.nan, "map50": math.nan}
        per_class = {name: dict(nothing) for name in dataset.classes}
        if boxes:
            evaluation = _matched(dataset, detections, areas=1, images=images)
            per_class = _means(evaluation, dataset)["per_class"]
        for name, category in zip(dataset.classes, dataset.category_ids, strict=True):
            per_class[name]["boxes"] = sum(a["category_id"] == category for a in boxes)
        found[source] = {"images": len(images), "per_class": per_class}
    return found


def matches(dataset, detections):
    """Return (detections, things), matched at an IoU of 0.5; crowds are neither.

    Both are lists of pairs: a dict, and whether there is a match. The dicts have ``image_id``,
    ``class``, a name, and ``box``: x1, y1, x2, y2 in pixels. A detection has its ``score`` and its
    ``overlap``, the highest IoU with a thing of its class; a thing has its ``area``.
    """
    evaluation = _matched(dataset, detections, areas=1)
    names = dict(zip(dataset.category_ids, dataset.classes, strict=True))
    found, things = [], []

    def row(source, number, name, **more):
        entry = source.anns[int(number)]
        x, y, width, height = entry["bbox"]
        box = [x, y, x + width, y + height]
        return {"image_id": entry["image_id"], "class": name, "box": box} | more

    for one in filter(None, evaluation.evalImgs):  # of an image and a class
        name = names[one["category_id"]]
        place_of = one["image_id"], one["category_id"]
        of_things = [not thing["iscrowd"] for thing in evaluation._gts[place_of]]
        overlaps = evaluation.ious[place_of]
        keys = "dtIds", "dtScores", "dtMatches", "dtIgnore"
        numbers, scores, matched, ignored = (one[key] for key in keys)
        columns = zip(numbers, scores, matched[0], ignored[0], strict=True)
        for place, (number, score, match, in_crowd) in enumerate(columns):
            if not in_crowd:
                own = overlaps[place][of_things] if len(overlaps) else ()
                own = {"score": score, "overlap": float(np.max(own, initial=0))}
                found.append((row(evaluation.cocoDt, number, name, **own), bool(match)))
        columns = zip(one["gtIds"], one["gtMatches"][0], one["gtIgnore"], strict=True)
        for number, match, is_crowd in columns:
            if not is_crowd:
                width, height = evaluation.cocoGt.anns[number]["bbox"][2:]
                thing = row(evaluation.cocoGt, number, name, area=width * height)
                things.append((thing, bool(match)))
    return found, things


def mistakes(dataset, detections):
    """Return (false detections, missed things), dicts as of `matches`.

    False ones come with the highest score first, missed ones with the largest first.
    """
    false, missed = (
        [row for row, right in rows if not right] for rows in matches(dataset, detections)
    )
    false.sort(key=lambda found: -found["score"])
    missed.sort(key=lambda thing: -thing["area"])
    return false, missed


def counts_by_size(dataset, detections):
    """Count what is found, missed and false, of detections as a page would draw them.

    Returns a dict: ``per_class`` has, by class name and by ``all`` and the names of `SIZES`, a dict
    of ``things``, ``found``, ``false``, numbers, and ``recall`` and ``precision``, NaN where
    nothing is to be found or nothing was. The size is that of the thing; of a false detection, its
    own. ``wholly_right`` is the number of images where every thing is found and nothing is false,
    of the ``complete`` ones, which are labelled for all classes.
    """
    found, things = matches(dataset, detections)
    false = [row for row, right in found if not right]
    per_class = {
        name: {
            size: _counts(
                [right for thing, right in things if _is_of(thing, name, size)],
                sum(_is_of(row, name, size) for row in false),
            )
            for size in ("all", *SIZES)
        }
        for name in dataset.classes
    }
    labelled = dataset.labelled
    complete = [True] * len(dataset.image_ids) if labelled is None else labelled.all(axis=1)
    wrong = {row["image_id"] for row in false}
    wrong |= {thing["image_id"] for thing, right in things if not right}
    images = {k for k, whole in zip(dataset.image_ids, complete, strict=True) if whole}
    return {
        "per_class": per_class,
        "wholly_right": len(images - wrong),
        "complete": len(images),
    }


def _is_of(row, name, size):
    """Return whether a row of `matches` is of a class and of a size: ``all``, or of `SIZES`."""
    x1, y1, x2, y2 = row["box"]
    area = (x2 - x1) * (y2 - y1)
    own = next(kind for kind, limit in SIZES.items() if area < limit)
    return row["class"] == name and size in ("all", own)


def _counts(things, false):
    """Return counts and their ratios; `things` are booleans, whether each is found."""
    found = sum(things)
    return {
        "things": len(things),
        "found": found,
        "false": false,
        "recall": found / len(things) if things else math.nan,
        "precision": found / (found + false) if found + false else math.nan,
    }


def curves(dataset, detections):
    """Compute precision, recall and F1 of each class at each of `CONFIDENCES`.

    Returns, by class name, three arrays (99,); NaN for a class of which there is nothing.
    """
    found, things = matches(dataset, detections)
    rows = {}
    for name in dataset.classes:
        own = [(row["score"], right) for row, right in found if row["class"] == name]
        scores, right = np.reshape(own, (-1, 2)).T
        count = sum(thing["class"] == name for thing, _ in things) or math.nan
        above = scores > CONFIDENCES[:, None]
        drawn, hits = above.sum(axis=1), above @ right
        precision = hits / np.maximum(drawn, 1) + 0 * count
        rows[name] = precision, hits / count, 2 * hits / (count + drawn)
    return rows


def confusion(dataset, detections):
    """Count what is labelled by what is found, at an IoU of 0.5.

    A thing that no detection of its own class matches may be matched by one of another.

    Returns
    -------
    int64 (classes + 1, classes + 1)
        In a row, things of a class; in the last row, what is no thing. In a column, detections of
        a class; in the last column, none.
    """
    found, things = matches(dataset, detections)
    place = {name: k for k, name in enumerate(dataset.classes)}
    nothing = len(place)
    table = np.zeros((nothing + 1, nothing + 1), np.int64)
    left = {}
    for thing, right in things:
        if not right:
            left.setdefault(thing["image_id"], []).append(thing)
    for row, right in sorted(found, key=lambda pair: -pair[0]["score"]):
        label = place[row["class"]]
        if right:
            table[label, label] += 1
            continue
        others = left.get(row["image_id"], [])
        overlaps = box_iou(np.array([row["box"]]), np.reshape([o["box"] for o in others], (-1, 4)))
        if overlaps.max(initial=0) >= 0.5:
            table[place[others.pop(int(overlaps.argmax()))["class"]], label] += 1
        else:
            table[nothing, label] += 1
    for thing in (thing for others in left.values() for thing in others):
        table[place[thing["class"]], nothing] += 1
    return table


def best_confidences(dataset, detections, least_precision=None):
    """Find the confidence of each class, among `CONFIDENCES`, at which its F1 is highest.

    With `least_precision`, it is the one of the highest recall among those whose precision is at
    least that; where there is none, still that of the highest F1.

    `detections` are those above the lowest of `CONFIDENCES`. Returns, by class name, a dict of
    ``confidence``, ``precision``, ``recall`` and ``f1``, which are NaN for a class of which there
    is nothing.
    """
    best, keys = {}, ("confidence", "precision", "recall", "f1")
    for name, (precision, recall, f1) in curves(dataset, detections).items():
        if np.isnan(f1).all():
            best[name] = dict.fromkeys(keys, math.nan)
            continue
        enough = precision >= (np.inf if least_precision is None else least_precision)
        place = np.argmax(f1)
        if enough.any():  # of equal recall, the one with the fewest false detections
            place = np.flatnonzero(enough & (recall == recall[enough].max()))[-1]
        values = CONFIDENCES[place], precision[place], recall[place], f1[place]
        best[name] = dict(zip(keys, map(float, values), strict=True))
    return best


def _scored(dataset, images=None):
    """Return annotations that are scored, and a function that says whether a detection is.

    An image takes no part in the scores of a class that it isn't labelled for; `images` are ids of
    those that take part at all, by default all.
    """
    left_out = set()
    if dataset.labelled is not None:
        left_out = {
            (dataset.image_ids[image], dataset.category_ids[label])
            for image, label in np.argwhere(~dataset.labelled).tolist()
        }

    def counts(image, category):
        return (image, category) not in left_out and (images is None or image in images)

    annotations = dataset.ground_truth()["annotations"]
    return [a for a in annotations if counts(a["image_id"], a["category_id"])], counts


def _matched(dataset, detections, areas=4, images=None):
    """Return a COCOeval that has matched detections with boxes; its classes ascend by id.

    With 1 for `areas`, boxes of any size together; with 4, small, medium and large ones, too.
    `images` is as of `_scored`.
    """
    source = dataset.ground_truth()
    scored, counts = _scored(dataset, images)
    if all(a.get("iscrowd", 0) for a in scored):
        raise ValueError(f"no ground-truth box of {dataset.classes}: precision is undefined")
    annotations = [
        # Files made by annotation tools often lack the first two. A match is noted by the id of
        # the annotation, where 0 stands for none: ids that count from 0 would lose one.
        {"iscrowd": 0, "area": a["bbox"][2] * a["bbox"][3], **a, "id": number}
        for number, a in enumerate(scored, 1)
    ]
    rows = _result_rows(detections, dataset.category_ids)
    rows = rows[[counts(image, category) for image, category in rows[:, [0, 6]].tolist()]]
    with contextlib.redirect_stdout(io.StringIO()):
        truth, found = COCO(), COCO()
        truth.dataset = source | {"annotations": annotations}
        found.dataset = source | {"annotations": []}
        truth.createIndex()
        found.createIndex()
        # loadRes cannot read an empty list.
        evaluation = COCOeval(truth, truth.loadRes(rows) if len(rows) else found, "bbox")
        parameters = evaluation.params
        parameters.areaRng = parameters.areaRng[:areas]
        parameters.areaRngLbl = parameters.areaRngLbl[:areas]
        parameters.maxDets = [1, 10, COCO_DETECTIONS]  # among which `summarize` seeks the last
        if (most := most_things(annotations)) > COCO_DETECTIONS:
            parameters.maxDets.append(2 * most)
        evaluation.evaluate()
        evaluation.accumulate()
    return evaluation


def most_things(annotations):
    """Return how many things of one class an image has at most, of COCO's annotations."""
    counts = Counter((a["image_id"], a["category_id"]) for a in annotations if not a["iscrowd"])
    return max(counts.values(), default=0)


def _means(evaluation, dataset):
    """Return what `coco_map` returns."""
    precision = evaluation.eval["precision"][:, :, :, 0, -1]  # (10 IoUs, 101 recalls, classes)
    precision = np.where(precision < 0, np.nan, precision)  # -1 where there is no ground truth
    per_class = {}
    for name, category in zip(dataset.classes, dataset.category_ids, strict=True):
        own = precision[:, :, evaluation.params.catIds.index(category)].copy()
        per_class[name] = {"map50_95": float(own.mean()), "map50": float(own[0].mean())}
    return {
        key: float(np.nanmean([values[key] for values in per_class.values()]))
        for key in ("map50_95", "map50")
    } | {"per_class": per_class, "max_detections": evaluation.params.maxDets[-1]}


def without_nan(value):
    """Return the same structure of dicts and lists, with None for NaN, which JSON can't say."""
    if isinstance(value, dict):
        return {key: without_nan(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(v) for v in value]
    if isinstance(value, float | np.floating):
        return None if math.isnan(value) else float(value)
    return value


def to_json(value):
    """Return indented JSON as bytes; paths become text, NaN null."""
    return json.dumps(without_nan(value), indent=2, default=str).encode() + b"\n"
