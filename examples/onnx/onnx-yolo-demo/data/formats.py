"""Reading data sets in COCO's and in YOLO's format."""

import json
import math
import os
from collections import Counter
from pathlib import Path

import numpy as np
from data.listing import Listing, Picture, YoloPart, choose_classes, find
from PIL import Image

PICTURES = {end for end, kind in Image.registered_extensions().items() if kind in Image.OPEN}
_LOWEST, _HIGHEST = -0.01, 1.01  # coordinates beyond are wrong, not merely rounded


def read_part(path, split, classes=None, limit=None, some=False):
    """Find and read a part of a data set; see `listing.find`, `read_coco` and `read_yolo`.

    With `some`, the data set may lack some of the classes.
    """
    found = find(path, split)
    if isinstance(found, YoloPart):
        return read_yolo(found, classes, limit, some)
    return read_coco(*found, classes, limit, some)


def _boxes(rows):
    """Owner, label and corners of a `Listing`, of (owner, label, x1, y1, x2, y2) rows."""
    table = np.array(rows, np.float64).reshape(-1, 6)
    return table[:, 0].astype(np.int64), table[:, 1].astype(np.int32), table[:, 2:]


# ------------------------------------------------------------------------------ COCO


def read_coco(annotation_file, image_dir, classes=None, limit=None, some=False):
    """Read a COCO instances file, or its first `limit` images, as a `Listing`.

    Images may lack ``width`` and ``height``. The classes are those of the file by default; with
    `some`, the file may lack some of them. Where an image, or ``info`` for all of them, has
    ``complete``, a list of category ids, things of other categories may lack a box there.
    """
    path, image_dir = Path(annotation_file), Path(image_dir)
    data = _load_json(path)
    if not image_dir.is_dir():
        raise FileNotFoundError(f"image folder {image_dir} does not exist")
    try:
        ids = {category["name"]: category["id"] for category in data["categories"]}
        if len(set(ids.values())) < len(data["categories"]):
            raise ValueError(f"{path} lists a category's name or id twice: {ids}")
        classes = choose_classes(path, list(ids), classes, some)
        if limit is not None:
            dropped = {image["id"] for image in data["images"][limit:]}
            kept = [a for a in data["annotations"] if a["image_id"] not in dropped]
            data = {**data, "images": data["images"][:limit], "annotations": kept}
        pictures = []
        for image in data["images"]:
            name, size = image["file_name"], (image.get("width"), image.get("height"))
            size = None if None in size else size
            source = str(image.get("source") or "")
            pictures.append(Picture(name, str(image_dir / name), image["id"], size, source))
        place_of = {picture.image_id: place for place, picture in enumerate(pictures)}
        if len(place_of) < len(pictures):
            raise ValueError(f"{path} lists an image id twice")
        category_ids = [ids[name] for name in classes]
        labelled = _labelled(path, data, category_ids)
        rows, counts = _read_annotations(path, data, place_of, category_ids)
    except (KeyError, TypeError) as error:
        what = f"an entry lacks {error}" if isinstance(error, KeyError) else error
        raise ValueError(f"{path} is not a COCO instances file: {what}") from None
    return Listing(
        path, image_dir, classes, category_ids, pictures, *_boxes(rows), counts, coco=data,
        labelled=labelled,
    )  # fmt: skip


def _labelled(path, data, category_ids):
    """``Listing.labelled`` of a COCO file; None if all of its images are labelled for all."""
    general = (data.get("info") or {}).get("complete")
    known = {category["id"] for category in data["categories"]}
    rows = np.ones((len(data["images"]), len(category_ids)), bool)
    for row, image in zip(rows, data["images"], strict=True):
        complete = image.get("complete", general)
        if complete is None:
            continue
        if not isinstance(complete, list) or not known.issuperset(complete):
            where = f"image {image['id']}" if "complete" in image else "info"
            raise ValueError(
                f"{path}: `complete` of {where} is {complete}; it must be a list of category ids, "
                "of which all things have a box"
            )
        row[:] = [category in complete for category in category_ids]
    return None if rows.all() else rows


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


def _read_annotations(path, data, place_of, category_ids):
    """Rows for `_boxes` without crowd regions, and counts of what isn't among them."""
    names = {category["id"]: category["name"] for category in data["categories"]}
    wanted = {category: label for label, category in enumerate(category_ids)}
    rows, crowd, other_classes = [], 0, Counter()
    for annotation in data["annotations"]:
        image, category = annotation["image_id"], annotation["category_id"]
        if image not in place_of or category not in names:
            raise ValueError(
                f"{path}: annotation {annotation.get('id')} has image_id {image} and category_id "
                f"{category}; `images` or `categories` does not list it"
            )
        if category not in wanted:
            other_classes[names[category]] += 1
        elif annotation.get("iscrowd", 0):
            crowd += 1
        else:
            box = annotation["bbox"]
            if len(box) != 4 or not all(map(math.isfinite, box)):
                raise ValueError(
                    f"{path}: annotation {annotation.get('id')} has bbox {box}; "
                    "it must be four finite numbers x, y, width, height"
                )
            x, y, w, h = box
            rows.append((place_of[image], wanted[category], x, y, x + w, y + h))
    return rows, {"crowd": crowd, "other_classes": dict(other_classes)}


# ------------------------------------------------------------------------------ YOLO


def read_yolo(part, classes=None, limit=None, some=False):
    """Read the pictures and text labels of one part of a data set, as a `Listing`.

    The labels of ``…/images/…/a.jpg`` are in ``…/labels/…/a.txt``; of pictures that are not in
    a folder called images, in a file beside them. A line holds the class number and ``cx cy w h``
    as fractions of the upright picture, or the class number and a polygon ``x1 y1 x2 y2 x3 y3 …``,
    whose bounding box is taken. A picture without a label file is background. One with a line
    that is malformed, has a coordinate above 1.01 or below -0.01, or a class that doesn't exist,
    is excluded. Pictures are sorted by name and numbered from 1.

    `limit` takes the first so many pictures by name; with `some`, the set may lack some of the
    classes.
    """
    classes = choose_classes(part.source, part.names, classes, some)
    only_folder = len(part.entries) == 1 and part.entries[0].is_dir()
    image_dir = part.entries[0] if only_folder else part.root
    named = sorted((_relative(file, image_dir), file) for file in _find_pictures(part))
    pictures = [Picture(name, str(file), n, None) for n, (name, file) in enumerate(named, start=1)]
    labels = [_label_file(picture.path) for picture in pictures]
    if labels and not any(map(Path.is_file, labels)):
        raise ValueError(
            f"{part.source}: none of the {len(labels)} pictures has a label file; {labels[0]} "
            f"would be that of {pictures[0].path}"
        )
    rows, excluded, counts = _read_labels(part, classes, labels[:limit])
    if only_folder:  # a list of pictures may leave some out on purpose
        # Beside the pictures text of other kinds may lie.
        folders = {file.parent for file in labels if "labels" in file.parts}
        found = {file for folder in folders for file in folder.glob("*.txt")}
        counts["labels_alone"] = len(found - {*labels, *(f / "classes.txt" for f in folders)})
    return Listing(
        part.source,
        image_dir,
        classes,
        [part.names.index(name) + 1 for name in classes],
        pictures[:limit],
        *_boxes(rows),
        counts,
        fractions=True,
        excluded=excluded,
    )


def _relative(path, folder):
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def _find_pictures(part):
    """Paths of the pictures, without repeats."""
    files = []
    for entry in part.entries:
        if entry.is_file():
            lines = entry.read_text(encoding="utf-8-sig").splitlines()
            for name in (line.strip() for line in lines if line.strip()):
                place = part.root / name
                files.append(place if place.exists() else entry.parent / name)
            continue
        for folder, folders, names in os.walk(entry, followlinks=True):
            folders[:] = [name for name in folders if not name.startswith(".")]
            visible = (Path(folder, name) for name in names if not name.startswith("."))
            files += [file for file in visible if file.suffix.lower() in PICTURES]
    return list(dict.fromkeys(files))


def _label_file(path):
    """Where the labels of a picture are."""
    head, images, tail = Path(path).absolute().as_posix().rpartition("/images/")
    return Path(f"{head}/labels/{tail}" if images else tail).with_suffix(".txt")


def _read_labels(part, classes, files):
    """Rows for `_boxes`, reasons by place in `files`, and counts of what isn't used."""
    wanted = {part.names.index(name): label for label, name in enumerate(classes)}
    rows, excluded, counts, other_classes = [], {}, Counter(), Counter()
    for place, file in enumerate(files):
        try:
            found = _read_lines(file.read_text(encoding="utf-8-sig"), len(part.names))
        except FileNotFoundError:
            counts["no_label_file"] += 1
            continue
        except (OSError, ValueError) as error:  # not UTF-8, or a wrong line
            excluded[place] = f"labels {_relative(file, part.root.absolute())}: {error}"
            continue
        for number, is_polygon, corners in found:
            if number in wanted:
                counts["from_polygon"] += is_polygon
                rows.append((place, wanted[number], *corners))
            else:
                other_classes[part.names[number]] += 1
    return rows, excluded, {**counts, "other_classes": dict(other_classes)}


def _read_lines(text, num_classes):
    """(class, whether a polygon, corners) of every line; ValueError names a wrong one."""
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if words := line.split():
            try:
                rows.append(_read_line(words, num_classes))
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
    return rows


def _read_line(words, num_classes):
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


def clean_boxes(listing, places, sides):
    """Clip the boxes of the usable pictures, and drop what can't be used.

    `places` are those of the usable pictures in ``listing.pictures``, ascending; `sides`, float
    (n, 2), their widths and heights.

    Returns
    -------
    rows : int array (m,)
        Place in `places` of each box, ascending.
    labels : int32 array (m,)
    corners : float64 array (m, 4)
        ``x1, y1, x2, y2`` in pixels of the picture.
    dropped : dict of str to int
        How many boxes were ``clipped``, and dropped as ``zero_area`` or ``duplicates``.
    """
    row_of = np.full(len(listing.pictures), -1)
    row_of[places] = np.arange(len(places))
    usable = row_of[listing.owner] >= 0
    rows, labels = row_of[listing.owner[usable]], listing.label[usable]
    limits = np.tile(sides, 2)[rows]
    fractions = np.broadcast_to(listing.fractions, len(usable))[usable, None]
    corners = listing.corners[usable] * np.where(fractions, limits, 1.0)
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
