"""Colours, smooth noise, and what figures and things are drawn on."""

import math
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw


def pick(rng, options, chances=None):
    return options[int(rng.choice(len(options), p=chances))]


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def any_color(rng):
    """Any colour; greys and muted ones more often than a uniform choice has them."""
    value, saturation = rng.uniform(15, 250), rng.uniform(0, 1) ** 1.5
    hue = rng.uniform(0, 6) + np.array([0.0, 4.0, 2.0])
    ramp = np.clip(np.abs(hue % 6 - 3) - 1, 0, 1)
    return tuple(int(v) for v in value * (1 - saturation * (1 - ramp)))


def vivid(rng):
    """A colour that is neither dark nor grey."""
    return max((any_color(rng) for _ in range(3)), key=lambda color: max(color) - 0.5 * min(color))


def tint(color, factor):
    return tuple(int(min(max(c * factor, 0), 255)) for c in color)


def near(rng, color, spread):
    return tuple(int(v) for v in np.clip(np.add(color, rng.normal(0, spread, 3)), 0, 255))


def skin_color(rng):
    light, dark = np.array([250, 214, 186]), np.array([74, 46, 32])
    t = rng.uniform(0, 1)
    # The way between the two bends towards brown.
    mixed = light * (1 - t) + dark * t + np.array([20, 0, -18]) * 4 * t * (1 - t)
    return near(rng, mixed, 6)


def cloud_noise(rng, width, height, cells, octaves, falloff=0.55):
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


def blend(first, second, share):
    """Mix two colours, or pictures, by a (height, width) share of the second."""
    share = share[..., None].astype(np.float32)
    return np.asarray(first, np.float32) * (1 - share) + np.asarray(second, np.float32) * share


def to_image(array):
    return Image.fromarray(np.clip(array, 0, 255).astype(np.uint8))


def rectangle(width, height, angle=0.0):
    """Corners (4, 2) of a turned rectangle about the origin."""
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * np.array([width, height]) / 2
    cos, sin = math.cos(angle), math.sin(angle)
    return corners @ np.array([[cos, sin], [-sin, cos]])


def about(i, j, angle):
    """Rotation (3, 3) that turns axis `i` towards axis `j`."""
    matrix = np.eye(3)
    matrix[[i, j], [i, j]] = math.cos(angle)
    matrix[j, i], matrix[i, j] = math.sin(angle), -math.sin(angle)
    return matrix


class Tile:
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
        self.polygon(rectangle(width, height, angle) + np.asarray(center), color)

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


class Sprite(NamedTuple):
    """A finished drawing: RGBA picture, where its top left lies relative to the anchor."""

    image: Image.Image
    offset: tuple


def finish(tile, rng):
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
    return Sprite(lit, (box[0] - tile.half, box[1] - tile.half))


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


def slab(rng, length, aspect, body, draw_face, upright):
    """Sprite of a flat box, seen in perspective: its face over its sides."""
    width = length / aspect
    tile = Tile(0.62 * math.hypot(length, width), 1)
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
    rotation = about(0, 1, roll) @ about(2, 0, yaw) @ about(1, 2, pitch)
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
    edge = tint(body, rng.uniform(0.5, 0.9))
    for i in range(4):  # sides of the box, as four quads
        j = (i + 1) % 4
        tile.polygon(np.array([quad[i], quad[j], rear[j], rear[i]]) * inset, edge)
    _warp_onto(tile, flat, quad)
    return finish(tile, rng)
