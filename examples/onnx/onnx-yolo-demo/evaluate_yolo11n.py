"""Evaluate a YOLO11n on a part of a data set: PyTensor's weights or an ONNX file.

    python evaluate_yolo11n.py runs/yolo11n/best.safetensors --data PATH
    python evaluate_yolo11n.py yolo11n.onnx --data PATH --split test --output-dir runs/evaluation

PATH is a data set's folder or file, as train_yolo11n.py takes it.  Both kinds of model go through
the same code.  All scores are by pycocotools; the headline, mAP@0.5:0.95, is with the default
settings what train_yolo11n.py prints for the same weights and data.  The output folder receives
``metrics.json``, ``precision_recall.png``, ``confusion_matrix.png`` and ``worst_images.png``.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

# Before PyTensor is imported: JAX keeps 64-bit types off then, which float32 never uses.
os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float32", os.environ.get("PYTENSOR_FLAGS")])
)

import numpy as np
from dataset import SPLITS, load_split
from evaluation.detectors import ModelError, choose_classes, detect, open_detector
from evaluation.report import draw_confusion_matrix, draw_precision_recall, draw_validation
from tqdm import tqdm
from training.checkpoint import CheckpointError
from utils import DetectionMetrics, without_nan

WORST_IMAGES = 8


class EvaluationError(Exception):
    """The data don't allow the evaluation; the message says why."""


def open_part(path, split, classes, image_size, **options):
    """Open a part of a data set that has boxes of the classes.

    Parameters
    ----------
    path, split, classes, image_size, options
        See `dataset.load_split`.

    Raises
    ------
    EvaluationError
        If the data are missing or wrong, lack a class, or hold no box of any.
    """
    try:
        dataset = load_split(path, split, classes, image_size, **options)
    except (ValueError, OSError) as error:  # which say what is wrong with the data
        raise EvaluationError(str(error)) from error
    if not dataset.report["boxes"]:
        names = ", ".join(dataset.classes)
        raise EvaluationError(f"the {len(dataset)} {split} images of {path} have no box of {names}")
    return dataset


def find_objects(detector, dataset, rows=None, confidence=0.001, iou=0.7, progress=False):
    """Run a detector over a data set.

    Parameters
    ----------
    detector : PyTensorDetector or OnnxDetector
    dataset : Dataset
        Of the detector's image size.
    rows : sequence of int, optional
        Class scores that stand for the data set's classes, in their order; all by default.
    confidence, iou : float
        Of the non-maximum suppression, which keeps at most 300 of an image.
    progress : bool
        Whether to show a bar, where there is a terminal.

    Returns
    -------
    detections : dict of int to array (n, 6)
        By image id: ``x1, y1, x2, y2`` in pixels of the original picture, score, class index.
    milliseconds : float
        Per image, in the detector alone; the median of the batches.
    """
    count, size = detector.batch_size, dataset.image_size
    kept = slice(None) if rows is None else [0, 1, 2, 3, *(4 + row for row in rows)]
    detector(np.zeros((count, 3, size, size), dtype=np.uint8))  # the first call allocates
    times = []
    with tqdm(total=len(dataset), unit="image", disable=None if progress else True) as bar:

        def predict(images):
            start = time.perf_counter()
            decoded = detector(images)
            times.append(time.perf_counter() - start)
            bar.update(count)
            return decoded[:, kept]

        detections = detect(predict, dataset, count, confidence, iou)
    return detections, 1000 * float(np.median(times)) / count


def _number(value):
    return "-" if np.isnan(value) else f"{value:.3f}"


def format_table(metrics):
    """Scores of all classes and of each, as lines of text.

    Parameters
    ----------
    metrics : DetectionMetrics

    Returns
    -------
    str
        A dash stands where a class has no ground truth.
    """
    scores, coco = metrics.scores(), metrics.coco
    lines = [("class", "images", "boxes", "P", "R", "AP50", "AP50-95")]
    classes = [(name, own, coco["per_class"][name]) for name, own in scores["per_class"].items()]
    for name, own, ap in [("all", scores, coco), *classes]:
        values = own["precision"], own["recall"], ap["map50"], ap["map50_95"]
        lines.append((name, str(own["images"]), str(own["boxes"]), *map(_number, values)))
    width = max(len(name) for name, *_ in lines)
    rows = (name.ljust(width) + "".join(cell.rjust(9) for cell in cells) for name, *cells in lines)
    return "\n".join(rows)


def print_results(metrics, milliseconds):
    """Print the headline, the classes, COCO's other scores and the time of an image."""
    coco = metrics.coco
    print(f"mAP@0.5:0.95 {coco['map50_95']:.4f} (mAP@0.5 {coco['map50']:.4f}), by pycocotools")
    print(format_table(metrics))
    confidence = metrics.curves.best_confidence
    print(f"P and R at IoU 0.5 and confidence {confidence:.3f}, where the classes' F1 is highest")
    others = [f"{k} {_number(v)}" for k, v in coco.items() if k.startswith(("map", "ar_"))]
    print(f"COCO's twelve scores: {', '.join(others)}")
    print(f"{milliseconds:.2f} ms per image in the detector")


def write_results(folder, summary, metrics):
    """Write metrics.json and the pictures; the images with the most mistakes are drawn."""
    dataset, confidence = metrics.dataset, metrics.curves.best_confidence
    mistakes = metrics.mistakes(confidence)
    index_of = {image_id: k for k, image_id in enumerate(dataset.image_ids)}
    worst = [
        index_of[image_id]
        for image_id in sorted(mistakes, key=lambda i: (-sum(mistakes[i]), index_of[i]))
        if sum(mistakes[image_id])
    ][:WORST_IMAGES]
    confusion = metrics.confusion()
    summary = summary | {
        "metrics": metrics.scores(),
        "coco": metrics.coco,
        "confusion_matrix": {
            "rows": "predicted class, background last",
            "columns": "true class, background last",
            "counts": confusion.tolist(),
        },
        "worst_images": {
            dataset.file_name(k): {"missed": missed, "false": false}
            for k in worst
            for missed, false in [mistakes[dataset.image_ids[k]]]
        },
    }
    text = json.dumps(without_nan(summary), indent=2)
    (folder / "metrics.json").write_text(text + "\n", encoding="utf-8")
    draw_precision_recall(folder / "precision_recall.png", metrics)
    draw_confusion_matrix(folder / "confusion_matrix.png", confusion, dataset.classes)
    (folder / "worst_images.png").unlink(missing_ok=True)  # that of an earlier evaluation
    if worst:
        draw_validation(folder / "worst_images.png", dataset, metrics.detections, worst, confidence)


def parse_arguments(arguments=None):
    """Parse the command line; see ``--help``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("model", type=Path, metavar="MODEL", help="best.safetensors, last.safetensors or *.onnx")
    add("--data", type=Path, required=True, metavar="PATH", help="data set, as for training")
    add("--split", choices=SPLITS, default="val", help="part of the data; default: val")
    add("--classes", nargs="+", metavar="NAME", help="score these of the model's; default: all")
    add("--image-size", type=int, help="pixels, a multiple of 32; default: the model's")
    add("--batch-size", type=int, default=16, help="if the model leaves it open; default: 16")
    add("--confidence", type=float, default=0.001, help="least score; default: 0.001")
    add("--iou", type=float, default=0.7, help="of the non-maximum suppression; default: 0.7")
    add("--output-dir", type=Path, default=Path("runs/evaluation"), help="runs/evaluation")
    add("--limit", type=int, metavar="N", help="read only the first N images")
    add("--workers", type=int, default=2, help="that decode pictures; default: 2")
    options = parser.parse_args(arguments)
    if options.batch_size < 1:
        parser.error(f"--batch-size must be at least 1, got {options.batch_size}")
    if not (0 <= options.confidence < 1 and 0 <= options.iou < 1):
        parser.error("--confidence and --iou must be at least 0 and below 1")
    if options.image_size is not None and (options.image_size < 32 or options.image_size % 32):
        parser.error(f"--image-size must be a multiple of 32, got {options.image_size}")
    return options


def run(options):
    """Evaluate as the command line says; the scores."""
    detector = open_detector(options.model, options.image_size, options.batch_size)
    rows = choose_classes(options.model, detector.classes, options.classes)
    options.output_dir.mkdir(parents=True, exist_ok=True)  # before the work, which may be long
    dataset = open_part(
        options.data,
        options.split,
        [detector.classes[row] for row in rows],
        detector.image_size,
        limit=options.limit,
        workers=options.workers,
        progress=sys.stderr.isatty(),
    )
    print(dataset.summary())
    print(f"{options.model}: {len(dataset)} images at {detector.image_size} px")
    thresholds = {"confidence": options.confidence, "iou": options.iou}
    detections, milliseconds = find_objects(detector, dataset, rows, **thresholds, progress=True)
    metrics = DetectionMetrics(dataset, detections)
    print_results(metrics, milliseconds)
    summary = {
        "model": str(options.model),
        "data": str(options.data),
        "split": options.split,
        "classes": dataset.classes,
        "images": len(dataset),
        "image_size": detector.image_size,
        "batch_size": detector.batch_size,
        "settings": thresholds,
        "milliseconds_per_image": milliseconds,
    }
    write_results(options.output_dir, summary, metrics)
    print(f"wrote {options.output_dir}")
    return metrics


def main(arguments=None):
    """Evaluate as the command line says; the exit code."""
    options = parse_arguments(arguments)
    try:
        run(options)
    except (EvaluationError, ModelError, CheckpointError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
