"""Letterboxing and boxes.

``data/letterbox.json`` and ``data/letterbox_image.npz`` hold results of the reference.
"""

import json
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from data.images import (
    TURNED,
    Letterbox,
    PictureError,
    decode,
    highest_value,
    letterbox,
    read_image,
    used_bits,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from tests.examples import yolo11n_golden as golden
from tests.examples.conftest import exif_of

DATA = Path(__file__).parents[2] / "data"


def test_letterbox_geometry_reference():
    for case in json.loads((DATA / "letterbox.json").read_text()):
        size = case["size"]
        if not case["scaleup"] and size > max(case["w"], case["h"]):
            continue  # here small pictures always grow
        g = Letterbox.fit(case["w"], case["h"], size)
        assert g.ratio == case["ratio"]
        assert [g.resized_width, g.resized_height] == case["resized_wh"]
        assert (g.left, g.top) == (case["left"], case["top"])
        assert size - g.left - g.resized_width == case["right"]
        assert size - g.top - g.resized_height == case["bottom"]


def test_letterbox_image_reference():
    vectors = golden.load_arrays(DATA / "letterbox_image.npz")
    canvas, _ = letterbox(vectors["image_bgr_37x53"], 64)
    difference = np.abs(canvas.astype(int) - vectors["letterboxed_64"])
    # Both resize by the same bilinear weights (it is an enlargement, so Pillow has nothing to
    # smooth), but round them to different fixed-point fractions: one grey level at most.
    assert difference.max() <= 1
    assert difference.mean() < 0.2


@pytest.mark.parametrize(("width", "height", "size"), [(128, 96, 48), (75, 131, 32), (41, 30, 40)])
def test_letterbox_without_antialiasing(width, height, size):
    """Each pixel is a mean of the four that surround its centre in the picture."""
    image = np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)
    canvas, g = letterbox(image, size, antialias=False)
    assert (canvas != letterbox(image, size)[0]).any()
    rows = ((np.arange(g.resized_height) + 0.5) / g.scale_xy[1] - 0.5).clip(0, height - 1)
    columns = ((np.arange(g.resized_width) + 0.5) / g.scale_xy[0] - 0.5).clip(0, width - 1)
    for axis, where in enumerate((rows, columns)):
        low = np.floor(where).astype(int)
        high = np.minimum(low + 1, image.shape[axis] - 1)
        part = (where - low).reshape([-1 if k == axis else 1 for k in range(3)])
        image = image.take(low, axis) * (1 - part) + image.take(high, axis) * part
    inside = canvas[g.top : g.top + g.resized_height, g.left : g.left + g.resized_width]
    # Pillow rounds down here.
    assert -1.001 < (inside - image).min() < (inside - image).max() < 0.001


@given(
    width=st.integers(1, 2000),
    height=st.integers(1, 2000),
    size=st.integers(16, 700),
)
@settings(max_examples=200, deadline=None)
def test_letterbox_undo(width, height, size):
    g = Letterbox.fit(width, height, size)
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


# ------------------------------------------------------------------------------ reading

# Rectangular, and different at every corner, so no turn or flip goes unnoticed.
PIXELS = np.zeros((8, 12, 3), np.uint8)
PIXELS[:4, :6], PIXELS[:4, 6:], PIXELS[4:, :6] = (250, 0, 0), (0, 250, 0), (0, 0, 250)


def stored(orientation):
    """Return the pixels a camera stores of PIXELS: EXIF's rules inverted, written with NumPy."""
    image = PIXELS if orientation < 5 else PIXELS.transpose(1, 0, 2)
    if orientation in (2, 3, 7, 8):  # the stored columns run from right to left
        image = image[:, ::-1]
    if orientation in (3, 4, 6, 7):
        image = image[::-1]
    return image


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["png", "webp", "tiff"])
def test_orientation(tmp_path, orientation, kind):
    path = tmp_path / f"a.{kind}"
    options = {"lossless": True} if kind == "webp" else {}
    Image.fromarray(stored(orientation)).save(path, exif=exif_of(orientation), **options)
    for size in (None, (12, 8)):
        image, notes = decode(path, size)
        np.testing.assert_array_equal(image, PIXELS)
        # A size tells which pixels the boxes are for, unless both are as wide as they are high.
        assert notes == ([TURNED] if orientation > 1 and (size is None or orientation < 5) else [])
    np.testing.assert_array_equal(read_image(path), PIXELS)
    if orientation < 5 or kind == "tiff":
        with pytest.raises(PictureError, match="is 12x8, but the annotation file says 8x12"):
            decode(path, (8, 12))
    else:
        # Whoever wrote down the stored size did not turn the picture.
        image, notes = decode(path, (8, 12))
        np.testing.assert_array_equal(image, stored(orientation))
        assert "orientation ignored" in notes[0]


@pytest.mark.parametrize(
    ("mode", "kind", "tolerance"),
    [
        ("RGB", "bmp", 0),
        ("RGB", "jpg", 12),
        ("CMYK", "jpg", 12),
        ("CMYK", "tiff", 1),
        ("P", "png", 0),
        ("P", "gif", 0),
        ("RGB", "webp", 12),
        ("RGBA", "png", 0),
    ],
)
def test_modes(tmp_path, mode, kind, tolerance):
    path = tmp_path / f"a.{kind}"
    # Flat patches of the size of JPEG's blocks, or it would mix them.
    pixels = PIXELS.repeat(16, axis=0).repeat(16, axis=1)
    picture = Image.fromarray(pixels)
    options = {"palette": Image.Palette.ADAPTIVE} if mode == "P" else {}
    picture.convert(mode, **options).save(path)
    image, notes = decode(path)
    assert image.dtype == np.uint8
    assert not notes
    inner = (slice(8, 56), slice(8, 80))
    np.testing.assert_allclose(image[inner].astype(float), pixels[inner], atol=tolerance)


def test_transparency(tmp_path):
    rgba = np.concatenate([PIXELS, np.full((8, 12, 1), 255, np.uint8)], axis=2)
    rgba[0, 0, 3], rgba[0, 1, 3] = 0, 51
    expected = PIXELS.copy()
    expected[0, 0] = 114
    expected[0, 1] = (141, 91, 91)  # a fifth of 250, 0, 0 over 114
    for kind in ("png", "webp"):
        options = {"lossless": True, "exact": True} if kind == "webp" else {}
        Image.fromarray(rgba).save(tmp_path / f"a.{kind}", **options)
        image, notes = decode(tmp_path / f"a.{kind}")
        np.testing.assert_allclose(image.astype(int), expected, atol=1)
        assert notes == ["transparent parts made grey 114"]
    # One colour of a palette, of RGB and of grey declared transparent.
    palette = Image.fromarray(PIXELS).convert("P", palette=Image.Palette.ADAPTIVE)
    for picture, color in (
        (palette, palette.getpixel((0, 0))),
        (Image.fromarray(PIXELS), (250, 0, 0)),
        (Image.fromarray(PIXELS[..., 0]), 250),
    ):
        picture.save(tmp_path / "b.png", transparency=color)
        image, notes = decode(tmp_path / "b.png")
        assert (image[:4, :6] == 114).all()
        assert "transparent" in notes[0]
        np.testing.assert_array_equal(image[:4, 6:], np.asarray(picture.convert("RGB"))[:4, 6:])


def png_of_16_bits(pixels):
    """Write a PNG file, which Pillow itself can't write in color."""
    height, width, channels = pixels.shape
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in pixels)

    def chunk(kind, data):
        content = kind + data
        return struct.pack(">I", len(data)) + content + struct.pack(">I", zlib.crc32(content))

    header = struct.pack(">IIBBBBB", width, height, 16, {1: 0, 3: 2}[channels], 0, 0, 0)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize("channels", [1, 3])
def test_png_of_16_bits(tmp_path, channels):
    pixels = np.random.default_rng(0).integers(0, 2**16, (3, 5, channels))
    (tmp_path / "a.png").write_bytes(png_of_16_bits(pixels))
    image, notes = decode(tmp_path / "a.png")
    np.testing.assert_array_equal(image, np.broadcast_to(pixels >> 8, (3, 5, 3)))
    assert notes == ["16 bits a channel cut to 8"]


@pytest.mark.parametrize("mode", ["I;16", "I;16B"])
def test_tiff_of_16_bits(tmp_path, mode):
    pixels = np.random.default_rng(0).integers(0, 2**16, (3, 5)).astype(np.uint16)
    data = pixels.astype(">u2" if mode == "I;16B" else "<u2").tobytes()
    Image.frombytes(mode, (5, 3), data).save(tmp_path / "a.tiff", exif=exif_of(3))
    image, notes = decode(tmp_path / "a.tiff")
    np.testing.assert_array_equal(image[..., 1], pixels[::-1, ::-1] >> 8)
    assert notes == [TURNED, "16 bits a channel cut to 8"]


def test_tiff_of_12_bits(tmp_path):
    """Packed: two values in three bytes."""
    pixels = np.array([[0, 15, 4095, 2048], [100, 200, 300, 400]])
    packed = int("".join(f"{value:012b}" for value in pixels.ravel()), 2).to_bytes(12)
    tags = {256: 4, 257: 2, 258: 12, 259: 1, 262: 1, 273: 8, 277: 1, 278: 2, 279: 12}
    fields = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
    ends = struct.pack("<H", len(tags)) + fields + struct.pack("<I", 0)
    (tmp_path / "a.tiff").write_bytes(struct.pack("<2sHI", b"II", 42, 20) + packed + ends)
    image, notes = decode(tmp_path / "a.tiff")
    np.testing.assert_array_equal(image[..., 1], pixels >> 4)
    assert notes == ["12 bits a channel cut to 8"]


def test_bits_of_a_camera_in_colors(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 2**12, (9, 15, 3))
    (tmp_path / "a.png").write_bytes(png_of_16_bits(pixels))
    assert used_bits(highest_value(tmp_path / "a.png")) == 12
    with pytest.raises(PictureError, match="12 bits a channel in a file of 16"):
        decode(tmp_path / "a.png", bits=12)


def test_first_frame(tmp_path):
    frames = [Image.fromarray(np.full((4, 6, 3), k, np.uint8)) for k in (40, 90, 200)]
    for kind, options in (("gif", {}), ("webp", {"lossless": True}), ("png", {})):
        path = tmp_path / f"a.{kind}"
        frames[0].save(path, save_all=True, append_images=frames[1:], **options)
        image, notes = decode(path)
        assert (image == 40).all()
        assert notes == ["first of several frames used"]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_damaged_files_raise_only_picture_errors(tmp_path_factory, seed):
    rng = np.random.default_rng(seed)
    folder = tmp_path_factory.mktemp("damaged")
    for kind in ("jpg", "png", "gif", "tiff", "webp"):
        path = folder / f"a.{kind}"
        Image.fromarray(PIXELS).save(path)
        data = bytearray(path.read_bytes())
        for place in rng.integers(0, len(data), 6):
            data[place] = rng.integers(256)
        path.write_bytes(data)
        try:
            image = read_image(path)
        except PictureError:
            continue
        assert image.dtype == np.uint8
        assert image.ndim == 3


def test_huge_pictures(tmp_path, monkeypatch):
    Image.new("L", (40, 30)).save(tmp_path / "a.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 599)
    with pytest.raises(PictureError, match=r"not readable: .* exceeds limit of 1198 pixels"):
        read_image(tmp_path / "a.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 601)  # Pillow warns, but reads it
    assert read_image(tmp_path / "a.png").shape == (30, 40, 3)
