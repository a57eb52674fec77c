"""Data sets as annotation tools write them, from their documentation and reports of their users."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from data.finding import find
from data.formats import read_coco
from data.keypoints import guess_shape
from data.listing import Unsplit, share_of
from dataset import Dataset, load_data
from evaluation.metrics import coco_map

from tests.examples.conftest import CATEGORIES, CLASSES
from tests.examples.yolo11n.data import writers
from tests.examples.yolo11n.data.pictures import same

NAMES = [category["name"] for category in CATEGORIES]

# ------------------------------------------------------------------------------ without parts


def test_share_of():
    names = [f"{k:03d}.jpg" for k in range(500)]
    val, train = share_of("a", names, "val"), share_of("a", names, "train")
    assert sorted(val + train) == names
    assert 75 < len(val) < 125
    assert val[:3] == ["001.jpg", "021.jpg", "024.jpg"]  # on every machine
    # A picture stays in its part when others come or go.
    assert share_of("a", names[:250], "val") == [name for name in val if name < "250.jpg"]
    for few in (["a", "b"], ["001.jpg", "021.jpg"]):
        assert len(share_of("a", few, "val")) == len(share_of("a", few, "train")) == 1
    with pytest.raises(ValueError, match=r"set\.json has 1 pictures, and no part for"):
        share_of("set.json", ["a"], "train")


def test_every_class_is_in_training():
    names = [f"{k:03d}.jpg" for k in range(40)]
    plain = share_of("a", names, "val")
    kinds = {name: {"a"} for name in names} | {name: {"a", "rare"} for name in plain[:2]}
    val = share_of("a", names, "val", kinds)
    assert len(val) == len(plain) - 1
    assert {*val} < {*plain}  # no other picture has moved
    assert any("rare" in kinds[name] for name in val)
    # Where each picture has a class of its own, one is lost all the same.
    kinds = {name: {name} for name in names[:3]}
    assert len(share_of("a", names[:3], "val", kinds)) == 1
    # The picture that is spared is one that shows what others do.
    names = ["001.jpg", "000.jpg", "002.jpg"]
    assert share_of("a", names, "val") == ["001.jpg"]
    kinds = {"001.jpg": {"rare"}, "000.jpg": {"a"}, "002.jpg": {"a"}}
    assert share_of("a", names, "val", kinds) != ["001.jpg"]
    assert len(share_of("a", names, "val", kinds)) == 1


@pytest.mark.parametrize("name", ["clip{}_frame_{}.png", "d/clip{}-frame{}.jpg",
                                  "clip{}_jpg.rf.0a{}.jpg"])  # fmt: skip
def test_scenes_stay_together(name):
    names = [name.format(k, n) for k in range(30) for n in range(4)]
    val = share_of("a", names, "val")
    assert 4 <= len(val) <= 60
    scenes = {each.partition("clip")[2].partition("_" if "_" in name else "-")[0] for each in val}
    assert len(val) == 4 * len(scenes)
    few = [each for each in names if "clip1_" in each or "clip1-" in each]
    assert len(share_of("a", few, "val")) == 1  # one scene alone is divided


def test_a_wrong_validation_part_is_no_missing_one(tmp_path):
    writers.write_yolo(tmp_path, "train: images/train\nval: gone\n")
    assert not isinstance(find(tmp_path, "train"), Unsplit)
    with pytest.raises(FileNotFoundError, match="val is gone"):
        load_data(tmp_path)


def test_a_list_that_obj_data_names(tmp_path):
    _, top, file = writers.darknet(tmp_path)
    file.write_text(file.read_text() + "valid = data/valid.txt\n")
    with pytest.raises(FileNotFoundError, match=r"obj\.data names .*valid\.txt, but"):
        load_data(top, None, 32)
    shutil.copy(top / "train.txt", top / "valid.txt")
    train, val = load_data(top, None, 32)
    assert (len(train), len(val), train.report["undivided"]) == (6, 6, 0)


# ------------------------------------------------------------------------------ Label Studio


def test_label_studio_names_that_two_pictures_share(builder, tmp_path):
    for k in range(3):
        builder.add(40, 30, [(1, 1, 1, 9, 9)], name=f"{k}.png")
    for image, name in zip(builder.images, ("a\\0.png", "b\\0.png", "c\\2.png"), strict=True):
        image["file_name"] = name
    data = Dataset(read_coco(builder.write(), builder.folder, CLASSES), 64)
    assert data.skipped == [("a\\0.png", "missing"), ("b\\0.png", "missing")]
    assert data.file_name(0) == "2.png"
    builder.images[1]["file_name"] = builder.images[0]["file_name"] = "0.png"
    data = Dataset(read_coco(builder.write(), builder.folder, CLASSES), 64)
    assert "1 images are in a file that another image names, too" in data.summary()


# ------------------------------------------------------------------------------ names of classes


@pytest.mark.parametrize(
    ("names", "classes"),
    [
        ("names: {2: dog, 0: cell phone, 1: person}\n", NAMES),
        ("names:\n  1: person\n  0: cell phone\n  2: dog\n", NAMES),
        ("nc: 3\n", ["class_0", "class_1", "class_2"]),
    ],
)
def test_names(tmp_path, names, classes):
    (tmp_path / "data.yaml").write_text(f"train: .\nval: .\n{names}")
    assert find(tmp_path, "train").part.names == classes


def test_a_coco_file_without_names(tmp_path):
    writers.yolo_of_ultralytics_coco(tmp_path)
    (tmp_path / "annotations/instances_val2017.json").write_text('{"categories": [{"id": 1}]}')
    with pytest.raises(ValueError, match="has no class names: KeyError"):
        find(tmp_path, "train")


# ------------------------------------------------------------------------------ COCO's file


def test_roboflow_root(builder, seven):
    """The project is a category that owns nothing; its name may be that of a class."""
    for project in ("phones", "person"):
        root = {"id": 0, "name": project, "supercategory": "none"}
        categories = [root, *({**c, "supercategory": project} for c in CATEGORIES)]
        path = builder.write(categories=categories)
        everything = Dataset(read_coco(path, builder.folder), 64)
        assert everything.classes == NAMES
        assert everything.category_ids == [77, 1, 18]
        assert same(Dataset(read_coco(path, builder.folder, CLASSES), 64), seven)
        # A part without boxes of it, and who asks for it.
        assert read_coco(path, builder.folder, [project]).category_ids == [
            0 if project == "phones" else 1
        ]


def test_categories_that_are_classes(builder):
    """A supercategory that owns boxes, and one that is called as its only class."""
    builder.add(40, 30, [(1, 1, 1, 9, 9)])
    categories = [
        {"id": 1, "name": "animal", "supercategory": "none"},
        {"id": 2, "name": "dog", "supercategory": "animal"},
        {"id": 3, "name": "person", "supercategory": "person"},
    ]
    listing = read_coco(builder.write(categories=categories), builder.folder)
    assert listing.classes == ["animal", "dog", "person"]
    categories.append({"id": 4, "name": "dog", "supercategory": "animal"})
    with pytest.raises(ValueError, match="name or id twice: dog; rename one"):
        read_coco(builder.write(categories=categories), builder.folder)


@pytest.mark.parametrize("kind", ["digits", "mixed", "words"])
def test_ids_that_are_texts(builder, seven, kind):
    def text(number):
        return f"id {number}" if kind == "words" else str(number)

    for a in builder.annotations:
        del a["iscrowd"], a["area"]
        a |= {"image_id": text(a["image_id"]), "category_id": text(a["category_id"])}
        if a["id"] % 2:
            a["iscrowd"] = "0"
    categories = CATEGORIES
    if kind != "mixed":
        for image in builder.images:
            image["id"] = text(image["id"])
        categories = [c | {"id": text(c["id"])} for c in CATEGORIES]
    data = Dataset(read_coco(builder.write(categories=categories), builder.folder, CLASSES), 64)
    assert same(data, seven)
    words = kind == "words"
    assert data.image_ids == ([1, 2, 3, 4, 5, 6, 7] if words else seven.image_ids)
    assert data.category_ids == ([2, 1] if words else [1, 77])
    found = {}
    for k, sample in enumerate(data):
        corners = sample.geometry.undo(seven._corners[seven._bounds[k] : seven._bounds[k + 1]])
        found[sample.image_id] = np.zeros((len(corners), 6))
    assert coco_map(data, found)["map50"] == 0


def test_crowds_that_are_texts(builder):
    builder.add(40, 30, [(1, 1, 1, 9, 9, "1"), (1, 2, 2, 9, 9, "0"), (77, 3, 3, 9, 9, True)])
    assert (builder.dataset().report["regions"], builder.dataset().report["boxes"]) == (2, 1)


def test_masks(builder, seven):
    """Run lengths and polygons are left alone: the box counts."""
    for a in builder.annotations:
        rle = {"counts": [0, 4, 12], "size": [4, 4]}
        a["segmentation"] = rle if a["id"] % 2 else [[1, 1, 2, 2, 3, 1]]
    assert same(builder.dataset(), seven)


# ------------------------------------------------------------------------------ keypoints


BOX = (0.5, 0.55, 0.6, 0.5)  # corners 0.2, 0.3, 0.8, 0.8
FLAT = (0.38, 0.4, 0.72, 0.67, 0.45, 0.35, 0.5, 0.6)  # four points of x and y
FLAGS = (0.38, 0.4, 1, 0.72, 0.67, 0, 0.45, 0.35, 1, 0, 0, 0)


@pytest.mark.parametrize(
    ("points", "shape"), [(FLAT, [4, 2]), (FLAGS, [4, 3]), (FLAGS[:9], [3, 3]), (FLAT[:2], [1, 2])]
)
def test_pose(builder, tmp_path, points, shape):
    root = tmp_path / "pose"
    for _ in range(2):
        builder.add(40, 20)
    builder.write_yolo(root)
    for split in ("train", "val"):
        line = " ".join(map(str, (1, *BOX, *points)))
        (root / f"labels/{split}/10.txt").write_text(f"{line}\n1 0.5 0.5 0.2 0.2\n")
    with pytest.raises(ValueError, match="look like boxes with") as error:
        load_data(root, None, 64)
    assert f"put kpt_shape: {shape} into data.yaml" in str(error.value)
    text = (root / "data.yaml").read_text()
    (root / "data.yaml").write_text(f"{text}kpt_shape: {shape}\n")
    train, _ = load_data(root, None, 64)
    assert not train.skipped
    np.testing.assert_allclose(train[0].boxes[0, 2:], [0.6, 0.25], atol=1e-6)
    assert train.report["from_keypoints"] == 1
    assert "1 boxes have keypoints, which are not used" in train.summary()
    (root / "data.yaml").write_text(f"{text}kpt_shape: [7, 3]\n")
    train, _ = load_data(root, None, 64)
    assert "box has 5, and with keypoints (kpt_shape) 26" in train.skipped[0][1]


def test_polygons_that_resemble_keypoints(builder, tmp_path):
    """Whoever says there are no keypoints has polygons."""
    builder.add(40, 20)
    root = tmp_path / "polygons"
    builder.write_yolo(root)
    for split in ("train", "val"):
        (root / f"labels/{split}/10.txt").write_text("1 .4 .4 .6 .6 .6 .4 .4 .6\n")
    with pytest.raises(ValueError, match=r"or kpt_shape: \[0, 2\] if they are polygons"):
        load_data(root, None, 64)
    with (root / "data.yaml").open("a") as file:
        file.write("kpt_shape: [0, 2]\n")
    assert load_data(root, None, 64)[0].report["from_polygon"] == 1


def test_guess_shape():
    """Of drawn keypoints always, of drawn polygons never, few lines or many."""
    rng = np.random.default_rng(0)
    for count in (1, 3, 40):
        for keypoints in (5, 17):
            size = rng.uniform(0.05, 0.5, (count, 2))
            centre = rng.uniform(size / 2, 1 - size / 2)
            at = centre[:, None] + rng.uniform(-0.5, 0.5, (count, keypoints, 2)) * size[:, None]
            box = np.concatenate([centre, size], axis=1)
            assert guess_shape([*np.column_stack([box, at.reshape(count, -1)])]) == (keypoints, 2)
            seen = rng.integers(0, 3, (count, keypoints, 1))
            flags = np.concatenate([at * (seen > 0), seen], axis=2).reshape(count, -1)
            assert guess_shape([*np.column_stack([box, flags])]) == (keypoints, 3)
        # Stars around points of the middle, where any two corners pass for a centre and sides.
        for corners in (4, 5, 8, 40):
            angle = (np.arange(corners) + rng.uniform(-0.4, 0.4, (count, corners))) / corners
            angle *= 2 * np.pi
            at = np.stack([np.cos(angle), np.sin(angle)], axis=2)
            at *= rng.uniform(0.05, 0.1, (count, corners, 1))
            at += rng.uniform(0.4, 0.6, (count, 1, 2))
            assert guess_shape([*at.reshape(count, -1)]) is None
    assert guess_shape([]) is None
    assert guess_shape([(*BOX, *FLAT), (*BOX, *FLAT[:6])]) is None
    assert guess_shape([(*BOX, 0.9)]) is None
    assert guess_shape([(*BOX, *FLAT[:3])]) is None
    # A few wrong lines tell nothing.
    assert guess_shape(19 * [(*BOX, *FLAT)] + [(*BOX, 0.9)]) == (4, 2)
    assert guess_shape(19 * [(*BOX, *FLAT)] + [(float("nan"),) * 12]) == (4, 2)


def test_file_names_are_not_changed(builder, tmp_path):
    """A name that is there as it stands counts, whatever it looks like."""
    builder.add(40, 30, [(1, 1, 1, 9, 9)], name="a%20b.png")
    builder.add(40, 30, [(1, 2, 2, 9, 9)], name="a b.png")
    builder.add(40, 30, name="~c%20d.png")
    data = builder.dataset()
    assert [Path(picture.path).name for picture in data._pictures] == [
        "a%20b.png", "a b.png", "~c%20d.png"
    ]  # fmt: skip
    builder.write_yolo(tmp_path / "yolo")
    train, _ = load_data(tmp_path / "yolo", CLASSES, 64)
    assert train.report["no_label_file"] == 1
    assert train.report["boxes"] == 2
    assert json.loads(builder.write().read_text())["images"][0]["file_name"] == "a%20b.png"
