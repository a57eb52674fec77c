"""The page computes what Python does: letterbox, suppression, metadata, and all of it together.

The page's scripts run in a Chromium, alone or as the whole detector; Python's functions and the
vectors in ``data/`` give what is expected.
"""

import base64
import gzip
import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from data.images import Letterbox, letterbox, read_image
from evaluation.nms import nms, scale_detections
from onnx import TensorProto, helper
from tools.build_demo import RUNTIME, RUNTIME_FILES, pack, runtime_problem

from tests.examples import yolo11n_golden as golden
from tests.examples.demo_browser import (
    GREEN,
    ORANGE,
    as_rows,
    assert_same,
    blob_picture,
    colour_detector_onnx,
    encode,
    expected_detections,
    until,
)

DATA = Path(__file__).parent / "data"
DEMO = Path(__file__).parents[2] / "examples" / "onnx" / "onnx-yolo-demo"
PAGE = DEMO / "page" / "src"
WORKER_FILES = ("letterbox", "nms", "onnx_metadata", "detector_worker")

# Typed arrays travel as base64 of their bytes.
HARNESS = """
const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const floatsOf = (text) => new Float32Array(bytesOf(text).buffer);
function textOf(array) {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) {
    text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  }
  return btoa(text);
}
function caught(action) {
  try {
    return { value: action() };
  } catch (error) {
    return { code: error.code ?? null, message: error.message, kind: error.constructor.name };
  }
}
const boxers = {};
async function letterboxed({ rgba, width, height, size }) {
  boxers[size] ??= letterboxModule().createLetterbox(size);
  const out = new Float32Array(3 * size * size).fill(7);
  const response = await fetch(`data:;base64,${rgba}`); // faster than bytesOf
  const pixels = new Uint8ClampedArray(await response.arrayBuffer());
  const geometry = boxers[size].run(pixels, width, height, out);
  return { geometry, out: textOf(out) };
}
"""


def to_text(data):
    """Base64 of bytes, or of an array's bytes."""
    return base64.b64encode(data if isinstance(data, bytes) else data.tobytes()).decode()


def to_array(text, dtype=np.float32):
    return np.frombuffer(base64.b64decode(text), dtype=dtype)


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """A blank page from disk with the scripts that compute."""
    path = tmp_path_factory.mktemp("numbers") / "blank.html"
    path.write_text("<!doctype html><title>numbers</title>")
    with browser.visit(path.as_uri()) as page:
        for name in ("letterbox", "nms", "onnx_metadata"):
            page.add_script_tag(path=PAGE / f"{name}.js")
        page.add_script_tag(content=HARNESS)
        yield page


# ------------------------------------------------------------------------------ letterbox

RNG = np.random.default_rng(0)


def noise(width, height):
    return RNG.integers(0, 256, (height, width, 3), dtype=np.uint8)


def smooth(width, height):
    """Waves of another length per channel, which reach both ends of the range."""
    y, x = np.mgrid[:height, :width]
    waves = [np.sin(x / (7 + 5 * c) + c) + np.cos(y / (11 + 3 * c)) for c in range(3)]
    return (np.stack(waves, axis=2) * 64 + 127.5).clip(0, 255).round().astype(np.uint8)


def page_letterbox(page, image, size):
    """The page's letterbox, float32 (3, size, size), and its geometry."""
    height, width = image.shape[:2]
    alpha = RNG.integers(0, 256, (height, width, 1), dtype=np.uint8)  # must not matter
    rgba = to_text(np.concatenate([image, alpha], axis=2))
    argument = {"rgba": rgba, "width": width, "height": height, "size": size}
    result = page.evaluate("(argument) => letterboxed(argument)", argument)
    return to_array(result["out"]).reshape(3, size, size), result["geometry"]


def assert_geometry(actual, expected):
    fields = (
        ("size", "size"),
        ("width", "width"),
        ("height", "height"),
        ("resizedWidth", "resized_width"),
        ("resizedHeight", "resized_height"),
        ("left", "left"),
        ("top", "top"),
    )
    for theirs, ours in fields:
        assert actual[theirs] == getattr(expected, ours), (theirs, expected)


@pytest.mark.parametrize(
    ("width", "height", "size"),
    [
        (1280, 720, 320),  # cameras
        (640, 480, 320),
        (720, 1280, 320),
        (320, 240, 320),  # along one side as large as the square
        (320, 320, 320),
        (100, 320, 320),
        (53, 37, 64),  # enlarged
        (37, 53, 64),
        (1, 1, 32),
        (1, 700, 64),  # one pixel wide after the resize
        (700, 1, 64),
        (1000, 3, 64),
        (333, 501, 192),  # odd padding
        (1203, 601, 96),
        (641, 479, 640),
        (5, 3, 7),
    ],
)
@pytest.mark.parametrize("picture", [noise, smooth])
def test_letterbox_is_pillows(page, width, height, size, picture):
    image = picture(width, height)
    canvas, geometry = letterbox(image, size)
    actual, actual_geometry = page_letterbox(page, image, size)
    assert_geometry(actual_geometry, geometry)
    expected = canvas.transpose(2, 0, 1).astype(np.float32) / np.float32(255)
    np.testing.assert_array_equal(actual, expected)


def test_letterbox_reference_picture(page):
    vectors = golden.load_arrays(DATA / "letterbox_image.npz")
    image = vectors["image_bgr_37x53"]
    actual, _ = page_letterbox(page, image, 64)
    expected = letterbox(image, 64)[0].transpose(2, 0, 1)
    np.testing.assert_array_equal((actual * 255).round(), expected)
    difference = np.abs(actual.transpose(1, 2, 0) * 255 - vectors["letterboxed_64"])
    assert difference.max() < 1.01  # the reference rounds to other fixed-point fractions


def test_letterbox_extremes(page):
    """White and black stay so: the weights sum to one, or the sum would wrap around."""
    for level in (0, 255):
        for shape in ((30, 1000), (419, 783), (9, 8)):
            image = np.full((*shape, 3), level, np.uint8)
            actual, geometry = page_letterbox(page, image, 96)
            top, left = geometry["top"], geometry["left"]
            inside = actual[:, top : top + geometry["resizedHeight"]]
            inside = inside[:, :, left : left + geometry["resizedWidth"]]
            assert (inside == level / 255).all()


def test_letterbox_keeps_nothing_of_other_pictures(page):
    """Alternating sizes with the same buffers."""
    first, second = noise(300, 200), noise(40, 90)
    once = page_letterbox(page, first, 128)[0]
    page_letterbox(page, second, 128)
    np.testing.assert_array_equal(page_letterbox(page, first, 128)[0], once)


def test_geometry(page):
    cases = [c for c in json.loads((DATA / "letterbox.json").read_text()) if c["scaleup"]]
    sizes = [(c["w"], c["h"], c["size"]) for c in cases]
    # round() of halves: 1/2, 3/2, 5/2 … pixels
    sizes += [(2 * size, 2 * k + 1, size) for size in (32, 64) for k in range(20)]
    sizes += [(size, k, size) for size in (320, 33) for k in range(1, 40)]
    sizes += [(*RNG.integers(1, 3000, 2).tolist(), 320) for _ in range(300)]
    found = page.evaluate("(sizes) => sizes.map((s) => letterboxModule().fit(...s))", sizes)
    for actual, size in zip(found, sizes, strict=True):
        assert_geometry(actual, Letterbox.fit(*size))
    for case, actual in zip(cases, found, strict=False):
        assert [actual["resizedWidth"], actual["resizedHeight"]] == case["resized_wh"]
        assert (actual["left"], actual["top"]) == (case["left"], case["top"])


def test_undo(page):
    boxes = RNG.uniform(-20, 340, (50, 4))
    geometry = Letterbox.fit(777, 431, 320)
    script = """(boxes) => {
      const { fit, undo } = letterboxModule();
      const geometry = fit(777, 431, 320);
      return boxes.map(([x1, y1, x2, y2]) => Object.values(undo(geometry, {x1, y1, x2, y2})));
    }"""
    actual = np.array(page.evaluate(script, boxes.tolist()))
    np.testing.assert_allclose(actual, geometry.undo(boxes), rtol=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("letterboxModule().fit(0, 5, 32)", "sides must be positive"),
        (
            "letterboxModule().createLetterbox(8).run(new Uint8ClampedArray(4), 2, 1, "
            "new Float32Array(192))",
            "no RGBA picture of 2x1",
        ),
        (
            "letterboxModule().createLetterbox(8).run(new Uint8ClampedArray(4), 1, 1, "
            "new Float32Array(64))",
            "needed: 3 x 8 x 8",
        ),
    ],
)
def test_letterbox_errors(page, call, message):
    assert message in page.evaluate(f"caught(() => {call})")["message"]


# ------------------------------------------------------------------------------ suppression

GEOMETRY = Letterbox.fit(1000, 601, 320)


def page_nms(page, predictions, confidence, iou, **options):
    """The page's detections, float32 (n, 6), of a picture with GEOMETRY."""
    script = """({ output, classes, anchors, geometry, options }) => {
      const geo = letterboxModule().fit(...geometry);
      const post = nmsModule().createPostprocess(classes, anchors);
      post.run(new Float32Array((4 + classes) * anchors).fill(0.7), geo, options); // leaves traces
      const found = post.run(floatsOf(output), geo, options);
      const keys = ["x1", "y1", "x2", "y2", "score", "classId"];
      return found.map((detection) => keys.map((key) => detection[key]));
    }"""
    rows, anchors = predictions.shape
    argument = {
        "output": to_text(predictions.astype(np.float32)),
        "classes": rows - 4,
        "anchors": anchors,
        "geometry": [GEOMETRY.width, GEOMETRY.height, GEOMETRY.size],
        "options": {"confidence": confidence, "iou": iou} | options,
    }
    return np.array(page.evaluate(script, argument), dtype=np.float32).reshape(-1, 6)


def python_nms(predictions, confidence, iou, max_detections=300):
    found = nms(predictions, confidence, iou, max_detections, multi_label=False)
    return scale_detections(found, GEOMETRY)


def crowd(classes=2, anchors=500, seed=0, steps=None):
    """Predictions with many overlaps; with `steps`, of few different scores and places."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(0, 320, (12, 2))[rng.integers(0, 12, anchors)]
    centers = places + rng.normal(0, 6, (anchors, 2))
    sides = rng.uniform(5, 90, (anchors, 2))
    scores = rng.uniform(0, 1, (anchors, classes))
    if steps:
        centers, sides = centers.round(-1), sides.round(-1)
        scores = (scores * steps).round() / steps
    return np.concatenate([centers, sides, scores], axis=1).T.astype(np.float32)


@pytest.mark.parametrize("confidence", [0.0, 0.001, 0.25, 0.9, 1.0])
@pytest.mark.parametrize("iou", [0.0, 0.45, 0.7, 1.0])
@pytest.mark.parametrize(("classes", "steps"), [(1, None), (2, None), (2, 4), (80, 5)])
def test_nms(page, classes, steps, confidence, iou):
    predictions = crowd(classes, steps=steps)
    expected = python_nms(predictions, confidence, iou)
    np.testing.assert_array_equal(page_nms(page, predictions, confidence, iou), expected)
    if confidence < 0.9:
        assert len(expected) > 10


@pytest.mark.parametrize("seed", range(8))
def test_nms_of_other_crowds(page, seed):
    predictions = crowd(3, 2100, seed + 1, steps=(None, 10)[seed % 2])
    expected = python_nms(predictions, 0.3, 0.6, 40)
    actual = page_nms(page, predictions, 0.3, 0.6, maxDetections=40)
    np.testing.assert_array_equal(actual, expected)
    assert len(expected) == 40


def test_nms_reference(page):
    vectors = golden.load_arrays(DATA / "nms.npz")
    predictions = vectors["pred_1x6xN_xywh_scores"][0]
    expected = scale_detections(vectors["predict_conf0p25_iou0p7_max300"], GEOMETRY)
    actual = page_nms(page, predictions, 0.25, 0.7)
    np.testing.assert_array_equal(actual[:, 4:], expected[:, 4:])
    np.testing.assert_allclose(actual[:, :4], expected[:, :4], atol=1e-3)


def test_thresholds_are_strict(page):
    # Two boxes of area 100 that share 50: the overlap is exactly 1/3, also in 32 bits.
    boxes = [[10, 10, 10, 10, 0.5], [15, 10, 10, 10, 0.4]]
    predictions = np.array(boxes, dtype=np.float32).T
    third = float(np.float32(50) / np.float32(150))
    assert len(page_nms(page, predictions, 0.3, third)) == 2
    assert len(page_nms(page, predictions, 0.3, float(np.nextafter(np.float32(third), 0)))) == 1
    assert len(page_nms(page, predictions, 0.5, 0.5)) == 0
    # 0.4 is no 32-bit number: the threshold has to be rounded as the score was.
    assert len(page_nms(page, predictions, 0.4, 0.5)) == 1
    assert len(python_nms(predictions, 0.4, 0.5)) == 1


def test_equal_boxes_keep_the_first(page):
    predictions = np.repeat(np.float32([[50], [50], [20], [10], [0.6], [0.6]]), 5, axis=1)
    predictions[0] += np.arange(5, dtype=np.float32) / 8
    actual = page_nms(page, predictions, 0.25, 0.7)
    np.testing.assert_array_equal(actual, python_nms(predictions, 0.25, 0.7))
    assert len(actual) == 1
    assert actual[0, 5] == 0


@pytest.mark.parametrize("enabled", [[0], [1, 3], [0, 1, 2, 3], []])
def test_class_filter(page, enabled):
    predictions = crowd(4, seed=5)
    # The best class is chosen among all: the others' anchors give nothing.
    without = predictions.copy()
    without[4:, ~np.isin(predictions[4:].argmax(axis=0), enabled)] = 0
    expected = python_nms(without, 0.25, 0.5)
    actual = page_nms(page, predictions, 0.25, 0.5, enabled=enabled)
    np.testing.assert_array_equal(actual, expected)
    assert set(actual[:, 5]) == set(enabled)


def test_boxes_are_clipped(page):
    predictions = np.float32([[0, 0, 60, 60, 0.9], [320, 320, 90, 500, 0.8]]).T
    actual = page_nms(page, predictions, 0.25, 0.7)
    np.testing.assert_array_equal(actual, python_nms(predictions, 0.25, 0.7))
    assert actual[:, :4].min() == 0
    assert actual[:, 2].max() == 1000
    assert actual[:, 3].max() == 601


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (5, 499), (3, 250)])
def test_output_that_is_not_finite(page, value, place):
    predictions = crowd()
    predictions[place] = value
    script = """({ output }) => caught(() => nmsModule().createPostprocess(2, 500).run(
      floatsOf(output), letterboxModule().fit(9, 9, 32), { confidence: 0.5, iou: 0.5 }))"""
    result = page.evaluate(script, {"output": to_text(predictions)})
    assert result["code"] == "runtime"
    assert "NaN or infinity" in result["message"]


def test_output_of_another_size(page):
    script = "caught(() => nmsModule().createPostprocess(2, 10).run(new Float32Array(50), {}, {}))"
    assert page.evaluate(script) == {
        "code": "runtime",
        "message": "the model gave 50 numbers; needed: 6 x 10",
        "kind": "Error",
    }


# ------------------------------------------------------------------------------ metadata


def small_model(
    input_shape=(1, 3, 64, 64),
    output_shape=(1, 6, 84),
    metadata=None,
    input_type=TensorProto.FLOAT,
    output_type=TensorProto.FLOAT,
    more_inputs=(),
    more_outputs=(),
    output="output0",
):
    """A model of one constant, for whatever stands in its head."""
    tensor_info = helper.make_tensor_value_info
    value = helper.make_tensor("value", TensorProto.FLOAT, [1], [1.0])
    graph = helper.make_graph(
        [helper.make_node("Constant", [], [output], value=value)],
        "small",
        [tensor_info("pictures", input_type, input_shape), *more_inputs],
        [tensor_info(output, output_type, output_shape), *more_outputs],
        [helper.make_tensor("weights", TensorProto.FLOAT, [3], [1.0, 2.0, 3.0])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    if metadata is None:
        metadata = {"names": "{0: 'person', 1: 'cell phone'}"}
    helper.set_model_props(model, metadata)
    return model.SerializeToString()


def read(page, data, function="readDetector"):
    """What the page reads in an ONNX file: {value} or {code, message, kind}."""
    script = f"(text) => caught(() => onnxMetadataModule().{function}(bytesOf(text)))"
    return page.evaluate(script, to_text(data))


def test_metadata_of_a_detector(page):
    names = {0: "person", 1: "cell phone"}
    metadata = {"names": str(names), "conf": "0.31", "iou": "0.55", "task": "detect", "note": "ä"}
    assert read(page, small_model(metadata=metadata))["value"] == {
        "names": list(names.values()),
        "size": [64, 64],
        "confidence": 0.31,
        "iou": 0.55,
        "input": {"name": "pictures", "elemType": 1, "shape": [1, 3, 64, 64]},
        "output": {"name": "output0", "elemType": 1, "shape": [1, 6, 84]},
        "numClasses": 2,
        "anchors": 84,
        "metadata": metadata,
    }


def test_metadata_that_is_missing(page):
    value = read(page, small_model(metadata={}, output_shape=(1, 7, 21), output="boxes"))["value"]
    assert value["names"] == ["class 0", "class 1", "class 2"]
    assert (value["confidence"], value["iou"]) == (0.25, 0.7)
    assert value["output"]["name"] == "boxes"


NAMES = [
    ["person"],
    ["it's", 'say "x"', "both ' and \""],
    ["back\\slash", "tab\there", "line\nbreak", "\x00\x1b\x7f", "", " "],
    ["Menschen für Ölgemälde", "电话", "📱", "a, b", "{1: 'x'}", "]"],
    [f"class of number {k}" for k in range(80)],
]


@pytest.mark.parametrize("names", NAMES, ids=lambda names: names[0])
@pytest.mark.parametrize(
    "write",
    [
        lambda names: str(dict(enumerate(names))),
        lambda names: ascii(dict(enumerate(names))),
        lambda names: str(names),
        lambda names: json.dumps(names),
        lambda names: json.dumps(names, ensure_ascii=False, indent=2),
        lambda names: json.dumps({str(k): name for k, name in enumerate(names)}),
        lambda names: str(dict(reversed(list(enumerate(names))))),
    ],
    ids=["dict", "ascii", "list", "json", "json-indented", "json-dict", "unordered"],
)
def test_names(page, names, write):
    model = small_model(metadata={"names": write(names)}, output_shape=(1, 4 + len(names), 84))
    assert read(page, model)["value"]["names"] == names


def test_names_with_gaps_and_bare_words(page):
    model = small_model(metadata={"names": "{0: 7, 3: person,}"}, output_shape=(1, 8, 84))
    assert read(page, model)["value"]["names"] == ["7", "class 1", "class 2", "person"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("{0: 'person'", "no comma after person"),
        ("{0: 'person", "a quote is not closed"),
        ("{0 'person'}", "no colon after class number 0"),
        ("{'a': 'person'}", "class number a is not a whole number"),
        ("person", "neither a dictionary nor a list"),
        ("", "neither a dictionary nor a list"),
        ("['a', 'b'] + x", "unexpected text"),
        ("['\\xzz', 'b']", "is no character"),
        ("['\\U00999999', 'b']", "is no character"),
        ("[alert(1)]", "no comma after alert"),
        ("[;]", "unexpected ;"),
    ],
)
def test_names_that_cannot_be_read(page, names, message):
    result = read(page, small_model(metadata={"names": names}))
    assert result["code"] == "model-shape"
    assert message in result["message"]
    assert "{0: 'person', 1: 'cell phone'}" in result["message"]  # what is needed


@pytest.mark.parametrize(
    ("input_shape", "imgsz", "size"),
    [
        (("N", 3, 64, 64), None, 64),
        ((None, 3, 64, 64), None, 64),
        (("N", 3, "H", "W"), "[96, 96]", 96),
        (("N", "C", "H", "W"), "96", 96),
        ((1, 3, None, 96), "[96, 96]", 96),
        ((1, 3, 64, 64), "[96, 96]", 64),
    ],
)
def test_open_axes(page, input_shape, imgsz, size):
    metadata = {} if imgsz is None else {"imgsz": imgsz}
    model = small_model(input_shape, ("N", 6, "boxes"), metadata)
    value = read(page, model)["value"]
    assert value["size"] == [size, size]
    assert value["anchors"] is None
    assert len(value["names"]) == 2


def info(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def test_weights_are_no_inputs(page):
    model = small_model(more_inputs=[info("weights", [3])])
    assert read(page, model)["value"]["input"]["name"] == "pictures"
    found = read(page, model, "readModel")["value"]
    assert [value["name"] for value in found["inputs"]] == ["pictures"]


def test_several_outputs(page):
    model = small_model(more_outputs=[info("features", [1, 8, 2])])
    assert read(page, model)["value"]["output"]["name"] == "output0"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"input_shape": (1, 3, "H", "W")}, 'no "imgsz"; export the model for a fixed image size'),
        ({"input_shape": (1, 3, 64, 96)}, "64 x 96 pixels; needed: one input"),
        ({"input_shape": (4, 3, 64, 64)}, "pictures float32 (4, 3, 64, 64); needed: one input"),
        ({"input_shape": (1, 64, 64, 3)}, "(1, 64, 64, 3); needed: one input"),
        ({"input_shape": (3, 64, 64)}, "(3, 64, 64); needed: one input"),
        ({"input_shape": (1, 3, 0, 0)}, "needed: one input"),
        ({"input_shape": None}, "pictures float32 (no shape); needed: one input"),
        ({"input_type": TensorProto.FLOAT16}, "pictures float16 (1, 3, 64, 64)"),
        ({"input_type": TensorProto.UINT8}, "pictures uint8 (1, 3, 64, 64)"),
        ({"more_inputs": [info("size", [2], TensorProto.INT64)]}, "size int64 (2); needed: one"),
        ({"output_shape": (1, 6)}, "output0 float32 (1, 6); needed for its 2 classes"),
        ({"output_shape": (1, 300, 6)}, "(1, 300, 6); needed for its 2 classes: float32 (1, 6, bo"),
        ({"output_shape": (1, 300, 6), "metadata": {}}, "(1, 300, 6); needed: float32 (1, 4 + cl"),
        ({"output_shape": (1, 38, 84)}, "(1, 38, 84); needed for its 2 classes"),
        ({"output_shape": (1, 4, 84), "metadata": {}}, "needed: float32 (1, 4 + classes, boxes)"),
        ({"output_shape": (1, "rows", 84), "metadata": {}}, "needed: float32 (1, 4 + classes"),
        ({"output_type": TensorProto.FLOAT16}, "output0 float16 (1, 6, 84); needed"),
        ({"output": "a", "more_outputs": [info("b", [1])]}, "one with the name output0"),
        ({"metadata": {"task": "segment"}}, 'its task is "segment"; needed: "detect"'),
        ({"metadata": {"conf": "high"}}, '"conf" as high; needed: a number from 0 to 1'),
        ({"metadata": {"iou": "1.5"}}, '"iou" as 1.5; needed: a number from 0 to 1'),
        ({"metadata": {"iou": ""}}, "needed: a number from 0 to 1"),
    ],
)
def test_another_kind_of_model(page, options, message):
    result = read(page, small_model(**options))
    assert result["code"] == "model-shape"
    assert message in result["message"]


def test_truncated_files(page):
    """Any number of bytes from the start: an error, or what is left is a model by itself."""
    data = small_model(metadata={"names": "{0: 'person', 1: 'cell phone'}", "conf": "0.5"})
    script = """(text) => {
      const { readDetector } = onnxMetadataModule();
      const bytes = bytesOf(text);
      const results = [];
      for (let length = 0; length < bytes.length; length++) {
        results.push(caught(() => readDetector(bytes.subarray(0, length))));
      }
      return results;
    }"""
    whole = []
    for length, result in enumerate(page.evaluate(script, to_text(data))):
        if "value" in result:
            whole.append(length)
            onnx.checker.check_model(onnx.load_from_string(data[:length]))
        else:
            assert result["code"] == "model-broken", (length, result)
            assert "not a complete ONNX file" in result["message"]
    assert len(whole) == 2  # without metadata, and with half of them


def test_garbage(page):
    script = """([text, places]) => {
      const { readDetector } = onnxMetadataModule();
      const bytes = bytesOf(text);
      return places.map(([place, value]) => {
        const copy = bytes.slice();
        copy[place] = value;
        return caught(() => readDetector(copy));
      });
    }"""
    data = small_model()
    rng = np.random.default_rng(1)
    places = np.stack([rng.integers(0, len(data), 2000), rng.integers(0, 256, 2000)], axis=1)
    argument = [to_text(data), places.tolist()]
    results = page.evaluate(script, argument)
    codes = {result["code"] for result in results if "value" not in result}
    assert codes == {"model-broken", "model-shape"}  # so no TypeError, for example


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:12\n", "git lfs pull"),
        (b"PK\x03\x04archive/data.pkl", "export that model to ONNX"),
        (b"<!DOCTYPE html><html>", "it is a web page"),
        (b"\x89PNG\r\n\x1a\n" + bytes(60), "not a complete ONNX file"),
        (bytes(100), "a field without a number"),
        (b"\xff" * 100, "more than 64 bits"),
        (b"\x3a\x00", "no graph with nodes"),
        (b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "shorter than its parts say"),
        (b"\x0b\x08\x01\x0c", "the unknown kind 3"),
        (RNG.bytes(5000), "not a complete ONNX file"),
    ],
)
def test_files_that_are_no_models(page, data, message):
    result = read(page, data)
    assert result["code"] == "model-broken"
    assert message in result["message"]


def test_large_numbers(page):
    """Negative lengths and those beyond 32 bits are read as they are."""
    data = small_model((1, 3, 2**40, -1), metadata={})
    shape = read(page, data, "readModel")["value"]["inputs"][0]["shape"]
    assert shape == [1, 3, 2**40, -1]
    assert read(page, data)["code"] == "model-shape"


def test_opset_is_needed(page):
    model = onnx.load_from_string(small_model())
    del model.opset_import[:]
    result = read(page, model.SerializeToString())
    assert result["code"] == "model-broken"
    assert "which version of ONNX's operators" in result["message"]


# ------------------------------------------------------------------------------ all together

ECHO = 16  # side of the input of the model that shows what it is given


def echo_model(path, input_shape=(1, 3, ECHO, ECHO), output_shape=(1, 5, ECHO * ECHO), **metadata):
    """A "detector" whose boxes tell the pixels: one box for each, in their order.

    The centre is at (4 + 4 red, 4 + 4 green), the sides are 2 + 2 blue, the score is 1.
    """
    size = ECHO * ECHO
    constants = {
        "flat": np.array([1, 3, size], np.int64),
        "row": np.array([2], np.int64),
        "scale": np.float32([4, 4, 2, 2]).reshape(1, 4, 1),
        "shift": np.float32([4, 4, 2, 2]).reshape(1, 4, 1),
        "ones": np.ones((1, 1, size), np.float32),
    }
    nodes = [
        helper.make_node("Reshape", ["pictures", "flat"], ["planes"]),
        helper.make_node("Gather", ["planes", "row"], ["blue"], axis=1),
        helper.make_node("Concat", ["planes", "blue"], ["four"], axis=1),
        helper.make_node("Mul", ["four", "scale"], ["scaled"]),
        helper.make_node("Add", ["scaled", "shift"], ["boxes"]),
        helper.make_node("Concat", ["boxes", "ones"], ["output0"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "echo",
        [info("pictures", input_shape)],
        [info("output0", output_shape)],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    helper.set_model_props(model, {"conf": "0.5", "iou": "1"} | metadata)
    onnx.save(model, path)
    return path


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A page from disk with the runtime, the detector, and nothing else."""
    if problem := runtime_problem():
        pytest.skip(problem)
    folder = tmp_path_factory.mktemp("detector")
    calls = []
    for name, file in RUNTIME_FILES.items():
        data = (DEMO / "node_modules" / RUNTIME / "dist" / file).read_bytes()
        calls.append(f'demoAssets.add("{name}", "{to_text(gzip.compress(data, 1))}");')
    (folder / "runtime.js").write_text("\n".join(calls))
    scripts = [(PAGE / f"{name}.js").as_uri() for name in ("assets", *WORKER_FILES, "detector")]
    scripts.insert(1, "runtime.js")
    tags = [f'<script src="{script}"></script>' for script in scripts]
    html = ["<!doctype html><title>detector</title>", *tags]
    (folder / "page.html").write_text("\n".join(html))
    return (folder / "page.html").as_uri()


DETECTOR_HARNESS = """
const stages = [];
const losses = [];
const detector = new Detector({ onProgress: ({ stage }) => stages.push(stage) });
detector.onLost = (reason) => losses.push(reason);
async function outcome(promise) {
  try {
    return { value: await promise };
  } catch (error) {
    return { code: error.code ?? null, message: error.message };
  }
}
const load = (model, options) =>
  outcome(detector.load({ model: bytesOf(model), modelName: "mine.onnx", ...options }));
async function bitmapOf(file) {
  return createImageBitmap(new Blob([bytesOf(file)]));
}
async function detect(file, options) {
  const result = await outcome(detector.detect(await bitmapOf(file), options));
  if (result.value) {
    const { bitmap, times } = result.value;
    Object.assign(result.value, { bitmap: [bitmap.width, bitmap.height], times });
    bitmap.close();
  }
  return result;
}
"""


@pytest.fixture(scope="module")
def loaded_page(browser, site):
    """One page for all tests: the runtime starts once."""
    with browser.visit(site, complaints=("No available adapters",)) as page:
        page.add_script_tag(content=HARNESS + DETECTOR_HARNESS)
        yield page


def load(page, path, **options):
    data = to_text(Path(path).read_bytes())
    return page.evaluate("([model, options]) => load(model, options)", [data, options])


def detect(page, picture, **options):
    """What the page finds in a picture (array, or bytes of a file)."""
    file = picture if isinstance(picture, bytes) else encode(picture)
    argument = [to_text(file), options]
    return page.evaluate("([file, options]) => detect(file, options)", argument)


def echoed(result):
    """Pixels (ECHO, ECHO, 3) in 0..1 that the echo model got."""
    rows = as_rows(result["value"])
    assert len(rows) == ECHO * ECHO
    geometry = Letterbox.fit(*result["value"]["bitmap"], ECHO)
    x1, y1, x2, y2 = geometry.apply(rows[:, :4]).T
    red, green, blue = ((x1 + x2) / 2 - 4) / 4, ((y1 + y2) / 2 - 4) / 4, (x2 - x1 - 2) / 2
    return np.stack([red, green, blue], axis=1).reshape(ECHO, ECHO, 3)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    colour_detector_onnx(folder / "colour.onnx", 128)
    echo_model(folder / "echo.onnx")
    return folder


@pytest.fixture
def echo(loaded_page, models):
    result = load(loaded_page, models / "echo.onnx", backend="wasm")
    assert "value" in result, result
    return loaded_page


def test_load(loaded_page, models):
    loaded_page.evaluate("stages.length = 0")
    result = load(loaded_page, models / "colour.onnx", backend="wasm", threads=3)
    value = result["value"]
    assert value.pop("loadMs") > 0
    assert value.pop("warmupMs") > 0
    assert value == {
        "backend": "wasm",
        "requested": "wasm",
        "note": "",
        "threads": 1,  # more need a server that isolates the page
        "adapter": "",
        "size": [128, 128],
        "names": ["green thing", "orange thing"],
        "confidence": 0.25,
        "iou": 0.7,
        "modelName": "mine.onnx",
    }
    assert loaded_page.evaluate("stages")[-2:] == ["model", "warm-up"]


@pytest.mark.parametrize(("width", "height"), [(320, 240), (200, 333), (128, 128), (90, 60)])
def test_detector_finds_what_python_finds(loaded_page, models, width, height):
    assert "value" in load(loaded_page, models / "colour.onnx", backend="wasm")
    side = max(width, height) // 7
    blobs = [(GREEN, width // 3, height // 2, side), (ORANGE, 2 * width // 3, height // 3, side)]
    picture = blob_picture(width, height, blobs)
    result = detect(loaded_page, picture)["value"]
    expected = expected_detections(models / "colour.onnx", picture)
    assert set(expected[:, 5]) == {0, 1}
    assert_same(as_rows(result), expected, pixels=0.01, score=1e-4)
    assert result["bitmap"] == [width, height]
    assert set(result["times"]) == {"pre", "inference", "post"}
    only = detect(loaded_page, picture, enabled=[1])["value"]
    assert_same(as_rows(only), expected[expected[:, 5] == 1], pixels=0.01, score=1e-4)
    assert detect(loaded_page, picture, confidence=1.0)["value"]["detections"] == []


def test_worker_sees_the_pixels(echo):
    picture = noise(ECHO, ECHO)
    np.testing.assert_allclose(echoed(detect(echo, picture)), picture / 255, atol=1e-6)


def test_worker_sees_pillows_resize(echo):
    picture = noise(5 * ECHO, 4 * ECHO)
    expected = letterbox(picture, ECHO)[0] / 255
    np.testing.assert_allclose(echoed(detect(echo, picture)), expected, atol=1e-6)


def test_transparent_parts_become_grey(echo, tmp_path):
    colours = np.concatenate([noise(ECHO, ECHO), noise(ECHO, ECHO)[..., :1]], axis=2)
    colours[:4, :, 3], colours[4:8, :, 3] = 0, 255
    (tmp_path / "a.png").write_bytes(encode(colours))
    expected = read_image(tmp_path / "a.png")
    actual = echoed(detect(echo, encode(colours))) * 255
    np.testing.assert_allclose(actual[:4], 114, atol=1e-3)
    np.testing.assert_allclose(actual[4:8], expected[4:8], atol=1e-3)
    # Browsers keep colours multiplied by alpha, in whole grey levels.
    assert np.abs(actual - expected).max() < 2.001


def test_pictures_of_changing_sizes(echo):
    for size in (ECHO, 3 * ECHO, ECHO, 2 * ECHO):
        picture = noise(size, size)
        expected = letterbox(picture, ECHO)[0] / 255
        np.testing.assert_allclose(echoed(detect(echo, picture)), expected, atol=1e-6)


def test_model_with_open_axes(loaded_page, tmp_path):
    open_shape = ("N", 3, "height", "width")
    path = echo_model(
        tmp_path / "open.onnx", open_shape, ("N", 5, "boxes"), imgsz=str([ECHO, ECHO])
    )
    result = load(loaded_page, path, backend="wasm")["value"]
    assert result["size"] == [ECHO, ECHO]
    assert result["names"] == ["class 0"]
    picture = noise(ECHO, ECHO)
    np.testing.assert_allclose(echoed(detect(loaded_page, picture)), picture / 255, atol=1e-6)


def test_failing_models_leave_the_present_one(echo, tmp_path):
    good = echo_model(tmp_path / "model.onnx").read_bytes()
    unknown = onnx.load_from_string(good)
    unknown.graph.node[0].op_type = "NoSuchOperator"
    infinite = onnx.load_from_string(good)
    infinite.graph.initializer[3].CopyFrom(
        onnx.numpy_helper.from_array(np.full((1, 4, 1), np.inf, np.float32), "shift")
    )
    echo_model(tmp_path / "rows.onnx", (1, 3, ECHO, ECHO), ("N", "rows", "boxes"),
               names="['a', 'b', 'c']")  # fmt: skip
    cases = [
        (good[:-300], "model-broken", "not a complete ONNX file"),
        (small_model((1, 3, 64, 96)), "model-shape", "needed: one input"),
        (unknown.SerializeToString(), "model-broken", "cannot read the model"),
        (infinite.SerializeToString(), "runtime", "NaN or infinity"),
        ((tmp_path / "rows.onnx").read_bytes(), "model-shape", "(1, 5, 256); needed: (1, 7, box"),
    ]
    picture = noise(ECHO, ECHO)
    for data, code, message in cases:
        (tmp_path / "bad.onnx").write_bytes(data)
        result = load(echo, tmp_path / "bad.onnx", backend="wasm")
        assert result.get("code") == code, result
        assert message in result["message"]
        np.testing.assert_allclose(echoed(detect(echo, picture)), picture / 255, atol=1e-6)


def test_one_call_at_a_time(echo):
    script = """async (file) => {
      const second = await bitmapOf(file);
      const first = detector.detect(await bitmapOf(file));
      const results = await Promise.all([
        outcome(detector.detect(second)),
        outcome(detector.load({ model: new Uint8Array(9), modelName: "x" })),
      ]);
      return { width: second.width, results, first: (await first).detections.length };
    }"""
    found = echo.evaluate(script, to_text(encode(noise(ECHO, ECHO))))
    assert found["first"] == ECHO * ECHO
    assert found["width"] == 0  # closed
    assert [result["code"] for result in found["results"]] == ["busy", "busy"]


def test_used_up_picture(echo):
    script = """async (file) => {
      const bitmap = await bitmapOf(file);
      bitmap.close();
      return outcome(detector.detect(bitmap));
    }"""
    file = to_text(encode(noise(ECHO, ECHO)))
    assert echo.evaluate(script, file)["code"] == "runtime"
    assert "value" in detect(echo, noise(ECHO, ECHO))


def test_without_webgpu(loaded_page, models):
    if loaded_page.evaluate("navigator.gpu?.requestAdapter().then(Boolean)"):
        pytest.skip("this browser has a graphics device")
    result = load(loaded_page, models / "echo.onnx", backend="auto")["value"]
    assert (result["backend"], result["requested"]) == ("wasm", "auto")
    assert "no graphics adapter" in result["note"]
    result = load(loaded_page, models / "echo.onnx", backend="webgpu")
    assert result["code"] == "no-webgpu"
    assert 'choose the backend "wasm" or "auto"' in result["message"]
    assert load(loaded_page, models / "echo.onnx", backend="cuda")["code"] == "runtime"


def in_worker(page, script):
    return page.workers[0].evaluate(script)


def test_worker_that_fails(echo, models):
    in_worker(echo, "void setTimeout(() => { throw new Error('boom'); })")
    until(echo, "detector.detect({ close() {} }).catch((error) => error.message.includes('boom'))")
    result = detect(echo, noise(ECHO, ECHO))
    assert result["code"] == "runtime"
    assert "boom" in result["message"]
    assert "value" in load(echo, models / "echo.onnx", backend="wasm")
    assert "value" in detect(echo, noise(ECHO, ECHO))


def test_lost_device(echo, models):
    """What the worker says when the graphics device is gone; here, it only says so."""
    in_worker(echo, "postMessage({ type: 'lost', reason: 'driver update' })")
    until(echo, "losses.length > 0")
    assert echo.evaluate("losses.splice(0)") == ["driver update"]
    result = detect(echo, noise(ECHO, ECHO))
    assert result["code"] == "device-lost"
    assert "driver update" in result["message"]
    assert "value" in load(echo, models / "echo.onnx", backend="wasm")


def test_dispose(echo, models):
    script = """async (file) => {
      const call = outcome(detector.detect(await bitmapOf(file)));
      detector.dispose();
      return call;
    }"""
    file = to_text(encode(noise(ECHO, ECHO)))
    result = echo.evaluate(script, file)
    assert (result["code"], result["message"]) == ("runtime", "the detector was disposed of")
    assert detect(echo, noise(ECHO, ECHO))["message"] == "the detector was disposed of"
    script = """async (model) => {
      const call = load(model, { backend: "wasm" });
      detector.dispose();
      return call;
    }"""
    model = to_text((models / "echo.onnx").read_bytes())
    assert echo.evaluate(script, model)["message"] == "the detector was disposed of"
    assert "value" in load(echo, models / "echo.onnx", backend="wasm")


# ------------------------------------------------------------------------------ assets


@pytest.fixture
def assets(browser, tmp_path):
    """A page with the assets' script alone."""
    path = tmp_path / "blank.html"
    path.write_text("<!doctype html><title>assets</title>")
    with browser.visit(path.as_uri(), complaints=("ERR_INVALID_URL",)) as page:
        page.add_script_tag(path=PAGE / "assets.js")
        page.add_script_tag(path=PAGE / "detector.js")
        page.add_script_tag(content=HARNESS + DETECTOR_HARNESS)
        yield page


def test_assets(assets):
    content = "Größe".encode() * 1000
    assets.evaluate("([n, t]) => demoAssets.add(n, t)", ["a", pack(content)])
    assert assets.evaluate("demoAssets.names()") == ["a"]
    assert assets.evaluate("[demoAssets.has('a'), demoAssets.has('b')]") == [True, False]
    assert assets.evaluate("demoAssets.text('a')").encode() == content
    read_bytes = "demoAssets.bytes('a').then((b) => [b instanceof Uint8Array, textOf(b)])"
    for _ in range(2):
        assert assets.evaluate(read_bytes) == [True, to_text(content)]
    assets.evaluate("demoAssets.release('a')")
    assert assets.evaluate("demoAssets.names()") == []


def test_assets_that_are_missing_or_damaged(assets):
    missing = assets.evaluate("outcome(demoAssets.bytes('wasm'))")
    assert missing["code"] == "assets-missing"
    assert "python -m tools.build_demo MODEL.onnx" in missing["message"]
    packed = pack(RNG.bytes(1000))
    damaged = [packed[:-40], packed[:500] + "AAAA" + packed[504:], "AAAA", "no base64!"]
    for text in damaged:
        assets.evaluate("(text) => demoAssets.add('wasm', text)", text)
        for form in ("bytes", "text"):
            result = assets.evaluate(f"outcome(demoAssets.{form}('wasm'))")
            assert result["code"] == "assets-missing", text
            assert '"wasm" is damaged' in result["message"]
    result = assets.evaluate("load('AAAA', {})")
    assert result["code"] == "assets-missing"


# ------------------------------------------------------------------------------ fallback

# Instead of the worker: WebGPU fails, wasm works, and nothing else is there.
FAKES = """
for (const name of ["runtime", "runtime-module", "wasm"]) {
  demoAssets.add(name, "EMPTY");
}
globalThis.letterboxModule = globalThis.nmsModule = globalThis.onnxMetadataModule = function () {};
globalThis.detectorWorker = function (scope) {
  let loads = 0;
  scope.onmessage = ({ data: { id, backend, type } }) => {
    loads++;
    scope.postMessage(
      backend === "wasm"
        ? { type: "result", id, value: { backend, note: "", adapter: "", warmupMs: 1, loads } }
        : { type: "error", id, code: "webgpu-failed", message: "no shader-f16" },
    );
  };
};
"""


def test_webgpu_that_fails(assets):
    assets.add_script_tag(content=FAKES.replace("EMPTY", pack(b"")))
    result = assets.evaluate("load('AAAA', { backend: 'auto' })")["value"]
    assert (result["backend"], result["requested"]) == ("wasm", "auto")
    assert result["note"] == "WebGPU failed: no shader-f16"
    assert result["loads"] == 1  # in a new worker
    assert len(assets.workers) == 1
    result = assets.evaluate("load('AAAA', { backend: 'webgpu' })")
    assert result["code"] == "no-webgpu"
    assert "no shader-f16; choose the backend" in result["message"]
    assert assets.evaluate("outcome(detector.detect({ close() {} }))")["code"] == "runtime"
    assert assets.evaluate("load('AAAA', { backend: 'wasm' })")["value"]["loads"] == 1


def test_worker_that_cannot_start(assets):
    assets.add_script_tag(content=FAKES.replace("EMPTY", pack(b"")))
    assets.evaluate("detectorWorker = 'no function'")
    result = assets.evaluate("load('AAAA', {})")
    assert result["code"] == "runtime"
    assert "the detector's worker failed" in result["message"]
