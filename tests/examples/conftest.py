"""Share among the tests of examples: running Python, and small data sets for YOLO11n."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from data.formats import read_coco
from dataset import Dataset
from PIL import Image

DATA = Path(__file__).parent / "data"
CLASSES = ["person", "cell phone"]
CATEGORIES = [
    {"id": 77, "name": "cell phone"},
    {"id": 1, "name": "person"},
    {"id": 18, "name": "dog"},
]


def run_python(arguments, folder, **environment):
    """Run Python in a folder with PyTensor's defaults, by default with warnings as errors."""
    environment = {"PYTENSOR_FLAGS": "", "PYTHONWARNINGS": "error"} | environment
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )


def annotation_of(number, image_id, category_id, box, crowd=0):
    """Return an annotation in COCO's format."""
    return {
        "id": number, "image_id": image_id, "category_id": category_id, "bbox": box,
        "area": box[2] * box[3], "iscrowd": crowd,
    }  # fmt: skip


def exif_of(orientation):
    """Return EXIF data of a picture's orientation, from 1 to 8."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    return exif


class Builder:
    """Writes pictures and an annotation file."""

    def __init__(self, root):
        self.root, self.images, self.annotations = root, [], []
        self.folder = root / "pictures"
        self.folder.mkdir()
        self.rng = np.random.default_rng(0)

    def add(self, width, height, boxes=(), name=None, picture=None, **save):
        """Add an image with (category id, x, y, w, h[, iscrowd]) boxes; return its id."""
        image_id = 10 * (len(self.images) + 1)
        name = name or f"{image_id}.png"
        if picture is None:
            pixels = self.rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
            picture = Image.fromarray(pixels)
        picture.save(self.folder / name, **save)
        self.images.append({"id": image_id, "file_name": name, "width": width, "height": height})
        for category, *box in boxes:
            number = len(self.annotations) + 1
            self.annotations.append(annotation_of(number, image_id, category, box[:4], *box[4:]))
        return image_id

    def write(self, **changes):
        data = {
            "images": self.images,
            "annotations": self.annotations,
            "categories": CATEGORIES,
            **changes,
        }
        path = self.root / "instances.json"
        path.write_text(json.dumps({k: v for k, v in data.items() if v is not None}))
        return path

    def write_yolo(self, root):
        """Write the same pictures and boxes below `root` as text labels, as both parts.

        Crowd regions are left out.
        """
        for split in ("train", "val"):
            self._write_yolo_part(root / "images" / split, root / "labels" / split)
        names = [category["name"] for category in CATEGORIES]
        (root / "data.yaml").write_text(f"train: images/train\nval: images/val\nnames: {names}\n")

    def _write_yolo_part(self, images, labels):
        images.mkdir(parents=True)
        labels.mkdir(parents=True)
        order = [category["id"] for category in CATEGORIES]
        for image in self.images:
            (images / image["file_name"]).symlink_to(self.folder / image["file_name"])
            rows = []
            for a in self.annotations:
                if a["image_id"] == image["id"] and not a["iscrowd"]:
                    x, y, w, h = a["bbox"]
                    sides = (image["width"], image["height"]) * 2
                    box = zip((x + w / 2, y + h / 2, w, h), sides, strict=True)
                    numbers = [f"{value / side:.17g}" for value, side in box]
                    rows.append(" ".join([str(order.index(a["category_id"])), *numbers]))
            if rows:
                name = Path(image["file_name"]).with_suffix(".txt")
                (labels / name).write_text("\n".join(rows) + "\n")

    def write_coco(self, root):
        """Write the same pictures and boxes below `root` in COCO's layout, as both parts."""
        for split in ("train", "val"):
            for folder in ("images", "annotations"):
                (root / folder).mkdir(parents=True, exist_ok=True)
            (root / "images" / split).symlink_to(self.folder)
            self.write().rename(root / f"annotations/instances_{split}.json")
        return root

    def dataset(self, classes=CLASSES, size=64, **options):
        return Dataset(read_coco(self.write(), self.folder, classes), size, **options)


def draw_set(folder, shapes, boxes, pictures=None):
    """Write a data set in COCO's format: a picture of each (width, height), with its boxes.

    The pixels are noise if there are no `pictures`, arrays.
    """
    folder.mkdir()
    made = Builder(folder)
    for k, (shape, own) in enumerate(zip(shapes, boxes, strict=True)):
        made.add(*shape, own, picture=pictures and Image.fromarray(pictures[k]))
    return made.write_coco(folder / "coco")


def edit(folder, change, split="train"):
    """Change the annotations of one part of a data set in COCO's format."""
    path = folder / f"annotations/instances_{split}.json"
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


@pytest.fixture
def builder(tmp_path):
    return Builder(tmp_path)


@pytest.fixture
def seven(builder):
    """Return seven images of several shapes with 0 to 3 boxes."""
    for k, (width, height) in enumerate([(80, 60), (60, 80), (64, 64), (100, 50)] + 3 * [(72, 48)]):
        builder.add(
            width, height, [((1, 77)[j % 2], 5 + 9 * j, 8 + k, 20, 24) for j in range(k % 4)]
        )
    return builder.dataset()
