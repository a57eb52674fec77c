"""Labels pictures by a detector, as a data set in COCO's format to correct and to train with.

    python -m tools.prelabel MODEL PICTURES --out FOLDER
    python -m tools.prelabel MODEL PICTURES --out FOLDER --fill --classes person

PICTURES is a folder of pictures, or the annotation file of a data set in COCO's format.  MODEL is
any detector of `evaluation.detectors`.  Boxes from --confidence on are labels; those from
--uncertain on are regions that are neither object nor background (``"iscrowd": 1, "uncertain":
true``).  Every annotation has the detector's ``score``.  FOLDER gets
``annotations/instances_train.json``, and links to the pictures in ``images/train``.
"""

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
from data.finding import find, undivided
from data.formats import read_coco
from data.forms import FormPart
from data.images import PictureError, read_image
from data.listing import SPLITS, PartMissingError, Picture
from data.places import find_pictures
from evaluation.detectors import ModelError, add_model_options, detect_in, open_detector
from pycocotools import mask
from tqdm import tqdm
from training.checkpoint import CheckpointError
from training.options import PROBABILITY, SIDE
from utils import box_iou

SAME = 0.5  # IoU from which on two boxes are of one object
TARGET = "annotations/instances_train.json"  # in the folder of the data set
LOWEST = 0.01  # score of what may be averaged with a box of the mirror image


class Given(NamedTuple):
    """Pictures to label, and the data set that they are from; a folder says nothing of them."""

    pictures: list  # of Picture
    coco: dict  # content of the annotation file
    complete: dict  # ids of the categories that an image is labelled for, by its id
    unusable: dict  # why an image can't be used, by its id


def read_given(path):
    """Read a folder of pictures, or an annotation file in COCO's format, as `Given`."""
    if path.is_dir():
        files = sorted(find_pictures(path))
        if not files:
            raise ValueError(f"{path} holds no picture; for a data set, give its annotation file")
        pictures = [
            Picture(file.relative_to(path).as_posix(), str(file), number, None)
            for number, file in enumerate(files, 1)
        ]
        images = [{"id": number} for number in range(1, len(files) + 1)]
        return Given(pictures, {"images": images, "annotations": [], "categories": []}, {}, {})
    if path.suffix.lower() != ".json":
        raise ValueError(f"{path} is no folder of pictures, and no COCO annotation file (.json)")
    listing = _whole(path)
    labelled = listing.labelled
    if labelled is None:
        labelled = np.ones((len(listing.pictures), len(listing.classes)), bool)
    numbers, ids = np.array(listing.category_ids), [each.image_id for each in listing.pictures]
    complete = {key: numbers[row].tolist() for key, row in zip(ids, labelled, strict=True)}
    unusable = {ids[place]: reason for place, reason in listing.excluded.items()}
    return Given(listing.pictures, listing.coco, complete, unusable)


def _whole(path):
    """Read an annotation file, whichever part of a data set it is, with all its pictures."""
    for split in SPLITS:
        try:
            found = undivided(find(path, split))
        except PartMissingError as error:
            missing = error
            continue
        if isinstance(found, FormPart):
            raise ValueError(f"{path} is {found.form.title}'s, not a COCO annotation file")
        if found[0].samefile(path):  # and not the file of another part
            return read_coco(*found)
    raise missing


def averaged(plain, mirrored):
    """Average the detections in a picture and in its mirror image, both in the picture's pixels.

    Boxes of a class whose IoU is at least `SAME` become their mean, weighted by score, with the
    mean of the scores; a box without a partner has half its score. All are (n, 6), as of `nms`.
    """
    overlaps = box_iou(plain[:, :4], mirrored[:, :4])
    overlaps[plain[:, None, 5] != mirrored[None, :, 5]] = 0
    rows, alone = [], np.ones(len(mirrored), bool)
    for row, own in zip(plain, overlaps, strict=True):  # the best first
        partner = max(np.flatnonzero(alone & (own >= SAME)), key=own.__getitem__, default=None)
        if partner is None:
            rows.append([*row[:4], row[4] / 2, row[5]])
            continue
        alone[partner] = False
        pair = np.stack([row, mirrored[partner]])
        box = np.average(pair[:, :4], axis=0, weights=pair[:, 4])
        rows.append([*box, pair[:, 4].mean(), row[5]])
    rows += [[*row[:4], row[4] / 2, row[5]] for row in mirrored[alone]]
    return np.reshape(rows, (-1, 6))


def find_boxes(detector, pixels, options):
    """Return the detections in a picture, (n, 6), from `options.uncertain` on."""
    if options.mirror:
        plain = detect_in(detector, pixels, LOWEST, options.iou)
        other = detect_in(detector, pixels[:, ::-1], LOWEST, options.iou)
        other[:, [0, 2]] = pixels.shape[1] - other[:, [2, 0]]
        found = averaged(plain, other)
    else:
        found = detect_in(detector, pixels, options.uncertain, options.iou)
    return found[found[:, 4] >= options.uncertain]


def annotations_of(found, category_ids, options):
    """Return COCO's annotations, without ids, of detections (n, 6) that have an area."""
    made = []
    for x1, y1, x2, y2, score, label in found.tolist():
        box = [round(value, 2) for value in (x1, y1, x2 - x1, y2 - y1)]
        if min(box[2:]) <= 0:
            continue
        own = {
            "category_id": category_ids[int(label)],
            "bbox": box,
            "area": round(box[2] * box[3], 2),
        }
        uncertain = score < options.confidence
        own |= {"iscrowd": int(uncertain), "score": round(score, 4)}
        made.append(own | ({"uncertain": True} if uncertain else {}))
    return made


def without_known(made, given):
    """Return the new annotations that are no object, and in no crowd region, that is given."""
    kept = []
    for annotation in made:
        category = annotation["category_id"]
        own = [each for each in given if each["category_id"] == category]
        boxes, crowds = [a["bbox"] for a in own], [int(a.get("iscrowd", 0)) for a in own]
        if not own or mask.iou([annotation["bbox"]], boxes, crowds).max() < SAME:
            kept.append(annotation)
    return kept


def link(picture, folder):
    """Link to a picture in a folder, which may hold it already; return the name there."""
    name, path = Path(picture.name), Path(picture.path).resolve()
    if name.is_absolute() or ".." in name.parts:
        name = path.relative_to(path.anchor)
    place = folder / name
    if not (place.exists() and place.samefile(path)):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(path)
    return name.as_posix()


def label(detector, given, folder, options):
    """Return COCO's content of `Given` with the detector's boxes, and (name, reason) of the rest.

    Links to the pictures are made in `folder`.
    """
    fill = options.fill
    categories = list(given.coco["categories"]) if fill else []
    ids = {category["name"]: category["id"] for category in given.coco["categories"]}
    for name in detector.classes:
        if name not in {category["name"] for category in categories}:
            ids.setdefault(name, max(ids.values(), default=0) + 1)
            categories.append({"id": ids[name], "name": name})
    numbers = [ids[name] for name in detector.classes]
    entries = {image["id"]: image for image in given.coco["images"]}
    known = {key: [] for key in entries}
    for annotation in given.coco["annotations"] if fill else []:
        known[annotation["image_id"]].append(annotation)
    images, annotations, skipped = [], [], []
    for picture in tqdm(given.pictures, disable=None, unit="picture"):
        key = picture.image_id
        try:
            if key in given.unusable:
                raise PictureError(given.unusable[key])
            pixels = read_image(picture.path, picture.size)
        except (FileNotFoundError, PictureError) as error:
            skipped.append((picture.name, str(error)))
            continue
        complete = {*given.complete[key]} if fill else set()
        annotations += known[key]
        if missing := {*numbers} - complete:
            made = annotations_of(find_boxes(detector, pixels, options), numbers, options)
            made = [each for each in made if each["category_id"] in missing]
            annotations += [a | {"image_id": key} for a in without_known(made, known[key])]
        height, width = pixels.shape[:2]
        said = {"file_name": link(picture, folder), "complete": sorted(complete | missing)}
        images.append({"width": width, "height": height} | entries[key] | said)
    last = max((a["id"] for a in annotations if "id" in a), default=0)
    new = [a for a in annotations if "id" not in a]
    for number, annotation in enumerate(new, last + 1):
        annotation["id"] = number
    content = {"images": images, "annotations": annotations, "categories": categories}
    return (given.coco if fill else {}) | content, skipped


def run(options):
    """Label pictures as the command line says."""
    target = options.out / TARGET
    check_unused(options.out, [TARGET], options.overwrite)
    if options.uncertain > options.confidence:
        raise ValueError(
            f"--uncertain is {options.uncertain:g}, above --confidence, {options.confidence:g}"
        )
    if options.fill and options.pictures.is_dir():
        raise ValueError(f"--fill needs an annotation file (.json); {options.pictures} is a folder")
    detector = open_detector(
        options.model, options.image_size, 1, options.form, options.names, options.classes
    )
    folder = options.out / "images" / "train"
    content, skipped = label(detector, read_given(options.pictures), folder, options)
    for name, reason in skipped:
        print(f"left out: {name}: {reason}")
    if not content["images"]:
        raise ValueError(f"none of the {len(skipped)} pictures of {options.pictures} is usable")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(content) + "\n", encoding="utf-8")
    counts = Counter(
        (a["category_id"], bool(a.get("uncertain"))) for a in content["annotations"] if "score" in a
    )
    print(f"wrote {target}: {len(content['images'])} pictures")
    for category in content["categories"]:
        number, name = category["id"], category["name"]
        print(f"{name}: {counts[number, False]} boxes and {counts[number, True]} uncertain ones")


def main(arguments=None):
    """Label pictures as the command line says; return the exit code."""
    parser = Parser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("model", type=Path, metavar="MODEL", help="weights (.safetensors) or an ONNX file")
    add("pictures", type=Path, metavar="PICTURES", help="folder, or a COCO annotation file")
    add("--out", type=output_folder, required=True, metavar="FOLDER",
        help="folder of the data set to write")  # fmt: skip
    add("--overwrite", action="store_true", help="replace labels that the folder has")
    add("--confidence", type=PROBABILITY, default=0.45, metavar="SCORE",
        help="least score of a label; default: 0.45")  # fmt: skip
    add("--uncertain", type=PROBABILITY, default=0.15, metavar="SCORE",
        help="least score of a region to ignore; default: 0.15")  # fmt: skip
    add("--iou", type=PROBABILITY, default=0.45,
        help="overlap from which a box is suppressed; default: 0.45")  # fmt: skip
    add("--mirror", action="store_true",
        help="average the boxes with the mirror image's, which halves the score of a box "
        "that only one of them has")  # fmt: skip
    add("--fill", action="store_true",
        help="keep a data set's labels, and label only the classes that an image isn't `complete` "
        "for")  # fmt: skip
    add("--image-size", type=SIDE, help="pixels, a multiple of 32; default: the model's")
    add_model_options(add)
    try:
        run(parser.parse_args(arguments))
    except (ModelError, CheckpointError, ValueError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
