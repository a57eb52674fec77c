"""Pictures composed of a background, persons, phones and other things, as a camera sees them."""

from typing import NamedTuple

import numpy as np
from data.synthetic.backgrounds import background
from data.synthetic.canvas import Tile, cloud_noise, finish, log_uniform, pick, to_image
from data.synthetic.clutter import clutter
from data.synthetic.persons import person
from data.synthetic.phones import phone
from PIL import Image, ImageFilter

PERSON, PHONE = 1, 77  # COCO's category ids

# Chances of 0, 1, 2, ... objects in a picture.
OBJECT_COUNTS = (0.10, 0.26, 0.28, 0.20, 0.11, 0.05)
PERSON_SHARE = 0.55
PERSON_HEIGHT = (0.2, 0.98)  # of the picture's height, log-uniform
PHONE_LENGTH = (0.07, 0.42)  # of the picture's long side, log-uniform
MIN_VISIBLE = 0.5  # of an object's silhouette; what would be hidden more is not placed
MIN_SIDE = 5  # pixels of a box


class SceneObject(NamedTuple):
    """A labelled object of a scene."""

    category_id: int
    bbox: tuple  # x, y, width, height in whole pixels: the tight extent of what is visible
    area: int  # visible pixels
    visible: float  # visible share of the silhouette, what lies outside the picture included


class Scene:
    """A picture being composed, and whose every pixel is."""

    def __init__(self, picture):
        self.picture = picture
        self.owner = Image.new("L", picture.size)  # 0 or the number of the object, from 1
        self.categories, self.full, self.anchors = [], [], []

    @property
    def size(self):
        return self.picture.size

    def visible(self, owner):
        """Visible pixels of each object, if `owner` were the state of the scene."""
        return np.bincount(np.asarray(owner).ravel(), minlength=len(self.full) + 1)[1:]

    def _acceptable(self, owner, full):
        counts = np.bincount(np.asarray(owner).ravel(), minlength=len(full) + 1)[1:]
        return bool((counts >= MIN_VISIBLE * np.asarray(full)).all()) and all(
            min(_extent(owner, k + 1)[2:]) >= MIN_SIDE for k in range(len(full))
        )

    def add(self, sprite, anchor, category=None, number=0):
        """Put a sprite on top; False, and nothing done, if it would hide objects too much.

        With a category it becomes an object; `number` makes it part of an object there is.
        """
        corner = tuple(round(a + o) for a, o in zip(anchor, sprite.offset, strict=True))
        alpha = sprite.image.getchannel("A")
        solid = alpha.point(lambda a: 255 * (a >= 128))
        full = list(self.full)
        if category is not None:
            full.append(max(int(solid.histogram()[255]), 1))
            number = len(full)
        owner = self.owner.copy()
        owner.paste(number, (*corner, corner[0] + solid.width, corner[1] + solid.height), solid)
        if not self._acceptable(owner, full):
            return False
        self.picture.paste(sprite.image.convert("RGB"), corner, alpha)
        self.owner, self.full = owner, full
        if category is not None:
            self.categories.append(category)
            self.anchors.append(np.asarray(anchor, float))
        return True

    def objects(self):
        counts = self.visible(self.owner)
        return [
            SceneObject(
                category, _extent(self.owner, k + 1), int(counts[k]), counts[k] / self.full[k]
            )
            for k, category in enumerate(self.categories)
        ]


def _extent(owner, number):
    """x, y, width, height of the pixels that belong to an object."""
    box = owner.point(lambda value: 255 * (value == number)).getbbox()
    return (0, 0, 0, 0) if box is None else (box[0], box[1], box[2] - box[0], box[3] - box[1])


def _spot(rng, scene, margin, near_chance, reach):
    """A place for something: anywhere, or about an object there is."""
    width, height = scene.size
    if scene.anchors and rng.random() < near_chance:
        center = scene.anchors[int(rng.integers(len(scene.anchors)))]
        return center + rng.normal(0, reach, 2)
    return rng.uniform(margin, 1 - margin, 2) * (width, height)


def _fingers(rng, length, skin):
    """Sprite of the fingers that hold a phone `length` pixels long."""
    tile = Tile(0.5, length)
    side = pick(rng, (-1, 1))
    for k in range(int(rng.integers(2, 5))):
        y = k * 0.11 - 0.1
        tile.limb((side * 0.3, y), (side * 0.1, y + 0.02), 0.045, 0.04, skin)
    return finish(tile, rng)


def _add_person(rng, scene, hands):
    size = log_uniform(rng, *PERSON_HEIGHT) * scene.size[1]
    sprite, points = person(rng, size)
    anchor = _spot(rng, scene, 0.03, 0.25, 0.4 * size)
    if sprite is None or not scene.add(sprite, anchor, PERSON):
        return False
    number = len(scene.full)
    hands += [(anchor + point, size, skin, number) for point, skin in points]
    return True


def _add_phone(rng, scene, hands):
    long = max(scene.size)
    length = log_uniform(rng, *PHONE_LENGTH) * long
    held = [hand for hand in hands if (hand[0] > 0).all() and (hand[0] < scene.size).all()]
    holder = held[int(rng.integers(len(held)))] if held and rng.random() < 0.35 else None
    anchor = _spot(rng, scene, 0.03, 0.25, 0.8 * length)
    if holder is not None:
        length = max(log_uniform(rng, 0.12, 0.25) * holder[1], PHONE_LENGTH[0] * long)
        anchor = holder[0] + rng.normal(0, 0.1 * length, 2)
    sprite = phone(rng, length)
    if sprite is None or not scene.add(sprite, anchor, PHONE):
        return False
    if holder is not None and rng.random() < 0.6:
        fingers = _fingers(rng, length, holder[2])
        if fingers is not None:  # part of the person; left out where they would hide too much
            scene.add(fingers, anchor, number=holder[3])
    return True


def _add_clutter(rng, scene, low, high, near_chance):
    size = log_uniform(rng, low, high) * min(scene.size)
    sprite = clutter(rng, size)
    return sprite is not None and scene.add(sprite, _spot(rng, scene, 0.0, near_chance, 0.4 * size))


def _camera(rng, picture):
    """Light, contrast, white balance, blur and noise of a photograph."""
    pixels = np.asarray(picture).astype(np.float32)
    height, width = pixels.shape[:2]
    pixels = (pixels - 128) * rng.uniform(0.8, 1.15) + 128 + rng.normal(0, 12)
    pixels *= rng.normal(1, 0.05, 3).astype(np.float32)
    if rng.random() < 0.35:  # uneven light
        glow = 0.7 + 0.5 * cloud_noise(rng, width, height, 2, 1)
        pixels *= glow[..., None]
    picture = to_image(pixels)
    blur = rng.random()
    if blur < 0.3:
        picture = picture.filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 1.0)))
    elif blur < 0.4:  # shaken
        kernel = np.zeros((5, 5))
        steps = np.arange(5)
        kernel[pick(rng, (steps, 4 - steps, np.full(5, 2))), steps] = 1
        picture = picture.filter(ImageFilter.Kernel((5, 5), kernel.ravel().tolist()))
    # Sums of two uniform draws: nearly normal, and several times faster to draw.
    shape = (height, width, 1 if rng.random() < 0.4 else 3)
    noise = rng.integers(0, 256, shape, dtype=np.uint8).astype(np.int16)
    noise += rng.integers(0, 256, shape, dtype=np.uint8)
    return to_image(
        np.asarray(picture) + (noise - 255) * np.float32(rng.uniform(0.005, 0.055)) + 0.5
    )


def _random_size(rng):
    """Width and height: the usual proportions, short side at least 240, long at most 480."""
    proportion = pick(rng, (4 / 3, 3 / 2, 16 / 9, 1.0), (0.52, 0.16, 0.1, 0.22))
    short = round(rng.uniform(240, min(340, 480 / proportion)))
    long = round(short * proportion)
    return (short, long) if rng.random() < 0.35 else (long, short)


def sample_scene(rng, size=None):
    """Draw one picture.

    Parameters
    ----------
    rng : numpy.random.Generator
    size : (int, int), optional
        Width and height in pixels, at least 64; drawn by default, 240 to 480.

    Returns
    -------
    image : uint8 array, (height, width, 3)
    objects : list of SceneObject
        Every person and cell phone in it, with the tight extent of its visible pixels.

    Raises
    ------
    ValueError
        `size` is too small.
    """
    width, height = _random_size(rng) if size is None else size
    if min(width, height) < 64:
        raise ValueError(f"size {width}x{height} is too small to draw in; 64 pixels is the least")
    scene = Scene(background(rng, width, height))
    for _ in range(int(rng.integers(1, 7))):
        _add_clutter(rng, scene, 0.06, 0.6, 0.0)
    count = int(rng.choice(len(OBJECT_COUNTS), p=OBJECT_COUNTS))
    persons = int((rng.random(count) < PERSON_SHARE).sum())
    order = [_add_person] * persons + [_add_phone] * (count - persons)  # phones mostly on top
    if rng.random() < 0.25:
        order = [order[k] for k in rng.permutation(count)]
    hands = []
    for add in order:
        for _ in range(10):  # until it hides nothing too much
            if add(rng, scene, hands):
                break
    if rng.random() < 0.3:
        for _ in range(int(rng.integers(1, 3))):
            _add_clutter(rng, scene, 0.08, 0.4, 0.6)
    objects = scene.objects()
    return np.asarray(_camera(rng, scene.picture)), objects
