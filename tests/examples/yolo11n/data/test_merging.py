"""Several data sets as one, and pictures that aren't labelled for all classes."""

from collections import Counter

import numpy as np
import pytest
from data.augment import Augment
from data.loader import BatchLoader
from data.merging import split_share
from dataset import load_data, load_split
from evaluation.metrics import coco_map

from tests.examples.conftest import CLASSES, draw_set, edit


@pytest.fixture
def two(tmp_path):
    """Draw three pictures that label persons and phones, two others that label dogs alone."""
    first = [[(1, 4, 4, 20, 24)], [(77, 8, 8, 30, 30), (1, 2, 2, 12, 30)], []]
    one = draw_set(tmp_path / "one", [(80, 60), (60, 80), (64, 64)], first)
    other = draw_set(tmp_path / "other", [(100, 50), (50, 100)], [[(1, 6, 6, 30, 30)], []])

    def only_dogs(data):
        data["categories"] = [{"id": 9, "name": "dog"}]
        for annotation in data["annotations"]:
            annotation["category_id"] = 9

    def no_dogs(data):
        data["categories"] = [{"id": 1, "name": "person"}, {"id": 77, "name": "cell phone"}]

    for split in ("train", "val"):
        edit(one, no_dogs, split)
        edit(other, only_dogs, split)
    return [one, other]


def test_names_pictures_and_boxes_of_several(two):
    train, val = load_data(two, None, 64)
    assert train.classes == [*CLASSES, "dog"]
    assert train.labelled.tolist() == [[True, True, False]] * 3 + [[False, False, True]] * 2
    apart = [load_split(path, "train", None, 64, antialias=False) for path in two]
    np.testing.assert_array_equal(train.squares, np.concatenate([p.squares for p in apart]))
    for k in range(5):
        alone = apart[k > 2][k - 3 * (k > 2)]
        np.testing.assert_array_equal(train[k].boxes, alone.boxes)
        np.testing.assert_array_equal(train[k].classes, alone.classes + 2 * (k > 2))
    assert len(set(val.image_ids)) == 5
    assert f"{two[1]}: 2 images" in train.summary()
    assert "images not labelled for a class: person 2, cell phone 2, dog 3" in train.summary()
    # The boxes to score are the files' own, under the new numbers.
    truth = val.ground_truth()
    names = {c["id"]: c["name"] for c in truth["categories"]}
    owners = {number: k for k, number in enumerate(val.image_ids)}
    found = [(owners[a["image_id"]], names[a["category_id"]]) for a in truth["annotations"]]
    assert sorted(found) == [(0, "person"), (1, "cell phone"), (1, "person"), (3, "dog")]


def test_one_set_is_as_it_was(two):
    alone = load_split(two[0], "train", CLASSES, 64)
    assert (alone.labelled, alone.parts) == (None, [])
    listed = load_split(two[:1], "train", CLASSES, 64)
    assert (listed.image_ids, listed.parts) == (alone.image_ids, [])


def test_pictures_that_show_a_class(two):
    """The second picture has both classes, the first isn't labelled for persons any more."""
    edit(two[0], lambda data: data["images"][0].update(complete=[77]), "val")
    shown = load_split(two, "val", None, 64, shown="person")
    assert [shown.file_name(k) for k in range(len(shown))] == ["20.png"]
    assert shown[0].classes.tolist() == [1, 0]
    assert shown.labelled.tolist() == [[True, True, False]]
    assert len(shown.ground_truth()["annotations"]) == 2
    with pytest.raises(ValueError, match=r"no picture .* of 'cat' and .* person, cell phone"):
        load_split(two, "val", None, 64, shown="cat")


def test_text_labels_beside_a_coco_file(two, builder, seven):
    builder.write_yolo(builder.root / "text")
    text = load_split(builder.root / "text", "val", CLASSES, 64)
    joined = load_split([builder.root / "text", two[0]], "val", CLASSES, 64)
    assert joined.labelled is None
    for k in range(len(text)):
        np.testing.assert_allclose(joined[k].boxes, text[k].boxes, atol=2e-7)
    truth = joined.ground_truth()
    assert len(truth["images"]) == len(joined)
    assert len(truth["annotations"]) == joined.report["boxes"]
    perfect = {image["id"]: [] for image in truth["images"]}
    numbers = {c["id"]: joined.classes.index(c["name"]) for c in truth["categories"]}
    for a in truth["annotations"]:
        x, y, w, h = a["bbox"]
        row = [x, y, x + w, y + h, 0.9, numbers[a["category_id"]]]
        perfect[a["image_id"]].append(row)
    assert coco_map(joined, perfect)["map50_95"] == pytest.approx(1)


def test_a_set_with_a_training_part_only(two):
    (two[1] / "annotations" / "instances_val.json").unlink()
    train, val = load_data(two, [*CLASSES, "dog"], 64)
    assert (len(train), len(val)) == (5, 3)
    assert val.classes == train.classes
    assert not val.labelled[:, 2].any()
    perfect = {number: [] for number in val.image_ids}
    assert np.isnan(coco_map(val, perfect)["per_class"]["dog"]["map50"])
    # Where none has a part for validation, each gives some of its pictures.
    (two[0] / "annotations" / "instances_val.json").unlink()
    train, val = load_data(two, None, 64)
    assert (len(train) + len(val), {part.name for part in val.parts}) == (5, {*map(str, two)})
    with pytest.raises(FileNotFoundError, match="no test part"):
        load_split(two, "test", None, 64)
    with pytest.raises(ValueError, match=r"no category \['cat'\]"):
        load_data(two, ["person", "dog", "cat"], 64)
    with pytest.raises(ValueError, match=r"no category \['person'\]"):
        load_data(two, ["person"], 64)  # a set of which nothing is wanted


@pytest.mark.parametrize("where", ["image", "info"])
def test_what_a_picture_does_not_label(two, where):
    def change(data):
        if where == "info":
            data["info"] = {"complete": [1]}
            data["images"][0]["complete"] = [1, 77]
        else:
            for image in data["images"][1:]:
                image["complete"] = [1]

    edit(two[0], change)
    train = load_split(two[0], "train", CLASSES[::-1], 64)
    assert train.labelled.tolist() == [[True, True], [False, True], [False, True]]
    assert "images not labelled for a class: cell phone 2" in train.summary()


def test_classes_that_are_kept(two):
    """A set of dogs alone, one of persons and phones, and both, for a detector that knows cats."""
    kept = ["cat", "person"]
    dogs, val = load_data(two[1], None, 64, kept=kept)
    assert dogs.classes == val.classes == ["cat", "person", "dog"]
    assert dogs.labelled.tolist() == val.labelled.tolist() == [[False, False, True]] * 2
    assert (dogs.report["per_class"], dogs.parts) == ({"cat": 0, "person": 0, "dog": 1}, [])
    assert "images not labelled for a class: cat 2, person 2" in dogs.summary()
    known, _ = load_data(two[0], ["cell phone"], 64, kept=kept)
    assert known.classes == ["cat", "person", "cell phone"]
    assert known.labelled.tolist() == [[False, True, True]] * 3
    both, _ = load_data(two, ["dog"], 64, kept=kept)
    assert both.classes == ["cat", "person", "dog"]
    assert both.labelled[:, 1].tolist() == [True] * 3 + [False] * 2
    with pytest.raises(ValueError, match="has no category"):
        load_data(two[1], ["horse"], 64, kept=kept)


@pytest.mark.parametrize("wrong", [["person"], 1, [2]])
def test_wrong_complete_names_the_picture(two, wrong):
    edit(two[0], lambda data: data["images"][1].update(complete=wrong))
    with pytest.raises(ValueError, match=r"`complete` of image .* list of category ids"):
        load_split(two[0], "train", CLASSES, 64)


# ------------------------------------------------------------------------------ shares


def test_shares_of_the_command_line(tmp_path):
    assert split_share("a:3") == ("a", 3.0)
    assert split_share("c:/a:.5") == ("c:/a", 0.5)
    assert split_share("a") == ("a", None)
    (tmp_path / "a:3").mkdir()
    assert split_share(str(tmp_path / "a:3")) == (str(tmp_path / "a:3"), None)
    with pytest.raises(ValueError, match="above 0"):
        split_share("a:0")


def test_an_epoch_has_the_shares(two):
    train, _ = load_data(two, None, 64, shares=[1.0, 4.0])
    loader = BatchLoader(train, 2, augment=Augment(mosaic=1.0), workers=0)
    seen = [Counter(loader.order(epoch).tolist()) for epoch in range(3)]
    for own in seen:
        assert sum(own.values()) == 5
        assert sum(own[k] for k in range(3)) == 1
        assert sorted(own[k] for k in (3, 4)) == [2, 2]
    # The large set's pictures come in turns, whatever the epoch.
    assert {k for own in seen for k in own if k < 3} == {0, 1, 2}
    # Repeated ones are drawn in another way, and a mosaic's partners have the shares, too.
    batches = [batch for epoch in range(3) for batch in loader.epoch(epoch)]
    images = {batch.images[row].tobytes() for batch in batches for row in range(2)}
    assert len(images) > 15
    again = BatchLoader(train, 2, augment=Augment(mosaic=1.0), workers=2)
    with again:
        for ours, theirs in zip(batches[3:6], again.epoch(1), strict=True):
            np.testing.assert_array_equal(ours.images, theirs.images)


def test_labels_of_the_layers_of_a_mosaic(two):
    train, _ = load_data(two, None, 64)
    loader = BatchLoader(train, 3, augment=Augment(mosaic=1.0), workers=0, render=False)
    for batch in loader.epoch(0):
        np.testing.assert_array_equal(batch.windows, batch.plan.window)
        np.testing.assert_array_equal(batch.labelled, train.labelled[batch.plan.source])
    assert len({tuple(source) for source in batch.plan.source.tolist()}) > 1
    plain = BatchLoader(load_split(two[0], "train", None, 64), 3, workers=0)
    assert next(plain.epoch(0)).labelled is None
