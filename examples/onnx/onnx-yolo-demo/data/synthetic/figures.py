"""Persons, cell phones, and what is neither."""

import math
from functools import partial

import numpy as np
from data.synthetic.canvas import (
    Tile,
    any_color,
    axis_rotation,
    near,
    pick,
    skin_color,
    slab,
    tint,
    vivid,
)  # fmt: skip

# ------------------------------------------------------------------------------ persons


def _direction(flex, spread, side):
    """Return the unit vector of a limb: straight down at 0; degrees forward and outward."""
    flex, spread = math.radians(flex), math.radians(spread)
    down = math.cos(spread)
    return np.array([side * math.sin(spread), down * math.cos(flex), down * math.sin(flex)])


def _pose(rng):
    """Draw angles in degrees: per side (left, right) hips, knees, shoulders, elbows; lean, roll."""
    kind = pick(rng, ("stand", "walk", "sit", "gesture", "lie"), (0.34, 0.35, 0.13, 0.15, 0.03))
    hip, knee = rng.normal(0, 5, 2), np.abs(rng.normal(0, 6, 2))
    arm, elbow = rng.normal(0, 12, 2), rng.uniform(0, 35, 2)
    spread, lean, roll = rng.uniform(3, 18, 2), rng.normal(0, 5), rng.normal(0, 4)
    if kind == "walk":  # or run
        swing = rng.uniform(15, 60) * rng.choice([-1, 1]) * np.array([1, -1])
        hip, arm = swing, -swing * rng.uniform(0.5, 1.1)
        knee = rng.uniform(5, 25, 2) + np.maximum(-swing, 0) * rng.uniform(0.3, 1.3)
    elif kind == "sit":  # or crouch
        hip, knee, lean = rng.uniform(60, 110, 2), rng.uniform(60, 140, 2), rng.uniform(0, 30)
        arm, elbow = rng.uniform(0, 50, 2), rng.uniform(10, 90, 2)
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
    """Return joints as name to (x right, y down, z towards the viewer), in body heights.

    In three dimensions, and then turned about the vertical, tilted and rolled as they are seen.
    """
    up = -_direction(-pose["lean"], rng.normal(0, 6), 1)
    chest = 0.29 * up
    joints = {"chest": chest, "neck": chest + 0.04 * up}
    joints["head"] = joints["neck"] + 0.085 * (up + rng.normal(0, 0.15, 3))
    joints["face"] = joints["head"] + np.array([0, 0, 0.05])
    for k, side in enumerate((-1, 1)):
        hip = np.array([side * 0.055, 0.0, 0.0])
        knee = hip + 0.245 * _direction(pose["hip"][k], rng.uniform(0, 12), side)
        ankle = knee + 0.235 * _direction(pose["hip"][k] - pose["knee"][k], rng.normal(2, 4), side)
        toe = ankle + np.array([side * 0.01, 0.02, 0.075])
        shoulder = chest + np.array([side * 0.1, 0.0, 0.0])
        spread, bend = pose["spread"][k], pose["arm"][k] + pose["elbow"][k]
        elbow = shoulder + 0.165 * _direction(pose["arm"][k], spread, side)
        hand = elbow + 0.16 * _direction(bend, spread * rng.uniform(0.2, 1.1), side)
        names = ("hip", "knee", "ankle", "toe", "shoulder", "elbow", "hand")
        points = (hip, knee, ankle, toe, shoulder, elbow, hand)
        joints |= {f"{name}{k}": point for name, point in zip(names, points, strict=True)}
    yaw = rng.uniform(-math.pi, math.pi) if rng.random() < 0.45 else rng.normal(0, 0.4)
    tilt, roll = rng.normal(0.08, 0.1), math.radians(pose["roll"])
    view = axis_rotation(0, 1, roll) @ axis_rotation(2, 1, tilt) @ axis_rotation(2, 0, yaw)
    return {name: view @ point for name, point in joints.items()}


def _outfit(rng):
    """Choose the colours and the cut of a person's clothes."""
    bottoms = ((45, 60, 95), (40, 40, 44), (165, 145, 115), any_color(rng))
    hairs = ((24, 18, 15), (70, 45, 28), (140, 95, 50), (210, 180, 120), (160, 160, 160))
    return {
        "top": vivid(rng),
        "bottom": near(rng, pick(rng, bottoms), 15),
        "trim": any_color(rng),
        "skin": skin_color(rng),
        "hair": near(rng, pick(rng, hairs), 10),
        "shoe": near(rng, pick(rng, ((30, 28, 28), (225, 225, 225), (110, 70, 40))), 15),
        "sleeve": pick(rng, ("long", "short", "none"), (0.5, 0.35, 0.15)),
        "cut": pick(rng, ("trousers", "shorts", "skirt"), (0.65, 0.15, 0.2)),
        "decor": pick(rng, ("none", "stripes", "open", "bag"), (0.48, 0.2, 0.16, 0.16)),
        "head": pick(rng, ("short", "long", "bald", "cap"), (0.44, 0.32, 0.08, 0.16)),
        "build": rng.uniform(0.8, 1.35),
    }


def _draw_leg(tile, joints, k, outfit):
    b = outfit["build"]
    lower = outfit["bottom" if outfit["cut"] == "trousers" else "skin"]
    upper = outfit["skin" if outfit["cut"] == "skirt" else "bottom"]
    hip, knee, ankle, toe = (joints[f"{name}{k}"][:2] for name in ("hip", "knee", "ankle", "toe"))
    tile.limb(ankle, toe, 0.024, 0.018, outfit["shoe"])
    tile.limb(knee, ankle, 0.036 * b, 0.025 * b, tint(lower, 0.93))
    tile.limb(hip, knee, 0.052 * b, 0.038 * b, upper)


def _draw_arm(tile, joints, k, outfit):
    b = outfit["build"]
    shoulder, elbow, hand = (joints[f"{name}{k}"][:2] for name in ("shoulder", "elbow", "hand"))
    upper = outfit["skin"] if outfit["sleeve"] == "none" else outfit["top"]
    lower = outfit["top"] if outfit["sleeve"] == "long" else outfit["skin"]
    tile.ellipse(hand, 0.026, 0.028, outfit["skin"])
    tile.limb(elbow, hand * 0.88 + elbow * 0.12, 0.028 * b, 0.02 * b, tint(lower, 0.95))
    tile.limb(shoulder, elbow, 0.035 * b, 0.029 * b, tint(upper, 0.9))


def _draw_torso(tile, joints, outfit, rng):
    """Draw the trunk with what is worn over the hips; the pelvis is the origin."""
    b, top, trim = outfit["build"], outfit["top"], outfit["trim"]
    chest = joints["chest"][:2]
    shoulders = [joints[f"shoulder{k}"][:2] for k in range(2)]
    hips = [joints[f"hip{k}"][:2] for k in range(2)]
    tile.limb(*hips, 0.05 * b, 0.05 * b, outfit["bottom"])
    tile.limb(chest, (0, 0), 0.065 * b, 0.062 * b, top)
    tile.limb(shoulders[0] * 0.94, shoulders[1] * 0.94, 0.042 * b, 0.042 * b, top)
    sides = [hip * 1.15 for hip in hips]
    tile.polygon([*shoulders, sides[1], sides[0]], top)
    if outfit["cut"] == "skirt":
        color, length = pick(rng, (top, outfit["bottom"])), rng.uniform(0.5, 1.1)
        knees = [joints[f"knee{k}"][:2] for k in range(2)]
        hems = [hip * (1.9 - length) + knee * length for hip, knee in zip(hips, knees, strict=True)]
        tile.polygon([hips[0] * 1.4, hips[1] * 1.4, hems[1], hems[0]], color)
    if outfit["decor"] == "stripes":
        for t in np.linspace(0.1, 0.9, int(rng.integers(3, 6))):
            ends = [a * (1 - t) + c * t for a, c in zip(shoulders, sides, strict=True)]
            tile.limb(*ends, 0.012, 0.012, trim)
    elif outfit["decor"] == "open":
        tile.polygon([chest * 1.05, sides[1] * 0.45, sides[0] * 0.45], trim)
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
    tile.limb(chest, neck, 0.032, 0.032, tint(skin, 0.85))
    if style == "long":
        tile.limb(head, neck, r * 1.12, r * 1.05, hair)
    crown = skin if style == "bald" else hair
    tile.limb(head - up * r * 0.15, head + up * r * 0.2, r * 0.92, r * 0.98, crown)
    if facing[2] > -0.35:  # the face slides round the head with the view
        front = max(facing[2], 0.3)
        center = head + facing[:2] * r * 0.45 - up * r * 0.12
        wide = r * (0.45 + 0.4 * max(facing[2], 0.0))
        tile.limb(center - up * r * 0.4, center + up * r * 0.15, wide, wide * 1.05, skin)
        for side in (-0.33, 0.33):
            eye = center + across * side * r * front + up * r * 0.12
            tile.ellipse(eye, r * 0.11, r * 0.09, (30, 24, 22))
    if style == "cap":
        tile.limb(head + up * r * 0.45, head + up * r * 0.5, r * 0.95, r * 0.8, outfit["trim"])


def person(rng, height):
    """Return the sprite of a figure about `height` pixels tall, and its hands from the anchor."""
    tile = Tile(0.72, height)
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
    return tile.finish(rng), [(joints[f"hand{k}"][:2] * height, outfit["skin"]) for k in range(2)]


def fingers(rng, length, skin):
    """Return the sprite of the fingers that hold a phone `length` pixels long."""
    tile = Tile(0.5, length)
    side = pick(rng, (-1, 1))
    for k in range(int(rng.integers(2, 5))):
        y = k * 0.11 - 0.1
        tile.limb((side * 0.3, y), (side * 0.1, y + 0.02), 0.045, 0.04, skin)
    return tile.finish(rng)


# ------------------------------------------------------------------------------ phones


def _icons(rng, draw, box, base):
    """Draw rows of coloured icons, or of keys, from the bottom up."""
    x0, _, x1, y1 = box
    keys = rng.random() < 0.33
    step = (x1 - x0) / (3 if keys else 4)
    for row in range(int(rng.integers(1, 7))):
        for x in np.arange(x0 + 0.2 * step, x1 - 0.5 * step, step):
            y = y1 - (row + 0.9) * step
            fill = tint(base, 1.5) if keys else any_color(rng)
            draw.rounded_rectangle([x, y, x + 0.6 * step, y + 0.6 * step], step * 0.15, fill)


def _bubbles(rng, draw, box, base):
    """Draw the lines of a list, or the two sides of a chat."""
    x0, y0, x1, y1 = box
    w, h = x1 - x0, y1 - y0
    chat = rng.random() < 0.5
    y = y0 + 0.08 * h
    while y < y1 - 0.08 * h:
        size = rng.uniform(0.04, 0.1) * h
        left = x0 + (0.35 if chat and rng.random() < 0.5 else 0.08) * w
        shape = [left, y, left + rng.uniform(0.3, 0.57) * w, y + size]
        draw.rounded_rectangle(shape, size * 0.3, near(rng, (150, 160, 180), 45))
        y += size * 1.5


def _reflection(rng, draw, box, base):
    """Draw a band of light on a dark screen; at times none."""
    x0, y0, x1, y1 = box
    top, bottom = x0 + rng.uniform(0, 0.6, 2) * (x1 - x0)
    band = rng.uniform(0, 0.4) * (x1 - x0)
    glow = tint((60, 64, 72), rng.uniform(0.6, 2.2))
    draw.polygon([(top, y0), (top + band, y0), (bottom + band, y1), (bottom, y1)], glow)


def _phone_front(rng, draw, width, height, body):
    side, ends = rng.uniform(0.03, 0.08) * width, rng.uniform(0.02, 0.13) * height
    content = pick(rng, (_reflection, _icons, _bubbles), (0.24, 0.5, 0.26))
    base = (14, 15, 19) if content is _reflection else vivid(rng)
    if content is _bubbles and rng.random() < 0.6:
        base = (240, 241, 244)
    box = [side, ends, width - side, height - ends]
    draw.rectangle(box, base)
    content(rng, draw, box, base)
    if ends > 0.075 * height:  # an old one: button below, speaker above
        draw.circle((width / 2, height - ends / 2), min(ends * 0.34, 0.1 * width), (70, 72, 80))
        draw.rectangle([0.4 * width, ends * 0.45, 0.6 * width, ends * 0.6], (70, 72, 80))
    else:  # camera hole or notch
        half, top = pick(rng, (0.03, 0.12, 0.2)) * width, ends * 0.8
        notch = [width / 2 - half, top, width / 2 + half, top + 0.06 * width]
        draw.rounded_rectangle(notch, 0.03 * width, (12, 12, 14))


def _phone_back(rng, draw, width, height, body):
    pad, lens, count = 0.07 * width, rng.uniform(0.08, 0.12) * width, int(rng.integers(1, 5))
    columns, rows = 1 + (count > 2), min(count, 2)
    right, bottom = (pad + lens + 2.9 * lens * n for n in (columns, rows))
    draw.rounded_rectangle([pad, pad, right, bottom], lens, tint(body, rng.uniform(0.55, 1.25)))
    for k in range(count):
        center = pad + 0.5 * lens + (np.array([k // 2, k % 2]) + 0.5) * 2.9 * lens
        draw.circle(center, lens, (16, 17, 22))
        draw.circle(center, lens / 3, (70, 80, 110))
    if rng.random() < 0.6:  # logo
        mark = tint(body, pick(rng, (0.6, 1.4)))
        draw.circle((width / 2, height * rng.uniform(0.4, 0.6)), 0.09 * width, mark)


def phone(rng, length):
    """Return the sprite of a cell phone about `length` pixels long."""
    grey = int(rng.integers(12, 70))
    bodies = ((grey, grey, grey + 4), (232, 232, 236), (186, 188, 194), any_color(rng))
    body = pick(rng, bodies, (0.55, 0.2, 0.11, 0.14))
    face = _phone_front if rng.random() < 0.9 else _phone_back
    return slab(rng, length, rng.uniform(1.8, 2.2), body, face, rng.random() < 0.75)


# ------------------------------------------------------------------------------ other things


def _lines(rng, draw, width, height, body):
    """Cover of a book, a card, a packet: a field and bars, no screen."""
    top = rng.uniform(0.1, 0.7) * height
    draw.rectangle([0, top, width, top + rng.uniform(0.05, 0.3) * height], any_color(rng))
    for _ in range(int(rng.integers(0, 4))):
        x, y = rng.uniform(0.1, 0.4) * width, rng.uniform(0.1, 0.9) * height
        bar = [x, y, x + rng.uniform(0.2, 0.5) * width, y + 0.04 * height]
        draw.rectangle(bar, tint(body, pick(rng, (0.5, 1.6))))


def _grid(rng, draw, width, height, body):
    """Draw a remote control's or calculator's buttons; fields of chocolate, a drain, a door."""
    buttons = rng.random() < 0.5
    columns, rows = int(rng.integers(2, 5)), int(rng.integers(2, 10))
    top, gap = (rng.uniform(0.05, 0.3), 0.6) if buttons else (0.02, 0.8)
    dx, dy = width / columns, (0.97 - top) * height / rows
    fill = tint(body, pick(rng, (0.7, 1.3, 1.9)))
    for row in range(rows):
        for column in range(columns):
            x, y = column * dx + (1 - gap) * dx / 2, top * height + row * dy + (1 - gap) * dy / 2
            shape = draw.ellipse if buttons else draw.rectangle
            shape([x, y, x + gap * dx, y + gap * dy], fill)


def _one_field(rng, draw, width, height, body):
    """Draw a tablet, screen or picture in its frame: one field, wider than that of a phone."""
    rim = rng.uniform(0.04, 0.12) * width
    draw.rectangle([rim, rim, width - rim, height - rim], any_color(rng))


def _flat_thing(rng, size):
    """Return the sprite of something flat and rectangular that is no phone."""
    face = pick(rng, (_lines, _grid, _grid, _one_field))
    body = any_color(rng) if rng.random() < 0.6 else near(rng, (45, 45, 50), 25)
    aspects = (1.0, 1.3, 1.5) if face is _one_field else (1.0, 1.3, 1.5, 1.8, 2.1, 2.6, 3.6)
    return slab(rng, size, pick(rng, aspects), body, face, rng.random() < 0.4)


def _clothes_rack(rng, tile):
    """Draw clothes without anybody in them: a coat on a stand, a tailor's dummy."""
    cloth = any_color(rng)
    tile.limb((0, -0.4), (0, 0.48), 0.014, 0.014, (90, 70, 55))
    top, hem, end = rng.uniform(0.1, 0.15), rng.uniform(0.09, 0.24), rng.uniform(0, 0.3)
    tile.polygon([(-top, -0.3), (top, -0.3), (hem, end), (-hem, end)], cloth)
    if rng.random() < 0.5:
        for side in (-top, top):
            tile.limb((side, -0.28), (side * 1.25, 0.02), 0.035, 0.028, tint(cloth, 0.9))


def _stacked(rng, tile):
    """Round shapes on each other: a pawn, a snowman, a vase."""
    color = any_color(rng)
    for y, radius in ((0.25, 0.2), (0.0, 0.13), (-0.22, 0.1)):
        tile.ellipse((0, y), radius * rng.uniform(0.7, 1.1), radius * 1.15, near(rng, color, 12))


def _animal(rng, tile):
    """Draw four legs, a trunk and a head in one colour, in shapes like a person's."""
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
    tile.limb(rear, np.add(rear, (-0.15 * facing, rng.uniform(-0.2, 0.1))), 0.03, 0.012, color)


def _plant(rng, tile):
    """Draw a tree or a bush; bare branches look a little like arms."""
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
    """Draw a chair or a table."""
    wood = near(rng, (120, 90, 62), 35)
    width = pick(rng, (0.32, 0.6))
    for x in np.array([-0.5, -0.25, 0.25, 0.5]) * width:
        tile.limb((x, 0.05), (x * 1.08, 0.48), 0.025, 0.02, tint(wood, 0.85))
    tile.box((0, 0.05), width * 1.2, 0.08, wood)
    if width < 0.5:
        tile.box((0, -0.25), width * 1.1, 0.4, tint(wood, 1.15))


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


# What is neither a person nor a phone; the upright ones have a person's proportions.
THINGS = (_clothes_rack, _stacked, _animal, _plant, _seat, _blob, _bottle, _stick)
CHANCES = (0.1, 0.1, 0.14, 0.14, 0.13, 0.13, 0.13, 0.13)
FLAT_SHARE = 0.08


def clutter(rng, size):
    """Return the sprite of something else, about `size` pixels large."""
    if rng.random() < FLAT_SHARE:
        return _flat_thing(rng, size)
    tile = Tile(0.72, size)
    pick(rng, THINGS, CHANCES)(rng, tile)
    return tile.finish(rng)
