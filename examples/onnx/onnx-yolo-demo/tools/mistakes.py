"""Lists what a detector finds wrongly in a data set, and what it misses, as its page would draw.

    python -m tools.mistakes MODEL --data PATH
    python -m tools.mistakes MODEL --data PATH --draw FOLDER    # with pictures of the first ones

False detections come with the highest score first, misses with the largest first. In the pictures
the mistake is drawn with its name, and everything that is labelled without.
"""

import os
import sys
from collections import Counter
from pathlib import Path

# Before PyTensor is imported: JAX keeps 64-bit types off then, which float32 never uses.
os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float32", os.environ.get("PYTENSOR_FLAGS")])
)

import numpy as np
from commandline import Parser, existing, output_folder
from data.images import to_corners
from dataset import SPLITS, load_split
from evaluation.detectors import ModelError, chosen_suppression, detect, open_detector
from evaluation.metrics import SIZES, mistakes
from evaluation.report import draw_detections, image_mosaic
from PIL import Image
from training.checkpoint import CheckpointError
from training.options import PROBABILITY, SIDE

OVERLAPS = {"next to things": 0.1, "badly placed": float("inf")}  # IoUs below these


def counted(rows, key, limits):
    """Return in words how many rows of each class have a number below each limit."""
    kinds = (next(kind for kind, limit in limits.items() if row[key] < limit) for row in rows)
    counts = Counter(zip((row["class"] for row in rows), kinds, strict=True))
    return ", ".join(f"{name} {kind} {count}" for (name, kind), count in sorted(counts.items()))


def draw(dataset, rows):
    """Return a sheet with the pictures of some mistakes, uint8 (height, width, 3)."""
    pictures = []
    for row in rows:
        place = dataset.image_ids.index(row["image_id"])
        sample = dataset[place]
        corners = sample.geometry.undo(to_corners(sample.boxes, dataset.image_size))
        labelled, nameless = np.column_stack([corners, sample.classes]), [""] * len(corners)
        picture = draw_detections(dataset.picture(place), labelled, dataset.classes, nameless)
        label = dataset.classes.index(row["class"])
        mistake = [*row["box"], *([row["score"]] if "score" in row else []), label]
        pictures.append(draw_detections(picture, [mistake], dataset.classes))
    return image_mosaic(pictures, columns=5)


def draw_mistakes(path, dataset, drawn, count=10):
    """Draw a sheet of the first mistakes of detections, half of them misses where there are any."""
    false, missed = mistakes(dataset, drawn)
    rows = [*missed[: count // 2], *false[: count // 2]]
    if rows:
        Image.fromarray(draw(dataset, rows)).save(path)


def run(options):
    """List the mistakes as the command line says."""
    detector = open_detector(options.model, options.image_size)
    dataset = load_split(options.data, options.split, detector.classes, detector.image_size)
    drawn = chosen_suppression(detector, options.confidence, options.iou)
    found = detect(detector, dataset, detector.batch_size, progress=True, suppression=drawn)
    false, missed = mistakes(dataset, found)
    print(f"{len(dataset)} images, {sum(map(len, found.values()))} detections")
    print(f"{len(false)} false detections: {counted(false, 'overlap', OVERLAPS)}")
    print(f"{len(missed)} things missed: {counted(missed, 'area', SIZES)}")
    for name, rows in (("false", false), ("missed", missed)):
        for row in rows[: options.count]:
            file = dataset.file_name(dataset.image_ids.index(row["image_id"]))
            corners = " ".join(f"{value:.0f}" for value in row["box"])
            score = f" score {row['score']:.2f}, IoU {row['overlap']:.2f}" if "score" in row else ""
            print(f"{name}: {file}: {row['class']} at {corners}{score}")
        if options.draw and rows:
            options.draw.mkdir(parents=True, exist_ok=True)
            sheet = Image.fromarray(draw(dataset, rows[: options.count]))
            sheet.save(options.draw / f"{name}.png")


def main(arguments=None):
    """List mistakes as the command line says; return the exit code."""
    parser = Parser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("model", type=Path, metavar="MODEL", help="weights (.safetensors) or an ONNX file")
    add("--data", required=True, type=existing, metavar="PATH", help="data set, as for training")
    add("--split", choices=SPLITS, default="val", help="part of the data; default: val")
    add("--image-size", type=SIDE, help="pixels, a multiple of 32; default: the model's")
    add("--confidence", nargs="+", default=[], metavar="SCORE",
        help="least score, or of single classes, as CLASS=SCORE; default: the model's")  # fmt: skip
    add("--iou", type=PROBABILITY,
        help="overlap from which a box is suppressed; default: the model's")  # fmt: skip
    add("--count", type=int, default=10, metavar="N",
        help="mistakes of each kind to list; default: 10")  # fmt: skip
    add("--draw", type=output_folder, metavar="FOLDER", help="folder for pictures of them")
    options = parser.parse_args(arguments)
    try:
        run(options)
    except (ModelError, CheckpointError, ValueError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
