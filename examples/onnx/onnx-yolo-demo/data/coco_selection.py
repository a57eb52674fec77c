"""Which part of COCO some classes need, and the data set that is written of it."""

import hashlib
import json
import os
import re
from collections import Counter
from contextlib import contextmanager

from data.listing import choose_classes


class DownloadError(RuntimeError):
    """The data could not be brought here; the message is one line and names the way out."""


@contextmanager
def part_of(path):
    """A name to write a file under, so that it is never seen half written under its own."""
    part = path.with_name(path.name + ".part")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _without_polygons(entry):
    # Called for each JSON object as it is read: the outlines are nine tenths of the file, and
    # all of them at once would take gigabytes of memory.
    entry.pop("segmentation", None)
    return entry


def select_images(holds, count, seed=0):
    """Choose images so that every class gets its share.

    One image after the other is taken for the class that the fewest chosen images hold, as long
    as it has images left: in the default setting every image with a cell phone, filled up with
    persons. Within a class the order comes from a hash of seed and id; it is the same on all
    machines, and a larger `count` only adds images.

    Parameters
    ----------
    holds : dict of int to set of str
        Image id to the names of the wanted classes it holds; at least one name each.
    count : int
        Images to choose; 0 takes all.
    seed : int

    Returns
    -------
    list of int
        Chosen image ids in ascending order; all of them where there are fewer than `count`.
    """
    if count == 0 or count >= len(holds):
        return sorted(holds)

    def rank(image):
        return hashlib.sha256(f"{seed}:{image}".encode()).digest(), image

    waiting = {}
    for image in sorted(holds, key=rank, reverse=True):
        for name in holds[image]:
            waiting.setdefault(name, []).append(image)
    order = sorted(waiting, key=lambda name: (len(waiting[name]), name))
    chosen, held = set(), dict.fromkeys(order, 0)
    while len(chosen) < count:
        name = min((n for n in order if waiting[n]), key=held.__getitem__)
        image = waiting[name].pop()
        if image not in chosen:
            chosen.add(image)
            for other in holds[image]:
                held[other] += 1
    return sorted(chosen)


def select(path, classes, count, seed):
    """Choose images of an instances file.

    Returns
    -------
    data : dict
        Instances of the chosen images and wanted classes. All annotations of those classes stay,
        crowd regions too, but for their outlines, which boxes don't need.
    summary : str
        How many images were chosen, and hold what.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"), object_hook=_without_polygons)
        ids = {category["name"]: category["id"] for category in data["categories"]}
        names = {ids[name]: name for name in choose_classes(path.name, list(ids), classes)}
        annotations = [a for a in data["annotations"] if a["category_id"] in names]
        holds = {}
        for annotation in annotations:
            if not annotation.get("iscrowd", 0) and min(annotation["bbox"][2:]) > 0:
                name = names[annotation["category_id"]]
                holds.setdefault(annotation["image_id"], set()).add(name)
        chosen = set(select_images(holds, count, seed))
        images = [image for image in data["images"] if image["id"] in chosen]
        for image in images:
            _ = image["file_name"], image["width"], image["height"]
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise DownloadError(
            f"{path} is not a COCO instances file ({error!r}); delete it and run again"
        ) from None
    except ValueError as error:  # an unknown class
        raise DownloadError(str(error)) from None
    counts = Counter(name for image in chosen for name in holds[image])
    held = ", ".join(f"{counts[name]} with {name}" for name in names.values())
    return {
        "info": data.get("info", {}),
        "licenses": data.get("licenses", []),
        "images": images,
        "annotations": [a for a in annotations if a["image_id"] in chosen],
        "categories": [c for c in data["categories"] if c["id"] in names],
    }, f"{len(chosen)} of {len(holds)} images chosen ({held})"


def subset_name(classes, train_images, val_images, seed):
    """Name of a subset's folder."""
    names = "+".join(re.sub(r"[^a-z0-9]+", "-", name.lower()) for name in sorted(classes))
    if len(names) > 60:
        digest = hashlib.sha256("\n".join(sorted(classes)).encode()).hexdigest()[:12]
        names = f"{len(classes)}-classes-{digest}"
    return f"{names}_train{train_images or 'all'}_val{val_images or 'all'}_seed{seed}"


def finished(subset, record, paths):
    """Whether an earlier run has left a subset with all its pictures; needs no lock."""
    try:
        if json.loads((subset / "subset.json").read_text(encoding="utf-8")) != record:
            return False
        for annotations, folder in (paths[:2], paths[2:]):
            images = json.loads(annotations.read_text(encoding="utf-8"))["images"]
            if not all((folder / image["file_name"]).exists() for image in images):
                return False
        return folder.exists()
    except FileNotFoundError:
        return False


def write_subset(paths, split, data, failed):
    """Write a split of a subset, which is laid out as COCO but for its file names.

    They lead from its image folder, which stays empty, to the pictures that all subsets share.
    Not every disk has links.
    """
    annotations, folder = paths.part(split)
    folder.mkdir(parents=True, exist_ok=True)
    annotations.parent.mkdir(exist_ok=True)
    images = [
        image | {"file_name": f"../../../{folder.name}/{image['file_name']}"}
        for image in data["images"]
        if image["file_name"] not in failed
    ]
    kept = {image["id"] for image in images}
    boxes = [a for a in data["annotations"] if a["image_id"] in kept]
    with part_of(annotations) as part:
        part.write_text(json.dumps(data | {"images": images, "annotations": boxes}))
