"""Finding and reading data sets with YOLO text labels."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from data.listing import Listing, Picture, choose_classes
from data.yaml_text import read_yaml

PICTURES = frozenset(
    f".{kind}"
    for kind in (
        *("avif", "bmp", "gif", "jfif", "jpe", "jpeg", "jpg", "mpo"),
        *("pgm", "png", "ppm", "tif", "tiff", "webp"),
    )
)
_NOT_PICTURES = frozenset(
    f".{kind}"
    for kind in ("cache", "csv", "db", "ini", "json", "md", "npy", "txt", "xml", "yaml", "yml")
)
_LOWEST, _HIGHEST = -0.01, 1.01  # coordinates beyond are wrong, not merely rounded


class YoloPaths(NamedTuple):
    """Where a data set with YOLO text labels lies.

    Attributes
    ----------
    source : Path
        The ``data.yaml``, or the file with the class names.
    root : Path
        Folder that the others are relative to.
    names : list of str
        Class names by their number.
    train, val, test : list of Path
        Folders of pictures, or text files that list pictures; empty for a part that wasn't asked
        for.
    """

    source: Path
    root: Path
    names: list
    train: list
    val: list
    test: list


# ------------------------------------------------------------------------------ finding


def find_yolo(path, splits=("train", "val")):
    """Locate a data set with YOLO text labels.

    Parameters
    ----------
    path : path-like
        A ``data.yaml`` with ``train``, ``val`` and ``names`` (and ``path``), or a folder with
        one. Otherwise the folder holds ``images/{train,val}`` and ``labels/{train,val}``, or
        ``{train,val}/images`` and ``{train,val}/labels``, and the class names, one a line, in
        ``classes.txt`` or ``obj.names``. The validation part may be called valid.
    splits : sequence of str
        The parts that are needed, of ``train``, ``val`` and ``test``.

    Returns
    -------
    YoloPaths

    Raises
    ------
    FileNotFoundError
        Naming what is missing.
    ValueError
        The file with the names is wrong.
    """
    path = Path(path)
    if path.is_file():
        return _from_yaml(path, splits)
    files = yaml_files(path)
    if len(files) == 1:
        return _from_yaml(files[0], splits)
    if files:
        raise FileNotFoundError(f"{path} holds {[f.name for f in files]}: name the one to use")
    names = [
        path / folder / name for name in ("classes.txt", "obj.names") for folder in ("", "labels")
    ]
    for pattern in ("images/{}", "{}/images"):
        parts = {split: _split_folder(path, pattern, split) for split in splits}
        found = [file for file in names if file.is_file()]
        if all(parts.values()) and found:
            return _make_paths(found[0], path, _names_file(found[0]), parts)
    folders = [f"{kind}/{split}" for kind in ("images", "labels") for split in splits]
    raise FileNotFoundError(
        f"no YOLO-format data in {path}: it must hold data.yaml, or {', '.join(folders)} "
        "and classes.txt or obj.names"
    )


def yaml_files(folder):
    """The files of a folder that may describe a data set, by name where a usual one is there."""
    files = [folder / name for name in ("data.yaml", "data.yml", "dataset.yaml")]
    return [file for file in files if file.is_file()] or sorted(folder.glob("*.y*ml"))


def _split_folder(root, pattern, split):
    """A list with the folder of a part's pictures; empty without one."""
    names = ("val", "valid") if split == "val" else (split,)
    folders = [root / pattern.format(name) for name in names]
    return [folder for folder in folders if folder.is_dir()][:1]


def _make_paths(source, root, names, parts):
    return YoloPaths(source, root, names, *(parts.get(s, []) for s in ("train", "val", "test")))


def _names_file(path):
    names = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    while names and not names[-1]:
        names.pop()
    return _checked_names(path, names)


def _checked_names(path, names):
    if not names or "" in names:
        raise ValueError(f"{path} must name the classes; it has {names}")
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"{path}: names must be a list or a mapping of texts; got {name}")
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"{path} names classes twice: {', '.join(twice)}")
    return names


def _from_yaml(path, splits):
    content = read_yaml(path)
    content.setdefault("val", content.get("valid", ""))  # the name that some tools give it
    missing = [key for key in (*splits, "names") if not content.get(key)]
    if missing:
        raise ValueError(f"{path} lacks {', '.join(missing)}")
    names = content["names"]
    if isinstance(names, dict):
        if list(names) != [str(k) for k in range(len(names))]:
            raise ValueError(
                f"{path}: names must be numbered 0, 1, 2, … in this order; got {', '.join(names)}"
            )
        names = list(names.values())
    if isinstance(names, str):
        raise ValueError(f"{path}: names must be a list or a mapping; got {names}")
    _checked_names(path, names)
    if str(content.get("nc", len(names))) != str(len(names)):
        raise ValueError(f"{path}: nc is {content['nc']}, but there are {len(names)} names")
    folder = content.get("path", "")
    if not isinstance(folder, str):
        raise ValueError(f"{path}: path must be a folder; got {folder}")
    root = path.parent / Path(folder).expanduser()
    if not root.is_dir():
        raise FileNotFoundError(
            f"{path}: its path, {root}, is no folder; correct it, or remove it if the pictures "
            "lie beside the file"
        )
    parts = {split: _split_paths(path, root, content, split) for split in splits}
    return _make_paths(path, root, names, parts)


def _split_paths(path, root, content, key):
    entries = [content[key]] if isinstance(content[key], str) else content[key]
    if isinstance(entries, dict) or not all(isinstance(entry, str) for entry in entries):
        raise ValueError(f"{path}: {key} must be a folder, a text file, or a list of them")
    found = []
    for entry in entries:
        place = root / Path(entry).expanduser()
        if not place.exists() and "\\" in entry:  # written on Windows
            place = root / entry.replace("\\", "/")
        if not place.exists() and entry.startswith("../"):
            place = root / entry[3:]  # Roboflow writes ../train/images for train/images
        if not place.exists():
            raise FileNotFoundError(f"{path}: {key} is {entry}, but {root / entry} does not exist")
        found.append(place)
    return found


# ------------------------------------------------------------------------------ labels


def read_yolo(paths, split, classes=None, limit=None):
    """Read the pictures and labels of one part of a data set.

    The labels of ``…/images/…/a.jpg`` are in ``…/labels/…/a.txt``; of pictures that are not in
    a folder called images, in a file beside them. A line holds the class number and ``cx cy w h``
    as fractions of the upright picture, or the class number and a polygon ``x1 y1 x2 y2 x3 y3 …``,
    whose bounding box is taken. A picture without a label file is background. One with a line
    that is malformed, has a coordinate above 1.01 or below -0.01, or a class that doesn't exist,
    is excluded. Pictures are sorted by name and numbered from 1.

    Parameters
    ----------
    paths : YoloPaths
    split : str
        ``"train"``, ``"val"`` or ``"test"``; `paths` must have it.
    classes : sequence of str, optional
        Wanted class names; all by default.
    limit : int, optional
        Take the first so many pictures by name.

    Returns
    -------
    Listing

    Raises
    ------
    ValueError
        An unknown class, or no label file at all.
    """
    entries = getattr(paths, split)
    classes = choose_classes(paths.source, paths.names, classes)
    only_folder = len(entries) == 1 and entries[0].is_dir()
    image_dir = entries[0] if only_folder else paths.root
    files, other = _find_pictures(paths.root, entries)
    names = [_relative(file, image_dir) for file in files]
    order = sorted(range(len(files)), key=names.__getitem__)
    pictures = [Picture(names[k], str(files[k]), n, None) for n, k in enumerate(order, start=1)]
    listing = Listing(
        paths.source,
        image_dir,
        classes,
        category_ids=[paths.names.index(name) + 1 for name in classes],
        pictures=pictures,
        owner=None,
        label=None,
        corners=None,
        fractions=True,
        part=split,
        other_files=[(_relative(file, image_dir), reason) for file, reason in other],
    )
    _read_all_labels(listing, paths, split, limit)
    return listing


def _relative(path, folder):
    if not path.is_relative_to(folder):
        return str(path)
    return path.relative_to(folder).as_posix()


def _find_pictures(root, entries):
    """(pictures without repeats, other files with the reason why they are none)"""
    files, other = [], []
    for entry in entries:
        if entry.is_file():
            files += _listed_pictures(root, entry)
            continue
        for folder, folders, names in os.walk(entry, followlinks=True):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for file in (Path(folder, name) for name in names if not name.startswith(".")):
                kind = file.suffix.lower()
                if kind in PICTURES:
                    files.append(file)
                elif kind not in _NOT_PICTURES:
                    other.append((file, f"{kind or 'without a suffix'}: no known kind of picture"))
    return list(dict.fromkeys(files)), sorted(other)


def _listed_pictures(root, file):
    found = []
    for line in file.read_text(encoding="utf-8-sig").splitlines():
        if line.strip():
            name = line.strip()
            place = root / name
            found.append(place if place.exists() else file.parent / name)
    return found


def _label_file(path):
    """Where the labels of a picture are; ``.TXT`` is known too, as cameras write ``.JPG``."""
    file = _lower_label_file(path)
    shouted = file.with_suffix(".TXT")
    return shouted if not file.is_file() and shouted.is_file() else file


def _lower_label_file(path):
    beside = Path(path).with_suffix(".txt")
    parts = beside.parts
    for place in range(len(parts) - 2, -1, -1):
        if parts[place] == "images":
            found = Path(*parts[:place], "labels", *parts[place + 1 :])
            # Everything may lie in a folder called images, labels beside the pictures.
            return beside if beside.is_file() and not found.parent.is_dir() else found
    return beside


def _read_all_labels(listing, paths, split, limit):
    """Fill in boxes and counts of the first `limit` pictures, and drop the others."""
    wanted = {paths.names.index(name): label for label, name in enumerate(listing.classes)}
    counts = {"from_polygon": 0, "no_label_file": 0, "other_classes": {}}
    owner, label, corners, files = [], [], [], 0
    expected = [_label_file(picture.path) for picture in listing.pictures]
    listing.other_files += _unused_labels(paths.root, getattr(paths, split), expected)
    listing.pictures = listing.pictures[:limit]
    for place, file in enumerate(expected[:limit]):
        try:
            text = file.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            counts["no_label_file"] += 1
            continue
        except (OSError, UnicodeDecodeError) as error:
            listing.excluded[place] = f"labels {_relative(file, paths.root)}: {error}"
            continue
        files += 1
        try:
            rows = _read_labels(text, len(paths.names))
        except _LabelError as error:
            listing.excluded[place] = f"labels {_relative(file, paths.root)}, {error}"
            continue
        for number, is_polygon, box in rows:
            if number not in wanted:
                name = paths.names[number]
                counts["other_classes"][name] = counts["other_classes"].get(name, 0) + 1
                continue
            counts["from_polygon"] += is_polygon
            owner.append(place)
            label.append(wanted[number])
            corners.append(box)
    if expected and not listing.excluded and not files and not any(map(Path.is_file, expected)):
        first = listing.pictures[0].path
        gone = "" if os.path.exists(first) else f"; nor does the first picture exist, {first}"
        raise ValueError(
            f"{paths.source}: none of the {len(expected)} {split} pictures has a label "
            f"file; {expected[0]} would be the first{gone}"
        )
    listing.owner = np.array(owner, dtype=np.int64)
    listing.label = np.array(label, dtype=np.int32)
    listing.corners = np.array(corners, dtype=np.float64).reshape(-1, 4)
    listing.counts = counts


def _unused_labels(root, entries, expected):
    """Label files for which there is no picture, with this as the reason."""
    if any(entry.is_file() for entry in entries):
        return []  # a list of pictures may leave some out on purpose
    known = set(expected)
    # Beside the pictures text of other kinds may lie.
    folders = sorted({file.parent for file in expected if "labels" in file.parts})
    found = (file for folder in folders for file in sorted(folder.glob("*.[tT][xX][tT]")))
    return [
        (_relative(file, root), "labels without a picture")
        for file in found
        if file not in known and file.name != "classes.txt"
    ]


class _LabelError(Exception):
    """A wrong line of a label file."""


def _read_labels(text, num_classes):
    """(class, whether a polygon, corners) of every line."""
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if words:
            try:
                rows.append(_read_row(words, num_classes))
            except _LabelError as error:
                raise _LabelError(f"line {number}: {error}") from None
    return rows


def _read_row(words, num_classes):
    try:
        label, *values = map(float, words)
    except ValueError:
        raise _LabelError(f"not numbers: {' '.join(words)[:60]}") from None
    if not label.is_integer() or not 0 <= label < num_classes:
        raise _LabelError(f"class {words[0]}, but there are {num_classes} classes, from 0")
    polygon = len(values) != 4
    if polygon and (len(values) < 6 or len(values) % 2):
        raise _LabelError(
            f"{len(words)} numbers; a box has 5, a polygon an odd number from 7 upwards"
        )
    for value in values:
        if not _LOWEST <= value <= _HIGHEST:  # true for NaN
            raise _LabelError(f"{value:g} is no fraction of the picture (0 to 1)")
    if polygon:
        xs, ys = values[::2], values[1::2]
        return int(label), True, (min(xs), min(ys), max(xs), max(ys))
    x, y, w, h = values
    return int(label), False, (x - w / 2, y - h / 2, x + w / 2, y + h / 2)
