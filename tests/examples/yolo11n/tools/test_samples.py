"""The sample pictures: what is drawn in them, and when a model is right about it."""

import io
import json
from types import SimpleNamespace

import numpy as np
import pytest
from data.synthetic.scenes import PERSON, PHONE, SceneObject
from PIL import Image
from tools import samples
from tools.samples import SAMPLES, SCENES, choose_samples, judge, sample_scene_of

NAMES = ["cell phone", "person"]
DETECTOR = SimpleNamespace(classes=NAMES)
OBJECTS = [
    SceneObject(PERSON, (10, 20, 30, 60), 1000, 1.0),
    SceneObject(PHONE, (100, 50, 20, 40), 500, 1.0),
]
RIGHT = np.array([[10, 20, 40, 80, 0.9, 1], [101, 50, 120, 90, 0.6, 0]])


@pytest.mark.parametrize(("index", "number"), [*((k, 0) for k in range(6)), (0, SCENES)])
def test_samples_show_whole_and_near_objects(index, number):
    image, objects = sample_scene_of(index, number)
    width, height, kinds = SAMPLES[index]
    assert image.shape == (height, width, 3)
    wanted = kinds if number < SCENES else (PERSON,)
    assert tuple(thing.category_id for thing in objects) == wanted
    for thing in objects:
        assert thing.visible >= 0.9
        assert max(thing.bbox[2:]) >= 0.12 * max(image.shape)


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([], (2, 0, 0)),
        ([[10, 20, 40, 80, 0.3, 1]], (1, 1, 2)),  # a second box for one thing
        ([[200, 20, 240, 80, 0.3, 1]], (2, 0, 1)),  # a box where there is nothing
        ([[100, 50, 120, 90, 0.3, 1]], (2, 0, 1)),  # a box of another class
    ],
)
def test_a_model_is_right_with_one_box_for_each_thing(rows, verdict):
    found = np.concatenate([RIGHT, np.reshape(rows, (-1, 6))])
    assert judge(found, OBJECTS, NAMES) == verdict
    assert judge(found, OBJECTS, NAMES).holds == (not rows)


def test_boxes_that_are_off_and_classes_that_are_unknown():
    off = RIGHT + np.array([[0, 30, 0, 30, 0, 0], [0] * 6])  # IoU 1/3
    assert judge(off, OBJECTS, NAMES) == (1, 1, 1)
    assert judge(RIGHT[:1] * [1, 1, 1, 1, 1, 0], OBJECTS, ["person"]) == (1, 0, 0)
    assert judge(np.empty((0, 6)), OBJECTS, NAMES) == (0, 2, 0)
    assert not judge(np.empty((0, 6)), OBJECTS, ["cat"]).holds


@pytest.fixture
def scenes(monkeypatch):
    """Make scenes that are their own numbers, and a detector that finds what `found` says."""
    found = {}
    monkeypatch.setattr(samples, "SAMPLES", [(0, 0, (PERSON, PHONE))] * 2)
    monkeypatch.setattr(samples, "SCENES", 4)
    monkeypatch.setattr(samples, "sample_scene_of", lambda *scene: (scene, OBJECTS))
    monkeypatch.setattr(samples, "shown_pixels", lambda scene: scene)
    monkeypatch.setattr(samples, "detect_in", lambda _, scene, *__: found.get(scene, RIGHT[:0]))
    return found


def test_the_first_scene_in_which_the_model_is_right(scenes):
    scenes |= {(0, 1): RIGHT[:1], (0, 6): RIGHT, (1, 2): RIGHT, (1, 4): RIGHT}
    assert choose_samples(DETECTOR) == ((6, 2), ())


def test_else_the_best_one_with_a_warning(scenes):
    scenes |= {(0, 0): RIGHT, (1, 3): RIGHT[:1], (1, 7): RIGHT[[0, 0, 1]]}
    numbers, (warning,) = choose_samples(DETECTOR)
    assert numbers == (0, 3)
    assert warning == (
        "sample 2: in none of 8 drawn scenes is the model right; the best is shown (right: 1, "
        "missed: 1, wrong boxes: 0)"
    )


def test_a_model_that_is_right_about_nothing_is_given_up(scenes, capsys, monkeypatch):
    scenes[0, 6] = RIGHT  # behind those that are tried first
    monkeypatch.setattr(samples, "sample_assets", lambda numbers: numbers)
    assert samples.chosen_assets(DETECTOR) == ()
    assert "is it trained?" in capsys.readouterr().err
    assert samples.chosen_assets(SimpleNamespace(classes=["cat"])) == ()
    assert "knows neither" in capsys.readouterr().err


def test_pictures_of_a_data_set(builder, monkeypatch, capsys):
    """The ones in which most is right, the best first; large ones are made smaller."""
    for k in range(9):
        size = (1280, 960) if k == 3 else (80, 60)
        builder.add(*size, [(1, 5, 5, 20, 30), (77, 40, 10, 30, 30)] if k else [])
    dataset = builder.dataset()

    def found(_, pixels):
        k = found.count = found.count + 1
        scale = pixels.shape[1] / (1280 if k == 3 else 80)
        rows = np.array([[5, 5, 25, 35, 0.9, 0], [40, 10, 70, 40, 0.8, 1]]) * ([scale] * 4 + [1, 1])
        return {1: rows[:1], 2: rows, 3: rows}.get(k, rows[:0])

    found.count = 0
    monkeypatch.setattr(samples, "detect_in", found)
    assets = samples.data_assets(SimpleNamespace(), dataset)
    listed = json.loads(assets["samples"])
    assert [entry["title"] for entry in listed] == ["labelled 1 × person, 1 × cell phone"] * 2
    assert [entry["asset"] for entry in listed] == ["sample-1", "sample-2"]
    sizes = [Image.open(io.BytesIO(assets[entry["asset"]])).size for entry in listed]
    assert sizes == [(80, 60), (640, 480)]
    assert "contains 2 pictures of the data as samples; --no-samples" in capsys.readouterr().out
    assert samples.data_assets(SimpleNamespace(), dataset) == {"samples": b"[]"}
    assert "in no picture the model finds most things" in capsys.readouterr().out
