"""Reading data sets in COCO's and in YOLO's format."""

import json
import math
import os
import unicodedata
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import numpy as np
from data.keypoints import LINES, guess_shape
from data.listing import (
    Boxes,
    Listing,
    PartMissingError,
    Picture,
    Unsplit,
    YoloPart,
    choose_classes,
    find,
    place_in,
    share_of,
)
from PIL import Image

PICTURES = {end for end, kind in Image.registered_extensions().items() if kind in Image.OPEN}
_LOWEST, _HIGHEST = -0.01, 1.01  # coordinates beyond are wrong, not merely rounded


def read_part(path, split, classes=None, limit=None, some=False, divide=True):
    """Find and read a part of a data set; see `listing.find`, `read_coco` and `read_yolo`.

    With `some`, the data set may lack some of the classes. Without `divide`, all of a set that has
    no part for validation is for training.
    """
    found, share = find(path, split), None
    if isinstance(found, Unsplit):
        if not divide and split == "val":
            raise PartMissingError(f"no val part in {path}")
        found, share = found.part, split if divide else None
    if isinstance(found, YoloPart):
        return read_yolo(found, classes, limit, share, some)
    return read_coco(*found, classes, limit, share, some)


def _boxes(rows, fractions=False):
    """Return the `Boxes` of (owner, label, x1, y1, x2, y2) rows."""
    table = np.array(rows, np.float64).reshape(-1, 6)
    owner, label = table[:, 0].astype(np.int64), table[:, 1].astype(np.int32)
    return Boxes(owner, label, table[:, 2:], np.full(len(table), fractions))


# ------------------------------------------------------------------------------ COCO


def read_coco(annotation_file, image_dir, classes=None, limit=None, share=None, some=False):
    """Read a COCO instances file, or its first `limit` images, as a `Listing`.

    Images may lack ``width`` and ``height``. The classes are those of the file by default; with
    `some`, the file may lack some of them. `share` is ``"train"`` or ``"val"`` where the file has
    the pictures of both; see `listing.share_of`. A picture with an annotation whose ``bbox`` can't
    be used is excluded.

    Where an image, or ``info`` for all of them, has ``complete``, a list of category ids, things of
    other categories may lack a box there. An annotation with ``iscrowd`` or ``uncertain`` is no
    box but a region (`Listing.regions`).
    """
    path, image_dir = Path(annotation_file), Path(image_dir)
    data = _load_json(path)
    if not image_dir.is_dir():
        raise FileNotFoundError(f"image folder {image_dir} does not exist")
    try:
        data = _with_numbers(data)
        ids, available = _class_ids(path, data)
        classes = choose_classes(path, available if classes is None else list(ids), classes, some)
        data, pictures, undivided = _read_pictures(path, data, image_dir, limit, share)
        place_of = {picture.image_id: place for place, picture in enumerate(pictures)}
        if len(place_of) < len(pictures):
            raise ValueError(f"{path} lists an image id twice")
        category_ids = [ids[name] for name in classes]
        labelled = _labelled(path, data, category_ids)
        boxes, regions, excluded, counts = _read_annotations(path, data, place_of, category_ids)
    except (KeyError, TypeError) as error:
        what = f"an entry lacks {error}" if isinstance(error, KeyError) else error
        raise ValueError(f"{path} is not a COCO instances file: {what}") from None
    counts |= undivided | {"same_file": len(pictures) - len({each.path for each in pictures})}
    return Listing(
        path, image_dir, classes, category_ids, pictures, boxes, regions, counts,
        excluded=excluded, coco=data, labelled=labelled,
    )  # fmt: skip


def _labelled(path, data, category_ids):
    """Return ``Listing.labelled`` of a COCO file; None if all images are labelled for all."""
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


def _with_numbers(data):
    """Return COCO's dictionary with numbers where a tool has written texts.

    Ids that are texts of digits become these numbers; if there are other texts among the ids of
    images, or of categories, all of these are numbered from 1 on. What is ``uncertain`` gets
    ``iscrowd`` 1, so that scores pass over it, too.
    """
    data = {**data}
    for kind, key in (("images", "image_id"), ("categories", "category_id")):
        ids = [entry["id"] for entry in data[kind]]
        if not any(isinstance(i, str) for i in (*ids, *(a[key] for a in data["annotations"]))):
            continue
        plain = all(str(each).isdecimal() for each in ids)
        number = {str(each): int(each) if plain else n for n, each in enumerate(ids, 1)}
        data[kind] = [entry | {"id": number[str(entry["id"])]} for entry in data[kind]]
        data["annotations"] = [
            a | {key: number.get(str(a[key]), a[key])} for a in data["annotations"]
        ]
    if any(isinstance(a.get("iscrowd"), str) or a.get("uncertain") for a in data["annotations"]):
        data["annotations"] = [
            a | {"iscrowd": int(_is_set(a.get("iscrowd")) or _is_set(a.get("uncertain")))}
            for a in data["annotations"]
        ]
    return data


def _is_set(flag):
    return flag.lower() in ("1", "true") if isinstance(flag, str) else bool(flag)


def _class_ids(path, data):
    """Return category ids by class name, and the names of those that are classes.

    Roboflow puts the project before its classes, as a category without annotations that the classes
    name as their supercategory. It is no class, though a class may have the same name.
    """
    categories, owners = data["categories"], {a["category_id"] for a in data["annotations"]}
    parents = {category.get("supercategory") for category in categories}
    ids, above = {}, {}
    for category in categories:
        name, parent = category["name"], category.get("supercategory")
        is_above = name in parents and parent != name and category["id"] not in owners
        if is_above:
            above[name] = category["id"]
        elif name in ids:
            raise ValueError(f"{path} lists a category's name or id twice: {name}; rename one")
        else:
            ids[name] = category["id"]
    times = Counter(category["id"] for category in categories)
    if twice := [each for each, count in times.items() if count > 1]:
        raise ValueError(f"{path} lists a category's name or id twice: {twice}; renumber one")
    return above | ids, list(ids)


def _read_pictures(path, data, image_dir, limit, share):
    """Return COCO's dictionary with the wanted images, their `Picture`s, and counts for a share."""
    images, counts, pictures = data["images"], {}, []
    places = [_located(image_dir, image["file_name"]) for image in images]
    claims = Counter(places)
    for image, place in zip(images, places, strict=True):
        if claims[place] > 1:  # found by a part of the name, it could belong to either
            place = image_dir / image["file_name"]
        size = image.get("width"), image.get("height")
        size = None if None in size else size
        source = str(image.get("source") or "")
        name = _relative(place, image_dir)
        pictures.append(Picture(name, str(place), image["id"], size, source))
    if share is not None:
        counts["undivided"] = len(pictures)
        chosen = {*share_of(path, [picture.name for picture in pictures], share)}
        pictures = [picture for picture in pictures if picture.name in chosen]
    pictures = pictures[:limit]
    if len(pictures) < len(images):
        kept = {picture.image_id for picture in pictures}
        dropped = {image["id"] for image in images} - kept
        data = data | {
            "images": [image for image in images if image["id"] in kept],
            "annotations": [a for a in data["annotations"] if a["image_id"] not in dropped],
        }
    return data, pictures, counts


def _located(folder, name):
    """Return the path of a picture: as it is called, or as tools write it that ran elsewhere.

    Label Studio's paths begin at the annotation file, on Windows with backslashes, or are those on
    its server; names may be encoded as in an address.
    """
    if (folder / name).exists():
        return folder / name
    name = name.replace("\\", "/")
    for each in (name, unquote(name)):
        for place in (folder / each, folder.parent / each, folder / each.rpartition("/")[2]):
            if place.is_file():
                return place
    return folder / name


def _read_annotations(path, data, place_of, category_ids):
    """Return `Boxes`, those of regions, reasons by place, and counts of the rest."""
    names = {category["id"]: category["name"] for category in data["categories"]}
    wanted = {category: label for label, category in enumerate(category_ids)}
    rows, regions, excluded, other_classes = [], [], {}, Counter()
    for annotation in data["annotations"]:
        image, category = annotation["image_id"], annotation["category_id"]
        if image not in place_of or category not in names:
            raise ValueError(
                f"{path}: annotation {annotation.get('id')} has image_id {image} and category_id "
                f"{category}; `images` or `categories` does not list it"
            )
        if category not in wanted:
            other_classes[names[category]] += 1
            continue
        box = annotation.get("bbox")
        if not _is_bbox(box):
            excluded.setdefault(
                place_of[image],
                f"annotation {annotation.get('id')} has bbox {box}; it must be four finite "
                "numbers x, y, width, height",
            )
        else:
            x, y, w, h = box
            kind = regions if annotation.get("iscrowd", 0) else rows
            kind.append((place_of[image], wanted[category], x, y, x + w, y + h))
    return _boxes(rows), _boxes(regions), excluded, {"other_classes": dict(other_classes)}


def _is_bbox(box):
    if not isinstance(box, list) or len(box) != 4:
        return False
    return all(isinstance(value, int | float) and math.isfinite(value) for value in box)


# ------------------------------------------------------------------------------ YOLO


def read_yolo(part, classes=None, limit=None, share=None, some=False):
    """Read the pictures and text labels of one part of a data set, as a `Listing`.

    The labels of ``…/images/…/a.jpg`` are in ``…/labels/…/a.txt``, or in a file beside it. A line
    holds the class number and ``cx cy w h`` as fractions of the upright picture, or the class
    number and a polygon ``x1 y1 x2 y2 x3 y3 …``, whose bounding box is taken. Where `part` has
    keypoints, it may hold them behind the box, and no polygon. A picture with a line that is
    malformed, has a coordinate above 1.01 or below -0.01, or a class that doesn't exist, is
    excluded; one without a label file is background. Pictures are sorted by name and numbered
    from 1.

    `limit` is how many pictures to take, the first by name; with `some`, the set may lack some of
    the classes. `share` is as in `read_coco`. ValueError if no picture has labels, or if these seem
    to have keypoints and `part` says nothing of them.
    """
    classes = choose_classes(part.source, part.names, classes, some)
    only_folder = len(part.entries) == 1 and part.entries[0].is_dir()
    image_dir = part.entries[0] if only_folder else part.root
    named = sorted((_relative(file, image_dir), file) for file in _find_pictures(part))
    labels = _label_files([file for _, file in named])
    if labels and not any(map(Path.is_file, labels)):
        raise ValueError(
            f"{part.source}: none of the {len(labels)} pictures has a label file; {labels[0]} "
            f"would be that of {named[0][1]}"
        )
    alone = _labels_alone(labels) if only_folder else 0  # a list may leave some out on purpose
    counts = {"labels_alone": alone}
    if share is not None:
        counts["undivided"] = len(named)
        chosen = {*share_of(part.source, [name for name, _ in named], share)}
        labels = [file for file, (name, _) in zip(labels, named, strict=True) if name in chosen]
        named = [each for each in named if each[0] in chosen]
    pictures = [Picture(name, str(file), n, None) for n, (name, file) in enumerate(named, start=1)]
    rows, excluded, found = _read_labels(part, classes, labels[:limit])
    return Listing(
        part.source,
        image_dir,
        classes,
        [part.names.index(name) + 1 for name in classes],
        pictures[:limit],
        _boxes(rows, fractions=True),
        _boxes([]),  # the format has none
        counts | found,
        excluded=excluded,
    )


def _relative(path, folder):
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def _find_pictures(part):
    """Return the paths of the pictures, without repeats."""
    files = []
    for entry in part.entries:
        if entry.is_file():
            lines = entry.read_text(encoding="utf-8-sig").splitlines()
            for name in (line.strip() for line in lines if line.strip()):
                # CVAT's older versions put data/ before all paths.
                names = dict.fromkeys((name, name.removeprefix("data/")))
                places = (place_in(top, n) for n in names for top in (part.root, entry.parent))
                there = next(filter(Path.exists, places), None)
                files.append(there or place_in(entry.parent, name))
            continue
        files += find_pictures(entry)
    return list(dict.fromkeys(files))


def find_pictures(folder):
    """Return the paths of the pictures in a folder and in those below it, except hidden ones."""
    files = []
    for each, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith(".")]
        visible = (Path(each, name) for name in names if not name.startswith("."))
        files += [file for file in visible if file.suffix.lower() in PICTURES]
    return files


def _label_file(path):
    """Return where the labels of a picture are, or would be."""
    path = Path(path).absolute()
    head, images, tail = path.as_posix().rpartition("/images/")
    beside, own = path.with_suffix(".txt"), Path(f"{head}/labels/{tail}").with_suffix(".txt")
    return own if images and (own.parent.is_dir() or not beside.exists()) else beside


def _label_files(pictures):
    """Return where the labels of pictures are; either name may be encoded as in an address."""
    files = [_label_file(picture) for picture in pictures]
    absent = [place for place, file in enumerate(files) if not file.exists()]
    taken, known = {*files}, {}
    for place in absent:
        folder, name = files[place].parent, _decoded(files[place].name)
        if folder not in known:
            others = (file for file in folder.glob("*.txt") if file not in taken)
            known[folder] = {_decoded(file.name): file for file in others}
        files[place] = known[folder].get(name, files[place])
    return files


def _decoded(name):
    # Macs write an accent as a character of its own.
    return unicodedata.normalize("NFC", unquote(name))


def _labels_alone(files):
    """Count the files in folders of labels that belong to no picture."""
    folders = {file.parent for file in files if "labels" in file.parts}
    found = {file for folder in folders for file in folder.glob("*.txt")}
    return len(found - {*files, *(folder / "classes.txt" for folder in folders)})


def _read_labels(part, classes, files):
    """Return rows for `_boxes`, reasons by place in `files`, and counts of what isn't used."""
    wanted = {part.names.index(name): label for label, name in enumerate(classes)}
    rows, excluded, counts, other_classes, long = [], {}, Counter(), Counter(), []
    for place, file in enumerate(files):
        try:
            text = file.read_text(encoding="utf-8-sig")
            found = _read_lines(text, len(part.names), part.keypoints, long)
        except FileNotFoundError:
            counts["no_label_file"] += 1
            continue
        except (OSError, ValueError) as error:  # not UTF-8, or a wrong line
            excluded[place] = f"labels {_relative(file, part.root.absolute())}: {error}"
            continue
        for number, kind, corners in found:
            if number in wanted:
                counts[kind] += 1
                rows.append((place, wanted[number], *corners))
            else:
                other_classes[part.names[number]] += 1
    if part.keypoints is None and (shape := guess_shape(long)):
        raise ValueError(
            f"{part.source}: lines of {5 + shape[0] * shape[1]} numbers in the labels look like "
            f"boxes with {shape[0]} keypoints of {shape[1]} numbers, not like polygons: put "
            f"kpt_shape: [{shape[0]}, {shape[1]}] into data.yaml, and the boxes are taken, or "
            "kpt_shape: [0, 2] if they are polygons"
        )
    del counts["box"]
    return rows, excluded, {**counts, "other_classes": dict(other_classes)}


def _read_lines(text, num_classes, keypoints, long):
    """Return (class, kind, corners) of every line; ValueError names a wrong one.

    The first `LINES` that are no plain boxes are added to `long`, even if they are wrong.
    """
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if words := line.split():
            try:
                label, *values = map(float, words)
                if len(values) > 4 and len(long) < LINES:
                    long.append(values)
                if not label.is_integer() or not 0 <= label < num_classes:
                    raise ValueError(
                        f"class {words[0]}, but there are {num_classes} classes, from 0"
                    )
                rows.append((int(label), *_read_shape(values, keypoints)))
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
    return rows


def _read_shape(values, keypoints):
    """Return kind and corners of the numbers after a line's class."""
    kind = "box"
    if keypoints and keypoints[0]:
        more = keypoints[0] * keypoints[1]
        if len(values) not in (4, 4 + more):
            raise ValueError(
                f"{len(values) + 1} numbers; a box has 5, and with keypoints (kpt_shape) {5 + more}"
            )
        kind, values = "box" if len(values) == 4 else "from_keypoints", values[:4]
    elif len(values) != 4:
        kind = "from_polygon"
        if len(values) < 6 or len(values) % 2:
            raise ValueError(
                f"{len(values) + 1} numbers; a box has 5, a polygon an odd number from 7 upwards"
            )
    for value in values:
        if not _LOWEST <= value <= _HIGHEST:  # true for NaN
            raise ValueError(f"{value:g} is no fraction of the picture (0 to 1)")
    if kind == "from_polygon":
        xs, ys = values[::2], values[1::2]
        return kind, (min(xs), min(ys), max(xs), max(ys))
    x, y, w, h = values
    return kind, (x - w / 2, y - h / 2, x + w / 2, y + h / 2)


# ------------------------------------------------------------------------------ boxes


def clean_boxes(boxes, places, sides):
    """Clip the boxes of the usable pictures, and drop what can't be used.

    `boxes` are `Boxes`, `places` those of the usable pictures in the listing, ascending; `sides`,
    float (n, 2), their widths and heights.

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
    boxes = Boxes(*(field[np.isin(boxes.owner, places)] for field in boxes))
    rows, labels = np.searchsorted(places, boxes.owner), boxes.label
    limits = np.tile(sides, 2)[rows]
    corners = boxes.corners * np.where(boxes.fractions[:, None], limits, 1.0)
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
