"""List the pictures and boxes of a data set, by its files."""

import difflib
import hashlib
import os
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

SPLITS = ("train", "val", "test")
DEFAULT_CLASSES = ("person", "cell phone")  # of the data sets that are downloaded or drawn
_ONE_IN = 5  # about one in five pictures of an undivided data set is for validation


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


def boxes_of(rows, fractions=False):
    """Return the `Boxes` of rows (owner, label, x1, y1, x2, y2), in pixels or all as fractions."""
    table = np.array(rows, np.float64).reshape(-1, 6)
    owner, label = table[:, 0].astype(np.int64), table[:, 1].astype(np.int32)
    return Boxes(owner, label, table[:, 2:], np.full(len(table), fractions))


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
    notes: dict = field(default_factory=dict)  # place in `pictures`: what is odd about it
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

    def moved(texts):
        return {int(new[place]): why for place, why in texts.items() if new[place] >= 0}

    return replace(
        listing, pictures=[listing.pictures[place] for place in places],
        boxes=kept(listing.boxes), regions=kept(listing.regions), parts=[],
        excluded=moved(listing.excluded), notes=moved(listing.notes),
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

    part: tuple  # (annotation file, image folder), `YoloPart` or `forms.FormPart`


# Names of pictures that belong together: frames of a film, and copies that Roboflow makes.
_SCENES = re.compile(
    r"(.+?)[-_ .]?frame[-_ .]?\d+|(.+)_(?:jpe?g|png|bmp|webp|tiff?)\.rf\.\w+", re.IGNORECASE
)
_FEWEST_SCENES = 5  # below these, their pictures are divided


def _scene(name):
    stem, _, _ = name.rpartition(".")
    found = _SCENES.fullmatch(stem or name)
    return next(filter(None, found.groups())) if found else name


def share_of(source, names, split, kinds=None):
    """Choose the pictures of an undivided data set that are for training, or for validation.

    A hash of its name decides about a picture, so that it stays in its part when others are added;
    pictures of one scene, if names tell (``a_frame_12.png``), stay together. About one in five is
    for validation; each part gets at least one. `kinds` has the classes that a picture shows, by
    name: every class is in training, and for that alone a picture is moved. ValueError if there
    are fewer than two pictures.
    """
    if len(names) < 2:
        raise ValueError(
            f"{source} has {len(names)} pictures, and no part for validation: at least two are "
            "needed to take one for it (some tools export without the pictures: add them)"
        )
    scene = {name: _scene(name) for name in names}
    if len({*scene.values()}) < _FEWEST_SCENES:
        scene = {name: name for name in names}
    shows = {each: set() for each in scene.values()}
    for name in names:
        shows[scene[name]] |= {*(kinds or {}).get(name, ())}
    rank = {each: hashlib.sha256(each.encode(errors="surrogateescape")).digest() for each in shows}
    chosen = {each for each in rank if int.from_bytes(rank[each]) % _ONE_IN == 0}
    if not 0 < len(chosen) < len(rank):
        chosen = {min(rank, key=rank.get)}
    _return_classes(chosen, shows, rank)
    return [name for name in names if (scene[name] in chosen) == (split == "val")]


def _return_classes(chosen, shows, rank):
    """Move scenes from the `chosen` ones to the others, until these show every class."""
    for kind in sorted(set().union(*shows.values())):
        having = {each for each in shows if kind in shows[each]}
        if having <= chosen:
            chosen.remove(max(having, key=rank.get))
    if not chosen:  # the first that shows nothing that no other does
        others = Counter(kind for kinds in shows.values() for kind in kinds)
        spare = [each for each in shows if all(others[kind] > 1 for kind in shows[each])]
        chosen.add(min(spare or shows, key=rank.get))


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
    """Return the most boxes of a training image, at least 1; a `mosaic` has the boxes of four.

    `counts` are the pictures' numbers of boxes. A mosaic that by chance has a crowded picture more
    than once may have more.
    """
    counts = np.sort(counts)[::-1]
    # A set of fewer than four images repeats them in a mosaic, and so does resize.
    return max(int(np.resize(counts, 4).sum() if mosaic else counts[0]), 1)


def leave_out_crowds(listing, most):
    """Exclude the pictures of a `Listing` that have more than `most` boxes."""
    counts = box_counts(listing)
    for place in np.flatnonzero(counts > most).tolist():
        listing.excluded[place] = f"has {counts[place]} boxes, more than --max-boxes {most}"


# Names of the same class in public data sets; the first is COCO's.
_SYNONYMS = (
    ("person", "people", "human", "pedestrian", "man", "woman"),
    ("cell phone", "phone", "mobile", "mobile phone", "smartphone", "telephone"),
    ("laptop", "notebook"), ("tv", "television", "monitor", "tv monitor", "screen"),
    ("bicycle", "bike"), ("motorcycle", "motorbike"), ("airplane", "aeroplane", "plane"),
    ("car", "automobile"), ("truck", "lorry"), ("couch", "sofa"), ("dining table", "table"),
    ("potted plant", "plant"), ("refrigerator", "fridge"), ("hair drier", "hair dryer"),
    ("donut", "doughnut"), ("sports ball", "ball"), ("cup", "mug"),
)  # fmt: skip


def _plain(name):
    """Return a name in small letters and digits only, in the singular."""
    return "".join(filter(str.isalnum, name.lower())).removesuffix("s")


def similar(name, available):
    """Return the class of `available` that is probably meant by another name; None if none is."""
    plain = {_plain(each): each for each in available}
    groups = (group for group in _SYNONYMS if _plain(name) in map(_plain, group))
    others = [_plain(each) for group in groups for each in group]
    close = difflib.get_close_matches(_plain(name), plain, 1, 0.8)
    return next((plain[each] for each in (_plain(name), *others, *close) if each in plain), None)


def hint(names, available):
    """Return " (did you mean …?)", or "" where nothing in `available` is like one of the names."""
    meant = [similar(name, available) for name in names]
    found = ", ".join(repr(name) for name in meant if name is not None)
    return f" (did you mean {found}?)" if found else ""


def choose_classes(source, available, wanted, some=False):
    """Return the wanted class names, all by default, checked against the classes of `source`.

    With `some`, `source` may lack some of them, and the others are returned. ValueError if a class
    is unknown or named twice, or none is left.
    """
    wanted = list(available if wanted is None else wanted)
    unknown = [name for name in wanted if name not in available]
    if some and len(unknown) < len(wanted):
        wanted, unknown = [name for name in wanted if name in available], []
    if unknown:
        raise ValueError(
            f"{source} has no category {unknown}{hint(unknown, available)}; available: "
            f"{sorted(available)}"
        )
    if not wanted or len(set(wanted)) != len(wanted):
        raise ValueError(f"classes must be distinct names, at least one; got {wanted}")
    return wanted


def read_names(file):
    """Read the class names that a text file lists, one a line."""
    names = file.read_text(encoding="utf-8-sig").rstrip().splitlines()
    return checked_names(file, [name.strip() for name in names])


def checked_names(path, names):
    """Return class names if they are texts, at least one and no two the same; else ValueError."""
    if not isinstance(names, list) or not all(isinstance(n, str) and n for n in names) or not names:
        raise ValueError(f"{path}: names must be a list or a mapping of texts; got {names}")
    if twice := sorted(name for name, count in Counter(names).items() if count > 1):
        raise ValueError(f"{path} names classes twice: {', '.join(twice)}")
    return names
