"""Gives the tests of training a small network and data set, and reads a run's files."""

import csv
import json

import numpy as np
from blocks import Conv2d, ConvBNSiLU, Parameters
from PIL import Image
from training.train_step import TrainStep

import pytensor.tensor as pt

SIZE, BATCH = 64, 4
CLASSES = ["person", "cell phone"]
TIMES = ("seconds", "images_per_s", "waited_share")


class Stage:
    """A network in small that `TrainStep` takes.

    A strided and a depth-wise convolution, normalization, pooling and joining; it predicts on the
    network's three grids, so that the whole loss with its assigner is part of the step.  One of its
    layers is named as one of the class branch.
    """

    num_classes = 2

    def __init__(self):
        self.store = Parameters(seed=3)
        self.stem = ConvBNSiLU(self.store, "stem", 3, 4, kernel=3, stride=2)
        self.wise = ConvBNSiLU(self.store, "wise", 4, 4, kernel=3, groups=4)
        names = {"p3": "model.23.cv3.0.2", "p4": "head.p4", "p5": "head.p5"}
        channels = 64 + self.num_classes
        self.heads = {k: Conv2d(self.store, name, 8, channels) for k, name in names.items()}

    @property
    def params(self):
        return [*self.store.trainable.values()]

    def __call__(self, x, training):
        self.updates = []
        x = self.stem(x, self.updates)
        x = pt.concatenate([x, self.wise(x, self.updates)], axis=1)
        x = pt.nn.max_pool2d(x, 2)
        predictions = {}
        for level, head in self.heads.items():
            x = pt.nn.max_pool2d(x, 2)
            predictions[level] = head(x, self.updates)
        return predictions


class StepGraph(TrainStep):
    """Keeps the graph of the step instead of compiling it."""

    def _compile(self, inputs, outputs, updates):
        return inputs, outputs, dict(updates)


def write_data(root):
    """Write twelve and six grey pictures with a red or a blue rectangle each, or with both.

    They are large: predictions start out as boxes of 15 cells, and where none overlaps an object
    well, the assigner finds next to nothing to learn from in so few steps.
    """
    rng = np.random.default_rng(0)
    (root / "annotations").mkdir(parents=True)
    for split, count in [("train", 12), ("val", 6)]:
        folder = root / "images" / split
        folder.mkdir(parents=True)
        images, annotations = [], []
        for k in range(count):
            pixels = rng.integers(90, 150, (SIZE, SIZE, 3), dtype=np.uint8)
            for category in [(0,), (1,), (0, 1)][k % 3]:
                width, height = rng.integers(24, 40, 2).tolist()
                x = int(rng.integers(0, SIZE - width))
                y = int(rng.integers(0, SIZE - height))
                pixels[y : y + height, x : x + width] = [(220, 30, 30), (30, 30, 220)][category]
                annotations.append(
                    {
                        "id": len(annotations) + 1,
                        "image_id": k,
                        "category_id": category,
                        "bbox": [x, y, width, height],
                        "area": width * height,
                        "iscrowd": 0,
                    }
                )
            Image.fromarray(pixels).save(folder / f"{k}.png")
            images.append({"id": k, "file_name": f"{k}.png", "width": SIZE, "height": SIZE})
        categories = [{"id": k, "name": name} for k, name in enumerate(CLASSES)]
        content = {"images": images, "annotations": annotations, "categories": categories}
        (root / "annotations" / f"instances_{split}.json").write_text(json.dumps(content))
    return root


def command(data, *arguments):
    """Return arguments of a small run; later ones win."""
    own = f"--image-size {SIZE} --batch-size {BATCH} --nominal-batch {BATCH}"
    own += " --warmup-epochs 1 --mosaic 0 --compilation-cache off --statistics-images 0"
    arguments = [*map(str, arguments)]
    if "--resume" not in arguments:
        own += " --overwrite"  # several runs of a test share a folder
    return ["--data", str(data), "--preset", "none", *own.split(), "--workers", "0", *arguments]


def read_rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def without_times(rows):
    return [{k: v for k, v in row.items() if k not in TIMES} for row in rows]
