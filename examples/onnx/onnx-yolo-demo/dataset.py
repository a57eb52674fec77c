"""Data sets for the YOLO11n demo: letterboxed pictures with their boxes."""

from typing import NamedTuple

import numpy as np
from data.cache import CacheError, check_memory, open_squares, read_square
from data.formats import clean_boxes, read_coco, read_part
from data.images import Letterbox, decode, quiet, to_fractions
from data.listing import SPLITS, DataPaths, find, find_data

__all__ = [
    "SPLITS",
    "CacheError",
    "CocoDataset",
    "DataPaths",
    "Dataset",
    "Sample",
    "find_data",
    "load_data",
    "load_split",
]

_SMALL, _LARGE = 32**2, 96**2  # COCO's limits of box areas, in pixels of the picture
_MOST_NAMES = 20  # of pictures in a summary, for each kind of remark
_NOTES = {
    "clipped": "boxes clipped to their image",
    "zero_area": "boxes without area dropped",
    "crowd": "crowd regions not used for training",
    "duplicates": "duplicate boxes dropped",
    "from_polygon": "boxes made from polygons",
    "no_label_file": "images have no label file and are taken as background",
}


class Sample(NamedTuple):
    """One letterboxed picture with its boxes."""

    image: np.ndarray  # uint8 (S, S, 3)
    boxes: np.ndarray  # float32 (n, 4): cx, cy, w, h as fractions of the square
    classes: np.ndarray  # int32 (n,)
    image_id: int
    geometry: Letterbox


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
        Side of the squares in pixels.
    cache : str or bool
        ``"memory"`` (or True) keeps all squares in memory, ``n * image_size**2 * 3`` bytes,
        ``"disk"`` in a memory-mapped file, for sets beyond memory. False decodes pictures
        whenever they are asked for.
    cache_dir : path-like, optional
        Folder of the cache on disk; ``.cache`` beside the data by default.
    workers : int
        Threads that decode pictures.
    progress : bool
        Show a progress bar while decoding.
    antialias : bool
        As of `images.letterbox`.

    Attributes
    ----------
    classes : list of str
    category_ids : list of int
        COCO ids of the classes.
    image_dir : Path
    skipped : list of (str, str)
        File name and reason.
    changed : list of (str, str)
        File name and what was done to the picture so that it could be used.
    report : dict
        Counts of what is there and what was left out; ``box_sizes`` are the shares of small
        (below 32² pixels of the picture), medium and large (from 96²) boxes.

    Raises
    ------
    ValueError
        A wrong argument, or no picture is usable.
    CacheError
        No room for the squares.
    """

    def __init__(
        self,
        listing,
        image_size=320,
        cache="memory",
        cache_dir=None,
        workers=1,
        progress=False,
        antialias=True,
    ):
        self.antialias = bool(antialias)
        self.image_size = int(image_size)
        if self.image_size < 1:
            raise ValueError(f"image_size is {image_size}; it must be positive")
        self._listing = listing
        self.classes, self.category_ids = listing.classes, listing.category_ids
        self.image_dir = listing.image_dir
        how = (workers, str(self.image_dir) if progress else "", self.antialias)
        self._decode(cache, cache_dir or listing.root / ".cache", how)
        self._add_boxes()

    def _decode(self, cache, cache_dir, how):
        """Decode the pictures, and sort them into usable, changed and skipped ones."""
        listing, size = self._listing, self.image_size
        places = [k for k in range(len(listing.pictures)) if k not in listing.excluded]
        pictures = [listing.pictures[k] for k in places]
        source = listing.source.with_stem(f"{listing.source.stem}-{listing.part}".strip("-"))
        self._store = open_squares(cache, cache_dir, source, pictures, size, *how)
        outcomes = listing.excluded | dict(zip(places, self._store.outcomes, strict=True))
        self.skipped, self.changed, self._pictures, self._geometries = [], [], [], []
        for place, picture in enumerate(listing.pictures):
            outcome = outcomes[place]
            if isinstance(outcome, str):
                self.skipped.append((picture.name, outcome))
                continue
            self.changed += [(picture.name, note) for note in outcome.notes]
            self._pictures.append(picture)
            self._geometries.append(Letterbox.fit(outcome.width, outcome.height, size))
        if not self._pictures:
            first = f"; first: {self.skipped[0][0]}: {self.skipped[0][1]}" if self.skipped else ""
            raise ValueError(
                f"none of the {len(listing.pictures)} images of {listing.source} is usable in "
                f"{self.image_dir}{first}"
            )
        self.skipped += listing.other_files

    def _add_boxes(self):
        """Move the boxes that can be used into the squares."""
        count, listing = len(self), self._listing
        sides = np.array([(g.width, g.height) for g in self._geometries], float)
        rows, self._labels, self._corners, dropped = clean_boxes(
            listing, [picture.image_id for picture in self._pictures], sides
        )
        self._bounds = np.searchsorted(rows, np.arange(count + 1))
        scale = np.array([geometry.scale_xy * 2 for geometry in self._geometries])
        shift = np.array([(g.left, g.top) * 2 for g in self._geometries], float)
        self._boxes = to_fractions(self._corners * scale[rows] + shift[rows], self.image_size)
        areas = (self._corners[:, 2:] - self._corners[:, :2]).prod(axis=1)
        shares = np.histogram(areas, [0, _SMALL, _LARGE, np.inf])[0] / max(len(areas), 1)
        counts = np.bincount(self._labels, minlength=len(self.classes)).tolist()
        self.report = {
            "images": count,
            "background": int((np.diff(self._bounds) == 0).sum()),
            "boxes": len(rows),
            "per_class": dict(zip(self.classes, counts, strict=True)),
            "box_sizes": dict(zip(("small", "medium", "large"), shares.tolist(), strict=True)),
            "skipped": len(self.skipped),
            "changed": len(self.changed),
            **dict.fromkeys(("crowd", "from_polygon", "no_label_file"), 0),
            **listing.counts,
            **dropped,
            "left_out_classes": listing.left_out_classes,
        }

    def _of(self, index):
        """Where an image's boxes are."""
        index = range(len(self))[index]
        return slice(self._bounds[index], self._bounds[index + 1])

    # -------------------------------------------------------------------------- items

    def __len__(self):
        return len(self._pictures)

    def __getitem__(self, index):
        picture, boxes = self._pictures[index], self._of(index)
        if self._store.array is not None:
            image = self._store.array[index]
        else:
            with quiet():
                image, outcome = read_square(picture, self.image_size, self.antialias)
            if image is None:
                raise OSError(f"{picture.path} has changed: {outcome}")
        return Sample(
            image, self._boxes[boxes], self._labels[boxes], picture.image_id,
            self._geometries[index],
        )  # fmt: skip

    def picture(self, index):
        """The picture of an image at full size, as its boxes see it; uint8 (height, width, 3).

        Use it rather than the file: the boxes of a few pictures belong to pixels that the
        camera's orientation would turn (see `images.decode`).
        """
        picture = self._pictures[index]
        with quiet():
            return decode(picture.path, picture.size)[0]

    @property
    def squares(self):
        """uint8 (n, S, S, 3), read-only: all letterboxed images."""
        if self._store.array is None:
            raise ValueError('this data set was opened without a cache; use cache="memory"')
        return self._store.array

    @property
    def image_ids(self):
        """COCO ids of the usable images, in the order of the indices."""
        return [picture.image_id for picture in self._pictures]

    def file_name(self, index):
        """File name of an image, relative to the image folder."""
        return self._pictures[index].name

    @property
    def max_boxes(self):
        """Most boxes one image holds (at least 1); see `max_boxes_with` for mosaics."""
        return self.max_boxes_with(mosaic=False)

    def max_boxes_with(self, mosaic):
        """Most boxes a training image can hold: of one image, or of a mosaic of four."""
        counts = sorted(np.diff(self._bounds).tolist(), reverse=True)
        if not mosaic:
            return max(counts[0], 1)
        # A set of fewer than four images repeats them in a mosaic.
        return max(sum((counts * 4)[:4] if len(counts) < 4 else counts[:4]), 1)

    # -------------------------------------------------------------------------- for people

    def ground_truth(self):
        """COCO dictionary of the usable images and the classes.

        Of a COCO file it has the boxes as in the file, crowd regions too. Of text labels it has
        the clipped boxes; images are numbered from 1 by name, categories from 1.
        """
        data = self._listing.coco
        if data is None:
            return self._made_ground_truth()
        images, categories = set(self.image_ids), set(self.category_ids)
        return {
            "images": [image for image in data["images"] if image["id"] in images],
            "annotations": [
                a
                for a in data["annotations"]
                if a["image_id"] in images and a["category_id"] in categories
            ],
            "categories": [c for c in data["categories"] if c["id"] in categories],
        }

    def _made_ground_truth(self):
        images, annotations = [], []
        for index, picture in enumerate(self._pictures):
            size = {side: getattr(self._geometries[index], side) for side in ("width", "height")}
            images.append({"id": picture.image_id, "file_name": picture.name, **size})
            boxes = self._of(index)
            for label, corners in zip(self._labels[boxes], self._corners[boxes], strict=True):
                x, y, right, bottom = corners.tolist()
                annotations.append(
                    {
                        "id": len(annotations) + 1,
                        "image_id": picture.image_id,
                        "category_id": self.category_ids[label],
                        "bbox": [x, y, right - x, bottom - y],
                        "area": (right - x) * (bottom - y),
                        "iscrowd": 0,
                    }
                )
        named = zip(self.category_ids, self.classes, strict=True)
        categories = [{"id": number, "name": name} for number, name in named]
        return {"images": images, "annotations": annotations, "categories": categories}

    def summary(self):
        """Counts and everything that was left out or changed, as text for people."""
        report = self.report
        sizes = ", ".join(f"{share:.0%} {size}" for size, share in report["box_sizes"].items())
        lines = [
            f"{self._listing.source.name} {self._listing.part}".strip()
            + f": {report['images']} images ({report['background']} without boxes), "
            f"{report['boxes']} boxes ({_listed(report['per_class'])})",
            f"  box sizes in the pictures: {sizes} (limits 32² and 96² pixels)",
        ]
        if self._store.note:
            lines.append(f"  pictures {self._store.note}")
        lines += [f"  {report[key]} {text}" for key, text in _NOTES.items() if report[key]]
        if other := report["other_classes"]:
            lines.append(f"  {sum(other.values())} boxes of other classes: {_listed(other)}")
        if names := report["left_out_classes"]:
            lines.append(f"  categories that only group others, not used: {', '.join(names)}")
        for kind, found in (("skipped", self.skipped), ("changed", self.changed)):
            if found:
                lines.append(f"  {len(found)} files {kind}:")
                lines += [f"    {name}: {reason}" for name, reason in found[:_MOST_NAMES]]
            if len(found) > _MOST_NAMES:
                lines.append(f"    ... and {len(found) - _MOST_NAMES} more")
        return "\n".join(lines)


def _listed(counts, most=10):
    """Counts by name as text; the first ones, where there are many."""
    shown = ", ".join(f"{name} {count}" for name, count in list(counts.items())[:most])
    return f"{shown} and {len(counts) - most} more" if len(counts) > most else shown


class CocoDataset(Dataset):
    """Pictures and boxes of a COCO instances file, letterboxed to squares.

    Parameters
    ----------
    annotation_file, image_dir, classes
        As of `formats.read_coco`.
    image_size, **options
        As of `Dataset`.
    """

    def __init__(self, annotation_file, image_dir, classes, image_size=320, **options):
        super().__init__(read_coco(annotation_file, image_dir, classes), image_size, **options)


# ------------------------------------------------------------------------------ opening


def load_data(path, classes=None, image_size=320, cache="memory", **options):
    """Open the training and validation parts of a data set in COCO's or YOLO's format.

    Training pictures are shrunk without antialiasing.

    Parameters
    ----------
    path : path-like or DataPaths
        As of `listing.find`: a folder, a ``data.yaml`` or a COCO annotation file. COCO's format
        goes first where a folder is in both.
    classes : sequence of str or None
        Wanted class names, in the order of the class indices. None takes all of the training
        part, in its order.
    image_size, cache, **options
        As of `Dataset`, but for `antialias`.

    Returns
    -------
    train, val : Dataset

    Raises
    ------
    FileNotFoundError
        Nothing there that is known; the message lists what was looked for.
    ValueError
        The data are wrong, or a class is unknown.
    CacheError
        No room for the decoded pictures.
    """
    found = [find(path, split) for split in ("train", "val")]
    train = read_part(found[0], classes)
    val = read_part(found[1], train.classes)
    if cache in (True, "memory"):  # before the first is decoded, not after
        check_memory((len(train.pictures) + len(val.pictures)) * int(image_size) ** 2 * 3)
    # Training pictures keep the sharp edges of the plain interpolation: detectors learn more from
    # them, and lose nothing on pictures that are averaged (thoughts/shared/research/training.md).
    return (
        Dataset(train, image_size, cache, antialias=False, **options),
        Dataset(val, image_size, cache, **options),
    )


def load_split(path, split, classes=None, image_size=320, cache="memory", limit=None, **options):
    """Open one part of a data set; the others aren't read, and need not be there.

    Parameters
    ----------
    path : path-like or DataPaths
        As of `load_data`. A COCO annotation file may be that of any part.
    split : str
        ``"train"``, ``"val"`` or ``"test"``.
    classes : sequence of str or None
        Wanted class names, in the order of the class indices. None takes all of the part, in its
        order.
    image_size, cache, **options
        As of `Dataset`.
    limit : int, optional
        Read and decode only so many pictures: the first ones of a COCO file, or by name. Those
        among them that can't be used are not replaced by others.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError, ValueError, CacheError
        As `load_data`; the split is unknown, or the limit is not positive.
    """
    if split not in SPLITS:
        raise ValueError(f"split is {split!r}; it must be one of {', '.join(SPLITS)}")
    if limit is not None and limit < 1:
        raise ValueError(f"limit is {limit}; it must be at least 1")
    listing = read_part(find(path, split), classes, limit)
    if limit is not None:  # a name of its own, so that its cache doesn't replace that of all
        listing.part = "-".join(filter(None, [listing.part, f"first-{limit}"]))
    return Dataset(listing, image_size, cache, **options)
