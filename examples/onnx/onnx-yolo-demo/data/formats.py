"""Reading a part of a data set in any form; COCO's files, and boxes made ready for use."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
from data.doubled import check_same_labels
from data.finding import find_all, undivided
from data.forms import FormPart, read_form
from data.listing import (
    Boxes,
    Listing,
    PartMissingError,
    Picture,
    Unsplit,
    YoloPart,
    boxes_of,
    choose_classes,
    share_of,
)
from data.mending import is_bbox, mended
from data.places import Pictures, plain_name, relative_name
from data.yolo import read_yolo


def read_part(path, split, classes=None, limit=None, some=False, divide=True):
    """Find and read a part of a data set; see `finding.find` and what it finds.

    With `some`, the data set may lack some of the classes. Without `divide`, all of a set that has
    no part for validation is for training. ValueError if the folder has other labels that differ.
    """
    (found, *others), share = find_all(path, split), None
    if isinstance(found, Unsplit):
        if not divide and split == "val":
            raise PartMissingError(f"no val part in {path}")
        share = split if divide else None
    part = undivided(found)
    listing = _read(part, classes, limit, share, some)
    for other in map(undivided, others):
        try:
            second = _read(other)
        except (OSError, ValueError):  # which are no labels
            continue
        known = None if classes is None else listing.classes
        check_same_labels(path, (part, other), (listing, second), known)
    return listing


def _read(part, *how):
    if isinstance(part, YoloPart):
        return read_yolo(part, *how)
    if isinstance(part, FormPart):
        return read_form(part, *how)
    return read_coco(*part, *how)


# ------------------------------------------------------------------------------ COCO


def read_coco(annotation_file, image_dir, classes=None, limit=None, share=None, some=False):
    """Read a COCO instances file, or its first `limit` images, as a `Listing`.

    Images may lack ``width`` and ``height``. The classes are the file's by default; with
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
        data = mended(data)
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
    index = Pictures(image_dir)
    places = [_located(image_dir, image["file_name"], index) for image in images]
    claims = Counter(places)
    for image, place in zip(images, places, strict=True):
        if claims[place] > 1:  # found by a part of the name, it could belong to either
            place = image_dir / image["file_name"]
        size = image.get("width"), image.get("height")
        size = None if None in size else size
        source = str(image.get("source") or "")
        name = relative_name(place, image_dir)
        pictures.append(Picture(name, str(place), image["id"], size, source))
    if share is not None:
        counts["undivided"] = len(pictures)
        shown = {}
        for annotation in data["annotations"]:
            shown.setdefault(annotation["image_id"], set()).add(annotation["category_id"])
        kinds = {picture.name: shown.get(picture.image_id, ()) for picture in pictures}
        chosen = {*share_of(path, [*kinds], share, kinds)}
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


def _located(folder, name, index):
    """Return the path of a picture: as it is called, or as tools write it that ran elsewhere.

    Label Studio's paths begin at the annotation file, on Windows with backslashes, or are those on
    its server; names may be encoded as in an address. Else it is the only picture below the folder
    whose name differs in capital letters or in its ending alone.
    """
    if (folder / name).exists():
        return folder / name
    for each in (name.replace("\\", "/"), plain_name(name.replace("\\", "/"))):
        for place in (folder / each, folder.parent / each, folder / each.rpartition("/")[2]):
            if place.is_file():
                return place
    return index.find(name, folder) or folder / name


def _read_annotations(path, data, place_of, category_ids):
    """Return `Boxes`, boxes of regions, reasons by place, and counts of the rest."""
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
        if not is_bbox(box):
            excluded.setdefault(
                place_of[image],
                f"annotation {annotation.get('id')} has bbox {box}; it must be four finite "
                "numbers x, y, width, height",
            )
        else:
            x, y, w, h = box
            kind = regions if annotation.get("iscrowd", 0) else rows
            kind.append((place_of[image], wanted[category], x, y, x + w, y + h))
    return boxes_of(rows), boxes_of(regions), excluded, {"other_classes": dict(other_classes)}


# ------------------------------------------------------------------------------ boxes


def clean_boxes(boxes, places, sides):
    """Clip the boxes of the usable pictures, and drop what can't be used.

    `boxes` are `Boxes`, `places` the usable pictures' places in the listing, ascending; `sides`,
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


_MOST_BEYOND = 0.1  # of all boxes, which may lose a tenth of their area at the edges
_FEWEST_BEYOND = 3


def check_boxes(source, boxes, places, sides):
    """Find boxes that are written in another way than the format says, by their positions.

    `boxes`, `places` and `sides` are from `clean_boxes`. ValueError if more than a tenth of the
    boxes, and not only one or two, reach beyond their pictures with a tenth of their area or more;
    it says what they look like.
    """
    boxes = Boxes(*(field[np.isin(boxes.owner, places)] for field in boxes))
    limits = np.tile(sides, 2)[np.searchsorted(places, boxes.owner)]
    corners = boxes.corners * np.where(boxes.fractions[:, None], limits, 1.0)
    low, high = corners[:, :2], corners[:, 2:]
    inside = (high.clip(0, limits[:, 2:]) - low.clip(0, limits[:, 2:])).prod(axis=1)
    beyond = inside < (1 - _MOST_BEYOND) * (high - low).prod(axis=1) * (1 - 1e-9)
    count = int(beyond.sum())
    if count < _FEWEST_BEYOND or count <= _MOST_BEYOND * len(corners):
        return
    written = np.concatenate([(low + high) / 2 if boxes.fractions.all() else low, high - low], 1)
    usual = "centre and size" if boxes.fractions.all() else "corner and size"
    first, second = written[:, :2], written[:, 2:]
    others = {
        "two corners": (first, second),
        "corner and size": (first, first + second),
        "centre and size": (first - second / 2, first + second / 2),
    }
    fits = (
        name
        for name, (low, high) in others.items()
        if name != usual and (low >= -1).all() and (high <= limits[:, 2:] + 1).all()
        and (high > low).all()
    )  # fmt: skip
    name = next(fits, None)
    guess = f"their numbers look like {name}, not like {usual}" if name else (
        "they look like boxes of other pictures, or of these in another size"
    )  # fmt: skip
    raise ValueError(
        f"{source}: {count} of {len(corners)} boxes reach far beyond their pictures; {guess}"
    )
