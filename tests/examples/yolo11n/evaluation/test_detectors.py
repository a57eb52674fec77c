"""Weight files and ONNX files as detectors: what they say of themselves, and what is refused."""

import re

import numpy as np
import onnx
import pytest
from evaluation.detectors import (
    ModelError,
    OnnxDetector,
    Suppression,
    chosen_suppression,
    class_confidences,
    detect,
    detect_in,
    open_detector,
    open_session,
    suppression_of,
)
from training.checkpoint import STATE, CheckpointError, load_weights, save_weights

from tests.examples.yolo11n.conftest import CLASSES, SIZE
from tests.examples.yolo11n.small_models import make_model

pytestmark = pytest.mark.usefixtures("compiled_sooner")


def changed(path, new, **metadata):
    """Write a copy of an ONNX file with other metadata; None removes an entry."""
    proto = onnx.load(path)
    known = {p.key: p.value for p in proto.metadata_props} | metadata
    onnx.helper.set_model_props(proto, {k: v for k, v in known.items() if v is not None})
    onnx.save(proto, new)
    return new


@pytest.mark.slow
def test_a_checkpoint_s_averages_are_evaluated(finder_weights, tmp_path):
    arrays, info = load_weights(finder_weights)
    other = {name: value + np.float32(0.1) for name, value in arrays.items()}
    averages = {f"{STATE}{name}.ema": value for name, value in arrays.items()}
    save_weights(tmp_path / "last.safetensors", other | averages, info)
    images = np.random.default_rng(0).integers(0, 256, (1, 3, SIZE, SIZE), dtype=np.uint8)
    best = open_detector(finder_weights, batch_size=1)
    last = open_detector(tmp_path / "last.safetensors", batch_size=1)
    assert (last.classes, last.image_size, last.batch_size) == (CLASSES, SIZE, 1)
    np.testing.assert_array_equal(last(images), best(images))


@pytest.mark.parametrize(("things", "kept"), [(150, 300), (160, 320)])
def test_as_many_detections_as_twice_the_things_of_the_densest_image(builder, things, kept):
    corners = 4 * np.indices((20, 20)).reshape(2, -1).T
    builder.add(80, 80, [(1, *corner, 3, 3) for corner in corners[:things].tolist()])
    builder.add(80, 80)

    def detector(images):
        x, y = corners.T.astype(np.float32)
        return np.array([[x, y, 0 * x + 3, 0 * x + 3, x * 0 + 0.5]] * len(images))

    found = detect(detector, builder.dataset(["person"], 80), 2)
    assert [len(rows) for rows in found.values()] == [kept, kept]
    detector.image_size = 80  # and of a picture that is drawn all
    assert len(detect_in(detector, np.zeros((80, 80, 3), np.uint8), 0.25, 0.5)) == 400


def test_weights_without_a_size(finder_weights, tmp_path):
    arrays, _ = load_weights(finder_weights)
    save_weights(tmp_path / "own.safetensors", arrays, {"classes": CLASSES})
    with pytest.raises(ModelError, match="says no image size; give --image-size"):
        open_detector(tmp_path / "own.safetensors")


@pytest.mark.slow
def test_sizes_of_onnx_files(finder_onnx, finder_onnx_of_one, tmp_path):
    assert OnnxDetector(finder_onnx, SIZE, batch_size=5).batch_size == 5
    assert OnnxDetector(finder_onnx_of_one).batch_size == 1  # the file is fixed to it
    with pytest.raises(ModelError, match="fixed to images of 64 px, not 96"):
        OnnxDetector(finder_onnx, 96)
    proto = onnx.load(finder_onnx)
    for dim in proto.graph.input[0].type.tensor_type.shape.dim[2:]:
        dim.dim_param = "side"
    del proto.graph.output[0].type.tensor_type.shape.dim[:]
    for name in "NCA":
        proto.graph.output[0].type.tensor_type.shape.dim.add().dim_param = name
    onnx.save(proto, tmp_path / "open.onnx")
    assert OnnxDetector(tmp_path / "open.onnx").image_size == SIZE  # of the metadata
    assert OnnxDetector(tmp_path / "open.onnx", 96).image_size == 96
    bare = changed(tmp_path / "open.onnx", tmp_path / "bare.onnx", imgsz=None)
    assert OnnxDetector(bare, 96).image_size == 96
    with pytest.raises(ModelError, match="says no image size; give --image-size"):
        OnnxDetector(bare)


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"names": "{1: 'person', 2: 'cell phone'}"}, "no names of its classes"),
        ({"names": "person, phone"}, "names in its metadata is 'person, phone', which is no"),
        ({"imgsz": "large"}, "imgsz in its metadata is 'large', which is no"),
        ({"iou": "1.5"}, r"changed\.onnx: iou is given as '1\.5', not as a number from 0 to 1"),
    ],
)
def test_unusable_metadata(finder_onnx, tmp_path, metadata, message):
    path = changed(finder_onnx, tmp_path / "changed.onnx", **metadata)
    with pytest.raises(ModelError, match=message):
        open_detector(path)


UINT8, INT32 = onnx.TensorProto.UINT8, onnx.TensorProto.INT32


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"x": (UINT8, [1, 3, 64, 64])}, "takes one float image tensor"),
        ({"x": [1, 3, 64, 64], "y": [1, 3, 64, 64]}, "takes one float image tensor"),
        ({"x": [1, 1, 64, 64]}, r"tensor of shape \(batch, 3, height, width\)"),
        ({"x": [1, 3, 64, 32]}, "only squares"),
    ],
)
def test_models_of_another_kind(tmp_path, inputs, message):
    nodes = [onnx.helper.make_node("Identity", ["x"], ["z"])]
    model = make_model(nodes, {}, inputs, {"z": inputs["x"]}, names="{0: 'a'}")
    onnx.save(model, tmp_path / "m.onnx")
    with pytest.raises(ModelError, match=message):
        OnnxDetector(tmp_path / "m.onnx")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("absent.onnx", "absent.onnx: no such file"),
        ("noise.onnx", "not an ONNX model that onnxruntime runs"),
        ("noise.safetensors", "not a safetensors file"),
        ("noise.pt", "noise.pt: a pickle, which isn't read; the line under .*own_pictures.md"),
        ("noise.bin", "a model is a .safetensors or an .onnx file, or real"),
    ],
)
def test_files_that_are_no_models(tmp_path, name, message):
    if name.startswith("noise"):
        (tmp_path / name).write_bytes(b"noise" * 20)
    with pytest.raises((ModelError, CheckpointError), match=message):
        open_detector(tmp_path / name)


def test_thresholds_of_a_model(finder_onnx, finder_weights):
    def said(**metadata):
        way = suppression_of(metadata, CLASSES)
        return way.confidence.tolist(), way.iou, way.multi_label

    assert said() == ([0.25, 0.25], 0.45, False)
    assert said(conf="0.3", iou="0.6") == ([0.3, 0.3], 0.6, False)
    assert said(conf="0.3", thresholds='{"cell phone": 0.4}') == ([0.3, 0.4], 0.45, False)
    own = OnnxDetector(finder_onnx)
    assert own.suppression.confidence.tolist() == [0.25, 0.25]
    own.suppression = Suppression(np.array([0.3, 0.4]), 0.6)
    for given, confidence in (
        ([], [0.3, 0.4]),
        (["person=0.2"], [0.2, 0.4]),
        (["0.5", "person=0.2"], [0.2, 0.5]),
    ):
        chosen = chosen_suppression(own, given, 0.5)
        assert (chosen.confidence.tolist(), chosen.iou) == (confidence, 0.5)


@pytest.mark.parametrize(
    "metadata",
    [{"thresholds": text} for text in ("much", "[0.5]", '{"dog": 0.5}')]
    + [{"thresholds": f'{{"person": {text}}}'} for text in ("1.5", '"0.5"', "true", "NaN")]
    + [{"conf": "much"}, {"iou": "-0.1"}],
)
def test_wrong_thresholds_of_a_model(metadata):
    [(key, text)] = metadata.items()
    with pytest.raises(ValueError, match=rf"{key} (is|are) given as '{re.escape(text)}', not as"):
        suppression_of(metadata, CLASSES)


@pytest.mark.parametrize("text", ["much", "dog=0.2", "person=1.5", "nan", "person="])
def test_wrong_confidences(text):
    with pytest.raises(ValueError, match=f"confidence '{text}': give .* of person, cell phone"):
        class_confidences([text], CLASSES)


def test_sums_of_8_bit_products_are_exact(tmp_path):
    """Processors without VNNI cut them off at 16 bits, and the page's WebAssembly doesn't."""
    nodes = [onnx.helper.make_node("MatMulInteger", ["x", "w"], ["y"])]
    weights = {"w": np.full((64, 1), 127, np.int8)}
    model = make_model(nodes, weights, {"x": (UINT8, [1, 64])}, {"y": (INT32, [1, 1])})
    onnx.save(model, tmp_path / "m.onnx")
    [found] = open_session(tmp_path / "m.onnx").run(None, {"x": np.full((1, 64), 255, np.uint8)})
    assert found.item() == 64 * 255 * 127
