"""Find the parts of a data set, in whatever form it is."""

import contextlib
import json
import mmap
import os
import re
from pathlib import Path

import yaml
from data.archives import unpacked
from data.forms import FORMS, FormPart, find_form
from data.listing import (
    PartMissingError,
    Unsplit,
    YoloPart,
    checked_names,
    place_in,
    read_names,
)
from data.places import (
    PART_WORDS,
    Pictures,
    find_pictures,
    part_of_folders,
    part_of_name,
)
from data.yolo import class_words, label_files, pictures_of

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
    if not names.is_file() or not images.is_dir():
        return None
    if any(part_of_folders(file, path) for file in find_pictures(images)):
        return None  # `_flat_yolo` takes the others
    return YoloPart(names, path, read_names(names), [images])


def _any_coco(path, split):
    """Return (annotation file, image folder) of a COCO file with any name, or None.

    It is in the folder, or in one of its folders; the name, or that of its folder, tells of which
    part it is. None for `split` finds what is of no part. ValueError if there are several.
    """
    root = path if path.is_dir() else path.parent
    files = sorted([*root.glob("*.json"), *([] if path.is_file() else root.glob("*/*.json"))])
    if path.is_file() and part_of_name(path.stem) is None:
        files = [path]
    elif path.is_file():  # and what differs in the part's name alone
        files = [each for each in files if _without_part(each) == _without_part(path)]
    files = [each for each in files if _is_coco(each)]
    own = [f for f in files if (part_of_folders(f, root) or part_of_name(f.stem)) == split]
    if len(own) > 1:
        names = ", ".join(file.relative_to(root).as_posix() for file in own)
        raise ValueError(f"{path} has several COCO files: {names}; name one of them by its path")
    return (own[0], _picture_folder(own[0], split)) if own else None


def _without_part(path):
    """Return the words of a file's name but those that tell a part."""
    words = re.findall("[a-z]+|[^a-z]+", path.stem.lower())
    return [word for word in words if part_of_name(word) is None]


def _is_coco(file):
    """Return whether a file has the three lists of COCO, without parsing it."""
    keys = b"images", b"annotations", b"categories"
    return all(_holds(file, rb'"%s"\s*:\s*\[' % key) for key in keys)


def _holds(file, pattern):
    if not file.stat().st_size:  # which can't be mapped
        return False
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as text:
        return re.search(pattern, text) is not None


def _picture_folder(file, split):
    """Return the folder with most of a COCO file's pictures, among those where they usually are."""
    try:
        listed = json.loads(file.read_text(encoding="utf-8-sig"))["images"]
        names = [image["file_name"].replace("\\", "/") for image in listed[:20]]
    except (ValueError, KeyError, TypeError, AttributeError):  # read_coco says what is wrong
        return file.parent
    inner = [*(f"{top}{name}" for top in ("images/", "") for name in PART_WORDS.get(split, ()))]
    folders = [
        folder
        for top in (file.parent, file.parent.parent)
        for folder in (*(top / name for name in (*inner, "images", "data")), top)
        if folder.is_dir()
    ]
    found = [sum((folder / name).is_file() for name in names) for folder in folders]
    if any(found):
        return folders[found.index(max(found))]
    # Below the file, or in a folder next to its own.
    index = Pictures(file.parent)
    below = any(index.find(name, file.parent) for name in names)
    return file.parent if below or not _is_for_labels(file.parent) else file.parent.parent


def _is_for_labels(folder):
    """Return whether a folder is for annotations only, by its name."""
    return folder.name.lower() in ("annotations", "annotation", "labels")


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
    return file, folder, checked_names(file, names)


def _numbered(path, content):
    """Return the class names of a data.yaml by number; without names, as many as `nc` says."""
    names, count = content.get("names"), content.get("nc")
    if names and isinstance(count, str) and count.isdecimal() and int(count) != len(names):
        raise ValueError(f"{path}: nc is {count}, but names has {len(names)}; correct one of them")
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
    return checked_names(path, names)


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
            "are next to the file"
        )
    entries = content[split] if isinstance(content[split], list) else [content[split]]
    if not all(isinstance(entry, str) for entry in entries):
        raise ValueError(f"{path}: {split} must be a folder, a text file, or a list of them")
    places = [place_in(root, entry) for entry in entries]
    for k, entry in enumerate(entry.replace("\\", "/") for entry in entries):
        if not places[k].exists() and entry.startswith("../"):
            places[k] = root / entry[3:]  # Roboflow writes ../train/images for train/images
        if not places[k].exists():
            instead = "without the line, about one in five training pictures is taken for it"
            raise FileNotFoundError(
                f"{path}: {split} is {entry}, but {places[k]} does not exist"
                f"{f'; {instead}' if split == 'val' else ''}"
            )
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


_NAME_FILES = ("classes.txt", "obj.names", "classes.names", "labels.txt", "names.txt")


def _flat_yolo(path, split):
    """Return the YoloPart of a folder of pictures with text labels, as labelImg saves them.

    The names are in a text file of `_NAME_FILES`, or in the labels instead of numbers. None for
    `split` finds the pictures that are in no part's folder. ValueError if nothing tells the names.
    """
    if not path.is_dir():
        return None
    pictures = [file for file in find_pictures(path) if part_of_folders(file, path) == split]
    labels = [file for file in label_files(pictures, path) if file.is_file()]
    if not labels:
        return None
    for name in _NAME_FILES:
        if files := sorted(path.rglob(name), key=lambda file: len(file.parts)):
            return YoloPart(files[0], path, read_names(files[0]), pictures)
    if names := class_words(labels):
        return YoloPart(path / "*.txt", path, names, pictures)
    raise ValueError(
        f"{path} has text labels, such as {labels[0].name}, and nothing that names their classes: "
        "write the names into classes.txt there, one a line, in the order of the numbers from 0"
    )


# ------------------------------------------------------------------------------ all


# What finds a part: where tools put it first, anywhere else then.
_FINDERS = (_find_coco, _find_yolo), (_any_coco, find_form, _flat_yolo)
_KINDS = {  # kinds of a file, by its ending
    ".json": {_find_coco, _any_coco, find_form},
    ".csv": {find_form},
    ".yaml": {_find_yolo},
    ".yml": {_find_yolo},
    ".data": {_find_yolo},
}


def _part(path, finders, split):
    for finder in finders:
        if path.is_file() and finder not in _KINDS[path.suffix.lower()]:
            continue
        found = finder(path, split)
        if found is not None and not (split == "val" and _is_empty(found)):
            return found
    return None


def _find_in(path, finders, split):
    found = _part(path, finders, split)
    if found is not None and (split != "train" or _is_named(path, finders, "val")):
        return found
    if split == "test":
        return None
    whole = _part(path, finders, "train")
    if whole is None and finders is _FINDERS[0]:
        whole = _find_whole(path)
    elif whole is None:
        whole = _part(path, finders, None)
    return whole and Unsplit(whole)


def _is_empty(found):
    """Return whether a part that was found has no picture."""
    if isinstance(found, YoloPart):
        return not pictures_of(found)
    return not isinstance(found, FormPart) and _holds(found[0], rb'"images"\s*:\s*\[\s*\]')


def _is_named(path, finders, split):
    try:
        return _part(path, finders, split) is not None
    except (OSError, ValueError):  # it is there, though something is wrong with it
        return True


def find(path, split):
    """Locate a part of a data set; the other parts need not be there.

    `path` is a folder in one of COCO's layouts (`_LAYOUTS`, `_WHOLE`), or a COCO file, anywhere
    near its pictures; a ``data.yaml`` with ``train``, ``val`` and ``names`` (and ``path``,
    ``test``), or its folder; an ``obj.data``, or its folder; a folder with pictures, text labels
    and the class names, one a line, in ``classes.txt``; a folder, or a file, of one of `FORMS`; or
    a zip of such a folder. The validation part may be called valid. Where a folder is in several
    forms, the first of these counts; `formats.read_part` refuses those that differ.

    Where there is no part for validation, or it is empty, pictures of the training part, or of the
    only one, are taken for it (`share_of`).

    Returns
    -------
    (annotation_file, image_dir) of COCO, YoloPart, FormPart, or Unsplit with one of them
    """
    return next(find_all(path, split))


def find_all(path, split):
    """Yield what `find` returns, then the labels in other forms that the same folder has.

    A COCO file in its usual place is the only one: Ultralytics' COCO has text labels next to it.
    """
    path = given = Path(os.path.expanduser(path))  # shells leave --data=~/x as it is
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist: give a folder, .zip, .yaml or .json")
    kind = path.suffix.lower() if path.is_file() else ""
    if kind in (".pt", ".pth", ".onnx", ".safetensors"):
        raise ValueError(f"{path} is a file of weights, not a data set: give it to --weights")
    if path.is_file() and kind not in {*_KINDS, ".zip"}:
        raise ValueError(f"{path} is no folder, .yaml, .json, .csv, .data or .zip file")
    if kind == ".zip":
        path = unpacked(path)
    paths = [path]
    while path.is_dir():  # and the only folder in it
        inside = [each for each in path.iterdir() if not each.name.startswith((".", "__"))]
        if len(inside) != 1 or not inside[0].is_dir():
            break
        path = inside[0]
        paths.append(path)
    for finders in _FINDERS:
        for each in paths:
            if (found := _find_in(each, finders, split)) is not None:
                yield found
                form = type(undivided(found))
                if path.is_dir() and not (finders is _FINDERS[0] and form is tuple):
                    yield from _find_others(each, split, form)
                return
    raise _missing(given, paths, split)


def _find_others(folder, split, form):
    """Yield the labels of a folder that are in another form, a type of a part."""
    for finder in _FINDERS[1]:
        found = None
        with contextlib.suppress(OSError, ValueError):
            found = _find_in(folder, (finder,), split)
        if found is not None and type(undivided(found)) is not form:
            yield found


def undivided(found):
    """Return a part that was found, or that of an `Unsplit`."""
    return found.part if isinstance(found, Unsplit) else found


def _has(paths, split):
    """Return whether a part is in one of some folders, even if something is wrong with it."""
    try:
        return any(_find_in(each, finders, split) for finders in _FINDERS for each in paths)
    except (OSError, ValueError):
        return True


def _missing(given, paths, split):
    path, others = paths[-1], [each for each in _NAMES if each != split and _has(paths, each)]
    wanted = "; ".join(" + ".join(layout).replace("{}", split) for layout in _LAYOUTS)
    also = " (or valid instead of val)" if split == "val" else ""
    pictures = len(find_pictures(path)) if path.is_dir() else 0
    alone = f" It has {pictures} pictures and no labels that are known." if pictures else ""
    there = ""
    if others:
        there, alone = f", which has only {' and '.join(others)}", ""
    return PartMissingError(
        f"no {split} part in {given}{there}: looked for {wanted}; data.yaml; obj.data; "
        f"images/{split} + labels/{split} + classes.txt{also}; "
        + "; ".join(" + ".join(layout) for layout in _WHOLE)
        + "; images + labels + classes.txt; a COCO file near its pictures; "
        + "; ".join(f"{form.title} ({form.end})" for form in FORMS)
        + f".{alone}"
    )
