"""Evaluate a YOLO11n on a part of a data set: PyTensor's weights or an ONNX file.

    python evaluate_yolo11n.py runs/yolo11n/best.safetensors --data PATH
    python evaluate_yolo11n.py yolo11n.onnx --data PATH --split test --output-dir runs/evaluation
    python evaluate_yolo11n.py yolo11n.onnx --data PATH PATH --each
    python evaluate_yolo11n.py yolo11n.onnx --data PATH --thresholds --least-precision 0.8

PATH is a data set's folder or file, as train_yolo11n.py takes it.  Both kinds of model go through
the same code.  All scores are by pycocotools; the headline, mAP@0.5:0.95, is what train_yolo11n.py
prints for the same weights and data.  The output folder receives ``metrics.json`` and
``val_detections.png``, and without --each the confusion matrix and the curves of precision, recall
and F1, as tables (.csv) and as pictures (.png).
"""

import argparse
import os
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

# Before PyTensor is imported: JAX keeps 64-bit types off then, which float32 never uses.
os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float32", os.environ.get("PYTENSOR_FLAGS")])
)

import numpy as np
from commandline import Parser, existing, output_folder
from dataset import SPLITS, Dataset, load_split
from evaluation.curves import write_curves
from evaluation.detectors import (
    AS_VALIDATION,
    ModelError,
    Suppression,
    add_model_options,
    chosen_suppression,
    detect_by,
    open_detector,
)
from evaluation.metrics import (
    CONFIDENCES,
    TWELVE,
    best_confidences,
    coco_scores,
    counts_by_size,
    limit_note,
    scores_by_source,
    to_json,
)
from evaluation.report import draw_validation
from training.checkpoint import CheckpointError
from training.options import PROBABILITY, SIDE

COLUMNS = {
    "boxes": "boxes",
    "things": "things",
    "found": "found",
    "false": "false",
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "confidence": "score",
    "map50": "AP50",
    "map50_95": "AP50-95",
}
OVERLAPS = (0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7)  # of suppression, among which one is found


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return "-" if np.isnan(value) else f"{value:.3f}"


def format_table(
    rows: dict[str, dict[str, float]],
    keys: Iterable[str] = ("boxes", "precision", "recall", "confidence", "map50", "map50_95"),
) -> str:
    """Return what is known of each class, or the like, as lines; a dash for NaN."""
    keys = list(keys)
    lines = [("class", *(COLUMNS[key] for key in keys))]
    lines += [(name, *(_number(own[key]) for key in keys)) for name, own in rows.items()]
    width = max(len(name) for name, *_ in lines)
    texts = (name.ljust(width) + "".join(cell.rjust(9) for cell in cells) for name, *cells in lines)
    return "\n".join(texts)


def format_sets(summaries: list[dict[str, Any]]) -> str:
    """Return a table, in Markdown, with a row for each data set."""
    classes = summaries[0]["classes"]
    heads = [f"{name} AP@0.5" for name in classes]
    heads += [f"{name} recall, precision" for name in classes]
    rows = [["set", *heads, "wholly right"]]
    rows.append(["---"] * len(rows[0]))
    for summary in summaries:
        scores, drawn = summary["coco"]["per_class"], summary["drawn"]
        counts = [drawn["per_class"][name]["all"] for name in classes]
        rows.append([
            f"{summary['data'][0]} ({summary['images']})",
            *(_number(scores[name]["map50"]) for name in classes),
            *(f"{_number(own['recall'])}, {_number(own['precision'])}" for own in counts),
            f"{drawn['wholly_right']} of {drawn['complete']}",
        ])  # fmt: skip
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = Parser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("model", type=Path, metavar="MODEL", help="best.safetensors, last.safetensors or *.onnx")
    add("--data", nargs="+", required=True, type=existing, metavar="PATH",
        help="data set, as for training; several are scored as one")  # fmt: skip
    add("--each", action="store_true", help="score several data sets one by one")
    add("--split", choices=SPLITS, default="val", help="part of the data; default: val")
    add("--image-size", type=SIDE, help="pixels, a multiple of 32; default: the model's")
    add("--output-dir", type=output_folder, default="runs/evaluation",
        help="folder of the results; default: runs/evaluation")  # fmt: skip
    add("--limit", type=int, metavar="N", help="read only the first N images")
    add("--with-class", metavar="CLASS",
        help="only pictures that show this class and are labelled for it")  # fmt: skip
    add("--by-source", action="store_true",
        help="also score by the `source` of a COCO file's images")  # fmt: skip
    add("--confidence", nargs="+", default=[], metavar="SCORE",
        help="least score of a box that counts as drawn, or of single classes, as CLASS=SCORE; "
        "default: the model's")  # fmt: skip
    add("--iou", type=PROBABILITY,
        help="overlap from which a box is suppressed; default: the model's")  # fmt: skip
    add("--thresholds", action="store_true",
        help="find the confidence of each class, and the overlap, with the highest F1")  # fmt: skip
    add("--least-precision", type=PROBABILITY, metavar="P",
        help="with --thresholds: the highest recall with at least this precision, if there is a "
        "confidence with it")  # fmt: skip
    add_model_options(add)
    options = parser.parse_args(arguments)
    if options.least_precision is not None and not options.thresholds:
        parser.error("--least-precision needs --thresholds")
    return options


def evaluate(options: argparse.Namespace, detector: Any, paths: list[str], picture: str) -> dict:
    """Score a detector on data sets as one, and print and draw that; return what is known."""
    dataset = load_split(
        paths, options.split, detector.classes, detector.image_size, limit=options.limit,
        shown=options.with_class, workers=os.cpu_count() or 1, progress=sys.stderr.isatty(),
    )  # fmt: skip
    print(dataset.summary())
    print(f"{options.model}: {len(dataset)} images at {detector.image_size} px")
    shown = chosen_suppression(detector, options.confidence, options.iou)
    ways = [AS_VALIDATION, shown]
    if options.thresholds:
        ways += [Suppression(CONFIDENCES[0], iou) for iou in OVERLAPS]
    detections, drawn, *others = detect_by(
        ways, detector, dataset, detector.batch_size, progress=True
    )
    scores, counts = coco_scores(dataset, detections), counts_by_size(dataset, drawn)
    print(f"mAP@0.5:0.95 {scores['map50_95']:.4f} (mAP@0.5 {scores['map50']:.4f}), by pycocotools")
    print(format_table(scores["per_class"]))
    print("P and R at IoU 0.5 and at the score where the class's F1 is highest")
    if note := limit_note(scores):
        print(note)
    twelve = (f"{key} {_number(scores['twelve'][key])}" for key in TWELVE)
    print(f"COCO's twelve scores: {', '.join(twelve)}")
    texts = (
        f"{name} {value:g}" for name, value in zip(detector.classes, shown.confidence, strict=True)
    )
    print(
        f"drawn from scores of {', '.join(texts)} on, suppressed from an overlap of "
        f"{shown.iou:g} on: {counts['wholly_right']} of {counts['complete']} images that are "
        "labelled for all classes are wholly right"
    )
    rows = {
        name if size == "all" else f"{name}, {size}": own
        for name, sizes in counts["per_class"].items()
        for size, own in sizes.items()
    }
    print(format_table(rows, ("things", "found", "false", "recall", "precision")))
    summary = {
        "model": str(options.model),
        "data": paths,
        "split": options.split,
        "classes": dataset.classes,
        "images": len(dataset),
        "image_size": detector.image_size,
        "coco": scores,
        "drawn": {"confidence": shown.confidence.tolist(), "iou": shown.iou, **counts},
    }
    if options.with_class:
        summary["with_class"] = options.with_class
    if options.thresholds:
        summary["thresholds"] = thresholds(dataset, others, options.least_precision)
    if options.by_source:
        summary["by_source"] = scores_by_source(dataset, detections)
        for source, found in summary["by_source"].items():
            print(f"{source or 'no source named'}: {found['images']} images")
            print(format_table(found["per_class"], ("boxes", "map50", "map50_95")))
    draw_validation(options.output_dir / picture, dataset, detections)
    if not options.each:
        write_curves(options.output_dir, dataset, detections)
    return summary


def thresholds(
    dataset: Dataset, detections: list[dict[int, np.ndarray]], least_precision: float | None
) -> dict[str, Any]:
    """Find and print the confidence of each class, and the overlap with the highest mean F1.

    `detections` are those suppressed at each of `OVERLAPS`.
    """
    found = [best_confidences(dataset, own, least_precision) for own in detections]
    rows = {
        f"{name}, overlap {iou:g}": own
        for iou, per_class in zip(OVERLAPS, found, strict=True)
        for name, own in per_class.items()
    }
    print(format_table(rows, ("confidence", "precision", "recall", "f1")))
    means = [np.nanmean([own["f1"] for own in per_class.values()]) for per_class in found]
    best = int(np.argmax(means))
    known = {name: own for name, own in found[best].items() if not np.isnan(own["f1"])}
    texts = (shlex.quote(f"{name}={own['confidence']:.2f}") for name, own in known.items())
    print(
        f"best: --confidence {' '.join(texts)} --iou {OVERLAPS[best]:g}, mean F1 {means[best]:.3f}"
    )
    return {"iou": OVERLAPS[best], "per_class": found[best]}


def run(options: argparse.Namespace) -> None:
    """Evaluate as the command line says."""
    detector = open_detector(
        options.model, options.image_size, form=options.form, names=options.names,
        classes=options.classes,
    )  # fmt: skip
    options.output_dir.mkdir(parents=True, exist_ok=True)  # before the work, which may be long
    if options.each:
        sets = []
        for number, path in enumerate(options.data, 1):
            picture = f"val_detections_{number}.png"
            sets.append(evaluate(options, detector, [path], picture))
        print(format_sets(sets))
        content: dict[str, Any] = {"sets": sets}
    else:
        content = evaluate(options, detector, options.data, "val_detections.png")
    (options.output_dir / "metrics.json").write_bytes(to_json(content))
    print(f"wrote {options.output_dir}")


def main(arguments: list[str] | None = None) -> int:
    """Evaluate as the command line says; the exit code."""
    options = parse_arguments(arguments)
    try:
        run(options)
    except (ModelError, CheckpointError, ValueError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
