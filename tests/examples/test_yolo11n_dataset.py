"""Reading data sets in COCO's format."""

from pathlib import Path

import numpy as np
import pytest
from dataset import CocoDataset, find_data
from images import letterbox, to_corners
from PIL import Image
from utils import coco_map

from tests.examples.conftest import CATEGORIES, CLASSES

DATA = Path(__file__).parent / "data"


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
