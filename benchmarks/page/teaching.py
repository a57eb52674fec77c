"""What the page's detector learns from some twenty marked objects of a class unknown to it.

    python -m benchmarks.page.teaching MODEL.onnx [--part class] [--steps N] [--seed N] [--record]
    python -m benchmarks.page.teaching MODEL.onnx --data PATH --class "tennis racket"

MODEL is a detector of persons and cell phones that has learned from drawn pictures.  Mugs are drawn
into such pictures, of many sizes and colours.  The page, built from MODEL, opened from disk in
Chromium and without a network, is taught with 20 frames; the model that it saves is scored on 100
others in Python (mAP@0.5 by pycocotools), and so is MODEL.

With --data, the class is one of a data set: 20 pictures of its training part are the frames, of
those in which the class is at least 24 px large at 320 px, and all pictures of its validation part
are scored.

The exit status is 1 if the mugs' score is below 0.60, if a class that was known before loses more
than 0.03, or if it took more than three minutes; with --data it is 0.
"""

import argparse
import base64
import io
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from PIL import Image

from benchmarks.common import results
from benchmarks.common.step_sides import DEMO

sys.path.insert(0, str(DEMO))

from data.images import letterbox, to_corners
from data.synthetic import scenes
from data.synthetic.canvas import Tile, any_color, log_uniform, near, pick, tint, vivid
from dataset import load_split
from evaluation.detectors import OnnxDetector, detect
from evaluation.metrics import coco_map
from tools.build_demo import build, bundle
from tools.compare_runtimes import open_page, wait_ready
from utils import nms, scale_detections

MUG = 47  # COCO's "cup", for which the drawn pictures have no other use
CLASSES = {"person": scenes.PERSON, "cell phone": scenes.PHONE, "mug": MUG}
FRAMES, SEED = 20, 101
HELD_OUT, HELD_OUT_SEED = 100, 900
MUG_SIZE = (0.2, 0.6)  # of the picture's short side, log-uniform
PHOTOGRAPH_SIZE, LEAST_SIDE = 320, 24  # pixels: of the square, and of things that are learned
LEAST_SCORE, MOST_LOST, MOST_SECONDS = 0.60, 0.03, 180

# ------------------------------------------------------------------------------ drawn mugs


def draw_mug(rng, size):
    """Return the sprite of a mug: it gets narrower, with an opening and a handle at one side."""
    tile, color = Tile(0.72, size), vivid(rng)
    top, bottom = rng.uniform(0.26, 0.34), rng.uniform(0.2, 0.3)
    half, side, tilt = rng.uniform(0.3, 0.42), pick(rng, (-1, 1)), rng.uniform(0.05, 0.13)
    angles, reach = np.linspace(-1.2, 1.2, 9), rng.uniform(0.16, 0.26)
    handle = np.stack([top * 0.8 + np.cos(angles) * reach, np.sin(angles) * half * 0.6], axis=1)
    handle[:, 0] *= side
    for start, end in pairwise(handle):
        tile.limb(start, end, 0.045, 0.045, tint(color, 0.8))
    tile.ellipse((0, half), bottom, tilt * 0.8, color)
    tile.polygon([(-top, -half), (top, -half), (bottom, half), (-bottom, half)], color)
    if rng.random() < 0.6:
        band = (0, rng.uniform(-0.2, 0.2) * half)
        tile.box(band, bottom * 1.9, rng.uniform(0.05, 0.2), any_color(rng))
    tile.ellipse((0, -half), top, tilt, tint(color, 1.2))
    tile.ellipse((0, -half + 0.01), top * 0.86, tilt * 0.8, near(rng, (70, 45, 30), 25))
    if rng.random() < 0.7:
        tile.turn(rng.normal(0, 25))
    return tile.finish(rng)


def add_mug(rng, scene, hands):
    """Put a mug into a scene; whether it hides nothing too much."""
    sides = np.array(scene.picture.size)
    size = log_uniform(rng, *MUG_SIZE) * sides.min()
    anchor = rng.uniform(0.5 * size, sides - 0.5 * size)
    return scene.add(draw_mug(rng, size), anchor, MUG)


def draw_scene(rng, mugs):
    """Draw a picture with some mugs, perhaps a person and a phone, and other things."""
    width, height = scenes._random_size(rng)
    scene = scenes.Scene(scenes.background(rng, width, height))
    for _ in range(int(rng.integers(1, 6))):
        scenes._add_clutter(rng, scene, 0.06, 0.5, 0.0)
    order = [scenes._add_person] * int(rng.integers(0, 2))
    order += [scenes._add_phone] * int(rng.integers(0, 2))
    hands = []
    for add in order + [add_mug] * mugs:
        for _ in range(20):
            if add(rng, scene, hands):
                break
    return scenes._camera(rng, scene.picture), scene.objects()


def as_url(image):
    """Return a picture as the ``data:`` address of a PNG."""
    stream = io.BytesIO()
    Image.fromarray(image).save(stream, "PNG")
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()


def marked(image, boxes, label):
    """Return a frame as the page gets it; boxes are (n, 4), x1, y1, x2, y2."""
    keys = ("x1", "y1", "x2", "y2")
    rows = [dict(zip(keys, box, strict=True)) | {"label": label} for box in boxes]
    return {"url": as_url(image), "boxes": rows}


def frames_to_learn():
    """Draw twenty frames with a mug or two each, as the page gets them."""
    frames = []
    for index in range(FRAMES):
        image, objects = draw_scene(np.random.default_rng([SEED, index]), 1 + (index % 5 == 0))
        corners = [
            (x, y, x + width, y + height)
            for x, y, width, height in (thing.bbox for thing in objects if thing.category_id == MUG)
        ]
        frames.append(marked(image, corners, "mug"))
    return frames


def held_out_scenes():
    """Draw a hundred other pictures with none to two mugs."""
    generators = (np.random.default_rng([HELD_OUT_SEED, index]) for index in range(HELD_OUT))
    return [draw_scene(rng, int(rng.integers(0, 3))) for rng in generators]


def frames_of(data, name, seed):
    """Return twenty frames of a data set's training part with things of a class."""
    train = load_split(data, "train", [name], PHOTOGRAPH_SIZE)
    large = [
        index
        for index in range(len(train))
        if (train[index].boxes[:, 2:].max(initial=0) * PHOTOGRAPH_SIZE) >= LEAST_SIDE
    ]
    if len(large) < FRAMES:
        raise SystemExit(f"{data} has {len(large)} pictures of a {name}; a lesson takes {FRAMES}")
    frames = []
    for index in np.random.default_rng(seed).permutation(large)[:FRAMES].tolist():
        sample = train[index]
        corners = sample.geometry.undo(to_corners(sample.boxes, PHOTOGRAPH_SIZE))
        frames.append(marked(train.picture(index), corners.tolist(), name))
    return frames


# ------------------------------------------------------------------------------ scores


def score_in(path, data):
    """Return AP at an overlap of 0.5 of each of a model's classes, in a validation part."""
    detector = OnnxDetector(path, batch_size=1)
    dataset = load_split(data, "val", detector.classes, detector.image_size)
    found = detect(detector, dataset, detector.batch_size)
    return {name: own["map50"] for name, own in coco_map(dataset, found)["per_class"].items()}


def score(path, pictures):
    """Return AP at an overlap of 0.5 of each of a model's classes."""
    detector = OnnxDetector(path, batch_size=1)
    ids = [CLASSES[name] for name in detector.classes]
    images, annotations, found = [], [], {}
    for index, (image, objects) in enumerate(pictures, 1):
        square, geometry = letterbox(image, detector.image_size)
        output = detector(square.transpose(2, 0, 1)[None])[0]
        found[index] = scale_detections(nms(output, 0.001, 0.7), geometry)
        images.append({"id": index, "width": image.shape[1], "height": image.shape[0]})
        annotations += [
            {"image_id": index, "category_id": thing.category_id, "bbox": list(thing.bbox)}
            for thing in objects
            if thing.category_id in ids
        ]
    truth = {
        "images": images,
        "annotations": annotations,
        "categories": [{"id": number, "name": name} for name, number in CLASSES.items()],
    }
    dataset = SimpleNamespace(
        classes=detector.classes, category_ids=ids, ground_truth=lambda: truth, labelled=None
    )
    return {n: v["map50"] for n, v in coco_map(dataset, found)["per_class"].items()}


def teach(site, frames, options):
    """Teach the page of a file; what `teach` of page/test/teach.js gives, and the saved model."""
    with open_page(site) as page:
        wait_ready(page)
        page.context.set_offline(True)
        page.evaluate(bundle("../test/teach.js"))
        outcome = page.evaluate("given => teach(...given)", [frames, options])
        return outcome, base64.b64decode(page.evaluate("savedModel()"))


def measure(model, part="whole", steps=None, seed=1, data=None, name="mug"):
    """Teach the page of a model and score it before and after, as a dict.

    With `data`, the path of a data set, it learns the class `name` of it; else drawn mugs.
    """
    if data is None:
        frames, scored, pictures = frames_to_learn(), score, held_out_scenes()
    else:
        frames, scored, pictures = frames_of(data, name, seed), score_in, data
    options = {"part": part, "seed": seed} | ({"steps": steps} if steps else {})
    with tempfile.TemporaryDirectory() as folder:
        report = build(model, output=folder)
        outcome, saved = teach(report["single_file"], frames, options)
        taught = Path(folder, "taught.onnx")
        taught.write_bytes(saved)
        before, after = scored(model, pictures), scored(taught, pictures)
    times, _ = outcome.pop("times"), outcome.pop("losses")
    return {
        "boxes": sum(len(frame["boxes"]) for frame in frames),
        "before": before,
        "after": after,
        "lost": {name: before[name] - after[name] for name in before},
        "step_seconds": float(np.median(np.diff(times))),
        **outcome,
    }


def main(arguments=None):
    """Measure as the command line says; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--part", choices=("class", "whole"), default="whole")
    parser.add_argument("--steps", type=int, help="default: what the page recommends")
    parser.add_argument("--seed", type=int, default=1, help="of the lesson; frames: of --data only")
    parser.add_argument("--data", metavar="PATH", help="learn a class of this data set")
    parser.add_argument("--class", dest="name", metavar="NAME", help="its name")
    results.add_options(parser, json=False)
    options = parser.parse_args(arguments)
    if (options.data is None) != (options.name is None):
        parser.error("--data and --class belong together")
    begun = time.monotonic()
    result = measure(
        options.model, options.part, options.steps, options.seed, options.data, options.name
    )
    for key, value in result.items():
        print(f"{key}: {value}")
    print(f"all in {time.monotonic() - begun:.0f} s")
    results.save(options, None, result)
    if options.data:
        return 0
    good = result["after"]["mug"] >= LEAST_SCORE and max(result["lost"].values()) <= MOST_LOST
    return 0 if good and result["seconds"] <= MOST_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
