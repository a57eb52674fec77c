"""Labels that a detector makes, read back as a data set."""

import json

import numpy as np
import pytest
from dataset import load_data
from PIL import Image
from tools import prelabel

from tests.examples.conftest import CLASSES, annotation_of
from tests.examples.yolo11n.data.writers import write_json
from tests.examples.yolo11n.evaluation.drawn import write_detector
from tests.utils import error_line

BOX = (12, 18, 12, 8)  # in the square of 32; in a picture of 64 x 32 corners 12, 12, 36, 28
IN_PICTURE = [12, 12, 24, 16]
# The score of a class is its channel's share of 255.
COLOURS = {"sure": (200, 100, 50), "unsure": (20, 76, 50), "dark": (10, 10, 10)}


@pytest.fixture
def model(tmp_path):
    names = [*CLASSES, "dog"]
    return write_detector(tmp_path / "m.onnx", "yolo11", names=names, box=BOX, row=8)


@pytest.fixture
def folder(tmp_path):
    """Make a folder with a picture of each colour, one of them further below."""
    root = tmp_path / "pictures"
    (root / "below").mkdir(parents=True)
    for name, colour in COLOURS.items():
        place = root / ("below" if name == "dark" else "") / f"{name}.png"
        Image.fromarray(np.full((32, 64, 3), colour, np.uint8)).save(place)
    return root


def labelled(model, pictures, out, *more):
    """Run the command; return the annotation file's content."""
    given = [model, pictures, "--out", out, *more]
    assert prelabel.main([*map(str, given)]) == 0
    return json.loads((out / "annotations/instances_train.json").read_text())


def image(number, name="sure.png", **more):
    """Return an image of COCO's format, of the size of all pictures here."""
    return {"id": number, "file_name": name, "width": 64, "height": 32} | more


def write_set(root, folder, images, annotations, categories, split="val", info=None):
    """Write an annotation file for the pictures of a folder."""
    (root / "images").mkdir(parents=True, exist_ok=True)
    (root / "images" / split).symlink_to(folder)
    path = root / f"annotations/instances_{split}.json"
    content = {"images": images, "annotations": annotations, "categories": categories}
    write_json(path, content | ({"info": info} if info else {}))
    return path


def test_a_folder_becomes_a_data_set(model, folder, tmp_path, capsys):
    content = labelled(model, folder, tmp_path / "out", "--classes", *CLASSES)
    ids = {c["name"]: c["id"] for c in content["categories"]}
    assert list(ids) == CLASSES
    names = ["below/dark.png", "sure.png", "unsure.png"]
    assert [image["file_name"] for image in content["images"]] == names
    assert all(image["complete"] == sorted(ids.values()) for image in content["images"])
    sure, unsure = content["annotations"]
    assert sure == {
        "id": 1, "image_id": 2, "category_id": ids["person"], "bbox": IN_PICTURE,
        "area": 384, "iscrowd": 0, "score": 0.7843,
    }  # fmt: skip
    assert (unsure["image_id"], unsure["category_id"]) == (3, ids["cell phone"])
    assert (unsure["iscrowd"], unsure["uncertain"], unsure["score"]) == (1, True, 0.298)
    said = capsys.readouterr().out
    assert "3 pictures" in said
    assert "person: 1 boxes and 0 uncertain ones\ncell phone: 0 boxes and 1 uncertain ones" in said
    train, val = load_data(tmp_path / "out", CLASSES, 32)
    assert len(train) + len(val) == 3
    both = [part[k] for part in (train, val) for k in range(len(part))]
    [sample] = [sample for sample in both if len(sample.boxes)]
    assert sample.classes.tolist() == [0]
    np.testing.assert_allclose(sample.boxes, [np.array(BOX) / 32], rtol=1e-5)
    pixel = {tuple(sample.image[16, 16]) for sample in both}
    assert pixel == set(COLOURS.values())
    assert train.labelled is None


def test_scores_decide_what_a_box_is(model, folder, tmp_path):
    given = "--classes", *CLASSES, "--confidence", "0.29", "--uncertain", "0.03"
    content = labelled(model, folder, tmp_path / "out", *given)
    found = {a["image_id"]: a["iscrowd"] for a in content["annotations"]}
    assert found == {1: 1, 2: 0, 3: 0}


def test_labels_for_what_a_set_lacks(model, folder, tmp_path):
    """The first image lacks persons, the second phones; the third is complete, though wrong."""
    categories = [
        {"id": 77, "name": "cell phone", "supercategory": "x"},
        {"id": 5, "name": "person"},
    ]
    images = [
        image(9, source="s"),
        image(4, "unsure.png", complete=[5]),
        image(2, "below/dark.png", complete=[5, 77]),
    ]
    given = [
        {"id": 30, "image_id": 9, "category_id": 77, "bbox": [1, 2, 30, 20], "note": "kept"},
        {"id": 31, "image_id": 2, "category_id": 5, "bbox": [1, 2, 30, 20], "iscrowd": 0},
    ]
    path = write_set(tmp_path / "set", folder, images, given, categories, info={"complete": [77]})
    more = "--fill", "--classes", *CLASSES, "--uncertain", "0.03"
    content = labelled(model, path, tmp_path / "out", *more)
    assert content["categories"] == categories
    assert [image["complete"] for image in content["images"]] == [[5, 77]] * 3
    assert content["images"][0]["source"] == "s"
    kept = [a for a in content["annotations"] if "score" not in a]
    assert kept == given
    new = {(a["id"], a["image_id"], a["category_id"], a["iscrowd"]) for a in content["annotations"]
           if "score" in a}  # fmt: skip
    assert new == {(32, 9, 5, 0), (33, 4, 77, 1)}
    # Without it, given labels count for nothing, and ids stay.
    content = labelled(model, path, tmp_path / "other", "--classes", *CLASSES)
    assert {(a["image_id"], a["category_id"]) for a in content["annotations"]} == {(9, 5), (4, 77)}


@pytest.mark.parametrize(
    ("box", "crowd", "added"),
    [
        (IN_PICTURE, 0, False),
        ([12, 12, 24, 6], 0, True),  # an IoU of 0.375
        ([0, 0, 64, 32], 0, True),
        ([0, 0, 64, 32], 1, False),  # wholly in the region
    ],
)
def test_an_object_that_is_labelled_gets_no_second_box(model, folder, tmp_path, box, crowd, added):
    given = [annotation_of(1, 1, 1, box, crowd)]
    categories = [{"id": 1, "name": "person"}]
    path = write_set(tmp_path / "set", folder, [image(1, complete=[])], given, categories)
    content = labelled(model, path, tmp_path / "out", "--fill", "--classes", "person")
    assert len(content["annotations"]) == 1 + added


def test_a_class_that_a_set_does_not_know(model, folder, tmp_path):
    categories = [{"id": 7, "name": "cat"}]
    path = write_set(tmp_path / "set", folder, [image(1)], [], categories, "train")
    content = labelled(model, path, tmp_path / "out", "--fill", "--classes", "person")
    assert content["categories"] == [{"id": 7, "name": "cat"}, {"id": 8, "name": "person"}]
    assert content["images"][0]["complete"] == [7, 8]
    assert [a["category_id"] for a in content["annotations"]] == [8]


def test_the_part_is_that_of_the_file(model, folder, tmp_path):
    for number, part in enumerate(("train", "val", "test")):
        images = [{"id": number, "file_name": "sure.png"}]
        path = write_set(tmp_path / "set", folder, images, [], [{"id": 1, "name": "person"}], part)
    path = path.with_name("instances_val.json")
    [image] = labelled(model, path, tmp_path / "out", "--classes", "person")["images"]
    assert (image["id"], image["width"], image["height"]) == (1, 64, 32)


def test_averages_with_the_mirror_image():
    plain = [[0, 0, 10, 10, 0.9, 0], [40, 0, 50, 10, 0.6, 0], [80, 0, 90, 10, 0.5, 1]]
    mirrored = [[81, 0, 91, 10, 0.8, 0], [40, 0, 50, 16, 0.4, 0], [1, 0, 11, 10, 0.3, 0]]
    mirrored.append([0, 0, 10, 9, 0.2, 0])  # overlaps more than the one before
    found = prelabel.averaged(np.array(plain), np.array(mirrored))
    expected = [
        [0, 0, 10, 10 * 9 / 11 + 9 * 2 / 11, 0.55, 0],
        [40, 0, 50, 12.4, 0.5, 0],
        [80, 0, 90, 10, 0.25, 1],  # its neighbour is of another class
        [81, 0, 91, 10, 0.4, 0],
        [1, 0, 11, 10, 0.15, 0],
    ]
    np.testing.assert_allclose(found, expected)
    nothing = np.empty((0, 6))
    assert prelabel.averaged(nothing, nothing).shape == (0, 6)
    assert prelabel.averaged(np.array(plain), nothing)[:, 4].tolist() == [0.45, 0.3, 0.25]


def test_mirror_image(model, tmp_path):
    """The model looks at the left edge: red there, green at the right one, and the same place."""
    pixels = np.full((32, 64, 3), (204, 0, 0), np.uint8)
    pixels[:, 32:] = (102, 0, 0)
    folder = tmp_path / "pictures"
    folder.mkdir()
    Image.fromarray(pixels).save(folder / "a.png")
    content = labelled(model, folder, tmp_path / "out", "--mirror", "--classes", "person")
    found = [(a["bbox"], a["score"], a["iscrowd"]) for a in content["annotations"]]
    # The box and its mirror image overlap by half of their width: an IoU of a third.
    assert found == [([12, 12, 24, 16], 0.4, 1), ([28, 12, 24, 16], 0.2, 1)]


def test_pictures_that_cannot_be_read_are_named(model, folder, tmp_path, capsys):
    (folder / "broken.png").write_bytes(b"none")
    content = labelled(model, folder, tmp_path / "out")
    assert len(content["images"]) == 3
    assert "left out: broken.png: not readable" in capsys.readouterr().out


def test_pictures_that_are_in_place(model, folder, tmp_path, capsys):
    """The folder is that of the data set to write; and corrected labels aren't overwritten."""
    out = tmp_path / "out"
    (out / "images").mkdir(parents=True)
    folder.rename(out / "images/train")
    labelled(model, out / "images/train", out)
    assert not (out / "images/train/sure.png").is_symlink()
    again = [str(model), str(out / "images/train"), "--out", str(out)]
    assert prelabel.main(again) == 1
    assert "out holds labels or pictures already (annotations/inst" in error_line(capsys)
    assert prelabel.main([*again, "--overwrite"]) == 0


@pytest.mark.parametrize(
    ("pictures", "options", "message"),
    [
        ("empty", [], "holds no picture; for a data set, give its annotation file"),
        ("absent", [], "absent is no folder of pictures, and no COCO annotation file"),
        ("pictures", ["--fill"], "--fill needs an annotation file (.json)"),
        ("pictures", ["--uncertain", "0.5"], "--uncertain is 0.5, above --confidence, 0.45"),
        ("pictures", ["--classes", "cat"], "has no category ['cat']"),
        ("broken", [], "none of the 1 pictures of"),
    ],
)
def test_errors(model, folder, tmp_path, capsys, pictures, options, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/a.png").write_bytes(b"none")
    given = [model, tmp_path / pictures, "--out", tmp_path / "out", *options]
    assert prelabel.main([*map(str, given)]) == 1
    assert message in error_line(capsys)
    assert not (tmp_path / "out").exists()
