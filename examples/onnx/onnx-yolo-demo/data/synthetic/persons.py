"""Articulated figures of persons."""

import math
from functools import partial

import numpy as np
from data.synthetic.canvas import (
    Tile,
    about,
    any_color,
    finish,
    near,
    pick,
    skin_color,
    tint,
    vivid,
)


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
    kind = pick(
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
    view = about(0, 1, roll) @ about(2, 1, tilt) @ about(2, 0, yaw)
    return {name: view @ point for name, point in joints.items()}


def _outfit(rng):
    """Colours and cut of a person's clothes."""
    top = vivid(rng)
    bottom = pick(
        rng,
        (
            near(rng, (45, 60, 95), 15),
            near(rng, (40, 40, 44), 12),
            near(rng, (165, 145, 115), 20),
            any_color(rng),
        ),
    )
    hair = near(
        rng,
        pick(rng, ((24, 18, 15), (70, 45, 28), (140, 95, 50), (210, 180, 120), (160, 160, 160))),
        10,
    )
    return {
        "top": top,
        "bottom": bottom,
        "trim": any_color(rng),
        "skin": skin_color(rng),
        "hair": hair,
        "shoe": near(rng, pick(rng, ((30, 28, 28), (225, 225, 225), (110, 70, 40))), 15),
        "sleeve": pick(rng, ("long", "short", "none"), (0.5, 0.35, 0.15)),
        "cut": pick(rng, ("trousers", "shorts", "skirt", "coat"), (0.6, 0.15, 0.12, 0.13)),
        "decor": pick(
            rng,
            ("none", "stripes", "open", "print", "bag", "backpack"),
            (0.42, 0.12, 0.12, 0.12, 0.12, 0.1),
        ),
        "head": pick(
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
    tile.limb(knee, ankle, 0.036 * b, 0.025 * b, tint(lower, 0.93))
    tile.limb(hip, knee, 0.052 * b, 0.038 * b, upper)
    if outfit["cut"] == "shorts":
        tile.limb(hip, hip * 0.3 + knee * 0.7, 0.054 * b, 0.05 * b, outfit["bottom"])


def _draw_arm(tile, joints, k, outfit):
    b = outfit["build"]
    shoulder, elbow, hand = (joints[f"{name}{k}"][:2] for name in ("shoulder", "elbow", "hand"))
    upper = outfit["skin"] if outfit["sleeve"] == "none" else outfit["top"]
    lower = outfit["top"] if outfit["sleeve"] == "long" else outfit["skin"]
    tile.ellipse(hand, 0.026, 0.028, outfit["skin"])
    tile.limb(elbow, hand * 0.88 + elbow * 0.12, 0.028 * b, 0.02 * b, tint(lower, 0.95))
    tile.limb(shoulder, elbow, 0.035 * b, 0.029 * b, tint(upper, 0.9))


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
    tile.limb(chest, neck, 0.032, 0.032, tint(skin, 0.85))
    if style == "long":
        tile.limb(head, neck, r * 1.12, r * 1.05, hair)
    elif style == "hood":
        tile.limb(head, neck, r * 1.25, r * 1.2, tint(outfit["top"], 0.85))
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
        tile.limb(brim, peak, r * 0.25, r * 0.15, tint(outfit["trim"], 0.8))


def person(rng, height):
    """Sprite of a figure about `height` pixels tall, and its hands relative to the anchor."""
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
    hands = [(joints[f"hand{k}"][:2] * height, outfit["skin"]) for k in range(2)]
    return finish(tile, rng), hands


def fingers(rng, length, skin):
    """Sprite of the fingers that hold a phone `length` pixels long."""
    tile = Tile(0.5, length)
    side = pick(rng, (-1, 1))
    for k in range(int(rng.integers(2, 5))):
        y = k * 0.11 - 0.1
        tile.limb((side * 0.3, y), (side * 0.1, y + 0.02), 0.045, 0.04, skin)
    return finish(tile, rng)
