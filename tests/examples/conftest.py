"""Small data sets that the tests of the YOLO11n demo share."""

import json
from pathlib import Path

import numpy as np
import pytest
from dataset import CocoDataset
from PIL import Image

DATA = Path(__file__).parent / "data"
CLASSES = ["person", "cell phone"]
CATEGORIES = [
    {"id": 77, "name": "cell phone"},
    {"id": 1, "name": "person"},
    {"id": 18, "name": "dog"},
]


class Builder:
    """Writes pictures and an annotation file."""

    def __init__(self, root):
        self.root, self.images, self.annotations = root, [], []
        self.folder = root / "pictures"
        self.folder.mkdir()
        self.rng = np.random.default_rng(0)

    def add(self, width, height, boxes=(), name=None, picture=None, **save):
        """An image with (category id, x, y, w, h[, iscrowd]) boxes; its id."""
        image_id = 10 * (len(self.images) + 1)
        name = name or f"{image_id}.png"
        if picture is None:
            pixels = self.rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
            picture = Image.fromarray(pixels)
        picture.save(self.folder / name, **save)
        self.images.append({"id": image_id, "file_name": name, "width": width, "height": height})
        for category, *box in boxes:
            self.annotations.append(
                {
                    "id": len(self.annotations) + 1,
                    "image_id": image_id,
                    "category_id": category,
                    "bbox": box[:4],
                    "area": box[2] * box[3],
                    "iscrowd": box[4] if len(box) > 4 else 0,
                }
            )
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

    def dataset(self, classes=CLASSES, size=64, **options):
        return CocoDataset(self.write(), self.folder, classes, size, **options)


@pytest.fixture
def builder(tmp_path):
    return Builder(tmp_path)


@pytest.fixture
def seven(builder):
    """Seven images of several shapes with 0 to 3 boxes."""
    for k, (width, height) in enumerate([(80, 60), (60, 80), (64, 64), (100, 50)] + 3 * [(72, 48)]):
        builder.add(
            width, height, [((1, 77)[j % 2], 5 + 9 * j, 8 + k, 20, 24) for j in range(k % 4)]
        )
    return builder.dataset()
