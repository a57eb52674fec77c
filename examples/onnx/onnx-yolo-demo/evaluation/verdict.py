"""Judge a score: its interval by bootstrap, and which pictures to label next."""

from collections import Counter

import numpy as np
from evaluation.detectors import as_drawn
from evaluation.metrics import matches, mistakes

SAMPLES = 1000  # of the bootstrap
FEW_IMAGES = 10  # of which a score tells nothing
WIDE = 0.1  # half of an interval from which on a score tells little
NAMED = 3  # classes of a line, at most
BEHIND = 0.1  # AP@0.5, below the others' median
FEW_BOXES = 10  # of a class, of which its score tells nothing
NOTHING = 0.01  # mAP@0.5 of a model that has learned nothing
_RECALLS = np.linspace(0, 1, 101)  # COCO's


def map50_interval(dataset, detections, seed=0):
    """Compute the interval in which mAP@0.5 is for 95 of 100 validation sets of the same kind.

    The images are drawn again, with replacement, `SAMPLES` times (Efron's bootstrap, percentiles).
    A class without ground truth in a draw doesn't count there.

    Returns
    -------
    (float, float)
    """
    place = {image_id: k for k, image_id in enumerate(dataset.image_ids)}
    found, things = matches(dataset, detections)
    found.sort(key=lambda pair: -pair[0]["score"])
    classes = []
    for name in dataset.classes:
        own = [(place[row["image_id"]], right) for row, right in found if row["class"] == name]
        true = [place[row["image_id"]] for row, _ in things if row["class"] == name]
        if true:
            owner, right = np.array(own, int).reshape(-1, 2).T
            counts = np.bincount(true, minlength=len(dataset))
            classes.append((owner, right.astype(float), counts))
    rng, means = np.random.default_rng(seed), []
    for _ in range(SAMPLES):
        weight = np.bincount(rng.integers(0, len(dataset), len(dataset)), minlength=len(dataset))
        scores = [
            average_precision(weight[owner], right, int(counts @ weight))
            for owner, right, counts in classes
            if counts @ weight
        ]
        means.append(np.mean(scores) if scores else np.nan)
    low, high = np.nanpercentile(means, [2.5, 97.5])
    return float(low), float(high)


def average_precision(weight, right, count):
    """Compute COCO's average precision of detections, the best first, of `count` things.

    `weight`, how often each detection is there, and `right`, 0 or 1, are arrays (n,).
    """
    true = np.cumsum(weight * right)
    precision = true / np.maximum(np.cumsum(weight), 1)
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    reached = np.searchsorted(true / count, _RECALLS, side="left")
    return float(np.append(envelope, 0.0)[np.minimum(reached, len(envelope))].mean())


def verdict(dataset, detections, result, train_report):
    """Return lines that say what a model's scores are worth, and what to label next.

    `detections` are a validation's; detections above a page's thresholds are looked at, too.
    `result` is what `metrics.coco_map` says, `train_report` the `report` of the training set.
    """
    count, map50 = len(dataset), result["map50"]
    low, high = map50_interval(dataset, detections)
    drawn = as_drawn(detections)
    lines = [
        f"mAP@0.5 is {map50:.2f} on {count} images with {dataset.report['boxes']} boxes; with "
        f"others of the same kind, {low:.2f} to {high:.2f} (95 of 100 times)"
    ]
    if count < FEW_IMAGES:
        lines.append(f"  {count} images tell nothing: label at least 30 for the validation")
    elif high - low > 2 * WIDE:
        lines.append("  that tells little: more labelled images for the validation narrow it")
    held_out = dataset.report["per_class"]
    rows = [
        (name, result["per_class"][name]["map50"], train_report["per_class"][name])
        for name in held_out
    ]
    if few := sorted((boxes, name) for name, boxes in held_out.items() if boxes < FEW_BOXES):
        said = [f"{name} ({boxes})" for boxes, name in few[:NAMED]]
        lines.append(
            f"  {len(few)} of {len(held_out)} classes have less than {FEW_BOXES} boxes for "
            f"validation, which tell nothing: {', '.join([*said, '…'][: len(few)])}"
        )
    lines.append(label_first(rows))
    if wrong := worst_images(dataset, drawn):
        said = [f"{name} ({missed} missed, {false} false)" for name, missed, false in wrong]
        lines.append(f"  most mistakes (mistakes.png shows some): {', '.join(said)}")
    return lines


def label_first(rows):
    """Return the line that names the classes to label first, of (name, AP@0.5, boxes in training).

    They are the worst of those that are `BEHIND` or more below the median of the other classes: a
    smaller difference may be chance. A class that validation lacks has NaN.
    """
    known = sorted((row for row in rows if not np.isnan(row[1])), key=lambda row: row[1])
    others = [[other[1] for other in known if other is not row] for row in known]
    worst = [
        f"{name} (AP@0.5 {ap:.2f}, {boxes} boxes in training)"
        for (name, ap, boxes), own in zip(known, others, strict=True)
        if own and ap <= np.median(own) - BEHIND
    ]
    if len(known) < 2:  # no class is behind others
        return "  label more images"
    if not worst:
        return f"  label more of every class: none is far behind the others ({BEHIND} in AP@0.5)"
    return f"  label more of these first: {', '.join(worst[:NAMED])}"


def worst_images(dataset, drawn, count=3):
    """Return (file name, things missed, false detections) of the images with most mistakes.

    `drawn` are the detections as a page draws them.
    """
    false, missed = mistakes(dataset, drawn)
    counts = [Counter(row["image_id"] for row in rows) for rows in (missed, false)]
    errors = Counter()
    for own in counts:
        errors.update(own)
    place = {image_id: k for k, image_id in enumerate(dataset.image_ids)}
    return [
        (dataset.file_name(place[image_id]), *(own[image_id] for own in counts))
        for image_id, _ in errors.most_common(count)
    ]
