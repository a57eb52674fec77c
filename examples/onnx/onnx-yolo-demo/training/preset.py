"""Choose sizes, lengths and averages for a data set: ``--preset auto``."""

import contextlib
import math
from typing import NamedTuple

import numpy as np
from PIL import Image

# Options that are chosen where the command line doesn't give them.
CHOSEN = (
    "image_size", "batch_size", "nominal_batch", "epochs", "warmup_epochs", "close_mosaic",
    "ema_decay", "ema_steps", "val_every", "build_page",
)  # fmt: skip
IMAGE_SIZES = 256, 320, 416, 512, 640
LEAST_SIDE = 12  # pixels: the shorter side of nine boxes in ten
STEPS = 520  # the fewest of a run, as far as MOST_EPOCHS allow
FEWEST_EPOCHS, MOST_EPOCHS = 20, 100
# Images a batch, for fewer training images than these
BATCHES = {50: 4, 1000: 8, 4000: 16, math.inf: 32}
AVERAGES = {2000: (0.99, 100.0), 20_000: (0.999, 500.0), math.inf: (0.9999, 2000.0)}  # for steps
FEW_IMAGES, FEW_STEPS = 30, 300
MEASURED = 200  # pictures whose boxes are measured


class Facts(NamedTuple):
    """Describe a training set, before its pictures are decoded."""

    images: int
    boxes: int
    classes: int
    side: float  # that nine shorter sides of boxes in ten exceed, of the picture's longer side


def facts_of(listing):
    """Return the `Facts` of a `Listing`."""
    count = len(listing.pictures)
    places = np.unique(np.linspace(0, count - 1, min(count, MEASURED)).round().astype(int))
    sizes = np.ones((count, 2))
    known = np.zeros(count, bool)
    for place in places.tolist():
        # A picture that can't be opened is named when it is decoded.
        with contextlib.suppress(Exception):
            sizes[place] = _size(listing.pictures[place])
            known[place] = True
    boxes = listing.boxes
    rows = known[boxes.owner]
    own = sizes[boxes.owner[rows]]
    sides = (boxes.corners[:, 2:] - boxes.corners[:, :2])[rows]
    sides = sides * np.where(boxes.fractions[rows, None], own, 1) / own.max(axis=1, keepdims=True)
    shorter = sides.min(axis=1)
    side = float(np.percentile(shorter, 10)) if len(shorter) else 1.0
    return Facts(count, len(boxes.owner), len(listing.classes), side)


def _size(picture):
    if picture.size is not None:
        return picture.size
    with Image.open(picture.path) as opened:
        return opened.size


def choices(facts, given, least_size=0):
    """Return the options that fit a data set, by name; `given` are those that are fixed already.

    `least_size` is the image size of the starting weights, if their classes are kept.
    """
    o = dict(given)

    def choose(name, value):
        return o.setdefault(name, value)

    fits = [size for size in IMAGE_SIZES if size * facts.side >= LEAST_SIDE]
    choose("image_size", max((fits or IMAGE_SIZES[-1:])[0], least_size))
    fit = next(batch for limit, batch in BATCHES.items() if facts.images < limit)
    batch = choose("batch_size", min(fit, max(facts.images, 2)))
    choose("nominal_batch", batch)
    batches = math.ceil(facts.images / batch)
    epochs = math.ceil(STEPS / batches)
    epochs = choose("epochs", min(max(epochs, FEWEST_EPOCHS), MOST_EPOCHS))
    choose("warmup_epochs", float(max(round(epochs / 20), 1)))
    choose("close_mosaic", epochs // 4)
    choose("val_every", max(epochs // 10, 1))
    steps = steps_of(facts, o)
    decay, length = next(pair for limit, pair in AVERAGES.items() if steps <= limit)
    choose("ema_decay", decay)
    choose("ema_steps", length)
    choose("build_page", True)
    return o


def steps_of(facts, o):
    """Return about how many steps a run of such options has."""
    batches = math.ceil(facts.images / o["batch_size"]) * o["epochs"]
    return max(round(batches * o["batch_size"] / max(o["nominal_batch"], o["batch_size"])), 1)


def explanation(facts, o):
    """Return six lines that say what was chosen, and why."""
    steps = steps_of(facts, o)
    said = "1 step" if steps == 1 else f"{steps} steps"
    pixels = facts.side * o["image_size"]
    lines = [
        f"preset auto, for {facts.images} training images with {facts.boxes} boxes of "
        f"{facts.classes} classes (an option that you give goes first):",
        f"  --image-size {o['image_size']}: nine boxes in ten are {pixels:.0f} pixels or more in "
        "height and width",
        f"  --batch-size {o['batch_size']} --nominal-batch {o['nominal_batch']}: few images make "
        "few steps, so batches are small",
        f"  --epochs {o['epochs']} --warmup-epochs {o['warmup_epochs']:g}: {said}",
        f"  --close-mosaic {o['close_mosaic']} --val-every {o['val_every']}: the last epochs show "
        "whole images",
        f"  --ema-decay {o['ema_decay']:g} --ema-steps {o['ema_steps']:g}: the averaged weights "
        "follow within the run",
    ]
    if facts.images < FEW_IMAGES or steps < FEW_STEPS:
        lines.append(
            f"warning: {facts.images} images and {said}: expect little; more labelled images help "
            "most"
        )
    return lines


def choose(options, listing, least_size=0):
    """Set the options that are left to ``--preset auto``, and say so; see `choices`."""
    facts = facts_of(listing)
    given = {name: getattr(options, name) for name in CHOSEN if name not in options.auto}
    chosen = choices(facts, given, least_size)
    for name in options.auto:
        setattr(options, name, chosen[name])
    print(*explanation(facts, chosen), sep="\n")
