"""Choosing images of COCO for some classes, and the annotations of the chosen ones."""

import difflib
import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from data.fetching import DownloadError


class CocoImage(NamedTuple):
    """A picture to fetch."""

    split: str
    file_name: str
    width: int
    height: int

    @property
    def path(self):
        """Where it lies, relative to the folder of the data and to the server's address."""
        return f"{self.split}2017/{self.file_name}"


def _without_polygons(entry):
    # Called for each JSON object as it is read: the outlines are nine tenths of the file, and
    # all of them at once would take gigabytes of memory.
    entry.pop("segmentation", None)
    return entry


def read_instances(path):
    """Content of an instances file, without its outlines.

    Raises
    ------
    DownloadError
        It is not an instances file, or a file name in it is unsafe.
    """
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file, object_hook=_without_polygons)
        names = Counter(image["file_name"] for image in data["images"])
        for image in data["images"]:
            name = image["file_name"]
            # The name becomes part of a path and of an address.
            if not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", name) or names[name] > 1:
                raise ValueError(f"file_name {name!r} is unsafe or listed twice")
            if min(int(image["width"]), int(image["height"]), int(image["id"]) + 1) < 1:
                raise ValueError(f"image {name!r} has no size")
        for annotation in data["annotations"]:
            _ = annotation["image_id"], annotation["category_id"]
            _, _, _, _ = map(float, annotation["bbox"])
        _ = [(category["id"], category["name"]) for category in data["categories"]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"lacks {error}" if isinstance(error, KeyError) else error
        raise DownloadError(
            f"{path} is not a COCO instances file ({why}); delete it and run again"
        ) from None
    return data


def _category_names(path, data, classes):
    """Name by category id of the wanted classes; an unknown one is an error with near names."""
    available = {category["name"]: category["id"] for category in data["categories"]}
    for name in classes:
        if name in available:
            continue
        near = difflib.get_close_matches(name.lower(), available, n=4, cutoff=0.6)
        words = set(name.lower().split())
        near += [n for n in available if n not in near and words & set(n.split())]
        hint = f"near names: {', '.join(near)}" if near else f"it has {', '.join(available)}"
        raise DownloadError(f"{path.name} has no class {name!r}; {hint}")
    return {available[name]: name for name in classes}


def _classes_of_images(data, categories):
    """Wanted class names per image id, counting boxes with an area that are no crowd."""
    listed, holds = {image["id"] for image in data["images"]}, {}
    for annotation in data["annotations"]:
        name, image = categories.get(annotation["category_id"]), annotation["image_id"]
        crowd = annotation.get("iscrowd", 0)
        if name and image in listed and not crowd and min(annotation["bbox"][2:]) > 0:
            holds.setdefault(image, set()).add(name)
    return holds


def select_images(holds, count, seed=0):
    """Choose images so that every class gets its share.

    One image after the other is taken for the class that the fewest chosen images hold (of
    equals, the class that fewer images hold at all), as long as it has images left. A class
    with at most ``count / number of classes`` images is therefore chosen whole: every image with
    a cell phone, in the default setting, filled up with persons. Within a class the order
    comes from a hash of seed and id; it is the same on all machines, and a larger `count`
    only adds images.

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


@dataclass
class Selection:
    """The chosen images of one split."""

    split: str  # train or val
    data: dict  # the instances file, with the annotations of the wanted classes alone
    categories: dict  # COCO's category id to name, of the wanted classes
    holds: dict  # image id to wanted class names
    chosen: list  # image ids

    @classmethod
    def make(cls, path, split, classes, count, seed):
        """Choose images of the instances file at `path`, see `select_images`."""
        data = read_instances(path)
        categories = _category_names(path, data, classes)
        holds = _classes_of_images(data, categories)
        if not holds:
            raise DownloadError(f"{path.name} has no image with {', '.join(classes)}")
        # What is not wanted would fill a gigabyte during the whole download.
        data["annotations"] = [a for a in data["annotations"] if a["category_id"] in categories]
        return cls(split, data, categories, holds, select_images(holds, count, seed))

    def images(self):
        """The chosen images as a list of CocoImage."""
        chosen = set(self.chosen)
        return [
            CocoImage(self.split, image["file_name"], int(image["width"]), int(image["height"]))
            for image in self.data["images"]
            if image["id"] in chosen
        ]

    def summary(self):
        """How many images were chosen and hold what, as a line of text."""
        counts = Counter(name for image in self.chosen for name in self.holds[image])
        held = ", ".join(f"{counts[name]} with {name}" for name in self.categories.values())
        return f"{self.split}2017: {len(self.chosen)} of {len(self.holds)} images chosen ({held})"

    def subset(self, failed, folder):
        """Instances dictionary of the chosen images and wanted classes.

        All annotations of those classes stay, crowd regions too, but for their outlines, which
        boxes don't need. The file names `failed` are left out; `folder` is put before the others.
        """
        chosen = set(self.chosen)
        images = [
            image | {"file_name": folder + image["file_name"]}
            for image in self.data["images"]
            if image["id"] in chosen and image["file_name"] not in failed
        ]
        kept = {image["id"] for image in images}
        return {
            "info": self.data.get("info", {}),
            "licenses": self.data.get("licenses", []),
            "images": images,
            "annotations": [a for a in self.data["annotations"] if a["image_id"] in kept],
            "categories": [c for c in self.data["categories"] if c["id"] in self.categories],
        }
