"""Pictures composed of a background, persons, phones and other things, as a camera sees them."""

import math
from typing import NamedTuple

import numpy as np
from data.synthetic.canvas import (
    any_color,
    blend,
    cloud_noise,
    log_uniform,
    near,
    pick,
    rectangle,
    tint,
    to_image,
)
from data.synthetic.figures import clutter, fingers, person, phone
from PIL import Image, ImageDraw, ImageFilter

PERSON, PHONE = 1, 77  # COCO's category ids

# Chances of 0, 1, 2, ... objects in a picture.
OBJECT_COUNTS = (0.10, 0.26, 0.28, 0.20, 0.11, 0.05)
PERSON_SHARE = 0.55
PERSON_HEIGHT = (0.2, 0.98)  # of the picture's height, log-uniform
PHONE_LENGTH = (0.07, 0.42)  # of the picture's long side, log-uniform
MIN_VISIBLE = 0.5  # of an object's silhouette; what would hide more of one is not placed
MIN_SIDE = 5  # pixels of a box


class SceneObject(NamedTuple):
    """A labelled object of a scene."""

    category_id: int
    bbox: tuple  # x, y, width, height in whole pixels: the tight extent of what is visible
    area: int  # visible pixels
    visible: float  # visible share of the silhouette, what lies outside the picture included


# ------------------------------------------------------------------------------ backgrounds


def _plain(rng, width, height):
    """Paint two or three colours running into each other, with soft blotches."""
    angle = rng.uniform(0, 2 * math.pi)
    x = np.linspace(-1, 1, width, dtype=np.float32)[None, :] * math.cos(angle)
    y = np.linspace(-1, 1, height, dtype=np.float32)[:, None] * math.sin(angle)
    ramp = np.clip((x + y) * rng.uniform(0.3, 1.0) + 0.5, 0, 1)
    picture = blend(any_color(rng), any_color(rng), ramp)
    return blend(picture, any_color(rng), 0.5 * cloud_noise(rng, width, height, 3, 2))


def _texture(rng, width, height):
    """Paint grass, gravel, plaster, camouflage: noise between several colours."""
    base = any_color(rng)
    other = near(rng, base, rng.uniform(20, 90))
    noise = cloud_noise(rng, width, height, int(rng.integers(3, 30)), 4, rng.uniform(0.5, 0.95))
    if rng.random() < 0.35:  # hard-edged patches
        noise = np.round(noise * rng.integers(2, 6)) / 5
    picture = blend(base, other, np.clip(noise * 1.4 - 0.2, 0, 1))
    return picture * (0.7 + 0.6 * cloud_noise(rng, width, height, 2, 2))[..., None]


def _pattern(rng, width, height):
    """Paint wallpaper, tiles, bricks, checks."""
    angle = rng.uniform(0, math.pi) if rng.random() < 0.5 else 0.0
    x = np.arange(width, dtype=np.float32)[None, :]
    y = np.arange(height, dtype=np.float32)[:, None]
    u = x * math.cos(angle) + y * math.sin(angle)
    v = y * math.cos(angle) - x * math.sin(angle)
    period = rng.uniform(9, 60)
    kind = pick(rng, ("stripes", "checks", "bricks"))
    if kind == "stripes":
        share = np.sin(u * 2 * math.pi / period) > rng.uniform(-0.7, 0.7)
    elif kind == "checks":
        share = ((u // period) + (v // period)) % 2
    else:
        row = v // (period / 2)
        inside = (u + (row % 2) * period / 2) % period
        share = (v % (period / 2) < 1.8) | (inside < 1.8)
    base = any_color(rng)
    other = near(rng, base, 45) if rng.random() < 0.6 else any_color(rng)
    picture = blend(base, other, np.broadcast_to(share, (height, width)))
    return picture * (0.75 + 0.5 * cloud_noise(rng, width, height, 3, 3))[..., None]


def _outdoors(rng, width, height):
    """Paint sky, houses or trees, and ground."""
    horizon = int(height * rng.uniform(0.2, 0.7))
    skies = ((120, 170, 230), (200, 205, 210), (235, 170, 120), (35, 40, 70))
    grounds = ((85, 120, 60), (125, 120, 115), (190, 170, 130), (230, 232, 238))
    sky, ground = near(rng, pick(rng, skies), 20), near(rng, pick(rng, grounds), 22)
    picture = np.empty((height, width, 3), dtype=np.float32)
    clouds = np.clip(cloud_noise(rng, width, horizon, 4, 4) * 2 - 0.9, 0, 0.8)
    picture[:horizon] = blend(sky, tint(sky, 1.3), clouds)
    rough = cloud_noise(rng, width, height - horizon, int(rng.integers(8, 50)), 3, 0.8)
    picture[horizon:] = np.asarray(ground, np.float32) * (0.6 + 0.7 * rough[..., None])
    image = to_image(picture)
    draw = ImageDraw.Draw(image)
    x, built = -rng.uniform(0, 40), rng.random() < 0.55
    while x < width:
        w, h = rng.uniform(0.05, 0.22) * width, rng.uniform(0.06, 0.5) * horizon
        color = near(rng, (125, 112, 105) if built else (60, 90, 50), 28)
        if built:
            draw.rectangle([x, horizon - h, x + w, horizon], color)
            for row in np.arange(horizon - h + 3, horizon - 8, rng.uniform(7, 16)):
                for column in np.arange(x + 3, x + w - 6, 10):
                    lit = (245, 225, 150) if rng.random() < 0.2 else tint(color, 0.55)
                    draw.rectangle([column, row, column + 5, row + 5], lit)
        else:
            draw.ellipse([x, horizon - h, x + w, horizon + h * 0.3], color)
        x += w * rng.uniform(0.7, 1.6)
    return image


def _indoors(rng, width, height):
    """Paint a wall and a floor, with pictures or windows and shelves of books."""
    edge = int(height * rng.uniform(0.5, 0.88))
    wall, floor = near(rng, (190, 180, 165), 38), near(rng, (130, 100, 75), 35)
    picture = np.empty((height, width, 3), dtype=np.float32)
    picture[:edge] = wall * (0.8 + 0.35 * cloud_noise(rng, width, edge, 2, 3))[..., None]
    picture[edge:] = floor * (0.7 + 0.5 * cloud_noise(rng, width, height - edge, 12, 3))[..., None]
    image = to_image(picture)
    draw = ImageDraw.Draw(image)
    vanish = rng.uniform(0, width)
    for x in np.arange(-width, 2 * width, rng.uniform(20, 70)):  # planks
        draw.line([(vanish + (x - vanish) * 0.5, edge), (x, height)], tint(floor, 0.7))
    for _ in range(int(rng.integers(0, 4))):
        w, h = rng.uniform(0.1, 0.35) * width, rng.uniform(0.12, 0.45) * height
        x, y = rng.uniform(0, width - w), rng.uniform(0, max(edge - h, 1))
        frame = near(rng, (110, 85, 65), 45)
        draw.rectangle([x, y, x + w, y + h], any_color(rng), frame, width=3)
        if rng.random() < 0.5:  # window cross
            draw.line([(x + w / 2, y), (x + w / 2, y + h)], frame, width=2)
            draw.line([(x, y + h / 2), (x + w, y + h / 2)], frame, width=2)
        else:  # books
            for left in np.arange(x + 4, x + w - 8, rng.uniform(5, 10)):
                top = y + rng.uniform(0.1, 0.5) * h
                draw.rectangle([left, top, left + rng.uniform(3, 8), y + h - 3], any_color(rng))
    return image


def _tabletop(rng, width, height):
    """Paint wood, cloth or stone seen from above, with papers lying on it."""
    grain = cloud_noise(rng, max(width // 12, 8), height, int(rng.integers(15, 60)), 2)
    stretched = to_image(grain * 255).resize((width, height), Image.Resampling.BICUBIC)
    share = np.asarray(stretched, dtype=np.float32) / 255
    base = near(rng, pick(rng, ((150, 105, 65), (90, 62, 45), (205, 190, 165), (70, 72, 78))), 22)
    image = to_image(blend(tint(base, 0.7), tint(base, 1.15), share))
    draw = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(0, 4))):
        center, side = rng.uniform(0, [width, height]), rng.uniform(0.15, 0.5) * height
        corners = rectangle(side, side * rng.uniform(0.5, 0.8), rng.uniform(0, math.pi)) + center
        draw.polygon([tuple(p) for p in corners], near(rng, (225, 222, 212), 18))
        for t in np.linspace(0.15, 0.85, int(rng.integers(3, 9))):  # lines of text
            ends = corners[:2] * (1 - t) + corners[:1:-1] * t
            draw.line([tuple(p) for p in ends], (120, 120, 130))
    return image


def background(rng, width, height):
    """Paint a background of a random kind, as an RGB picture."""
    makers = (_plain, _texture, _pattern, _outdoors, _indoors, _tabletop)
    made = pick(rng, makers, (0.12, 0.17, 0.16, 0.21, 0.21, 0.13))(rng, width, height)
    return made if isinstance(made, Image.Image) else to_image(made)


# ------------------------------------------------------------------------------ scenes


class Scene:
    """A picture being composed, and the number of the object that each pixel belongs to."""

    def __init__(self, picture):
        self.picture = picture
        self.owner = Image.new("L", picture.size)  # 0 or the number of the object, from 1
        self.categories, self.full, self.anchors = [], [], []

    def add(self, sprite, anchor, category=None, number=0):
        """Put a sprite on top, unless it would hide objects too much; return whether it is there.

        With a category it becomes an object; with a `number` it is part of that object.
        """
        corner = tuple(round(a + o) for a, o in zip(anchor, sprite.offset, strict=True))
        alpha = sprite.image.getchannel("A")
        solid = alpha.point(lambda a: 255 * (a >= 128))
        full = list(self.full)
        if category is not None:
            full.append(max(solid.histogram()[255], 1))
            number = len(full)
        owner = self.owner.copy()
        owner.paste(number, corner, solid)
        for k, whole in enumerate(full, start=1):
            box, area = _extent(owner, k)
            if area < MIN_VISIBLE * whole or min(box[2:]) < MIN_SIDE:
                return False
        self.picture.paste(sprite.image.convert("RGB"), corner, alpha)
        self.owner, self.full = owner, full
        if category is not None:
            self.categories.append(category)
            self.anchors.append(np.asarray(anchor, float))
        return True

    def objects(self):
        """Return the objects, each with what is visible of it."""
        objects = []
        for k, category in enumerate(self.categories):
            box, area = _extent(self.owner, k + 1)
            # Fingers that hold a phone add to a person's pixels.
            visible = min(area / self.full[k], 1.0)
            objects.append(SceneObject(category, box, area, visible))
        return objects


def _extent(owner, number):
    """Return the box (x, y, width, height) of an object's pixels, and their count."""
    own = owner.point(lambda value: 255 * (value == number))
    x0, y0, x1, y1 = own.getbbox() or (0, 0, 0, 0)
    return (x0, y0, x1 - x0, y1 - y0), own.histogram()[255]


def _spot(rng, scene, margin, near_chance, reach):
    """Choose a place for something: anywhere, or close to an object that is there."""
    width, height = scene.picture.size
    if scene.anchors and rng.random() < near_chance:
        center = scene.anchors[int(rng.integers(len(scene.anchors)))]
        return center + rng.normal(0, reach, 2)
    return rng.uniform(margin, 1 - margin, 2) * (width, height)


def _add_person(rng, scene, hands):
    size = log_uniform(rng, *PERSON_HEIGHT) * scene.picture.size[1]
    sprite, points = person(rng, size)
    anchor = _spot(rng, scene, 0.03, 0.25, 0.4 * size)
    if sprite is None or not scene.add(sprite, anchor, PERSON):
        return False
    number = len(scene.full)
    hands += [(anchor + point, size, skin, number) for point, skin in points]
    return True


def _add_phone(rng, scene, hands):
    long = max(scene.picture.size)
    length = log_uniform(rng, *PHONE_LENGTH) * long
    held = [hand for hand in hands if (hand[0] > 0).all() and (hand[0] < scene.picture.size).all()]
    holder = held[int(rng.integers(len(held)))] if held and rng.random() < 0.35 else None
    anchor = _spot(rng, scene, 0.03, 0.25, 0.8 * length)
    if holder is not None:
        length = max(log_uniform(rng, 0.12, 0.25) * holder[1], PHONE_LENGTH[0] * long)
        anchor = holder[0] + rng.normal(0, 0.1 * length, 2)
    sprite = phone(rng, length)
    if sprite is None or not scene.add(sprite, anchor, PHONE):
        return False
    if holder is not None and rng.random() < 0.6:
        grip = fingers(rng, length, holder[2])
        if grip is not None:  # part of the person; left out where they would hide too much
            scene.add(grip, anchor, number=holder[3])
    return True


def _add_clutter(rng, scene, low, high, near_chance):
    size = log_uniform(rng, low, high) * min(scene.picture.size)
    sprite = clutter(rng, size)
    return sprite is not None and scene.add(sprite, _spot(rng, scene, 0.0, near_chance, 0.4 * size))


def _camera(rng, picture):
    """Apply light, contrast, white balance, blur and noise of a photograph."""
    pixels = np.asarray(picture).astype(np.float32)
    height, width = pixels.shape[:2]
    pixels = (pixels - 128) * rng.uniform(0.8, 1.15) + 128 + rng.normal(0, 12)
    pixels *= rng.normal(1, 0.05, 3).astype(np.float32)
    if rng.random() < 0.35:  # uneven light
        glow = 0.7 + 0.5 * cloud_noise(rng, width, height, 2, 1)
        pixels *= glow[..., None]
    picture = to_image(pixels)
    if rng.random() < 0.4:
        picture = picture.filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 1.0)))
    # Sums of two uniform draws: nearly normal, and several times faster to draw.
    shape = (height, width, 1 if rng.random() < 0.4 else 3)
    noise = rng.integers(0, 256, shape, dtype=np.uint8).astype(np.int16)
    noise += rng.integers(0, 256, shape, dtype=np.uint8)
    strength = np.float32(rng.uniform(0.005, 0.055))
    return np.asarray(to_image(np.asarray(picture) + (noise - 255) * strength + 0.5))


def _random_size(rng):
    """Draw width and height: usual proportions, short side at least 240, long at most 480."""
    proportion = pick(rng, (4 / 3, 3 / 2, 16 / 9, 1.0), (0.52, 0.16, 0.1, 0.22))
    short = round(rng.uniform(240, min(340, 480 / proportion)))
    long = round(short * proportion)
    return (short, long) if rng.random() < 0.35 else (long, short)


def sample_scene(rng, size=None):
    """Draw one picture: uint8 (height, width, 3), and its persons and phones, `SceneObject`s.

    `size` is (width, height); by default both are chosen between 240 and 480. ValueError below 64.
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
    return _camera(rng, scene.picture), scene.objects()


def staged_scene(rng, size, kinds):
    """Draw a picture with given things in it, side by side, large and with no clutter before them.

    Parameters
    ----------
    rng : numpy.random.Generator
    size : (int, int)
        Width and height in pixels.
    kinds : sequence of int
        `PERSON` or `PHONE`, from the left to the right.

    Returns
    -------
    pixels : uint8 array (height, width, 3)
    objects : list of SceneObject
        Those that were placed: one that would hide another too much is missing.
    """
    width, height = size
    scene = Scene(background(rng, width, height))
    room = width / len(kinds)
    for number, kind in enumerate(kinds):
        tall = rng.uniform(0.5, 0.85) * min(height, 2 * room)
        long = rng.uniform(0.25, 0.45) * min(max(size), 2 * room)
        sprite = person(rng, tall)[0] if kind == PERSON else phone(rng, long)
        anchor = ((number + rng.uniform(0.4, 0.6)) * room, rng.uniform(0.45, 0.6) * height)
        if sprite is not None:
            scene.add(sprite, anchor, kind)
    return _camera(rng, scene.picture), scene.objects()
