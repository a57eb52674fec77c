"""Data sets of the YOLO11n demo: pictures, boxes, and what is said of them."""

import shutil

import numpy as np
import pytest
from data.images import letterbox, to_corners
from dataset import equal_pictures, load_data
from PIL import Image

from tests.examples.conftest import CLASSES, exif_of
from tests.examples.yolo11n.data import writers

# ------------------------------------------------------------------------------ reading


def test_item(builder):
    image_id = builder.add(80, 40, [(1, 10, 20, 30, 10), (77, 60, 4, 8, 16), (18, 1, 1, 5, 5)])
    dataset = builder.dataset()
    sample = dataset[0]
    assert sample.image.shape == (64, 64, 3)
    assert sample.image.dtype == np.uint8
    assert sample.boxes.dtype == np.float32
    assert sample.classes.dtype == np.int32
    assert sample.image_id == image_id == dataset.image_ids[0]
    # Scale 0.8, and (64 - 32) / 2 = 16 px above.
    corners = np.array([[8, 32, 32, 40], [48, 19.2, 54.4, 32]])
    np.testing.assert_allclose(to_corners(sample.boxes, 64), corners, atol=1e-4)
    assert sample.classes.tolist() == [0, 1]
    assert (sample.image[:16] == 114).all()
    assert (sample.image[48:] == 114).all()
    pixels = np.asarray(Image.open(builder.folder / "10.png"))
    np.testing.assert_array_equal(sample.image, letterbox(pixels, 64)[0])


def test_class_order_and_choice(builder):
    builder.add(40, 40, [(1, 0, 0, 9, 9), (77, 1, 1, 9, 9), (18, 2, 2, 9, 9)])
    assert builder.dataset(["dog", "person"])[0].classes.tolist() == [1, 0]
    everything = builder.dataset(None)
    assert everything.classes == ["cell phone", "person", "dog"]
    assert everything.category_ids == [77, 1, 18]
    assert everything[0].classes.tolist() == [1, 0, 2]


def test_cleaning(builder):
    builder.add(
        50,
        40,
        [
            (1, -10, 5, 30, 20),  # over the edge
            (1, 60, 5, 10, 10),  # outside
            (1, 10, 10, 0, 10),  # no area
            (77, 5, 5, 10, 10),
            (77, 5, 5, 10, 10),  # again
            (1, 5, 5, 10, 10),  # the same box, other class: stays
            (1, 0, 0, 50, 40, 1),  # crowd
        ],
    )
    builder.add(50, 40)
    dataset = builder.dataset()
    report = dataset.report
    assert (report["clipped"], report["zero_area"]) == (1, 2)
    assert (report["duplicates"], report["regions"]) == (1, 1)
    assert (report["images"], report["background"], report["boxes"]) == (2, 1, 3)
    assert report["per_class"] == {"person": 2, "cell phone": 1}
    corners = dataset[0].geometry.undo(to_corners(dataset[0].boxes, 64))
    np.testing.assert_allclose(corners[0], [0, 5, 20, 25], atol=1e-4)
    assert dataset[1].boxes.shape == (0, 4)
    assert dataset[1].classes.shape == (0,)
    assert "1 boxes clipped" in dataset.summary()
    assert "crowd" in dataset.summary()
    assert dataset.max_boxes(mosaic=False) == 3


def test_broken_images_are_skipped(builder):
    builder.add(40, 30, [(1, 1, 1, 20, 20)])
    short = [f"short.{kind}" for kind in ("jpg", "png", "webp", "gif", "tiff", "bmp")]
    others = ["missing.jpg", "empty.jpg", "text.jpg", "size.jpg", "F.tiff", "I.tiff"]
    for name in short + others:
        builder.add(40, 30, [(1, 1, 1, 20, 20)], name=name)
    folder = builder.folder
    (folder / "missing.jpg").unlink()
    for name in short:
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[: len(data) // 2])
    (folder / "empty.jpg").write_bytes(b"")
    (folder / "text.jpg").write_text("<html>not found</html>")
    Image.new("RGB", (30, 40)).save(folder / "size.jpg")
    for mode in "FI":
        Image.new(mode, (40, 30)).save(folder / f"{mode}.tiff")
    dataset = builder.dataset()
    assert len(dataset) == 1
    assert dataset.report["boxes"] == 1
    reasons = dict(dataset.skipped)
    assert [*reasons] == short + others
    assert reasons["missing.jpg"] == "missing"
    for name in [*short, "empty.jpg", "text.jpg"]:
        assert reasons[name].startswith("not readable")
    assert reasons["size.jpg"] == "is 30x40, but the annotation file says 40x30"
    assert "32 bits a pixel (mode F" in reasons["F.tiff"]
    assert "32 bits a pixel (mode I" in reasons["I.tiff"]
    assert "12 files skipped" in dataset.summary()
    assert "text.jpg" in dataset.summary()
    assert {a["image_id"] for a in dataset.ground_truth()["annotations"]} == {10}


def test_all_images_broken(builder):
    builder.add(40, 30, name="a.jpg")
    (builder.folder / "a.jpg").unlink()
    with pytest.raises(ValueError, match=r"none of the 1 images.*a\.jpg: missing"):
        builder.dataset()


@pytest.mark.parametrize("form", ["text", "no sizes", "sizes"])
def test_turned_pictures_are_counted(builder, tmp_path, form):
    """The labels are taken for the upright picture where nothing tells what they are for."""
    for k in range(3):
        pixels = Image.fromarray(np.full((40, 30, 3), 9, np.uint8))
        builder.add(40, 30, [(1, 0, 0, 20, 10)], picture=pixels, exif=exif_of(6) if k else None)
    builder.images[0] |= {"width": 30, "height": 40}
    if form == "text":
        builder.write_yolo(tmp_path / "yolo")
        dataset, _ = load_data(tmp_path / "yolo", CLASSES, 64)
    else:
        for image in builder.images if form == "no sizes" else []:
            del image["width"], image["height"]
        dataset = builder.dataset()
    np.testing.assert_allclose(dataset[1].boxes, [[0.25, 0.25, 0.5, 0.25]])
    assert dataset.report["turned"] == (0 if form == "sizes" else 2)
    said = "2 images were turned upright by their EXIF orientation, and their boxes are taken for"
    assert (said in dataset.summary()) == (form != "sizes")
    assert not dataset.changed


@pytest.mark.parametrize(
    ("bits", "kind", "cache"), [(10, "png", "memory"), (12, "tiff", "disk"), (14, "png", "memory")]
)
def test_bits_of_a_camera_in_files_of_16(builder, bits, kind, cache):
    bright = np.random.default_rng(0).integers(0, 2**bits, (40, 30)).astype(np.uint16)
    for k, pixels in enumerate((bright // 50, bright)):
        picture = Image.frombytes("I;16", (30, 40), pixels.tobytes())
        builder.add(30, 40, [(1, 0, 0, 20, 10)], name=f"{k}.{kind}", picture=picture)
    builder.add(30, 40)
    builder.add(30, 40, name="gone.png")
    (builder.folder / "gone.png").unlink()
    for _ in range(2):  # the second time from the disk
        dataset = builder.dataset(cache=cache)
        for k, pixels in enumerate((bright // 50, bright)):
            expected = np.stack([pixels >> (bits - 8)] * 3, axis=2).astype(np.uint8)
            np.testing.assert_array_equal(dataset.picture(k), expected)
            np.testing.assert_array_equal(dataset[k].image, letterbox(expected, 64)[0])
        assert f"0.{kind}: {bits} bits a channel, in a file of 16, cut to 8" in dataset.summary()
        assert len(dataset.changed) == 2
    # A brighter picture tells that the others are dark.
    picture = Image.frombytes("I;16", (30, 40), (bright << (16 - bits)).tobytes())
    builder.add(30, 40, picture=picture)
    dataset = builder.dataset(cache=cache)
    assert dataset.picture(1).max() == (2**bits - 1) >> 8
    assert dict(dataset.changed)[f"1.{kind}"] == "16 bits a channel cut to 8"


def test_crowded_pictures_are_left_out_of_training(both):
    train, val = load_data(both[0], CLASSES, 64, max_boxes=2)
    assert train.skipped == [("40.png", "has 3 boxes, more than --max-boxes 2")]
    assert "40.png: has 3 boxes, more than --max-boxes 2" in train.summary()
    assert train.box_counts().tolist() == [0, 1, 2, 0, 1, 2]
    assert (len(val), val.skipped) == (7, [])


def test_background_images(builder):
    """Neither a crowd's picture nor one that isn't labelled for all classes is one."""
    for boxes in ([], [(1, 5, 5, 20, 20, 1)], [(18, 5, 5, 20, 20)], [(77, 5, 5, 20, 20)], []):
        builder.add(64, 64, boxes)
    dataset = builder.dataset()
    assert dataset.box_counts().tolist() == [0, 0, 0, 1, 0]
    assert dataset.background_images().tolist() == [0, 2, 4]
    builder.images[4]["complete"] = [1]
    assert builder.dataset().background_images().tolist() == [0, 2]


def test_summary(builder):
    builder.add(200, 100, [(1, 0, 0, 5, 5), (77, 0, 0, 40, 40), (1, 0, 0, 100, 99)])
    builder.add(50, 50, [(18, 0, 0, 5, 5), (1, 0, 0, 32, 32)])
    builder.add(20, 20, picture=Image.new("RGBA", (20, 20)))
    text = builder.dataset().summary()
    assert "3 images (1 without boxes), 4 boxes (person 3, cell phone 1)" in text
    assert "1 boxes of other classes: dog 1" in text
    assert "1 files changed:\n    30.png: transparent parts" in text


@pytest.mark.parametrize("cache", ["memory", "disk"])
def test_training_pictures_are_sharper(both, cache):
    """The same file as both parts: shrunk without averaging for training, with it else."""
    train, val = load_data(both[0], CLASSES, 32, cache=cache)
    assert (train.antialias, val.antialias) == (False, True)
    shrunk = 0
    for k in range(len(train)):
        picture, size = train.picture(k), train.image_size
        for dataset in (train, val):
            expected = letterbox(picture, size, antialias=dataset.antialias)[0]
            np.testing.assert_array_equal(dataset[k].image, expected)
        if max(picture.shape) > size:
            shrunk += (train[k].image != val[k].image).any()
    assert shrunk


def test_pictures_that_are_in_both_parts(tmp_path):
    writers.WRITERS["coco"](tmp_path)
    shutil.copy(tmp_path / "images/train/a.png", tmp_path / "images/val/g.png")
    train, val = load_data(tmp_path, None, 32)
    assert equal_pictures(train, val) == [("a.png", "g.png")]
