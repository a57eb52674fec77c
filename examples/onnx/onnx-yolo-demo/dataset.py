"""Data sets for the YOLO11n demo: finding, checking and letterboxing them."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from images import Letterbox, letterbox, read_image, to_fractions


class DataPaths(NamedTuple):
    """Annotation files and image folders of a data set."""

    train_json: Path
    train_images: Path
    val_json: Path
    val_images: Path


def find_data(path):
    """Locate the training and validation parts of a COCO-format folder.

    Parameters
    ----------
    path : path-like
        Folder with ``annotations/instances_{train,val}.json`` and ``images/{train,val}``, or
        with COCO's ``annotations/instances_{train,val}2017.json`` and ``{train,val}2017`` or
        ``images/{train,val}2017``.

    Returns
    -------
    DataPaths

    Raises
    ------
    FileNotFoundError
        With everything that was looked for.
    """
    root = Path(path)
    tried = []
    for suffix, folders in (("", ("images/{}",)), ("2017", ("{}2017", "images/{}2017"))):
        for folder in folders:
            found = []
            for split in ("train", "val"):
                found.append(root / f"annotations/instances_{split}{suffix}.json")
                found.append(root / folder.format(split))
            absent = [p for p in found if not p.exists()]
            if not absent:
                return DataPaths(*found)
            tried.append(" + ".join(str(p.relative_to(root)) for p in found))
    raise FileNotFoundError(
        f"no COCO-format data in {root}: it must hold one of\n  " + "\n  ".join(tried)
    )


# ------------------------------------------------------------------------------ dataset


class Sample(NamedTuple):
    """One letterboxed picture with its boxes."""

    image: np.ndarray  # uint8 (S, S, 3)
    boxes: np.ndarray  # float32 (n, 4): cx, cy, w, h as fractions of the square
    classes: np.ndarray  # int32 (n,)
    image_id: int
    geometry: Letterbox


class _Record(NamedTuple):
    file_name: str
    image_id: int
    geometry: Letterbox
    boxes: np.ndarray
    classes: np.ndarray
    slot: int


def _load_json(path):
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(f"annotation file {path} does not exist") from None
    except ValueError as error:
        raise ValueError(f"{path} is not valid JSON: {error}") from None
    required = ("images", "annotations", "categories")
    missing = [k for k in required if not isinstance(data, dict) or k not in data]
    if missing:
        raise ValueError(f"{path} lacks {missing}: it is not a COCO instances file")
    return data


def _category_ids(path, data, classes):
    """COCO category id of each class name, in the order of `classes`."""
    available = {}
    for category in data["categories"]:
        if category["name"] in available:
            raise ValueError(f"{path} lists the category {category['name']!r} twice")
        available[category["name"]] = category["id"]
    unknown = [name for name in classes if name not in available]
    if unknown:
        raise ValueError(f"{path} has no category {unknown}; available: {sorted(available)}")
    if not classes or len(set(classes)) != len(classes):
        raise ValueError(f"classes must be distinct names, at least one; got {list(classes)}")
    return [available[name] for name in classes]


def _checked_box(path, annotation):
    box = np.asarray(annotation["bbox"], dtype=np.float64)
    if box.shape != (4,) or not np.isfinite(box).all():
        raise ValueError(
            f"{path}: annotation {annotation['id']} has bbox {annotation['bbox']}; "
            "it must be four finite numbers x, y, width, height"
        )
    return box


class CocoDataset:
    """Pictures and boxes of a COCO instances file, letterboxed to squares.

    Every picture is decoded once when the dataset is made. One that is missing, broken, or of
    another size than the annotation file says is left out and listed in `skipped`; nothing is
    put in its place. Pictures without a box of the wanted classes stay, as background.

    Parameters
    ----------
    annotation_file : path-like
        COCO instances JSON.
    image_dir : path-like
        Folder the JSON's ``file_name`` are relative to.
    classes : sequence of str
        Category names; their order gives the class indices.
    image_size : int
        Side of the squares in pixels.
    cache : bool
        Keep all squares in memory, ``n * image_size**2 * 3`` bytes. Otherwise pictures are
        decoded whenever they are asked for.
    threads : int
        Threads that decode pictures.
    progress : bool
        Show a progress bar while decoding.

    Attributes
    ----------
    classes : list of str
    category_ids : list of int
        COCO ids of the classes.
    skipped : list of (str, str)
        File name and reason.
    report : dict
        Counts: images, background, boxes, per_class, skipped, clipped, zero_area, crowd,
        duplicates.

    Raises
    ------
    FileNotFoundError
        No such annotation file or image folder.
    ValueError
        The file is not COCO instances JSON, has no such category, an annotation is wrong, or
        no picture is usable.
    """

    def __init__(
        self,
        annotation_file,
        image_dir,
        classes,
        image_size=320,
        cache=True,
        threads=1,
        progress=False,
    ):
        self.annotation_file = Path(annotation_file)
        self.image_dir = Path(image_dir)
        self.classes = list(classes)
        self.image_size = int(image_size)
        if self.image_size < 1:
            raise ValueError(f"image_size is {image_size}; it must be positive")
        self._data = _load_json(self.annotation_file)
        if not self.image_dir.is_dir():
            raise FileNotFoundError(f"image folder {self.image_dir} does not exist")
        self.category_ids = _category_ids(self.annotation_file, self._data, self.classes)
        self.report = dict.fromkeys(("clipped", "zero_area", "crowd", "duplicates"), 0)
        grouped = self._group_annotations()
        self.skipped, self._records = [], []
        self._cache = self._decode_all(cache, threads, progress)
        self._add_boxes(grouped)

    def _group_annotations(self):
        """Annotations of the wanted classes by image id, crowd regions left out."""
        path, data = self.annotation_file, self._data
        known = {category["id"] for category in data["categories"]}
        grouped = {}
        for image in data["images"]:
            if image["id"] in grouped:
                raise ValueError(f"{path} lists the image id {image['id']} twice")
            grouped[image["id"]] = []
        wanted = {category: label for label, category in enumerate(self.category_ids)}
        for place, annotation in enumerate(data["annotations"]):
            lacking = [k for k in ("id", "image_id", "category_id", "bbox") if k not in annotation]
            if lacking:
                raise ValueError(f"{path}: annotations[{place}] lacks {', '.join(lacking)}")
            category = annotation["category_id"]
            if category not in known:
                raise ValueError(
                    f"{path}: annotation {annotation['id']} has category_id {category}, "
                    "which `categories` does not list"
                )
            if annotation["image_id"] not in grouped:
                raise ValueError(
                    f"{path}: annotation {annotation['id']} has image_id "
                    f"{annotation['image_id']}, which `images` does not list"
                )
            if category not in wanted:
                continue
            if annotation.get("iscrowd", 0):
                self.report["crowd"] += 1
                continue
            box = _checked_box(path, annotation)
            grouped[annotation["image_id"]].append((wanted[category], box))
        return grouped

    def _read_square(self, image):
        """(square, geometry) of an ``images`` entry, or the reason why there is none."""
        path = self.image_dir / image["file_name"]
        if not path.is_file():
            return "missing"
        try:
            pixels = read_image(path)
        except (OSError, SyntaxError, ValueError) as error:
            return f"not readable: {error}"
        height, width = pixels.shape[:2]
        if (width, height) != (image["width"], image["height"]):
            return (
                f"is {width}x{height}, but the annotation file says "
                f"{image['width']}x{image['height']}"
            )
        return letterbox(pixels, self.image_size)

    def _decode_all(self, cache, threads, progress):
        images = self._data["images"]
        side = self.image_size
        squares = np.empty((len(images), side, side, 3), np.uint8) if cache else None

        def read(slot):
            outcome = self._read_square(images[slot])
            if isinstance(outcome, str):
                return outcome
            if cache:
                squares[slot] = outcome[0]
            return outcome[1]

        with ThreadPoolExecutor(max(threads, 1)) as pool:
            outcomes = pool.map(read, range(len(images)))
            if progress:
                from tqdm import tqdm

                outcomes = tqdm(outcomes, total=len(images), desc=str(self.image_dir), unit="img")
            for slot, outcome in enumerate(outcomes):
                name = images[slot]["file_name"]
                if isinstance(outcome, str):
                    self.skipped.append((name, outcome))
                else:
                    self._records.append(
                        _Record(name, images[slot]["id"], outcome, None, None, slot)
                    )
        if not self._records:
            first = f"; first: {self.skipped[0][0]}: {self.skipped[0][1]}" if self.skipped else ""
            raise ValueError(
                f"none of the {len(images)} images of {self.annotation_file} is usable in "
                f"{self.image_dir}{first}"
            )
        return squares

    def _add_boxes(self, grouped):
        counts = np.zeros(len(self.classes), dtype=int)
        for k, record in enumerate(self._records):
            boxes, classes = self._clean_boxes(grouped[record.image_id], record.geometry)
            self._records[k] = record._replace(boxes=boxes, classes=classes)
            counts += np.bincount(classes, minlength=len(self.classes))
        self.report |= {
            "images": len(self._records),
            "background": sum(not len(record.classes) for record in self._records),
            "boxes": int(counts.sum()),
            "per_class": dict(zip(self.classes, counts.tolist(), strict=True)),
            "skipped": len(self.skipped),
        }

    def _clean_boxes(self, annotations, geometry):
        """Clipped, distinct boxes as fractions of the square, with their classes."""
        seen = {}
        for label, (x, y, width, height) in annotations:
            corners = np.array([x, y, x + width, y + height])
            limits = np.array([geometry.width, geometry.height] * 2)
            clipped = corners.clip(0, limits)
            if (clipped[2:] <= clipped[:2]).any():
                self.report["zero_area"] += 1
                continue
            if (label, *clipped) in seen:
                self.report["duplicates"] += 1
                continue
            # Annotation tools round to 0.01 px; less than that is no overhang.
            self.report["clipped"] += bool(np.abs(clipped - corners).max() > 0.01)
            seen[(label, *clipped)] = True
        labels = np.array([key[0] for key in seen], dtype=np.int32)
        corners = np.array([key[1:] for key in seen], dtype=np.float64).reshape(-1, 4)
        return to_fractions(geometry.apply(corners), self.image_size), labels

    def __len__(self):
        return len(self._records)

    def __getitem__(self, index):
        record = self._records[index]
        if self._cache is not None:
            image = self._cache[record.slot]
        else:
            outcome = self._read_square(self._data["images"][record.slot])
            if isinstance(outcome, str):
                raise OSError(f"{self.image_dir / record.file_name} has changed: {outcome}")
            image = outcome[0]
        return Sample(image, record.boxes, record.classes, record.image_id, record.geometry)

    @property
    def image_ids(self):
        """COCO ids of the usable images, in the order of the indices."""
        return [record.image_id for record in self._records]

    def file_name(self, index):
        """File name of an image, relative to the image folder."""
        return self._records[index].file_name

    @property
    def max_boxes(self):
        """Most boxes one image holds (at least 1); see `max_boxes_with` for mosaics."""
        return self.max_boxes_with(mosaic=False)

    def max_boxes_with(self, mosaic):
        """Most boxes a training image can hold: of one image, or of a mosaic of four."""
        counts = sorted((len(record.classes) for record in self._records), reverse=True)
        if not mosaic:
            return max(counts[0], 1)
        # A set of fewer than four images repeats them in a mosaic.
        return max(sum((counts * 4)[:4] if len(counts) < 4 else counts[:4]), 1)

    def ground_truth(self):
        """COCO dictionary of the usable images and the classes, boxes as in the file."""
        images = {record.image_id for record in self._records}
        categories = set(self.category_ids)
        data = self._data
        return {
            "images": [image for image in data["images"] if image["id"] in images],
            "annotations": [
                a
                for a in data["annotations"]
                if a["image_id"] in images and a["category_id"] in categories
            ],
            "categories": [c for c in data["categories"] if c["id"] in categories],
        }

    def summary(self):
        """Counts and everything that was left out, as text for people."""
        report = self.report
        per_class = ", ".join(f"{name} {count}" for name, count in report["per_class"].items())
        lines = [
            f"{self.annotation_file.name}: {report['images']} images "
            f"({report['background']} without boxes), {report['boxes']} boxes ({per_class})"
        ]
        notes = {
            "clipped": "boxes clipped to their image",
            "zero_area": "boxes without area dropped",
            "crowd": "crowd regions not used for training",
            "duplicates": "duplicate boxes dropped",
        }
        lines += [f"  {report[key]} {text}" for key, text in notes.items() if report[key]]
        if self.skipped:
            lines.append(f"  {len(self.skipped)} images skipped:")
            lines += [f"    {name}: {reason}" for name, reason in self.skipped[:20]]
            if len(self.skipped) > 20:
                lines.append(f"    ... and {len(self.skipped) - 20} more")
        return "\n".join(lines)
