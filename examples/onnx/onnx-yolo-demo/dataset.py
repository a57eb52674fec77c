"""Data sets for the YOLO11n demo: letterboxed pictures with their boxes."""

import contextlib
import hashlib
import os
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from data.cache import open_squares
from data.formats import check_boxes, clean_boxes
from data.images import TURNED, Letterbox, depth_of, read_image, to_fractions
from data.listing import (
    DEFAULT_CLASSES,
    SPLITS,
    DataError,
    leave_out_crowds,
    most_boxes,
    showing,
    subsample,
)
from data.merging import read_parts, split_share
from data.synthetic.generate import generate_dataset
from data.things import Things, find_held, find_things
from filelock import FileLock

__all__ = ["SPLITS", "DataError", "Dataset", "Sample", "load_data", "load_split", "open_data"]

_MOST_NAMES = 20  # of pictures in a summary, for each kind of remark
_NOTES = {
    "clipped": "boxes clipped to their image",
    "zero_area": "boxes without area dropped",
    "regions": "regions left out of the loss and of scores: crowds, uncertain boxes",
    "duplicates": "duplicate boxes dropped",
    "from_polygon": "boxes made from polygons",
    "with_confidence": "boxes have a confidence, which is not used",
    "from_keypoints": "boxes have keypoints, which are not used",
    "no_label_file": "images have no label file and are taken as background",
    "turned": "images were turned upright by their EXIF orientation, and their boxes are taken for "
    "the upright picture; where they are for the stored one, as labelImg's are, remove the "
    "orientation from the files",
    "labels_alone": "label files have no picture",
    "same_file": "images are in a file that another image names, too",
    "undivided": "pictures in all: the set has no part for validation, so about one in five was "
    "taken for it, by a hash of its name",
}


class Sample(NamedTuple):
    """One letterboxed picture with its boxes."""

    image: np.ndarray  # uint8 (S, S, 3)
    boxes: np.ndarray  # float32 (n, 4): cx, cy, w, h as fractions of the square
    classes: np.ndarray  # int32 (n,)
    image_id: int
    geometry: Letterbox
    # Where there may be things of a class without a box each: neither these nor background
    regions: np.ndarray  # float32 (r, 4): as boxes
    region_classes: np.ndarray  # int32 (r,)


class Dataset:
    """Pictures and boxes, letterboxed to squares; `load_data` makes them.

    Every picture is decoded once when the data set is made, or taken from a cache of an earlier
    time. One that can't be used is left out and listed in `skipped`; nothing is put in its
    place. Pictures without a box of the wanted classes stay, as background.

    Parameters
    ----------
    listing : listing.Listing
        What the files of the data set say.
    image_size : int
    cache : str
        ``"memory"`` keeps all squares in memory, ``n * image_size**2 * 3`` bytes; ``"disk"`` in a
        memory-mapped file in `cache_dir`, by default ``.cache`` next to the annotations.
    workers, progress
        Threads that decode pictures; whether a bar shows how far they are.
    antialias : bool
        As of `images.letterbox`.

    Attributes
    ----------
    squares : uint8 array (n, S, S, 3), read-only
    image_ids, category_ids : list of int
        COCO's ids of images and classes.
    skipped, changed : list of (str, str)
        File names, with the reason or what was done to the picture so that it could be used.
    report : dict
        Counts of what is there and what was left out.
    labelled : bool array (n, classes), or None
        Of which classes all things in an image have a box; None: of all classes in all images.
    sources : list of str
        Where the images are from, as the annotation files say; empty texts where they don't.
    parts : list of listing.Part
        The data sets that were joined, if there are several, and their images here.
    """

    def __init__(
        self, listing: Any, image_size: int = 320, cache: str = "memory",
        cache_dir: Path | None = None, workers: int = 1, progress: bool = False,
        antialias: bool = True,
    ):  # fmt: skip
        if image_size < 1:
            raise ValueError(f"image_size is {image_size}; it must be positive")
        self.image_size, self.antialias = int(image_size), bool(antialias)
        self._listing = listing
        self.classes, self.category_ids = listing.classes, listing.category_ids
        places = [k for k in range(len(listing.pictures)) if k not in listing.excluded]
        self.squares, outcomes = open_squares(
            [listing.pictures[k] for k in places], self.image_size, cache,
            cache_dir or listing.source.parent / ".cache", workers,
            str(listing.image_dir) if progress else "", self.antialias,
        )  # fmt: skip
        usable = self._sort_out(listing.excluded | dict(zip(places, outcomes, strict=True)))
        self._pictures = [listing.pictures[k] for k in usable]
        self.image_ids = [picture.image_id for picture in self._pictures]
        self.sources = [picture.source for picture in self._pictures]
        labelled = listing.labelled
        if labelled is not None:
            labelled = None if labelled[usable].all() else labelled[usable]
        self.labelled: np.ndarray | None = labelled
        self.parts = [
            part._replace(start=start, stop=stop)
            for part in listing.parts
            for start, stop in [np.searchsorted(usable, [part.start, part.stop]).tolist()]
        ]
        self._add_boxes(usable)

    def _sort_out(self, outcomes: dict[int, Any]) -> list[int]:
        """Note what became of the pictures; places of those that can be used."""
        usable, self._geometries = list[int](), list[Letterbox]()
        self.skipped, self.changed = list[tuple[str, str]](), list[tuple[str, str]]()
        self._depths, self._turned = list[int](), 0
        for place, picture in enumerate(self._listing.pictures):
            if isinstance(outcomes[place], str):
                self.skipped.append((picture.name, outcomes[place]))
                continue
            width, height, notes = outcomes[place]
            usable.append(place)
            if place in self._listing.notes:
                notes = [*notes, self._listing.notes[place]]
            self.changed += [(picture.name, note) for note in notes if note != TURNED]
            self._turned += TURNED in notes
            self._depths.append(depth_of(notes))
            self._geometries.append(Letterbox.fit(width, height, self.image_size))
        if not usable:
            first = f"; first: {': '.join(self.skipped[0])}" if self.skipped else ""
            raise ValueError(
                f"none of the {len(self.skipped)} images of {self._listing.source} is usable in "
                f"{self._listing.image_dir}{first}"
            )
        return usable

    def _add_boxes(self, usable: list[int]) -> None:
        """Move the boxes that can be used into the squares."""
        sides = np.array([(g.width, g.height) for g in self._geometries], float)
        scale = np.array([geometry.scale_xy * 2 for geometry in self._geometries])
        shift = np.array([(g.left, g.top) * 2 for g in self._geometries], float)

        def in_squares(rows: np.ndarray, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            bounds = np.searchsorted(rows, np.arange(len(self) + 1))
            return bounds, to_fractions(corners * scale[rows] + shift[rows], self.image_size)

        boxes, regions = self._listing.boxes, self._listing.regions
        rows, self._labels, self._corners, dropped = clean_boxes(boxes, usable, sides)
        self._bounds, self._boxes = in_squares(rows, self._corners)
        check_boxes(self._listing.source, boxes, usable, sides)
        found, self._region_labels, corners, more = clean_boxes(regions, usable, sides)
        self._region_corners = corners
        self._region_bounds, self._regions = in_squares(found, corners)
        counts = np.bincount(self._labels, minlength=len(self.classes)).tolist()
        self.report: dict[str, Any] = {
            "images": len(self),
            "background": int((np.diff(self._bounds) == 0).sum()),
            "boxes": len(rows),
            "per_class": dict(zip(self.classes, counts, strict=True)),
            **dict.fromkeys(_NOTES, 0),
            **self._listing.counts,
            **(Counter(dropped) + Counter(more)),
            "regions": len(found),
            "turned": self._turned,
        }

    def __len__(self) -> int:
        return len(self._pictures)

    def __getitem__(self, index: int) -> Sample:
        index = range(len(self))[index]
        boxes = slice(self._bounds[index], self._bounds[index + 1])
        regions = slice(self._region_bounds[index], self._region_bounds[index + 1])
        return Sample(
            self.squares[index], self._boxes[boxes], self._labels[boxes], self.image_ids[index],
            self._geometries[index], self._regions[regions], self._region_labels[regions],
        )  # fmt: skip

    def picture(self, index: int) -> np.ndarray:
        """Return an image's picture at full size, as its boxes see it; uint8 (height, width, 3).

        Use it rather than the file: the boxes of a few pictures belong to pixels that the
        camera's orientation would turn (see `images.decode`).
        """
        picture = self._pictures[index]
        return read_image(picture.path, picture.size, self._depths[index])

    def file_name(self, index: int) -> str:
        """Return the file name of an image, relative to the image folder."""
        return self._pictures[index].name

    @cached_property
    def things(self) -> Things:
        """Find what can be pasted into other pictures. DataError: nothing can."""
        return find_things(*self._all_boxes(), self.image_size)

    def held_things(self, below: int, above: int) -> Things:
        """Find things of a class that can be pasted onto another class's. DataError: none can."""
        things = find_held(*self._all_boxes(), self.image_size, below, above)
        if not len(things.source):
            name = self.classes[above]
            raise DataError(
                f"--paste-on: none of the {self.report['per_class'][name]} boxes of {name} can be "
                f"pasted; each is too small, too large or shows another thing; leave the option out"
            )
        return things

    def _all_boxes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return boxes, classes, bounds and pictures as `find_things` takes them."""
        pictures = np.array([
            (g.left, g.top, g.left + g.resized_width, g.top + g.resized_height)
            for g in self._geometries
        ])  # fmt: skip
        return self._boxes, self._labels, self._bounds, pictures

    def max_boxes(self, mosaic: bool, pasted: int = 0, held: int = 0) -> int:
        """Return the most boxes a training image can hold, at least 1.

        A mosaic has the boxes of four images; each of the `pasted` things may bring some, and each
        of those that are `held` by others one.
        """
        most = most_boxes(self.box_counts(), mosaic) + held
        return most + pasted * self.things.most_boxes if pasted else most

    def max_regions(self, mosaic: bool, pasted: int = 0) -> int:
        """Return the most regions a training image can show; 0 where the set has none.

        A mosaic has the regions of four images; each of the `pasted` things may show an image's.
        """
        counts = np.diff(self._region_bounds)
        if not counts.any():
            return 0
        return most_boxes(counts, mosaic) + pasted * int(counts.max())

    def box_counts(self) -> np.ndarray:
        """Return how many boxes each image has, int64 (n,)."""
        return np.diff(self._bounds)

    def digest(self) -> str:
        """Return a hash of the names of the images and of all that is labelled in them."""
        names = [picture.name for picture in self._pictures]
        digest = hashlib.sha256(repr((self.classes, names)).encode(errors="surrogateescape"))
        arrays = [self._bounds, self._labels, self._corners]
        arrays += [self._region_bounds, self._region_labels, self._region_corners]
        if self.labelled is not None:
            arrays.append(self.labelled)
        for array in arrays:
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()[:16]

    def background_images(self) -> np.ndarray:
        """Return which images are labelled for all classes and show none, int64 indices.

        They have no region of a class either.
        """
        empty = (self.box_counts() == 0) & (np.diff(self._region_bounds) == 0)
        if self.labelled is not None:
            empty &= self.labelled.all(axis=1)
        return np.flatnonzero(empty)

    def ground_truth(self) -> dict[str, list[Any]]:
        """Return a COCO dictionary of the usable images and the classes.

        Of a COCO file it has the boxes as in the file, crowd regions too. Of other files it has
        the clipped boxes; images are numbered from 1 by name, categories from 1.
        """
        data = self._listing.coco or {"images": [], "annotations": [], "categories": []}
        images, categories = set(self.image_ids), set(self.category_ids)
        annotations = [a for a in data["annotations"] if a["image_id"] in images]
        truth = {
            "images": [image for image in data["images"] if image["id"] in images],
            "annotations": [a for a in annotations if a["category_id"] in categories],
            "categories": [c for c in data["categories"] if c["id"] in categories],
        }
        if len(truth["images"]) == len(self):
            return truth
        named = zip(self.category_ids, self.classes, strict=True)
        truth["categories"] = [{"id": number, "name": name} for number, name in named]
        self._add_truth_of_text(truth)
        return truth

    def _add_truth_of_text(self, truth: dict[str, list[Any]]) -> None:
        """Add the images that are in no COCO file, and their boxes."""
        listed = {image["id"] for image in truth["images"]}
        for image_id, geometry in zip(self.image_ids, self._geometries, strict=True):
            if image_id not in listed:
                sides = {"width": geometry.width, "height": geometry.height}
                truth["images"].append({"id": image_id, **sides})
        boxes = self._bounds, self._labels, self._corners
        regions = self._region_bounds, self._region_labels, self._region_corners
        for crowd, (bounds, labels, own) in enumerate((boxes, regions)):
            owners = np.repeat(self.image_ids, np.diff(bounds)).tolist()
            numbers = np.array(self.category_ids)[labels].tolist()
            for owner, number, corners in zip(owners, numbers, own.tolist(), strict=True):
                if owner in listed:
                    continue
                x, y, right, bottom = corners
                width, height = right - x, bottom - y
                truth["annotations"].append({
                    "id": len(truth["annotations"]) + 1, "image_id": owner,
                    "category_id": number, "bbox": [x, y, width, height], "area": width * height,
                    "iscrowd": crowd,
                })  # fmt: skip

    def summary(self, without: Sequence[str] = ()) -> str:
        """Return counts, and everything that was left out or changed, as text for people.

        Notes of the report's keys in `without` are left out.
        """
        report, source = self.report, self._listing.source
        name = f"{len(self.parts)} data set{'s' if len(self.parts) > 1 else ''}"
        if not self.parts:  # files of names, and patterns, aren't the labels
            of_folder = source.suffix in (".txt", ".names") or "*" in source.name
            name = source.absolute().parent.name if of_folder else source.name
        lines = [
            f"{name}: {report['images']} images ({report['background']} "
            f"without boxes), {report['boxes']} boxes ({_listed(report['per_class'])})"
        ]
        for part in self.parts:
            share = "" if part.share is None else f", share {part.share:g}"
            lines.append(f"  {part.name}: {part.stop - part.start} images{share}")
        if self.labelled is not None:
            missing = dict(zip(self.classes, (~self.labelled).sum(axis=0).tolist(), strict=True))
            missing = {name: count for name, count in missing.items() if count}
            lines.append(f"  images not labelled for a class: {_listed(missing)}")
        lines += [
            f"  {report[key]} {text}"
            for key, text in _NOTES.items()
            if report[key] and key not in without
        ]
        if other := report["other_classes"]:
            lines.append(f"  {sum(other.values())} boxes of other classes: {_listed(other)}")
        for kind, found in (("skipped", self.skipped), ("changed", self.changed)):
            if found:
                lines.append(f"  {len(found)} files {kind}:")
                lines += [f"    {name}: {reason}" for name, reason in found[:_MOST_NAMES]]
            if len(found) > _MOST_NAMES:
                lines.append(f"    ... and {len(found) - _MOST_NAMES} more")
        return "\n".join(lines)


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


# ------------------------------------------------------------------------------ opening


type Paths = str | Path | Sequence[str | Path]


def load_data(
    path: Paths, classes: list[str] | None = None, image_size: int = 320,
    shares: Sequence[float | None] | None = None, max_boxes: int | None = None,
    kept: Sequence[str] = (), **options: Any,
) -> tuple[Dataset, Dataset]:  # fmt: skip
    """Open the training and validation parts of a data set in COCO's or YOLO's format.

    Parameters
    ----------
    path : path-like, or a sequence of them
        As of `finding.find`: a folder, a ``data.yaml`` or a COCO annotation file. Several data
        sets become one (see `merging.read_parts`); some of them may lack the validation part.
    classes : sequence of str or None
        Wanted class names, in the order of the class indices. None takes all of the training
        part, in its order.
    shares : sequence of float or None
        With several data sets, how many of an epoch's images are from each, relative to the
        others (`loader.BatchLoader`); by default every image comes once.
    max_boxes : int, optional
        Leave out training pictures with more boxes, with which a training step takes longer.
    kept : sequence of str
        Classes that come first, whether the data have them or not.
    image_size, **options
        As of `Dataset`, but for `antialias`.

    Returns
    -------
    train, val : Dataset

    Raises
    ------
    OSError
        Nothing there that is known (the message lists what was looked for), or no room.
    ValueError
        The data are wrong, or a class is unknown.
    """
    paths = _each(path)
    train = read_parts(paths, "train", classes, shares=shares, kept=kept)
    val = read_parts(paths, "val", train.classes, some=len(paths) > 1 or bool(kept), kept=kept)
    if max_boxes is not None:
        leave_out_crowds(train, max_boxes)
    # Training pictures keep the sharp edges of the plain interpolation: detectors learn more from
    # them, and lose nothing on pictures that are averaged (thoughts/shared/research/training.md).
    train = Dataset(train, image_size, antialias=False, **options)
    return train, Dataset(val, image_size, **options)


def _each(path: Paths) -> list[str | Path]:
    return [path] if isinstance(path, str | Path) else list(path)


def load_split(
    path: Paths, split: str, classes: list[str] | None = None, image_size: int = 320,
    limit: int | None = None, spread: int | None = None, shown: str | None = None, **options: Any,
) -> Dataset:  # fmt: skip
    """Open one part of a data set; the others aren't read, and need not be there.

    Parameters
    ----------
    path, classes, image_size, **options
        As of `load_data`, and `antialias`. A COCO annotation file may be that of any part.
    split : str
        ``"train"``, ``"val"`` or ``"test"``.
    limit : int, optional
        Read and decode only this number of pictures of each data set: the first ones of a COCO
        file, or by name. Those among them that can't be used are not replaced by others.
    spread : int, optional
        Decode only this number of pictures, spread evenly over all.
    shown : str, optional
        Decode only pictures that have a box of this class and are labelled for it.
    """
    if split not in SPLITS:
        raise ValueError(f"split is {split!r}; it must be one of {', '.join(SPLITS)}")
    for name, count in (("limit", limit), ("spread", spread)):
        if count is not None and count < 1:
            raise ValueError(f"{name} is {count}; it must be at least 1")
    listing = read_parts(_each(path), split, classes, limit)
    if shown is not None:
        listing = showing(listing, shown)
    if spread is not None:
        listing = subsample(listing, spread)
    return Dataset(listing, image_size, **options)


def open_data(
    options: Namespace, several: bool = False, choose: Callable[..., None] | None = None,
    kept: Sequence[str] = (),
) -> tuple[Dataset, Dataset]:  # fmt: skip
    """Open (training set, validation set) of the command line; download or draw if need be.

    `options` are from `training.options`; where their classes are None, they become the classes of
    the data.  `choose` is called with them and the training part's `Listing` before pictures are
    decoded.  With `several` processes the first one of a machine
    does that and decodes the pictures into a file, which all map.  `kept` is as of `load_data`.
    DataError or OSError: the data
    are missing or wrong, or hold no box of the classes.
    """
    o = options
    how = {"cache": o.cache, "cache_dir": o.cache_dir, "workers": o.workers}
    how["max_boxes"] = o.max_boxes
    if several:
        how["cache"] = "disk"
    try:
        named = [split_share(each) for each in o.data]
        paths = [_at_hand(name, o, several) for name, _ in named]
        shares = None
        if len(paths) > 1 and any(share is not None for _, share in named):
            shares = [1.0 if share is None else share for _, share in named]
        if choose is not None:
            choose(o, read_parts(paths, "train", o.classes, shares=shares, kept=kept))
        sets = load_data(
            paths, o.classes, o.image_size, shares, kept=kept, progress=sys.stderr.isatty(), **how
        )
    except ValueError as error:  # which says what is wrong with the data
        raise DataError(str(error)) from error
    o.classes = sets[0].classes
    for name, dataset in zip(("training", "validation"), sets, strict=True):
        said = () if dataset is sets[0] else ("undivided",)  # of both
        print(f"{name}: {dataset.summary(said)}")
        if not dataset.report["boxes"]:
            raise DataError(f"the {name} set has no box of {', '.join(o.classes)}")
    if any(name not in ("coco", "synthetic") for name, _ in named) and (
        pairs := equal_pictures(*sets)
    ):
        print(
            f"warning: {len(pairs)} of {len(sets[1])} validation images are training images, too, "
            f"such as {pairs[0][1]}: scores are too good by that"
        )
    return sets


def equal_pictures(train: Dataset, val: Dataset) -> list[tuple[str, str]]:
    """Return the names (in training, in validation) of pictures whose files are the same."""
    sizes: list[dict[int, list[Any]]] = [{}, {}]
    for dataset, own in zip((train, val), sizes, strict=True):
        for picture in dataset._pictures:
            own.setdefault(os.stat(picture.path).st_size, []).append(picture)

    def digest(picture: Any) -> bytes:
        return hashlib.sha256(Path(picture.path).read_bytes()).digest()

    pairs = []
    for size in sizes[0].keys() & sizes[1].keys():
        known = {digest(picture): picture.name for picture in sizes[0][size]}
        found = ((known.get(digest(picture)), picture.name) for picture in sizes[1][size])
        pairs += [(name, other) for name, other in found if name is not None]
    return sorted(pairs)


def _at_hand(name: str, options: Namespace, several: bool) -> Path:
    """Return the path of a data set of the command line, downloaded or drawn if need be."""
    o = options
    if name not in ("coco", "synthetic"):
        return Path(name)
    path = o.data_dir or Path("datasets", name)
    lock: Any = contextlib.nullcontext()
    if several:  # one after the other, so that the others find it
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path.with_name(f".{path.name}.lock"))
    with lock:
        if name == "coco":
            from data.coco import download_coco  # what downloads takes a second to import

            counts = o.train_images, o.val_images
            classes = o.classes or [*DEFAULT_CLASSES]
            return download_coco(path, classes, *counts, o.connections, o.seed)
        if generate_dataset(path, o.train_images, o.val_images, jobs=os.cpu_count() or 1):
            print(f"drew {o.train_images} + {o.val_images} images into {path}")
        return path
