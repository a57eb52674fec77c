"""Run a detector on pictures, films and cameras.

    python detect.py MODEL photo.jpg folder 'shots/*.png'         # boxes drawn, into runs/detect
    python detect.py MODEL film.mp4 --save drawn json             # things in films are numbered
    python detect.py MODEL 0                                      # a camera; Ctrl-C ends it
    python detect.py MODEL folder --save yolo --out boxes         # correct them, then --data boxes

MODEL is ``real`` (the weights of the repository), a .safetensors or an .onnx file. Films, cameras
and addresses such as rtsp://… need OpenCV or PyAV. The exit code is 1 if something couldn't be
read, 0 else.
"""

import contextlib
import glob
import itertools
import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

# Before PyTensor is imported: JAX keeps 64-bit types off then, which float32 never uses.
os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float32", os.environ.get("PYTENSOR_FLAGS")])
)

import numpy as np
from commandline import Parser, check_unused, output_folder
from data.images import PictureError, read_image
from data.places import find_pictures
from evaluation.detectors import (
    ModelError,
    add_model_options,
    chosen_suppression,
    detect_in,
    open_detector,
)
from evaluation.films import FILMS, USUAL_RATE, FilmError, FilmWriter, frames
from evaluation.report import draw_detections
from evaluation.tracking import KNOWN, Tracker
from PIL import Image
from tqdm import tqdm
from training.checkpoint import CheckpointError
from training.options import ONE_OR_MORE, PROBABILITY, SIDE

SHORTEST = 1e-3  # seconds between two frames of a film whose times are wrong
KINDS = ("drawn", "json", "coco", "yolo", "crops")
LABELS = ("images", "labels", "classes.txt", "coco.json")  # what COCO's and YOLO's kinds write


class Seen(NamedTuple):
    """Hold the detections in a picture or a frame."""

    name: str  # of the picture, with slashes, without its ending
    pixels: np.ndarray  # uint8 (height, width, 3)
    found: np.ndarray  # float (n, 6): x1, y1, x2, y2, score, class
    numbers: list  # of the things, 0 where there is none


# ------------------------------------------------------------------------------ sources


def is_film(source):
    """Return whether a source is a film, a camera's number or an address."""
    return source.isdecimal() or "://" in source or Path(source).suffix.lower() in FILMS


def expanded(sources):
    """Return (source, name without ending) of the pictures and films that sources mean.

    FileNotFoundError if a source means none.
    """
    found = []
    for source in sources:
        path = Path(source).expanduser()
        if path.is_dir():
            files = [str(file) for file in find_pictures(path)]
            files += [str(f) for f in sorted(path.rglob("*")) if f.suffix.lower() in FILMS]
            own = [(f, Path(f).relative_to(path).with_suffix("").as_posix()) for f in files]
        elif path.is_file():
            own = [(str(path), path.stem)]
        elif source.isdecimal() or "://" in source:
            own = [(source, f"camera_{source}" if source.isdecimal() else "stream")]
        else:
            matches = sorted(glob.glob(os.path.expanduser(source), recursive=True))
            own = [(each, Path(each).stem) for each in matches if Path(each).is_file()]
        if not own:
            raise FileNotFoundError(f"{source}: no picture or film there")
        found += own
    names = {}  # of the sources: pictures of several folders may have one name
    for source, name in found:
        free = (name if k == 1 else f"{name}_{k}" for k in itertools.count(1))
        names[next(each for each in free if each not in names)] = source
    return [(source, name) for name, source in names.items()]


# ------------------------------------------------------------------------------ files


class Output:
    """Writes what is found into a folder, as ``--save`` says."""

    def __init__(self, folder, kinds, classes):
        self.folder, self.kinds, self.classes = folder, kinds, classes
        self.pictures, self.boxes = [], Counter()
        self.images, self.annotations = [], []

    def path(self, *parts):
        """Return the path of a file, whose folder is made."""
        path = self.folder.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def drawn(self, seen):
        """Return the picture with its boxes, and the numbers of things that are followed."""
        labels = (self.classes[int(row[5])] for row in seen.found)
        numbered = zip(labels, seen.numbers, strict=True)
        names = [f"{name} {number}" if number else name for name, number in numbered]
        return draw_detections(seen.pixels, seen.found, self.classes, names)

    def add(self, seen, of_film):
        """Write what is found in a picture, or in a frame of a film."""
        height, width = seen.pixels.shape[:2]
        self.boxes.update(self.classes[int(row[5])] for row in seen.found)
        things = [
            {
                "name": self.classes[int(row[5])], "score": round(row[4], 4),
                **dict(zip(("x1", "y1", "x2", "y2"), (round(v, 2) for v in row[:4]), strict=True)),
                **({"number": number} if number else {}),
            }
            for row, number in zip(seen.found.tolist(), seen.numbers, strict=True)
        ]  # fmt: skip
        self.pictures.append(
            {"title": seen.name, "width": width, "height": height, "detections": things}
        )
        if "drawn" in self.kinds and not of_film:
            Image.fromarray(self.drawn(seen)).save(self.path("drawn", f"{seen.name}.jpg"))
        if {"coco", "yolo"} & {*self.kinds}:
            Image.fromarray(seen.pixels).save(self.path("images", f"{seen.name}.jpg"), quality=95)
        if "yolo" in self.kinds:
            self._add_yolo(seen, width, height)
        if "coco" in self.kinds:
            self._add_coco(seen, width, height)
        if "crops" in self.kinds:
            for k, row in enumerate(seen.found.tolist(), 1):
                x1, y1, x2, y2 = (round(value) for value in row[:4])
                crop = seen.pixels[y1 : max(y2, y1 + 1), x1 : max(x2, x1 + 1)]
                if crop.size:
                    name = self.classes[int(row[5])]
                    Image.fromarray(crop).save(self.path("crops", name, f"{seen.name}_{k}.jpg"))

    def _add_yolo(self, seen, width, height):
        lines = []
        for x1, y1, x2, y2, _, label in seen.found.tolist():
            box = (x1 + x2) / 2 / width, (y1 + y2) / 2 / height, (x2 - x1) / width
            numbers = " ".join(f"{value:.6f}" for value in (*box, (y2 - y1) / height))
            lines.append(f"{int(label)} {numbers}\n")
        self.path("labels", f"{seen.name}.txt").write_text("".join(lines), encoding="utf-8")

    def _add_coco(self, seen, width, height):
        number = len(self.images) + 1
        name = f"{seen.name}.jpg"
        self.images.append({"id": number, "file_name": name, "width": width, "height": height})
        for x1, y1, x2, y2, score, label in seen.found.tolist():
            box = [round(value, 2) for value in (x1, y1, x2 - x1, y2 - y1)]
            self.annotations.append({
                "id": len(self.annotations) + 1, "image_id": number, "category_id": int(label) + 1,
                "bbox": box, "area": round(box[2] * box[3], 2), "iscrowd": 0,
                "score": round(score, 4),
            })  # fmt: skip

    def close(self, model):
        """Write the files of all pictures together."""
        if "json" in self.kinds:
            content = {"model": str(model), "classes": self.classes, "pictures": self.pictures}
            self.path("detections.json").write_text(json.dumps(content, indent=2) + "\n")
        if "coco" in self.kinds:
            categories = [{"id": k, "name": name} for k, name in enumerate(self.classes, 1)]
            content = {"images": self.images, "annotations": self.annotations}
            content["categories"] = categories
            self.path("coco.json").write_text(json.dumps(content) + "\n")
        if "yolo" in self.kinds:
            self.path("classes.txt").write_text("\n".join(self.classes) + "\n", encoding="utf-8")


# ------------------------------------------------------------------------------ running


@contextlib.contextmanager
def until_interrupted(name):
    """Let Ctrl-C end a camera: what was seen until then is kept."""
    try:
        yield
    except KeyboardInterrupt:
        print(f"{name}: stopped")


def detect_in_film(source, name, find, thresholds, output, every):
    """Detect in the frames of a film or a camera; things are followed and numbered."""
    tracker, before = Tracker(thresholds), 0.0
    bar = tqdm(frames(source), desc=name, unit="frame", disable=None)
    with contextlib.ExitStack() as stack:
        film = None
        if "drawn" in output.kinds:
            path = output.path("drawn", f"{name}.mp4")
            film = stack.enter_context(FilmWriter(path, USUAL_RATE / every))
        stack.enter_context(until_interrupted(name))
        for count, (seconds, pixels) in enumerate(bar):
            if count % every:
                continue
            weak = find(pixels, KNOWN * thresholds)
            found, numbers = tracker.update(weak, max(seconds - before, SHORTEST))
            before = seconds
            seen = Seen(f"{name}_frame_{count:06d}", pixels, found, numbers)
            output.add(seen, of_film=True)
            if film is not None:
                film.write(output.drawn(seen))
    for label, count in sorted(tracker.seen.items()):
        print(f"{name}: {count} different {output.classes[label]}")


def run(options):
    """Detect as the command line says; return the sources that couldn't be read."""
    sources = expanded(options.source)
    if {"coco", "yolo"} & {*options.save}:
        check_unused(options.out, LABELS, options.overwrite)
    detector = open_detector(
        options.model, options.image_size, 1, options.form, options.names, options.classes
    )
    suppression = chosen_suppression(detector, options.confidence, options.iou)
    output = Output(options.out, options.save, detector.classes)

    thresholds = np.broadcast_to(np.float64(suppression.confidence), len(detector.classes))

    def find(pixels, confidence):
        return detect_in(detector, pixels, confidence, suppression.iou)

    failed, pictures = [], [each for each in sources if not is_film(each[0])]
    for source, name in tqdm(pictures, unit="picture", disable=None):
        try:
            pixels = read_image(source)
        except (FileNotFoundError, PictureError) as error:
            failed.append(f"{source}: {error}")
            continue
        found = find(pixels, suppression.confidence)
        output.add(Seen(name, pixels, found, [0] * len(found)), of_film=False)
    for source, name in sources:
        if is_film(source):
            try:
                detect_in_film(source, name, find, thresholds, output, options.every)
            except FilmError as error:
                failed.append(str(error))
    output.close(options.model)
    counts = ", ".join(f"{name} {count}" for name, count in output.boxes.items()) or "nothing"
    print(f"{len(output.pictures)} pictures: {counts}; in {options.out}")
    if {"coco", "yolo"} & {*options.save}:
        print(f"correct the boxes in a labelling program, then train with --data {options.out}")
    return failed


def main(arguments=None):
    """Detect as the command line says; return the exit code."""
    parser = Parser(description=(__doc__ or "").partition("\n")[0], allow_abbrev=False)
    add = parser.add_argument
    add("model", metavar="MODEL", help="real, weights (.safetensors) or an ONNX file")
    add("source", nargs="+", metavar="SOURCE",
        help="picture, folder, pattern, film, number of a camera, or address")  # fmt: skip
    add("--out", type=output_folder, default="runs/detect", metavar="FOLDER",
        help="folder of the results; default: runs/detect")  # fmt: skip
    add("--save", nargs="+", choices=KINDS, default=["drawn"],
        help="pictures with boxes, JSON, COCO's or YOLO's labels (with the pictures, as --data "
        "takes them), cut-out things; default: drawn")  # fmt: skip
    add("--overwrite", action="store_true", help="replace labels that the folder has")
    add("--confidence", nargs="+", default=[], metavar="SCORE",
        help="least score, or of single classes, as CLASS=SCORE; default: the model's")  # fmt: skip
    add("--iou", type=PROBABILITY,
        help="overlap from which a box is suppressed; default: the model's")  # fmt: skip
    add("--every", type=ONE_OR_MORE, default=1, metavar="N",
        help="detect in every Nth frame of a film; default: 1")  # fmt: skip
    add("--image-size", type=SIDE, help="pixels, a multiple of 32; default: the model's")
    add_model_options(add)
    try:
        failed = run(parser.parse_args(arguments))
    except (ModelError, CheckpointError, ValueError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    for text in failed:
        print(f"not read: {' '.join(text.split())}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
