"""Reading data sets in COCO's and YOLO's formats, and keeping their decoded pictures."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from data import image_cache
from data.images import letterbox, to_corners
from data.yaml_text import YamlError, read_yaml
from data.yolo_format import find_yolo
from dataset import (
    CacheError,
    CocoDataset,
    DataPaths,
    find_data,
    load_data,
    load_split,
    open_shared,
)
from PIL import Image
from utils import coco_map

from tests.examples.conftest import CATEGORIES, CLASSES

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize(
    ("annotations", "images", "val"),
    [
        ("annotations/instances_{}.json", "images/{}", "val"),
        ("annotations/instances_{}2017.json", "{}2017", "val"),
        ("annotations/instances_{}2017.json", "images/{}2017", "val"),
        ("{}/_annotations.coco.json", "{}", "valid"),
        ("{}/labels.json", "{}/data", "validation"),
        ("{}.json", "images/{}", "val"),
    ],
)
def test_find_data(tmp_path, annotations, images, val):
    for split in ("train", val):
        (tmp_path / annotations.format(split)).parent.mkdir(exist_ok=True)
        (tmp_path / annotations.format(split)).touch()
        (tmp_path / images.format(split)).mkdir(parents=True, exist_ok=True)
    found = find_data(str(tmp_path))
    assert found.train_json == tmp_path / annotations.format("train")
    assert found.val_images == tmp_path / images.format(val)
    assert found == find_data(tmp_path)
    assert found == find_data(found.train_json) == find_data(found.val_json)
    other = tmp_path / "other.json"
    other.touch()
    with pytest.raises(FileNotFoundError, match=r"other\.json is in no folder layout"):
        find_data(other)


def test_find_data_error(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        find_data(tmp_path)
    for text in (
        "annotations/instances_{train,val}.json + images/{train,val};",
        "annotations/instances_{train,val}2017.json + {train,val}2017;",
        "or valid or validation",
    ):
        assert text in str(caught.value)
    assert "\n" not in str(caught.value)


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
    for name in ("missing.jpg", "short.jpg", "short.png", "text.jpg", "size.jpg", "deep.tiff"):
        builder.add(40, 30, [(1, 1, 1, 20, 20)], name=name)
    folder = builder.folder
    (folder / "missing.jpg").unlink()
    for name in ("short.jpg", "short.png"):
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[: len(data) // 2])
    (folder / "text.jpg").write_text("<html>not found</html>")
    Image.new("RGB", (30, 40)).save(folder / "size.jpg")
    Image.fromarray(np.zeros((30, 40), np.float32)).save(folder / "deep.tiff")
    dataset = builder.dataset()
    assert len(dataset) == 1
    assert dataset.report["boxes"] == 1
    reasons = dict(dataset.skipped)
    assert list(reasons) == [image["file_name"] for image in builder.images[1:]]
    assert reasons["missing.jpg"] == "missing"
    assert all("not readable" in reasons[n] for n in ("short.jpg", "short.png", "text.jpg"))
    assert "30x40" in reasons["size.jpg"]
    assert "40x30" in reasons["size.jpg"]
    assert "8 bits" in reasons["deep.tiff"]
    assert "6 files skipped" in dataset.summary()
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
        ({"images": [{"id": 10}]}, r"images\[0\] lacks file_name"),
        ({"images": [{"id": 10, "file_name": "x", "width": 1}]}, "width 1 and height None"),
        ({"images": 3}, "`images` must be a list"),
        ({"images": []}, "none of the 0 images"),
        ({"categories": [*CATEGORIES, {"id": 1, "name": "x"}]}, "category id twice"),
        ({"categories": [{"id": 1, "name": 7}]}, r"categories\[0\] has name 7; it must be text"),
        (
            {"images": [{"id": [1], "file_name": "x"}]},
            r"images\[0\] has id \[1\]; it must be",
        ),
        ({"images": [{"id": 1, "file_name": None}]}, r"images\[0\] has file_name None"),
        (
            {"images": [{"id": 1, "file_name": "x", "width": float("inf"), "height": 2.5}]},
            "width inf and height 2.5; they must be positive whole numbers",
        ),
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
        ({"category_id": [1]}, r"annotations\[1\] has category_id \[1\]; it must be a number"),
        ({"image_id": {}}, r"annotations\[1\] has image_id \{\}; it must be a number"),
        ({"image_id": 11}, "annotation 2 has image_id 11"),
        ({"bbox": [1, 2, 3]}, "annotation 2 has bbox"),
        ({"bbox": [1, 2, 3, float("nan")]}, "annotation 2 has bbox"),
        ({"bbox": [1, 2, 3, "4"]}, "annotation 2 has bbox"),
        ({"bbox": [], "segmentation": [[1, 2, 3]]}, "annotation 2 has neither a bbox nor"),
        ({"bbox": [], "segmentation": {"size": [3, 4], "counts": [5]}}, "2 has neither.*add up"),
        ({"bbox": []}, r"annotations\[1\] lacks bbox"),
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
    with pytest.raises(ValueError, match="cache is 'tape'"):
        builder.dataset(cache="tape")
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
    for k in range(len(seven)):
        np.testing.assert_array_equal(lazy[k].image, seven[k].image)
        np.testing.assert_array_equal(lazy[k].boxes, seven[k].boxes)
        assert lazy[k].geometry == seven[k].geometry
    with pytest.raises(ValueError, match="without a cache"):
        _ = lazy.squares
    with pytest.raises(ValueError, match="without a cache"):
        lazy.share()
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


# ------------------------------------------------------------------------------ more of COCO


def test_boxes_from_segmentations(builder):
    builder.add(40, 30, [(1, 0, 0, 1, 1)] * 4)
    mask = np.zeros((30, 40), bool)
    mask[4:9, 10:25] = True
    runs = np.flatnonzero(np.diff(mask.ravel("F"), prepend=False, append=False))
    counts = np.diff(runs, prepend=0, append=mask.size).tolist()
    segmentations = [
        [[3, 4, 20, 4, 20.5, 9], [1, 8, 2, 8, 2, 11]],
        {"size": [30, 40], "counts": counts},
        {"size": [30, 40], "counts": "not asked, because there is a box"},
        {"size": [30, 40], "counts": counts},
    ]
    for annotation, segmentation in zip(builder.annotations, segmentations, strict=True):
        annotation["segmentation"] = segmentation
    del builder.annotations[0]["bbox"], builder.annotations[3]["bbox"]
    builder.annotations[1]["bbox"] = []
    builder.annotations[3]["iscrowd"] = 1
    dataset = builder.dataset()
    corners = dataset[0].geometry.undo(to_corners(dataset[0].boxes, 64))
    np.testing.assert_allclose(corners, [[1, 4, 20.5, 11], [10, 4, 25, 9], [0, 0, 1, 1]], atol=1e-5)
    assert dataset.report["from_segmentation"] == 3
    assert "3 boxes made from segmentations" in dataset.summary()
    truth = dataset.ground_truth()["annotations"]
    assert [a["bbox"] for a in truth] == [
        [1, 4, 19.5, 7],
        [10, 4, 15, 5],
        [0, 0, 1, 1],
        [10, 4, 15, 5],
    ]
    assert coco_map(dataset, {})["map50_95"] == 0


def test_sizes_of_turned_pictures(builder):
    # The same stored pixels, once with the upright size in the file and once with the stored one.
    exif = Image.Exif()
    exif[0x0112] = 6
    pixels = Image.fromarray(np.full((40, 30, 3), 9, np.uint8))
    for width, height in ((40, 30), (30, 40)):
        builder.add(width, height, [(1, 0, 0, 20, 10)], picture=pixels, exif=exif)
    dataset = builder.dataset()
    assert [(s.geometry.width, s.geometry.height) for s in dataset] == [(40, 30), (30, 40)]
    assert [dataset.picture(k).shape for k in (0, 1)] == [(30, 40, 3), (40, 30, 3)]
    assert [name for name, _ in dataset.changed] == ["20.png"]
    assert "20.png: EXIF orientation ignored" in dataset.summary()
    assert dataset.report["changed"] == 1


def test_summary(builder):
    builder.add(200, 100, [(1, 0, 0, 5, 5), (77, 0, 0, 40, 40), (1, 0, 0, 100, 99)])
    builder.add(50, 50, [(18, 0, 0, 5, 5), (1, 0, 0, 32, 32)])
    builder.add(20, 20, picture=Image.new("RGBA", (20, 20)))
    text = builder.dataset().summary()
    assert "3 images (1 without boxes), 4 boxes (person 3, cell phone 1)" in text
    assert "25% small, 50% medium, 25% large" in text
    assert "1 boxes of other classes: dog 1" in text
    assert "1 files changed:\n    30.png: transparent parts" in text


def test_all_classes(builder, tmp_path):
    builder.add(50, 50, [(18, 0, 0, 5, 5)])
    dataset = builder.dataset(None)
    assert dataset.classes == ["cell phone", "person", "dog"]
    assert dataset.category_ids == [77, 1, 18]
    assert dataset[0].classes.tolist() == [2]
    # A group that an annotation tool has added.
    group = [{"id": 0, "name": "things"}]
    categories = group + [{**c, "supercategory": "things"} for c in CATEGORIES]
    grouped = CocoDataset(builder.write(categories=categories), builder.folder, None, 64)
    assert grouped.classes == dataset.classes
    assert "things" in grouped.summary()


def test_sizes_may_be_absent(builder, seven):
    for image in builder.images:
        del image["width"], image["height"]
    bare = builder.dataset()
    for sample, other in zip(bare, seven, strict=True):
        np.testing.assert_array_equal(sample.boxes, other.boxes)


# ------------------------------------------------------------------------------ text labels


@pytest.fixture
def both(builder, seven, tmp_path):
    """(COCO annotation file, folder with the same as text labels)."""
    builder.annotations[0]["bbox"] = [-3, 5, 30, 30]  # over the edge
    builder.annotations.append({**builder.annotations[1], "id": 99})  # twice
    for split in ("train", "val"):
        builder.write_yolo(tmp_path / "yolo", split)
    return builder.write(), tmp_path / "yolo"


def same(first, second):
    """Whether two data sets have the same samples."""
    assert len(first) == len(second)
    for k in range(len(first)):
        a, b = first[k], second[k]
        assert first.file_name(k) == second.file_name(k)
        np.testing.assert_array_equal(a.image, b.image)
        np.testing.assert_allclose(a.boxes, b.boxes, atol=2e-7)
        np.testing.assert_array_equal(a.classes, b.classes)
        assert a.boxes.dtype == b.boxes.dtype == np.float32
        assert a.classes.dtype == b.classes.dtype == np.int32
        assert a.geometry == b.geometry
    return True


@pytest.mark.parametrize("classes", [None, CLASSES, ["dog", "cell phone"]])
def test_formats_agree(builder, both, classes):
    path, root = both
    coco = load_data(DataPaths(path, builder.folder, path, builder.folder), classes, 64)
    for data in (root, root / "data.yaml", str(root)):
        for first, second in zip(coco, load_data(data, classes, 64), strict=True):
            assert same(first, second)
            keys = ("images", "background", "boxes", "per_class", "duplicates", "clipped")
            for key in (*keys, "zero_area", "other_classes", "box_sizes"):
                assert first.report[key] == second.report[key], key
    assert second.image_dir == root / "images/val"
    assert second.image_ids == [1, 2, 3, 4, 5, 6, 7]
    assert second.category_ids == [
        ["cell phone", "person", "dog"].index(name) + 1 for name in second.classes
    ]


def test_scores_of_formats_agree(builder, seven, tmp_path):
    for split in ("train", "val"):
        builder.write_yolo(tmp_path / "yolo", split)
    yolo, _ = load_data(tmp_path / "yolo", CLASSES, 64)
    rng = np.random.default_rng(0)
    scores = []
    shifts = [rng.normal(0, 2, (len(sample.classes), 4)) for sample in seven]
    for dataset in (seven, yolo):
        found = {}
        for sample, shift in zip(dataset, shifts, strict=True):
            corners = sample.geometry.undo(to_corners(sample.boxes, 64)) + shift
            columns = [corners, np.full((len(corners), 1), 0.5), sample.classes[:, None]]
            found[sample.image_id] = np.concatenate(columns, axis=1)
        scores.append(coco_map(dataset, found)["map50_95"])
    assert 0.3 < scores[0] < 0.9
    assert scores[0] == pytest.approx(scores[1], abs=1e-12)


def test_ground_truth_of_text_labels(both):
    yolo, _ = load_data(both[1], CLASSES, 64)
    truth = yolo.ground_truth()
    assert len(truth["annotations"]) == yolo.report["boxes"]
    first = next(a for a in truth["annotations"] if a["image_id"] == 2)
    assert first == {
        "id": 1,
        "image_id": 2,
        "category_id": 2,
        "bbox": pytest.approx([0, 5, 27, 30]),
        "area": pytest.approx(27 * 30),
        "iscrowd": 0,
    }
    assert truth["categories"] == [{"id": 2, "name": "person"}, {"id": 1, "name": "cell phone"}]


def test_polygons(builder, tmp_path):
    for _ in range(2):
        builder.add(40, 20, [(1, 0, 0, 1, 1)])
    for split in ("train", "val"):
        builder.write_yolo(tmp_path / "yolo", split)
    label = tmp_path / "yolo/labels/train/10.txt"
    label.write_text("1 0.25 0.5 0.5 0.75 0.375 0.1\n\n2 0.5 0.5 0.2 0.2\n")
    train, _ = load_data(tmp_path / "yolo", None, 64)
    corners = train[0].geometry.undo(to_corners(train[0].boxes, 64))
    np.testing.assert_allclose(corners, [[10, 2, 20, 15], [16, 8, 24, 12]], atol=1e-5)
    assert train.report["from_polygon"] == 1
    assert "polygons" in train.summary()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1 0.5 0.5 0.2", "line 2: 4 numbers"),
        ("1 0.5 0.5 0.2 0.2 0.9", "line 2: 6 numbers"),
        ("1 0.5 0.5 0.2 0.2 0.9 0.9 0.9", "line 2: 8 numbers"),
        ("1 0.5 0.5 0.2 1.02", "line 2: 1.02 is no fraction"),
        ("1 -0.02 0.5 0.2 0.2", "line 2: -0.02 is no fraction"),
        ("1 nan 0.5 0.2 0.2", "line 2: nan is no fraction"),
        ("3 0.5 0.5 0.2 0.2", "line 2: class 3, but there are 3 classes"),
        ("-1 0.5 0.5 0.2 0.2", "line 2: class -1"),
        ("1.5 0.5 0.5 0.2 0.2", "line 2: class 1.5"),
        ("person 0.5 0.5 0.2 0.2", "line 2: not numbers"),
        ("\xff", "UTF-8|utf-8"),
    ],
)
def test_corrupt_labels(builder, both, line, reason):
    root = both[1]
    label = root / "labels/train/20.txt"
    good = "1 1.005 0.5 -0.005 0.2\n"  # within the tolerance
    label.write_text(good + line + "\n", encoding="latin-1")
    train, val = load_data(root, None, 64)
    assert len(train) == 6
    assert len(val) == 7
    [(name, found)] = train.skipped
    assert name == "20.png"
    assert found.startswith("labels labels/train/20.txt")
    assert reason in found or any(part in found for part in reason.split("|"))
    assert found in train.summary()
    assert 2 not in train.image_ids  # the others keep their numbers
    assert 3 in train.image_ids
    label.write_text(good)
    assert load_data(root, None, 64)[0].report["zero_area"] == 1


def test_pictures_without_a_label_file(both):
    root = both[1]
    folder = root / "labels/train"
    (folder / "20.txt").rename(folder / "20.TXT")
    (folder / "30.txt").unlink()
    (folder / "Gone.TXT").touch()
    train, val = load_data(root, None, 64)
    np.testing.assert_array_equal(train[1].boxes, val[1].boxes)
    absent = val.report["no_label_file"]  # of pictures without boxes
    assert absent == val.report["background"] == 2
    assert train.report["no_label_file"] == train.report["background"] == absent + 1
    assert "  3 images have no label file and are taken as background" in train.summary()
    assert train.skipped == [("labels/train/Gone.TXT", "labels without a picture")]


def test_files_that_do_not_belong(both):
    root = both[1]
    (root / "images/train/phone.heic").touch()
    (root / "images/train/notes.txt").touch()
    (root / "images/train/.hidden.jpg").touch()
    (root / "labels/train/gone.txt").write_text("0 0.5 0.5 0.1 0.1\n")
    train, _ = load_data(root, None, 64)
    assert len(train) == 7
    assert [name for name, _ in train.skipped] == ["phone.heic", "labels/train/gone.txt"]
    assert "labels without a picture" in train.summary()


def test_without_any_label(both):
    root = both[1]
    (root / "labels/val").rename(root / "labels/elsewhere")
    with pytest.raises(ValueError, match=r"none of the 7 val pictures.*labels/val/10\.txt"):
        load_data(root, None, 64)


@pytest.mark.parametrize(
    "form", ["list", "text", "roboflow", "names", "absolute", "nested", "beside"]
)
def test_yolo_layouts(both, tmp_path, form):
    root = both[1]
    expected, _ = load_data(root, None, 64)
    names = "names: [cell phone, person, dog]\n"
    data = root / "data.yaml"
    if form == "list":
        (root / "images/more").mkdir()
        (root / "labels/more").mkdir()
        for k in (10, 20):
            (root / f"images/train/{k}.png").rename(root / f"images/more/{k}.png")
        (root / "labels/train/20.txt").rename(root / "labels/more/20.txt")
        data.write_text(f"train:\n- images/more\n- images/train\nval: images/val\n{names}")
    elif form == "text":
        lines = [f"./images/train/{k}0.png" for k in (3, 1, 2, 4, 5, 6, 7, 1)]
        (root / "train.txt").write_text("\n".join([*lines, "images/train/none.png", ""]))
        data.write_text(f"train: train.txt\nval: images/val\n{names}")
    elif form == "roboflow":
        for split, name in (("train", "train"), ("val", "valid")):
            (root / name).mkdir()
            for kind in ("images", "labels"):
                (root / kind / split).rename(root / name / kind)
        data.write_text(f"train: ../train/images\nval: ../valid/images\nnc: 3\n{names}")
    elif form == "names":
        data.unlink()
        (root / "classes.txt").write_text("cell phone\nperson\ndog\n")
    elif form == "nested":  # the last folder called images counts
        (tmp_path / "images").mkdir()
        root = root.rename(tmp_path / "images/yolo")
    elif form == "beside":
        root = root.rename(tmp_path / "images")
        for split in ("train", "val"):
            (root / "images" / split).rename(root / split)
            for label in (root / "labels" / split).iterdir():
                label.rename(root / split / label.name)
        (root / "data.yaml").write_text(f"train: train\nval: val\n{names}")
    else:
        data = tmp_path / "elsewhere.yaml"
        data.write_text(f"path: {root}\ntrain: images/train\nval: images/val\n{names}")
    train, val = load_data(data if form == "absolute" else root, None, 64)
    assert len(val) == 7
    assert train.classes == expected.classes
    if form == "text":
        assert train.skipped == [("images/train/none.png", "missing")]
    for a, b in zip(train, expected, strict=True):
        np.testing.assert_array_equal(a.image, b.image)
        np.testing.assert_array_equal(a.boxes, b.boxes)


# ------------------------------------------------------------------------------ one part


def test_load_split(builder, both):
    """It is the part that `load_data` gives."""
    path, root = both
    paths = DataPaths(path, builder.folder, path, builder.folder)
    for data in (paths, root, root / "data.yaml"):
        for split, expected in zip(("train", "val"), load_data(data, CLASSES, 64), strict=True):
            found = load_split(data, split, CLASSES, 64, antialias=split == "val")
            assert same(found, expected)
            assert found.report == expected.report
            assert found.summary() == expected.summary()


@pytest.mark.parametrize("cache", ["memory", "disk", False])
def test_training_pictures_are_sharper(builder, seven, cache):
    """The same file as both parts: shrunk without averaging for training, with it else."""
    data = DataPaths(*[builder.write(), builder.folder] * 2)
    train, val = load_data(data, CLASSES, 32, cache)
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


def write_parts(root, annotations, images, splits, source, pictures):
    for split in splits:
        for place in (root / annotations.format(split), root / images.format(split)):
            place.parent.mkdir(parents=True, exist_ok=True)
        (root / annotations.format(split)).write_bytes(source.read_bytes())
        if not (root / images.format(split)).exists():
            (root / images.format(split)).symlink_to(pictures)


@pytest.mark.parametrize(
    ("annotations", "images"),
    [
        ("annotations/instances_{}2017.json", "{}2017"),
        ("annotations/instances_{}.json", "images/{}"),
        ("{}/labels.json", "{}/data"),
    ],
)
def test_one_part_alone(builder, seven, tmp_path, annotations, images):
    root = tmp_path / "data"
    write_parts(root, annotations, images, ["validation", "test"], builder.write(), builder.folder)
    for split, name in [("val", "validation"), ("test", "test")]:
        for path in (root, *(root / annotations.format(n) for n in ("validation", "test"))):
            found = load_split(path, split, CLASSES, 64)
            assert same(found, seven)
            assert found.image_dir.name in (images.format(name).split("/")[-1], name)
            assert str(found.image_dir).startswith(str(root / images.format(name)))
    with pytest.raises(FileNotFoundError, match="no COCO-format train part in") as error:
        load_split(root, "train", CLASSES, 64)
    assert annotations.format("train") in str(error.value)
    with pytest.raises(FileNotFoundError, match="no COCO-format data"):
        load_data(root, CLASSES, 64)


def test_test_part_of_text_labels(both):
    root = both[1]
    for kind in ("images", "labels"):
        (root / kind / "test").symlink_to(root / kind / "val")
    (root / "data.yaml").rename(root / "data.txt")
    (root / "classes.txt").write_text("cell phone\nperson\ndog\n")
    expected = load_split(root, "val", None, 64)
    assert same(load_split(root, "test", None, 64), expected)
    names = "names: [cell phone, person, dog]\n"
    (root / "data.yaml").write_text(f"train: images/train\nval: images/val\n{names}test: gone\n")
    assert len(load_data(root, None, 64)) == 2  # only what is asked for has to be there
    with pytest.raises(FileNotFoundError, match="test is gone, but"):
        load_split(root, "test", None, 64)
    (root / "data.yaml").write_text(f"test: images/test\n{names}")
    assert same(load_split(root, "test", None, 64), expected)
    with pytest.raises(ValueError, match="lacks val"):
        load_split(root, "val", None, 64)


def test_part_that_does_not_exist(builder, both):
    path, root = both
    paths = DataPaths(path, builder.folder, path, builder.folder)
    with pytest.raises(FileNotFoundError, match=r"instances\.json: no part test"):
        load_split(paths, "test", CLASSES, 64)
    with pytest.raises(ValueError, match="split is 'all'; it must be one of train, val, test"):
        load_split(root, "all", CLASSES, 64)
    with pytest.raises(ValueError, match="limit is 0; it must be at least 1"):
        load_split(root, "val", CLASSES, 64, limit=0)


@pytest.mark.parametrize("text", [False, True])
def test_first_pictures(builder, both, monkeypatch, text):
    """Others are neither decoded nor counted."""
    path, root = both
    builder.annotations.append(
        {**builder.annotations[-1], "id": 100, "image_id": 60, "category_id": 18}
    )
    path = builder.write()
    data = root if text else DataPaths(path, builder.folder, path, builder.folder)
    whole = load_split(data, "val", CLASSES, 64)
    # What is wrong with the others stays unknown.
    (root / "labels/val/60.txt").write_text("nonsense")
    (builder.folder / "70.png").write_bytes(b"")
    read, original = [], image_cache.read_square
    monkeypatch.setattr(
        image_cache,
        "read_square",
        lambda picture, *rest: (read.append(picture.name), original(picture, *rest))[1],
    )
    first = load_split(data, "val", CLASSES, 64, limit=4)
    assert read == ["10.png", "20.png", "30.png", "40.png"]
    assert first.image_ids == whole.image_ids[:4]
    assert first.skipped == []
    assert first.report["other_classes"] == {}
    assert first.report["boxes"] == sum(len(whole[k].classes) for k in range(4))
    for k in range(4):
        np.testing.assert_array_equal(first[k].image, whole[k].image)
        np.testing.assert_array_equal(first[k].boxes, whole[k].boxes)
    truth = first.ground_truth()
    assert {a["image_id"] for a in truth["annotations"]} == set(first.image_ids[1:4])
    assert len(load_split(data, "val", CLASSES, 64, limit=99)) == (5 if text else 6)


def test_cache_of_the_first_pictures(both):
    """It doesn't replace that of all."""
    root = both[1]
    whole = load_split(root, "val", CLASSES, 64, cache="disk")
    first = load_split(root, "val", CLASSES, 64, cache="disk", limit=2)
    assert first.squares_path != whole.squares_path
    assert Path(whole.squares_path).exists()
    assert Path(first.squares_path).parent == root / ".cache"


def test_background_first(both):
    """Labels of other pictures show that the folder is the right one."""
    root = both[1]
    for k in range(1, 6):
        (root / f"labels/val/{k}0.txt").unlink(missing_ok=True)
    first = load_split(root, "val", CLASSES, 64, limit=2)
    assert (len(first), first.report["background"]) == (2, 2)


# ------------------------------------------------------------------------------ YAML


def test_yaml(tmp_path):
    path = tmp_path / "data.yaml"
    path.write_text("""\ufeff---
# a data set
path: C:\\data\\it's here  # a comment
train: [images/a, 'images/b, c',
        "images/\\"d\\" # e"]   # three
val:
  - images/val

names:
  0: person
  1: "cell phone"
  # not counted
  2: no
  3: 'it''s'
other: {a: b, 'c d': 1}
empty:
version: 1
download: |
  import: os
    anything: [goes

last: http://example.org/x#y
items:
- a
-  'b'
""")
    assert read_yaml(path) == {
        "path": "C:\\data\\it's here",
        "train": ["images/a", "images/b, c", 'images/"d" # e'],
        "val": ["images/val"],
        "names": {"0": "person", "1": "cell phone", "2": "no", "3": "it's"},
        "other": {"a": "b", "c d": "1"},
        "empty": "",
        "version": "1",
        "download": "import: os\n  anything: [goes\n",
        "last": "http://example.org/x#y",
        "items": ["a", "b"],
    }


@pytest.mark.parametrize("options", [{}, {"allow_unicode": True}, {"default_flow_style": True}])
def test_yaml_as_yaml_dump_writes_it(tmp_path, options):
    """An é is escaped, and long lines are folded at 80 characters."""
    content = {
        "path": "data set/" + "a long name with spaces " * 5,
        "train": ["images/été"],
        "names": {"0": "vélo à " + "deux roues " * 10, "1": "no", "2": "1"},
    }
    path = tmp_path / "data.yaml"
    path.write_text(yaml.dump(content, **options), encoding="utf-8")
    assert read_yaml(path) == content


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\njust text\n", "line 3: could not find expected ':' .* begins in line 2"),
        ("a: 1\na: 2\n", "line 2: a is given twice: a: 2$"),
        ("a: 1\n  b: 2\n", "line 2: mapping values are not allowed here: b: 2$"),
        ("a:\n  b: 2\n    c: 3\n", "line 3: mapping values are not allowed"),
        ("a:\n  b: 2\n  - 3\n", "line 3: expected <block end>"),
        ("a:\n  b: 2\n  b: 3\n", "line 3: b is given twice"),
        ("a: {b: 1, b: 2}\n", "line 1: b is given twice"),
        ("a: *x\n", "line 1: found undefined alias 'x'"),
        ("a: b: c\n", "line 1: mapping values are not allowed"),
        ("a: 'x\n", "line 2: found unexpected end of stream .* begins in line 1.: end of the file"),
        ('a: "\\q"\n', "line 1: found unknown escape character 'q'"),
        ("b: 1\na: [1, 2\nc: 3\n", "line 3: expected ',' or ']', .* begins in line 2"),
        ("? [a]\n: b\n", "line 1: found unhashable key"),
        ("- a\n", "must hold lines of the form `key: value`"),
        ("", "must hold lines of the form `key: value`"),
        ("a: \x01\n", "unacceptable character #x0001"),
        ("a:\n\t- b\n", r"line 2: found character '\\t'"),
        ("a: b\n\tc: d\n", r"line 2: found character '\\t'"),
        ("a: 1\n---\nb: 2\n", "line 2: but found another document"),
    ],
)
def test_yaml_errors(tmp_path, text, message):
    (tmp_path / "data.yaml").write_text(text)
    with pytest.raises(YamlError, match=message) as caught:
        read_yaml(tmp_path / "data.yaml")
    assert "data.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("names: [a]\ntrain: .\n", "lacks val"),
        ("train: .\nval: .\n", "lacks names"),
        ("names: [a, a]\ntrain: .\nval: .\n", "twice: a"),
        ("names: {1: a, 2: b}\ntrain: .\nval: .\n", "numbered 0, 1"),
        ("names: a.names\ntrain: .\nval: .\n", "names must be a list"),
        ("names: [a]\nnc: 2\ntrain: .\nval: .\n", "nc is 2, but there are 1"),
        ("names: [a]\npath: gone\ntrain: .\nval: .\n", "its path, .*gone, is no folder"),
        ("names: [a]\ntrain: gone\nval: .\n", "train is gone, but"),
        ("names: [a]\ntrain: {a: b}\nval: .\n", "train must be a folder"),
        ("names: [a]\ntrain: [[.]]\nval: .\n", "train must be a folder"),
        ("names: [a]\npath: [.]\ntrain: .\nval: .\n", "path must be a folder; got"),
        ("names: [a, {b: c}]\ntrain: .\nval: .\n", "names must be .* of texts; got {'b': 'c'}"),
    ],
)
def test_wrong_data_yaml(tmp_path, text, message):
    (tmp_path / "data.yaml").write_text(text)
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        find_yolo(tmp_path)


def test_what_other_tools_write(builder, seven):
    """A mark of UTF-8, sizes as floats, and Windows' separators in COCO files."""
    for image in builder.images:
        image |= {"width": float(image["width"]), "height": float(image["height"])}
    path = builder.write()
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert same(CocoDataset(path, builder.folder, CLASSES, 64), seven)
    assert Path(seven.image_dir.name, seven.file_name(0)) == Path("pictures/10.png")
    for image in builder.images:
        image["file_name"] = "pictures\\" + image["file_name"]
    found = CocoDataset(builder.write(), builder.root, CLASSES, 64)
    assert not found.skipped
    np.testing.assert_array_equal(found.squares, seven.squares)


def test_data_yaml_of_other_tools(both, monkeypatch):
    """`valid` for `val`, Windows' separators, and a home directory that no shell expanded."""
    _, root = both
    names = "names: [cell phone, person, dog]\n"
    expected = load_data(root, CLASSES, 64)
    monkeypatch.setenv("HOME", str(root.parent))
    for text in (
        "train: images/train\nvalid: images/val\n",
        "train: images\\train\nval: images\\val\n",
        "path: ~/yolo\ntrain: images/train\nval: images/val\n",
        "train: ~/yolo/images/train\nval: ~/yolo/images/val\n",
    ):
        (root / "data.yaml").write_text(names + text)
        for path in (root, "~/yolo", "~/yolo/data.yaml"):
            assert all(map(same, load_data(path, CLASSES, 64), expected))


def test_pictures_of_a_list_that_do_not_exist(both):
    _, root = both
    (root / "data.yaml").write_text("train: l.txt\nval: l.txt\nnames: [a, b, c]\n")
    (root / "l.txt").write_text("data/images/train/10.png\n")
    with pytest.raises(ValueError, match=r"would be the first; nor does the first picture exist, "):
        load_data(root, None, 64)


def test_wrong_yaml_is_what_the_message_is_about(both):
    _, root = both
    (root / "data.yaml").write_text("path: /gone\ntrain: a\nval: a\nnames: [a]\n")
    with pytest.raises(FileNotFoundError, match=r"its path, /gone, is no folder") as caught:
        load_data(root, None, 64)
    assert "COCO" not in str(caught.value)


def test_case_of_a_class_name(both):
    with pytest.raises(ValueError, match=r"\['Dog', 'cat'\] \(did you mean 'dog'\?\); available"):
        load_data(both[1], ["Dog", "cat"], 64)


def test_nothing_there(tmp_path, both):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        load_data(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"(?s)no COCO-format.*no YOLO-format"):
        load_data(tmp_path / "empty")
    with pytest.raises(ValueError, match="neither a folder"):
        load_data(Path(__file__))
    with pytest.raises(ValueError, match=r"no category \['zebra'\].*cell phone.*dog"):
        load_data(both[1], ["zebra"])
    for path in (both[1] / "images/train").iterdir():
        path.unlink()
    with pytest.raises(ValueError, match="none of the 0 images"):
        load_data(both[1])


# ------------------------------------------------------------------------------ the cache


@pytest.fixture
def on_disk(builder, tmp_path):
    """Opens the builder's data set with the cache on disk."""
    return lambda **options: builder.dataset(cache="disk", cache_dir=tmp_path / "cache", **options)


def test_disk(builder, seven, on_disk, tmp_path, monkeypatch):
    first = on_disk()
    assert same(first, seven)
    assert "decoded into" in first.summary()
    assert Path(first.squares_path).parent == tmp_path / "cache"
    np.testing.assert_array_equal(np.load(first.squares_path), seven.squares)
    assert not first.squares.flags.writeable
    assert not list((tmp_path / "cache").glob("*.part"))
    monkeypatch.setattr(image_cache, "decode", None)  # whoever decodes again fails
    again = on_disk()
    assert same(again, seven)
    assert "reused" in again.summary()
    assert again.squares_path == first.squares_path
    monkeypatch.undo()
    # By default it lies beside the data.
    beside = builder.dataset(cache="disk")
    assert Path(beside.squares_path).parent == builder.root / ".cache"


@pytest.mark.parametrize(
    "cause", ["picture", "time", "image size", "declared size", "version", "way"]
)
def test_disk_notices_changes(builder, seven, on_disk, tmp_path, cause, monkeypatch):
    before = on_disk()
    size = 64
    path = builder.folder / "10.png"
    if cause == "picture":
        Image.new("RGB", (80, 60)).save(path)
    elif cause == "time":
        os.utime(path, (1, 1))
    elif cause == "image size":
        size = 32
    elif cause == "declared size":
        builder.images[0]["width"] = 81
    elif cause == "version":
        monkeypatch.setattr(image_cache, "_VERSION", 2)
    options = {"size": size, "antialias": cause != "way"}
    after = on_disk(**options)
    assert same(after, builder.dataset(**options))
    assert after.squares_path != before.squares_path
    assert len(after) == (6 if cause == "declared size" else 7)
    # The old one is of use only if it is of another kind.
    other = cause in ("image size", "way")
    assert Path(before.squares_path).exists() == other
    assert ("removed" in after.summary()) != other


@pytest.mark.parametrize("damage", ["short", "long", "header", "json", "no json", "other key"])
def test_disk_notices_damage(seven, on_disk, damage):
    path = Path(on_disk().squares_path)
    data, info = path.read_bytes(), path.with_suffix(".json")
    if damage == "short":
        path.write_bytes(data[:-1])
    elif damage == "long":
        path.write_bytes(data + b"0")
    elif damage == "header":
        path.write_bytes(data.replace(b"(7,", b"(6,"))
    elif damage == "json":
        info.write_text("{")
    elif damage == "no json":
        info.unlink()
    else:
        info.write_text(json.dumps({**json.loads(info.read_text()), "key": "x"}))
    again = on_disk()
    assert same(again, seven)
    assert "was damaged and had to be written again" in again.summary()
    assert path.read_bytes() == data


def test_skipped_pictures_leave_no_gaps(builder, on_disk):
    for k in range(5):
        builder.add(30, 40, [(1, k, k, 9, 9)])
    for name in ("10.png", "30.png"):
        (builder.folder / name).write_bytes(b"")
    lazy = builder.dataset(cache=False)
    for dataset in (builder.dataset(), on_disk(), on_disk()):
        assert dataset.squares.shape == (3, 64, 64, 3)
        assert same(dataset, lazy)
        np.testing.assert_array_equal(dataset.squares[1], dataset[1].image)
        assert dataset.skipped == [
            (name, "not readable: an empty file") for name in ("10.png", "30.png")
        ]


def test_all_broken_on_disk(builder, on_disk):
    builder.add(30, 40)
    (builder.folder / "10.png").write_bytes(b"")
    for _ in range(2):
        with pytest.raises(ValueError, match=r"none of the 1 images.*10\.png: not readable"):
            on_disk()


def test_both_parts_are_kept(both, tmp_path):
    for _ in range(2):
        sets = load_data(both[1], None, 64, cache="disk")
    assert all("reused" in part.summary() for part in sets)
    assert {Path(part.squares_path).parent for part in sets} == {both[1] / ".cache"}


def test_no_room(builder, both, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with pytest.raises(CacheError, match="give another --cache-dir"):
        load_data(both[1], None, 64, cache="disk", cache_dir=tmp_path / "file")
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(image_cache.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(CacheError, match=r"need 0\.0 GB, and .* give another --cache-dir"):
        load_data(both[1], None, 64, cache="disk")
    assert not list((both[1] / ".cache").glob("*.part"))
    monkeypatch.setattr(image_cache, "free_memory", lambda: 14 * 64 * 64 * 3)
    load_data(both[1], None, 64)
    monkeypatch.setattr(image_cache, "free_memory", lambda: 14 * 64 * 64 * 3 - 1)
    with pytest.raises(CacheError, match='cache="disk"'):
        load_data(both[1], None, 64)


def test_free_memory(tmp_path, monkeypatch):
    assert 0 < image_cache.free_memory() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for name, text in (("max", "1000"), ("current", "700"), ("stat", "anon 5\ninactive_file 60")):
        (tmp_path / f"memory.{name}").write_text(text)
    names = ("memory.max", "memory.current", "inactive_file")
    assert image_cache._control_group_room(tmp_path, *names) == 360


def test_a_failed_start_leaves_nothing(builder, seven, on_disk, tmp_path, monkeypatch):
    def fail(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(image_cache, "decode", fail)
    with pytest.raises(KeyboardInterrupt):
        on_disk()
    assert not [p for p in (tmp_path / "cache").iterdir() if p.suffix != ".lock"]
    monkeypatch.undo()
    (tmp_path / "cache/instances-64-left.part").touch()
    prefix = Path(on_disk().squares_path).name.rsplit("-", 1)[0]
    leftover = tmp_path / "cache" / f"{prefix}-0123.part"
    leftover.touch()
    os.utime(builder.folder / "10.png", (1, 1))
    on_disk()
    assert not leftover.exists()


CHILD = """
import pickle, sys
sys.path.insert(0, sys.argv[1])
from dataset import open_shared
kind, handle, dataset = pickle.loads(sys.stdin.buffer.read())
array = open_shared(handle)
assert not array.flags.writeable and type(array).__name__ == "ndarray"
assert dataset.squares.sum() == array.sum() and len(dataset) == len(array)
assert dataset[2].image.sum() == array[2].sum()
print(kind, array.shape, array.sum())
"""


def test_sharing_and_workers(builder, tmp_path, monkeypatch):
    """Decoding in other processes, and reading the squares from one that was started afresh."""
    for k in range(9):
        builder.add(40 + k, 30, [(1, 1, 1, 9, 9)])
    (builder.folder / "40.png").write_bytes(b"")
    expected = builder.dataset(cache=False)
    monkeypatch.setattr(image_cache, "_CHUNK", 2)
    memory = builder.dataset(workers=2)
    disk = builder.dataset(cache="disk", cache_dir=tmp_path / "cache", workers=2, progress=True)
    total = sum(int(sample.image.sum(dtype=np.int64)) for sample in expected)
    demo = str(Path(image_cache.__file__).parents[1])
    for kind, dataset in (("memory", memory), ("disk", disk)):
        assert same(dataset, expected)
        assert dataset.skipped == [("40.png", "not readable: an empty file")]
        assert (dataset.squares_path is None) == (kind == "memory")
        child = subprocess.run(
            [sys.executable, "-W", "error", "-c", CHILD, demo],
            input=pickle.dumps((kind, dataset.share(), dataset)),
            capture_output=True,
        )
        assert child.returncode == 0, child.stderr.decode()
        assert child.stderr == b""
        assert child.stdout.decode() == f"{kind} (8, 64, 64, 3) {total}\n"


def test_memory_is_given_back(seven):
    path, squares = seven.share().path, seven.squares
    assert Path(path).exists()
    assert open_shared(seven.share())[0, 0, 0, 0] == squares[0, 0, 0, 0]
    total = squares.sum()
    seven._store = None  # as if the data set had gone
    assert not Path(path).exists()
    assert squares.sum() == total  # what is mapped stays


def _exit(*arguments):
    os._exit(1)


def test_a_dead_worker(builder, monkeypatch):
    for _ in range(4):
        builder.add(40, 30)
    monkeypatch.setattr(image_cache, "_CHUNK", 2)
    monkeypatch.setattr(image_cache, "_decode_chunk", _exit)
    with pytest.raises(CacheError, match="died"):
        builder.dataset(workers=2)
