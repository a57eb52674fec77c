"""Finding and reading data sets in COCO's and YOLO's formats."""

import zipfile
from pathlib import Path
from shutil import make_archive

import numpy as np
import pytest
from data import cache as cache_module
from data.finding import find
from data.formats import read_coco
from data.images import to_corners
from dataset import Dataset, load_data, load_split

from tests.examples.conftest import CATEGORIES, CLASSES
from tests.examples.yolo11n.data.pictures import same

NAMES = "names: [cell phone, person, dog]\n"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"images": None}, "lacks a list of images: it is not a COCO"),
        ({"images": [{"id": 10, "file_name": "x"}] * 2}, "an image id twice"),
        ({"images": [{"id": 10}]}, "an entry lacks 'file_name'"),
        ({"categories": [*CATEGORIES, {"id": 1, "name": "x"}]}, "name or id twice"),
        ({"images": [{"id": [1], "file_name": "x"}]}, "not a COCO instances file: .*unhashable"),
    ],
)
def test_bad_files(builder, changes, message):
    builder.add(40, 30)
    with pytest.raises(ValueError, match=message):
        Dataset(read_coco(builder.write(**changes), builder.folder, CLASSES), 64)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"category_id": 5}, "annotation 2 has image_id 10 and category_id 5; .* does not list"),
        ({"image_id": 11}, "annotation 2 has image_id 11 and category_id 1; .* does not list"),
        ({"image_id": {}}, "not a COCO instances file: .*unhashable"),
    ],
)
def test_bad_annotations(builder, change, message):
    builder.add(40, 30, [(1, 1, 1, 9, 9)] * 2)
    builder.annotations[1] |= change
    with pytest.raises(ValueError, match=message):
        builder.dataset()


@pytest.mark.parametrize(
    "bbox", [[], [1, 2, 3], [1, 2, 3, float("nan")], [1, 2, 3, "four"], None, {"x": 1}]
)
def test_a_bad_bbox_excludes_its_picture(builder, bbox):
    builder.add(40, 30, [(1, 1, 1, 9, 9)] * 2)
    builder.add(40, 30, [(1, 1, 1, 9, 9)])
    builder.annotations[1] |= {"bbox": bbox, "iscrowd": 1}  # scoring reads a crowd's box, too
    data = builder.dataset()
    [(name, reason)] = data.skipped
    assert name == "10.png"
    assert reason.startswith("annotation 2 has bbox ")
    assert (len(data), data.report["boxes"], data.report["regions"]) == (1, 1, 0)
    builder.annotations[1]["category_id"] = 18  # of a class that isn't asked for
    assert not builder.dataset().skipped


def test_bad_arguments(builder):
    builder.add(40, 30)
    for names in (["person", "person"], []):
        with pytest.raises(ValueError, match="distinct"):
            builder.dataset(names)
    with pytest.raises(ValueError, match="image_size"):
        builder.dataset(size=0)
    with pytest.raises(ValueError, match="cache is 'tape'"):
        builder.dataset(cache="tape")
    with pytest.raises(FileNotFoundError, match=r"none\.json does not exist"):
        read_coco(builder.root / "none.json", builder.folder, CLASSES)
    with pytest.raises(FileNotFoundError, match="image folder"):
        read_coco(builder.write(), builder.root / "elsewhere", CLASSES)
    with pytest.raises(ValueError, match=r"\['Dog', 'cat'\] \(did you mean 'dog'\?\); available"):
        builder.dataset(["Dog", "cat"])
    for text, message in (("{", "not valid JSON"), ("[]", "not a COCO")):
        (builder.root / "wrong.json").write_text(text)
        with pytest.raises(ValueError, match=message):
            read_coco(builder.root / "wrong.json", builder.folder, CLASSES)


# ------------------------------------------------------------------------------ text labels


@pytest.mark.parametrize("classes", [None, CLASSES, ["dog", "cell phone"]])
def test_formats_agree(builder, both, classes):
    folder, root = both
    coco = load_data(folder, classes, 64)
    for data in (root, root / "data.yaml", str(root)):
        for first, second in zip(coco, load_data(data, classes, 64), strict=True):
            assert same(first, second)
            keys = ("images", "background", "boxes", "per_class", "duplicates", "clipped")
            for key in (*keys, "zero_area", "other_classes"):
                assert first.report[key] == second.report[key], key
    assert second.file_name(0) == "10.png"
    assert second.image_ids == [1, 2, 3, 4, 5, 6, 7]
    assert second.category_ids == [
        ["cell phone", "person", "dog"].index(name) + 1 for name in second.classes
    ]


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
    builder.write_yolo(tmp_path / "yolo")
    label = tmp_path / "yolo/labels/train/10.txt"
    label.write_text("1 0.25 0.5 0.5 0.75 0.375 0.1\n\n2 0.5 0.5 0.2 0.2\n")
    train, _ = load_data(tmp_path / "yolo", None, 64)
    corners = train[0].geometry.undo(to_corners(train[0].boxes, 64))
    np.testing.assert_allclose(corners, [[10, 2, 20, 15], [16, 8, 24, 12]], atol=1e-5)
    assert train.report["from_polygon"] == 1
    assert "polygons" in train.summary()


WRONG_LINES = [
    ("1 0.5 0.5 0.2", "line 2: 4 numbers"),
    ("1 0.5 0.5 0.2 0.2 1.9", "line 2: 1.9 is no confidence"),
    ("1 0.5 0.5 0.2 0.2 0.9 0.9 0.9", "line 2: 8 numbers"),
    ("1 0.5 0.5 0.2 1.02", "line 2: 1.02 is no fraction"),
    ("1 -0.02 0.5 0.2 0.2", "line 2: -0.02 is no fraction"),
    ("1 nan 0.5 0.2 0.2", "line 2: nan is no fraction"),
    ("3 0.5 0.5 0.2 0.2", "line 2: class 3, but there are 3 classes"),
    ("-1 0.5 0.5 0.2 0.2", "line 2: class -1"),
    ("1.5 0.5 0.5 0.2 0.2", "line 2: class 1.5"),
    ("horse 0.5 0.5 0.2 0.2", "line 2: class 'horse', but the classes are cell phone, person"),
    ("1 0.5 0.5 0.2 large", "line 2: could not convert"),
    ("\xff", "'utf-8' codec can't decode"),
]


def test_a_wrong_line_excludes_its_picture(builder, tmp_path):
    root, good = tmp_path / "yolo", "1 1.005 0.5 -0.005 0.2\n"  # within the tolerance
    lines = ["", *(line for line, _ in WRONG_LINES), ""]
    for k in range(len(lines)):
        builder.add(40, 30, name=f"{k:02}.png")
    builder.write_yolo(root)
    for k, line in enumerate(lines):
        text = good + line + "\n"
        (root / f"labels/train/{k:02}.txt").write_text(text, encoding="latin-1")
    (root / "labels/val/00.txt").write_text(good)
    train, val = load_data(root, None, 64)
    assert train.image_ids == [1, len(lines)]  # the others keep their numbers
    assert (train.report["zero_area"], len(val)) == (2, len(lines))
    wrong = zip(train.skipped, WRONG_LINES, strict=True)
    for k, ((name, found), (_, reason)) in enumerate(wrong, 1):
        assert name == f"{k:02}.png"
        assert found.startswith(f"labels labels/train/{k:02}.txt: {reason}")
        assert found in train.summary()


def test_pictures_without_a_label_file(both):
    root = both[1]
    folder = root / "labels/train"
    (folder / "30.txt").unlink()
    train, val = load_data(root, None, 64)
    np.testing.assert_array_equal(train[1].boxes, val[1].boxes)
    absent = val.report["no_label_file"]  # of pictures without boxes
    assert absent == val.report["background"] == 2
    assert train.report["no_label_file"] == train.report["background"] == absent + 1
    assert "  3 images have no label file and are taken as background" in train.summary()
    assert not train.skipped


def test_files_that_do_not_belong(both):
    root = both[1]
    (root / "images/train/notes.txt").touch()
    (root / "images/train/.hidden.jpg").touch()
    (root / "images/train/phone.raw").touch()  # no kind of picture that Pillow knows
    (root / "labels/train/classes.txt").touch()
    (root / "labels/train/phone.txt").write_text("0 0.5 0.5 0.1 0.1\n")
    train, val = load_data(root, None, 64)
    assert len(train) == 7
    assert "  1 label files have no picture" in train.summary()
    assert "no picture" not in val.summary()


def test_without_any_label(both):
    root = both[1]
    (root / "labels/val").rename(root / "labels/elsewhere")
    with pytest.raises(ValueError, match=r"none of the 7 pictures.*labels/val/10\.txt"):
        load_data(root, None, 64)


def test_lists_of_pictures(both):
    """A picture that is listed twice counts once."""
    root = both[1]
    expected, _ = load_data(root, None, 64)
    lines = [f"./images/train/{k}0.png" for k in (3, 1, 2, 4, 5, 6, 7, 1)]
    (root / "train.txt").write_text("\n".join([*lines, "images/train/none.png", ""]))
    (root / "data.yaml").write_text(f"train: train.txt\nval: images/val\n{NAMES}")
    train, _ = load_data(root, None, 64)
    assert train.skipped == [("images/train/none.png", "missing")]
    for a, b in zip(train, expected, strict=True):
        np.testing.assert_array_equal(a.image, b.image)
        np.testing.assert_array_equal(a.boxes, b.boxes)


# ------------------------------------------------------------------------------ one part


def test_one_part_alone(builder, seven, tmp_path):
    root = builder.write_coco(tmp_path / "data")
    for place in ("annotations/instances_{}.json", "images/{}"):
        (root / place.format("train")).rename(root / place.format("test"))
    for split in ("val", "test"):
        for path in (root, *(root / "annotations").glob("*.json")):
            found = load_split(path, split, CLASSES, 64)
            assert same(found, seven)
            assert found.report == seven.report
            assert found.summary().startswith(f"instances_{split}.json: ")
    with pytest.raises(FileNotFoundError, match=r"no train part in .*annotations/instances_train"):
        load_data(root, CLASSES, 64)


def test_test_part_of_text_labels(both):
    root = both[1]
    for kind in ("images", "labels"):
        (root / kind / "test").symlink_to(root / kind / "val")
    (root / "data.yaml").rename(root / "data.txt")
    (root / "classes.txt").write_text("cell phone\nperson\ndog\n")
    expected = load_split(root, "val", None, 64)
    assert same(load_split(root, "test", None, 64), expected)
    (root / "data.yaml").write_text(f"train: images/train\nval: images/val\n{NAMES}test: gone\n")
    assert len(load_data(root, None, 64)) == 2  # only what is asked for has to be there
    with pytest.raises(FileNotFoundError, match="test is gone, but"):
        load_split(root, "test", None, 64)
    (root / "data.yaml").write_text(f"test: images/test\n{NAMES}")
    assert same(load_split(root, "test", None, 64), expected)
    with pytest.raises(ValueError, match="lacks val"):
        load_split(root, "val", None, 64)


def test_a_test_part_next_to_undivided_pictures(both):
    _, root = both
    for kind in ("images", "labels"):
        (root / kind / "val").rename(root / kind / "test")
        (root / kind / "train").rename(root / kind / "more")
    (root / "data.yaml").unlink()
    (root / "classes.txt").write_text("cell phone\nperson\ndog\n")
    sets = [load_split(root, split, None, 64) for split in ("train", "val", "test")]
    train, val, test = ({Path(p.path) for p in data._pictures} for data in sets)
    assert {path.parent.name for path in test} == {"test"}
    assert {path.parent.name for path in train | val} == {"more"}


def test_part_that_does_not_exist(both):
    folder, root = both
    with pytest.raises(FileNotFoundError, match=r"no test part in.*, which has only train and val"):
        load_split(folder, "test", CLASSES, 64)
    with pytest.raises(ValueError, match="split is 'all'; it must be one of train, val, test"):
        load_split(root, "all", CLASSES, 64)
    with pytest.raises(ValueError, match="limit is 0; it must be at least 1"):
        load_split(root, "val", CLASSES, 64, limit=0)
    with pytest.raises(ValueError, match="spread is 0"):
        load_split(root, "val", CLASSES, 64, spread=0)


@pytest.mark.parametrize("text", [False, True])
def test_first_pictures(builder, both, tmp_path, monkeypatch, text):
    """Others are neither decoded nor counted."""
    builder.annotations.append(
        {**builder.annotations[-1], "id": 100, "image_id": 60, "category_id": 18}
    )
    data = both[1] if text else builder.write_coco(tmp_path / "data")
    whole = load_split(data, "val", CLASSES, 64)
    # What is wrong with the others stays unknown.
    (both[1] / "labels/val/60.txt").write_text("nonsense")
    (builder.folder / "70.png").write_bytes(b"")
    read, original = [], cache_module.decode
    monkeypatch.setattr(
        cache_module, "decode", lambda path, *how: (read.append(path), original(path, *how))[1]
    )
    first = load_split(data, "val", CLASSES, 64, limit=4)
    assert [Path(path).name for path in read] == ["10.png", "20.png", "30.png", "40.png"]
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("names: [a]\nval: .\n", "lacks train"),
        ("train: .\nval: .\n", "lacks names"),
        ("names: [a, a]\ntrain: .\nval: .\n", "twice: a"),
        ("names: {1: a, 2: b}\ntrain: .\nval: .\n", "numbered 0, 1"),
        ("names: {0: a, 00: b}\ntrain: .\nval: .\n", "numbered 0, 1"),
        ("nc: two\ntrain: .\nval: .\n", "without names, nc must be their number; got two"),
        ("names: [a]\nkpt_shape: [17]\ntrain: .\nval: .\n", "kpt_shape must be .keypoints, 2"),
        ("names: [a]\nkpt_shape: [5, 4]\ntrain: .\nval: .\n", "kpt_shape must be .keypoints, 2"),
        ("names: a.names\ntrain: .\nval: .\n", "names must be a list"),
        ("names: [a]\npath: gone\ntrain: .\nval: .\n", "its path, .*gone, is no folder"),
        ("names: [a]\ntrain: gone\nval: .\n", "train is gone, but"),
        ("names: [a]\ntrain: {a: b}\nval: .\n", "train must be a folder"),
        ("a: b: c\n", "is no valid YAML: mapping values are not allowed"),
        ("- a\n", "must hold lines of the form `key: value`"),
        ("names: [a, {b: c}]\ntrain: .\n", "names must be .* of texts; got .*b.: .c"),
    ],
)
def test_wrong_data_yaml(tmp_path, text, message):
    (tmp_path / "data.yaml").write_text(text)
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        find(tmp_path, "train")


def test_what_other_tools_write(builder, seven):
    """A mark of UTF-8, and sizes as floats."""
    for image in builder.images:
        image |= {"width": float(image["width"]), "height": float(image["height"])}
    path = builder.write()
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert same(Dataset(read_coco(path, builder.folder, CLASSES), 64), seven)
    assert Path(builder.folder.name, seven.file_name(0)) == Path("pictures/10.png")


def test_a_home_directory_that_no_shell_expanded(both, monkeypatch):
    _, root = both
    expected = load_data(root, CLASSES, 64)
    monkeypatch.setenv("HOME", str(root.parent))
    for text in (
        "path: ~/yolo\ntrain: images/train\nval: images/val\n",
        "train: ~/yolo/images/train\nval: ~/yolo/images/val\n",
    ):
        (root / "data.yaml").write_text(NAMES + text)
        for path in (root, "~/yolo", "~/yolo/data.yaml"):
            assert all(map(same, load_data(path, CLASSES, 64), expected))


def test_nothing_there(tmp_path, both):
    for path in (tmp_path / "none", "~nobody_here/x"):
        with pytest.raises(FileNotFoundError, match="does not exist"):
            load_data(path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        FileNotFoundError,
        match=r"no train part in .*_annotations.*data\.yaml; obj\.data; images/train \+ labels/t",
    ):
        load_data(tmp_path / "empty")
    with pytest.raises(ValueError, match=r"no folder, \.yaml, \.json, \.csv, \.data or \.zip file"):
        load_data(Path(__file__))
    other = both[0] / "annotations/other.json"
    other.touch()
    with pytest.raises(FileNotFoundError, match=r"no train part in .*other\.json: "):
        find(other, "train")
    for path in (both[1] / "images/train").iterdir():
        path.unlink()
    with pytest.raises(ValueError, match="none of the 0 images"):
        load_data(both[1])


def test_zip(both, tmp_path, monkeypatch):
    root = both[1]
    for label, inside in (("", None), ("0 0.5 0.5 0.25 0.5", "yolo")):  # other content, same name
        next((root / "labels/train").iterdir()).write_text(label)
        expected = load_data(root, CLASSES, 64)
        path = make_archive(tmp_path / "taught", "zip", root.parent if inside else root, inside)
        monkeypatch.setattr(zipfile.ZipFile, "open", None)
        with pytest.raises(TypeError):  # interrupted
            load_data(path)
        monkeypatch.undo()
        assert all(map(same, load_data(path, CLASSES, 64), expected))
        monkeypatch.setattr(zipfile.ZipFile, "open", None)  # it is there already
        assert all(map(same, load_data(path, CLASSES, 64), expected))
        monkeypatch.undo()


@pytest.mark.parametrize("name", ["a.json", "images/../../x", "/etc/x", "cut short"])
def test_wrong_zip(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(name, "")
    if name == "cut short":
        (tmp_path / "a.zip").write_bytes((tmp_path / "a.zip").read_bytes()[:-30])
    messages = {"a.json": r"no val part in .*a\.zip: l", "cut short": "can't be unpacked: .*; save"}
    message = messages.get(name, f"a.zip holds {name}, outside of it; zip it again")
    with pytest.raises((ValueError, OSError), match=message):
        find(tmp_path / "a.zip", "val")


@pytest.mark.parametrize("text", [False, True])
def test_pictures_spread_over_a_set(both, text):
    whole = load_split(both[text], "val", CLASSES, 64)
    few = load_split(both[text], "val", CLASSES, 64, spread=3)
    assert few.image_ids == [whole.image_ids[k] for k in (0, 3, 6)]
    for k, place in enumerate((0, 3, 6)):
        np.testing.assert_array_equal(few[k].boxes, whole[place].boxes)
        np.testing.assert_array_equal(few[k].image, whole[place].image)
    truth = few.ground_truth()
    assert {image["id"] for image in truth["images"]} == set(few.image_ids)
    assert load_split(both[text], "val", CLASSES, 64, spread=99).image_ids == whole.image_ids
