"""Cell phones, and what is neither a phone nor a person."""

import math

import numpy as np
from data.synthetic.canvas import Tile, any_color, finish, near, pick, slab, tint, vivid

# ------------------------------------------------------------------------------ phones


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


# ------------------------------------------------------------------------------ other things


def _face_lines(rng, draw, width, height, body):
    """Cover of a book, a card, a packet: bars and a field, no screen."""
    if rng.random() < 0.6:
        y = rng.uniform(0.1, 0.7) * height
        draw.rectangle(
            [0, y, width, y + rng.uniform(0.05, 0.3) * height], fill=(*any_color(rng), 255)
        )
    for _ in range(int(rng.integers(0, 4))):
        x, y = rng.uniform(0.1, 0.4) * width, rng.uniform(0.1, 0.9) * height
        bar = [x, y, x + rng.uniform(0.2, 0.5) * width, y + 0.04 * height]
        draw.rectangle(bar, fill=(*tint(body, pick(rng, (0.5, 1.6))), 255))


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
            fill = (*(any_color(rng) if rng.random() < 0.15 else tint(body, 1.9)), 255)
            draw.ellipse([x, y, x + 0.6 * dx, y + 0.6 * dy], fill=fill)


def _face_squares(rng, draw, width, height, body):
    """Chocolate, a waffle, a drain, a window: a grid of equal fields."""
    columns, rows = int(rng.integers(2, 4)), int(rng.integers(2, 7))
    fill = (*tint(body, pick(rng, (0.75, 1.3))), 255)
    for row in range(rows):
        for column in range(columns):
            x, y = (column + 0.1) * width / columns, (row + 0.1) * height / rows
            draw.rectangle([x, y, x + 0.8 * width / columns, y + 0.8 * height / rows], fill=fill)


def _flat_thing(rng, size):
    """Something flat and rectangular that is no phone."""
    face = pick(rng, (_face_lines, _face_buttons, _face_squares))
    if face is _face_buttons:
        body, aspect = near(rng, (45, 45, 50), 25), pick(rng, (1.5, 2.6, 3.6))
    else:
        body, aspect = any_color(rng), pick(rng, (1.0, 1.3, 1.5, 1.8, 2.1, 2.6))
    return slab(rng, size, aspect, body, face, rng.random() < 0.3)


def _clothes_rack(rng, tile):
    """Clothes without anybody in them: a coat on a stand, a tailor's dummy."""
    cloth = any_color(rng)
    tile.limb((0, -0.4), (0, 0.48), 0.014, 0.014, (90, 70, 55))
    tile.box((0, 0.48), 0.24, 0.03, (80, 62, 50))
    top, hem, end = rng.uniform(0.1, 0.15), rng.uniform(0.09, 0.24), rng.uniform(0, 0.3)
    tile.polygon([(-top, -0.3), (top, -0.3), (hem, end), (-hem, end)], cloth)
    if rng.random() < 0.5:
        for side in (-top, top):
            tile.limb((side, -0.28), (side * 1.25, 0.02), 0.035, 0.028, tint(cloth, 0.9))


def _lamp(rng, tile):
    width = rng.uniform(0.05, 0.14)
    tile.limb((0, -0.35), (0, 0.48), 0.016, 0.02, (75, 75, 80))
    shade = [(-width * 0.6, -0.48), (width * 0.6, -0.48), (width, -0.3), (-width, -0.3)]
    tile.polygon(shade, near(rng, (235, 220, 170), 20))


def _road_sign(rng, tile):
    radius = rng.uniform(0.1, 0.17)
    tile.limb((0, -0.3), (0, 0.48), 0.014, 0.014, (130, 130, 135))
    tile.ellipse((0, -0.32), radius, radius, any_color(rng))
    tile.box((0, -0.32), radius * 1.2, radius * 0.4, any_color(rng))


def _cone(rng, tile):
    orange = near(rng, (235, 95, 35), 10)
    tile.polygon([(-0.03, -0.4), (0.03, -0.4), (0.2, 0.4), (-0.2, 0.4)], orange)
    tile.box((0, 0), 0.24, 0.12, (235, 235, 235))
    tile.box((0, 0.42), 0.5, 0.05, tint(orange, 0.9))


def _stacked(rng, tile):
    """Round shapes on each other: a pawn, a snowman, a vase."""
    color = any_color(rng)
    for y, radius in ((0.25, 0.2), (0.0, 0.13), (-0.22, 0.1)):
        tile.ellipse((0, y), radius * rng.uniform(0.7, 1.1), radius * 1.15, near(rng, color, 12))


def _cactus(rng, tile):
    green = near(rng, (60, 120, 60), 22)
    tile.limb((0, -0.38), (0, 0.45), 0.08, 0.09, green)
    for side in (-0.2, 0.2):
        y = rng.uniform(-0.15, 0.15)
        tile.limb((0, y), (side, y), 0.05, 0.05, green)
        tile.limb((side, y), (side, y - 0.2), 0.05, 0.045, green)


def _animal(rng, tile):
    """Four legs, a trunk and a head in one colour, in shapes like those of a person."""
    coats = ((130, 95, 65), (60, 55, 52), (205, 185, 160), (170, 170, 175))
    color = near(rng, pick(rng, coats), 15)
    facing = pick(rng, (-1, 1))
    rear, front = np.array([-0.26 * facing, 0.0]), np.array([0.22 * facing, 0.0])
    length = rng.uniform(0.22, 0.38)
    for joint in (rear, rear, front, front):
        foot = np.add(joint, (rng.uniform(-0.12, 0.12), length))
        tile.limb(joint, foot, 0.05, 0.025, tint(color, rng.uniform(0.7, 1.0)))
    tile.limb(rear, front, 0.1, 0.12, color)
    head = np.add(front, (0.16 * facing, rng.uniform(-0.3, -0.1)))
    tile.limb(front, head, 0.08, 0.055, color)
    tile.limb(head, np.add(head, (0.1 * facing, 0.03)), 0.07, 0.035, tint(color, 0.9))
    tail = np.add(rear, (-0.15 * facing, rng.uniform(-0.2, 0.1)))
    tile.limb(rear, tail, 0.03, 0.012, color)


def _plant(rng, tile):
    """A tree or a bush; bare branches look a little like arms."""
    bark, leaf = near(rng, (95, 70, 48), 14), near(rng, (70, 115, 50), 28)
    tile.limb((0, 0.5), (0, -0.1), 0.05, 0.035, bark)
    for _ in range(int(rng.integers(2, 6))):
        start = (0.0, rng.uniform(-0.1, 0.2))
        end = np.add(start, rng.uniform((-0.32, -0.3), (0.32, -0.1)))
        tile.limb(start, end, 0.028, 0.012, bark)
    if rng.random() < 0.75:
        for _ in range(int(rng.integers(6, 18))):
            center, radius = rng.normal(0, 0.14, 2) - (0, 0.2), rng.uniform(0.06, 0.16)
            tile.ellipse(center, radius, radius * 0.9, tint(leaf, rng.uniform(0.65, 1.35)))


def _seat(rng, tile):
    """A chair or a table."""
    wood = near(rng, (120, 90, 62), 35)
    width = pick(rng, (0.32, 0.6))
    for x in np.array([-0.5, -0.25, 0.25, 0.5]) * width:
        tile.limb((x, 0.05), (x * 1.08, 0.48), 0.025, 0.02, tint(wood, 0.85))
    tile.box((0, 0.05), width * 1.2, 0.08, wood)
    if width < 0.5:
        tile.box((0, -0.25), width * 1.1, 0.4, tint(wood, 1.15))


def _monitor(rng, tile):
    tile.box((0, 0.32), 0.1, 0.2, (70, 70, 74))
    tile.box((0, 0.42), 0.4, 0.05, (60, 60, 64))
    tile.box((0, -0.05), 1.0, 0.6, (28, 28, 32))
    tile.box((0, -0.05), 0.93, 0.53, any_color(rng))


def _panel(rng, tile):
    color = any_color(rng)
    tile.box((0, 0), 0.5, 1.0, color)
    for y in (-0.22, 0.22):
        tile.box((0, y), 0.34, 0.34, tint(color, 0.8))


def _ball(rng, tile):
    tile.ellipse((0, 0), 0.5, 0.5, any_color(rng))
    tile.limb((-0.3, -0.1), (0.3, 0.1), 0.06, 0.06, any_color(rng))
    tile.turn(rng.uniform(-180, 180))


def _blob(rng, tile):
    angles = np.linspace(0, 2 * math.pi, int(rng.integers(5, 14)), endpoint=False)
    radii = rng.uniform(0.2, 0.5, len(angles))
    tile.polygon(np.stack([np.cos(angles) * radii, np.sin(angles) * radii], axis=1), any_color(rng))


def _bottle(rng, tile):
    glass = any_color(rng)
    tile.limb((0, -0.05), (0, 0.38), 0.11, 0.12, glass)
    tile.limb((0, -0.42), (0, -0.1), 0.04, 0.06, glass)
    tile.box((0, 0.18), 0.22, 0.2, any_color(rng))
    if rng.random() < 0.5:
        tile.turn(rng.uniform(-180, 180))


def _stick(rng, tile):
    tile.limb((-0.48, 0), (0.48, 0), *rng.uniform(0.01, 0.05, 2), any_color(rng))
    tile.turn(rng.uniform(-180, 180))


def _cup(rng, tile):
    color = any_color(rng)
    tile.ellipse((0.28, 0), 0.16, 0.18, color)
    tile.box((0, 0), 0.55, 0.65, color)
    tile.ellipse((0, -0.32), 0.27, 0.06, tint(color, 0.6))


# What is neither a person nor a phone, with how often each is drawn. The upright ones have a
# person's proportions, the flat one a phone's.
FLAT_SHARE = 0.04
THINGS = (
    *((maker, 3) for maker in (_clothes_rack, _lamp, _road_sign, _cone, _stacked, _cactus)),
    *((maker, 7) for maker in (_animal, _plant)),
    *((maker, 3) for maker in (_monitor, _panel)),
    *((maker, 5) for maker in (_seat, _ball, _blob, _bottle, _stick, _cup)),
)


def clutter(rng, size):
    """Sprite of something else, about `size` pixels large."""
    if rng.random() < FLAT_SHARE:
        return _flat_thing(rng, size)
    weights = np.array([weight for _, weight in THINGS])
    maker = THINGS[int(rng.choice(len(THINGS), p=weights / weights.sum()))][0]
    tile = Tile(0.72, size)
    maker(rng, tile)
    return finish(tile, rng)
