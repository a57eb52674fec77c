"""Gives the tests of training a small network and data set, and reads a run's files."""

import csv
import json

import numpy as np
from blocks import ConvBNSiLU
from model import LEVELS
from PIL import Image
from training.train_step import TrainStep

import pytensor.tensor as pt
from pytensor import config, layers
from tests.examples.conftest import CLASSES, annotation_of

SIZE, BATCH = 64, 4
TIMES = ("seconds", "images_per_s", "waited_share")


class Stage(layers.Module):
    """A network in small that `TrainStep` takes.

    A strided and a depth-wise convolution, normalization, pooling and joining; it predicts on the
    network's three grids, so that the whole loss with its assigner is part of the step.  One of its
    layers is named as one of the class branch.
    """

    num_classes = 2

    @config.change_flags(floatX="float32")
    def __init__(self):
        self.stem = ConvBNSiLU(3, 4, kernel=3, stride=2)
        self.wise = ConvBNSiLU(4, 4, kernel=3, groups=4)
        names = "model.23.cv3.0.2", "head.p4", "head.p5"
        self.heads = {name: layers.Conv2d(8, 64 + self.num_classes, 1) for name in names}
        for head in self.heads.values():
            layers.restart(head.bias, layers.init.constant(0.0))
        self.initialize(seed=3)

    def children(self):
        yield from {"stem": self.stem, "wise": self.wise, **self.heads}.items()

    def __call__(self, x):
        x = self.stem(x)
        x = pt.concatenate([x, self.wise(x)], axis=1)
        x = pt.nn.max_pool2d(x, 2)
        predictions = {}
        for level, head in zip(LEVELS, self.heads.values(), strict=True):
            x = pt.nn.max_pool2d(x, 2)
            predictions[level] = head(x)
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
                number, box = len(annotations) + 1, [x, y, width, height]
                annotations.append(annotation_of(number, k, category, box))
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
