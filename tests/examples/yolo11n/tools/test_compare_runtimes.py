"""tools/compare_runtimes.py without a browser: what it says where the page finds something else."""

from contextlib import contextmanager

import numpy as np
import onnx
import onnxruntime
import pytest
from evaluation.detectors import open_detector
from tools import compare_runtimes

from tests.examples.yolo11n.page.detectors import GREEN, blob_picture, colour_detector_onnx

PICTURE = blob_picture(64, 64, [(GREEN, 30, 30, 20)])


@pytest.fixture
def model(tmp_path):
    colour_detector_onnx(tmp_path / "small.onnx", 64)
    return tmp_path / "small.onnx"


def without_signs(proto, inputs):
    """Run a model that takes its absolute values with the other sign."""
    other = onnx.ModelProto.FromString(proto.SerializeToString())
    for node in other.graph.node:
        if node.op_type == "Abs":
            node.op_type = "Neg"
    session = onnxruntime.InferenceSession(other.SerializeToString())
    names = [value.name for value in session.get_outputs()]
    return dict(zip(names, session.run(None, inputs), strict=True))


@pytest.mark.slow
def test_the_runtime_that_is_wrong_is_named_and_its_node(model):
    detector = open_detector(model, batch_size=1)
    lines = compare_runtimes.who_is_wrong(model, detector, PICTURE, ["ort", without_signs])
    assert [line.partition(":")[0] for line in lines] == ["ort", "without_signs"]
    assert "right" in lines[0]
    assert "first wrong node: Abs" in lines[1]


class Page:
    """A page that finds nothing."""

    def evaluate(self, expression, *given):
        return {"detections": [], "settings": {"confidence": [0.25, 0.25]}}

    def input_value(self, selector):
        return "0.25"


def test_where_the_page_differs_it_says_whose_fault_that_is(model, monkeypatch, capsys):
    @contextmanager
    def open_page(*_, **__):
        yield Page()

    info = {"backend": "wasm", "adapter": "", "iou": 0.45}
    opened = {"open_page": open_page, "wait_ready": lambda page: info}
    opened |= {"build": lambda *_, **__: {"single_file": ""}}
    opened |= {"compared_pictures": lambda: iter([("blob", PICTURE)])}
    asked = []
    opened |= {"who_is_wrong": lambda *given: asked.append(given) or ["both are right"]}
    for name, function in opened.items():
        monkeypatch.setattr(compare_runtimes, name, function)
    assert not compare_runtimes.compare(model)
    [(file, _, pixels, runtimes)] = asked
    assert (file, runtimes) == (model, ["ort", "web-wasm"])
    np.testing.assert_array_equal(pixels, PICTURE)
    assert "both are right" in capsys.readouterr().out
