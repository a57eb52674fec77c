"""Mend what tools write differently in COCO's files."""

import math

import numpy as np
from pycocotools import mask

# Scores keep ids as float64, which can't tell larger ones apart.
_MOST_EXACT = 2**53


def mended(data):
    """Return COCO's dictionary with plain numbers, and a box in every annotation that has a shape.

    - Ids that are texts of digits become these numbers. If there are other texts among the ids of
      images, or of categories, or numbers of 2**53 or more, all of these are numbered from 1 on.
    - Numbers that are texts become numbers. Widths and heights that aren't known (null, 0, -1) are
      removed; so is an ``area``. ``iscrowd`` is 0 or 1; what is ``uncertain`` gets 1, so that
      scores pass over it, too.
    - Without a ``bbox``, an annotation gets the one around its ``segmentation``.
    - CVAT's ``bbox`` of a rotated rectangle is the one before the rotation; it becomes the one
      around the rectangle.

    KeyError or TypeError if an entry isn't COCO's at all.
    """
    data = {**data, "images": [_with_size(image) for image in data["images"]]}
    data["annotations"] = [_with_box(annotation) for annotation in data["annotations"]]
    for kind, key in (("images", "image_id"), ("categories", "category_id")):
        ids = [entry["id"] for entry in data[kind]]
        if not any(_is_odd(i) for i in (*ids, *(a[key] for a in data["annotations"]))):
            continue
        plain = all(str(each).isdecimal() and int(each) < _MOST_EXACT for each in ids)
        number = {str(each): int(each) if plain else n for n, each in enumerate(ids, 1)}
        data[kind] = [entry | {"id": number[str(entry["id"])]} for entry in data[kind]]
        data["annotations"] = [
            a | {key: number.get(str(a[key]), a[key])} for a in data["annotations"]
        ]
    return data


def _is_odd(number):
    if number is None:
        raise TypeError("an id is null")
    return isinstance(number, str) or (isinstance(number, int) and abs(number) >= _MOST_EXACT)


def _number(value):
    """Return a finite number, also of a text; None for anything else."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    known = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return value if known else None


def _with_size(image):
    if "width" not in image and "height" not in image:
        return image
    size = [_number(image.get(side)) for side in ("width", "height")]
    if None in size or min(size) <= 0:
        return {key: value for key, value in image.items() if key not in ("width", "height")}
    return image | dict(zip(("width", "height"), size, strict=True))


def _is_plain(annotation):
    """Return whether there is nothing to mend: the files of COCO have a million annotations."""
    box = annotation.get("bbox")
    return (
        type(box) is list and len(box) == 4 and all(type(v) in (int, float) for v in box)
        and type(annotation.get("area")) in (int, float) and annotation.get("iscrowd") in (0, 1)
        and "uncertain" not in annotation and "attributes" not in annotation
        and any(box)
    )  # fmt: skip


def _with_box(annotation):
    if _is_plain(annotation):
        return annotation
    a, box = {**annotation}, annotation.get("bbox")
    if isinstance(box, list) and len(box) == 4:
        numbers = [_number(value) for value in box]
        box = box if None in numbers else numbers
    shape = a.get("segmentation")
    if shape and (not box or not any(box)):
        box = _box_around(shape) or box
    angle = _number((a.get("attributes") or {}).get("rotation"))
    if is_bbox(box) and angle:
        box = _around_rotated(*box, angle)
    a["bbox"] = box
    if "area" in a and _number(a["area"]) is None:
        del a["area"]
    elif "area" in a:
        a["area"] = _number(a["area"])
    if "iscrowd" in a or a.get("uncertain"):
        a["iscrowd"] = int(_is_set(a.get("iscrowd")) or _is_set(a.get("uncertain")))
    return a


def _is_set(flag):
    return flag.lower() in ("1", "true") if isinstance(flag, str) else bool(flag)


def is_bbox(box):
    """Return whether a ``bbox`` is a list of four finite numbers."""
    if not isinstance(box, list) or len(box) != 4:
        return False
    return all(isinstance(value, int | float) and math.isfinite(value) for value in box)


def _box_around(shape):
    """Return the bbox around polygons or run lengths of COCO; None if they are neither."""
    if isinstance(shape, list):
        points = [value for polygon in shape if isinstance(polygon, list) for value in polygon]
        points = [_number(value) for value in points]
        if len(points) < 6 or len(points) % 2 or None in points:
            return None
        xs, ys = points[::2], points[1::2]
        return [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)]
    try:
        if isinstance(shape["counts"], list):
            shape = mask.frPyObjects(shape, *shape["size"])
        return mask.toBbox(shape).tolist()
    except (KeyError, TypeError, ValueError):
        return None


def _around_rotated(x, y, w, h, degrees):
    """Return the bbox around a rectangle that is rotated around its middle."""
    across, along = np.abs([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))]).tolist()
    width, height = w * across + h * along, w * along + h * across
    return [x + (w - width) / 2, y + (h - height) / 2, width, height]
