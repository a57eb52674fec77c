"""Reading data sets in COCO's and YOLO's formats."""

import json
import os
from collections import Counter
from pathlib import Path

import numpy as np
from data.listing import Listing, Picture, YoloPart, choose_classes, existing
from PIL import Image

PICTURES = {end for end, kind in Image.registered_extensions().items() if kind in Image.OPEN}
_NOT_PICTURES = {".cache", ".csv", ".db", ".ini", ".json", ".md", ".npy", ".txt", ".xml", ".yaml"}
_LOWEST, _HIGHEST = -0.01, 1.01  # coordinates beyond are wrong, not merely rounded


def read_part(found, classes=None, limit=None):
    """Read what `listing.find` found; see `read_coco` and `read_yolo`."""
    if isinstance(found, YoloPart):
        return read_yolo(found, classes, limit)
    return read_coco(*found, classes, limit)


# ------------------------------------------------------------------------------ COCO


def read_coco(annotation_file, image_dir, classes=None, limit=None):
    """Read a COCO instances file.

    Crowd regions are left out of the boxes. Images may lack ``width`` and ``height``.

    Parameters
    ----------
    annotation_file, image_dir : path-like
    classes : sequence of str, optional
        Names of the wanted categories; by default all of the file, in its order. Of those, a
        category without annotations that is only the ``supercategory`` of others is left out.
    limit : int, optional
        Take the first so many images of the file, and their annotations.

    Returns
    -------
    Listing

    Raises
    ------
    FileNotFoundError
        No such file or folder.
    ValueError
        Not a COCO instances file, an unknown class, or a wrong image or annotation.
    """
    path, image_dir = Path(annotation_file), Path(image_dir)
    data = _load_json(path)
    if not image_dir.is_dir():
        raise FileNotFoundError(f"image folder {image_dir} does not exist")
    try:
        available = {category["name"]: category["id"] for category in data["categories"]}
        if len(set(available.values())) < len(data["categories"]):
            raise ValueError(f"{path} lists a category's name or id twice: {available}")
        groups = [] if classes is not None else _only_super(data)
        if classes is None:
            classes = [name for name in available if name not in groups]
        classes = choose_classes(path, list(available), classes)
        if limit is not None:
            data = _first_images(data, limit)
        listing = Listing(
            path,
            Path(os.path.commonpath([path.absolute().parent, image_dir.absolute()])),
            image_dir,
            classes,
            category_ids=[available[name] for name in classes],
            pictures=_pictures(path, image_dir, data),
            owner=None,
            label=None,
            corners=None,
            coco=data,
            left_out_classes=groups,
        )
        _read_annotations(listing, {number: name for name, number in available.items()})
    except (KeyError, TypeError) as error:
        what = f"an entry lacks {error}" if isinstance(error, KeyError) else error
        raise ValueError(f"{path} is not a COCO instances file: {what}") from None
    return listing


def _load_json(path):
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))  # Windows tools write a mark
    except FileNotFoundError:
        raise FileNotFoundError(f"annotation file {path} does not exist") from None
    except ValueError as error:
        raise ValueError(f"{path} is not valid JSON: {error}") from None
    for key in ("images", "annotations", "categories"):
        if not isinstance(data, dict) or not isinstance(data.get(key), list):
            raise ValueError(f"{path} lacks a list of {key}: it is not a COCO instances file")
    return data


def _first_images(data, limit):
    """The file's dictionary with its first `limit` images and what belongs to them."""
    dropped = {image["id"] for image in data["images"][limit:]}
    kept = [a for a in data["annotations"] if a["image_id"] not in dropped]
    return {**data, "images": data["images"][:limit], "annotations": kept}


def _only_super(data):
    """Names of categories that only group others, which annotation tools add."""
    used = {annotation["category_id"] for annotation in data["annotations"]}
    groups = {
        c.get("supercategory") for c in data["categories"] if c.get("supercategory") != c["name"]
    }
    return [c["name"] for c in data["categories"] if c["name"] in groups and c["id"] not in used]


def _pictures(path, image_dir, data):
    pictures = {}
    for image in data["images"]:
        name, size = image["file_name"], (image.get("width"), image.get("height"))
        if image["id"] in pictures:
            raise ValueError(f"{path} lists the image id {image['id']} twice")
        if size == (None, None):
            size = None
        elif not all(isinstance(s, int | float) and s > 0 and float(s).is_integer() for s in size):
            raise ValueError(
                f"{path}: image {name} has width {size[0]} and height {size[1]}; "
                "they must be positive whole numbers"
            )
        else:
            size = int(size[0]), int(size[1])  # some tools write 640.0
        pictures[image["id"]] = Picture(name, str(existing(image_dir, name)), image["id"], size)
    return list(pictures.values())


def _read_annotations(listing, names):
    """Fill in boxes and counts; `names` gives the class name of each category id."""
    path = listing.source
    place_of = {picture.image_id: place for place, picture in enumerate(listing.pictures)}
    wanted = {category: label for label, category in enumerate(listing.category_ids)}
    counts = {"crowd": 0, "other_classes": {}}
    owner, label, boxes = [], [], []
    for annotation in listing.coco["annotations"]:
        image, category = annotation["image_id"], annotation["category_id"]
        if image not in place_of or category not in names:
            raise ValueError(
                f"{path}: annotation {annotation.get('id')} has image_id {image} and category_id "
                f"{category}; `images` or `categories` does not list it"
            )
        if category not in wanted:
            name = names[category]
            counts["other_classes"][name] = counts["other_classes"].get(name, 0) + 1
        elif annotation.get("iscrowd", 0):
            counts["crowd"] += 1
        else:
            owner.append(place_of[image])
            label.append(wanted[category])
            boxes.append(_checked_box(path, annotation))
    boxes = np.array(boxes, dtype=np.float64).reshape(-1, 4)
    listing.owner = np.array(owner, dtype=np.int64)
    listing.label = np.array(label, dtype=np.int32)
    listing.corners = np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1)
    listing.counts = counts


def _checked_box(path, annotation):
    box = annotation.get("bbox")
    if (
        not isinstance(box, list)
        or len(box) != 4
        or not all(isinstance(x, int | float) and abs(x) < np.inf for x in box)
    ):
        raise ValueError(
            f"{path}: annotation {annotation.get('id')} has bbox {box}; "
            "it must be four finite numbers x, y, width, height"
        )
    return box


# ------------------------------------------------------------------------------ YOLO


def read_yolo(part, classes=None, limit=None):
    """Read the pictures and labels of one part of a data set.

    The labels of ``…/images/…/a.jpg`` are in ``…/labels/…/a.txt``; of pictures that are not in
    a folder called images, in a file beside them. A line holds the class number and ``cx cy w h``
    as fractions of the upright picture, or the class number and a polygon ``x1 y1 x2 y2 x3 y3 …``,
    whose bounding box is taken. A picture without a label file is background. One with a line
    that is malformed, has a coordinate above 1.01 or below -0.01, or a class that doesn't exist,
    is excluded. Pictures are sorted by name and numbered from 1.

    Parameters
    ----------
    part : YoloPart
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
    classes = choose_classes(part.source, part.names, classes)
    only_folder = len(part.entries) == 1 and part.entries[0].is_dir()
    image_dir = part.entries[0] if only_folder else part.root
    files, other = _find_pictures(part)
    named = sorted((_relative(file, image_dir), file) for file in files)
    pictures = [Picture(name, str(file), n, None) for n, (name, file) in enumerate(named, start=1)]
    listing = Listing(
        part.source,
        part.source.parent,
        image_dir,
        classes,
        category_ids=[part.names.index(name) + 1 for name in classes],
        pictures=pictures[:limit],
        owner=None,
        label=None,
        corners=None,
        fractions=True,
        part=part.split,
        other_files=[(_relative(file, image_dir), reason) for file, reason in other],
    )
    expected = [_label_file(picture.path) for picture in pictures]
    if expected and not any(map(Path.is_file, expected)):
        first = pictures[0].path
        gone = "" if os.path.exists(first) else f"; nor does the first picture exist, {first}"
        raise ValueError(
            f"{part.source}: none of the {len(expected)} {part.split} pictures has a label "
            f"file; {expected[0]} would be the first{gone}"
        )
    listing.other_files += _unused_labels(part, expected)
    _read_all_labels(listing, part, expected[:limit])
    return listing


def _relative(path, folder):
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def _find_pictures(part):
    """(pictures without repeats, other files with the reason why they are none)"""
    files, other = [], []
    for entry in part.entries:
        if entry.is_file():
            lines = entry.read_text(encoding="utf-8-sig").splitlines()
            for name in (line.strip() for line in lines if line.strip()):
                place = part.root / name
                files.append(place if place.exists() else entry.parent / name)
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


def _label_file(path):
    """Where the labels of a picture are."""
    beside = Path(path).with_suffix(".txt")
    parts = beside.parts
    for place in range(len(parts) - 2, -1, -1):
        if parts[place] == "images":
            found = Path(*parts[:place], "labels", *parts[place + 1 :])
            # Everything may lie in a folder called images, labels beside the pictures.
            return beside if beside.is_file() and not found.parent.is_dir() else found
    return beside


def _unused_labels(part, expected):
    """Label files for which there is no picture, with this as the reason."""
    if any(entry.is_file() for entry in part.entries):
        return []  # a list of pictures may leave some out on purpose
    known = {*expected, *(file.with_name("classes.txt") for file in expected)}
    # Beside the pictures text of other kinds may lie.
    folders = sorted({file.parent for file in expected if "labels" in file.parts})
    found = (file for folder in folders for file in sorted(folder.glob("*.txt")))
    return [
        (_relative(file, part.root), "labels without a picture")
        for file in found
        if file not in known
    ]


def _read_all_labels(listing, part, files):
    """Fill in boxes and counts of the listing's pictures, whose labels are in `files`."""
    wanted = {part.names.index(name): label for label, name in enumerate(listing.classes)}
    other_classes, counts = Counter(), Counter()
    owner, label, corners = [], [], []
    for place, file in enumerate(files):
        try:
            rows = _read_labels(file.read_text(encoding="utf-8-sig"), len(part.names))
        except FileNotFoundError:
            counts["no_label_file"] += 1
            continue
        except (OSError, ValueError) as error:  # not UTF-8, or a wrong line
            listing.excluded[place] = f"labels {_relative(file, part.root)}: {error}"
            continue
        for number, is_polygon, box in rows:
            if number not in wanted:
                other_classes[part.names[number]] += 1
                continue
            counts["from_polygon"] += is_polygon
            owner.append(place)
            label.append(wanted[number])
            corners.append(box)
    listing.owner = np.array(owner, dtype=np.int64)
    listing.label = np.array(label, dtype=np.int32)
    listing.corners = np.array(corners, dtype=np.float64).reshape(-1, 4)
    listing.counts = {**counts, "other_classes": dict(other_classes)}


def _read_labels(text, num_classes):
    """(class, whether a polygon, corners) of every line; ValueError names a wrong one."""
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if words := line.split():
            try:
                rows.append(_read_row(words, num_classes))
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
    return rows


def _read_row(words, num_classes):
    label, *values = map(float, words)
    if not label.is_integer() or not 0 <= label < num_classes:
        raise ValueError(f"class {words[0]}, but there are {num_classes} classes, from 0")
    polygon = len(values) != 4
    if polygon and (len(values) < 6 or len(values) % 2):
        raise ValueError(
            f"{len(words)} numbers; a box has 5, a polygon an odd number from 7 upwards"
        )
    for value in values:
        if not _LOWEST <= value <= _HIGHEST:  # true for NaN
            raise ValueError(f"{value:g} is no fraction of the picture (0 to 1)")
    if polygon:
        xs, ys = values[::2], values[1::2]
        return int(label), True, (min(xs), min(ys), max(xs), max(ys))
    x, y, w, h = values
    return int(label), False, (x - w / 2, y - h / 2, x + w / 2, y + h / 2)


# ------------------------------------------------------------------------------ boxes


def clean_boxes(listing, image_ids, sides):
    """Clip the boxes of the usable pictures, and drop what can't be used.

    Parameters
    ----------
    listing : Listing
    image_ids : list of int
        Of the usable pictures.
    sides : float array (n, 2)
        Their widths and heights in pixels.

    Returns
    -------
    rows : int array (m,)
        Place in `image_ids` of each box, ascending.
    labels : int32 array (m,)
    corners : float64 array (m, 4)
        ``x1, y1, x2, y2`` in pixels of the picture.
    dropped : dict of str to int
        How many boxes were ``clipped``, and dropped as ``zero_area`` or ``duplicates``.
    """
    row_of = {image_id: row for row, image_id in enumerate(image_ids)}
    row_of = np.array([row_of.get(picture.image_id, -1) for picture in listing.pictures], int)
    usable = row_of[listing.owner] >= 0
    rows, labels = row_of[listing.owner[usable]], listing.label[usable]
    limits = np.tile(sides, 2)[rows]
    corners = listing.corners[usable] * (limits if listing.fractions else 1.0)
    clipped = corners.clip(0, limits)
    every = np.flatnonzero((clipped[:, 2:] > clipped[:, :2]).all(axis=1))
    keys = np.column_stack([rows, labels, clipped])[every]
    # The first of equal ones, in the order of the file within an image.
    kept = every[np.sort(np.unique(keys, axis=0, return_index=True)[1])]
    kept = kept[np.argsort(rows[kept], kind="stable")]
    # Annotation tools round to 0.01 px; less than that is no overhang.
    overhang = np.abs(clipped - corners)[kept].max(axis=1, initial=0) > 0.01
    dropped = {
        "clipped": int(overhang.sum()),
        "zero_area": len(rows) - len(every),
        "duplicates": len(every) - len(kept),
    }
    return rows[kept], labels[kept], clipped[kept], dropped
