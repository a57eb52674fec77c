"""Teaching in the page: its steps are those of Python's onnxruntime, and what it saves is a model."""

import base64
import json

import numpy as np
import onnx
import onnxruntime
import pytest
from tools.build_demo import bundle
from tools.teaching import teaching_assets

from tests.examples.yolo11n.page.browsers import detect_file, ready_page, until
from tests.examples.yolo11n.page.detectors import (
    assert_same,
    blob_picture,
    data_url,
    encode,
    expected_detections,
)

pytestmark = pytest.mark.browser

# Example frames of data: URLs, and the whole of a lesson.
TEACH = """async ([frames, options]) => {
  const examples = await Promise.all(frames.map(async ({url, boxes}) => {
    const blob = await (await fetch(url)).blob();
    return {bitmap: await createImageBitmap(blob), boxes};
  }));
  const losses = [];
  const onStep = ({loss}) => losses.push(loss);
  const outcome = await demo.teacher.teach({examples, onStep, ...options});
  return {...outcome, losses};
}"""
SAVED = """async () => {
  const bytes = await demo.teacher.save();
  let text = "";
  for (let at = 0; at < bytes.length; at += 30000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 30000));
  }
  return btoa(text);
}"""


def unpack(packed):
    """The array of a tensor as page/test/lesson.js packs it."""
    data = np.frombuffer(base64.b64decode(packed["data"]), packed["dtype"])
    return data.reshape(packed["dims"])


@pytest.fixture(scope="module")
def assets(models):
    """The teaching assets of the page's detector, and the detector."""
    model = onnx.load(models.yolo)
    return teaching_assets(model)


@pytest.fixture(scope="module")
def page(browser, yolo_site):
    with ready_page(browser, yolo_site.url) as page:
        yield page
        assert page.evaluate("demo.errors") == []


def python_lesson(assets, part, record):
    """Losses and last weights of the same batches from the same weights in Python's onnxruntime."""
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


@pytest.mark.parametrize(("part", "steps"), [("class", 20), ("whole", 5)])
def test_steps_are_those_of_python(browser, yolo_site, assets, part, steps):
    with ready_page(browser, yolo_site.url) as page:
        page.evaluate(bundle("../test/lesson.js"))
        record = page.evaluate("([part, steps]) => lesson(part, steps)", [part, steps])
    losses, state = python_lesson(assets, part, record)
    print(np.subtract(losses, record["losses"]), losses)
    np.testing.assert_allclose(record["losses"], losses, rtol=1e-4)
    change = difference = 0
    for name, packed in record["last"].items():
        change += np.square(state[name] - unpack(record["first"][name])).sum()
        difference += np.square(state[name] - unpack(packed)).sum()
    assert change > 0
    print(np.sqrt(difference/change))
    assert np.sqrt(difference / change) < 1e-4
