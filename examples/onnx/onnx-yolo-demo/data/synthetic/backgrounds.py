"""Backgrounds of the drawn pictures."""

import math

import numpy as np
from data.synthetic.canvas import (
    any_color,
    blend,
    cloud_noise,
    near,
    pick,
    rectangle,
    tint,
    to_image,
)
from PIL import Image, ImageDraw


def _plain(rng, width, height):
    """Two or three colours running into each other, with soft blotches."""
    angle = rng.uniform(0, 2 * math.pi)
    x = np.linspace(-1, 1, width, dtype=np.float32)[None, :] * math.cos(angle)
    y = np.linspace(-1, 1, height, dtype=np.float32)[:, None] * math.sin(angle)
    ramp = np.clip((x + y) * rng.uniform(0.3, 1.0) + 0.5, 0, 1)
    picture = blend(any_color(rng), any_color(rng), ramp)
    return blend(picture, any_color(rng), 0.5 * cloud_noise(rng, width, height, 3, 2))


def _texture(rng, width, height):
    """Grass, gravel, plaster, camouflage: noise between several colours."""
    base = any_color(rng)
    other = near(rng, base, rng.uniform(20, 90))
    noise = cloud_noise(rng, width, height, int(rng.integers(3, 30)), 4, rng.uniform(0.5, 0.95))
    if rng.random() < 0.35:  # hard-edged patches
        noise = np.round(noise * rng.integers(2, 6)) / 5
    picture = blend(base, other, np.clip(noise * 1.4 - 0.2, 0, 1))
    return picture * (0.7 + 0.6 * cloud_noise(rng, width, height, 2, 2))[..., None]


def _pattern(rng, width, height):
    """Wallpaper, tiles, planks, bricks, checks."""
    angle = rng.uniform(0, math.pi) if rng.random() < 0.5 else 0.0
    x = np.arange(width, dtype=np.float32)[None, :]
    y = np.arange(height, dtype=np.float32)[:, None]
    u = x * math.cos(angle) + y * math.sin(angle)
    v = y * math.cos(angle) - x * math.sin(angle)
    period = rng.uniform(9, 60)
    kind = pick(rng, ("stripes", "checks", "bricks", "diamonds", "plaid"))
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
    base = any_color(rng)
    other = near(rng, base, 45) if rng.random() < 0.6 else any_color(rng)
    picture = blend(base, other, np.broadcast_to(share, (height, width)))
    return picture * (0.75 + 0.5 * cloud_noise(rng, width, height, 3, 3))[..., None]


def _outdoors(rng, width, height):
    """Sky, a skyline or trees, and ground."""
    horizon = int(height * rng.uniform(0.2, 0.7))
    sky = near(
        rng, pick(rng, ((120, 170, 230), (200, 205, 210), (235, 170, 120), (35, 40, 70))), 20
    )
    ground = near(
        rng, pick(rng, ((85, 120, 60), (125, 120, 115), (190, 170, 130), (230, 232, 238))), 22
    )
    picture = np.empty((height, width, 3), dtype=np.float32)
    clouds = np.clip(cloud_noise(rng, width, horizon, 4, 4) * 2 - 0.9, 0, 0.8)
    picture[:horizon] = blend(sky, tint(sky, 1.3), clouds)
    rough = cloud_noise(rng, width, height - horizon, int(rng.integers(8, 50)), 3, 0.8)
    picture[horizon:] = np.asarray(ground, np.float32) * (0.6 + 0.7 * rough[..., None])
    image = to_image(picture)
    draw = ImageDraw.Draw(image)
    x = -rng.uniform(0, 40)
    built = rng.random() < 0.55
    while x < width:
        w, h = rng.uniform(0.05, 0.22) * width, rng.uniform(0.06, 0.5) * horizon
        color = near(rng, (125, 112, 105) if built else (60, 90, 50), 28)
        if built:
            draw.rectangle([x, horizon - h, x + w, horizon], fill=color)
            _windows(rng, draw, (x, horizon - h, x + w, horizon), color)
        else:
            draw.ellipse([x, horizon - h, x + w, horizon + h * 0.3], fill=color)
            draw.ellipse(
                [x + w * 0.3, horizon - h * 0.8, x + w * 1.4, horizon + h * 0.2],
                fill=tint(color, 0.85),
            )
        x += w * rng.uniform(0.7, 1.6)
    if rng.random() < 0.5:  # road or path
        vanish, middle = rng.uniform(0, width), rng.uniform(0, width)
        spread = rng.uniform(0.2, 0.8) * width
        corners = [(vanish, horizon), (middle + spread, height), (middle - spread, height)]
        draw.polygon(corners, fill=near(rng, (105, 105, 110), 15))
        draw.line([(vanish, horizon), (middle, height)], fill=(220, 215, 190), width=2)
    return image


def _windows(rng, draw, box, wall):
    """Rows of lit and dark windows on a facade."""
    x0, y0, x1, y1 = box
    step_x, step_y = rng.uniform(7, 16, 2)
    for row in range(int((y1 - y0) / step_y)):
        for column in range(int((x1 - x0) / step_x)):
            x, y = x0 + (column + 0.25) * step_x, y0 + (row + 0.25) * step_y
            fill = (245, 225, 150) if rng.random() < 0.2 else tint(wall, 0.55)
            draw.rectangle([x, y, x + step_x * 0.5, y + step_y * 0.55], fill=fill)


def _indoors(rng, width, height):
    """Wall and floor with a door, a window, shelves or pictures."""
    edge = int(height * rng.uniform(0.5, 0.88))
    wall, floor = near(rng, (190, 180, 165), 38), near(rng, (130, 100, 75), 35)
    picture = np.empty((height, width, 3), dtype=np.float32)
    picture[:edge] = wall * (0.8 + 0.35 * cloud_noise(rng, width, edge, 2, 3))[..., None]
    picture[edge:] = floor * (0.7 + 0.5 * cloud_noise(rng, width, height - edge, 12, 3))[..., None]
    image = to_image(picture)
    draw = ImageDraw.Draw(image)
    vanish = rng.uniform(0, width)
    for x in np.arange(-width, 2 * width, rng.uniform(20, 70)):
        draw.line([(vanish + (x - vanish) * 0.5, edge), (x, height)], fill=tint(floor, 0.7))
    draw.rectangle(
        [0, edge - rng.uniform(2, 8), width, edge], fill=tint(wall, rng.uniform(0.5, 1.3))
    )
    for _ in range(int(rng.integers(0, 4))):
        w, h = rng.uniform(0.1, 0.35) * width, rng.uniform(0.12, 0.45) * height
        x, y = rng.uniform(0, width - w), rng.uniform(0, max(edge - h, 1))
        frame = near(rng, (110, 85, 65), 45)
        if rng.random() < 0.35:  # door: reaches the floor
            y, h = edge - h * 1.5, h * 1.5
        draw.rectangle([x, y, x + w, y + h], fill=any_color(rng), outline=frame, width=3)
        kind = rng.random()
        if kind < 0.35:  # shelf of books
            for shelf in np.linspace(y, y + h, int(rng.integers(2, 5)), endpoint=False):
                depth, at = h / 4, x + 3
                while at < x + w - 6:
                    thick = rng.uniform(3, 8)
                    draw.rectangle(
                        [at, shelf + rng.uniform(0, depth / 3), at + thick, shelf + depth],
                        fill=any_color(rng),
                    )
                    at += thick + rng.uniform(0, 3)
        elif kind < 0.7:  # window cross
            draw.line([(x + w / 2, y), (x + w / 2, y + h)], fill=frame, width=2)
            draw.line([(x, y + h / 2), (x + w, y + h / 2)], fill=frame, width=2)
    return image


def _tabletop(rng, width, height):
    """Wood, cloth or stone seen from above, with papers lying on it."""
    grain = cloud_noise(rng, max(width // 12, 8), height, int(rng.integers(15, 60)), 2)
    stretched = to_image(grain * 255).resize((width, height), Image.Resampling.BICUBIC)
    share = np.asarray(stretched, dtype=np.float32) / 255
    base = near(rng, pick(rng, ((150, 105, 65), (90, 62, 45), (205, 190, 165), (70, 72, 78))), 22)
    image = to_image(blend(tint(base, 0.7), tint(base, 1.15), share))
    draw = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(0, 4))):
        center, side = rng.uniform(0, [width, height]), rng.uniform(0.15, 0.5) * height
        corners = rectangle(side, side * rng.uniform(0.5, 0.8), rng.uniform(0, math.pi)) + center
        draw.polygon([tuple(p) for p in corners], fill=near(rng, (225, 222, 212), 18))
        for t in np.linspace(0.15, 0.85, int(rng.integers(3, 9))):
            ends = [
                tuple(corners[0] * (1 - t) + corners[3] * t),
                tuple(corners[1] * (1 - t) + corners[2] * t),
            ]
            draw.line(ends, fill=(120, 120, 130))
    return image


def background(rng, width, height):
    makers = (_plain, _texture, _pattern, _outdoors, _indoors, _tabletop)
    made = pick(rng, makers, (0.12, 0.17, 0.16, 0.21, 0.21, 0.13))(rng, width, height)
    return made if isinstance(made, Image.Image) else to_image(made)
