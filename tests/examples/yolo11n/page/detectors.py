"""Small detectors for the tests of the page, pictures to detect in, and what Python finds."""

import io
from functools import cache

import numpy as np
import onnx
from data.images import letterbox
from data.synthetic.scenes import sample_scene
from onnx import TensorProto, helper
from PIL import Image
from tools.compare_runtimes import differences, page_detections
from utils import nms, scale_detections

from tests.examples.yolo11n.small_models import make_model

GREEN, ORANGE = (0, 220, 40), (255, 128, 0)


# ------------------------------------------------------------------------------ what Python finds


@cache
def _session(path):
    import onnxruntime

    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def raw_output(path, image):
    """Return a model's output for a picture, float32 (4 + classes, anchors), and the geometry."""
    session = _session(str(path))
    size = session.get_inputs()[0].shape[2]
    canvas, geometry = letterbox(image, size)
    pixels = canvas.transpose(2, 0, 1)[None].astype(np.float32) / np.float32(255)
    (given,) = session.get_inputs()
    if given.type == "tensor(float16)":
        pixels = pixels.astype(np.float16)
    return session.run(None, {given.name: pixels})[0][0].astype(np.float32), geometry


def expected_detections(path, image, confidence=0.25, iou=0.45):
    """Return what prediction in Python finds, float32 (n, 6): x1, y1, x2, y2, score, class."""
    output, geometry = raw_output(path, image)
    return scale_detections(nms(output, confidence, iou, multi_label=False), geometry)


def clear_scenes(path, count, start=0, size=None, confidence=0.25, iou=0.45):
    """Draw pictures, from a seed on, in which a model's detections don't hang on the last digits.

    No score lies within 0.003 of the threshold, and no overlap near its limit; there are at
    least three detections, which aren't all cut at the picture's border.
    """
    found, seed = [], start
    while len(found) < count:
        image, _ = sample_scene(np.random.default_rng(seed), size)
        seed += 1
        output, geometry = raw_output(path, image)
        counts = {
            len(nms(output, confidence + off, iou + near, multi_label=False))
            for off in (-0.003, 0.003)
            for near in (-0.01, 0, 0.01)
        }
        rows = expected_detections(path, image, confidence, iou)
        limits = (0, 0, geometry.width, geometry.height)
        inner = (np.abs(rows[:, :4] - limits) > 1).all(axis=1)
        if len(counts) == 1 and len(rows) >= 3 and inner.any():
            found.append(image)
    return found


def assert_same(last, expected, pixels=0.01, score=1e-4):
    """Assert that the page's detections (its `demo.last`) are Python's, each with its partner."""
    found = page_detections(last)
    box, scores, lonely = differences(found, expected)
    assert not lonely, f"{found.round(3)} instead of {expected.round(3)}"
    assert box <= pixels
    assert scores <= score


# ------------------------------------------------------------------------------ models


class _Graph:
    """Nodes one after another, each with one output."""

    def __init__(self):
        self.nodes, self.constants = [], {}

    def constant(self, values, dtype=np.float32):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(values, dtype)
        return name

    def add(self, op_type, *inputs, name=None, **attributes):
        name = name or f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, list(inputs), [name], **attributes))
        return name


WINDOW, CELL = 40, 8


def colour_detector_onnx(path, size=128, names=("green thing", "orange thing"), **metadata):
    """Write a small detector that finds green and orange blobs, which it computes, not learns.

    Over windows of 40 pixels, one about each 8x8 cell, it takes the centroid and the variance of
    how green, or how orange, the pixels are. The box is the rectangle of that variance. The
    score falls from 1, where the centroid is the cell's centre, to 0 at a distance of 8 pixels:
    so only windows that see the whole of a blob reach 0.25. Blobs may be 24 pixels large in the
    network's input, whose side `size` is a multiple of 8. Metadata are as of an export, unless
    others are given; None leaves one out.
    """
    graph = _Graph()
    weights = _colour_weights(graph)
    cells = (size // CELL) ** 2
    x = np.broadcast_to(np.arange(size) + 0.5, (1, 1, size, size))
    y = x.swapaxes(2, 3)
    sums = {}
    for name, weight in [("1", None), ("x", x), ("y", y), ("xx", x * x), ("yy", y * y)]:
        product = weights if weight is None else graph.add("Mul", weights, graph.constant(weight))
        padding = (WINDOW - CELL) // 2
        sums[name] = graph.add(
            "AveragePool",
            product,
            kernel_shape=[WINDOW, WINDOW],
            strides=[CELL, CELL],
            pads=[padding] * 4,
            count_include_pad=1,
        )
    mass = graph.add("Add", sums["1"], graph.constant(1e-6))
    rows = _boxes(graph, sums, mass)
    rows += _scores(graph, sums["1"], rows[:2], size)
    shape = graph.constant([1, 1, 2 * cells], np.int64)
    flat = [graph.add("Reshape", row, shape) for row in rows]
    graph.add("Concat", *flat, axis=1, name="output0")
    return _save(graph, path, size, [1, 6, 2 * cells], names, metadata)


def _colour_weights(graph):
    """Return (1, 2, size, size): how green and how orange each pixel is, 0 for greys."""
    thirds = graph.constant([1, 1, 1], np.int64)
    graph.nodes.append(helper.make_node("Split", ["images", thirds], ["r", "g", "b"], axis=1))
    green = graph.add("Sub", "g", graph.add("Max", "r", "b"))
    orange = graph.add(
        "Mul",
        graph.add("Min", graph.add("Sub", "r", "g"), graph.add("Sub", "g", "b")),
        graph.constant(2.0),
    )
    both = graph.add("Concat", green, orange, axis=1)
    return graph.add("Relu", graph.add("Sub", both, graph.constant(0.3)))


def _boxes(graph, sums, mass):
    """Return rows centre x, centre y, width, height, each (1, 2, cells, cells)."""
    centre = {axis: graph.add("Div", sums[axis], mass) for axis in "xy"}
    sides = []
    for axis in "xy":
        square = graph.add("Div", sums[2 * axis], mass)
        mean_square = graph.add("Mul", centre[axis], centre[axis])
        variance = graph.add("Relu", graph.add("Sub", square, mean_square))
        # of a uniform distribution over the side: side**2 / 12
        sides.append(graph.add("Sqrt", graph.add("Mul", variance, graph.constant(12.0))))
    return [centre["x"], centre["y"], *sides]


def _scores(graph, mean, centre, size):
    """Return two rows of scores; the anchors of either class score 0 for the other one."""
    middle = np.broadcast_to(np.arange(size // CELL) * CELL + CELL / 2, (1, 1, *[size // CELL] * 2))
    distances = [
        graph.add("Abs", graph.add("Sub", value, graph.constant(at)))
        for value, at in zip(centre, (middle, middle.swapaxes(2, 3)), strict=True)
    ]
    distance = graph.add("Div", graph.add("Max", *distances), graph.constant(CELL))
    near = graph.add("Relu", graph.add("Sub", graph.constant(1.0), distance))
    # Less than 8 pixels of full colour are no blob.
    enough = graph.add("Mul", mean, graph.constant(WINDOW**2 / 8))
    score = graph.add("Mul", near, graph.add("Min", enough, graph.constant(1.0)))
    return [
        graph.add("Mul", score, graph.constant(np.reshape(own, (1, 2, 1, 1))))
        for own in ((1, 0), (0, 1))
    ]


def _save(graph, path, size, output_shape, names, metadata):
    entries = {
        "task": "detect",
        "names": names and str(dict(enumerate(names))),
        "imgsz": str([size, size]),
        "conf": "0.25",
        "iou": "0.45",
    } | metadata
    ends = {"images": [1, 3, size, size]}, {"output0": output_shape}
    proto = make_model(graph.nodes, graph.constants, *ends, **entries)
    onnx.checker.check_model(proto, full_check=True)
    onnx.save(proto, path)
    return proto


def random_yolo(num_classes=2):
    """Build a YOLO11n with fixed random weights, scaled so that it "finds" a dozen boxes.

    What it finds means nothing; it is the real network for comparing one runtime with another.
    """
    from model import YOLO11n

    from tests.examples import yolo11n_golden as golden

    model = YOLO11n(num_classes)
    golden.load_golden_weights(model)
    state = model.state_dict() | golden.load_arrays(golden.CORE / "bn_calib_nc2.npz")
    # Random distributions of the sides average 7.5 cells, larger than the whole picture: boxes
    # that are all cut at its border would compare nothing.
    state["model.23.dfl.conv.weight"] = state["model.23.dfl.conv.weight"] / np.float32(8)
    for level in range(3):
        name = f"model.23.cv3.{level}.2"
        state[f"{name}.weight"] = state[f"{name}.weight"] / np.float32(4)
        state[f"{name}.bias"] = state[f"{name}.bias"] / np.float32(4) - np.float32(2.5)
    model.load_state_dict(state)
    return model


def yolo_onnx(path, size=64, classes=("person", "cell phone"), half=False):
    """Export `random_yolo`; with `half`, it computes in float16, input and output too."""
    from export import export_detector

    export_detector(random_yolo(len(classes)), path, classes, size, half=half)
    if half:
        file = onnx.load(path)
        _make_half(file.graph, file.graph.input[0], file.graph.output[0])
        onnx.checker.check_model(file, full_check=True)
        onnx.save(file, path)
    return path


def _make_half(graph, given, result):
    """Make a model's input and output float16."""
    for node in graph.node:
        for names, name in ((node.input, given.name), (node.output, result.name)):
            names[:] = [f"{name}_float" if n == name else n for n in names]
    for value, ends, to in (
        (given, (given.name, f"{given.name}_float"), TensorProto.FLOAT),
        (result, (f"{result.name}_float", result.name), TensorProto.FLOAT16),
    ):
        cast = helper.make_node("Cast", [ends[0]], [ends[1]], to=to)
        graph.node.insert(0 if value is given else len(graph.node), cast)
        value.type.tensor_type.elem_type = TensorProto.FLOAT16


# ------------------------------------------------------------------------------ pictures


def blob_picture(width, height, blobs, ground=(70, 80, 110)):
    """Draw a plain picture with squares (colour, x, y of the centre, side)."""
    picture = np.full((height, width, 3), ground, dtype=np.uint8)
    for colour, x, y, side in blobs:
        left, top = round(x - side / 2), round(y - side / 2)
        picture[max(top, 0) : top + side, max(left, 0) : left + side] = colour
    return picture


def find_blob(picture, colour, tolerance=60):
    """Return the bounding box x1, y1, x2, y2 of the pixels near a colour, or None."""
    near = np.abs(picture.astype(int) - colour).max(axis=2) <= tolerance
    if not near.any():
        return None
    (x,), (y,) = np.nonzero(near.any(axis=0)), np.nonzero(near.any(axis=1))
    return x[0], y[0], x[-1] + 1, y[-1] + 1


def encode(picture, kind="PNG", **options):
    """Return a picture's file as bytes."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, kind, **options)
    return file.getvalue()


def write_y4m(path, pictures, rate=10):
    """Write a film that Chromium plays as a camera: BT.601 in limited range, 4:2:0."""
    height, width = pictures[0].shape[:2]
    matrix = np.array(
        [[65.481, 128.553, 24.966], [-37.797, -74.203, 112.0], [112.0, -93.786, -18.214]]
    )
    with open(path, "wb") as file:
        file.write(f"YUV4MPEG2 W{width} H{height} F{rate}:1 Ip A1:1 C420\n".encode())
        for picture in pictures:
            yuv = picture.astype(np.float64) / 255 @ matrix.T + (16, 128, 128)
            colour = yuv[..., 1:].reshape(height // 2, 2, width // 2, 2, 2).mean(axis=(1, 3))
            file.write(b"FRAME\n")
            for plane in (yuv[..., 0], colour[..., 0], colour[..., 1]):
                file.write(plane.round().astype(np.uint8).tobytes())
