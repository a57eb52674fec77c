"""Post-processing, COCO metrics and drawing for the YOLO11n demo.

NumPy and Pillow only; pycocotools is imported by `coco_map` alone, so that exporting and
drawing work without it.
"""

import contextlib
import io
import math
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

# Boxes of different classes are moved this many pixels apart, so that one pass of
# suppression handles every class. It has to exceed the side of any network input.
CLASS_SHIFT = 7680.0

CLASS_COLORS = {"person": (40, 190, 70), "cell phone": (255, 140, 0)}
OTHER_COLORS = (
    (0, 120, 255),
    (230, 50, 60),
    (160, 80, 220),
    (0, 180, 190),
    (240, 90, 170),
    (130, 130, 40),
)


def xywh_to_xyxy(boxes):
    """Convert boxes from centre/size to corners.

    Parameters
    ----------
    boxes : array, (..., 4)
        ``cx, cy, w, h`` in any unit.

    Returns
    -------
    array, (..., 4)
        ``x1, y1, x2, y2`` in the same unit and dtype.
    """
    boxes = np.asarray(boxes)
    half = boxes[..., 2:] / 2
    return np.concatenate([boxes[..., :2] - half, boxes[..., :2] + half], axis=-1)


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
    corners = xywh_to_xyxy(boxes[:, anchor].T)
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
    max_candidates=30000,
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
    max_candidates : int
        Only the best so many candidates enter the suppression.
    class_aware : bool
        False suppresses across classes.

    Returns
    -------
    float32 array, (n, 6)
        ``x1, y1, x2, y2, score, class`` sorted by score, descending. Not clipped.

    Raises
    ------
    ValueError
        `predictions` is not of the shape above, or holds NaN.
    """
    predictions = np.asarray(predictions, dtype=np.float32)
    if predictions.ndim != 2 or predictions.shape[0] < 5:
        raise ValueError(
            f"predictions have shape {predictions.shape}; pass one image's "
            "(4 + num_classes, anchors) array"
        )
    if np.isnan(predictions).any():
        raise ValueError("predictions contain NaN; check the model's weights and its input")
    rows = _candidates(predictions, confidence, multi_label)
    rows = rows[np.argsort(-rows[:, 4], kind="stable")[:max_candidates]]
    boxes = rows[:, :4]
    if class_aware:
        boxes = boxes + rows[:, 5:6] * np.float32(CLASS_SHIFT)
    return rows[_greedy_keep(boxes, iou, max_detections)]


def scale_detections(detections, geometry, image_wh=None):
    """Move detections from the letterboxed square to the original picture and clip them.

    Parameters
    ----------
    detections : array, (n, 6)
        ``x1, y1, x2, y2, score, class``, pixels of the network input, as `nms` returns them.
    geometry : Letterbox
        Returned by `dataset.letterbox`.
    image_wh : (int, int), optional
        Width and height to clip to; the size the geometry was made for by default.

    Returns
    -------
    float32 array, (n, 6)
        The same with boxes in pixels of the original picture.
    """
    detections = np.array(detections, dtype=np.float32).reshape(-1, 6)
    width, height = (geometry.width, geometry.height) if image_wh is None else image_wh
    boxes = geometry.undo(detections[:, :4])
    detections[:, 0:4:2] = boxes[:, 0::2].clip(0, width)
    detections[:, 1:4:2] = boxes[:, 1::2].clip(0, height)
    return detections


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
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    source, category_ids, names = _ground_truth(ground_truth, class_names)
    wanted = set(category_ids)
    annotations = [
        # pycocotools needs both fields; files made by annotation tools often lack them.
        {"iscrowd": 0, "area": a["bbox"][2] * a["bbox"][3], **a}
        for a in source["annotations"]
        if a["category_id"] in wanted
    ]
    if all(a["iscrowd"] for a in annotations):
        raise ValueError(f"no ground-truth box of {names}: average precision is undefined")
    rows = _result_rows(detections, category_ids, {i["id"] for i in source["images"]})

    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {
            "images": source["images"],
            "annotations": annotations,
            "categories": [c for c in source["categories"] if c["id"] in wanted],
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
        evaluation.params.maxDets = [max_detections]
        evaluation.params.areaRng = evaluation.params.areaRng[:1]
        evaluation.params.areaRngLbl = evaluation.params.areaRngLbl[:1]
        evaluation.evaluate()
        evaluation.accumulate()
    # (10 IoU thresholds, 101 recalls, classes); -1 where a class has no ground truth.
    precision = evaluation.eval["precision"][:, :, :, 0, 0]
    # COCOeval has sorted the categories.
    position = {category: k for k, category in enumerate(evaluation.params.catIds)}
    per_class = {}
    for name, category in zip(names, category_ids, strict=True):
        values = precision[:, :, position[category]]
        known = bool((values > -1).any())
        per_class[name] = {
            "map50_95": float(values.mean()) if known else math.nan,
            "map50": float(values[0].mean()) if known else math.nan,
        }
    return {
        key: float(np.nanmean([values[key] for values in per_class.values()]))
        for key in ("map50_95", "map50")
    } | {"per_class": per_class}


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
    thresholds = np.linspace(0.5, 0.95, 10) if thresholds is None else np.asarray(thresholds)
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


def average_precision(hits, scores, classes, truth_counts):
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

    Returns
    -------
    float array, (num_classes, t)
        NaN for a class without ground truth, 0 for one without detections.
    """
    hits, scores, classes = np.asarray(hits), np.asarray(scores), np.asarray(classes)
    recalls = np.linspace(0, 1, 101)
    result = np.full((len(truth_counts), hits.shape[1]), np.nan)
    order = np.argsort(-scores, kind="stable")
    hits, classes = hits[order], classes[order]
    for label, count in enumerate(truth_counts):
        if not count:
            continue
        mine = hits[classes == label]
        result[label] = 0.0
        if not len(mine):
            continue
        true = mine.cumsum(axis=0)
        precision = true / np.arange(1, len(mine) + 1)[:, None]
        for t in range(hits.shape[1]):
            recall = true[:, t] / count
            x = np.concatenate([[0.0], recall, [recall[-1], 1.0]])
            y = np.concatenate([[1.0], precision[:, t], [0.0, 0.0]])
            y = np.maximum.accumulate(y[::-1])[::-1]
            result[label, t] = np.trapezoid(np.interp(recalls, x, y), recalls)
    return result


def _as_image(image):
    image = np.asarray(image)
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(
            f"image has dtype {image.dtype} and shape {image.shape}; pass uint8 (height, width, 3)"
        )
    return image


def draw_detections(image, detections, class_names):
    """Draw boxes with class names and scores.

    Parameters
    ----------
    image : uint8 array, (height, width, 3)
        RGB.
    detections : array, (n, 5) or (n, 6)
        ``x1, y1, x2, y2, score, class`` in the image's pixels; with five columns
        ``x1, y1, x2, y2, class``, as for ground truth, which has no score.
    class_names : sequence of str

    Returns
    -------
    uint8 array, (height, width, 3)
        A copy; persons green, cell phones orange.
    """
    picture = Image.fromarray(_as_image(image))
    draw = ImageDraw.Draw(picture)
    short = min(picture.size)
    line = max(1, round(short / 160))
    font = ImageFont.load_default(size=max(10, round(short / 24)))
    detections = np.asarray(detections, dtype=np.float64)
    if detections.size == 0:
        return np.asarray(picture)
    # Best last, so that its label is not covered.
    for row in detections[::-1]:
        label = int(row[-1])
        name = class_names[label]
        color = CLASS_COLORS.get(name, OTHER_COLORS[label % len(OTHER_COLORS)])
        text = name if len(row) == 5 else f"{name} {row[4]:.2f}"
        x1, y1, x2, y2 = (float(v) for v in row[:4])
        draw.rectangle([x1, y1, max(x1, x2 - 1), max(y1, y2 - 1)], outline=color, width=line)
        left, top, right, bottom = font.getbbox(text)
        width, height = right - left + 4, bottom - top + 4
        x = min(max(x1, 0), max(picture.width - width, 0))
        y = y1 - height if y1 >= height else min(max(y1, 0), max(picture.height - height, 0))
        draw.rectangle([x, y, x + width, y + height], fill=color)
        ink = (0, 0, 0) if sum(color) > 300 else (255, 255, 255)
        draw.text((x + 2 - left, y + 2 - top), text, fill=ink, font=font)
    return np.asarray(picture)


def image_mosaic(images, columns, gap=4):
    """Put pictures side by side on a white sheet.

    Parameters
    ----------
    images : sequence of uint8 arrays, (height, width, 3)
        Sizes may differ; each is centred in a cell of the largest height and width.
    columns : int
    gap : int
        Pixels between cells.

    Returns
    -------
    uint8 array, (height, width, 3)
    """
    images = [_as_image(image) for image in images]
    if not images or columns < 1:
        raise ValueError(f"cannot lay out {len(images)} images in {columns} columns")
    height = max(image.shape[0] for image in images)
    width = max(image.shape[1] for image in images)
    columns = min(columns, len(images))
    rows = math.ceil(len(images) / columns)
    size = (rows * (height + gap) - gap, columns * (width + gap) - gap, 3)
    sheet = np.full(size, 255, dtype=np.uint8)
    for k, image in enumerate(images):
        y = k // columns * (height + gap) + (height - image.shape[0]) // 2
        x = k % columns * (width + gap) + (width - image.shape[1]) // 2
        sheet[y : y + image.shape[0], x : x + image.shape[1]] = image
    return sheet


def save_png(path, image):
    """Write a uint8 (height, width, 3) RGB array as PNG; parent folders are made."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(_as_image(image)).save(path, format="PNG")
