"""One data set in the forms of many tools, and what reports of their users say of such files."""

import shutil
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from data import images
from data.finding import find
from data.formats import read_part
from data.listing import PartMissingError
from dataset import load_data, load_split
from evaluation.metrics import coco_map
from PIL import Image

from tests.examples.yolo11n.data import writers
from tests.examples.yolo11n.data.writers import NAMES, PARTS, PICTURES, WRITERS

LISTED_ONLY = {"csv_of_roboflow", "csv_of_openimages", "csv_of_makesense"}


def boxes_of(data):
    """Yield the name without ending, the classes' numbers and the corners of each picture."""
    for k in range(len(data)):
        own = slice(data._bounds[k], data._bounds[k + 1])
        yield unquote(Path(data.file_name(k)).stem), data._labels[own], data._corners[own]


def things_of(*sets):
    """Return (class, x1, y1, x2, y2) of the pictures of data sets, by their names."""
    return {
        stem: sorted((data.classes[n], *box.round(3).tolist()) for n, box in zip(*own, strict=True))
        for data in sets
        for stem, *own in boxes_of(data)
    }


def expected(drawn, form=""):
    """Return the same of what was drawn; some forms don't name pictures without things."""
    return {
        picture.stem: sorted(picture.things)
        for picture in drawn
        if picture.things or form not in LISTED_ONLY
    }


@pytest.mark.parametrize("form", WRITERS)
def test_forms(tmp_path, form):
    root = tmp_path / "set"
    root.mkdir()
    for path in WRITERS[form](root) or [*root.glob("*.zip")] or [root]:
        train, val = load_data(path, None, 32)
        assert sorted(train.classes) == NAMES
        assert not train.skipped + val.skipped
        assert things_of(train, val) == expected(PICTURES, form)
        assert len(train) + len(val) == len(expected(PICTURES, form))
        assert not train.report["labels_alone"] + val.report["labels_alone"]
        for data in (train, val):
            for k, (stem, *_) in enumerate(boxes_of(data)):
                [drawn] = (picture for picture in PICTURES if picture.stem == stem)
                difference = writers.pixels_of(drawn).astype(int) - data.picture(k)
                assert np.abs(difference).mean() < 3  # JPEG's
        boxes = train.report["boxes"]
        assert train.report["with_confidence"] == boxes * (form == "yolo_with_confidences")
        if undivided := train.report["undivided"]:
            assert undivided == val.report["undivided"] == len(train) + len(val)
            assert f"{undivided} pictures in all: the set has no part" in val.summary()
            with pytest.raises((FileNotFoundError, ValueError), match=r"no test part|lacks test"):
                load_split(path, "test", None, 32)
            first = load_split(path, "train", None, 32, limit=2)
            assert (len(first), first.report["undivided"]) == (2, undivided)
        else:
            assert things_of(val) == expected(PARTS["val"], form)
    found = {
        number: np.column_stack([corners, np.full(len(labels), 0.9), labels])
        for number, (_, labels, corners) in zip(train.image_ids, boxes_of(train), strict=True)
    }
    assert coco_map(train, found)["map50"] == 1


def test_a_coco_file_by_its_path(tmp_path):
    for name in ("first", "second"):
        writers.draw(tmp_path / "pictures", PICTURES)
        writers.write_json(tmp_path / f"pictures/{name}.json", writers.coco_of(PICTURES))
    train, val = load_data(tmp_path / "pictures/first.json", None, 32)
    assert things_of(train, val) == expected(PICTURES)
    with pytest.raises(ValueError, match=r"several COCO files: first\.json, second\.json; name"):
        find(tmp_path / "pictures", "train")
    for part in ("train", "val"):
        writers.write_json(tmp_path / f"pictures/a_{part}.json", writers.coco_of(PARTS[part]))
        writers.write_json(tmp_path / f"pictures/b_{part}.json", writers.coco_of(PARTS[part][:1]))
    for part in ("train", "val"):
        train, val = load_data(tmp_path / f"pictures/a_{part}.json", None, 32)
        assert things_of(train) == expected(PARTS["train"])
        assert things_of(val) == expected(PARTS["val"])


def test_a_csv_file_by_its_path(tmp_path):
    writers.csv_of_openimages(tmp_path)
    train, _ = load_data(tmp_path / "validation-annotations-bbox.csv", NAMES, 32)
    assert things_of(train) == expected(PARTS["train"], "csv_of_openimages")


def test_difficult_things_and_groups_are_regions(tmp_path):
    writers.voc_of_labelimg(tmp_path / "voc")
    file = tmp_path / "voc/g.xml"
    file.write_text(file.read_text().replace("<difficult>0", "<difficult>1", 1))
    writers.csv_of_openimages(tmp_path / "csv")
    file = tmp_path / "csv/train-annotations-bbox.csv"
    file.write_text(file.read_text().replace("0,0,0\n", "0,0,1\n", 1))
    for name in ("voc", "csv"):
        sets = load_data(tmp_path / name, None, 32)
        assert sum(each.report["regions"] for each in sets) == 1
        crowds = [a["iscrowd"] for each in sets for a in each.ground_truth()["annotations"]]
        assert sorted(crowds) == [0] * 6 + [1]


def test_turned_shapes_and_films_of_cvat(tmp_path):
    """A rectangle that is turned by 90 degrees about its centre, and one by 180 degrees."""
    writers.draw(tmp_path, PICTURES[:2])
    file = tmp_path / "annotations.xml"
    turned = (("a", 10, 10, 20, 14, 90), ("b c", 10, 10, 20, 14, 180))
    shapes = "".join(
        f'<image name="{name}.png"><box label="nut" xtl="{x1}" ytl="{y1}" xbr="{x2}" ybr="{y2}" '
        f'rotation="{angle}"/><ellipse label="bolt" cx="8" cy="9" rx="4" ry="2"/></image>'
        for name, x1, y1, x2, y2, angle in turned
    )
    file.write_text(f"<annotations>{shapes}</annotations>")
    train, val = load_data(tmp_path, None, 32)
    bolt = ("bolt", 4, 7, 12, 11)
    assert things_of(train, val) == {
        "a": [bolt, ("nut", 13, 7, 17, 17)], "b c": [bolt, ("nut", 10, 10, 20, 14)]
    }  # fmt: skip
    file.write_text('<annotations><track id="0" label="nut"/></annotations>')
    with pytest.raises(ValueError, match="tracks of a film; in CVAT, export it as 'CVAT for im"):
        load_data(tmp_path, None, 32)


def test_pictures_without_a_file_and_files_that_are_wrong(tmp_path):
    writers.voc_in_folders_of_parts(tmp_path)
    folder = tmp_path / "train/annotations"
    (folder / "a.xml").unlink()
    (folder / "d.xml").write_text("<annotation><object>")
    train, val = load_data(tmp_path, None, 32)
    assert train.report["no_label_file"] == train.report["background"] == 1
    [(name, reason)] = train.skipped
    assert name == "train/images/d.png"
    assert reason.startswith("train/annotations/d.xml: no element found")
    assert not val.skipped
    (folder / "b c.xml").write_text(
        "<annotation><object><name>bolt</name><bndbox><xmin>x</xmin></bndbox></object></annotation>"
    )
    assert load_split(tmp_path, "train", None, 32).skipped[0][1].endswith("string to float: 'x'")


def test_a_wrong_line_of_a_csv_file_is_named(tmp_path):
    writers.csv_of_makesense(tmp_path)
    with (tmp_path / "labels_my-project.csv").open("a") as file:
        file.write("bolt,1,one,2,2,a.png,40,30\n")
    with pytest.raises(ValueError, match=r"my-project\.csv: line 8: could not convert .*'one'"):
        read_part(tmp_path, "train")


def test_classes_of_all_parts(tmp_path):
    """A class that only validation pictures show is a class of the training, too."""
    writers.csv_of_roboflow(tmp_path)
    file = tmp_path / "valid/_annotations.csv"
    file.write_text(file.read_text().replace("bolt", "washer", 1))
    train, val = load_data(tmp_path, None, 32)
    assert train.classes == val.classes == [*NAMES, "washer"]


# ------------------------------------------------------------------------------ text labels


def test_text_labels_without_names(tmp_path):
    writers.labelimg_yolo(tmp_path)
    (tmp_path / "classes.txt").unlink()
    with pytest.raises(ValueError, match=r"a\.txt, and nothing that names .* classes\.txt there"):
        find(tmp_path, "train")


@pytest.mark.parametrize(
    "line", ["1 0,5 0,5 0,25 0,5", "1,0.5,0.5,.25,0.5", "dog 0.5 0.5 0.25 0.5"]
)
def test_lines_of_text_labels(tmp_path, line):
    writers.draw(tmp_path / "images", PICTURES)
    writers.write_labels(tmp_path / "labels", PICTURES[:2])
    (tmp_path / "labels/d.txt").write_text(line + "\n")
    (tmp_path / "classes.txt").write_text("bolt\ndog\n")
    sets = load_data(tmp_path, None, 32)
    assert not sets[0].skipped + sets[1].skipped
    assert things_of(*sets)["d"] == [("dog", 15.0, 7.5, 25.0, 22.5)]


def test_two_pictures_of_one_label_file_are_named(tmp_path):
    writers.labelimg_yolo(tmp_path)
    shutil.copy(tmp_path / "a.png", tmp_path / "a.jpg")
    sets = load_data(tmp_path, None, 32)
    changed = dict(sets[0].changed + sets[1].changed)
    assert changed.keys() == {"a.jpg", "a.png"}
    assert changed["a.jpg"].startswith("shares a.txt with a.png: the boxes can't be known")


@pytest.mark.parametrize(
    "text",
    [
        "2753 2408 2861 2385 2888 2468 2805 2502 plane 0\n",
        "imagesource:GoogleEarth\ngsd:0.146\n",
    ],
)
def test_dota_is_named(tmp_path, text):
    writers.yolo(tmp_path)
    for file in (tmp_path / "labels/train").iterdir():
        file.write_text(text)
    with pytest.raises(ValueError, match=r"none of the 4 images.*looks like DOTA's .*YOLO-OBB"):
        load_split(tmp_path, "train", None, 32)


def test_numbers_from_one(tmp_path):
    writers.yolo(tmp_path)
    for file in (tmp_path / "labels").rglob("*.txt"):
        words = [line.split() for line in file.read_text().splitlines()]
        lines = [" ".join([str(int(a) + 1), *more]) for a, *more in words]
        file.write_text("\n".join(lines))
    with pytest.raises(ValueError, match="classes 1 to 2, and there are 2 names: they look like"):
        load_data(tmp_path, None, 32)


def test_counts_that_contradict_names(tmp_path):
    writers.yolo_with_an_empty_part(tmp_path)
    file = tmp_path / "data.yaml"
    file.write_text(file.read_text().replace("nc: 2", "nc: 3"))
    with pytest.raises(ValueError, match="nc is 3, but names has 2; correct one"):
        find(tmp_path, "train")
    file.write_text(file.read_text().replace("nc: 3", "nc: 2").replace("valid/", "gone/"))
    with pytest.raises(FileNotFoundError, match="does not exist; without the line, about one in"):
        find(tmp_path, "val")


@pytest.mark.parametrize(
    ("form", "written", "looks"),
    [
        ("yolo", lambda x, y, w, h: (x, y, x + w, y + h), "two corners, not like centre and size"),
        ("yolo", lambda x, y, w, h: (x, y, w, h), "corner and size, not like centre and size"),
        ("coco", lambda x, y, w, h: (x, y, x + w, y + h), "two corners, not like corner and size"),
        ("coco", lambda x, y, w, h: (x + w / 2, y + h / 2, w, h), "centre and size, not like corn"),
        ("coco", lambda x, y, w, h: (2 * x, 2 * y, 2 * w, 2 * h), "boxes of other pictures"),
    ],
)
def test_boxes_written_in_another_way(tmp_path, form, written, looks):
    boxes = [(28, 19, 10, 10), (26, 18, 10, 10), (30, 20, 9, 9)]
    if looks.startswith("corner"):  # at the other edges
        boxes = [(2, 20, 18, 8), (1, 18, 16, 9), (3, 19, 18, 10)]
    drawn = []
    for k, picture in enumerate(PICTURES):
        a, b, width, height = written(*boxes[k % 3])
        if form == "yolo":  # its writer takes the first two numbers for the centre's
            a, b = a - width / 2, b - height / 2
        drawn.append(writers.Drawn(picture.stem, [("bolt", a, b, a + width, b + height)]))
    writers.draw(tmp_path / "images/train", PICTURES)
    if form == "coco":
        file = tmp_path / "annotations/instances_train.json"
        writers.write_json(file, writers.coco_of(drawn))
    else:
        writers.write_labels(tmp_path / "labels/train", drawn)
        (tmp_path / "data.yaml").write_text("train: images/train\nnames: [bolt]\n")
    with pytest.raises(ValueError, match=f"[56] of [56] boxes reach far beyond .* like {looks}"):
        load_data(tmp_path, None, 32)


# ------------------------------------------------------------------------------ COCO's numbers


def one_box(builder, image=None, annotation=None, name="0.png"):
    """Return a data set of a picture of 64x48 with a box 10, 10, 20, 20; change what is said."""
    builder.add(64, 48, [(1, 10, 10, 20, 20)], name=name)
    builder.images[0] |= {"file_name": "0.png"} | (image or {})
    builder.annotations[0] |= annotation or {}
    return builder.dataset(["person"])


RLE = {"size": [48, 64], "counts": [10 * 48 + 10, *[20, 28] * 19, 20, 33 * 48 + 18 + 48]}


@pytest.mark.parametrize(
    ("image", "annotation"),
    [
        ({"width": None, "height": None}, {}),
        ({"width": 0, "height": 0}, {}),
        ({"width": -1, "height": -1}, {}),
        ({"width": "64", "height": "48"}, {}),
        ({}, {"area": None}),
        ({}, {"area": "400"}),
        ({}, {"area": "large"}),
        ({}, {"iscrowd": None}),
        ({}, {"bbox": ["10", "10", "20.0", "20"]}),
        ({}, {"bbox": None, "segmentation": [[10, 10, 30, 10, 30, 30], [10, 30, 12, 30, 12, 29]]}),
        ({}, {"bbox": [], "segmentation": RLE}),
        ({}, {"bbox": [0, 0, 0, 0], "segmentation": [[10, 10, 30, 10, 30, 30]]}),
        ({}, {"attributes": {"rotation": 0.0}}),
        ({}, {"attributes": None}),
        ({}, {"bbox": [10, 10, 20, 20], "attributes": {"rotation": "90"}}),
    ],
)  # fmt: skip
def test_numbers_of_coco_files(builder, image, annotation):
    right = [10, 10, 30, 30]
    data = one_box(builder, image, annotation)
    np.testing.assert_allclose(data._corners, [right], atol=1e-9)
    assert coco_map(data, {data.image_ids[0]: np.array([[*right, 0.9, 0]])})["map50"] > 0.999


@pytest.mark.parametrize(
    ("bbox", "degrees", "corners"),
    [
        ([12, 20, 40, 8], 90, [28, 4, 36, 44]),
        ([12, 20, 40, 8], 270.0, [28, 4, 36, 44]),
        ([22, 16, 16, 16], 45, [30 - 128**0.5, 24 - 128**0.5, 30 + 128**0.5, 24 + 128**0.5]),
    ],
)
def test_rotated_rectangles_of_cvat(builder, bbox, degrees, corners):
    change = {"bbox": bbox, "attributes": {"occluded": False, "rotation": degrees}}
    data = one_box(builder, annotation=change)
    np.testing.assert_allclose(data._corners, [corners], atol=1e-9)


def test_ids_that_scores_could_not_tell_apart(builder):
    builder.add(64, 48)
    builder.images[0]["id"] = 2**53 + 1
    builder.add(64, 48, [(1, 10, 10, 20, 20)])
    builder.images[1]["id"] = builder.annotations[0]["image_id"] = 2**53
    assert builder.dataset().image_ids == [1, 2]


def test_ids_of_null_are_refused(builder):
    with pytest.raises(ValueError, match="not a COCO instances file: an id is null"):
        one_box(builder, {"id": None}, {"image_id": None})


@pytest.mark.parametrize("name", ["0.PNG", "0.jpg"])
def test_names_of_other_letters_or_endings(builder, name):
    assert len(one_box(builder, name=name)) == 1


# ------------------------------------------------------------------------------ what is named


def test_files_that_are_no_data(tmp_path):
    for end in ("pt", "onnx"):
        (tmp_path / f"best.{end}").touch()
        with pytest.raises(ValueError, match="is a file of weights, not a data set: give it to"):
            find(tmp_path / f"best.{end}", "train")
    writers.draw(tmp_path / "pictures", PICTURES)
    with pytest.raises(PartMissingError, match=r"It has 6 pictures and no labels that are known"):
        find(tmp_path / "pictures", "train")


def test_heif_is_named(tmp_path, monkeypatch):
    known = Image.registered_extensions()
    known = {end: kind for end, kind in known.items() if end not in images.HEIF}
    monkeypatch.setattr(Image, "registered_extensions", lambda: known)
    writers.labelimg_yolo(tmp_path)
    (tmp_path / "phone.heic").write_bytes(b"\0\0\0\x18ftypheic")
    skipped = [pair for data in load_data(tmp_path, None, 32) for pair in data.skipped]
    [(name, reason)] = skipped
    assert name == "phone.heic"
    assert "need pillow-heif: 'pip install pillow-heif', or save them as JPEG" in reason
