"""Where a data set lies, in COCO's or in YOLO's format, and what its files say."""

import hashlib
import tempfile
import zipfile
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml
from filelock import FileLock

SPLITS = ("train", "val", "test")


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


@dataclass
class Listing:
    """Pictures and boxes of one part (training, validation, test) of a data set."""

    source: Path  # the file that it was read from
    image_dir: Path
    classes: list  # names
    category_ids: list  # COCO's category id of each class
    pictures: list  # of Picture
    owner: np.ndarray  # int64 (m,): place in `pictures` of each box
    label: np.ndarray  # int32 (m,): place in `classes` of each box
    corners: np.ndarray  # float64 (m, 4): x1, y1, x2, y2, not yet clipped to the picture
    counts: dict  # what was left out or changed, by the names of `Dataset.report`
    # Whether `corners` are fractions of the sides instead of pixels: of all boxes, or bool (m,)
    fractions: bool | np.ndarray = False
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


def thinned(listing, count):
    """Return the `Listing` of `count` pictures, spread evenly over those of another, and theirs."""
    every = len(listing.pictures)
    places = np.unique(np.linspace(0, every - 1, min(count, every)).round().astype(int))
    new = np.full(every, -1)
    new[places] = np.arange(len(places))
    kept = new[listing.owner] >= 0
    fractions = np.broadcast_to(listing.fractions, len(listing.owner))[kept]
    excluded = {int(new[place]): why for place, why in listing.excluded.items() if new[place] >= 0}
    return replace(
        listing, pictures=[listing.pictures[place] for place in places],
        owner=new[listing.owner[kept]], label=listing.label[kept], corners=listing.corners[kept],
        fractions=fractions, excluded=excluded, parts=[],
        labelled=None if listing.labelled is None else listing.labelled[places],
    )  # fmt: skip


class YoloPart(NamedTuple):
    """Where a part of a data set with YOLO's text labels lies."""

    source: Path  # data.yaml or classes.txt
    root: Path  # folder that the others are relative to
    names: list  # class names by their number
    entries: list  # folders of pictures, or text files that list pictures


def choose_classes(source, available, wanted, some=False):
    """The wanted class names, all by default, once they are checked against those of `source`.

    With `some`, those of them that `source` has: at least one.
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
    ("{}/_annotations.coco.json", "{}"),  # Roboflow
]
_NAMES = {"train": ["train"], "val": ["val", "valid"], "test": ["test"]}


def _find_coco(path, split):
    """(annotation file, image folder) in a folder, or beside an annotation file; or None."""
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


# ------------------------------------------------------------------------------ YOLO


def _find_yolo(path, split):
    """YoloPart of a data.yaml, of a folder with one, or of a folder with classes.txt; or None."""
    file = path / "data.yaml" if path.is_dir() else path
    if file.is_file():
        return _from_yaml(file, split)
    file = path / "classes.txt"
    for name in _NAMES[split]:
        folder = path / "images" / name
        if file.is_file() and folder.is_dir():
            names = file.read_text(encoding="utf-8-sig").rstrip().splitlines()
            return YoloPart(file, path, _checked_names(file, [n.strip() for n in names]), [folder])
    return None


def _checked_names(path, names):
    if not isinstance(names, list) or not all(isinstance(n, str) and n for n in names) or not names:
        raise ValueError(f"{path}: names must be a list or a mapping of texts; got {names}")
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"{path} names classes twice: {', '.join(twice)}")
    return names


def _from_yaml(path, split):
    try:
        # Every scalar stays text: a class may be called ``no`` or ``1``.
        content = yaml.load(path.read_text(encoding="utf-8-sig"), yaml.BaseLoader)
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"{path} is no valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} must hold lines of the form `key: value`")
    content.setdefault("val", content.get("valid", ""))  # the name that some tools give it
    missing = [key for key in (split, "names") if not content.get(key)]
    if missing:
        raise ValueError(f"{path} lacks {', '.join(missing)}")
    names = content["names"]
    if isinstance(names, dict):
        if list(names) != [str(k) for k in range(len(names))]:
            raise ValueError(
                f"{path}: names must be numbered 0, 1, 2, … in this order; got {', '.join(names)}"
            )
        names = list(names.values())
    names = _checked_names(path, names)
    root = path.parent / Path(str(content.get("path", ""))).expanduser()
    if not root.is_dir():
        raise FileNotFoundError(
            f"{path}: its path, {root}, is no folder; correct it, or remove it if the pictures "
            "lie beside the file"
        )
    entries = content[split] if isinstance(content[split], list) else [content[split]]
    if not all(isinstance(entry, str) for entry in entries):
        raise ValueError(f"{path}: {split} must be a folder, a text file, or a list of them")
    places = [root / Path(entry).expanduser() for entry in entries]
    for k, entry in enumerate(entries):
        if not places[k].exists() and entry.startswith("../"):
            places[k] = root / entry[3:]  # Roboflow writes ../train/images for train/images
        if not places[k].exists():
            raise FileNotFoundError(f"{path}: {split} is {entry}, but {places[k]} does not exist")
    return YoloPart(path, root, names, places)


# ------------------------------------------------------------------------------ either


def unpacked(archive):
    """Folder of what a zip holds: unpacked once into .cache beside it, by its content's hash."""
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


def find(path, split):
    """Locate a part of a data set; the other parts need not be there.

    `path` is a folder in one of COCO's layouts (`_LAYOUTS`), or one of its annotation files; a
    ``data.yaml`` with ``train``, ``val`` and ``names`` (and ``path``, ``test``), or its folder; or
    a folder with ``images/{train,val}``, ``labels/{train,val}`` and the class names, one a line,
    in ``classes.txt``; or a zip of such a folder. The validation part may be called valid. COCO's
    format goes first where a folder is in both.

    Returns
    -------
    (annotation_file, image_dir) of COCO, or YoloPart
    """
    path = given = Path(path).expanduser()  # shells leave --data=~/x as it is
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist: give a folder, .zip, .yaml or .json")
    kind = path.suffix.lower() if path.is_file() else ""
    if path.is_file() and kind not in (".json", ".yaml", ".yml", ".zip"):
        raise ValueError(f"{path} is no folder, .yaml, .json or .zip file")
    if kind == ".zip":
        path, kind = unpacked(path), ""
    found = _find_coco(path, split) if kind in ("", ".json") else None
    if found is None and kind != ".json":
        found = _find_yolo(path, split)
    if found is None:
        wanted = "; ".join(" + ".join(layout).replace("{}", split) for layout in _LAYOUTS)
        also = " (or valid instead of val)" if split == "val" else ""
        raise PartMissingError(
            f"no {split} part in {given}: looked for {wanted}; data.yaml; images/{split} + "
            f"labels/{split} + classes.txt{also}"
        )
    return found
