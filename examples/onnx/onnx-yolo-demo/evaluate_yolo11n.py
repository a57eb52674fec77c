"""Evaluate a YOLO11n on a part of a data set: PyTensor's weights or an ONNX file.

    python evaluate_yolo11n.py runs/yolo11n/best.safetensors --data PATH
    python evaluate_yolo11n.py yolo11n.onnx --data PATH --split test --output-dir runs/evaluation

PATH is what train_yolo11n.py takes; ``coco`` and ``synthetic`` mean what it has downloaded or drawn
before.  Either kind of model goes through the same code after its raw output.  The headline is
mAP@0.5:0.95 by pycocotools: with the default settings, of the same weights and data, it is what
train_yolo11n.py prints.  The output folder receives ``metrics.json``, ``precision_recall.png``,
``confidence_curves.png``, ``confusion_matrix.png`` and ``worst_images.png``.
"""

import argparse
import json
import math
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

# Before PyTensor is imported: JAX keeps 64-bit types off then, which float32 never uses.
os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float32", os.environ.get("PYTENSOR_FLAGS")])
)

import numpy as np
from data.images import FILL, letterbox, to_corners
from dataset import SPLITS, load_split
from evaluation.detectors import ModelError, choose_classes, open_detector
from evaluation.report import (
    draw_confidence_curves,
    draw_confusion_matrix,
    draw_precision_recall,
    draw_worst_images,
)
from tqdm import tqdm
from training.checkpoint import CheckpointError
from training.run_folder import TrainingError, check_writable
from utils import DetectionMetrics, coco_scores, nms, scale_detections, without_nan

STAGES = ("preprocessing", "inference", "postprocessing")
TIMED_IMAGES = 32  # decoded once more, to time the preprocessing
WORST_IMAGES = 8
MADE = ("coco", "synthetic")  # what the demo can download and draw


class EvaluationError(Exception):
    """The data don't allow the evaluation; the message says why."""


# ------------------------------------------------------------------------------ data


def find_source(data, data_dir=None):
    """Where the data lie that ``--data`` and ``--data-dir`` name.

    Parameters
    ----------
    data : str or path-like
        ``"coco"`` and ``"synthetic"`` are what an earlier download or drawing has left.
    data_dir : path-like, optional
        Where those two lie; ``datasets/NAME`` by default.

    Returns
    -------
    Path

    Raises
    ------
    EvaluationError
        If they have to be downloaded or drawn first, or there are several downloads.
    """
    if str(data) not in MADE:
        return Path(data)
    root = Path(data_dir or Path("datasets") / data)
    if data == "synthetic":
        if not (root / "annotations" / "instances_val.json").is_file():
            command = f"python -m data.synthetic {root}"
            raise EvaluationError(f"no drawn pictures in {root}: run {command}")
        return root
    subsets = sorted(file.parent for file in root.glob("subsets/*/subset.json"))
    if not subsets:
        raise EvaluationError(f"no finished download in {root}: run python -m data.coco {root}")
    if len(subsets) > 1:
        raise EvaluationError(
            f"several downloads in {root}: choose with --data {' or '.join(map(str, subsets))}"
        )
    return subsets[0]


def open_part(path, split, classes, image_size, limit=None, workers=1, progress=False):
    """Open a part of a data set that has boxes of the classes.

    Parameters
    ----------
    path, split, classes, image_size, limit, workers, progress
        See `dataset.load_split`.

    Raises
    ------
    EvaluationError
        If the data are missing or wrong, lack a class, or hold no box of any.
    """
    try:
        dataset = load_split(
            path, split, classes, image_size, limit=limit, workers=workers, progress=progress
        )
    except (ValueError, OSError) as error:  # which say what is wrong with the data
        raise EvaluationError(str(error)) from error
    if not any(not a.get("iscrowd", 0) for a in dataset.ground_truth()["annotations"]):
        raise EvaluationError(
            f"the {len(dataset)} {split} images of {path} have no box of {', '.join(classes)}"
        )
    return dataset


def crowd_regions(dataset):
    """By image id, the ``x, y, width, height`` of its crowd regions and their class indices."""
    label = {category: k for k, category in enumerate(dataset.category_ids)}
    regions = {}
    for annotation in dataset.ground_truth()["annotations"]:
        if annotation.get("iscrowd", 0):
            boxes, labels = regions.setdefault(annotation["image_id"], ([], []))
            boxes.append(annotation["bbox"])
            labels.append(label[annotation["category_id"]])
    return regions


# ------------------------------------------------------------------------------ evaluation


@dataclass
class Evaluation:
    """Everything that an evaluation found.

    Attributes
    ----------
    metrics : DetectionMetrics
    detections : dict of int to array (n, 6)
        By image id: ``x1, y1, x2, y2`` in pixels of the original picture, score, class index.
    speed : dict
        Milliseconds per image of ``preprocessing``, ``inference`` and ``postprocessing``.
    max_detections : int
        What was kept of an image at most.
    """

    metrics: DetectionMetrics
    detections: dict
    speed: dict
    max_detections: int


def to_batch(samples, batch_size, image_size):
    """uint8 (batch, 3, size, size) of the samples' images; grey ones fill the batch up."""
    images = np.full((batch_size, 3, image_size, image_size), FILL, dtype=np.uint8)
    for row, sample in enumerate(samples):
        images[row] = sample.image.transpose(2, 0, 1)
    return images


def time_preprocessing(dataset, count=TIMED_IMAGES):
    """Median milliseconds to read and letterbox an image of the set, the first one left out."""
    times = []
    for index in range(min(count + 1, len(dataset))):
        start = time.perf_counter()
        letterbox(dataset.picture(index), dataset.image_size)
        times.append(time.perf_counter() - start)
    return 1000 * float(np.median(times[1:] or times))


def evaluate(
    detector, dataset, rows=None, confidence=0.001, iou=0.7, max_detections=300, progress=False
):
    """Run a detector over a data set and score what it finds.

    Parameters
    ----------
    detector : PyTensorDetector or OnnxDetector
        Anything with `batch_size`, `prepare` and a call.
    dataset : Dataset
        Of the detector's image size.
    rows : sequence of int, optional
        Class scores that stand for the data set's classes, in their order; all by default.
    confidence, iou : float
        Of the non-maximum suppression.
    max_detections : int
        Best so many per image are kept; raised to what an image of the set holds.
    progress : bool
        Whether to show a bar, where there is a terminal.

    Returns
    -------
    Evaluation
    """
    max_detections = max(max_detections, dataset.max_boxes)
    result = Evaluation(DetectionMetrics(dataset.classes), {}, {}, max_detections)
    regions, times = crowd_regions(dataset), {stage: [] for stage in STAGES}
    batches = predicted_batches(detector, dataset, times)
    if progress:
        total = math.ceil(len(dataset) / detector.batch_size)
        batches = tqdm(batches, total=total, desc="evaluation", unit="batch", disable=None)
    for samples, decoded in batches:
        for sample, predictions in zip(samples, decoded, strict=False):
            if rows is not None:
                predictions = predictions[[0, 1, 2, 3, *(4 + row for row in rows)]]
            begin = time.perf_counter()
            found = nms(predictions, confidence, iou, max_detections)
            moved = scale_detections(found, sample.geometry)
            times["postprocessing"].append(time.perf_counter() - begin)
            result.detections[sample.image_id] = moved
            boxes, labels = regions.get(sample.image_id, ([], []))
            result.metrics.add(
                sample.image_id,
                found,
                to_corners(sample.boxes, dataset.image_size),
                sample.classes,
                region_corners(boxes, sample.geometry),
                labels,
            )
    result.speed |= {stage: 1000 * float(np.median(values)) for stage, values in times.items()}
    result.speed["preprocessing"] += time_preprocessing(dataset)
    return result


def predicted_batches(detector, dataset, times):
    """Yield (samples, decoded predictions) of every batch, and note how long they took."""
    size, count = dataset.image_size, detector.batch_size
    detector(detector.prepare(to_batch([], count, size)))  # the first call compiles or allocates
    for first in range(0, len(dataset), count):
        samples = [dataset[k] for k in range(first, min(first + count, len(dataset)))]
        begin = time.perf_counter()
        images = detector.prepare(to_batch(samples, count, size))
        prepared = time.perf_counter()
        decoded = detector(images)
        done = time.perf_counter()
        times["preprocessing"].append((prepared - begin) / count)
        times["inference"].append((done - prepared) / count)
        yield samples, decoded


def region_corners(boxes, geometry):
    """``x, y, width, height`` in the picture to ``x1, y1, x2, y2`` (n, 4) in the square."""
    corners = np.array(boxes, dtype=np.float64).reshape(-1, 4)
    corners[:, 2:] += corners[:, :2]
    return geometry.apply(corners)


# ------------------------------------------------------------------------------ results


CAPTION = (
    "P to AP50-95: predictions not clipped to the picture; COCO50, COCO50-95: pycocotools, clipped"
)


def format_headline(coco):
    """The scores to compare, as one line of text; `coco` is of `coco_scores`."""
    return (
        f"mAP@0.5:0.95 {coco['map50_95']:.4f} (mAP@0.5 {coco['map50']:.4f}), by pycocotools: the "
        "headline, as train_yolo11n.py prints it"
    )


def _number(value, digits=3):
    return "-" if np.isnan(value) else f"{value:.{digits}f}"


def format_table(scores, coco):
    """Format the scores of all classes and each, as text for people.

    Parameters
    ----------
    scores : dict
        Of `DetectionMetrics.scores`.
    coco : dict
        Of `coco_scores`.

    Returns
    -------
    str
        A caption and the table. A dash stands where a class has no ground truth.
    """
    keys = ("precision", "recall", "ap50", "ap50_95")
    total = {"ap50": scores["map50"], "ap50_95": scores["map50_95"], **scores}
    lines = [("class", "images", "boxes", "P", "R", "AP50", "AP50-95", "COCO50", "COCO50-95")]
    for name, own, other in [
        ("all", total, coco),
        *((name, own, coco["per_class"][name]) for name, own in scores["per_class"].items()),
    ]:
        values = [*(own[key] for key in keys), other["map50"], other["map50_95"]]
        lines.append((name, str(own["images"]), str(own["boxes"]), *map(_number, values)))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = [
        [line[0].ljust(widths[0])]
        + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        for line in lines
    ]
    return "\n".join([CAPTION, *map("  ".join, rows)])


def format_coco(coco):
    """COCO's twelve scores as two lines of text."""
    precision = {"AP": "map50_95", "AP50": "map50", "AP75": "map75"}
    recall = {f"AR{limit}": f"ar_{limit}" for limit in (1, 10, 100)}
    lines = []
    for kind, head in (("map", precision), ("ar", recall)):
        keys = head | {size: f"{kind}_{size}" for size in ("small", "medium", "large")}
        lines.append("  " + ", ".join(f"{name} {_number(coco[k])}" for name, k in keys.items()))
    return "COCO's scores (pycocotools, best 100 per class):\n" + "\n".join(lines)


def write_results(folder, summary, evaluation, curves, dataset):
    """Write metrics.json and the pictures."""
    names, metrics = dataset.classes, evaluation.metrics
    text = json.dumps(without_nan(summary), indent=2)
    (folder / "metrics.json").write_text(text + "\n", encoding="utf-8")
    ap50 = [summary["metrics"]["per_class"][name]["ap50"] for name in names]
    draw_precision_recall(folder / "precision_recall.png", curves, names, ap50)
    draw_confidence_curves(folder / "confidence_curves.png", curves, names)
    draw_confusion_matrix(folder / "confusion_matrix.png", metrics.confusion, names)
    draw_worst_images(
        folder / "worst_images.png",
        dataset,
        evaluation.detections,
        metrics.mistakes(curves.best_confidence),
        curves.best_confidence,
        WORST_IMAGES,
    )


def summarize(options, detector, evaluation, curves, dataset):
    """All results as a dict that JSON can say, but for NaN."""
    return {
        "model": str(options.model),
        "data": str(options.data),
        "split": options.split,
        "classes": dataset.classes,
        "images": len(dataset),
        "image_size": detector.image_size,
        "batch_size": detector.batch_size,
        "settings": {
            "confidence": options.confidence,
            "iou": options.iou,
            "max_detections": evaluation.max_detections,
        },
        "metrics": evaluation.metrics.scores(curves),
        "coco": coco_scores(dataset, evaluation.detections, dataset.classes),
        "confusion_matrix": {
            "rows": "predicted class, background last",
            "columns": "true class, background last",
            "counts": evaluation.metrics.confusion.tolist(),
        },
        "speed_ms_per_image": evaluation.speed,
    }


def print_results(summary):
    """Print tables and speed."""
    scores, speed = summary["metrics"], summary["speed_ms_per_image"]
    print(format_headline(summary["coco"]))
    print(format_table(scores, summary["coco"]))
    print(
        f"P and R at confidence {scores['confidence']:.3f}, where F1 (mean of the classes, "
        "smoothed) is highest"
    )
    print(format_coco(summary["coco"]))
    print(
        "speed per image: "
        + ", ".join(f"{stage} {value:.2f} ms" for stage, value in speed.items())
        + f" (medians, batches of {summary['batch_size']})"
    )


# ------------------------------------------------------------------------------ command


def parse_arguments(arguments=None):
    """Parse the command line; see ``--help``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("model", type=Path, metavar="MODEL", help="best.safetensors, last.safetensors or *.onnx")
    add("--data", required=True, metavar="PATH", help="as for training; or coco, synthetic")
    add("--data-dir", type=Path, help="where coco or the synthetic set lie (datasets/NAME)")
    add("--split", choices=SPLITS, default="val", help="part of the data; default: val")
    add("--classes", nargs="+", metavar="NAME", help="score these of the model's; default: all")
    add("--image-size", type=int, help="pixels, a multiple of 32; default: the model's")
    add("--batch-size", type=int, default=16, help="if the model leaves it open; default: 16")
    add("--confidence", type=float, default=0.001, help="least score; default: 0.001")
    add("--iou", type=float, default=0.7, help="of the non-maximum suppression; default: 0.7")
    add("--max-detections", type=int, default=300, help="per image; default: 300")
    add("--output-dir", type=Path, default=Path("runs/evaluation"), help="runs/evaluation")
    add("--limit", type=int, metavar="N", help="read only the first N images")
    add("--workers", type=int, default=2, help="processes that decode pictures")
    options = parser.parse_args(arguments)
    for name in ("batch_size", "max_detections", "limit", "workers"):
        value = getattr(options, name)
        if value is not None and value < 1:
            parser.error(f"--{name.replace('_', '-')} must be at least 1, got {value}")
    for name in ("confidence", "iou"):
        value = getattr(options, name)
        if not 0 <= value < 1:
            parser.error(f"--{name} must be at least 0 and below 1, got {value}")
    if options.data_dir is not None and options.data not in MADE:
        parser.error("--data-dir is for --data coco and --data synthetic")
    size = options.image_size
    if size is not None and (size < 32 or size % 32):
        parser.error(f"--image-size must be a multiple of 32, got {size}")
    if options.classes and len(set(options.classes)) < len(options.classes):
        parser.error(f"--classes names one twice: {', '.join(options.classes)}")
    return options


def run(options):
    """Evaluate as the command line says; the summary."""
    detector = open_detector(options.model, options.image_size, options.batch_size, options.classes)
    rows = choose_classes(options.model, detector.classes, options.classes)
    names = [detector.classes[row] for row in rows]
    check_writable(options.output_dir, "--output-dir")  # before the work, which may be long
    source = find_source(options.data, options.data_dir)
    dataset = open_part(
        source,
        options.split,
        names,
        detector.image_size,
        options.limit,
        options.workers,
        progress=sys.stderr.isatty(),
    )
    kind = " (averaged weights)" if detector.averaged else ""
    print(dataset.summary())
    print(f"{options.model}{kind}: {len(dataset)} images at {detector.image_size} px")
    evaluation = evaluate(
        detector,
        dataset,
        rows,
        options.confidence,
        options.iou,
        options.max_detections,
        progress=True,
    )
    curves = evaluation.metrics.curves()
    summary = summarize(options, detector, evaluation, curves, dataset)
    print_results(summary)
    write_results(options.output_dir, summary, evaluation, curves, dataset)
    print(f"wrote {options.output_dir}")
    return summary


def main(arguments=None):
    """Evaluate as the command line says.

    Returns
    -------
    int
        The exit code.
    """
    options = parse_arguments(arguments)
    try:
        run(options)
    except (EvaluationError, ModelError, CheckpointError, TrainingError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
