"""Reading COCO instances files."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
from data.listing import Listing, Picture, choose_classes


class DataPaths(NamedTuple):
    """Annotation files and image folders of a data set."""

    train_json: Path
    train_images: Path
    val_json: Path
    val_images: Path


_LAYOUTS = [  # annotation file, image folder
    ("annotations/instances_{}.json", "images/{}"),
    ("annotations/instances_{}2017.json", "{}2017"),
    ("annotations/instances_{}2017.json", "images/{}2017"),
    ("annotations/instances_{}.json", "{}"),
    ("annotations/{}.json", "images/{}"),
    ("annotations/{}.json", "{}"),
    ("{}/_annotations.coco.json", "{}"),  # Roboflow
    ("{}/labels.json", "{}/data"),  # FiftyOne
    ("{}.json", "images/{}"),
    ("{}.json", "{}"),
]
_VALIDATION = ("val", "valid", "validation")


def _layouts(root):
    """Every DataPaths that `root` could hold."""
    for layout in _LAYOUTS:
        for val in _VALIDATION:
            yield DataPaths(
                *(root / part.format(split) for split in ("train", val) for part in layout)
            )


def find_data(path):
    """Locate the training and validation parts of a COCO-format data set.

    Parameters
    ----------
    path : path-like
        A folder, or one of the annotation files in it. The folder holds
        ``annotations/instances_{train,val}.json`` and ``images/{train,val}``, or COCO's
        ``annotations/instances_{train,val}2017.json`` and ``{train,val}2017`` or
        ``images/{train,val}2017``, or Roboflow's ``{train,valid}/_annotations.coco.json`` beside
        the pictures, or another of `_LAYOUTS`. The validation part may be called val, valid or
        validation.

    Returns
    -------
    DataPaths

    Raises
    ------
    FileNotFoundError
        With everything that was looked for.
    """
    path = Path(path)
    roots = [path]
    if path.is_file():
        path = path.absolute()  # so that it has a parent's parent
        roots = [path.parent.parent, path.parent]
    for root in roots:
        for found in _layouts(root):
            if path.is_file() and path not in (found.train_json, found.val_json):
                continue
            if all(part.exists() for part in found):
                return found
    if path.is_file():
        raise FileNotFoundError(
            f"{path} is in no folder layout in which the other annotation file and the pictures "
            "could be found; give the data set's folder, or arrange it in one of these ways: "
            + _wanted()
        )
    raise FileNotFoundError(f"no COCO-format data in {path}: it must hold one of {_wanted()}")


def find_part(path, split):
    """Locate one part of a COCO-format data set, whether or not the others are there.

    Parameters
    ----------
    path : path-like
        As of `find_data`; a file may belong to any part.
    split : str
        ``"train"``, ``"val"`` or ``"test"``.

    Returns
    -------
    annotation_file, image_dir : Path

    Raises
    ------
    FileNotFoundError
        With everything that was looked for.
    """
    path = Path(path)
    is_file = path.is_file()
    if is_file:
        path = path.absolute()
    roots = [path.parent.parent, path.parent] if is_file else [path]
    wanted = _VALIDATION if split == "val" else (split,)
    every = {"train", "test", *_VALIDATION}
    for root in roots:
        for annotations, images in _LAYOUTS:
            if is_file and all(path != root / annotations.format(name) for name in every):
                continue
            for name in wanted:
                found = root / annotations.format(name), root / images.format(name)
                if all(part.exists() for part in found):
                    return found
    texts = sorted({" + ".join(part.format(split) for part in layout) for layout in _LAYOUTS})
    raise FileNotFoundError(f"no COCO-format {split} part in {path}: looked for {'; '.join(texts)}")


def _wanted():
    layouts = [" + ".join(part.format("{train,val}") for part in layout) for layout in _LAYOUTS]
    return "; ".join(layouts) + " (or valid or validation instead of val)"


# ------------------------------------------------------------------------------ one file


def read_coco(annotation_file, image_dir, classes=None, limit=None):
    """Read a COCO instances file.

    Crowd regions are left out of the boxes. An annotation without ``bbox``, or with an empty
    one, gets the box around its ``segmentation`` (polygons, or RLE); the box is also put into
    the returned `Listing.coco`. Images may lack ``width`` and ``height``.

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
    available = _categories(path, data)
    left_out = []
    if classes is None:
        left_out = _only_super(data)
        classes = [name for name in available if name not in left_out]
    classes = choose_classes(path, list(available), classes)
    if limit is not None:
        data = _first_images(data, limit)
    listing = Listing(
        path,
        image_dir,
        classes,
        category_ids=[available[name] for name in classes],
        pictures=_pictures(path, image_dir, data),
        owner=None,
        label=None,
        corners=None,
        coco=data,
        left_out_classes=left_out,
    )
    _read_annotations(listing, {number: name for name, number in available.items()})
    return listing


def _load_json(path):
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))  # Windows tools write a mark
    except FileNotFoundError:
        raise FileNotFoundError(f"annotation file {path} does not exist") from None
    except ValueError as error:
        raise ValueError(f"{path} is not valid JSON: {error}") from None
    required = ("images", "annotations", "categories")
    missing = [k for k in required if not isinstance(data, dict) or k not in data]
    if missing:
        raise ValueError(f"{path} lacks {missing}: it is not a COCO instances file")
    for key in required:
        if not isinstance(data[key], list) or not all(isinstance(x, dict) for x in data[key]):
            raise ValueError(f"{path}: `{key}` must be a list of objects")
    return data


def _check_fields(path, kind, place, entry, fields):
    lacking = [key for key in fields if key not in entry]
    if lacking:
        raise ValueError(f"{path}: {kind}[{place}] lacks {', '.join(lacking)}")
    for key in fields:
        wanted = str if key in ("name", "file_name") else int | float | str
        if not isinstance(entry[key], wanted):
            what = "text" if wanted is str else "a number or text"
            raise ValueError(f"{path}: {kind}[{place}] has {key} {entry[key]}; it must be {what}")


def _categories(path, data):
    """Category id of each name."""
    available = {}
    for place, category in enumerate(data["categories"]):
        _check_fields(path, "categories", place, category, ("id", "name"))
        if category["name"] in available:
            raise ValueError(f"{path} lists the category {category['name']!r} twice")
        available[category["name"]] = category["id"]
    if len(set(available.values())) < len(available):
        raise ValueError(f"{path} lists a category id twice: {sorted(available.values())}")
    return available


def _first_images(data, limit):
    """The file's dictionary with its first `limit` images and what belongs to them."""
    dropped = {image.get("id") for image in data["images"][limit:]}
    kept = [a for a in data["annotations"] if a.get("image_id") not in dropped]
    return {**data, "images": data["images"][:limit], "annotations": kept}


def _only_super(data):
    """Names of categories that only group others, which annotation tools add."""
    used = {annotation.get("category_id") for annotation in data["annotations"]}
    groups = {
        c.get("supercategory") for c in data["categories"] if c.get("supercategory") != c["name"]
    }
    return [c["name"] for c in data["categories"] if c["name"] in groups and c["id"] not in used]


def _pictures(path, image_dir, data):
    pictures, ids = [], set()
    for place, image in enumerate(data["images"]):
        _check_fields(path, "images", place, image, ("id", "file_name"))
        if image["id"] in ids:
            raise ValueError(f"{path} lists the image id {image['id']} twice")
        ids.add(image["id"])
        size = image.get("width"), image.get("height")
        if size == (None, None):
            size = None
        elif not all(isinstance(s, int | float) and s > 0 and float(s).is_integer() for s in size):
            raise ValueError(
                f"{path}: image {image['file_name']} has width {size[0]} and height {size[1]}; "
                "they must be positive whole numbers"
            )
        else:
            size = int(size[0]), int(size[1])  # some tools write 640.0
        name = image["file_name"]
        file = image_dir / name
        if "\\" in name and not file.exists():  # written on Windows
            file = image_dir / name.replace("\\", "/")
        pictures.append(Picture(name, str(file), image["id"], size))
    return pictures


def _read_annotations(listing, names):
    """Fill in boxes and counts; `names` gives the class name of each category id."""
    path, data = listing.source, listing.coco
    place_of = {picture.image_id: place for place, picture in enumerate(listing.pictures)}
    wanted = {category: label for label, category in enumerate(listing.category_ids)}
    counts = {"crowd": 0, "from_segmentation": 0, "other_classes": {}}
    owner, label, boxes = [], [], []
    for place, annotation in enumerate(data["annotations"]):
        _check_fields(path, "annotations", place, annotation, ("id", "image_id", "category_id"))
        image, category = annotation["image_id"], annotation["category_id"]
        for key, value, known in (
            ("category_id", category, names),
            ("image_id", image, place_of),
        ):
            if value not in known:
                listed = "categories" if known is names else "images"
                raise ValueError(
                    f"{path}: annotation {annotation['id']} has {key} {value}, "
                    f"which `{listed}` does not list"
                )
        if category not in wanted:
            other = counts["other_classes"]
            other[names[category]] = other.get(names[category], 0) + 1
            continue
        if not annotation.get("bbox"):
            annotation = _with_box(path, place, annotation)
            data["annotations"][place] = annotation
            counts["from_segmentation"] += 1
        if annotation.get("iscrowd", 0):
            counts["crowd"] += 1
            continue
        owner.append(place_of[image])
        label.append(wanted[category])
        boxes.append(_checked_box(path, annotation))
    boxes = np.array(boxes, dtype=np.float64).reshape(-1, 4)
    listing.owner = np.array(owner, dtype=np.int64)
    listing.label = np.array(label, dtype=np.int32)
    listing.corners = np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1)
    listing.counts = counts


def _checked_box(path, annotation):
    box = annotation["bbox"]
    if (
        not isinstance(box, list)
        or len(box) != 4
        or not all(isinstance(x, int | float) and abs(x) < np.inf for x in box)
    ):
        raise ValueError(
            f"{path}: annotation {annotation['id']} has bbox {box}; "
            "it must be four finite numbers x, y, width, height"
        )
    return box


def _with_box(path, place, annotation):
    """The annotation with the box around its segmentation."""
    segmentation = annotation.get("segmentation")
    if not segmentation:
        raise ValueError(f"{path}: annotations[{place}] lacks bbox (and has no segmentation)")
    try:
        if isinstance(segmentation, dict):
            box = _rle_box(segmentation)
        else:
            points = np.concatenate([np.array(p, float).reshape(-1, 2) for p in segmentation])
            low, high = points.min(axis=0), points.max(axis=0)
            box = [*low.tolist(), *(high - low).tolist()]
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(
            f"{path}: annotation {annotation['id']} has neither a bbox nor a segmentation that "
            f"can be read: {error}"
        ) from error
    return {**annotation, "bbox": box}


def _rle_box(segmentation):
    from pycocotools import mask

    height, width = segmentation["size"]
    if isinstance(segmentation["counts"], list):
        if sum(segmentation["counts"]) != height * width:
            raise ValueError(f"the RLE counts don't add up to {height} x {width} pixels")
        segmentation = mask.frPyObjects(segmentation, height, width)
    return mask.toBbox(segmentation).tolist()
