"""Cell phones, and other flat things, seen from any side."""

import math

import numpy as np
from data.synthetic.canvas import Tile, about, any_color, finish, near, pick, tint, vivid
from PIL import Image, ImageDraw


def _icons(rng, draw, box, base):
    """Rows of coloured icons, or of keys, from the bottom up."""
    x0, _, x1, y1 = box
    keys = rng.random() < 0.33
    step = (x1 - x0) / (3 if keys else 4)
    for row in range(int(rng.integers(1, 7))):
        for x in np.arange(x0 + 0.2 * step, x1 - 0.5 * step, step):
            y = y1 - (row + 0.9) * step
            fill = (*(tint(base, 1.5) if keys else any_color(rng)), 255)
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
        fill = (*near(rng, (150, 160, 180), 45), 255)
        draw.rounded_rectangle(shape, size * 0.3, fill=fill)
        y += size * 1.5


def _photo(rng, draw, box, base):
    x0, y0, x1, y1 = box
    center, radius = rng.uniform((x0, y0), (x1, y1)), rng.uniform(0.1, 0.25) * (x1 - x0)
    draw.rectangle([x0, rng.uniform(0.7 * y0 + 0.3 * y1, y1), x1, y1], fill=(*any_color(rng), 255))
    draw.ellipse([*(center - radius), *(center + radius)], fill=(*any_color(rng), 255))


def _reflection(rng, draw, box, base):
    """What a dark screen shows: nothing, or a band of light."""
    x0, y0, x1, y1 = box
    top, bottom = x0 + rng.uniform(0, 0.6, 2) * (x1 - x0)
    band = rng.uniform(0, 0.4) * (x1 - x0)
    glow = (*tint((60, 64, 72), rng.uniform(0.6, 2.2)), 255)
    draw.polygon([(top, y0), (top + band, y0), (bottom + band, y1), (bottom, y1)], fill=glow)


def _screen(rng, draw, box):
    """Fill a phone's screen."""
    content = pick(rng, (_reflection, _icons, _bubbles, _photo), (0.22, 0.48, 0.25, 0.05))
    base = vivid(rng)
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
        half = pick(rng, (0.03, 0.12, 0.2)) * width
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
    island = (*tint(body, rng.uniform(0.55, 1.25)), 255)
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
        mark = (*tint(body, pick(rng, (0.6, 1.4))), 255)
        draw.ellipse([width / 2 - r, cy - r, width / 2 + r, cy + r], fill=mark)
    if rng.random() < 0.3:  # pattern of a case
        band = height * rng.uniform(0.5, 0.9)
        draw.rectangle([0, band, width, band + 0.08 * height], fill=(*any_color(rng), 255))


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


def phone(rng, length):
    """Sprite of a cell phone about `length` pixels long."""
    grey = int(rng.integers(12, 70))
    body = pick(
        rng,
        ((grey, grey, grey + 4), (232, 232, 236), (186, 188, 194), (208, 174, 142), any_color(rng)),
        (0.55, 0.20, 0.11, 0.08, 0.06),
    )
    face = _phone_front if rng.random() < 0.9 else _phone_back
    return slab(rng, length, rng.uniform(1.8, 2.2), body, face, rng.random() < 0.75)
