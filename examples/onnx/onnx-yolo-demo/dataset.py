"""COCO-format data for the YOLO11n demo: reading, letterboxing, augmentation, batches.

NumPy and Pillow only. Every random choice depends on ``(seed, epoch, index)`` and nothing
else, so batches do not change with the number of workers, and a run that was stopped goes on
with the batches it would have had.
"""

import json
import math
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageOps

FILL = 114  # grey of the padding, the value the published YOLO weights were trained with

# Last entry of the seed of an epoch's order. Images are numbered from 0, so it keeps the order
# apart from the augmentation of image 0: NumPy takes [seed, epoch] and [seed, epoch, 0] for one.
ORDER_STREAM = 2**32 - 1


# ------------------------------------------------------------------------------ letterbox


@dataclass(frozen=True)
class Letterbox:
    """Where a picture lies in its letterboxed square.

    Attributes
    ----------
    size : int
        Side of the square in pixels.
    width, height : int
        Size of the original picture.
    ratio : float
        Nominal scale, before the sides were rounded to whole pixels.
    resized_width, resized_height : int
        Size of the picture inside the square.
    left, top : int
        Padding before the picture; the rest of the padding follows it.
    """

    size: int
    width: int
    height: int
    ratio: float
    resized_width: int
    resized_height: int
    left: int
    top: int

    @classmethod
    def fit(cls, width, height, size, scale_up=True):
        """Geometry of a `width` x `height` picture in a square of side `size`."""
        if min(width, height, size) < 1:
            raise ValueError(f"cannot letterbox {width}x{height} to {size}: sides must be positive")
        ratio = min(size / height, size / width)
        if not scale_up:
            ratio = min(ratio, 1.0)
        # round() takes halves to the even number, as the geometry of the reference does.
        resized_width = max(round(width * ratio), 1)
        resized_height = max(round(height * ratio), 1)
        # The 0.1 puts the odd pixel of padding at the right and the bottom.
        left = round((size - resized_width) / 2 - 0.1)
        top = round((size - resized_height) / 2 - 0.1)
        return cls(size, width, height, ratio, resized_width, resized_height, left, top)

    @property
    def scale_xy(self):
        """Actual scale of either axis, ``(float, float)``; differs a little from `ratio`."""
        return self.resized_width / self.width, self.resized_height / self.height

    def apply(self, boxes):
        """Move ``x1, y1, x2, y2`` boxes (n, 4) from the picture to the square."""
        return np.asarray(boxes) * self._scale4 + self._shift4

    def undo(self, boxes):
        """Move ``x1, y1, x2, y2`` boxes (n, 4) from the square to the picture, clipped to it."""
        moved = (np.asarray(boxes) - self._shift4) / self._scale4
        moved[..., 0::2] = moved[..., 0::2].clip(0, self.width)
        moved[..., 1::2] = moved[..., 1::2].clip(0, self.height)
        return moved

    @property
    def _scale4(self):
        return np.array(self.scale_xy * 2)

    @property
    def _shift4(self):
        return np.array([self.left, self.top, self.left, self.top], dtype=np.float64)


def letterbox(image, size, scale_up=True):
    """Fit a picture into a square without changing its proportions; pad with grey 114.

    Parameters
    ----------
    image : uint8 array, (height, width, 3)
    size : int
        Side of the square in pixels.
    scale_up : bool
        False leaves pictures smaller than the square at their size.

    Returns
    -------
    canvas : uint8 array, (size, size, 3)
    geometry : Letterbox
        Its `undo` moves boxes back to the picture.

    Raises
    ------
    ValueError
        `image` is not uint8 (height, width, 3).
    """
    image = np.asarray(image)
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(
            f"image has dtype {image.dtype} and shape {image.shape}; pass uint8 (height, width, 3)"
        )
    geometry = Letterbox.fit(image.shape[1], image.shape[0], size, scale_up)
    target = (geometry.resized_width, geometry.resized_height)
    if target != (geometry.width, geometry.height):
        image = np.asarray(Image.fromarray(image).resize(target, Image.Resampling.BILINEAR))
    canvas = np.full((size, size, 3), FILL, dtype=np.uint8)
    top, left = geometry.top, geometry.left
    canvas[top : top + target[1], left : left + target[0]] = image
    return canvas, geometry


def read_image(path):
    """Decode a picture as RGB, upright.

    Parameters
    ----------
    path : path-like
        JPEG, PNG or anything else Pillow reads: grey, CMYK and palette pictures become RGB,
        and the camera's orientation (EXIF) is applied.

    Returns
    -------
    uint8 array, (height, width, 3)

    Raises
    ------
    OSError, SyntaxError
        Missing, truncated or not a picture (Pillow reports broken PNG as SyntaxError).
    ValueError
        More than 8 bits a channel.
    """
    with Image.open(path) as picture:
        if picture.mode[0] in "IF":
            raise ValueError(f"{picture.mode} pixels; convert the picture to 8 bits a channel")
        return np.asarray(ImageOps.exif_transpose(picture).convert("RGB"))


# ------------------------------------------------------------------------------ finding files


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


# ------------------------------------------------------------------------------ augmentation


def to_fractions(corners, size):
    """``x1, y1, x2, y2`` pixels (n, 4) to float32 ``cx, cy, w, h`` fractions of `size`."""
    corners = np.asarray(corners, dtype=np.float64).reshape(-1, 4)
    center = (corners[:, :2] + corners[:, 2:]) / 2
    return (np.concatenate([center, corners[:, 2:] - corners[:, :2]], axis=1) / size).astype(
        np.float32
    )


def to_corners(boxes, size):
    """``cx, cy, w, h`` fractions (n, 4) to float64 ``x1, y1, x2, y2`` pixels of `size`."""
    boxes = np.asarray(boxes, dtype=np.float64).reshape(-1, 4) * size
    half = boxes[:, 2:] / 2
    return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1)


@dataclass(frozen=True)
class Augment:
    """What training images undergo; 0 turns a step off.

    Attributes
    ----------
    flip : float
        Probability of a left-right flip.
    hue, saturation, value : float
        Gains. Hue moves by up to this fraction of a turn; saturation and value are multiplied
        by 1 plus or minus up to this.
    brightness, contrast : float
        Brightness moves by up to this fraction of 255; contrast about mid-grey is multiplied
        by 1 plus or minus up to this.
    scale : float
        Size is multiplied by 1 plus or minus up to this (below 1).
    translate : float
        The centre moves by up to this fraction of the side.
    mosaic : float
        Probability of joining four images.
    """

    flip: float = 0.5
    hue: float = 0.015
    saturation: float = 0.7
    value: float = 0.4
    brightness: float = 0.1
    contrast: float = 0.1
    scale: float = 0.5
    translate: float = 0.1
    mosaic: float = 0.0

    def __post_init__(self):
        for name, number in vars(self).items():
            if not 0 <= number <= 1:
                raise ValueError(f"Augment.{name} is {number}; it must lie between 0 and 1")
        if self.scale >= 1:
            raise ValueError("Augment.scale must be below 1, or images could vanish")


class _Layer(NamedTuple):
    """A picture placed on the canvas: pixels, boxes in its own pixels, offset."""

    image: np.ndarray
    corners: np.ndarray
    classes: np.ndarray
    offset: tuple


def keep_boxes(before, after, gain):
    """Which boxes are still worth learning after a warp.

    Parameters
    ----------
    before, after : arrays, (n, 4)
        ``x1, y1, x2, y2`` in pixels, before the warp and after it and the clipping.
    gain : float
        Scale of the warp.

    Returns
    -------
    bool array, (n,)
        Wider and higher than 2 px, more than a tenth of the area left, aspect below 100.
    """
    width, height = after[:, 2] - after[:, 0], after[:, 3] - after[:, 1]
    old = (before[:, 2] - before[:, 0]) * (before[:, 3] - before[:, 1]) * gain**2
    eps = 1e-16
    aspect = np.maximum(width / (height + eps), height / (width + eps))
    return (width > 2) & (height > 2) & (width * height / (old + eps) > 0.1) & (aspect < 100)


def _mosaic_layers(dataset, index, rng):
    """Four images with one corner each at a random point of a canvas of twice the side."""
    size = dataset.image_size
    others = rng.choice(len(dataset) - 1, 3, replace=False) if len(dataset) > 3 else None
    if others is None:
        chosen = [index, *rng.integers(0, len(dataset), 3)]
    else:
        chosen = [index, *(others + (others >= index))]
    center_x, center_y = rng.integers(size // 2, 3 * size // 2 + 1, 2)
    layers = []
    for corner, k in enumerate(chosen):
        sample = dataset[int(k)]
        g = sample.geometry
        content = sample.image[g.top : g.top + g.resized_height, g.left : g.left + g.resized_width]
        corners = to_corners(sample.boxes, size) - [g.left, g.top, g.left, g.top]
        offset = (
            int(center_x) - (0 if corner % 2 else g.resized_width),
            int(center_y) - (0 if corner >= 2 else g.resized_height),
        )
        layers.append(_Layer(np.ascontiguousarray(content), corners, sample.classes, offset))
    return layers


def _span(edges, canvas, sign, gain, shift, center, size):
    """First pixel and end, in the output, of a layer's `edges` along one axis."""
    edges = np.clip(edges, 0, canvas)
    mapped = np.sort(sign * gain * (edges - center) + shift)
    # Pixels whose centres lie inside.
    low, high = np.ceil(np.clip(mapped, 0, size) - 0.5)
    return int(low), int(high)


def _warp(layers, canvas, size, gain, shift, flip):
    """Scale, shift and flip placed layers into one image.

    A canvas point X goes to ``sign * gain * (X - canvas / 2) + shift``. Each layer is sampled
    from its own picture straight into its part of the output: no canvas is ever drawn.
    """
    image = np.full((size, size, 3), FILL, dtype=np.uint8)
    signs = (-1.0 if flip else 1.0, 1.0)
    all_corners, all_classes = [], []
    for layer in layers:
        height, width = layer.image.shape[:2]
        low, high, slope, start = [], [], [], []
        for axis, side in enumerate((width, height)):
            edges = np.array([0, side]) + layer.offset[axis]
            first, end = _span(edges, canvas, signs[axis], gain, shift[axis], canvas / 2, size)
            low.append(first)
            high.append(end)
            a = signs[axis] / gain
            slope.append(a)
            start.append((first - shift[axis]) * a + canvas / 2 - layer.offset[axis])
        shape = (high[0] - low[0], high[1] - low[1])
        if min(shape) > 0:
            part = Image.fromarray(layer.image).transform(
                shape,
                Image.Transform.AFFINE,
                (slope[0], 0.0, start[0], 0.0, slope[1], start[1]),
                Image.Resampling.BILINEAR,
                fillcolor=(FILL,) * 3,
            )
            image[low[1] : high[1], low[0] : high[0]] = np.asarray(part)
        before = (layer.corners + np.tile(layer.offset, 2)).clip(0, canvas)
        after = before.copy()
        for axis in range(2):
            moved = signs[axis] * gain * (before[:, axis::2] - canvas / 2) + shift[axis]
            after[:, axis::2] = np.sort(moved, axis=1).clip(0, size)
        keep = keep_boxes(before, after, gain)
        all_corners.append(after[keep])
        all_classes.append(layer.classes[keep])
    return image, np.concatenate(all_corners), np.concatenate(all_classes)


def _change_colors(image, augment, rng):
    """Move hue, scale saturation and value, then brightness and contrast."""
    hue, saturation, value, brightness, contrast = rng.uniform(-1, 1, 5)
    levels = np.arange(256)
    picture = Image.fromarray(image)
    if augment.hue or augment.saturation or augment.value:
        tables = np.concatenate(
            [
                np.round(levels + 256 * hue * augment.hue) % 256,
                np.clip(levels * (1 + saturation * augment.saturation), 0, 255),
                np.clip(levels * (1 + value * augment.value), 0, 255),
            ]
        )
        picture = picture.convert("HSV").point(tables.astype(np.uint8).tolist()).convert("RGB")
    if augment.brightness or augment.contrast:
        table = (levels - 127.5) * (1 + contrast * augment.contrast) + 127.5
        table = np.clip(table + 255 * brightness * augment.brightness, 0, 255)
        picture = picture.point(np.round(table).astype(np.uint8).tolist() * 3)
    return np.asarray(picture)


def augment_sample(dataset, index, augment, rng):
    """Read an image and augment it.

    Parameters
    ----------
    dataset : CocoDataset
    index : int
    augment : Augment
    rng : numpy.random.Generator
        The only source of chance.

    Returns
    -------
    image : uint8 array, (S, S, 3)
    boxes : float32 array, (n, 4)
        ``cx, cy, w, h`` as fractions of S.
    classes : int32 array, (n,)
    """
    size = dataset.image_size
    if rng.random() < augment.mosaic:
        canvas = 2 * size
        layers = _mosaic_layers(dataset, index, rng)
    else:
        canvas = size
        sample = dataset[index]
        corners = to_corners(sample.boxes, size)
        layers = [_Layer(sample.image, corners, sample.classes, (0, 0))]
    gain = rng.uniform(1 - augment.scale, 1 + augment.scale)
    shift = rng.uniform(0.5 - augment.translate, 0.5 + augment.translate, 2) * size
    flip = rng.random() < augment.flip
    image, corners, classes = _warp(layers, canvas, size, gain, shift, flip)
    image = _change_colors(image, augment, rng)
    return image, to_fractions(corners, size), classes.astype(np.int32)


# ------------------------------------------------------------------------------ batches


class Batch(NamedTuple):
    """A training batch; shapes are the same in every batch of a loader."""

    images: np.ndarray  # uint8 (B, 3, S, S)
    boxes: np.ndarray  # float32 (B, max_boxes, 4): cx, cy, w, h as fractions; unused rows zero
    classes: np.ndarray  # int32 (B, max_boxes); unused entries zero
    num_boxes: np.ndarray  # int32 (B,)
    indices: np.ndarray  # int64 (B,): positions in the dataset


class BatchLoader:
    """Batches of constant shape, in an order that depends on seed and epoch alone.

    An epoch has ``ceil(n / batch_size)`` batches. If `batch_size` does not divide n, the last
    one is filled up with the first images of the next epoch, as they will appear there (of the
    epochs after it too, where the dataset is smaller than a batch).

    Parameters
    ----------
    dataset : CocoDataset
    batch_size : int
    image_size : int, optional
        Checked against the dataset's.
    max_boxes : int, optional
        Rows of the box arrays; by default what the dataset and the augmentation can need. An
        image with more boxes is an error.
    seed : int
    augment : Augment, optional
        None leaves the letterboxed images as they are.
    workers : int
        Threads that prepare batches ahead; 0 prepares each when it is asked for. Pillow and
        NumPy release the interpreter lock for most of the work.
    mosaic_until : int, optional
        First epoch without mosaics; None keeps them to the end.
    """

    def __init__(
        self,
        dataset,
        batch_size,
        image_size=None,
        max_boxes=None,
        seed=0,
        augment=None,
        workers=1,
        mosaic_until=None,
    ):
        if image_size is not None and image_size != dataset.image_size:
            raise ValueError(
                f"image_size is {image_size}, but the dataset was made for {dataset.image_size}"
            )
        if batch_size < 1 or workers < 0 or seed < 0:
            raise ValueError(
                f"batch_size={batch_size}, workers={workers}, seed={seed}: batch_size must be "
                "positive, workers and seed not negative"
            )
        self.dataset = dataset
        self.batch_size = int(batch_size)
        self.image_size = dataset.image_size
        self.seed = int(seed)
        self.augment = augment
        self.workers = int(workers)
        self.mosaic_until = mosaic_until
        if max_boxes is None:
            max_boxes = dataset.max_boxes_with(mosaic=augment is not None and augment.mosaic > 0)
        self.max_boxes = int(max_boxes)

    def __len__(self):
        """Number of batches of an epoch."""
        return math.ceil(len(self.dataset) / self.batch_size)

    def order(self, epoch):
        """Permutation of the dataset's indices in an epoch."""
        rng = np.random.default_rng([self.seed, epoch, ORDER_STREAM])
        return rng.permutation(len(self.dataset))

    def _schedule(self, epoch):
        """(epoch, index) of every place of an epoch's batches."""
        places = []
        while len(places) < len(self) * self.batch_size:
            places += [(epoch, int(index)) for index in self.order(epoch)]
            epoch += 1
        return places[: len(self) * self.batch_size]

    def _sample(self, epoch, index):
        if self.augment is None:
            sample = self.dataset[index]
            return sample.image, sample.boxes, sample.classes
        augment = self.augment
        if self.mosaic_until is not None and epoch >= self.mosaic_until:
            augment = Augment(**{**vars(augment), "mosaic": 0.0})
        rng = np.random.default_rng([self.seed, epoch, index])
        return augment_sample(self.dataset, index, augment, rng)

    def _batch(self, places):
        size, count = self.image_size, len(places)
        images = np.empty((count, 3, size, size), dtype=np.uint8)
        boxes = np.zeros((count, self.max_boxes, 4), dtype=np.float32)
        classes = np.zeros((count, self.max_boxes), dtype=np.int32)
        num_boxes = np.zeros(count, dtype=np.int32)
        for row, (epoch, index) in enumerate(places):
            image, found, labels = self._sample(epoch, index)
            if len(found) > self.max_boxes:
                raise ValueError(
                    f"{self.dataset.file_name(index)} has {len(found)} boxes in epoch {epoch}, "
                    f"but max_boxes is {self.max_boxes}; raise max_boxes"
                )
            images[row] = image.transpose(2, 0, 1)
            boxes[row, : len(found)] = found
            classes[row, : len(found)] = labels
            num_boxes[row] = len(found)
        indices = np.array([index for _, index in places], dtype=np.int64)
        return Batch(images, boxes, classes, num_boxes, indices)

    def epoch(self, epoch, start_batch=0):
        """Iterate over the batches of an epoch.

        Parameters
        ----------
        epoch : int
            From 0.
        start_batch : int
            First batch wanted; the batches are those of the unbroken epoch from there on.

        Yields
        ------
        Batch

        Raises
        ------
        ValueError
            `start_batch` is beyond the epoch, or an image has more than `max_boxes` boxes. What
            goes wrong in a worker is raised here.
        """
        if epoch < 0 or not 0 <= start_batch <= len(self):
            raise ValueError(
                f"epoch {epoch}, start_batch {start_batch}: an epoch has {len(self)} batches, "
                "both count from 0"
            )
        # The checks above should not wait for the first batch to be asked for.
        return self._iterate(epoch, start_batch)

    def _iterate(self, epoch, start_batch):
        places = self._schedule(epoch)
        step = self.batch_size
        jobs = (places[k * step : (k + 1) * step] for k in range(start_batch, len(self)))
        if not self.workers:
            yield from map(self._batch, jobs)
            return
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="batches")
        pending = deque()
        try:
            for job in jobs:
                pending.append(pool.submit(self._batch, job))
                if len(pending) > self.workers + 1:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            # Also reached when the consumer stops early and the generator is closed.
            pool.shutdown(wait=True, cancel_futures=True)


class ValBatch(NamedTuple):
    """A validation batch; the first ``len(image_ids)`` images are real, the rest filler."""

    images: np.ndarray  # uint8 (B, 3, S, S)
    image_ids: list
    geometries: list


def val_batches(dataset, batch_size):
    """Iterate over a dataset in its own order, without augmentation.

    Parameters
    ----------
    dataset : CocoDataset
    batch_size : int

    Yields
    ------
    ValBatch
        Always `batch_size` images; the last batch is filled up with grey ones, for which it
        has neither id nor geometry.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size is {batch_size}; it must be positive")
    size = dataset.image_size
    for start in range(0, len(dataset), batch_size):
        samples = [dataset[k] for k in range(start, min(start + batch_size, len(dataset)))]
        images = np.full((batch_size, 3, size, size), FILL, dtype=np.uint8)
        for row, sample in enumerate(samples):
            images[row] = sample.image.transpose(2, 0, 1)
        yield ValBatch(images, [s.image_id for s in samples], [s.geometry for s in samples])
