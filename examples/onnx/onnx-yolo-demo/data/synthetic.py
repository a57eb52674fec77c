"""Draw a detection data set of persons and cell phones, in COCO format.

    python -m data.synthetic OUT --train 1200 --val 300 --seed 0 --jobs 1

It stands in for COCO wherever that cannot be downloaded: articulated figures and phones seen
from any side, among things that look a little like them, on varied backgrounds, occluded,
blurred and noisy. The annotation files use COCO's layout and category ids, so whatever trains
on this set trains on COCO unchanged.

Every picture is drawn from ``np.random.default_rng([seed, split, index])``, so a set does not
depend on the number of processes. On one machine, with the same NumPy and Pillow, it is the
same byte for byte; elsewhere a float rounded the other way may change single pixels.
"""

import argparse
import json
import math
import multiprocessing
import os
import re
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

PERSON, PHONE = 1, 77  # COCO's category ids
CATEGORIES = [
    {"id": PERSON, "name": "person", "supercategory": "person"},
    {"id": PHONE, "name": "cell phone", "supercategory": "electronic"},
]
VERSION = 1  # to be raised whenever the pictures change
MARKER = "synthetic.json"
SPLITS = ("train", "val")

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


# ------------------------------------------------------------------------------ colours, noise


def _pick(rng, options, chances=None):
    return options[int(rng.choice(len(options), p=chances))]


def _log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def _color(rng):
    """Any colour; greys and muted ones more often than a uniform choice has them."""
    value, saturation = rng.uniform(15, 250), rng.uniform(0, 1) ** 1.5
    hue = rng.uniform(0, 6) + np.array([0.0, 4.0, 2.0])
    ramp = np.clip(np.abs(hue % 6 - 3) - 1, 0, 1)
    return tuple(int(v) for v in value * (1 - saturation * (1 - ramp)))


def _vivid(rng):
    """A colour that is neither dark nor grey."""
    return max((_color(rng) for _ in range(3)), key=lambda color: max(color) - 0.5 * min(color))


def _tint(color, factor):
    return tuple(int(min(max(c * factor, 0), 255)) for c in color)


def _near(rng, color, spread):
    return tuple(int(v) for v in np.clip(np.add(color, rng.normal(0, spread, 3)), 0, 255))


def _skin(rng):
    light, dark = np.array([250, 214, 186]), np.array([74, 46, 32])
    t = rng.uniform(0, 1)
    # The way between the two bends towards brown.
    mixed = light * (1 - t) + dark * t + np.array([20, 0, -18]) * 4 * t * (1 - t)
    return _near(rng, mixed, 6)


def _clouds(rng, width, height, cells, octaves, falloff=0.55):
    """Smooth noise, float32 (height, width) in 0 to 1; `cells` blobs along the long side."""
    total = np.zeros((height, width), dtype=np.float32)
    weight = 1.0
    for octave in range(octaves):
        n = cells * 2**octave
        shape = tuple(max(2, round(n * side / max(width, height))) for side in (height, width))
        grid = rng.integers(0, 256, shape, dtype=np.uint8)
        smooth = Image.fromarray(grid).resize((width, height), Image.Resampling.BICUBIC)
        total += weight * np.asarray(smooth, dtype=np.float32)
        weight *= falloff
    total -= total.min()
    return total / max(float(total.max()), 1e-6)


def _blend(first, second, share):
    """Mix two colours, or pictures, by a (height, width) share of the second."""
    share = share[..., None].astype(np.float32)
    return np.asarray(first, np.float32) * (1 - share) + np.asarray(second, np.float32) * share


def _to_image(array):
    return Image.fromarray(np.clip(array, 0, 255).astype(np.uint8))


# ------------------------------------------------------------------------------ backgrounds


def _plain(rng, width, height):
    """Two or three colours running into each other, with soft blotches."""
    angle = rng.uniform(0, 2 * math.pi)
    x = np.linspace(-1, 1, width, dtype=np.float32)[None, :] * math.cos(angle)
    y = np.linspace(-1, 1, height, dtype=np.float32)[:, None] * math.sin(angle)
    ramp = np.clip((x + y) * rng.uniform(0.3, 1.0) + 0.5, 0, 1)
    picture = _blend(_color(rng), _color(rng), ramp)
    return _blend(picture, _color(rng), 0.5 * _clouds(rng, width, height, 3, 2))


def _texture(rng, width, height):
    """Grass, gravel, plaster, camouflage: noise between several colours."""
    base = _color(rng)
    other = _near(rng, base, rng.uniform(20, 90))
    noise = _clouds(rng, width, height, int(rng.integers(3, 30)), 4, rng.uniform(0.5, 0.95))
    if rng.random() < 0.35:  # hard-edged patches
        noise = np.round(noise * rng.integers(2, 6)) / 5
    picture = _blend(base, other, np.clip(noise * 1.4 - 0.2, 0, 1))
    return picture * (0.7 + 0.6 * _clouds(rng, width, height, 2, 2))[..., None]


def _pattern(rng, width, height):
    """Wallpaper, tiles, planks, bricks, checks."""
    angle = rng.uniform(0, math.pi) if rng.random() < 0.5 else 0.0
    x = np.arange(width, dtype=np.float32)[None, :]
    y = np.arange(height, dtype=np.float32)[:, None]
    u = x * math.cos(angle) + y * math.sin(angle)
    v = y * math.cos(angle) - x * math.sin(angle)
    period = rng.uniform(9, 60)
    kind = _pick(rng, ("stripes", "checks", "bricks", "diamonds", "plaid"))
    if kind == "stripes":
        share = (np.sin(u * 2 * math.pi / period) > rng.uniform(-0.7, 0.7)) + 0 * v
    elif kind == "checks":
        share = ((u // period) + (v // period)) % 2
    elif kind == "bricks":
        row = v // (period / 2)
        inside = (u + (row % 2) * period / 2) % period
        share = (v % (period / 2) < 1.8) | (inside < 1.8)
    elif kind == "diamonds":
        share = np.abs(u % period - period / 2) + np.abs(v % period - period / 2) < period * 0.3
    else:
        share = 0.5 * (u % period < period * 0.4) + 0.5 * (v % period < period * 0.4)
    base = _color(rng)
    other = _near(rng, base, 45) if rng.random() < 0.6 else _color(rng)
    picture = _blend(base, other, np.broadcast_to(share, (height, width)))
    return picture * (0.75 + 0.5 * _clouds(rng, width, height, 3, 3))[..., None]


def _outdoors(rng, width, height):
    """Sky, a skyline or trees, and ground."""
    horizon = int(height * rng.uniform(0.2, 0.7))
    sky = _near(
        rng, _pick(rng, ((120, 170, 230), (200, 205, 210), (235, 170, 120), (35, 40, 70))), 20
    )
    ground = _near(
        rng, _pick(rng, ((85, 120, 60), (125, 120, 115), (190, 170, 130), (230, 232, 238))), 22
    )
    picture = np.empty((height, width, 3), dtype=np.float32)
    clouds = np.clip(_clouds(rng, width, horizon, 4, 4) * 2 - 0.9, 0, 0.8)
    picture[:horizon] = _blend(sky, _tint(sky, 1.3), clouds)
    rough = _clouds(rng, width, height - horizon, int(rng.integers(8, 50)), 3, 0.8)
    picture[horizon:] = np.asarray(ground, np.float32) * (0.6 + 0.7 * rough[..., None])
    image = _to_image(picture)
    draw = ImageDraw.Draw(image)
    x = -rng.uniform(0, 40)
    built = rng.random() < 0.55
    while x < width:
        w, h = rng.uniform(0.05, 0.22) * width, rng.uniform(0.06, 0.5) * horizon
        color = _near(rng, (125, 112, 105) if built else (60, 90, 50), 28)
        if built:
            draw.rectangle([x, horizon - h, x + w, horizon], fill=color)
            _windows(rng, draw, (x, horizon - h, x + w, horizon), color)
        else:
            draw.ellipse([x, horizon - h, x + w, horizon + h * 0.3], fill=color)
            draw.ellipse(
                [x + w * 0.3, horizon - h * 0.8, x + w * 1.4, horizon + h * 0.2],
                fill=_tint(color, 0.85),
            )
        x += w * rng.uniform(0.7, 1.6)
    if rng.random() < 0.5:  # road or path
        vanish, middle = rng.uniform(0, width), rng.uniform(0, width)
        spread = rng.uniform(0.2, 0.8) * width
        corners = [(vanish, horizon), (middle + spread, height), (middle - spread, height)]
        draw.polygon(corners, fill=_near(rng, (105, 105, 110), 15))
        draw.line([(vanish, horizon), (middle, height)], fill=(220, 215, 190), width=2)
    return image


def _windows(rng, draw, box, wall):
    """Rows of lit and dark windows on a facade."""
    x0, y0, x1, y1 = box
    step_x, step_y = rng.uniform(7, 16, 2)
    for row in range(int((y1 - y0) / step_y)):
        for column in range(int((x1 - x0) / step_x)):
            x, y = x0 + (column + 0.25) * step_x, y0 + (row + 0.25) * step_y
            fill = (245, 225, 150) if rng.random() < 0.2 else _tint(wall, 0.55)
            draw.rectangle([x, y, x + step_x * 0.5, y + step_y * 0.55], fill=fill)


def _indoors(rng, width, height):
    """Wall and floor with a door, a window, shelves or pictures."""
    edge = int(height * rng.uniform(0.5, 0.88))
    wall, floor = _near(rng, (190, 180, 165), 38), _near(rng, (130, 100, 75), 35)
    picture = np.empty((height, width, 3), dtype=np.float32)
    picture[:edge] = wall * (0.8 + 0.35 * _clouds(rng, width, edge, 2, 3))[..., None]
    picture[edge:] = floor * (0.7 + 0.5 * _clouds(rng, width, height - edge, 12, 3))[..., None]
    image = _to_image(picture)
    draw = ImageDraw.Draw(image)
    vanish = rng.uniform(0, width)
    for x in np.arange(-width, 2 * width, rng.uniform(20, 70)):
        draw.line([(vanish + (x - vanish) * 0.5, edge), (x, height)], fill=_tint(floor, 0.7))
    draw.rectangle(
        [0, edge - rng.uniform(2, 8), width, edge], fill=_tint(wall, rng.uniform(0.5, 1.3))
    )
    for _ in range(int(rng.integers(0, 4))):
        w, h = rng.uniform(0.1, 0.35) * width, rng.uniform(0.12, 0.45) * height
        x, y = rng.uniform(0, width - w), rng.uniform(0, max(edge - h, 1))
        frame = _near(rng, (110, 85, 65), 45)
        if rng.random() < 0.35:  # door: reaches the floor
            y, h = edge - h * 1.5, h * 1.5
        draw.rectangle([x, y, x + w, y + h], fill=_color(rng), outline=frame, width=3)
        kind = rng.random()
        if kind < 0.35:  # shelf of books
            for shelf in np.linspace(y, y + h, int(rng.integers(2, 5)), endpoint=False):
                depth, at = h / 4, x + 3
                while at < x + w - 6:
                    thick = rng.uniform(3, 8)
                    draw.rectangle(
                        [at, shelf + rng.uniform(0, depth / 3), at + thick, shelf + depth],
                        fill=_color(rng),
                    )
                    at += thick + rng.uniform(0, 3)
        elif kind < 0.7:  # window cross
            draw.line([(x + w / 2, y), (x + w / 2, y + h)], fill=frame, width=2)
            draw.line([(x, y + h / 2), (x + w, y + h / 2)], fill=frame, width=2)
    return image


def _tabletop(rng, width, height):
    """Wood, cloth or stone seen from above, with papers lying on it."""
    grain = _clouds(rng, max(width // 12, 8), height, int(rng.integers(15, 60)), 2)
    stretched = _to_image(grain * 255).resize((width, height), Image.Resampling.BICUBIC)
    share = np.asarray(stretched, dtype=np.float32) / 255
    base = _near(rng, _pick(rng, ((150, 105, 65), (90, 62, 45), (205, 190, 165), (70, 72, 78))), 22)
    image = _to_image(_blend(_tint(base, 0.7), _tint(base, 1.15), share))
    draw = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(0, 4))):
        center, side = rng.uniform(0, [width, height]), rng.uniform(0.15, 0.5) * height
        corners = _rectangle(side, side * rng.uniform(0.5, 0.8), rng.uniform(0, math.pi)) + center
        draw.polygon([tuple(p) for p in corners], fill=_near(rng, (225, 222, 212), 18))
        for t in np.linspace(0.15, 0.85, int(rng.integers(3, 9))):
            ends = [
                tuple(corners[0] * (1 - t) + corners[3] * t),
                tuple(corners[1] * (1 - t) + corners[2] * t),
            ]
            draw.line(ends, fill=(120, 120, 130))
    return image


def _background(rng, width, height):
    makers = (_plain, _texture, _pattern, _outdoors, _indoors, _tabletop)
    made = _pick(rng, makers, (0.12, 0.17, 0.16, 0.21, 0.21, 0.13))(rng, width, height)
    return made if isinstance(made, Image.Image) else _to_image(made)


# ------------------------------------------------------------------------------ drawing tools


def _rectangle(width, height, angle=0.0):
    """Corners (4, 2) of a turned rectangle about the origin."""
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * np.array([width, height]) / 2
    cos, sin = math.cos(angle), math.sin(angle)
    return corners @ np.array([[cos, sin], [-sin, cos]])


def _about(i, j, angle):
    """Rotation (3, 3) that turns axis `i` towards axis `j`."""
    matrix = np.eye(3)
    matrix[[i, j], [i, j]] = math.cos(angle)
    matrix[j, i], matrix[i, j] = math.sin(angle), -math.sin(angle)
    return matrix


class _Tile:
    """A transparent canvas about the origin, drawn enlarged and then reduced (antialiasing).

    All lengths are in units of `unit` pixels; the canvas extends by `reach` of them.
    """

    def __init__(self, reach, unit):
        self.unit = unit
        # Small things need the finest edges; large ones would cost the most for them.
        self.factor = 4 if reach * unit < 50 else 2
        self.half = math.ceil(reach * unit) + 2
        side = 2 * self.half * self.factor
        self.image = Image.new("RGBA", (side, side))
        self.draw = ImageDraw.Draw(self.image)

    def place(self, points):
        """Canvas coordinates of (n, 2) points about the origin."""
        points = np.asarray(points, dtype=float).reshape(-1, 2)
        return (points * self.unit + self.half) * self.factor

    def polygon(self, points, color):
        self.draw.polygon([tuple(p) for p in self.place(points)], fill=(*color, 255))

    def ellipse(self, center, radius_x, radius_y, color):
        low, high = self.place(
            [np.subtract(center, (radius_x, radius_y)), np.add(center, (radius_x, radius_y))]
        )
        self.draw.ellipse([*low, *high], fill=(*color, 255))

    def box(self, center, width, height, color, angle=0.0):
        self.polygon(_rectangle(width, height, angle) + np.asarray(center), color)

    def limb(self, start, end, radius_start, radius_end, color):
        """A tapered stroke with round ends."""
        start, end = np.asarray(start, float), np.asarray(end, float)
        along = end - start
        normal = np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-6)
        a, b = normal * radius_start, normal * radius_end
        self.polygon([start + a, end + b, end - b, start - a], color)
        self.ellipse(start, radius_start, radius_start, color)
        self.ellipse(end, radius_end, radius_end, color)

    def turn(self, angle):
        """Rotate what has been drawn, by degrees."""
        self.image = self.image.rotate(angle, Image.Resampling.BILINEAR)
        self.draw = ImageDraw.Draw(self.image)

    def finish(self):
        return self.image.reduce(self.factor)


class _Sprite(NamedTuple):
    """A finished drawing: RGBA picture, where its top left lies relative to the anchor."""

    image: Image.Image
    offset: tuple


def _sprite(tile, rng):
    """Reduce, crop, light and roughen a drawing; None if nothing is left of it."""
    image = tile.finish()
    box = image.getbbox()
    if box is None:
        return None
    image = image.crop(box)
    pixels = np.asarray(image).astype(np.float32)
    height, width = pixels.shape[:2]
    slope_x, slope_y = rng.uniform(-0.25, 0.25, 2)
    light = 1 + slope_x * np.linspace(-1, 1, width, dtype=np.float32)[None, :]
    light = light + slope_y * np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    grain = rng.integers(0, 256, (height, width), dtype=np.uint8).astype(np.float32)
    light += (grain / 255 - 0.5) * rng.uniform(0, 0.25)
    pixels[..., :3] *= light[..., None]
    lit = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    return _Sprite(lit, (box[0] - tile.half, box[1] - tile.half))


# ------------------------------------------------------------------------------ persons


def _direction(flex, spread, side):
    """Unit vector of a limb that hangs straight down at 0; degrees forward and outward."""
    flex, spread = math.radians(flex), math.radians(spread)
    return np.array(
        [
            side * math.sin(spread),
            math.cos(spread) * math.cos(flex),
            math.cos(spread) * math.sin(flex),
        ]
    )


def _pose(rng):
    """Angles in degrees: per side (left, right) hips, knees, shoulders, elbows; lean, roll."""
    kind = _pick(
        rng,
        ("stand", "walk", "run", "sit", "crouch", "gesture", "lie"),
        (0.34, 0.27, 0.08, 0.09, 0.04, 0.15, 0.03),
    )
    hip = rng.normal(0, 5, 2)
    knee = np.abs(rng.normal(0, 6, 2))
    arm, elbow = rng.normal(0, 12, 2), rng.uniform(0, 35, 2)
    spread, lean, roll = rng.uniform(3, 18, 2), rng.normal(0, 5), rng.normal(0, 4)
    if kind in ("walk", "run"):
        stride = rng.uniform(15, 35) if kind == "walk" else rng.uniform(30, 60)
        swing = stride * rng.choice([-1, 1]) * np.array([1, -1])
        hip, arm = swing, -swing * rng.uniform(0.5, 1.1)
        knee = rng.uniform(5, 25, 2) + np.maximum(-swing, 0) * rng.uniform(0.3, 1.3)
        if kind == "run":
            elbow, lean = rng.uniform(60, 110, 2), rng.uniform(5, 25)
    elif kind == "sit":
        hip, knee = rng.uniform(70, 100, 2), rng.uniform(60, 110, 2)
        arm, elbow = rng.uniform(0, 50, 2), rng.uniform(10, 90, 2)
    elif kind == "crouch":
        hip, knee, lean = rng.uniform(60, 110, 2), rng.uniform(90, 140, 2), rng.uniform(5, 40)
    elif kind == "gesture":
        arm, spread = rng.uniform(-20, 120, 2), rng.uniform(10, 150, 2)
        elbow = rng.uniform(0, 80, 2)
    elif kind == "lie":
        roll = rng.choice([-1, 1]) * rng.uniform(60, 110)
    if rng.random() < 0.4:  # one forearm raised, as if to look at something
        side = int(rng.integers(2))
        arm[side], elbow[side], spread[side] = rng.uniform((10, 70, 0), (50, 130, 25))
    limbs = {"hip": hip, "knee": knee, "arm": arm, "elbow": elbow, "spread": spread}
    return limbs | {"lean": lean, "roll": roll}


def _skeleton(rng, pose):
    """Joints as name to (x right, y down, z towards the viewer), in body heights.

    Forward kinematics in three dimensions about the pelvis, then the view: turned about the
    vertical, seen a little from above or below, rolled in the picture.
    """
    up = -_direction(-pose["lean"], rng.normal(0, 6), 1)
    chest = 0.29 * up
    joints = {"pelvis": np.zeros(3), "chest": chest, "neck": chest + 0.04 * up}
    joints["head"] = joints["neck"] + 0.085 * (up + rng.normal(0, 0.15, 3))
    joints["face"] = joints["head"] + np.array([0, 0, 0.05])
    for k, side in enumerate((-1, 1)):
        hip = np.array([side * 0.055, 0.0, 0.0])
        knee = hip + 0.245 * _direction(pose["hip"][k], rng.uniform(0, 12), side)
        ankle = knee + 0.235 * _direction(pose["hip"][k] - pose["knee"][k], rng.normal(2, 4), side)
        toe = ankle + np.array([side * 0.01, 0.02, 0.075])
        shoulder = chest + np.array([side * 0.1, 0.0, 0.0])
        spread = pose["spread"][k]
        elbow = shoulder + 0.165 * _direction(pose["arm"][k], spread, side)
        bend = pose["arm"][k] + pose["elbow"][k]
        hand = elbow + 0.16 * _direction(bend, spread * rng.uniform(0.2, 1.1), side)
        names = ("hip", "knee", "ankle", "toe", "shoulder", "elbow", "hand")
        points = (hip, knee, ankle, toe, shoulder, elbow, hand)
        joints |= {f"{name}{k}": point for name, point in zip(names, points, strict=True)}
    yaw = rng.uniform(-math.pi, math.pi) if rng.random() < 0.45 else rng.normal(0, 0.4)
    tilt, roll = rng.normal(0.08, 0.1), math.radians(pose["roll"])
    view = _about(0, 1, roll) @ _about(2, 1, tilt) @ _about(2, 0, yaw)
    return {name: view @ point for name, point in joints.items()}


def _outfit(rng):
    """Colours and cut of a person's clothes."""
    top = _vivid(rng)
    bottom = _pick(
        rng,
        (
            _near(rng, (45, 60, 95), 15),
            _near(rng, (40, 40, 44), 12),
            _near(rng, (165, 145, 115), 20),
            _color(rng),
        ),
    )
    hair = _near(
        rng,
        _pick(rng, ((24, 18, 15), (70, 45, 28), (140, 95, 50), (210, 180, 120), (160, 160, 160))),
        10,
    )
    return {
        "top": top,
        "bottom": bottom,
        "trim": _color(rng),
        "skin": _skin(rng),
        "hair": hair,
        "shoe": _near(rng, _pick(rng, ((30, 28, 28), (225, 225, 225), (110, 70, 40))), 15),
        "sleeve": _pick(rng, ("long", "short", "none"), (0.5, 0.35, 0.15)),
        "cut": _pick(rng, ("trousers", "shorts", "skirt", "coat"), (0.6, 0.15, 0.12, 0.13)),
        "decor": _pick(
            rng,
            ("none", "stripes", "open", "print", "bag", "backpack"),
            (0.42, 0.12, 0.12, 0.12, 0.12, 0.1),
        ),
        "head": _pick(
            rng,
            ("short", "long", "bun", "bald", "cap", "hood"),
            (0.4, 0.22, 0.08, 0.08, 0.14, 0.08),
        ),
        "build": rng.uniform(0.8, 1.35),
    }


def _draw_leg(tile, joints, k, outfit):
    b = outfit["build"]
    bare = outfit["cut"] in ("shorts", "skirt")
    lower = outfit["skin"] if bare else outfit["bottom"]
    upper = outfit["skin"] if outfit["cut"] == "skirt" else outfit["bottom"]
    hip, knee, ankle, toe = (joints[f"{name}{k}"][:2] for name in ("hip", "knee", "ankle", "toe"))
    tile.limb(ankle, toe, 0.024, 0.018, outfit["shoe"])
    tile.limb(knee, ankle, 0.036 * b, 0.025 * b, _tint(lower, 0.93))
    tile.limb(hip, knee, 0.052 * b, 0.038 * b, upper)
    if outfit["cut"] == "shorts":
        tile.limb(hip, hip * 0.3 + knee * 0.7, 0.054 * b, 0.05 * b, outfit["bottom"])


def _draw_arm(tile, joints, k, outfit):
    b = outfit["build"]
    shoulder, elbow, hand = (joints[f"{name}{k}"][:2] for name in ("shoulder", "elbow", "hand"))
    upper = outfit["skin"] if outfit["sleeve"] == "none" else outfit["top"]
    lower = outfit["top"] if outfit["sleeve"] == "long" else outfit["skin"]
    tile.ellipse(hand, 0.026, 0.028, outfit["skin"])
    tile.limb(elbow, hand * 0.88 + elbow * 0.12, 0.028 * b, 0.02 * b, _tint(lower, 0.95))
    tile.limb(shoulder, elbow, 0.035 * b, 0.029 * b, _tint(upper, 0.9))


def _draw_torso(tile, joints, outfit, rng):
    """Trunk with what is worn over the hips; the pelvis is the origin."""
    b, top, trim = outfit["build"], outfit["top"], outfit["trim"]
    chest, pelvis = joints["chest"][:2], joints["pelvis"][:2]
    shoulders = [joints[f"shoulder{k}"][:2] for k in range(2)]
    hips = [joints[f"hip{k}"][:2] for k in range(2)]
    if outfit["decor"] == "backpack" and joints["chest"][2] < joints["face"][2]:
        tile.limb(chest * 0.9, chest * 0.35, 0.1 * b, 0.1 * b, trim)
    tile.limb(*hips, 0.05 * b, 0.05 * b, outfit["bottom"])
    tile.limb(chest, pelvis, 0.065 * b, 0.062 * b, top)
    tile.limb(shoulders[0] * 0.94, shoulders[1] * 0.94, 0.042 * b, 0.042 * b, top)
    sides = [hip * 1.15 for hip in hips]
    tile.polygon([*shoulders, sides[1], sides[0]], top)
    if outfit["cut"] in ("skirt", "coat"):
        color = top if outfit["cut"] == "coat" else outfit["bottom"]
        length = rng.uniform(0.5, 1.1)
        knees = [joints[f"knee{k}"][:2] for k in range(2)]
        hems = [hip * (1.9 - length) + knee * length for hip, knee in zip(hips, knees, strict=True)]
        tile.polygon([hips[0] * 1.4, hips[1] * 1.4, hems[1], hems[0]], color)
        tile.limb(*hems, 0.025 * b, 0.025 * b, color)
    if outfit["decor"] == "stripes":
        for t in np.linspace(0.1, 0.9, int(rng.integers(3, 6))):
            ends = [a * (1 - t) + c * t for a, c in zip(shoulders, sides, strict=True)]
            tile.limb(*ends, 0.012, 0.012, trim)
    elif outfit["decor"] == "open":
        tile.polygon([chest * 1.05, sides[1] * 0.45, sides[0] * 0.45], trim)
    elif outfit["decor"] == "print":
        tile.ellipse(chest * 0.65, 0.05, 0.05, trim)
    elif outfit["decor"] == "bag":
        tile.limb(shoulders[0] * 0.8, hips[1] * 1.6, 0.011, 0.011, trim)
        tile.box(hips[1] * 1.6, 0.11, 0.13, trim)


def _draw_head(tile, joints, outfit):
    head, neck, chest = (joints[name][:2] for name in ("head", "neck", "chest"))
    facing = (joints["face"] - joints["head"]) / 0.05
    up = (head - chest) / max(float(np.hypot(*(head - chest))), 1e-6)
    across = np.array([-up[1], up[0]])
    r = 0.066
    style, hair, skin = outfit["head"], outfit["hair"], outfit["skin"]
    tile.limb(chest, neck, 0.032, 0.032, _tint(skin, 0.85))
    if style == "long":
        tile.limb(head, neck, r * 1.12, r * 1.05, hair)
    elif style == "hood":
        tile.limb(head, neck, r * 1.25, r * 1.2, _tint(outfit["top"], 0.85))
    elif style == "bun":
        tile.ellipse(head + up * r * 1.1 - facing[:2] * r * 0.5, r * 0.5, r * 0.5, hair)
    shell = skin if style == "bald" else hair
    tile.limb(head - up * r * 0.15, head + up * r * 0.2, r * 0.92, r * 0.98, shell)
    if facing[2] > -0.35:  # the face slides round the head with the view
        front = max(facing[2], 0.3)
        center = head + facing[:2] * r * 0.45 - up * r * 0.12
        wide = r * (0.45 + 0.4 * max(facing[2], 0.0))
        tile.limb(center - up * r * 0.4, center + up * r * 0.15, wide, wide * 1.05, skin)
        for side in (-0.33, 0.33):
            eye = center + across * side * r * front + up * r * 0.12
            tile.ellipse(eye, r * 0.11, r * 0.09, (30, 24, 22))
        tile.ellipse(center - up * r * 0.52, r * 0.2 * front, r * 0.06, (150, 70, 65))
    if style == "cap":
        tile.limb(head + up * r * 0.45, head + up * r * 0.5, r * 0.95, r * 0.8, outfit["trim"])
        brim = head + up * r * 0.35
        peak = brim + facing[:2] * r * 1.3
        tile.limb(brim, peak, r * 0.25, r * 0.15, _tint(outfit["trim"], 0.8))


def _person(rng, height):
    """Sprite of a figure about `height` pixels tall, and its hands relative to the anchor."""
    tile = _Tile(0.72, height)
    joints, outfit = _skeleton(rng, _pose(rng)), _outfit(rng)
    parts = [
        (joints["chest"][2] * 0.5, partial(_draw_torso, tile, joints, outfit, rng)),
        (joints["face"][2] + 0.02, partial(_draw_head, tile, joints, outfit)),
    ]
    for k in range(2):
        leg, arm = (partial(draw, tile, joints, k, outfit) for draw in (_draw_leg, _draw_arm))
        parts += [(joints[f"knee{k}"][2] - 0.1, leg), (joints[f"elbow{k}"][2], arm)]
    for _, draw in sorted(parts, key=lambda part: part[0]):  # the far ones first
        draw()
    hands = [(joints[f"hand{k}"][:2] * height, outfit["skin"]) for k in range(2)]
    return _sprite(tile, rng), hands


# ------------------------------------------------------------------------------ phones


def _icons(rng, draw, box, base):
    """Rows of coloured icons, or of keys, from the bottom up."""
    x0, _, x1, y1 = box
    keys = rng.random() < 0.33
    step = (x1 - x0) / (3 if keys else 4)
    for row in range(int(rng.integers(1, 7))):
        for x in np.arange(x0 + 0.2 * step, x1 - 0.5 * step, step):
            y = y1 - (row + 0.9) * step
            fill = (*(_tint(base, 1.5) if keys else _color(rng)), 255)
            draw.rounded_rectangle([x, y, x + 0.6 * step, y + 0.6 * step], step * 0.15, fill=fill)


def _bubbles(rng, draw, box, base):
    """Lines of a list, or the two sides of a chat."""
    x0, y0, x1, y1 = box
    w, h = x1 - x0, y1 - y0
    chat = rng.random() < 0.5
    y = y0 + 0.08 * h
    while y < y1 - 0.08 * h:
        size = rng.uniform(0.04, 0.1) * h
        left = x0 + (0.35 if chat and rng.random() < 0.5 else 0.08) * w
        shape = [left, y, left + rng.uniform(0.3, 0.57) * w, y + size]
        fill = (*_near(rng, (150, 160, 180), 45), 255)
        draw.rounded_rectangle(shape, size * 0.3, fill=fill)
        y += size * 1.5


def _photo(rng, draw, box, base):
    x0, y0, x1, y1 = box
    center, radius = rng.uniform((x0, y0), (x1, y1)), rng.uniform(0.1, 0.25) * (x1 - x0)
    draw.rectangle([x0, rng.uniform(0.7 * y0 + 0.3 * y1, y1), x1, y1], fill=(*_color(rng), 255))
    draw.ellipse([*(center - radius), *(center + radius)], fill=(*_color(rng), 255))


def _reflection(rng, draw, box, base):
    """What a dark screen shows: nothing, or a band of light."""
    x0, y0, x1, y1 = box
    top, bottom = x0 + rng.uniform(0, 0.6, 2) * (x1 - x0)
    band = rng.uniform(0, 0.4) * (x1 - x0)
    glow = (*_tint((60, 64, 72), rng.uniform(0.6, 2.2)), 255)
    draw.polygon([(top, y0), (top + band, y0), (bottom + band, y1), (bottom, y1)], fill=glow)


def _screen(rng, draw, box):
    """Fill a phone's screen."""
    content = _pick(rng, (_reflection, _icons, _bubbles, _photo), (0.22, 0.48, 0.25, 0.05))
    base = _vivid(rng)
    if content is _reflection:
        base = (14, 15, 19)
    elif content is _bubbles and rng.random() < 0.6:
        base = (240, 241, 244)
    draw.rectangle(box, fill=(*base, 255))
    content(rng, draw, box, base)


def _phone_front(rng, draw, width, height, body):
    side, ends = rng.uniform(0.03, 0.08) * width, rng.uniform(0.02, 0.13) * height
    old = ends > 0.075 * height
    _screen(rng, draw, [side, ends, width - side, height - ends])
    bright = (70, 72, 80) if sum(body) < 300 else (40, 40, 46)
    if old:  # button below, speaker above
        r = min(ends * 0.34, 0.1 * width)
        cx, cy = width / 2, height - ends / 2
        draw.ellipse([cx - r, cy - r, cx + r, cy + r], fill=(*bright, 255))
        draw.rectangle([0.4 * width, ends * 0.45, 0.6 * width, ends * 0.6], fill=(*bright, 255))
    else:  # camera hole or notch
        half = _pick(rng, (0.03, 0.12, 0.2)) * width
        draw.rounded_rectangle(
            [width / 2 - half, ends * 0.8, width / 2 + half, ends * 0.8 + 0.06 * width],
            0.03 * width,
            fill=(12, 12, 14, 255),
        )


def _phone_back(rng, draw, width, height, body):
    pad = 0.07 * width
    lens = rng.uniform(0.08, 0.12) * width
    count = int(rng.integers(1, 5))
    wide = rng.random() < 0.3
    island_w = (2.9 * lens * (count if wide else 1 + (count > 2))) + lens
    island_h = 2.9 * lens * (1 if wide else min(count, 2)) + lens
    x0 = pad if rng.random() < 0.7 else (width - island_w) / 2
    island = (*_tint(body, rng.uniform(0.55, 1.25)), 255)
    draw.rounded_rectangle([x0, pad, x0 + island_w, pad + island_h], lens, fill=island)
    for k in range(count):
        column, row = (k, 0) if wide else (k // 2, k % 2)
        cx, cy = (
            x0 + 0.5 * lens + (column + 0.5) * 2.9 * lens,
            pad + 0.5 * lens + (row + 0.5) * 2.9 * lens,
        )
        draw.ellipse([cx - lens, cy - lens, cx + lens, cy + lens], fill=(16, 17, 22, 255))
        draw.ellipse(
            [cx - lens / 3, cy - lens / 3, cx + lens / 3, cy + lens / 3], fill=(70, 80, 110, 255)
        )
    if rng.random() < 0.6:  # logo
        r, cy = 0.09 * width, height * rng.uniform(0.4, 0.6)
        mark = (*_tint(body, _pick(rng, (0.6, 1.4))), 255)
        draw.ellipse([width / 2 - r, cy - r, width / 2 + r, cy + r], fill=mark)
    if rng.random() < 0.3:  # pattern of a case
        band = height * rng.uniform(0.5, 0.9)
        draw.rectangle([0, band, width, band + 0.08 * height], fill=(*_color(rng), 255))


def _project(corners, rotation, distance):
    """Perspective view (n, 2) of 3-d points from `distance` in front of the origin."""
    turned = corners @ rotation.T
    return turned[:, :2] * (distance / (distance - turned[:, 2:]))


def _warp_onto(tile, flat, quad):
    """Draw a flat RGBA picture onto the tile so that its corners fall on `quad`."""
    width, height = flat.size
    target = tile.place(quad)
    source = [(0, 0), (width, 0), (width, height), (0, height)]
    rows, values = [], []
    # Pillow wants the way back, from target to source.
    for (x, y), (u, v) in zip(target, source, strict=True):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
        values += [u, v]
    coefficients = np.linalg.solve(np.array(rows), np.array(values))
    seen = flat.transform(
        tile.image.size,
        Image.Transform.PERSPECTIVE,
        coefficients.tolist(),
        Image.Resampling.BILINEAR,
    )
    tile.image.alpha_composite(seen)


def _slab(rng, length, aspect, body, draw_face, upright):
    """Sprite of a flat box, seen in perspective: its face over its sides."""
    width = length / aspect
    tile = _Tile(0.62 * math.hypot(length, width), 1)
    k = tile.factor
    flat = Image.new("RGBA", (max(round(width * k), 4), max(round(length * k), 8)))
    draw = ImageDraw.Draw(flat)
    radius = rng.uniform(0.03, 0.17) * flat.width
    draw.rounded_rectangle([0, 0, flat.width - 1, flat.height - 1], radius, fill=(*body, 255))
    draw_face(rng, draw, flat.width, flat.height, body)
    # What was drawn beyond the rounded corners goes.
    mask = Image.new("L", flat.size)
    ImageDraw.Draw(mask).rounded_rectangle(
        [0, 0, flat.width - 1, flat.height - 1], radius, fill=255
    )
    flat.putalpha(mask)

    roll = rng.normal(0, 0.3) if upright else rng.uniform(-math.pi, math.pi)
    pitch, yaw = rng.normal(0, 0.3, 2)
    rotation = _about(0, 1, roll) @ _about(2, 0, yaw) @ _about(1, 2, pitch)
    corners = (
        np.array(
            [[-width, -length, 0], [width, -length, 0], [width, length, 0], [-width, length, 0]]
        )
        / 2
    )
    quad = _project(corners, rotation, 3 * length)
    depth = np.array([0, 0, rng.uniform(0.04, 0.12) * width])
    rear = _project(corners - depth, rotation, 3 * length)
    inset = 1 - 0.5 * radius / flat.width
    edge = _tint(body, rng.uniform(0.5, 0.9))
    for i in range(4):  # sides of the box, as four quads
        j = (i + 1) % 4
        tile.polygon(np.array([quad[i], quad[j], rear[j], rear[i]]) * inset, edge)
    _warp_onto(tile, flat, quad)
    return _sprite(tile, rng)


def _phone(rng, length):
    """Sprite of a cell phone about `length` pixels long."""
    grey = int(rng.integers(12, 70))
    body = _pick(
        rng,
        ((grey, grey, grey + 4), (232, 232, 236), (186, 188, 194), (208, 174, 142), _color(rng)),
        (0.55, 0.20, 0.11, 0.08, 0.06),
    )
    face = _phone_front if rng.random() < 0.9 else _phone_back
    return _slab(rng, length, rng.uniform(1.8, 2.2), body, face, rng.random() < 0.75)


# ------------------------------------------------------------------------------ clutter


def _face_lines(rng, draw, width, height, body):
    """Cover of a book, a card, a packet: bars and a field, no screen."""
    if rng.random() < 0.6:
        y = rng.uniform(0.1, 0.7) * height
        draw.rectangle([0, y, width, y + rng.uniform(0.05, 0.3) * height], fill=(*_color(rng), 255))
    for _ in range(int(rng.integers(0, 4))):
        x, y = rng.uniform(0.1, 0.4) * width, rng.uniform(0.1, 0.9) * height
        bar = [x, y, x + rng.uniform(0.2, 0.5) * width, y + 0.04 * height]
        draw.rectangle(bar, fill=(*_tint(body, _pick(rng, (0.5, 1.6))), 255))


def _face_buttons(rng, draw, width, height, body):
    """Remote control or calculator: a grid of buttons, at times a display above it."""
    top = rng.uniform(0.08, 0.3)
    if rng.random() < 0.5:
        draw.rectangle(
            [0.12 * width, 0.05 * height, 0.88 * width, (top - 0.02) * height],
            fill=(150, 165, 150, 255),
        )
    columns, rows = int(rng.integers(2, 5)), int(rng.integers(4, 10))
    dx, dy = width / columns, (0.95 - top) * height / rows
    for row in range(rows):
        for column in range(columns):
            x, y = (column + 0.2) * dx, top * height + (row + 0.2) * dy
            fill = (*(_color(rng) if rng.random() < 0.15 else _tint(body, 1.9)), 255)
            draw.ellipse([x, y, x + 0.6 * dx, y + 0.6 * dy], fill=fill)


def _face_squares(rng, draw, width, height, body):
    """Chocolate, a waffle, a drain, a window: a grid of equal fields."""
    columns, rows = int(rng.integers(2, 4)), int(rng.integers(2, 7))
    fill = (*_tint(body, _pick(rng, (0.75, 1.3))), 255)
    for row in range(rows):
        for column in range(columns):
            x, y = (column + 0.1) * width / columns, (row + 0.1) * height / rows
            draw.rectangle([x, y, x + 0.8 * width / columns, y + 0.8 * height / rows], fill=fill)


def _flat_thing(rng, size):
    """Something flat and rectangular that is no phone."""
    face = _pick(rng, (_face_lines, _face_buttons, _face_squares))
    if face is _face_buttons:
        body, aspect = _near(rng, (45, 45, 50), 25), _pick(rng, (1.5, 2.6, 3.6))
    else:
        body, aspect = _color(rng), _pick(rng, (1.0, 1.3, 1.5, 1.8, 2.1, 2.6))
    return _slab(rng, size, aspect, body, face, rng.random() < 0.3)


def _clothes_rack(rng, tile):
    """Clothes without anybody in them: a coat on a stand, a tailor's dummy."""
    cloth = _color(rng)
    tile.limb((0, -0.4), (0, 0.48), 0.014, 0.014, (90, 70, 55))
    tile.box((0, 0.48), 0.24, 0.03, (80, 62, 50))
    top, hem, end = rng.uniform(0.1, 0.15), rng.uniform(0.09, 0.24), rng.uniform(0, 0.3)
    tile.polygon([(-top, -0.3), (top, -0.3), (hem, end), (-hem, end)], cloth)
    if rng.random() < 0.5:
        for side in (-top, top):
            tile.limb((side, -0.28), (side * 1.25, 0.02), 0.035, 0.028, _tint(cloth, 0.9))


def _lamp(rng, tile):
    width = rng.uniform(0.05, 0.14)
    tile.limb((0, -0.35), (0, 0.48), 0.016, 0.02, (75, 75, 80))
    shade = [(-width * 0.6, -0.48), (width * 0.6, -0.48), (width, -0.3), (-width, -0.3)]
    tile.polygon(shade, _near(rng, (235, 220, 170), 20))


def _road_sign(rng, tile):
    radius = rng.uniform(0.1, 0.17)
    tile.limb((0, -0.3), (0, 0.48), 0.014, 0.014, (130, 130, 135))
    tile.ellipse((0, -0.32), radius, radius, _color(rng))
    tile.box((0, -0.32), radius * 1.2, radius * 0.4, _color(rng))


def _cone(rng, tile):
    orange = _near(rng, (235, 95, 35), 10)
    tile.polygon([(-0.03, -0.4), (0.03, -0.4), (0.2, 0.4), (-0.2, 0.4)], orange)
    tile.box((0, 0), 0.24, 0.12, (235, 235, 235))
    tile.box((0, 0.42), 0.5, 0.05, _tint(orange, 0.9))


def _stacked(rng, tile):
    """Round shapes on each other: a pawn, a snowman, a vase."""
    color = _color(rng)
    for y, radius in ((0.25, 0.2), (0.0, 0.13), (-0.22, 0.1)):
        tile.ellipse((0, y), radius * rng.uniform(0.7, 1.1), radius * 1.15, _near(rng, color, 12))


def _cactus(rng, tile):
    green = _near(rng, (60, 120, 60), 22)
    tile.limb((0, -0.38), (0, 0.45), 0.08, 0.09, green)
    for side in (-0.2, 0.2):
        y = rng.uniform(-0.15, 0.15)
        tile.limb((0, y), (side, y), 0.05, 0.05, green)
        tile.limb((side, y), (side, y - 0.2), 0.05, 0.045, green)


def _animal(rng, tile):
    """Four legs, a trunk and a head in one colour, in shapes like those of a person."""
    coats = ((130, 95, 65), (60, 55, 52), (205, 185, 160), (170, 170, 175))
    color = _near(rng, _pick(rng, coats), 15)
    facing = _pick(rng, (-1, 1))
    rear, front = np.array([-0.26 * facing, 0.0]), np.array([0.22 * facing, 0.0])
    length = rng.uniform(0.22, 0.38)
    for joint in (rear, rear, front, front):
        foot = np.add(joint, (rng.uniform(-0.12, 0.12), length))
        tile.limb(joint, foot, 0.05, 0.025, _tint(color, rng.uniform(0.7, 1.0)))
    tile.limb(rear, front, 0.1, 0.12, color)
    head = np.add(front, (0.16 * facing, rng.uniform(-0.3, -0.1)))
    tile.limb(front, head, 0.08, 0.055, color)
    tile.limb(head, np.add(head, (0.1 * facing, 0.03)), 0.07, 0.035, _tint(color, 0.9))
    tail = np.add(rear, (-0.15 * facing, rng.uniform(-0.2, 0.1)))
    tile.limb(rear, tail, 0.03, 0.012, color)


def _plant(rng, tile):
    """A tree or a bush; bare branches look a little like arms."""
    bark, leaf = _near(rng, (95, 70, 48), 14), _near(rng, (70, 115, 50), 28)
    tile.limb((0, 0.5), (0, -0.1), 0.05, 0.035, bark)
    for _ in range(int(rng.integers(2, 6))):
        start = (0.0, rng.uniform(-0.1, 0.2))
        end = np.add(start, rng.uniform((-0.32, -0.3), (0.32, -0.1)))
        tile.limb(start, end, 0.028, 0.012, bark)
    if rng.random() < 0.75:
        for _ in range(int(rng.integers(6, 18))):
            center, radius = rng.normal(0, 0.14, 2) - (0, 0.2), rng.uniform(0.06, 0.16)
            tile.ellipse(center, radius, radius * 0.9, _tint(leaf, rng.uniform(0.65, 1.35)))


def _seat(rng, tile):
    """A chair or a table."""
    wood = _near(rng, (120, 90, 62), 35)
    width = _pick(rng, (0.32, 0.6))
    for x in np.array([-0.5, -0.25, 0.25, 0.5]) * width:
        tile.limb((x, 0.05), (x * 1.08, 0.48), 0.025, 0.02, _tint(wood, 0.85))
    tile.box((0, 0.05), width * 1.2, 0.08, wood)
    if width < 0.5:
        tile.box((0, -0.25), width * 1.1, 0.4, _tint(wood, 1.15))


def _monitor(rng, tile):
    tile.box((0, 0.32), 0.1, 0.2, (70, 70, 74))
    tile.box((0, 0.42), 0.4, 0.05, (60, 60, 64))
    tile.box((0, -0.05), 1.0, 0.6, (28, 28, 32))
    tile.box((0, -0.05), 0.93, 0.53, _color(rng))


def _panel(rng, tile):
    color = _color(rng)
    tile.box((0, 0), 0.5, 1.0, color)
    for y in (-0.22, 0.22):
        tile.box((0, y), 0.34, 0.34, _tint(color, 0.8))


def _ball(rng, tile):
    tile.ellipse((0, 0), 0.5, 0.5, _color(rng))
    tile.limb((-0.3, -0.1), (0.3, 0.1), 0.06, 0.06, _color(rng))
    tile.turn(rng.uniform(-180, 180))


def _blob(rng, tile):
    angles = np.linspace(0, 2 * math.pi, int(rng.integers(5, 14)), endpoint=False)
    radii = rng.uniform(0.2, 0.5, len(angles))
    tile.polygon(np.stack([np.cos(angles) * radii, np.sin(angles) * radii], axis=1), _color(rng))


def _bottle(rng, tile):
    glass = _color(rng)
    tile.limb((0, -0.05), (0, 0.38), 0.11, 0.12, glass)
    tile.limb((0, -0.42), (0, -0.1), 0.04, 0.06, glass)
    tile.box((0, 0.18), 0.22, 0.2, _color(rng))
    if rng.random() < 0.5:
        tile.turn(rng.uniform(-180, 180))


def _stick(rng, tile):
    tile.limb((-0.48, 0), (0.48, 0), *rng.uniform(0.01, 0.05, 2), _color(rng))
    tile.turn(rng.uniform(-180, 180))


def _cup(rng, tile):
    color = _color(rng)
    tile.ellipse((0.28, 0), 0.16, 0.18, color)
    tile.box((0, 0), 0.55, 0.65, color)
    tile.ellipse((0, -0.32), 0.27, 0.06, _tint(color, 0.6))


# What is neither a person nor a phone, with how often each is drawn. The upright ones have a
# person's proportions, the flat one a phone's.
FLAT_SHARE = 0.04
THINGS = (
    *((maker, 3) for maker in (_clothes_rack, _lamp, _road_sign, _cone, _stacked, _cactus)),
    *((maker, 7) for maker in (_animal, _plant)),
    *((maker, 3) for maker in (_monitor, _panel)),
    *((maker, 5) for maker in (_seat, _ball, _blob, _bottle, _stick, _cup)),
)


def _clutter(rng, size):
    """Sprite of something else, about `size` pixels large."""
    if rng.random() < FLAT_SHARE:
        return _flat_thing(rng, size)
    weights = np.array([weight for _, weight in THINGS])
    maker = THINGS[int(rng.choice(len(THINGS), p=weights / weights.sum()))][0]
    tile = _Tile(0.72, size)
    maker(rng, tile)
    return _sprite(tile, rng)


# ------------------------------------------------------------------------------ scenes


class _Scene:
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
    tile = _Tile(0.5, length)
    side = _pick(rng, (-1, 1))
    for k in range(int(rng.integers(2, 5))):
        y = k * 0.11 - 0.1
        tile.limb((side * 0.3, y), (side * 0.1, y + 0.02), 0.045, 0.04, skin)
    return _sprite(tile, rng)


def _add_person(rng, scene, hands):
    size = _log_uniform(rng, *PERSON_HEIGHT) * scene.size[1]
    sprite, points = _person(rng, size)
    anchor = _spot(rng, scene, 0.03, 0.25, 0.4 * size)
    if sprite is None or not scene.add(sprite, anchor, PERSON):
        return False
    number = len(scene.full)
    hands += [(anchor + point, size, skin, number) for point, skin in points]
    return True


def _add_phone(rng, scene, hands):
    long = max(scene.size)
    length = _log_uniform(rng, *PHONE_LENGTH) * long
    held = [hand for hand in hands if (hand[0] > 0).all() and (hand[0] < scene.size).all()]
    holder = held[int(rng.integers(len(held)))] if held and rng.random() < 0.35 else None
    anchor = _spot(rng, scene, 0.03, 0.25, 0.8 * length)
    if holder is not None:
        length = max(_log_uniform(rng, 0.12, 0.25) * holder[1], PHONE_LENGTH[0] * long)
        anchor = holder[0] + rng.normal(0, 0.1 * length, 2)
    sprite = _phone(rng, length)
    if sprite is None or not scene.add(sprite, anchor, PHONE):
        return False
    if holder is not None and rng.random() < 0.6:
        fingers = _fingers(rng, length, holder[2])
        if fingers is not None:  # part of the person; left out where they would hide too much
            scene.add(fingers, anchor, number=holder[3])
    return True


def _add_clutter(rng, scene, low, high, near_chance):
    size = _log_uniform(rng, low, high) * min(scene.size)
    sprite = _clutter(rng, size)
    return sprite is not None and scene.add(sprite, _spot(rng, scene, 0.0, near_chance, 0.4 * size))


def _camera(rng, picture):
    """Light, contrast, white balance, blur and noise of a photograph."""
    pixels = np.asarray(picture).astype(np.float32)
    height, width = pixels.shape[:2]
    pixels = (pixels - 128) * rng.uniform(0.8, 1.15) + 128 + rng.normal(0, 12)
    pixels *= rng.normal(1, 0.05, 3).astype(np.float32)
    if rng.random() < 0.35:  # uneven light
        glow = 0.7 + 0.5 * _clouds(rng, width, height, 2, 1)
        pixels *= glow[..., None]
    picture = _to_image(pixels)
    blur = rng.random()
    if blur < 0.3:
        picture = picture.filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 1.0)))
    elif blur < 0.4:  # shaken
        kernel = np.zeros((5, 5))
        steps = np.arange(5)
        kernel[_pick(rng, (steps, 4 - steps, np.full(5, 2))), steps] = 1
        picture = picture.filter(ImageFilter.Kernel((5, 5), kernel.ravel().tolist()))
    # Sums of two uniform draws: nearly normal, and several times faster to draw.
    shape = (height, width, 1 if rng.random() < 0.4 else 3)
    noise = rng.integers(0, 256, shape, dtype=np.uint8).astype(np.int16)
    noise += rng.integers(0, 256, shape, dtype=np.uint8)
    return _to_image(
        np.asarray(picture) + (noise - 255) * np.float32(rng.uniform(0.005, 0.055)) + 0.5
    )


def _random_size(rng):
    """Width and height: the usual proportions, short side at least 240, long at most 480."""
    proportion = _pick(rng, (4 / 3, 3 / 2, 16 / 9, 1.0), (0.52, 0.16, 0.1, 0.22))
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
    scene = _Scene(_background(rng, width, height))
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


# ------------------------------------------------------------------------------ files


def _write_json(path, data):
    """Write a file completely or not at all."""
    partial_path = path.with_name(path.name + ".part")
    partial_path.write_text(json.dumps(data), encoding="utf-8")
    os.replace(partial_path, path)


def _image_name(split, index):
    # Numbers of the two parts differ, so that pictures can be copied into one folder.
    return f"{index + 1 + (1_000_000 if split else 0):012d}.jpg"


def _draw_file(root, seed, split, index):
    """Draw and write one picture; its entry and those of its annotations, not numbered yet."""
    rng = np.random.default_rng([seed, split, index])
    image, objects = sample_scene(rng)
    name = _image_name(split, index)
    quality = int(rng.integers(75, 95))
    Image.fromarray(image).save(root / "images" / SPLITS[split] / name, quality=quality)
    entry = {
        "id": int(name[:-4]),
        "file_name": name,
        "width": image.shape[1],
        "height": image.shape[0],
    }
    annotations = [
        {
            "image_id": entry["id"],
            "category_id": thing.category_id,
            "bbox": list(thing.bbox),
            "area": thing.area,
            "iscrowd": 0,
            "visible": round(thing.visible, 3),
        }
        for thing in objects
    ]
    return entry, annotations


def _is_complete(root, settings):
    """Whether `root` holds the whole set; FileExistsError if it holds something else."""
    marker = root / MARKER
    if not marker.exists():
        foreign = [name for name in ("annotations", "images") if (root / name).exists()]
        if foreign:
            raise FileExistsError(
                f"{root} holds {' and '.join(foreign)} that were not drawn here (no {MARKER}); "
                "choose another folder"
            )
        return False
    if json.loads(marker.read_text(encoding="utf-8")) != {**settings, "complete": True}:
        return False
    for split, name in enumerate(SPLITS):
        if not (root / "annotations" / f"instances_{name}.json").is_file():
            return False
        present = {entry.name for entry in os.scandir(root / "images" / name)}
        if any(_image_name(split, k) not in present for k in range(settings[f"num_{name}"])):
            return False
    return True


def generate_dataset(root, num_train=1200, num_val=300, seed=0, jobs=1):
    """Draw a data set, unless the folder holds it already.

    Writes ``images/{train,val}/<id>.jpg``, ``annotations/instances_{train,val}.json`` and a
    marker with the settings, by which a later call sees that nothing is left to do.

    Parameters
    ----------
    root : path-like
        Folder; made if need be. A set drawn there with other settings is replaced.
    num_train, num_val : int
        Pictures of each part.
    seed : int
    jobs : int
        Processes; the result does not depend on it.

    Returns
    -------
    bool
        False if the set was there already.

    Raises
    ------
    FileExistsError
        The folder holds images or annotations this function did not write.
    ValueError
        A number is out of range.
    """
    if min(num_train, num_val, jobs) < 1 or seed < 0:
        raise ValueError(
            f"num_train={num_train}, num_val={num_val}, jobs={jobs} must be positive and "
            f"seed={seed} not negative"
        )
    root = Path(root)
    settings = {"version": VERSION, "num_train": num_train, "num_val": num_val, "seed": seed}
    if _is_complete(root, settings):
        return False
    (root / "annotations").mkdir(parents=True, exist_ok=True)
    _write_json(root / MARKER, {**settings, "complete": False})
    for split, name in enumerate(SPLITS):
        folder = root / "images" / name
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            if re.fullmatch(r"\d{12}\.jpg", old.name):
                old.unlink()
        _generate_split(root, seed, split, settings[f"num_{name}"], jobs)
    _write_json(root / MARKER, {**settings, "complete": True})
    return True


def _generate_split(root, seed, split, count, jobs):
    draw = partial(_draw_file, root, seed, split)
    if jobs == 1:
        drawn = [draw(index) for index in range(count)]
    else:
        # Forking is not safe where JAX has started threads.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(jobs, mp_context=context) as pool:
            drawn = list(pool.map(draw, range(count), chunksize=16))
    annotations = [annotation for _, found in drawn for annotation in found]
    data = {
        "info": {"description": "synthetic persons and cell phones", "version": str(VERSION)},
        "licenses": [],
        "images": [entry for entry, _ in drawn],
        "annotations": [{"id": k + 1, **annotation} for k, annotation in enumerate(annotations)],
        "categories": CATEGORIES,
    }
    _write_json(root / "annotations" / f"instances_{SPLITS[split]}.json", data)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", help="folder to write")
    parser.add_argument("--train", type=int, default=1200, help="training images")
    parser.add_argument("--val", type=int, default=300, help="validation images")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    options = parser.parse_args(arguments)
    try:
        drawn = generate_dataset(
            options.out, options.train, options.val, options.seed, options.jobs
        )
    except (FileExistsError, ValueError) as error:
        parser.error(str(error))
    what = f"{options.train} training and {options.val} validation images in {options.out}"
    print(f"drew {what}" if drawn else f"nothing to do: {what} exist already")


if __name__ == "__main__":
    main()
