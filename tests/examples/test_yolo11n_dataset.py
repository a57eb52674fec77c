"""Reading COCO-format data, letterboxing, augmentation and batches of the YOLO11n demo.

``data/letterbox.json`` and ``data/letterbox_image.npz`` hold results of the reference.
"""

import colorsys
import json
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from dataset import (
    Augment,
    BatchLoader,
    CocoDataset,
    Letterbox,
    augment_sample,
    find_data,
    keep_boxes,
    letterbox,
    to_corners,
    to_fractions,
    val_batches,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from utils import coco_map

DATA = Path(__file__).parent / "data"
CLASSES = ["person", "cell phone"]
CATEGORIES = [
    {"id": 77, "name": "cell phone"},
    {"id": 1, "name": "person"},
    {"id": 18, "name": "dog"},
]


class Builder:
    """Writes pictures and an annotation file."""

    def __init__(self, root):
        self.root, self.images, self.annotations = root, [], []
        self.folder = root / "pictures"
        self.folder.mkdir()
        self.rng = np.random.default_rng(0)

    def add(self, width, height, boxes=(), name=None, picture=None, **save):
        """An image with (category id, x, y, w, h[, iscrowd]) boxes; its id."""
        image_id = 10 * (len(self.images) + 1)
        name = name or f"{image_id}.png"
        if picture is None:
            pixels = self.rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
            picture = Image.fromarray(pixels)
        picture.save(self.folder / name, **save)
        self.images.append({"id": image_id, "file_name": name, "width": width, "height": height})
        for category, *box in boxes:
            self.annotations.append(
                {
                    "id": len(self.annotations) + 1,
                    "image_id": image_id,
                    "category_id": category,
                    "bbox": box[:4],
                    "area": box[2] * box[3],
                    "iscrowd": box[4] if len(box) > 4 else 0,
                }
            )
        return image_id

    def write(self, **changes):
        data = {
            "images": self.images,
            "annotations": self.annotations,
            "categories": CATEGORIES,
            **changes,
        }
        path = self.root / "instances.json"
        path.write_text(json.dumps({k: v for k, v in data.items() if v is not None}))
        return path

    def dataset(self, classes=CLASSES, size=64, **options):
        return CocoDataset(self.write(), self.folder, classes, size, **options)


@pytest.fixture
def builder(tmp_path):
    return Builder(tmp_path)


@pytest.fixture
def seven(builder):
    """Seven images of several shapes with 0 to 3 boxes."""
    for k, (width, height) in enumerate([(80, 60), (60, 80), (64, 64), (100, 50)] + 3 * [(72, 48)]):
        builder.add(
            width, height, [((1, 77)[j % 2], 5 + 9 * j, 8 + k, 20, 24) for j in range(k % 4)]
        )
    return builder.dataset()


# ------------------------------------------------------------------------------ letterbox


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


# ------------------------------------------------------------------------------ finding files


@pytest.mark.parametrize(
    ("suffix", "folder"), [("", "images/{}"), ("2017", "{}2017"), ("2017", "images/{}2017")]
)
def test_find_data(tmp_path, suffix, folder):
    (tmp_path / "annotations").mkdir()
    for split in ("train", "val"):
        (tmp_path / f"annotations/instances_{split}{suffix}.json").touch()
        (tmp_path / folder.format(split)).mkdir(parents=True)
    found = find_data(str(tmp_path))
    assert found.train_json == tmp_path / f"annotations/instances_train{suffix}.json"
    assert found.val_images == tmp_path / folder.format("val")
    assert found == find_data(tmp_path)


def test_find_data_error(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        find_data(tmp_path)
    for text in ("instances_train.json", "images/val", "instances_val2017.json", "train2017"):
        assert text in str(caught.value)


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
    assert builder.dataset(["cell phone"])[0].classes.tolist() == [0]


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
    assert (report["duplicates"], report["crowd"]) == (1, 1)
    assert (report["images"], report["background"], report["boxes"]) == (2, 1, 3)
    assert report["per_class"] == {"person": 2, "cell phone": 1}
    corners = dataset[0].geometry.undo(to_corners(dataset[0].boxes, 64))
    np.testing.assert_allclose(corners[0], [0, 5, 20, 25], atol=1e-4)
    assert dataset[1].boxes.shape == (0, 4)
    assert dataset[1].classes.shape == (0,)
    assert "1 boxes clipped" in dataset.summary()
    assert "crowd" in dataset.summary()
    assert dataset.max_boxes == 3


def test_broken_images_are_skipped(builder):
    builder.add(40, 30, [(1, 1, 1, 20, 20)])
    for name in ("missing.jpg", "short.jpg", "short.png", "text.jpg", "size.jpg", "deep.png"):
        builder.add(40, 30, [(1, 1, 1, 20, 20)], name=name)
    folder = builder.folder
    (folder / "missing.jpg").unlink()
    for name in ("short.jpg", "short.png"):
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[: len(data) // 2])
    (folder / "text.jpg").write_text("<html>not found</html>")
    Image.new("RGB", (30, 40)).save(folder / "size.jpg")
    Image.fromarray(np.zeros((30, 40), np.uint16)).save(folder / "deep.png")
    dataset = builder.dataset()
    assert len(dataset) == 1
    assert dataset.report["boxes"] == 1
    reasons = dict(dataset.skipped)
    assert list(reasons) == [image["file_name"] for image in builder.images[1:]]
    assert reasons["missing.jpg"] == "missing"
    assert all("not readable" in reasons[n] for n in ("short.jpg", "short.png", "text.jpg"))
    assert "30x40" in reasons["size.jpg"]
    assert "40x30" in reasons["size.jpg"]
    assert "8 bits" in reasons["deep.png"]
    assert "6 images skipped" in dataset.summary()
    assert "text.jpg" in dataset.summary()
    assert {a["image_id"] for a in dataset.ground_truth()["annotations"]} == {10}


def test_all_images_broken(builder):
    builder.add(40, 30, name="a.jpg")
    (builder.folder / "a.jpg").unlink()
    with pytest.raises(ValueError, match=r"none of the 1 images.*a\.jpg: missing"):
        builder.dataset()


def test_color_modes(builder):
    for mode, name in (("L", "a.jpg"), ("CMYK", "b.jpg"), ("P", "c.png"), ("RGBA", "d.png")):
        builder.add(
            40, 30, name=name, picture=Image.new("RGB", (40, 30), (200, 200, 200)).convert(mode)
        )
    dataset = builder.dataset()
    assert not dataset.skipped
    assert len(dataset) == 4
    for k in range(4):
        np.testing.assert_allclose(dataset[k].image[32, 32], 200, atol=8)


def test_exif_orientation(builder):
    # Stored on its side (30 x 40), to be shown turned by a quarter (40 x 30), red on top.
    pixels = np.zeros((40, 30, 3), np.uint8)
    pixels[:, :15] = [250, 0, 0]
    exif = Image.Exif()
    exif[0x0112] = 6
    builder.add(
        40, 30, [(1, 0, 0, 40, 15)], name="a.jpg", picture=Image.fromarray(pixels), exif=exif
    )
    sample = builder.dataset()[0]
    assert sample.geometry.width == 40
    assert sample.image[12, 32, 0] > 200
    assert sample.image[52, 32, 0] < 50


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"images": None}, "lacks.*images"),
        ({"annotations": None}, "lacks.*annotations"),
        ({"categories": None}, "lacks.*categories"),
        ({"categories": CATEGORIES * 2}, "twice"),
        ({"images": [{"id": 10, "file_name": "x", "width": 1, "height": 1}] * 2}, "id 10 twice"),
    ],
)
def test_bad_files(builder, changes, message):
    builder.add(40, 30)
    with pytest.raises(ValueError, match=message):
        CocoDataset(builder.write(**changes), builder.folder, CLASSES, 64)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"category_id": 5}, "annotation 2 has category_id 5"),
        ({"image_id": 11}, "annotation 2 has image_id 11"),
        ({"bbox": [1, 2, 3]}, "annotation 2 has bbox"),
        ({"bbox": [1, 2, 3, float("nan")]}, "annotation 2 has bbox"),
    ],
)
def test_bad_annotations(builder, change, message):
    builder.add(40, 30, [(1, 1, 1, 9, 9)] * 2)
    builder.annotations[1] |= change
    with pytest.raises(ValueError, match=message):
        builder.dataset()


def test_annotation_without_a_field(builder):
    builder.add(40, 30, [(1, 1, 1, 9, 9)] * 2)
    del builder.annotations[1]["bbox"]
    with pytest.raises(ValueError, match=r"annotations\[1\] lacks bbox"):
        builder.dataset()


def test_bad_arguments(builder):
    builder.add(40, 30)
    with pytest.raises(ValueError, match=r"no category \['zebra'\].*cell phone.*dog"):
        builder.dataset(["person", "zebra"])
    with pytest.raises(ValueError, match="distinct"):
        builder.dataset(["person", "person"])
    with pytest.raises(ValueError, match="distinct"):
        builder.dataset([])
    with pytest.raises(ValueError, match="image_size"):
        builder.dataset(size=0)
    with pytest.raises(FileNotFoundError, match=r"none\.json does not exist"):
        CocoDataset(builder.root / "none.json", builder.folder, CLASSES)
    with pytest.raises(FileNotFoundError, match="image folder"):
        CocoDataset(builder.write(), builder.root / "elsewhere", CLASSES)
    (builder.root / "broken.json").write_text("{")
    with pytest.raises(ValueError, match="not valid JSON"):
        CocoDataset(builder.root / "broken.json", builder.folder, CLASSES)
    (builder.root / "list.json").write_text("[]")
    with pytest.raises(ValueError, match="not a COCO"):
        CocoDataset(builder.root / "list.json", builder.folder, CLASSES)


def test_without_cache(builder, seven):
    lazy = builder.dataset(cache=False)
    threaded = builder.dataset(threads=3)
    for k in range(len(seven)):
        for other in (lazy[k], threaded[k]):
            np.testing.assert_array_equal(other.image, seven[k].image)
            np.testing.assert_array_equal(other.boxes, seven[k].boxes)
            assert other.geometry == seven[k].geometry
    (builder.folder / "30.png").unlink()
    with pytest.raises(OSError, match=r"30\.png has changed: missing"):
        lazy[2]


def test_dataset_as_ground_truth(seven):
    found = {}
    for k in range(len(seven)):
        sample = seven[k]
        corners = sample.geometry.undo(to_corners(sample.boxes, 64))
        rows = [corners, np.ones((len(corners), 1)), sample.classes[:, None]]
        found[sample.image_id] = np.concatenate(rows, axis=1)
    assert coco_map(seven, found)["map50_95"] == pytest.approx(1.0)
    assert set(coco_map(seven, {})["per_class"]) == set(CLASSES)
    with pytest.raises(ValueError, match="the dataset's are"):
        coco_map(seven, found, CLASSES[::-1])


# ------------------------------------------------------------------------------ augmentation


OFF = dict.fromkeys(vars(Augment()), 0.0)


def test_augment_nothing(seven):
    for k in (0, 1, 3):
        image, boxes, classes = augment_sample(seven, k, Augment(**OFF), np.random.default_rng(0))
        np.testing.assert_array_equal(image, seven[k].image)
        np.testing.assert_allclose(boxes, seven[k].boxes, atol=1e-6)
        np.testing.assert_array_equal(classes, seven[k].classes)


def test_augment_flip(seven):
    image, boxes, classes = augment_sample(
        seven, 3, Augment(**{**OFF, "flip": 1.0}), np.random.default_rng(0)
    )
    np.testing.assert_array_equal(image, seven[3].image[:, ::-1])
    want = seven[3].boxes.copy()
    want[:, 0] = 1 - want[:, 0]
    np.testing.assert_allclose(boxes, want, atol=1e-6)
    np.testing.assert_array_equal(classes, seven[3].classes)


def marked_set(builder, count, size=96):
    """Images with one plainly coloured box on black each, sides of several proportions."""
    rng = np.random.default_rng(5)
    for _ in range(count):
        width, height = rng.integers(60, 160, 2).tolist()
        pixels = np.zeros((height, width, 3), np.uint8)
        x, y = int(rng.integers(0, width // 2)), int(rng.integers(0, height // 2))
        w, h = int(rng.integers(20, width // 2)), int(rng.integers(20, height // 2))
        pixels[y : y + h, x : x + w] = 255
        builder.add(width, height, [(1, x, y, w, h)], picture=Image.fromarray(pixels))
    return builder.dataset(size=size)


@pytest.mark.parametrize("mosaic", [0.0, 1.0])
def test_boxes_follow_the_pixels(builder, mosaic):
    # The one thing that matters of an augmentation: after any of them, the boxes are exactly
    # where the white areas are.
    dataset = marked_set(builder, 6)
    augment = Augment(
        flip=0.5, hue=0, saturation=0, value=0, brightness=0, contrast=0, mosaic=mosaic
    )
    seen = 0
    for k in range(60):
        image, boxes, _ = augment_sample(dataset, k % 6, augment, np.random.default_rng(k))
        corners = to_corners(boxes, 96)
        assert corners.min(initial=0) > -1e-4
        assert corners.max(initial=96) < 96 + 1e-4
        inside = np.zeros((96, 96), bool)
        near = np.zeros((96, 96), bool)
        for x1, y1, x2, y2 in corners:
            # Edges are smeared over about a pixel either way, in the source and in the warp.
            inside[int(y1 + 3) : int(y2 - 2), int(x1 + 3) : int(x2 - 2)] = True
            near[max(int(y1 - 3), 0) : int(y2 + 4), max(int(x1 - 3), 0) : int(x2 + 4)] = True
        white = image.min(axis=2) > 200
        assert white[inside].all()
        # Only slivers, which keep_boxes drops, may be white elsewhere.
        assert (white & ~near).sum() < 0.1 * 96 * 48
        if not mosaic and len(boxes):
            assert not (white & ~near).any()
        seen += len(boxes)
    assert seen > (85 if mosaic else 50)


def test_mosaic_shows_four_images(builder):
    for level in (30, 60, 150, 200, 250):
        builder.add(80, 60, [(1, 10, 10, 40, 40)], picture=Image.new("RGB", (80, 60), (level,) * 3))
    dataset = builder.dataset(size=96)
    augment = Augment(**{**OFF, "mosaic": 1.0})
    seen = set()
    for k in range(20):
        image, boxes, _ = augment_sample(dataset, 0, augment, np.random.default_rng(k))
        levels = set(np.unique(image)) - {114}
        seen |= levels
        assert levels <= {30, 60, 150, 200, 250}
        assert len(levels) <= 4
        assert len(boxes) <= 4
    assert seen == {30, 60, 150, 200, 250}
    assert dataset.max_boxes == 1
    assert dataset.max_boxes_with(mosaic=True) == 4


def test_small_sets_repeat_images_in_mosaics(builder):
    builder.add(80, 60, [(1, 10, 10, 40, 40), (1, 20, 20, 30, 30)])
    dataset = builder.dataset(size=96)
    assert dataset.max_boxes_with(mosaic=True) == 8
    loader = BatchLoader(dataset, 2, augment=Augment(mosaic=1.0))
    assert max(int(b.num_boxes.max()) for e in range(10) for b in loader.epoch(e)) > 2


def test_keep_boxes_rule():
    before = np.array([[0.0, 0, 10, 10]] * 5)
    before[4] = [0, 0, 400, 4]
    after = np.array(
        [[0.0, 0, 2, 20], [0, 0, 2.1, 20], [0, 0, 4, 9], [0, 0, 4, 11], [0, 0, 400, 3.9]]
    )
    # At twice the size: too narrow; wide enough; 9 % of the area; 11 %; aspect above 100.
    assert keep_boxes(before, after, 2.0).tolist() == [False, True, False, True, False]


def test_scale_and_shift_ranges(builder):
    pixels = np.zeros((96, 96, 3), np.uint8)
    builder.add(96, 96, [(1, 38, 38, 20, 20)], picture=Image.fromarray(pixels))
    dataset = builder.dataset(size=96)
    augment = Augment(scale=0.5, translate=0.1)
    boxes = np.concatenate(
        [augment_sample(dataset, 0, augment, np.random.default_rng(k))[1] for k in range(400)]
    )
    gain = boxes[:, 2] * 96 / 20
    assert 0.5 <= gain.min() < 0.55
    assert 1.45 < gain.max() <= 1.5
    for axis in range(2):
        assert 0.4 - 1e-6 <= boxes[:, axis].min() < 0.41
        assert 0.59 < boxes[:, axis].max() <= 0.6 + 1e-6


def colors_of(builder, color, **gains):
    builder.add(64, 64, picture=Image.new("RGB", (64, 64), color))
    dataset = builder.dataset()
    augment = Augment(**{**OFF, **gains})
    images = [augment_sample(dataset, 0, augment, np.random.default_rng(k))[0] for k in range(200)]
    return np.array([image[32, 32] for image in images])


def test_hsv_gains(builder):
    colors = colors_of(builder, (200, 110, 95), hue=0.1, saturation=0.5, value=0.2)
    hsv = np.array([colorsys.rgb_to_hsv(*(c / 255)) for c in colors])
    hue, saturation, value = colorsys.rgb_to_hsv(200 / 255, 110 / 255, 95 / 255)
    turn = (hsv[:, 0] - hue + 0.5) % 1 - 0.5
    # The ends of each range are reached, and not passed but for rounding to 8 bits.
    for got, gain in ((turn, 0.1), (hsv[:, 1] / saturation - 1, 0.5), (hsv[:, 2] / value - 1, 0.2)):
        assert 0.9 * gain < got.max() < gain + 0.02
        assert -0.9 * gain > got.min() > -gain - 0.02


def test_grey_stays_grey(builder):
    colors = colors_of(builder, (90, 90, 90), hue=0.5, saturation=0.7, value=0.4).astype(int)
    assert np.ptp(colors, axis=1).max() == 0
    assert colors.min() < 60
    assert colors.max() > 120


def test_brightness_and_contrast(builder):
    bright = colors_of(builder, (120, 60, 200), brightness=0.1).astype(int) - [120, 60, 200]
    assert np.ptp(bright, axis=1).max() <= 1
    assert 22 < bright.max() <= 26
    assert -22 > bright.min() >= -26
    contrast = (colors_of(builder, (120, 60, 200), contrast=0.5)[:, 2] - 127.5) / 72.5
    assert 1.45 < contrast.max() <= 1.51
    assert 0.49 <= contrast.min() < 0.55


@pytest.mark.parametrize("change", [{"flip": 1.5}, {"hue": -0.1}, {"scale": 1.0}])
def test_augment_errors(change):
    with pytest.raises(ValueError, match=next(iter(change))):
        Augment(**change)


def test_augmentation_is_fast(builder):
    builder.add(320, 240, [(1, 10, 10, 100, 100)])
    dataset = builder.dataset(size=320)
    for mosaic in (0.0, 1.0):
        times = []
        for k in range(15):
            start = time.perf_counter()
            augment_sample(dataset, 0, Augment(mosaic=mosaic), np.random.default_rng(k))
            times.append(time.perf_counter() - start)
        assert min(times) < 0.02  # about 4 ms


# ------------------------------------------------------------------------------ batches


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_batch_layout(seven):
    loader = BatchLoader(seven, 3, image_size=64, max_boxes=5, augment=Augment())
    batches = list(loader.epoch(0))
    assert len(batches) == len(loader) == 3
    for batch in batches:
        assert batch.images.shape == (3, 3, 64, 64)
        assert batch.images.dtype == np.uint8
        assert batch.images.flags.c_contiguous
        assert batch.boxes.shape == (3, 5, 4)
        assert batch.boxes.dtype == np.float32
        assert batch.classes.shape == (3, 5)
        assert batch.classes.dtype == np.int32
        assert batch.num_boxes.shape == (3,)
        assert batch.num_boxes.dtype == np.int32
        for row, count in enumerate(batch.num_boxes):
            assert not batch.boxes[row, count:].any()
            assert not batch.classes[row, count:].any()
            assert (batch.boxes[row, :count, 2:] > 0).all()


def test_batches_without_augmentation(seven):
    for batch in BatchLoader(seven, 4).epoch(3):
        for row, index in enumerate(batch.indices):
            sample = seven[index]
            np.testing.assert_array_equal(batch.images[row], sample.image.transpose(2, 0, 1))
            count = batch.num_boxes[row]
            np.testing.assert_array_equal(batch.boxes[row, :count], sample.boxes)
            np.testing.assert_array_equal(batch.classes[row, :count], sample.classes)


def test_order_and_filling(seven):
    loader = BatchLoader(seven, 3, seed=2)
    orders = []
    for epoch in range(3):
        indices = np.concatenate([batch.indices for batch in loader.epoch(epoch)])
        assert sorted(indices[:7]) == list(range(7))
        np.testing.assert_array_equal(indices[:7], loader.order(epoch))
        np.testing.assert_array_equal(indices[7:], loader.order(epoch + 1)[:2])
        orders.append(tuple(indices[:7]))
    assert len(set(orders)) == 3
    assert tuple(BatchLoader(seven, 3, seed=3).order(0)) != orders[0]


def test_filler_looks_as_in_the_next_epoch(seven):
    loader = BatchLoader(seven, 3, augment=Augment())
    *_, last = loader.epoch(0)
    first = next(loader.epoch(1))
    np.testing.assert_array_equal(last.images[1:], first.images[:2])
    np.testing.assert_array_equal(last.boxes[1:], first.boxes[:2])


def test_batch_larger_than_the_dataset(seven):
    loader = BatchLoader(seven, 16)
    (batch,) = loader.epoch(0)
    want = np.concatenate([loader.order(0), loader.order(1), loader.order(2)[:2]])
    np.testing.assert_array_equal(batch.indices, want)


@pytest.mark.parametrize("mosaic", [0.0, 0.5])
def test_workers_change_nothing(seven, mosaic):
    settings = {"batch_size": 2, "seed": 4, "augment": Augment(mosaic=mosaic)}
    plain = list(BatchLoader(seven, workers=0, **settings).epoch(1))
    for workers in (1, 3):
        threaded = list(BatchLoader(seven, workers=workers, **settings).epoch(1))
        assert all(same(a, b) for a, b in zip(plain, threaded, strict=True))
    other = list(BatchLoader(seven, workers=0, **settings).epoch(2))
    assert not np.array_equal(plain[0].images, other[0].images)


def test_epochs_differ(seven):
    images = []
    for epoch in range(2):
        batches = BatchLoader(seven, 1, augment=Augment()).epoch(epoch)
        images += [batch.images for batch in batches if batch.indices[0] == 3]
    assert not np.array_equal(*images)


@pytest.mark.parametrize("start", [0, 1, 3, 4])
def test_resume(seven, start):
    loader = BatchLoader(seven, 2, augment=Augment(mosaic=0.5), seed=1)
    whole = list(loader.epoch(5))
    again = BatchLoader(seven, 2, augment=Augment(mosaic=0.5), seed=1)
    tail = list(again.epoch(5, start_batch=start))
    assert len(tail) == 4 - start
    assert all(same(a, b) for a, b in zip(whole[start:], tail, strict=True))


def test_mosaic_until(seven):
    settings = {"batch_size": 7, "seed": 1, "workers": 0}
    closing = BatchLoader(seven, augment=Augment(mosaic=1.0), mosaic_until=2, **settings)
    always = BatchLoader(seven, augment=Augment(mosaic=1.0), **settings)
    never = BatchLoader(seven, augment=Augment(), **settings)
    pairs = ((1, always), (2, never))
    for epoch, other in pairs:
        ours, theirs = next(closing.epoch(epoch)), next(other.epoch(epoch))
        np.testing.assert_array_equal(ours.images, theirs.images)
    assert closing.max_boxes == always.max_boxes > never.max_boxes


def test_too_many_boxes(seven):
    loader = BatchLoader(seven, 2, max_boxes=2)
    with pytest.raises(ValueError, match=r"40\.png has 3 boxes.*max_boxes is 2"):
        list(loader.epoch(0))


def batch_threads():
    return [t for t in threading.enumerate() if t.name.startswith("batches")]


def test_workers_report_errors_and_stop(builder, seven):
    lazy = builder.dataset(cache=False)
    (builder.folder / "50.png").unlink()
    with pytest.raises(OSError, match=r"50\.png has changed"):
        list(BatchLoader(lazy, 2, workers=2).epoch(0))
    assert not batch_threads()
    early = BatchLoader(seven, 1, workers=2).epoch(0)
    next(early)
    assert batch_threads()
    early.close()
    assert not batch_threads()


def test_loader_errors(seven):
    with pytest.raises(ValueError, match="dataset was made for 64"):
        BatchLoader(seven, 2, image_size=320)
    for bad in ({"batch_size": 0}, {"batch_size": 2, "workers": -1}, {"batch_size": 2, "seed": -1}):
        with pytest.raises(ValueError, match="must be positive"):
            BatchLoader(seven, **bad)
    loader = BatchLoader(seven, 2)
    for epoch, start in ((0, 5), (0, -1), (-1, 0)):
        with pytest.raises(ValueError, match="4 batches"):
            loader.epoch(epoch, start)


def test_val_batches(seven):
    batches = list(val_batches(seven, 3))
    assert [len(batch.image_ids) for batch in batches] == [3, 3, 1]
    assert [k for batch in batches for k in batch.image_ids] == seven.image_ids
    for batch in batches:
        assert batch.images.shape == (3, 3, 64, 64)
        assert batch.images.dtype == np.uint8
    last = batches[-1]
    np.testing.assert_array_equal(last.images[0], seven[6].image.transpose(2, 0, 1))
    assert (last.images[1:] == 114).all()
    assert last.geometries == [seven[6].geometry]
    with pytest.raises(ValueError, match="must be positive"):
        next(val_batches(seven, 0))


def test_fractions_and_corners():
    corners = np.array([[10.0, 20, 30, 60]])
    fractions = to_fractions(corners, 100)
    np.testing.assert_allclose(fractions, [[0.2, 0.4, 0.2, 0.4]])
    np.testing.assert_allclose(to_corners(fractions, 100), corners, atol=1e-5)
