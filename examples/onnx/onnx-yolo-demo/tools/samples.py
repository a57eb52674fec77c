"""The sample pictures of the page: drawn scenes, or pictures of a data set, its model is right in.

A model is right in a picture if, at the page's thresholds, each thing has exactly one box of its
class, with an IoU of at least 0.5, and nothing else has one. Without such pictures a page has no
samples: its stage begins empty.
"""

import io
import itertools
import json
import sys
from collections import Counter
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from data.images import to_corners
from data.synthetic.scenes import PERSON, PHONE, staged_scene
from evaluation.detectors import detect_in
from PIL import Image

# Width and height of the pictures shown, and what is drawn in them.
SAMPLES = [
    (640, 480, (PERSON, PHONE)), (480, 640, (PERSON,)), (640, 640, (PERSON, PHONE)),
    (640, 480, (PERSON, PERSON)), (480, 640, (PHONE,)), (640, 640, (PERSON, PHONE, PERSON)),
]  # fmt: skip
SCENES = 24  # that are tried for each sample
FALLBACKS = ((PERSON,), (PHONE,))  # in turns for as many scenes more, if in none the model is right
SEED = 11
# Training draws its pictures from [seed, 0, index] and [seed, 1, index]: none of these.
SPLIT = 2
QUALITY = 75  # of the JPEG files
MIN_VISIBLE = 0.9  # of each thing
NAMES = {PERSON: "person", PHONE: "cell phone"}
MIN_IOU = 0.5
TRIED = 48  # pictures of a data set
LONGEST = 640  # pixels of a side of these as they are shown
TRIED_FIRST = 5  # scenes of each sample; a model that is right about nothing in them is given up


class Verdict(NamedTuple):
    """How right a model is in a scene."""

    right: int  # things with exactly one box
    missed: int  # things with none, or with several
    wrong: int  # boxes that are no thing's only one

    @property
    def holds(self):
        """Tell whether something is right, and nothing is wrong."""
        return self.right > 0 and not (self.missed or self.wrong)


class Choice(NamedTuple):
    """The scene of each sample, by its number, and what is to be said."""

    numbers: tuple
    warnings: tuple


@lru_cache(maxsize=64)
def sample_scene_of(index, number=0):
    """Draw a scene of a sample: (uint8 image (height, width, 3), its `SceneObject`s)."""
    width, height, kinds = SAMPLES[index]
    if number >= SCENES:
        kinds = FALLBACKS[number % len(FALLBACKS)]
    for attempt in itertools.count():  # until everything is there and whole
        rng = np.random.default_rng([SEED, SPLIT, index, number, attempt])
        image, objects = staged_scene(rng, (width, height), kinds)
        if len(objects) == len(kinds) and all(o.visible >= MIN_VISIBLE for o in objects):
            return image, objects


def as_jpeg(image):
    """Return a picture's file: what the page shows, and so what the model has to be right in."""
    stream = io.BytesIO()
    # Colours at full resolution: the thin outlines of the drawings stay as they are.
    Image.fromarray(image).save(stream, "JPEG", quality=QUALITY, subsampling=0)
    return stream.getvalue()


def shown_pixels(image):
    """Return the pixels that the page decodes of a picture."""
    return np.asarray(Image.open(io.BytesIO(as_jpeg(image))))


def iou(one, other):
    """Compute the intersection over union of two boxes x1, y1, x2, y2."""
    low, high = np.maximum(one[:2], other[:2]), np.minimum(one[2:], other[2:])
    inter = np.prod(np.maximum(high - low, 0))
    areas = [np.prod(np.subtract(box[2:], box[:2])) for box in (one, other)]
    return inter / (sum(areas) - inter)


def judge(found, objects, names):
    """Compare detections in a scene with what is drawn there.

    Parameters
    ----------
    found : float array (n, 6)
        Corners in pixels, score, class.
    objects : sequence of SceneObject
        Boxes of classes that the model doesn't know don't count.
    names : sequence of str
        The model's classes.

    Returns
    -------
    Verdict
    """
    things = []
    for thing in objects:
        x, y, width, height = thing.bbox
        if NAMES[thing.category_id] in names:
            things.append((names.index(NAMES[thing.category_id]), x, y, x + width, y + height))
    return judge_boxes(found, things)


def judge_boxes(found, things):
    """Compare detections with things, rows of class, x1, y1, x2, y2; a `Verdict`."""
    right, used = 0, set()
    for label, *corners in things:
        own = [
            k
            for k, row in enumerate(found)
            if int(row[5]) == label and iou(row[:4], corners) >= MIN_IOU
        ]
        if len(own) == 1 and own[0] not in used:
            right += 1
            used.add(own[0])
    return Verdict(right, len(things) - right, len(found) - right)


def choose_samples(detector):
    """Choose the scene of each sample: the first in which the model is right, else the best.

    Parameters
    ----------
    detector : callable
        As `evaluation.detectors` has them; its own suppression is done.

    Returns
    -------
    Choice
    """
    if not {*NAMES.values()} & {*detector.classes}:
        note = (
            "the page has no samples: those that are drawn show persons and cell phones, and the "
            "model knows neither; --samples PATH takes pictures of a data set"
        )
        return Choice((), (note,))

    def verdict(index, number):
        image, objects = sample_scene_of(index, number)
        return judge(detect_in(detector, shown_pixels(image)), objects, detector.classes)

    verdicts = [{} for _ in SAMPLES]
    for numbers in (range(TRIED_FIRST), range(TRIED_FIRST, 2 * SCENES)):
        for index, judged in enumerate(verdicts):
            for number in numbers:
                if any(v.holds for v in judged.values()):
                    break
                judged[number] = verdict(index, number)
        if not any(v.right for judged in verdicts for v in judged.values()):
            note = (
                "the page has no samples: the model finds no thing rightly in those that are drawn;"
                " is it trained?"
            )
            return Choice((), (note,))
    best = [min(judged, key=lambda k: penalty(judged[k])) for judged in verdicts]
    shown = [judged[number] for judged, number in zip(verdicts, best, strict=True)]
    warnings = tuple(
        f"sample {index}: in none of {2 * SCENES} drawn scenes is the model right; the best is "
        f"shown (right: {v.right}, missed: {v.missed}, wrong boxes: {v.wrong})"
        for index, v in enumerate(shown, start=1)
        if not v.holds
    )
    return Choice(tuple(best), warnings)


def penalty(verdict):
    """Return how bad a scene is: what is missed or wrong, and then how little is right."""
    return verdict.missed + verdict.wrong, -verdict.right


def sample_title(objects):
    """Return what is to be seen, such as "2 persons, 1 cell phone"."""
    kinds = [thing.category_id for thing in objects]
    counts = [(kinds.count(kind), name) for kind, name in NAMES.items()]
    return ", ".join(f"{n} {name}{'s' if n > 1 else ''}" for n, name in counts if n)


@cache
def sample_assets(numbers):
    """Return the sample pictures, and their list; see `choose_samples`."""
    assets, listed = {}, []
    for index, number in enumerate(numbers):
        image, objects = sample_scene_of(index, number)
        name = f"sample-{index + 1}"
        assets[name] = as_jpeg(image)
        listed.append({"asset": name, "title": sample_title(objects), "type": "image/jpeg"})
    return {"samples": json.dumps(listed).encode(), **assets}


def data_assets(detector, dataset):
    """Return the assets of samples from a data set, as `sample_assets` does, and print what is so.

    The pictures with the fewest mistakes are taken, if most of what is in them is found.

    Parameters
    ----------
    detector : callable
        As of `choose_samples`.
    dataset : Dataset
        With the detector's classes.
    """
    places = np.flatnonzero(dataset.box_counts())
    spread = np.linspace(0, len(places) - 1, min(len(places), TRIED)).round().astype(int)
    judged = []
    for place in places[spread].tolist():
        data, things = _shown(dataset, place)
        verdict = judge_boxes(detect_in(detector, np.asarray(Image.open(io.BytesIO(data)))), things)
        if verdict.right > verdict.missed + verdict.wrong:
            judged.append(((verdict.missed + verdict.wrong) / verdict.right, place, data, things))
    assets, listed = {}, []
    for index, (_, _, data, things) in enumerate(sorted(judged)[: len(SAMPLES)], start=1):
        counts = Counter(dataset.classes[int(thing[0])] for thing in things)
        title = f"labelled {', '.join(f'{count} × {name}' for name, count in counts.items())}"
        assets[f"sample-{index}"] = data
        listed.append({"asset": f"sample-{index}", "title": title, "type": "image/jpeg"})
    print(
        f"the page contains {len(listed)} pictures of the data as samples; --no-samples leaves "
        "them out"
        if listed
        else "the page has no samples: in no picture the model finds most things rightly"
    )
    return {"samples": json.dumps(listed).encode(), **assets}


def _shown(dataset, place):
    """Return a picture of a data set as a file of at most LONGEST pixels, and its things there."""
    picture, sample = Image.fromarray(dataset.picture(place)), dataset[place]
    corners = sample.geometry.undo(to_corners(sample.boxes, dataset.image_size))
    scale = min(LONGEST / max(picture.size), 1)
    picture = picture.resize([max(round(side * scale), 1) for side in picture.size])
    rows = np.column_stack([sample.classes, corners * scale])
    return as_jpeg(np.asarray(picture)), rows.tolist()


def chosen_assets(detector):
    """Return the sample pictures for a model, and print what is wrong with them to stderr."""
    choice = choose_samples(detector)
    for text in choice.warnings:
        print(f"warning: {text}", file=sys.stderr)
    return sample_assets(choice.numbers)


if __name__ == "__main__":
    sys.exit("this is a part of: python -m tools.build_demo MODEL.onnx")
