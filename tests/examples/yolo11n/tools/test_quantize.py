"""Smaller variants of an exported YOLO11n: a float16 graph, and int8."""

import os

import export
import numpy as np
import onnx
import onnxruntime
import pytest
from dataset import load_split
from evaluation.detectors import OnnxDetector, detect
from evaluation.metrics import coco_map, without_nan
from tools import quantize
from tools.build_demo import load_detector
from training import finishing

from pytensor.link.onnx import VerificationError
from tests.examples.yolo11n.conftest import CLASSES, SIZE
from tests.examples.yolo11n.training.runs import write_data
from tests.utils import error_line


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("variants") / "data")


@pytest.fixture(scope="module")
def int8(finder_onnx_of_one, data, tmp_path_factory):
    """Quantize the model by the command."""
    folder = tmp_path_factory.mktemp("int8")
    model = onnx.load(finder_onnx_of_one)
    model.metadata_props.add(key="average_precision", value='{"on": "x", "per_class": {}}')
    onnx.save(model, folder / "float32.onnx")
    path = folder / "int8.onnx"
    arguments = [str(folder / "float32.onnx"), str(path), "--data", str(data), "--pictures", "4"]
    assert quantize.main(arguments) == 0
    return path


def differences(path, other):
    """Return root mean square differences of boxes, in pixels, and of scores."""
    coarse = np.random.default_rng(0).integers(90, 150, (1, 3, 8, 8), dtype=np.uint8)
    image = np.kron(coarse, np.ones((8, 8), np.uint8))
    (a,), (b,) = (OnnxDetector(p)(image) for p in (path, other))
    return [float(np.sqrt(np.mean(np.square(a[r] - b[r])))) for r in (slice(4), slice(4, None))]


@pytest.mark.slow
def test_float16_graph(finder, finder_onnx_of_one, tmp_path):
    path = tmp_path / "half.onnx"
    half = export.export_detector(finder, path, CLASSES, SIZE, half=True)
    kinds = {array.data_type for array in half.graph.initializer if len(array.dims) == 4}
    assert kinds == {onnx.TensorProto.FLOAT16}
    assert path.stat().st_size < 0.55 * finder_onnx_of_one.stat().st_size
    boxes, scores = differences(finder_onnx_of_one, path)
    assert 0 < boxes < 0.5
    assert 0 < scores < 1e-2


@pytest.mark.slow
def test_int8_is_close_and_small(finder_onnx_of_one, int8):
    assert int8.stat().st_size < 0.35 * finder_onnx_of_one.stat().st_size
    boxes, scores = differences(finder_onnx_of_one, int8)
    assert 0 < boxes < 10
    assert 0 < scores < 0.1
    assert OnnxDetector(int8).classes == CLASSES
    # Nobody has measured it.
    assert "average_precision" not in {entry.key for entry in onnx.load(int8).metadata_props}


@pytest.mark.slow
def test_int8_convolutions_run_in_integers(int8, tmp_path):
    """All except those of the first three layers and the last ones of the head."""
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    options.log_severity_level = 3
    onnxruntime.InferenceSession(str(int8), options, providers=["CPUExecutionProvider"])
    operators = [node.op_type for node in onnx.load(tmp_path / "optimized.onnx").graph.node]
    assert [operators.count(kind) for kind in ("QLinearConv", "Conv")] == [75, 12]


@pytest.mark.slow
def test_scores_and_boxes_have_no_steps(int8):
    """Quantized logits would have 256 values for all classes and places together."""
    detector = OnnxDetector(int8)
    images = np.random.default_rng(0).integers(0, 256, (40, 1, 3, SIZE, SIZE), dtype=np.uint8)
    found = np.concatenate([detector(image)[0] for image in images], axis=1)
    for row in found:
        assert len(np.unique(row)) > 0.5 * len(row)


def test_a_model_without_a_head(finder_onnx_of_one, tmp_path, data, capsys):
    model = onnx.load(finder_onnx_of_one)
    for node in model.graph.node:
        node.input[:] = [name.replace("model.23.cv", "head.") for name in node.input]
    for array in model.graph.initializer:
        array.name = array.name.replace("model.23.cv", "head.")
    onnx.save(model, tmp_path / "m.onnx")
    given = [tmp_path / "m.onnx", tmp_path / "int8.onnx", "--data", data]
    assert quantize.main([*map(str, given)]) == 1
    assert "the head isn't found" in error_line(capsys)


@pytest.mark.slow
def test_what_differs_too_much_is_not_written(finder_onnx_of_one, tmp_path):
    image = np.full((SIZE, SIZE, 3), 90, np.uint8)
    with pytest.raises(VerificationError, match="of the int8 model differs"):
        quantize.quantize_detector(finder_onnx_of_one, tmp_path / "no.onnx", [image], 1e-6)
    assert not (tmp_path / "no.onnx").exists()


@pytest.mark.slow
def test_a_training_keeps_integers_that_lose_little(
    finder_onnx_of_one, data, tmp_path, monkeypatch, capsys
):
    model = tmp_path / "m.onnx"
    model.write_bytes(finder_onnx_of_one.read_bytes())
    train, val = (load_split(data, part, CLASSES, SIZE) for part in ("train", "val"))
    assert finishing.quantize(model, train, val, 0.0) == tmp_path / "m_int8.onnx"
    _, _, facts = load_detector(tmp_path / "m_int8.onnx")
    detector = OnnxDetector(tmp_path / "m_int8.onnx")
    wanted = coco_map(val, detect(detector, val, detector.batch_size))["per_class"]
    assert facts["scores"]["perClass"] == without_nan(wanted)  # its own, not those of the floats
    same = onnx.load(tmp_path / "m_int8.onnx")
    monkeypatch.setattr(finishing, "quantize_detector", lambda *_, **__: same)
    assert finishing.quantize(model, train, val, 2.0) is None
    assert "the page takes the float32 model" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"onnx": "text.onnx"}, "text.onnx: not an ONNX model"),
        ({"data": "text.onnx"}, "text.onnx"),
    ],
)
def test_errors_are_one_line(
    changes, message, finder_onnx_of_one, data, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.onnx").write_text("text")
    given = {"onnx": str(finder_onnx_of_one), "quantized": "int8.onnx", "data": str(data)} | changes
    assert quantize.main([given["onnx"], given["quantized"], "--data", given["data"]]) == 1
    assert message in error_line(capsys)
    assert os.listdir(tmp_path) == ["text.onnx"]
