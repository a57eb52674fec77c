"""tools/reference.py: Python's outputs and limits, by which the page checks a device."""

import base64
import json

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper
from tools.reference import MOST, input_of, logits_name, reference_assets

from tests.examples.yolo11n.page.detectors import encode
from tests.examples.yolo11n.small_models import make_model

SIZE = 8
PICTURE = encode(np.full((6, 8, 3), (200, 30, 90), np.uint8))


@pytest.fixture
def model():
    """Return a detector of one class whose score is the sigmoid of a sum, and is 0 in float32."""
    nodes = [
        helper.make_node("Cast", ["half"], ["filters"], to=TensorProto.FLOAT),
        helper.make_node("Reshape", ["images", "shape"], ["flat"]),
        helper.make_node("MatMul", ["filters", "flat"], ["rows"]),
        helper.make_node("Slice", ["rows", "zero", "four", "axis"], ["box"]),
        helper.make_node("Slice", ["rows", "four", "five", "axis"], ["last"]),
        helper.make_node("Sub", ["last", "far"], ["before"]),
        helper.make_node("Sigmoid", ["before"], ["score"]),
        helper.make_node("Concat", ["box", "score"], ["output0"], axis=1),
    ]
    filters = np.random.default_rng(0).normal(size=(1, 5, 3)).astype(np.float16)
    constants = {
        "half": filters, "shape": [1, 3, SIZE * SIZE], "far": np.float32(120), "axis": [1],
        "zero": [0], "four": [4], "five": [5],
    }  # fmt: skip
    ends = {"images": [1, 3, SIZE, SIZE]}, {"output0": [1, 5, SIZE * SIZE]}
    return make_model(nodes, constants, *ends)


def sample_assets(boxes):
    entries = [{"asset": f"sample-{k}", "boxes": found} for k, found in enumerate(boxes)]
    listed = {"model-boxes": json.dumps(entries).encode()}
    return listed | {entry["asset"]: PICTURE for entry in entries}


def test_the_limits_are_what_rounding_may_do_and_hold_before_the_sigmoid(model):
    data = model.SerializeToString()
    assets = reference_assets("model", data, SIZE, sample_assets([[], [[0] * 6]]))
    info = json.loads(assets["model-reference"])
    assert (info["sample"], info["logits"]) == ("sample-1", "before")
    output = np.frombuffer(assets["model-outputs"], "<f4").reshape(1, 5, -1)
    logits = np.frombuffer(assets["model-logits"], "<f4").reshape(1, 1, -1)
    assert output[0, 4].max() < 1e-30  # nothing shows there what the logits show
    longer = data + base64.b64decode(info["suffix"])
    assert [v.name for v in onnx.load_from_string(longer).graph.output] == ["output0", "before"]
    onnx.checker.check_model(onnx.load_from_string(longer))
    # Of sums in another order, and more than one rounding to float32 makes
    session = onnxruntime.InferenceSession(longer, providers=["CPUExecutionProvider"])
    found, before = session.run(None, {"images": input_of(PICTURE, SIZE)})
    gaps = {"box": found[0, :4] - output[0, :4], "score": found[0, 4:] - output[0, 4:]}
    for kind, gap in (gaps | {"logit": before - logits}).items():
        assert np.abs(gap).max() <= info["limits"][kind] <= MOST[kind]
    assert np.spacing(np.abs(logits).max()) <= info["limits"]["logit"] < 1e-3
    assert info["limits"]["box"] < 1e-4


def test_without_samples_there_is_no_reference_and_without_things_the_first_sample(model):
    data = model.SerializeToString()
    assert reference_assets("model", data, SIZE, sample_assets([])) == {}
    assets = reference_assets("model", data, SIZE, sample_assets([[], []]))
    assert json.loads(assets["model-reference"])["sample"] == "sample-0"


def test_large_outputs_stay_at_home(model, monkeypatch):
    monkeypatch.setattr("tools.reference.MOST_BYTES", 1535)  # 64 boxes of 5 numbers, and logits
    data = model.SerializeToString()
    assert [*reference_assets("model", data, SIZE, sample_assets([[]]))] == ["model-reference"]
    monkeypatch.setattr("tools.reference.MOST_BYTES", 1536)
    assert len(reference_assets("model", data, SIZE, sample_assets([[]]))) == 3


def test_scores_that_are_no_sigmoid_are_compared_alone(model):
    for node in model.graph.node:
        if node.op_type == "Sigmoid":
            node.op_type = "Tanh"
    assert logits_name(model.graph) is None
    assets = reference_assets("model", model.SerializeToString(), SIZE, sample_assets([[]]))
    info = json.loads(assets["model-reference"])
    assert (info["logits"], info["suffix"], [*info["limits"]]) == (None, "", ["box", "score"])


def test_a_model_that_has_no_bounds_is_warned_of(model, capsys):
    """Then the page compares with WebAssembly."""
    for node in model.graph.node:
        if node.op_type == "Sigmoid":
            node.op_type = "RandomNormalLike"
    assert reference_assets("model", model.SerializeToString(), SIZE, sample_assets([[]])) == {}
    assert "warning: the page can't check WebGPU by Python's" in capsys.readouterr().err
