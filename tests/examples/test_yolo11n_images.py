"""Letterboxing and boxes.

``data/letterbox.json`` and ``data/letterbox_image.npz`` hold results of the reference.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from images import Letterbox, letterbox, to_corners, to_fractions

DATA = Path(__file__).parent / "data"


def test_letterbox_geometry_reference():
    for case in json.loads((DATA / "letterbox.json").read_text()):
        size = case["size"]
        g = Letterbox.fit(case["w"], case["h"], size, case["scaleup"])
        assert g.ratio == case["ratio"]
        assert [g.resized_width, g.resized_height] == case["resized_wh"]
        assert (g.left, g.top) == (case["left"], case["top"])
        assert size - g.left - g.resized_width == case["right"]
        assert size - g.top - g.resized_height == case["bottom"]


def test_letterbox_image_reference():
    vectors = np.load(DATA / "letterbox_image.npz")
    canvas, _ = letterbox(vectors["image_bgr_37x53"], 64)
    difference = np.abs(canvas.astype(int) - vectors["letterboxed_64"])
    # Both resize by the same bilinear weights (it is an enlargement, so Pillow has nothing to
    # smooth), but round them to different fixed-point fractions: one grey level at most.
    assert difference.max() <= 1
    assert difference.mean() < 0.2


def test_letterbox_without_scale_up():
    image = np.random.default_rng(0).integers(0, 256, (20, 31, 3), dtype=np.uint8)
    canvas, g = letterbox(image, 64, scale_up=False)
    assert (g.left, g.top) == (16, 22)
    np.testing.assert_array_equal(canvas[22:42, 16:47], image)
    canvas[22:42, 16:47] = 114
    assert (canvas == 114).all()


@given(
    width=st.integers(1, 2000),
    height=st.integers(1, 2000),
    size=st.integers(16, 700),
    scale_up=st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_letterbox_undo(width, height, size, scale_up):
    g = Letterbox.fit(width, height, size, scale_up)
    assert 1 <= g.resized_width <= size
    assert 1 <= g.resized_height <= size
    assert 0 <= g.left <= size - g.resized_width
    assert 0 <= g.top <= size - g.resized_height
    boxes = np.array([[0.25 * width, 0.5 * height, 0.75 * width, height], [0, 0, width, height]])
    there = g.apply(boxes)
    assert there.min() >= 0
    assert there.max() <= size * (1 + 1e-12)
    np.testing.assert_allclose(g.undo(there), boxes, atol=1e-9 * max(width, height))


def test_letterbox_errors():
    with pytest.raises(ValueError, match="float32"):
        letterbox(np.zeros((4, 4, 3), np.float32), 32)
    with pytest.raises(ValueError, match="shape"):
        letterbox(np.zeros((4, 4), np.uint8), 32)
    with pytest.raises(ValueError, match="positive"):
        Letterbox.fit(0, 5, 32)


def test_fractions_and_corners():
    corners = np.array([[10.0, 20, 30, 60]])
    fractions = to_fractions(corners, 100)
    np.testing.assert_allclose(fractions, [[0.2, 0.4, 0.2, 0.4]])
    np.testing.assert_allclose(to_corners(fractions, 100), corners, atol=1e-5)
