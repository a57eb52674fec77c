"""A real browser for the tests of the demo page, models for it, and what Python finds.

Chromium runs without a window; nothing is loaded from a network. Tests that need it skip where
the machine has no Chromium or Python has no ``playwright``.
"""

import base64
import io
import mimetypes
import os
import shutil
import subprocess
import time
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import onnx
import pytest
from data.images import letterbox
from data.synthetic.scenes import sample_scene
from evaluation.nms import nms, scale_detections
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from tools.chromium import ARGS, WEBGPU_ARGS, BrowserError, find_chromium

# Everything a page may load without a network.
OFFLINE = ("file", "data", "blob")
GREEN, ORANGE = (0, 220, 40), (255, 128, 0)
# Seconds, for a machine that has much else to do; whoever waits this long sees a failure.
PATIENCE = 90.0


# ------------------------------------------------------------------------------ the browser


def require_chromium():
    """Path of a Chromium; skips the test where there is none, or no playwright."""
    if find_spec("playwright") is None:
        pytest.skip("drives a browser by playwright, which isn't installed: pip install playwright")
    try:
        path = find_chromium()
    except BrowserError as error:
        pytest.skip(str(error))
    if problem := _problem_of(path):
        pytest.skip(problem)
    return path


@cache
def _problem_of(path):
    """Why a program is no Chromium that starts, or None.

    Some systems install a script of that name which only says where to get Chromium.
    """
    command = [path, "--version"]
    try:
        subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip()
        return f"{path} does not start: {said.splitlines()[0] if said else 'it says nothing'}"
    return None


_driver, _users = None, 0


@contextmanager
def _playwright():
    # One driver for all browsers that are open at once: a second one refuses to start.
    global _driver, _users
    from playwright.sync_api import sync_playwright

    if _users == 0:
        _driver = sync_playwright().start()
    _users += 1
    try:
        yield _driver
    finally:
        _users -= 1
        if _users == 0:
            _driver.stop()
            _driver = None


class Log:
    """What a page complained of and asked for.

    Attributes
    ----------
    complaints : list of str
        Console messages of the kinds error and warning, and uncaught errors.
    requests : list of str
        Every address.
    """

    def __init__(self, context):
        self.complaints, self.requests = [], []
        context.on("console", self._console)
        context.on("weberror", lambda error: self.complaints.append(f"uncaught: {error.error}"))
        context.on("request", lambda request: self.requests.append(request.url))

    def _console(self, message):
        if message.type in ("error", "warning", "assert"):
            self.complaints.append(f"{message.type}: {message.text}")

    def outside(self, server=None):
        """Addresses that lie neither in files, nor in the page, nor at `server`."""
        own = urlsplit(server).netloc if server else None
        return [
            url
            for url in self.requests
            if urlsplit(url).scheme not in OFFLINE and (not own or urlsplit(url).netloc != own)
        ]


class Browser:
    """One running browser; see `open_browser`."""

    def __init__(self, browser):
        self.browser = browser

    @contextmanager
    def visit(self, url, *, complaints=(), **options):
        """Open a page for as long as the context lasts.

        Parameters
        ----------
        url : str
        complaints : sequence of str
            Parts of the console messages that are expected; any other one fails the test at the
            end, and so does a request to any other place than `url`'s server.
        options
            Of the browser's context: ``viewport``, ``color_scheme``, ….

        Yields
        ------
        playwright.sync_api.Page
            Its ``log`` is a `Log`.
        """
        options.setdefault("viewport", {"width": 1280, "height": 900})
        context = self.browser.new_context(**options)
        context.set_default_timeout(1000 * PATIENCE)
        try:
            log = Log(context)
            page = context.new_page()
            page.log = log
            page.goto(url)
            yield page
            page.wait_for_timeout(50)  # for messages that are still under way
            server = url if url.startswith("http") else None
            assert log.outside(server) == []
            surprises = [c for c in log.complaints if not any(part in c for part in complaints)]
            assert surprises == []
        finally:
            context.close()

    def renderer_memory(self):
        """Bytes in main memory of the renderer process that uses most; Linux alone."""
        session = self.browser.new_browser_cdp_session()
        try:
            processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
        finally:
            session.detach()
        sizes = []
        for process in processes:
            if process["type"] == "renderer":
                pages = Path(f"/proc/{process['id']}/statm").read_text().split()[1]
                sizes.append(int(pages) * os.sysconf("SC_PAGE_SIZE"))
        return max(sizes)


@contextmanager
def open_browser(*, camera=None, permission=True, webgpu=False, args=()):
    """A Chromium without a window.

    Parameters
    ----------
    camera : path-like, optional
        A .y4m film that plays as the camera, over and over; without one there is no camera, even
        if the machine has one.
    permission : bool
        Whether the user lets the page use the camera.
    webgpu : bool
        Whether WebGPU works, computed by the processor: slowly.
    args : sequence of str
        More options for Chromium.

    Yields
    ------
    Browser
    """
    path = require_chromium()
    device = "--use-fake-device-for-media-stream"
    options = [*ARGS, device if camera else f"{device}=device-count=0", *args]
    if camera:
        options.append(f"--use-file-for-fake-video-capture={Path(camera).resolve()}")
    options.append("--use-fake-ui-for-media-stream" if permission else "--deny-permission-prompts")
    # Without it there shall be none, even if the machine has a graphics processor.
    options += WEBGPU_ARGS["software"] if webgpu else ["--disable-gpu"]
    with _playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=path, headless=True, args=options, timeout=1000 * PATIENCE
        )
        try:
            yield Browser(browser)
        finally:
            browser.close()


@contextmanager
def ready_page(browser, site, **options):
    """The page of a `Site` with its model loaded; options as for `Browser.visit`."""
    with browser.visit(site.url, **options) as page:
        wait_ready(page)
        yield page


def until(page, expression, timeout=PATIENCE, what=None):
    """Poll until a JavaScript expression is true; its value.

    The page's content security policy forbids `wait_for_function`.
    """
    end = time.monotonic() + timeout
    while True:
        value = page.evaluate(expression)
        if value:
            return value
        if time.monotonic() > end:
            state = page.evaluate(
                "window.demo ? JSON.stringify({state: demo.state, screen: demo.screen, "
                "frames: demo.frames, errors: demo.errors}) : 'no demo'"
            )
            raise AssertionError(
                f"waited {timeout} s for {what or expression}; the page says {state}, and its "
                f"console {page.log.complaints}"
            )
        page.wait_for_timeout(30)


def wait_ready(page, timeout=PATIENCE):
    """Wait for the model, and its detections in the first sample; the page's `demo.info`."""
    until(page, "Boolean(window.demo && demo.ready)", timeout, "the page to be ready")
    until(page, "demo.last !== null || !demoAssets.has('samples')", timeout, "the first sample")
    return page.evaluate("demo.info")


def wait_screen(page, name, timeout=PATIENCE):
    """Wait for a message screen; its text."""
    until(page, f"window.demo && demo.screen === '{name}'", timeout, f"the screen {name}")
    shown = page.locator("#message")
    assert shown.is_visible()
    assert shown.get_attribute("data-screen") == name
    return shown.inner_text()


def after(page, action, timeout=PATIENCE):
    """Do something that makes the page detect; its new `demo.last`."""
    page.evaluate("() => { window.lastSeen = demo.last; }")
    action()
    until(page, "demo.last !== null && demo.last !== window.lastSeen", timeout, "a detection")
    return page.evaluate("demo.last")


def choose_sample(page, number):
    """Press the button of a sample, 1 being the first; the resulting `demo.last`."""
    return after(page, page.locator(f"#samples [data-sample='{number}']").click)


def file_of(data, name):
    """A file for `set_input_files`, from bytes or a path."""
    if isinstance(data, str | Path):
        data = Path(data).read_bytes()
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return {"name": name, "mimeType": kind, "buffer": data}


def detect_file(page, data, name="picture.png", selector="#image-file"):
    """Choose a picture by the page's button; the resulting `demo.last`."""
    last = after(page, lambda: page.set_input_files(selector, file_of(data, name)))
    assert last["title"] == name
    return last


def choose_model(page, path, name=None):
    """Choose a model by the page's button and wait until it works; the page's `demo.info`."""
    name = name or Path(path).name
    page.set_input_files("#model-file", file_of(path, name))
    until(page, f"demo.info && demo.info.modelName === {name!r} && demo.ready", what=name)
    return page.evaluate("demo.info")


_TRANSFER = """
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], name, {type}));
"""


def _send_file(page, script, data, name):
    file = file_of(data, name)
    text = base64.b64encode(file["buffer"]).decode()
    page.evaluate(
        f"([data, name, type]) => {{{_TRANSFER}{script}}}", [text, name, file["mimeType"]]
    )


def drop_file(page, data, name="picture.png"):
    """Drop a file on the page, as the events tell it."""
    script = """
      for (const type of ["dragenter", "dragover", "drop"]) {
        const options = {bubbles: true, cancelable: true, dataTransfer: transfer};
        document.querySelector("#stage").dispatchEvent(new DragEvent(type, options));
      }
    """
    _send_file(page, script, data, name)


def paste_file(page, data, name="picture.png"):
    """Paste a file, as the event tells it."""
    script = """
      const options = {bubbles: true, cancelable: true, clipboardData: transfer};
      document.body.dispatchEvent(new ClipboardEvent("paste", options));
    """
    _send_file(page, script, data, name)


def screenshot(page, name, folder):
    """Save what is visible below DEMO_SCREENSHOTS, if set, or else in `folder`."""
    folder = Path(os.environ.get("DEMO_SCREENSHOTS") or folder)
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / f"{name}.png")
    return folder / f"{name}.png"


def stage_pixels(page, selector="#stage"):
    """What a canvas shows, as a uint8 array (height, width, 3)."""
    url = page.evaluate(f"document.querySelector('{selector}').toDataURL('image/png')")
    return decode_data_url(url)


def decode_data_url(url):
    """Decode a data: URL of a picture, uint8 array (height, width, 3)."""
    with Image.open(io.BytesIO(base64.b64decode(url.split(",", 1)[1]))) as picture:
        return np.asarray(picture.convert("RGB"))


# ------------------------------------------------------------------------------ the page


class Site:
    """A built page: its ``folder``, and the addresses of its two forms."""

    def __init__(self, folder, page="yolo_detection_demo.html"):
        self.folder = Path(folder)
        self.url = (self.folder / page).as_uri()
        self.single_url = (self.folder / "dist" / page).as_uri()


def build_site(model, folder):
    """Build the page with a model in it; skips the test where npm hasn't put the runtime."""
    from tools import build_demo

    if problem := build_demo.runtime_problem():
        pytest.skip(problem)
    build_demo.build(model, output=folder)
    return Site(folder)


def copy_site(site, folder, model=None):
    """The same page of many files in another folder, perhaps with another model in it."""
    from tools import build_demo

    folder = Path(folder)
    # Links: the runtime alone has ten megabytes.
    shutil.copytree(site.folder, folder, copy_function=os.link, dirs_exist_ok=True)
    shutil.rmtree(folder / "dist", ignore_errors=True)
    if model is not None:
        script = folder / "demo_assets" / "model.js"
        script.unlink()
        script.write_bytes(build_demo.model_script(model))
    return Site(folder)


# ------------------------------------------------------------------------------ what Python finds


@cache
def _session(path):
    import onnxruntime

    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def raw_output(path, image):
    """Output of a model for a picture, float32 (4 + classes, anchors), and the geometry."""
    session = _session(str(path))
    size = session.get_inputs()[0].shape[2]
    canvas, geometry = letterbox(image, size)
    pixels = canvas.transpose(2, 0, 1)[None].astype(np.float32) / np.float32(255)
    return session.run(None, {session.get_inputs()[0].name: pixels})[0][0], geometry


def expected_detections(path, image, confidence=0.25, iou=0.7):
    """What prediction in Python finds, float32 (n, 6): x1, y1, x2, y2, score, class."""
    output, geometry = raw_output(path, image)
    return scale_detections(nms(output, confidence, iou, multi_label=False), geometry)


def clear_scenes(path, count, start=0, size=None, confidence=0.25, iou=0.7):
    """Drawn pictures in which a model's detections don't hang on the last digits.

    No score lies within 0.003 of the threshold, and no overlap near its limit; there are at
    least three detections, which aren't all cut at the picture's border.

    Parameters
    ----------
    path : path-like
        The model.
    count : int
    start : int
        First seed.
    size : (int, int), optional
        Width and height.

    Returns
    -------
    list of uint8 array, (height, width, 3)
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


def as_rows(last):
    """The page's detections as an array like `expected_detections`'."""
    keys = ("x1", "y1", "x2", "y2", "score", "classId")
    rows = [[found[key] for key in keys] for found in last["detections"]]
    return np.array(rows, dtype=np.float32).reshape(-1, 6)


def assert_same(actual, expected, pixels=0.5, score=0.005):
    """Same boxes in any order: as many, each with its own partner of the same class."""
    assert len(actual) == len(expected), f"{len(actual)} boxes instead of {len(expected)}"
    left = list(range(len(actual)))
    for row in expected:
        off = np.abs(actual[left, :4] - row[:4]).max(axis=1)
        off[actual[left, 5] != row[5]] = np.inf
        off[np.abs(actual[left, 4] - row[4]) > score] = np.inf
        best = int(off.argmin())
        assert off[best] <= pixels, f"nothing like {row.round(3)} in {actual.round(3)}"
        left.pop(best)


# ------------------------------------------------------------------------------ models


def _constant(name, values):
    return numpy_helper.from_array(np.asarray(values, dtype=np.float32), name)


class _Graph:
    """Nodes one after another, each with one output."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, values):
        name = f"c{len(self.constants)}"
        self.constants.append(_constant(name, values))
        return name

    def integers(self, values):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, np.int64), name))
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
    network's input.

    Parameters
    ----------
    path : path-like
    size : int
        Side of the input, a multiple of 8.
    names : sequence of two str, or None
        Of the green and the orange class; None leaves the names out.
    metadata
        More entries, or others instead of those that an export writes; None leaves one out.

    Returns
    -------
    onnx.ModelProto
        Input ``images`` (1, 3, size, size), output ``output0`` (1, 6, 2 * (size / 8)**2).
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
    shape = graph.integers([1, 1, 2 * cells])
    flat = [graph.add("Reshape", row, shape) for row in rows]
    graph.add("Concat", *flat, axis=1, name="output0")
    return _save(graph, path, size, [1, 6, 2 * cells], names, metadata)


def _colour_weights(graph):
    """(1, 2, size, size): how green and how orange each pixel is, 0 for greys."""
    thirds = graph.integers([1, 1, 1])
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
    """Rows centre x, centre y, width, height, each (1, 2, cells, cells)."""
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
    """Two rows of scores; the anchors of either class score 0 for the other one."""
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
    proto = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "colours",
            [helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, size, size])],
            [helper.make_tensor_value_info("output0", TensorProto.FLOAT, output_shape)],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", 18)],
        ir_version=9,
    )
    entries = {
        "task": "detect",
        "names": names and str(dict(enumerate(names))),
        "imgsz": str([size, size]),
        "conf": "0.25",
        "iou": "0.7",
    } | metadata
    helper.set_model_props(proto, {k: v for k, v in entries.items() if v is not None})
    onnx.checker.check_model(proto, full_check=True)
    onnx.save(proto, path)
    return proto


def random_yolo(num_classes=2):
    """A YOLO11n with fixed random weights, scaled so that it "finds" a dozen boxes.

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


def yolo_onnx(path, size=64, classes=("person", "cell phone")):
    """Export `random_yolo`."""
    from export import export_detector

    export_detector(random_yolo(len(classes)), path, classes, size)
    return path


# ------------------------------------------------------------------------------ pictures


def blob_picture(width, height, blobs, ground=(70, 80, 110)):
    """A plain picture with coloured rectangles.

    Parameters
    ----------
    blobs : sequence of (colour, x, y, side)
        Centre and side of a square in pixels.

    Returns
    -------
    uint8 array, (height, width, 3)
    """
    picture = np.full((height, width, 3), ground, dtype=np.uint8)
    for colour, x, y, side in blobs:
        left, top = round(x - side / 2), round(y - side / 2)
        picture[max(top, 0) : top + side, max(left, 0) : left + side] = colour
    return picture


def find_blob(picture, colour, tolerance=60):
    """Bounding box x1, y1, x2, y2 of the pixels near a colour, or None."""
    near = np.abs(picture.astype(int) - colour).max(axis=2) <= tolerance
    if not near.any():
        return None
    (x,), (y,) = np.nonzero(near.any(axis=0)), np.nonzero(near.any(axis=1))
    return x[0], y[0], x[-1] + 1, y[-1] + 1


def encode(picture, kind="PNG", **options):
    """A picture's file as bytes."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, kind, **options)
    return file.getvalue()


def data_url(picture):
    """A picture, uint8 (height, width, 3), as a data: URL of a PNG."""
    return "data:image/png;base64," + base64.b64encode(encode(picture)).decode()


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
