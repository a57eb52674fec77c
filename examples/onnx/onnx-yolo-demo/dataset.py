"""Data sets for the YOLO11n demo: finding, checking and letterboxing them."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from data.coco_format import DataPaths, find_data, find_part, read_coco
from data.data_report import summarize
from data.image_cache import (
    CacheError,
    check_memory,
    decode_all,
    in_memory,
    on_disk,
    open_shared,
    read_square,
)
from data.images import Letterbox, decode, to_fractions
from data.yolo_format import find_yolo, read_yolo, yaml_files

__all__ = [
    "CacheError",
    "CocoDataset",
    "DataPaths",
    "Dataset",
    "Sample",
    "find_data",
    "load_data",
    "load_split",
    "open_shared",
]

SPLITS = ("train", "val", "test")
_SMALL, _LARGE = 32**2, 96**2  # COCO's limits of box areas, in pixels of the picture


class Sample(NamedTuple):
    """One letterboxed picture with its boxes."""

    image: np.ndarray  # uint8 (S, S, 3)
    boxes: np.ndarray  # float32 (n, 4): cx, cy, w, h as fractions of the square
    classes: np.ndarray  # int32 (n,)
    image_id: int
    geometry: Letterbox


class _Record(NamedTuple):
    place: int  # in the listing's pictures
    geometry: Letterbox
    boxes: np.ndarray  # float32 (n, 4), fractions of the square
    classes: np.ndarray
    corners: np.ndarray  # float64 (n, 4), clipped, in pixels of the picture


class Dataset:
    """Pictures and boxes, letterboxed to squares; `load_data` makes them.

    Every picture is decoded once when the data set is made, or taken from a cache of an earlier
    time. One that can't be used is left out and listed in `skipped`; nothing is put in its
    place. Pictures without a box of the wanted classes stay, as background.

    A pickled data set has no pictures of its own: when it is loaded, it maps those of the
    process that made it.

    Parameters
    ----------
    listing : listing.Listing
        What the files of the data set say.
    image_size : int
        Side of the squares in pixels.
    cache : str or bool
        ``"memory"`` (or True) keeps all squares in memory, ``n * image_size**2 * 3`` bytes,
        ``"disk"`` in a memory-mapped file. False decodes pictures whenever they are asked for.
    cache_dir : path-like, optional
        Folder of the cache on disk; ``.cache`` beside the data by default.
    workers : int
        Processes that decode pictures; up to 1 decodes in this one.
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
        Counts: images, background, boxes, per_class, skipped, changed, clipped, zero_area, crowd,
        duplicates, from_segmentation, from_polygon, no_label_file (pictures taken as
        background for want of one); other_classes and left_out_classes by name;
        box_sizes, the shares of small (below 32² pixels of the picture), medium and large (from
        96²) boxes.
    squares_path : str or None
        The memory-mapped ``.npy`` file of the squares, with ``cache="disk"``.

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
        if cache not in (True, False, "memory", "disk"):
            raise ValueError(f'cache is {cache!r}; it must be "memory", "disk" or False')
        self._listing = listing
        self.classes, self.category_ids = listing.classes, listing.category_ids
        self.image_dir = listing.image_dir
        outcomes = self._decode(cache, cache_dir, workers, progress)
        self._sort_outcomes(outcomes)
        self._add_boxes()

    @property
    def _source(self):
        listing = self._listing
        if not listing.part:
            return listing.source
        return listing.source.with_stem(f"{listing.source.stem}-{listing.part}")

    def _decode(self, cache, cache_dir, workers, progress):
        """Decode the pictures; what became of each by its place."""
        listing, size = self._listing, self.image_size
        places = [k for k in range(len(listing.pictures)) if k not in listing.excluded]
        pictures = [listing.pictures[k] for k in places]
        how = (workers, str(self.image_dir) if progress else "", self.antialias)
        self._store = self._squares = self.squares_path = None
        if not pictures:
            outcomes = []
        elif not cache:
            outcomes = decode_all(pictures, size, None, *how)
        else:
            if cache == "disk":
                folder = cache_dir or default_cache_dir([listing.source, self.image_dir])
                self._store = on_disk(pictures, size, folder, self._source, *how)
            else:
                self._store = in_memory(pictures, size, *how)
            self._squares, outcomes = self._store.array, self._store.outcomes
            self.squares_path = self._store.path
        return dict(listing.excluded) | dict(zip(places, outcomes, strict=True))

    def _sort_outcomes(self, outcomes):
        """Sort the pictures into usable, changed and skipped ones."""
        listing = self._listing
        self.skipped, self.changed, self._records = [], [], []
        for place, picture in enumerate(listing.pictures):
            outcome = outcomes[place]
            if isinstance(outcome, str):
                self.skipped.append((picture.name, outcome))
                continue
            self.changed += [(picture.name, note) for note in outcome.notes]
            geometry = Letterbox.fit(outcome.width, outcome.height, self.image_size)
            self._records.append(_Record(place, geometry, None, None, None))
        if not self._records:
            first = f"; first: {self.skipped[0][0]}: {self.skipped[0][1]}" if self.skipped else ""
            raise ValueError(
                f"none of the {len(listing.pictures)} images of {listing.source} is usable in "
                f"{self.image_dir}{first}"
            )
        self.skipped += listing.other_files

    def _add_boxes(self):
        """Clip the boxes, drop what can't be used, and move them into the squares."""
        listing = self._listing
        row_of = np.full(len(listing.pictures), -1)
        row_of[[record.place for record in self._records]] = np.arange(len(self._records))
        usable = row_of[listing.owner] >= 0
        rows, labels = row_of[listing.owner[usable]], listing.label[usable]
        sides = np.array([[r.geometry.width, r.geometry.height] * 2 for r in self._records], float)
        limits = sides[rows]
        corners = listing.corners[usable] * (limits if listing.fractions else 1.0)
        clipped = corners.clip(0, limits)
        has_area = (clipped[:, 2:] > clipped[:, :2]).all(axis=1)
        every = np.flatnonzero(has_area)
        keys = np.column_stack([rows, labels, clipped])[every]
        # The first of equal ones, in the order of the file within an image.
        kept = every[np.sort(np.unique(keys, axis=0, return_index=True)[1])]
        kept = kept[np.argsort(rows[kept], kind="stable")]
        # Annotation tools round to 0.01 px; less than that is no overhang.
        overhang = np.abs(clipped - corners)[kept].max(axis=1, initial=0) > 0.01
        self._store_boxes(rows[kept], labels[kept], clipped[kept])
        self._count(labels[kept], clipped[kept])
        self.report |= {
            "clipped": int(overhang.sum()),
            "zero_area": len(rows) - len(every),
            "duplicates": len(every) - len(kept),
        }

    def _store_boxes(self, rows, labels, corners):
        """Give the images their boxes; `rows` is sorted."""
        bounds = np.searchsorted(rows, np.arange(len(self._records) + 1))
        scale = np.array([record.geometry.scale_xy * 2 for record in self._records])[rows]
        shift = np.array([(r.geometry.left, r.geometry.top) * 2 for r in self._records], float)
        boxes = to_fractions(corners * scale + shift[rows], self.image_size)
        for k, record in enumerate(self._records):
            part = slice(bounds[k], bounds[k + 1])
            self._records[k] = _Record(*record[:2], boxes[part], labels[part], corners[part])

    def _count(self, labels, corners):
        counts = np.bincount(labels, minlength=len(self.classes)).tolist()
        areas = (corners[:, 2:] - corners[:, :2]).prod(axis=1)
        shares = np.array([(areas < _SMALL).sum(), 0, (areas >= _LARGE).sum()]) / max(len(areas), 1)
        shares[1] = 1 - shares.sum() if len(areas) else 0
        listed = self._listing.counts
        self.report = {
            "images": len(self._records),
            "background": sum(not len(record.classes) for record in self._records),
            "boxes": len(labels),
            "per_class": dict(zip(self.classes, counts, strict=True)),
            "box_sizes": dict(zip(("small", "medium", "large"), shares.tolist(), strict=True)),
            "skipped": len(self.skipped),
            "changed": len(self.changed),
            "crowd": listed.get("crowd", 0),
            "from_segmentation": listed.get("from_segmentation", 0),
            "from_polygon": listed.get("from_polygon", 0),
            "no_label_file": listed.get("no_label_file", 0),
            "other_classes": listed.get("other_classes", {}),
            "left_out_classes": self._listing.left_out_classes,
        }

    # -------------------------------------------------------------------------- items

    def __len__(self):
        return len(self._records)

    def __getitem__(self, index):
        record = self._records[index]
        picture = self._listing.pictures[record.place]
        if self._squares is not None:
            image = self._squares[index]
        else:
            image, outcome = read_square(picture, self.image_size, self.antialias)
            if image is None:
                raise OSError(f"{picture.path} has changed: {outcome}")
        return Sample(image, record.boxes, record.classes, picture.image_id, record.geometry)

    def picture(self, index):
        """The picture of an image at full size, as its boxes see it; uint8 (height, width, 3).

        Use it rather than the file: the boxes of a few pictures belong to pixels that the
        camera's orientation would turn (see `images.decode`).
        """
        picture = self._listing.pictures[self._records[index].place]
        return decode(picture.path, picture.size)[0]

    @property
    def squares(self):
        """uint8 (n, S, S, 3), read-only: all letterboxed images."""
        if self._squares is None:
            raise ValueError('this data set was opened without a cache; use cache="memory"')
        return self._squares

    def share(self):
        """What `open_shared` needs in another process to map `squares`; it may be pickled.

        Squares in memory belong to the process that made them: open them before it ends or
        drops the data set.

        Returns
        -------
        image_cache.SharedArray
        """
        if self._squares is None:
            raise ValueError('this data set was opened without a cache; use cache="memory"')
        return self._handle if self._store is None else self._store.handle

    def __getstate__(self):
        state = self.__dict__ | {"_store": None, "_squares": None}
        if self._squares is not None:
            state["_handle"] = self.share()
        return state

    def __setstate__(self, state):
        self.__dict__ |= state
        if "_handle" in state:
            self._squares = open_shared(state["_handle"])

    @property
    def image_ids(self):
        """COCO ids of the usable images, in the order of the indices."""
        return [self._listing.pictures[record.place].image_id for record in self._records]

    def file_name(self, index):
        """File name of an image, relative to the image folder."""
        return self._listing.pictures[self._records[index].place].name

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
        for record in self._records:
            picture, geometry = self._listing.pictures[record.place], record.geometry
            images.append(
                {
                    "id": picture.image_id,
                    "file_name": picture.name,
                    "width": geometry.width,
                    "height": geometry.height,
                }
            )
            for label, corners in zip(record.classes, record.corners, strict=True):
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
        categories = [
            {"id": number, "name": name}
            for number, name in zip(self.category_ids, self.classes, strict=True)
        ]
        return {"images": images, "annotations": annotations, "categories": categories}

    def summary(self):
        """Counts and everything that was left out or changed, as text for people."""
        part = f" {self._listing.part}" if self._listing.part else ""
        return summarize(
            self._listing.source.name + part,
            self.report,
            {"skipped": self.skipped, "changed": self.changed},
            self._store.note if self._store else "",
        )


class CocoDataset(Dataset):
    """Pictures and boxes of a COCO instances file, letterboxed to squares.

    Parameters
    ----------
    annotation_file : path-like
        COCO instances JSON.
    image_dir : path-like
        Folder the JSON's ``file_name`` are relative to.
    classes : sequence of str or None
        Category names; their order gives the class indices. None takes all of the file.
    image_size, cache, workers, progress, cache_dir, antialias
        As of `Dataset`.

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
        workers=1,
        progress=False,
        cache_dir=None,
        antialias=True,
    ):
        listing = read_coco(annotation_file, image_dir, classes)
        self.annotation_file = listing.source
        super().__init__(listing, image_size, cache, cache_dir, workers, progress, antialias)


# ------------------------------------------------------------------------------ opening


def load_data(
    path,
    classes=None,
    image_size=320,
    cache="memory",
    cache_dir=None,
    workers=1,
    progress=False,
):
    """Open the training and validation parts of a data set in COCO's or YOLO's format.

    Training pictures are shrunk without antialiasing.

    Parameters
    ----------
    path : path-like or DataPaths
        A folder as `find_data` (COCO) or `find_yolo` describe, where COCO's goes first if it is
        both; or a ``data.yaml``; or one of the COCO annotation files.
    classes : sequence of str or None
        Wanted class names, in the order of the class indices. None takes all of the training
        part, in its order.
    image_size, cache, cache_dir, workers, progress
        As of `Dataset`. The default `cache_dir` is ``.cache`` in the data set's folder.

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
    found = _find(path, ("train", "val"))
    train = _read_part(found, "train", classes)
    val = _read_part(found, "val", train.classes)
    if cache in (True, "memory"):  # before the first is decoded, not after
        count = len(train.pictures) + len(val.pictures)
        check_memory(count * int(image_size) ** 2 * 3)
    options = (image_size, cache, cache_dir or found.root / ".cache", workers, progress)
    # Training pictures keep the sharp edges of the plain interpolation: detectors learn more from
    # them, and lose nothing on pictures that are averaged (thoughts/shared/research/training.md).
    return Dataset(train, *options, antialias=False), Dataset(val, *options)


def load_split(
    path,
    split,
    classes=None,
    image_size=320,
    cache="memory",
    cache_dir=None,
    workers=1,
    progress=False,
    limit=None,
    antialias=True,
):
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
    image_size, cache, cache_dir, workers, progress
        As of `load_data`.
    limit : int, optional
        Read and decode only so many pictures: the first ones of a COCO file, or by name. Those
        among them that can't be used are not replaced by others.
    antialias : bool
        As of `images.letterbox`.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        There is no such part; the message lists what was looked for.
    ValueError
        The data are wrong, a class or the split is unknown, or the limit is not positive.
    CacheError
        No room for the decoded pictures.
    """
    if split not in SPLITS:
        raise ValueError(f"split is {split!r}; it must be one of {', '.join(SPLITS)}")
    if limit is not None and limit < 1:
        raise ValueError(f"limit is {limit}; it must be at least 1")
    found = _find(path, (split,))
    listing = _read_part(found, split, classes, limit)
    if limit is not None:  # a name of its own, so that its cache doesn't replace that of all
        listing.part = "-".join(filter(None, [listing.part, f"first-{limit}"]))
    options = (image_size, cache, cache_dir or found.root / ".cache", workers, progress, antialias)
    return Dataset(listing, *options)


class _Found(NamedTuple):
    """Where the parts of a data set lie."""

    root: Path  # the data set's folder
    coco: dict | None  # (annotation file, image folder) of each part
    yolo: object  # YoloPaths, where `coco` is None


def _read_part(found, split, classes, limit=None):
    """The listing of a part."""
    if found.coco is None:
        return read_yolo(found.yolo, split, classes, limit)
    return read_coco(*found.coco[split], classes, limit)


def _find(path, splits):
    """Locate parts of a data set of any kind; `_Found`."""
    if isinstance(path, DataPaths):
        return _coco_parts(path, default_cache_dir(path).parent, splits)
    path = Path(path).expanduser()  # shells leave --data=~/x as it is
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist: give a folder, data.yaml or COCO JSON")
    if path.is_file() and path.suffix.lower() not in (".json", ".yaml", ".yml"):
        raise ValueError(f"{path} is neither a folder nor a .yaml nor a .json file")
    if path.suffix.lower() == ".json":
        return _find_coco(path, splits)
    if path.is_file():
        return _Found(path.parent, None, find_yolo(path, splits))
    try:
        return _find_coco(path, splits)
    except FileNotFoundError as error:
        not_coco = error
    try:
        return _Found(path, None, find_yolo(path, splits))
    except FileNotFoundError as error:
        if yaml_files(path):  # what is wrong with it is all that matters
            raise
        raise FileNotFoundError(f"{not_coco}; {error}") from None


def _find_coco(path, splits):
    """Locate COCO parts: as training does, and one alone where the other is missing."""
    try:
        paths = find_data(path)
    except FileNotFoundError:
        if len(splits) > 1:
            raise
    else:
        root = path if path.is_dir() else default_cache_dir(paths).parent
        if not set(splits) - {"train", "val"}:
            return _coco_parts(paths, root, splits)
    parts = {split: find_part(path, split) for split in splits}
    files = [file for part in parts.values() for file in part]
    return _Found(path if path.is_dir() else default_cache_dir(files).parent, parts, None)


def _coco_parts(paths, root, splits):
    parts = {"train": paths[:2], "val": paths[2:]}
    missing = [split for split in splits if split not in parts]
    if missing:
        raise FileNotFoundError(f"{paths.train_json} and {paths.val_json}: no part {missing[0]}")
    return _Found(root, parts, None)


def default_cache_dir(paths):
    """``.cache`` in the innermost folder that holds all of some files and folders."""
    folders = [Path(p).absolute() for p in paths]
    folders = [folder if folder.is_dir() else folder.parent for folder in folders]
    return Path(os.path.commonpath(folders)) / ".cache"
