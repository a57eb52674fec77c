"""Smaller variants of an exported YOLO11n: float16 weights, a float16 graph, and int8."""

import export
import numpy as np
import onnx
import onnxruntime
import pytest
from evaluation.detectors import ModelError, OnnxDetector
from model import YOLO11n
from tools import quantize

from pytensor.link.onnx import VerificationError
from pytensor.link.onnx.half_weights import store_half
from tests.examples import yolo11n_golden as golden
from tests.examples.yolo11n_runs import write_data

SIZE = 64
CLASSES = ["person", "cell phone"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("variants")


@pytest.fixture(scope="module")
def model():
    """Random weights; scores from 0 to 1, and boxes that don't jump when logits move a little."""
    model = YOLO11n(len(CLASSES))
    golden.load_golden_weights(model)
    state = model.state_dict() | golden.load_arrays(golden.CORE / "bn_calib_nc2.npz")
    for level in range(3):
        for part, scale in (("cv2", 0.03), ("cv3", 0.1)):
            name = f"model.23.{part}.{level}.2.weight"
            state[name] = state[name] * np.float32(scale)
    model.load_state_dict(state)
    return model


@pytest.fixture(scope="module")
def single(model, folder):
    """The model in float32."""
    export.export_detector(model, folder / "single.onnx", CLASSES, SIZE)
    return folder / "single.onnx"


@pytest.fixture(scope="module")
def data(folder):
    return write_data(folder / "data")


@pytest.fixture(scope="module")
def int8(single, data, folder):
    """The quantized model, written by the command."""
    path = folder / "int8.onnx"
    assert quantize.main([str(single), str(path), "--data", str(data), "--pictures", "4"]) == 0
    return path


def predict(path, data):
    """Decoded predictions for a training picture, (boxes, scores)."""
    calibration = quantize.open_calibration(path, data, pictures=1)
    (decoded,) = OnnxDetector(path)(next(iter(calibration[0].values())))
    return decoded[:4], decoded[4:]


def differences(path, other, data):
    """Root mean square difference of boxes in pixels, and of scores."""
    return [
        float(np.sqrt(np.mean(np.square(a - b))))
        for a, b in zip(predict(path, data), predict(other, data), strict=True)
    ]


def test_float16_weights(single, data, folder):
    onnx.save(store_half(onnx.load(single)), folder / "half_weights.onnx")
    boxes, scores = differences(single, folder / "half_weights.onnx", data)
    assert 0 < boxes < 0.5
    assert 0 < scores < 5e-3


def test_float16_graph(model, single, data, folder):
    path = folder / "half.onnx"
    half = export.export_detector(model, path, CLASSES, SIZE, half=True)
    kinds = {array.data_type for array in half.graph.initializer if len(array.dims) == 4}
    assert kinds == {onnx.TensorProto.FLOAT16}
    assert path.stat().st_size < 0.55 * single.stat().st_size
    boxes, scores = differences(single, path, data)
    assert 0 < boxes < 0.5
    assert 0 < scores < 1e-2


def test_int8_is_close_and_small(single, int8, data):
    assert int8.stat().st_size < 0.35 * single.stat().st_size
    boxes, scores = differences(single, int8, data)
    assert 0 < boxes < 10
    assert 0 < scores < 0.1
    assert OnnxDetector(int8).classes == CLASSES


def test_int8_convolutions_run_in_integers(int8, folder):
    """All of them: the decoding has none."""
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(folder / "optimized.onnx")
    options.log_severity_level = 3
    onnxruntime.InferenceSession(str(int8), options, providers=["CPUExecutionProvider"])
    operators = [node.op_type for node in onnx.load(folder / "optimized.onnx").graph.node]
    assert operators.count("QLinearConv") == 87
    assert operators.count("Conv") == 0


def test_int8_leaves_the_decoding_alone(single, int8):
    names = quantize.decoding_nodes(onnx.load(single))
    graph = onnx.load(int8).graph
    decoding = [node for node in graph.node if node.name in names]
    assert len(decoding) == len(names)
    assert {"Softmax", "Sigmoid", "MatMul"} <= {node.op_type for node in decoding}
    readers = [name for node in decoding for name in node.input]
    quantized = {n for node in graph.node if node.op_type == "QuantizeLinear" for n in node.input}
    assert not quantized.intersection(name for node in decoding for name in node.output)
    assert not any(name.endswith("_quantized") for name in readers)


def test_calibration_is_of_training_pictures(single, data):
    calibration = quantize.open_calibration(single, data, pictures=3)
    assert len(calibration) == len(list(calibration)) == 3
    (image,) = calibration[1].values()
    assert image.shape == (1, 3, SIZE, SIZE)
    assert image.dtype == np.float32
    assert 0 <= image.min() < image.max() <= 1
    assert not np.array_equal(image, calibration[2]["images"])


def test_batches_of_the_model_s_size():
    class Batches:
        batch_size = 2

        def prepare(self, images):
            return images

    class Pictures:
        def __len__(self):
            return 3

        def __getitem__(self, k):
            return type("Sample", (), {"image": np.full((4, 4, 3), k)})

    calibration = quantize.Calibration("x", Batches(), Pictures())
    assert [feed["x"][:, 0, 0, 0].tolist() for feed in calibration] == [[0, 1], [2, 0]]


def test_a_model_without_a_head(single, folder):
    model = onnx.load(single)
    for node in model.graph.node:
        node.input[:] = [name.replace("model.23.cv", "head.") for name in node.input]
    with pytest.raises(ModelError, match="the head isn't found"):
        quantize.decoding_nodes(model)


def test_what_differs_too_much_is_not_written(single, data, folder):
    calibration = quantize.open_calibration(single, data, pictures=1)
    with pytest.raises(VerificationError, match="of the int8 model differs"):
        quantize.quantize_detector(single, calibration, folder / "no.onnx", tolerance=1e-6)
    assert not (folder / "no.onnx").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"onnx": "none.onnx"}, "no such file"),
        ({"quantized": "absent/int8.onnx"}, "there is no folder"),
        ({"data": "nowhere"}, "nowhere"),
    ],
)
def test_errors_are_one_line(changes, message, single, data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    given = {"onnx": str(single), "quantized": "int8.onnx", "data": str(data)} | changes
    assert quantize.main([given["onnx"], given["quantized"], "--data", given["data"]]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert message in error
    assert not list(tmp_path.iterdir())
