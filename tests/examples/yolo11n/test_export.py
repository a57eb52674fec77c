"""The exported detector: golden outputs through onnxruntime, size, names, and its own check."""

import json
from collections import Counter

import export
import numpy as np
import onnx
import onnxruntime
import pytest
from evaluation.detectors import OnnxDetector
from export import ExportMismatch, export_detector, verify_export
from model import YOLO11n
from training.checkpoint import REAL_WEIGHTS, save_weights

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import jax_mode
from tests.examples import yolo11n_golden as golden
from tests.examples.conftest import CLASSES

pytestmark = pytest.mark.usefixtures("compiled_sooner")
SCORES = {"on": "x", "per_class": {name: {"map50": 0.5, "map50_95": None} for name in CLASSES}}


@pytest.fixture(scope="module")
def golden_model():
    """Return the golden weights with calibrated statistics."""
    model = YOLO11n(2)
    golden.load_golden_weights(model, golden.CALIBRATED)
    return model


@pytest.fixture(scope="module")
def exported(golden_model, tmp_path_factory):
    path = tmp_path_factory.mktemp("onnx") / "yolo11n.onnx"
    return path, export_detector(golden_model, path, CLASSES, 320, batch_size=None, scores=SCORES)


def run(path, images):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(["output0"], {"images": images})[0]


@pytest.mark.by_default("2")
@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 2])
def test_golden_output(exported, batch):
    decoded = run(exported[0], golden.images()[:batch])
    assert decoded.shape == (batch, 6, 2100)
    expected = golden.load_arrays(golden.CORE / "eval_cal_nc2_every7.npz")
    decoded, wanted = decoded[:, :, expected["anchor_index"]], expected["decoded"][:batch]
    np.testing.assert_allclose(decoded[:, :4], wanted[:, :4], atol=0.05, rtol=0)
    np.testing.assert_allclose(decoded[:, 4:], wanted[:, 4:], atol=2e-4, rtol=0)


@pytest.mark.by_default("N")
@pytest.mark.slow
@pytest.mark.parametrize("batch", ["N", 1])
def test_nodes(exported, golden_model, tmp_path, batch):
    proto = exported[1]
    if batch == 1:
        proto = export_detector(golden_model, tmp_path / "1.onnx", CLASSES, 320)
    count = Counter(node.op_type for node in proto.graph.node)
    assert sum(count.values()) <= 320
    assert count["Conv"] == 87
    assert not {"BatchNormalization", "Shape", "Gather", "Range", "Swish"} & set(count)
    # WebGPU and older readers need these said
    for node in proto.graph.node:
        if node.op_type == "Conv":
            names = {a.name for a in node.attribute}
            assert {"strides", "dilations", "pads", "group", "kernel_shape"} <= names


def test_interface_and_metadata(exported):
    path, proto = exported
    onnx.checker.check_model(str(path), full_check=True)

    def shape(value):
        return [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]

    (image,), (output,) = proto.graph.input, proto.graph.output
    assert (image.name, shape(image)) == ("images", ["N", 3, 320, 320])
    assert (output.name, shape(output)) == ("output0", ["N", 6, 2100])
    metadata = {p.key: p.value for p in proto.metadata_props}
    assert metadata["names"] == "{0: 'person', 1: 'cell phone'}"
    assert (metadata["stride"], metadata["imgsz"]) == ("32", "[320, 320]")
    assert (metadata["conf"], metadata["iou"]) == ("0.25", "0.45")
    assert json.loads(metadata["average_precision"]) == SCORES
    assert proto.opset_import[0].version == 20


@pytest.mark.slow
def test_one_image(golden_model, tmp_path):
    """The default is a batch of one; the smallest size, at the lowest and highest opset."""
    images = golden.images(1, 32)
    results = []
    for opset in (18, 24):
        path = tmp_path / f"{opset}.onnx"
        proto = export_detector(golden_model, path, CLASSES, 32, opset_version=opset)
        assert proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value == 1
        results.append(run(path, images))
    x = pt.tensor("x", dtype="float32", shape=(1, 3, 32, 32))
    expected = pytensor.function([x], golden_model.decode(golden_model(x)), mode=jax_mode())(images)
    for result in results:
        np.testing.assert_allclose(result, expected, atol=2e-3)


def errors_of(box, score):
    """Return a function in the place of `rounding_error`."""
    error = np.zeros((1, 6, 2100))
    error[:, :4], error[:, 4:] = box, score
    return lambda path, inputs: {"output0": error}


@pytest.mark.slow
def test_verification(exported, golden_model, monkeypatch):
    """It accepts the file for what it computes, and refuses it for anything else."""
    path, _ = exported
    images = (golden.images() * 255).astype(np.uint8)
    right = run(path, images.astype(np.float32) / np.float32(255))
    # about what rounding may do to the results of these weights
    monkeypatch.setattr("pytensor.link.onnx.rounding_error", errors_of(3e-3, 8e-6))

    def verify(row=0, error=0.0):
        expected = right.copy()
        expected[0, row, 7] += error
        return verify_export(path, images, expected)

    report = verify()
    assert report["box_difference"] < 1e-3
    assert report["nodes"] <= 320
    for row, error in [(0, 0.1), (0, 100), (5, 2e-4)]:
        with pytest.raises(ExportMismatch, match="differs from PyTensor by"):
            verify(row, error)
    with pytest.raises(ExportMismatch, match="differs from PyTensor by nan px"):
        verify(2, np.nan)
    # Weights of which nobody can tell rounding from a fault.
    monkeypatch.setattr("pytensor.link.onnx.rounding_error", errors_of(7.0, 0.02))
    message = r"by 9 px \(at most 5\) .* rounding may lose 7 px and 0.02"
    with pytest.raises(ExportMismatch, match=message):
        verify(0, 9)
    report = verify(0, 4)
    assert report["box_difference"] == pytest.approx(4, abs=1e-3)
    assert report["box_error"] == 7


@pytest.mark.slow
def test_real_names_the_weights_of_the_repository(tmp_path):
    assert export.parse_arguments(["real", str(tmp_path / "m.onnx")]).weights == str(REAL_WEIGHTS)


def test_command(golden_model, tmp_path, capsys):
    weights, path = tmp_path / "best.safetensors", tmp_path / "m.onnx"
    info = {"classes": CLASSES, "image_size": 32, "class_width": 64, "trained_on": "drawn pictures"}
    save_weights(weights, golden_model.state_dict(), info)
    assert export.main([str(weights), str(path), "--dynamic-batch"]) == 0
    assert run(path, golden.images(3, 32)).shape == (3, 6, 21)
    metadata = {p.key: p.value for p in onnx.load(path).metadata_props}
    assert metadata["trained_on"] == "drawn pictures"
    assert "thresholds" not in metadata
    given = ["--confidence", "0.3", "cell phone=0.4", "--iou", "0.6"]
    assert export.main([str(weights), str(path), *given]) == 0
    way = OnnxDetector(path).suppression
    assert (way.confidence.tolist(), way.iou) == ([0.3, 0.4], 0.6)
    assert export.main([str(weights), str(path), "--confidence", "dog=0.3"]) == 1
    assert "with a class of person, cell phone" in capsys.readouterr().err
