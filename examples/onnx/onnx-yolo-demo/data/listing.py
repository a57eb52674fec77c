"""Where a data set lies, in COCO's or in YOLO's format, and what its files say."""

import hashlib
import json
import os
import tempfile
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml
from filelock import FileLock

SPLITS = ("train", "val", "test")
_ONE_IN = 5  # about one in so many pictures of an undivided data set is for validation


class DataError(Exception):
    """The data can't be brought here or used; the message is one line and names the way out."""


class PartMissingError(FileNotFoundError):
    """A data set has no such part (training, validation or test)."""


class Picture(NamedTuple):
    """A picture that a data set names."""

    name: str  # relative to the image folder
    path: str
    image_id: int
    size: tuple | None  # width and height that the annotation file gives
    source: str = ""  # where it is from, if the annotation file says so


class Boxes(NamedTuple):
    """Boxes of the pictures of a `Listing`, m of them."""

    owner: np.ndarray  # int64 (m,): place in `pictures` of each box
    label: np.ndarray  # int32 (m,): place in `classes` of each box
    corners: np.ndarray  # float64 (m, 4): x1, y1, x2, y2, not yet clipped to the picture
    fractions: np.ndarray  # bool (m,): whether corners are fractions of the sides, not pixels


@dataclass
class Listing:
    """Pictures and boxes of one part (training, validation, test) of a data set."""

    source: Path  # the file that it was read from
    image_dir: Path
    classes: list  # names
    category_ids: list  # COCO's category id of each class
    pictures: list  # of Picture
    boxes: Boxes
    # Where there may be things of a class without a box each: COCO's crowds, uncertain boxes
    regions: Boxes
    counts: dict  # what was left out or changed, by the names of `Dataset.report`
    excluded: dict = field(default_factory=dict)  # place in `pictures`: why it can't be used
    coco: dict | None = None  # content of the COCO file, if it is one
    # bool (pictures, classes): of which classes all things in a picture have a box; None: of all
    labelled: np.ndarray | None = None
    parts: list = field(default_factory=list)  # of Part, if several sets were merged


class Part(NamedTuple):
    """One of several data sets in a merged `Listing`: pictures `start` to `stop`."""

    name: str
    start: int
    stop: int
    share: float | None  # of the pictures of an epoch, relative to the other sets'


def subsample(listing, count):
    """Return the `Listing` of `count` pictures of another, spread evenly, with their boxes."""
    every = len(listing.pictures)
    places = np.unique(np.linspace(0, every - 1, min(count, every)).round().astype(int))
    return _at(listing, places)


def showing(listing, name):
    """Return the `Listing` of the pictures that have a box of a class and are labelled for it.

    ValueError if there is none.
    """
    label = listing.classes.index(name) if name in listing.classes else -1
    owners = listing.boxes.owner[listing.boxes.label == label]
    shown = np.isin(np.arange(len(listing.pictures)), owners)
    if listing.labelled is not None:
        shown &= listing.labelled[:, label]
    if not shown.any():
        raise ValueError(
            f"{listing.source}: no picture has a box of {name!r} and is labelled for it; the "
            f"classes are {', '.join(listing.classes)}"
        )
    return _at(listing, np.flatnonzero(shown))


def _at(listing, places):
    """Return the `Listing` of the pictures at ascending places of another, with their boxes."""
    new = np.full(len(listing.pictures), -1)
    new[places] = np.arange(len(places))

    def kept(boxes):
        own = Boxes(*(field[new[boxes.owner] >= 0] for field in boxes))
        return own._replace(owner=new[own.owner])

    excluded = {int(new[place]): why for place, why in listing.excluded.items() if new[place] >= 0}
    return replace(
        listing, pictures=[listing.pictures[place] for place in places],
        boxes=kept(listing.boxes), regions=kept(listing.regions), excluded=excluded, parts=[],
        labelled=None if listing.labelled is None else listing.labelled[places],
    )  # fmt: skip


class YoloPart(NamedTuple):
    """Where a part of a data set with YOLO's text labels lies."""

    source: Path  # data.yaml, obj.data or classes.txt
    root: Path  # folder that the others are relative to
    names: list  # class names by their number
    entries: list  # folders of pictures, or text files that list pictures
    keypoints: tuple | None = None  # kpt_shape of data.yaml: how many, and numbers of each


class Unsplit(NamedTuple):
    """A data set without parts, of which training and validation take a share each."""

    part: tuple  # (annotation file, image folder), or YoloPart


def share_of(source, names, split):
    """Choose the pictures of an undivided data set that are for training, or for validation.

    A hash of its name decides about a picture, so that it stays in its part when others are added.
    About one in five is for validation; each part gets at least one. ValueError if there are fewer
    than two.
    """
    if len(names) < 2:
        raise ValueError(
            f"{source} has {len(names)} pictures, and no part for validation: at least two are "
            "needed to take one for it (some tools export without the pictures: add them)"
        )
    rank = {name: hashlib.sha256(name.encode(errors="surrogateescape")).digest() for name in names}
    chosen = {name for name in names if int.from_bytes(rank[name]) % _ONE_IN == 0}
    if not 0 < len(chosen) < len(rank):
        chosen = {min(names, key=rank.get)}
    return [name for name in names if (name in chosen) == (split == "val")]


def place_in(folder, name):
    """Return the path of what a file calls `name`, which may be written as on Windows."""
    # Not Path.expanduser, which fails for a picture called ~1.jpg.
    place = folder / os.path.expanduser(name)
    return place if place.exists() else folder / os.path.expanduser(name.replace("\\", "/"))


def box_counts(listing):
    """Return how many boxes each picture of a `Listing` has; a box given twice counts once."""
    boxes = listing.boxes
    rows = np.column_stack([boxes.owner, boxes.label, boxes.corners])
    owners = np.unique(rows, axis=0)[:, 0].astype(int)
    return np.bincount(owners, minlength=len(listing.pictures))


def most_boxes(counts, mosaic):
    """Return the most boxes of a training image, at least 1; a `mosaic` has those of four.

    `counts` are those of the pictures. A mosaic that by chance has a crowded picture more than once
    may have more.
    """
    counts = np.sort(counts)[::-1]
    # A set of fewer than four images repeats them in a mosaic, and so does resize.
    return max(int(np.resize(counts, 4).sum() if mosaic else counts[0]), 1)


def leave_out_crowds(listing, most):
    """Exclude the pictures of a `Listing` that have more than `most` boxes."""
    counts = box_counts(listing)
    for place in np.flatnonzero(counts > most).tolist():
        listing.excluded[place] = f"has {counts[place]} boxes, more than --max-boxes {most}"


def choose_classes(source, available, wanted, some=False):
    """Return the wanted class names, all by default, checked against those of `source`.

    With `some`, `source` may lack some of them, and the others are returned. ValueError if a class
    is unknown or named twice, or none is left.
    """
    wanted = list(available if wanted is None else wanted)
    unknown = [name for name in wanted if name not in available]
    if some and len(unknown) < len(wanted):
        wanted, unknown = [name for name in wanted if name in available], []
    if unknown:
        lower = {name.lower(): name for name in available}
        meant = [repr(lower[name.lower()]) for name in unknown if name.lower() in lower]
        hint = f" (did you mean {', '.join(meant)}?)" if meant else ""
        raise ValueError(
            f"{source} has no category {unknown}{hint}; available: {sorted(available)}"
        )
    if not wanted or len(set(wanted)) != len(wanted):
        raise ValueError(f"classes must be distinct names, at least one; got {wanted}")
    return wanted


# ------------------------------------------------------------------------------ COCO

_LAYOUTS = [  # annotation file, image folder
    ("annotations/instances_{}.json", "images/{}"),
    ("annotations/instances_{}2017.json", "{}2017"),
    ("annotations/instances_{}2017.json", "images/{}2017"),  # Ultralytics
    ("{}/_annotations.coco.json", "{}"),  # Roboflow
    ("annotations/instances_{}.json", "images"),  # CVAT, before it made folders
]
_WHOLE = [  # the same of a data set without parts
    ("annotations/instances_default.json", "images/default"),  # CVAT
    ("annotations/instances_default.json", "images"),
    ("result.json", "images"),  # Label Studio
]
_NAMES = {
    "train": ["train", "Train"],
    "val": ["val", "valid", "validation", "Validation"],
    "test": ["test", "Test"],
}


def _find_coco(path, split):
    """Return (annotation file, image folder) of a folder, or of an annotation file; or None."""
    root, file = path, None
    if path.is_file():
        file = path.absolute()
        root = file.parent.parent
    for annotations, images in _LAYOUTS:
        every = [root / annotations.format(name) for names in _NAMES.values() for name in names]
        if file is not None and file not in every:
            continue
        for name in _NAMES[split]:
            found = root / annotations.format(name), root / images.format(name)
            if all(place.exists() for place in found):
                return found
    return None


def _find_whole(path):
    """Return the same for a data set without parts, or a YoloPart of one; or None."""
    file = path.absolute() if path.is_file() else None
    for root in (path,) if file is None else (file.parent, file.parent.parent):
        for annotations, images in _WHOLE:
            found = root / annotations, root / images
            if file in (None, found[0]) and all(place.exists() for place in found):
                return found
    names, images = path / "classes.txt", path / "images"  # Label Studio
    if names.is_file() and images.is_dir():
        return YoloPart(names, path, read_names(names), [images])
    return None


# ------------------------------------------------------------------------------ YOLO


def _find_yolo(path, split):
    """Return the YoloPart of a data.yaml, an obj.data, or a folder with classes.txt; or None."""
    if path.is_file():
        return (_from_darknet if path.suffix == ".data" else _from_yaml)(path, split)
    if (file := _data_yaml(path)) is not None:
        return _from_yaml(file, split)
    if (path / "obj.data").is_file():
        return _from_darknet(path / "obj.data", split)
    for name in _NAMES[split]:
        for folder in (path / "images" / name, path / "images" / f"{name}2017"):
            if folder.is_dir() and (found := _beside(path)) is not None:
                return YoloPart(*found, [folder])
    return None


def _data_yaml(folder):
    """Return the data.yaml of a folder, or the only YAML file that could be it; or None."""
    for name in ("data.yaml", "data.yml"):
        if (folder / name).is_file():
            return folder / name
    files = [path for path in folder.iterdir() if path.suffix in (".yaml", ".yml")]
    files = [path for path in files if _describes_data(path)]
    return files[0] if len(files) == 1 else None


def _describes_data(path):
    try:
        return {"train", "names"} <= _read_yaml(path).keys()
    except ValueError:  # of another kind
        return False


def _beside(folder):
    """Return (file of class names, folder, names) of a folder without data.yaml, or None.

    Ultralytics' COCO has no file of names, but numbers its classes as COCO's file lists them.
    """
    file = folder / "classes.txt"
    if file.is_file():
        return file, folder, read_names(file)
    file = folder / "annotations/instances_val2017.json"
    if not file.is_file():
        return None
    try:
        listed = json.loads(file.read_text(encoding="utf-8-sig"))["categories"]
        names = [each["name"] for each in sorted(listed, key=lambda each: each["id"])]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file} has no class names: {type(error).__name__}: {error}") from None
    return file, folder, _checked_names(file, names)


def read_names(file):
    """Read the class names that a text file lists, one a line."""
    names = file.read_text(encoding="utf-8-sig").rstrip().splitlines()
    return _checked_names(file, [name.strip() for name in names])


def _checked_names(path, names):
    if not isinstance(names, list) or not all(isinstance(n, str) and n for n in names) or not names:
        raise ValueError(f"{path}: names must be a list or a mapping of texts; got {names}")
    if twice := sorted(name for name, count in Counter(names).items() if count > 1):
        raise ValueError(f"{path} names classes twice: {', '.join(twice)}")
    return names


def _numbered(path, content):
    """Return the class names of a data.yaml by number; without names, as many as `nc` says."""
    names, count = content.get("names"), content.get("nc")
    if not names:
        if not isinstance(count, str) or not count.isdecimal():
            raise ValueError(f"{path}: without names, nc must be their number; got {count}")
        return [f"class_{k}" for k in range(int(count))]
    if isinstance(names, dict):
        if sorted(names) != sorted(map(str, range(len(names)))):
            raise ValueError(
                f"{path}: names must be numbered 0, 1, 2, … without a gap; got {', '.join(names)}"
            )
        names = [names[str(k)] for k in range(len(names))]
    return _checked_names(path, names)


def _keypoints(path, content):
    """Return kpt_shape of a data.yaml, or None where it says nothing of keypoints."""
    shape = content.get("kpt_shape")
    if not shape:
        return None
    if (
        not isinstance(shape, list) or len(shape) != 2 or shape[1] not in ("2", "3")
        or not isinstance(shape[0], str) or not shape[0].isdecimal()
    ):  # fmt: skip
        raise ValueError(f"{path}: kpt_shape must be [keypoints, 2 or 3], such as [17, 3]")
    return int(shape[0]), int(shape[1])


def _read_yaml(path):
    try:
        # Every scalar stays text: a class may be called ``no`` or ``1``.
        content = yaml.load(path.read_text(encoding="utf-8-sig"), yaml.BaseLoader)
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"{path} is no valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} must hold lines of the form `key: value`")
    for other in _NAMES["val"][1:3]:  # the names that some tools give it
        content["val"] = content.get("val") or content.get(other)
    return content


def _from_yaml(path, split):
    content = _read_yaml(path)
    if split == "val" and content.get("train") and not content["val"]:
        return None
    missing = [key for key in (split, "names") if not content.get(key)]
    if missing and not (missing == ["names"] and content.get("nc")):
        raise ValueError(f"{path} lacks {', '.join(missing)}")
    names = _numbered(path, content)
    folder = str(content.get("path", ""))
    root = place_in(path.parent, folder)
    if not root.is_dir() and root.name == path.absolute().parent.name:
        root = path.parent  # Ultralytics seeks ``path: coco`` in its own folder of data sets
    if not root.is_dir():
        raise FileNotFoundError(
            f"{path}: its path, {root}, is no folder; correct it, or remove it if the pictures "
            "lie beside the file"
        )
    entries = content[split] if isinstance(content[split], list) else [content[split]]
    if not all(isinstance(entry, str) for entry in entries):
        raise ValueError(f"{path}: {split} must be a folder, a text file, or a list of them")
    places = [place_in(root, entry) for entry in entries]
    for k, entry in enumerate(entry.replace("\\", "/") for entry in entries):
        if not places[k].exists() and entry.startswith("../"):
            places[k] = root / entry[3:]  # Roboflow writes ../train/images for train/images
        if not places[k].exists():
            raise FileNotFoundError(f"{path}: {split} is {entry}, but {places[k]} does not exist")
    return YoloPart(path, root, names, places, _keypoints(path, content))


def _from_darknet(path, split):
    """Return the YoloPart of an obj.data, as CVAT writes it; None where it has no such part."""
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    content = {key.strip(): value.strip() for key, _, value in (x.partition("=") for x in lines)}
    entry = next((content[name] for name in _NAMES[split] if content.get(name)), None)
    if entry is None:
        return None
    places = []
    for name in (content.get("names", "obj.names"), entry):
        # CVAT's older versions put data/ before all paths.
        found = [place_in(path.parent, each) for each in (name, name.removeprefix("data/"))]
        places += [place for place in found if place.exists()][:1]
        if not found[0].exists() and not found[1].exists():
            raise FileNotFoundError(f"{path} names {name}, but {found[0]} does not exist")
    return YoloPart(path, path.parent, read_names(places[0]), [places[1]])


# ------------------------------------------------------------------------------ either


def unpacked(archive):
    """Unpack a zip once into .cache beside it, by its content's hash; return the folder."""
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    folder = archive.parent / ".cache" / f"{archive.stem}-{digest}"
    folder.parent.mkdir(exist_ok=True)
    with FileLock(f"{folder}.lock"), tempfile.TemporaryDirectory(dir=folder.parent) as part:
        try:
            if not folder.exists():
                with zipfile.ZipFile(archive) as opened:
                    for name in opened.namelist():
                        if name.startswith("/") or ".." in name.split("/"):
                            raise ValueError(f"{archive} holds {name}, outside of it; zip it anew")
                    opened.extractall(f"{part}/whole")
                Path(part, "whole").rename(folder)
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
            again = "save or download it again, without a password"
            raise ValueError(f"{archive} can't be unpacked: {error}; {again}") from None
    inside = [path for path in folder.iterdir() if path.name != "__MACOSX"]
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder  # or of its one folder


def _part(path, kind, split):
    found = _find_coco(path, split) if kind in ("", ".json") else None
    if found is None and kind != ".json":
        found = _find_yolo(path, split)
    return found


def _is_named(path, kind, split):
    try:
        return _part(path, kind, split) is not None
    except (OSError, ValueError):  # it is there, though something is wrong with it
        return True


def find(path, split):
    """Locate a part of a data set; the other parts need not be there.

    `path` is a folder in one of COCO's layouts (`_LAYOUTS`, `_WHOLE`), or one of its annotation
    files; a ``data.yaml`` with ``train``, ``val`` and ``names`` (and ``path``, ``test``), or its
    folder; an ``obj.data``, or its folder; or a folder with ``images/{train,val}``,
    ``labels/{train,val}`` and the class names, one a line, in ``classes.txt``; or a zip of such a
    folder. The validation part may be called valid. COCO's format goes first where a folder is in
    both.

    Where there is no part for validation, pictures of the training part, or of the only one, are
    taken for it (`share_of`).

    Returns
    -------
    (annotation_file, image_dir) of COCO, YoloPart, or Unsplit with one of them
    """
    path = given = Path(os.path.expanduser(path))  # shells leave --data=~/x as it is
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist: give a folder, .zip, .yaml or .json")
    kind = path.suffix.lower() if path.is_file() else ""
    if path.is_file() and kind not in (".json", ".yaml", ".yml", ".zip", ".data"):
        raise ValueError(f"{path} is no folder, .yaml, .json, .data or .zip file")
    if kind == ".zip":
        path, kind = unpacked(path), ""
    found = _part(path, kind, split)
    if found is not None and (split != "train" or _is_named(path, kind, "val")):
        return found
    if split != "test" and (whole := _part(path, kind, "train") or _find_whole(path)):
        return Unsplit(whole)
    wanted = "; ".join(" + ".join(layout).replace("{}", split) for layout in _LAYOUTS)
    also = " (or valid instead of val)" if split == "val" else ""
    raise PartMissingError(
        f"no {split} part in {given}: looked for {wanted}; data.yaml; obj.data; images/{split} + "
        f"labels/{split} + classes.txt{also}; "
        + "; ".join(" + ".join(layout) for layout in _WHOLE)
        + "; images + labels + classes.txt"
    )
