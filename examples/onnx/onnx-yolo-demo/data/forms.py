"""Forms of annotations besides COCO's and YOLO's, in one table: Pascal VOC, CVAT, labelme, CSV.

A form has a function that recognizes its files by how they begin, and one that reads a file. All
else is the same for all: where the pictures are, which part of the set a file is of, the classes.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
from data.listing import Listing, Picture, boxes_of, choose_classes, share_of
from data.places import Pictures, find_files, part_of_folders, part_of_name, relative_name

_BEGINNING = 4096  # bytes of a file by which it is recognized


class Thing(NamedTuple):
    """A labelled thing, with its corners in pixels or as fractions of the picture's sides."""

    name: str
    x1: float
    y1: float
    x2: float
    y2: float
    region: bool = False  # see `Listing.regions`


class Labelled(NamedTuple):
    """A picture and its things, as an annotation file has them."""

    name: str  # of the picture, as the file calls it
    things: list
    size: tuple | None = None  # width and height
    fractions: bool = False  # whether corners are fractions
    part: str | None = None  # train, val or test, where the file says so of each picture


class Form(NamedTuple):
    """A form of annotation files."""

    title: str
    end: str  # of its files' names
    single: bool  # whether each file is of one picture, and called like it
    fits: Callable  # (first bytes of a file) -> whether it has this form
    read: Callable  # (file) -> list of Labelled; ValueError, KeyError, … if it can't
    parts: Callable | None = None  # (file) -> set of the parts that it names for its pictures


class FormPart(NamedTuple):
    """The annotation files of a part of a data set."""

    form: Form
    root: Path
    files: list  # of the part
    every: list  # of all parts: the classes are theirs
    listed: dict  # part by the name of a picture without its ending, where lists tell it
    split: str | None = None  # the part, where files name it for each picture

    @property
    def source(self):
        """Return the file; of several a pattern, which stands for them in messages."""
        return self.every[0] if len(self.every) == 1 else self.root / f"*{self.form.end}"


def find_form(path, split):
    """Return the `FormPart` of a folder or a file; None for `split` finds what is in no part."""
    root = path if path.is_dir() else path.parent
    for form in FORMS:
        every = [file for file in find_files(root, {form.end}) if _fits(form, file)]
        if path.is_file() and (part_of_name(path.name) is None or form.single):
            every = [file for file in every if file == path]
        elif path.is_file() and path not in every:
            continue
        listed = _listed_parts(root) if form.single else {}
        inside = {file: form.parts(file) for file in every} if form.parts else {}
        if any(inside.values()):
            files = [file for file in every if split in inside[file]]
        else:
            files = [file for file in every if _part_of(file, form, root, listed) == split]
        if files:
            return FormPart(form, root, files, every, listed, split if inside else None)
    return None


def _fits(form, file):
    with file.open("rb") as opened:
        return form.fits(opened.read(_BEGINNING))


def _part_of(file, form, root, listed):
    if listed:
        return listed.get(file.stem)
    return part_of_folders(file, root) or (None if form.single else part_of_name(file.name))


def _listed_parts(root):
    """Return the part of each picture that Pascal VOC's lists have, by its name without ending."""
    parts = {}
    for name, split in (("trainval", "train"), ("train",) * 2, ("val",) * 2, ("test",) * 2):
        for file in root.rglob(f"ImageSets/Main/{name}.txt"):
            names = map(str.strip, file.read_text(encoding="utf-8-sig").splitlines())
            parts |= dict.fromkeys(names, split)
    return parts


def read_form(part, classes=None, limit=None, share=None, some=False):
    """Read the pictures and boxes of a `FormPart`, as a `Listing`.

    A picture whose file can't be read is excluded; where each picture has its own file, one
    without is background. Classes and pictures are sorted by name, and numbered from 1. Parameters
    are from `formats.read_coco`.
    """
    form, root = part.form, part.root
    index, pictures, things, excluded = Pictures(root), {}, {}, {}
    names, own = set(), {*part.files}
    for file in part.every:
        try:
            found = form.read(file)
        except _WRONG as error:
            reason = f"{file.relative_to(root)}: {error or type(error).__name__}"
            if not form.single:
                raise ValueError(f"{file}: {error}") from None
            found = [Labelled(file.stem, [])]
            excluded[_path(index, found[0], file)] = reason
        names.update(thing.name for each in found for thing in each.things)
        if file in own:
            named = any(each.part for each in found)
            for each in found:
                if named and (each.part or "train") != part.split:
                    continue
                path = _path(index, each, file)
                pictures[path] = each.size
                things.setdefault(path, []).extend((each.fractions, t) for t in each.things)
    without = _pictures_without(part, index, pictures) if form.single else []
    pictures |= dict.fromkeys(without)
    number = {name: n for n, name in enumerate(sorted(names), 1)}
    classes = choose_classes(part.source, [*number], classes, some)
    paths = sorted(pictures, key=lambda path: relative_name(path, root))
    counts = {}
    if share is not None:
        counts["undivided"] = len(paths)
        kinds = {
            relative_name(path, root): {thing.name for _, thing in things.get(path, ())}
            for path in paths
        }
        chosen = {*share_of(part.source, [*kinds], share, kinds)}
        paths = [path for path in paths if relative_name(path, root) in chosen]
    paths = paths[:limit]
    own = [(place, *each) for place, path in enumerate(paths) for each in things.get(path, ())]
    counts["no_label_file"] = len({*without} & {*paths})
    others = Counter(thing.name for _, _, thing in own if thing.name not in classes)
    return Listing(
        part.source, root, classes, [number[name] for name in classes],
        [
            Picture(relative_name(path, root), str(path), n, pictures[path])
            for n, path in enumerate(paths, 1)
        ],
        _boxes(own, classes, False), _boxes(own, classes, True),
        counts | {"other_classes": dict(others)},
        excluded={n: excluded[path] for n, path in enumerate(paths) if path in excluded},
    )  # fmt: skip


_WRONG = (OSError, ValueError, KeyError, TypeError, AttributeError, ElementTree.ParseError)


def _path(index, labelled, file):
    """Return the path of a picture; where there is none, what it would be."""
    name = labelled.name.replace("\\", "/")
    if (file.parent / name).is_file() and ".." not in name.split("/"):
        return file.parent / name
    found = index.find(name, file.parent) or index.find(file.stem, file.parent)
    return found or index.folder / name.rpartition("/")[2]


def _pictures_without(part, index, pictures):
    """Return the pictures without an annotation file, in folders where others have one."""
    if part.listed:
        return []
    folders, stems = {path.parent for path in pictures}, {file.stem for file in part.every}
    return [
        path
        for path in index.files
        if path not in pictures and path.parent in folders and path.stem not in stems
    ]


def _boxes(own, classes, regions):
    own = [each for each in own if each[2].region == regions and each[2].name in classes]
    boxes = boxes_of([(place, classes.index(t.name), *t[1:5]) for place, _, t in own])
    return boxes._replace(fractions=np.array([fractions for _, fractions, _ in own], bool))


def _size(width, height):
    """Return a size, or None where a tool didn't know it: nothing, 0 or -1."""
    sides = [float(side or 0) for side in (width, height)]
    return tuple(map(int, sides)) if min(sides) > 0 else None


# ------------------------------------------------------------------------------ Pascal VOC


def _read_voc(file):
    """Read an XML file of Pascal VOC, labelImg or CVAT; what is ``difficult`` is a region."""
    top = ElementTree.parse(file).getroot()
    things = []
    for thing in top.iter("object"):
        box = thing.find("bndbox")
        if box is None:
            raise ValueError(f"object {thing.findtext('name')} has no bndbox")
        corners = [float(box.findtext(name, "")) for name in ("xmin", "ymin", "xmax", "ymax")]
        difficult = thing.findtext("difficult", "0").strip() == "1"
        things.append(Thing(thing.findtext("name", "").strip(), *corners, difficult))
    size = _size(top.findtext("size/width"), top.findtext("size/height"))
    return [Labelled(top.findtext("filename") or file.stem, things, size)]


# ------------------------------------------------------------------------------ CVAT


def _read_cvat(file):
    """Read an XML file of CVAT, "CVAT for images": the box around each shape."""
    top = ElementTree.parse(file).getroot()
    if top.find("track") is not None:
        raise ValueError("has tracks of a film; in CVAT, export it as 'CVAT for images 1.1'")
    found = []
    for image in top.iter("image"):
        things = []
        for shape in image:
            if shape.tag not in _SHAPES:
                continue  # a tag is of the whole picture
            points = np.array(_SHAPES[shape.tag](shape.attrib))
            if angle := np.deg2rad(float(shape.get("rotation", 0))):
                turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
                centre = (points.min(axis=0) + points.max(axis=0)) / 2
                points = (points - centre) @ turn + centre
            corners = *points.min(axis=0).tolist(), *points.max(axis=0).tolist()
            things.append(Thing(shape.attrib["label"], *corners))
        size = _size(image.get("width"), image.get("height"))
        part = part_of_name(image.get("subset", ""))
        found.append(Labelled(image.attrib["name"], things, size, part=part))
    return found


def _corners(x1, y1, x2, y2):
    return [(x1, y1), (x2, y1), (x2, y2), (x1, y2)]


def _box(shape):
    return _corners(*(float(shape[key]) for key in ("xtl", "ytl", "xbr", "ybr")))


def _ellipse(shape):
    x, y, rx, ry = (float(shape[key]) for key in ("cx", "cy", "rx", "ry"))
    return _corners(x - rx, y - ry, x + rx, y + ry)


def _mask(shape):
    x, y, width, height = (float(shape[key]) for key in ("left", "top", "width", "height"))
    return _corners(x, y, x + width, y + height)


def _points(shape):
    return [tuple(map(float, point.split(","))) for point in shape["points"].split(";")]


_SHAPES = {
    "box": _box, "ellipse": _ellipse, "mask": _mask, "polygon": _points, "polyline": _points,
}  # fmt: skip


def _parts_of_cvat(file):
    """Return the parts that a file names for its pictures, as exports of projects do."""
    subsets = re.findall(r'<image [^>]*\bsubset="([^"]*)"', file.read_text(encoding="utf-8"))
    parts = {part_of_name(subset) for subset in subsets} - {None}
    return parts | ({"train"} if parts and len(parts) < len({*subsets}) else set())


# ------------------------------------------------------------------------------ labelme


def _read_labelme(file):
    """Read a JSON file of labelme: the box around each shape, whatever its kind."""
    data = json.loads(file.read_text(encoding="utf-8-sig"))
    things = []
    for shape in data["shapes"]:
        points = np.array(shape["points"], float).reshape(-1, 2)
        low, high = points.min(axis=0), points.max(axis=0)
        if shape.get("shape_type") == "circle":  # its centre, and a point of its edge
            radius = np.hypot(*(points[1] - points[0]))
            low, high = points[0] - radius, points[0] + radius
        things.append(Thing(shape["label"], *low.tolist(), *high.tolist()))
    size = _size(data.get("imageWidth"), data.get("imageHeight"))
    return [Labelled(data.get("imagePath") or file.stem, things, size)]


# ------------------------------------------------------------------------------ CSV

# What tools call the columns: Roboflow, TensorFlow, VoTT, OpenImages, makesense.
_COLUMNS = {
    "name": ("filename", "file_name", "image", "image_name", "image_path", "path", "imageid"),
    "label": ("class", "label", "label_name", "labelname", "class_name"),
    "x1": ("xmin", "x_min", "x1", "left"),
    "y1": ("ymin", "y_min", "y1", "top"),
    "x2": ("xmax", "x_max", "x2", "right"),
    "y2": ("ymax", "y_max", "y2", "bottom"),
    "x": ("bbox_x", "x"),
    "y": ("bbox_y", "y"),
    "w": ("bbox_width", "w"),
    "h": ("bbox_height", "h"),
    "width": ("width", "image_width"),
    "height": ("height", "image_height"),
    "group": ("isgroupof",),
}
_KNOWN = {column: key for key, columns in _COLUMNS.items() for column in columns}
# Without a line of names: makesense's columns, and those that RetinaNet's readers take.
_NAMELESS = {
    8: ("label", "x", "y", "w", "h", "name", "width", "height"),
    6: ("name", "x1", "y1", "x2", "y2", "label"),
}


def _columns(first):
    """Return (column of each key, whether the first row is data) of a CSV file's first row.

    None if it isn't known.
    """
    keys = {_KNOWN.get(cell.strip().lower()): place for place, cell in enumerate(first)}
    corners, sides = {"x1", "y1", "x2", "y2"}, {"x", "y", "w", "h"}
    if {"name", "label"} <= keys.keys() and (corners <= keys.keys() or sides <= keys.keys()):
        return keys, False
    keys = {key: place for place, key in enumerate(_NAMELESS.get(len(first), ()))}
    numbers = [first[place] for key, place in keys.items() if key not in ("name", "label")]
    if keys and all(re.fullmatch(r"\s*-?\d+(\.\d*)?\s*", cell) for cell in numbers):
        return keys, True
    return None


def _fits_csv(beginning):
    text = beginning.decode("utf-8-sig", "replace").partition("\n")[0]
    return _columns(next(csv.reader([text]), [])) is not None


def _read_csv(file):
    """Read a CSV file of boxes, one a line; OpenImages' groups are regions."""
    with file.open(encoding="utf-8-sig", newline="") as opened:
        rows = [row for row in csv.reader(opened) if row]
    keys, is_data = _columns(rows[0])
    names, found, sizes = _descriptions(file), {}, {}
    for line, row in enumerate(rows if is_data else rows[1:], 1 if is_data else 2):
        cell = {key: row[place].strip() for key, place in keys.items() if place < len(row)}
        things = found.setdefault(cell["name"], [])
        try:
            sizes[cell["name"]] = _size(cell.get("width"), cell.get("height"))
            if not cell["label"]:  # a picture without a thing
                continue
            if "x1" in keys:
                corners = [float(cell[key]) for key in ("x1", "y1", "x2", "y2")]
            else:
                x, y, w, h = (float(cell[key]) for key in ("x", "y", "w", "h"))
                corners = [x, y, x + w, y + h]
        except (ValueError, KeyError) as error:
            raise ValueError(f"line {line}: {error}") from None
        label = names.get(cell["label"], cell["label"])
        things.append(Thing(label, *corners, cell.get("group") == "1"))
    fractions = max((max(t[1:5]) for things in found.values() for t in things), default=2) <= 1
    return [Labelled(name, things, sizes[name], fractions) for name, things in found.items()]


def _descriptions(file):
    """Return OpenImages' names of classes by their codes, where their file is in the folder."""
    names = {}
    for each in file.parent.glob("*class-descriptions*.csv"):
        with each.open(encoding="utf-8-sig", newline="") as opened:
            names |= dict(row[:2] for row in csv.reader(opened) if len(row) > 1)
    return names


FORMS = (
    Form("Pascal VOC", ".xml", True, re.compile(rb"<annotation[\s>]").search, _read_voc),
    Form("CVAT", ".xml", False, lambda text: b"<annotations>" in text, _read_cvat, _parts_of_cvat),
    Form("labelme", ".json", True, lambda text: b'"shapes"' in text, _read_labelme),
    Form("CSV", ".csv", False, _fits_csv, _read_csv),
)
