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
    """Draw any colour; greys and muted ones more often than a uniform choice has them."""
    value, saturation = rng.uniform(15, 250), rng.uniform(0, 1) ** 1.5
    hue = rng.uniform(0, 6) + np.array([0.0, 4.0, 2.0])
    ramp = np.clip(np.abs(hue % 6 - 3) - 1, 0, 1)
    return tuple(int(v) for v in value * (1 - saturation * (1 - ramp)))


def vivid(rng):
    """Draw a colour that is neither dark nor grey."""
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
    """Return the corners (4, 2) of a turned rectangle about the origin."""
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * np.array([width, height]) / 2
    cos, sin = math.cos(angle), math.sin(angle)
    return corners @ np.array([[cos, sin], [-sin, cos]])


def axis_rotation(i, j, angle):
    """Return the rotation (3, 3) that turns axis `i` towards axis `j`."""
    matrix = np.eye(3)
    matrix[[i, j], [i, j]] = math.cos(angle)
    matrix[j, i], matrix[i, j] = math.sin(angle), -math.sin(angle)
    return matrix


class Sprite(NamedTuple):
    """A finished drawing: RGBA picture, where its top left lies relative to the anchor."""

    image: Image.Image
    offset: tuple


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
        """Return canvas coordinates of (n, 2) points about the origin."""
        return (np.asarray(points) * self.unit + self.half) * self.factor

    def polygon(self, points, color):
        self.draw.polygon([tuple(p) for p in self.place(points)], fill=color)

    def ellipse(self, center, radius_x, radius_y, color):
        low, high = self.place(
            [np.subtract(center, (radius_x, radius_y)), np.add(center, (radius_x, radius_y))]
        )
        self.draw.ellipse([*low, *high], fill=color)

    def box(self, center, width, height, color):
        self.polygon(rectangle(width, height) + np.asarray(center), color)

    def limb(self, start, end, radius_start, radius_end, color):
        """Draw a tapered stroke with round ends."""
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

    def warp(self, flat, quad):
        """Draw a flat RGBA picture so that its corners fall on the four points `quad`."""
        width, height = flat.size
        rows, values = [], []
        # Pillow wants the way back, from target to source.
        source = [(0, 0), (width, 0), (width, height), (0, height)]
        for (x, y), (u, v) in zip(self.place(quad), source, strict=True):
            rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
            rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
            values += [u, v]
        coefficients = np.linalg.solve(rows, values).tolist()
        seen = flat.transform(
            self.image.size, Image.Transform.PERSPECTIVE, coefficients, Image.Resampling.BILINEAR
        )
        self.image.alpha_composite(seen)

    def finish(self, rng):
        """Reduce, crop, light and roughen the drawing to a sprite; None if nothing is left."""
        image = self.image.reduce(self.factor)
        box = image.getbbox()
        if box is None:
            return None
        pixels = np.asarray(image.crop(box)).astype(np.float32)
        height, width = pixels.shape[:2]
        slope_x, slope_y = rng.uniform(-0.25, 0.25, 2)
        light = 1 + slope_x * np.linspace(-1, 1, width, dtype=np.float32)[None, :]
        light = light + slope_y * np.linspace(-1, 1, height, dtype=np.float32)[:, None]
        light += rng.uniform(-0.5, 0.5, (height, width)) * rng.uniform(0, 0.25)
        pixels[..., :3] *= light[..., None]
        return Sprite(to_image(pixels), (box[0] - self.half, box[1] - self.half))


def slab(rng, length, aspect, body, draw_face, upright):
    """Return the sprite of a flat box, seen in perspective: its face over its sides."""
    width = length / aspect
    tile = Tile(0.62 * math.hypot(length, width), 1)
    flat = Image.new("RGBA", (max(round(width * tile.factor), 4), round(length * tile.factor) + 4))
    radius = rng.uniform(0.03, 0.17) * flat.width
    draw = ImageDraw.Draw(flat)
    draw.rectangle([0, 0, *flat.size], body)
    draw_face(rng, draw, *flat.size, body)
    corners = Image.new("L", flat.size)
    ImageDraw.Draw(corners).rounded_rectangle(
        [0, 0, flat.width - 1, flat.height - 1], radius, fill=255
    )
    flat.putalpha(corners)

    roll = rng.normal(0, 0.3) if upright else rng.uniform(-math.pi, math.pi)
    pitch, yaw = rng.normal(0, 0.3, 2)
    rotation = axis_rotation(0, 1, roll) @ axis_rotation(2, 0, yaw) @ axis_rotation(1, 2, pitch)
    front = np.hstack([rectangle(width, length), np.zeros((4, 1))])
    rear = front - [0, 0, rng.uniform(0.04, 0.12) * width]
    turned = np.stack([front, rear]) @ rotation.T
    # Perspective of an eye at three lengths from the middle.
    near_quad, far_quad = turned[..., :2] * 3 * length / (3 * length - turned[..., 2:])
    inset = 1 - 0.5 * radius / flat.width
    edge = tint(body, rng.uniform(0.5, 0.9))
    for i in range(4):
        sides = [near_quad[i - 1], near_quad[i], far_quad[i], far_quad[i - 1]]
        tile.polygon(np.array(sides) * inset, edge)
    tile.warp(flat, near_quad)
    return tile.finish(rng)
