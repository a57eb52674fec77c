"""Teaching in the page: its steps are those of Python's onnxruntime; what it saves is a model."""

import base64
import json

import numpy as np
import onnx
import onnxruntime
import pytest
from tools.build_demo import assets_of, bundle
from tools.compare_runtimes import png_url

from tests.examples.yolo11n.page.browsers import detect_file, ready_page, until
from tests.examples.yolo11n.page.detectors import (
    assert_same,
    blob_picture,
    encode,
    expected_detections,
)

pytestmark = pytest.mark.browser


def unpack(packed):
    """Return the array of a tensor as page/test/lesson.js packs it."""
    data = np.frombuffer(base64.b64decode(packed["data"]), packed["dtype"])
    return data.reshape(packed["dims"])


def ask(page, call):
    """Return what the page's teacher answers to a call, an expression in JavaScript."""
    return page.evaluate(f"demo.openTeacher().then((teacher) => teacher.{call})")


@pytest.fixture(scope="module")
def assets(built_anew):
    """Return the model of the page in the repository, and its teaching assets."""
    found = assets_of(built_anew["demo_assets/model.js"])
    return {name: found[name] for name in found if name == "model" or name.startswith("teach-")}


@pytest.fixture(scope="module")
def page(browser, yolo_site):
    """Open the single file, which holds the program for teaching, too."""
    with ready_page(browser, yolo_site.single_url) as page:
        page.evaluate(bundle("../test/teach.js"))
        yield page
        assert page.evaluate("demo.errors") == []


def python_lesson(assets, part, record):
    """Return losses and last weights of the same batches and weights in Python's onnxruntime."""
    session = onnxruntime.InferenceSession(assets[f"teach-{part}-step"])
    parts = json.loads(assets["teach-info"])["parts"]
    state = {
        s["name"]: np.full(s["shape"], s.get("value", 0), s["dtype"]) for s in parts[part]["state"]
    }
    state |= {name: unpack(value) for name, value in record["first"].items()}
    outputs, losses = [output.name for output in session.get_outputs()], []
    for batch in record["batches"]:
        feeds = {name: unpack(value) for name, value in batch.items()}
        results = dict(zip(outputs, session.run(None, feeds | state), strict=True))
        losses.append(float(results["loss"]))
        state = {name: results[f"next/{name}"] for name in state}
    return losses, state


@pytest.mark.parametrize(
    ("part", "steps", "limit"),
    [("class", 3, 1e-4), pytest.param("whole", 5, 1e-3, marks=pytest.mark.long)],
)
def test_steps_are_those_of_python(browser, yolo_site, assets, part, steps, limit):
    given = {name: base64.b64encode(content).decode() for name, content in assets.items()}
    with ready_page(browser, yolo_site.url) as page:
        page.evaluate(bundle("../test/lesson.js"))
        record = page.evaluate("given => lesson(...given)", [given, part, steps])
    losses, state = python_lesson(assets, part, record)
    np.testing.assert_allclose(record["losses"], losses, rtol=1e-4)
    changes, differences = [], []
    for name, packed in record["last"].items():
        changes.append(np.square(state[name] - unpack(record["first"][name])).sum())
        differences.append(np.square(state[name] - unpack(packed)).sum())
    changes, differences = np.array(changes), np.array(differences)
    # The boxes of a level learn nothing where no anchor of it fits any box best: in both.
    learnt = changes > 0
    assert learnt.mean() > 0.75
    assert not differences[~learnt].any()
    # Where two anchors fit a box equally well, rounding decides which learns it, and the weights of
    # one level differ: not those of most, and by far less than a step does.
    assert np.median(np.sqrt(differences[learnt] / changes[learnt])) < limit
    assert np.sqrt(differences.sum() / changes.sum()) < 0.01


PICTURE = blob_picture(96, 64, [((200, 30, 30), 30, 30, 30), ((30, 40, 220), 70, 40, 24)])
BOXES = [
    {"x1": 15, "y1": 15, "x2": 45, "y2": 45, "label": "it's red"},
    {"x1": 58, "y1": 28, "x2": 82, "y2": 52, "label": "person"},
]
FRAMES = [
    {"url": png_url(PICTURE), "boxes": BOXES},
    {"url": png_url(PICTURE[::-1].copy()), "boxes": []},
]
NAMES = ["person", "cell phone"]


@pytest.mark.parametrize("part", ["class", "whole"])
def test_taught_model_is_used_saved_and_dropped(page, models, tmp_path, part):
    before = expected_detections(models.yolo, PICTURE)
    assert ask(page, "available()") == ""
    outcome = page.evaluate("given => teach(...given)", [FRAMES, {"part": part, "steps": 3}])
    assert (outcome["steps"], outcome["stopped"]) == (3, False)
    assert outcome["losses"][::2] == [outcome["firstLoss"], outcome["lastLoss"]]
    # "person" was known; it isn't there twice.
    assert page.evaluate("demo.info.names") == [*NAMES, "it's red"]
    assert ask(page, "taught()") == ["it's red", "person"]
    assert ask(page, "available()") == ""
    path = tmp_path / "taught.onnx"
    path.write_bytes(base64.b64decode(page.evaluate("savedModel()")))
    onnx.checker.check_model(onnx.load(path), full_check=True)
    after = expected_detections(path, PICTURE)
    assert len(after) >= 3
    assert_same(detect_file(page, encode(PICTURE)), after)
    ask(page, "undo()")
    assert page.evaluate("demo.info.names") == NAMES
    assert ask(page, "taught()") == []
    assert_same(detect_file(page, encode(PICTURE)), before)

    page.set_input_files("#model-file", path)
    until(page, "demo.ready && demo.info?.names.length === 3", "the saved model")
    assert_same(detect_file(page, encode(PICTURE)), after)
    assert "Only the built-in model" in ask(page, "available()")
    page.click("#model-builtin")
    until(page, "demo.ready && demo.info?.names.length === 2", "the built-in model")


def test_detector_of_another_structure_cannot_be_taught(colours):
    assert "cannot be taught" in ask(colours, "available()")
