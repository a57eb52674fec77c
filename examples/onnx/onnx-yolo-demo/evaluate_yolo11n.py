"""Evaluate a YOLO11n on a part of a data set: PyTensor's weights or an ONNX file.

    python evaluate_yolo11n.py runs/yolo11n/best.safetensors --data PATH
    python evaluate_yolo11n.py yolo11n.onnx --data PATH --split test --output-dir runs/evaluation

PATH is a data set's folder or file, as train_yolo11n.py takes it.  Both kinds of model go through
the same code.  All scores are by pycocotools; the headline, mAP@0.5:0.95, is what train_yolo11n.py
prints for the same weights and data.  The output folder receives ``metrics.json`` and
``val_detections.png``.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

# Before PyTensor is imported: JAX keeps 64-bit types off then, which float32 never uses.
os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float32", os.environ.get("PYTENSOR_FLAGS")])
)

import numpy as np
from dataset import SPLITS, load_split
from evaluation.detectors import ModelError, detect, open_detector
from evaluation.metrics import TWELVE, coco_scores, scores_by_source, without_nan
from evaluation.report import draw_validation
from training.checkpoint import CheckpointError
from training.options import SIDE

COLUMNS = {
    "boxes": "boxes",
    "precision": "P",
    "recall": "R",
    "confidence": "score",
    "map50": "AP50",
    "map50_95": "AP50-95",
}


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return "-" if np.isnan(value) else f"{value:.3f}"


def format_table(per_class: dict[str, dict[str, float]], keys: Iterable[str] = COLUMNS) -> str:
    """Return what `coco_scores` says of each class, as lines; a dash where there is no truth."""
    keys = list(keys)
    lines = [("class", *(COLUMNS[key] for key in keys))]
    lines += [(name, *(_number(own[key]) for key in keys)) for name, own in per_class.items()]
    width = max(len(name) for name, *_ in lines)
    rows = (name.ljust(width) + "".join(cell.rjust(9) for cell in cells) for name, *cells in lines)
    return "\n".join(rows)


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("model", type=Path, metavar="MODEL", help="best.safetensors, last.safetensors or *.onnx")
    add("--data", nargs="+", required=True, metavar="PATH",
        help="data set, as for training, or several, which are scored as one")  # fmt: skip
    add("--split", choices=SPLITS, default="val", help="part of the data; default: val")
    add("--image-size", type=SIDE, help="pixels, a multiple of 32; default: the model's")
    add("--output-dir", type=Path, default=Path("runs/evaluation"), help="runs/evaluation")
    add("--limit", type=int, metavar="N", help="read only the first N images")
    add("--by-source", action="store_true",
        help="also by where images are from, as `source` of a COCO file's images says")  # fmt: skip
    return parser.parse_args(arguments)


def run(options: argparse.Namespace) -> None:
    """Evaluate as the command line says."""
    detector = open_detector(options.model, options.image_size)
    options.output_dir.mkdir(parents=True, exist_ok=True)  # before the work, which may be long
    dataset = load_split(
        options.data, options.split, detector.classes, detector.image_size, limit=options.limit,
        workers=os.cpu_count() or 1, progress=sys.stderr.isatty(),
    )  # fmt: skip
    print(dataset.summary())
    print(f"{options.model}: {len(dataset)} images at {detector.image_size} px")
    detections = detect(detector, dataset, detector.batch_size, progress=True)
    scores = coco_scores(dataset, detections)
    print(f"mAP@0.5:0.95 {scores['map50_95']:.4f} (mAP@0.5 {scores['map50']:.4f}), by pycocotools")
    print(format_table(scores["per_class"]))
    print("P and R at IoU 0.5 and at the score where the class's F1 is highest")
    twelve = (f"{key} {_number(scores[key])}" for key in TWELVE)
    print(f"COCO's twelve scores: {', '.join(twelve)}")
    summary = {
        "model": str(options.model),
        "data": options.data,
        "split": options.split,
        "classes": dataset.classes,
        "images": len(dataset),
        "image_size": detector.image_size,
        "coco": scores,
    }
    if options.by_source:
        summary["by_source"] = scores_by_source(dataset, detections)
        for source, found in summary["by_source"].items():
            print(f"{source or 'no source named'}: {found['images']} images")
            print(format_table(found["per_class"], ("boxes", "map50", "map50_95")))
    text = json.dumps(without_nan(summary), indent=2)
    (options.output_dir / "metrics.json").write_text(text + "\n", encoding="utf-8")
    draw_validation(options.output_dir / "val_detections.png", dataset, detections)
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
