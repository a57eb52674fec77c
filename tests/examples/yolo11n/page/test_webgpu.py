"""The page on WebGPU, which Chromium computes with the processor here.

Slow: shaders are compiled in the first run, and every run takes a part of a second.  The real
network has a hundred of them: tests that take it run weekly, the others take a detector of colours
with a small input, and go on with a page for as long as they can.
"""

import base64
import json
import shutil

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from tools.build_demo import FLOATS, WEBGPU_MODEL, assets_of
from tools.reference import input_of

from pytensor.link.onnx import half_weights
from tests.examples.yolo11n.page.browsers import (
    detect_file,
    open_browser,
    ready_page,
    report_of,
    until,
    visit,
)
from tests.examples.yolo11n.page.conftest import build_site, site_in
from tests.examples.yolo11n.page.detectors import (
    GREEN,
    ORANGE,
    assert_same,
    blob_picture,
    clear_scenes,
    colour_detector_onnx,
    encode,
    expected_detections,
)

pytestmark = pytest.mark.browser
SCENE = blob_picture(320, 240, [(GREEN, 90, 80, 70), (ORANGE, 220, 150, 60)])

# Workers remember the device that they ask for, and what they read from it is multiplied by FACTOR,
# which can be changed; five frames are between two checks.
# If wanted, an adapter passes for a real one, and of a measurement the second worker says that it
# took no time, or very long.
PREPARE = """
(() => {
  const remember = `const request = GPUAdapter.prototype.requestDevice;
    GPUAdapter.prototype.requestDevice = async function (...given) {
      self.device = await request.apply(this, given);
      return self.device;
    };
    const read = GPUBuffer.prototype.getMappedRange;
    GPUBuffer.prototype.getMappedRange = function (...given) {
      const range = read.apply(this, given);
      const factor = self.factor ?? FACTOR;
      if (factor === 1 || !(this.usage & GPUBufferUsage.MAP_READ)) return range;
      const numbers = new Float32Array(range);
      for (let k = 0; k < numbers.length; k++) numbers[k] *= factor;
      return range;
    };`;
  const Plain = Blob;
  window.Blob = class extends Plain {
    constructor(parts, options) {
      const script = options?.type === "text/javascript";
      const often = (part) => (part.replace ? part.replace("EVERY=500;", "EVERY=5;") : part);
      super(script ? [`{${remember}}`, ...parts.map(often)] : parts, options);
    }
  };
  if (!DISGUISED) return;
  navigator.gpu.requestAdapter = async () => ({ info: { vendor: "disguised" } });
  let workers = 0;
  window.Worker = class extends Worker {
    number = (workers += 1);
    set onmessage(handle) {
      this.addEventListener("message", ({ data }) => {
        if (typeof data.value !== "number") handle({ data });
        else handle({ data: { ...data, value: this.number === 1 || SLOW ? 1e6 : 0 } });
      });
    }
  };
})();
"""


@pytest.fixture(scope="module")
def small(once):
    """Return the path of a detector of colours that computes a quarter of the usual one."""
    file = "small.onnx"
    return once("small", lambda folder: colour_detector_onnx(folder / file, 64)) / file


@pytest.fixture(scope="module")
def small_site(small, models, once):
    """Return its page, with the usual one for far things."""
    return site_in(once("small_site", lambda folder: build_site(small, folder, far=models.colour)))


@pytest.fixture(scope="module")
def browser():
    with open_browser(webgpu=True) as browser:
        yield browser


def open_page(browser, url, disguised=False, slow=False, factor="1", **options):
    """Open a page as `PREPARE` says; `factor` is an expression in JavaScript."""
    given = {"DISGUISED": f"{disguised}", "SLOW": f"{slow}"}
    script = PREPARE.replace("FACTOR", factor)
    for name, value in given.items():
        script = script.replace(name, value.lower())
    return ready_page(browser, url, script=script, **options)


def assert_checked(page, by="Python"):
    """Assert that WebGPU was checked, and that one line says so."""
    checked = page.evaluate("demo.info.checked")
    assert (checked["by"], checked["times"]) == (by, 1)
    for kind, most in {"box": 0.5, "score": 0.005}.items():
        assert checked["difference"][kind] <= checked["limits"][kind] <= most
    line = page.inner_text("#device-check")
    assert line.startswith("Checked on this device: largest difference 0.0")
    assert f"in score, from {by}." in line


def choose_webgpu(page):
    page.select_option("#backend", "webgpu")
    until(page, "demo.ready && demo.info.requested === 'webgpu'", timeout=240)
    assert page.evaluate("demo.info.backend") == "webgpu"


@pytest.mark.long  # a hundred shaders: a minute
def test_webgpu_gives_the_same_boxes(browser, yolo_site, models):
    """Automatic doesn't take an adapter that is a program; by hand it can be chosen."""
    with open_page(browser, yolo_site.url) as page:
        until(page, "demo.info.note", "the look at WebGPU")
        info = page.evaluate("demo.info")
        assert (info["backend"], info["requested"]) == ("wasm", "auto")
        assert "software" in info["note"]
        choose_webgpu(page)
        assert "WebGPU" in page.inner_text("#backend-shown")
        assert_checked(page)
        assert min(page.evaluate("demo.info.checked.difference").values()) > 0
        [scene] = clear_scenes(models.yolo, 1, start=20)
        last = detect_file(page, encode(scene))
        assert_same(last, expected_detections(models.yolo, scene), pixels=0.5, score=0.005)


@pytest.mark.slow
def test_far_things_are_found_on_webgpu(browser, small_site, models):
    """What Python computed is of the other size, so WebAssembly says what is right."""
    with open_page(browser, small_site.url) as page:
        choose_webgpu(page)
        page.select_option("#range", "far")
        until(page, "demo.ready && demo.info.size[0] === 128", timeout=240)
        assert page.evaluate("demo.info.backend") == "webgpu"
        assert_checked(page, by="WebAssembly")
        expected = expected_detections(models.colour, SCENE)
        assert len(expected) == 2
        assert_same(detect_file(page, encode(SCENE)), expected, pixels=0.5, score=0.005)


def assert_measured(page, small, faster):
    """Assert that automatic takes what it measures to be faster, and detects with it."""
    assert page.evaluate("demo.info.backend") == "wasm"
    until(page, "demo.info.note", "the measurement", timeout=240)
    info = page.evaluate("demo.info")
    assert (info["backend"], info["requested"]) == (faster, "auto")
    assert "measured on this device" in info["note"]
    last = detect_file(page, encode(SCENE))
    assert len(page.workers) == 1
    expected = expected_detections(small, SCENE)
    assert len(expected) == 2
    assert_same(last, expected, pixels=0.5, score=0.005)


# What the page says of a WebGPU that computes wrongly, with the largest difference.
WRONG = "results are not those of Python: they differ by "


@pytest.mark.long
def test_automatic_takes_webgpu_where_it_is_faster_and_checks_it_again_and_again(
    browser, small_site, small
):
    """After so many frames; a graphics processor that begins to compute wrongly is left."""
    with open_page(browser, small_site.url, disguised=True) as page:
        assert_measured(page, small, "webgpu")
        for _ in range(5):
            detect_file(page, encode(SCENE))
        assert page.evaluate("demo.info.checked.times") == 2
        assert "Checked on this device, 2 times:" in page.inner_text("#device-check")
        page.workers[-1].evaluate("self.factor = 1.01")
        for _ in range(5):
            last = detect_file(page, encode(SCENE))
        until(page, "demo.ready && demo.info.backend === 'wasm'", "WebAssembly")
        note = page.inner_text("#backend-note")
        assert note.startswith("WebGPU computes wrongly (")
        assert WRONG in note
        assert_same(last, expected_detections(small, SCENE))


@pytest.mark.long
def test_where_webassembly_is_faster_a_lost_device_is_asked_for_again_and_then_no_more(
    browser, small_site, small
):
    """By hand WebGPU is taken; it is checked again; after the second loss WebAssembly is used."""
    with open_page(browser, small_site.url, disguised=True, slow=True) as page:
        assert_measured(page, small, "wasm")
        choose_webgpu(page)
        for backend, now in (("webgpu", "WebGPU again"), ("wasm", "WebAssembly")):
            assert page.evaluate("demo.info.backend") == "webgpu"
            assert_checked(page)
            page.evaluate("() => { window.infoBefore = demo.info; }")
            page.workers[-1].evaluate("self.device.destroy()")
            until(page, "demo.info !== window.infoBefore && demo.ready", "the model", timeout=240)
            assert page.evaluate("demo.info.backend") == backend
            note = page.inner_text("#backend-note")
            assert note.startswith("The GPU was lost (")
            assert f"the model now runs on {now}." in note
        assert page.locator("#device-check").is_hidden()
        assert_same(detect_file(page, encode(SCENE)), expected_detections(small, SCENE))


def test_a_back_end_that_computes_wrongly_is_not_taken(browser, small_site, small):
    """Neither by itself, however fast it is, nor by hand: boxes stay those of Python."""
    with open_page(browser, small_site.url, disguised=True, factor="1.2") as page:
        until(page, "demo.info.note", "the check", timeout=240)
        note = page.inner_text("#backend-note")
        assert note.startswith("The page stays on WebAssembly")
        assert WRONG in note
        assert page.evaluate("demo.info.backend") == "wasm"
        page.select_option("#backend", "webgpu")
        until(page, "demo.screen === 'no-webgpu' && demo.ready", "the refusal", timeout=240)
        assert WRONG in page.inner_text("#message")
        page.click("#message [data-action='dismiss']")
        assert WRONG in page.inner_text("#backend-note")
        info = page.evaluate("demo.info")
        assert (info["backend"], info["requested"]) == ("wasm", "auto")
        assert_same(detect_file(page, encode(SCENE)), expected_detections(small, SCENE))


@pytest.mark.parametrize(
    ("factor", "said"), [("0", WRONG), ("(self.device.destroy(), 1)", "WebGPU failed: ")]
)
def test_an_output_of_zeros_is_not_taken_and_a_device_may_go_within_the_check(
    browser, small_site, factor, said
):
    with open_page(browser, small_site.url, disguised=True, factor=factor) as page:
        until(page, "demo.info.note", "the check", timeout=240)
        note = page.inner_text("#backend-note")
        assert note.startswith("The page stays on WebAssembly")
        assert said in note
        assert page.evaluate("[demo.info.backend, demo.screen]") == ["wasm", None]
        assert page.locator("#device-check").is_hidden()


# ------------------------------------------------------------------------------ faults of one node


@pytest.mark.long
def test_an_error_of_one_percent_in_any_convolution_exceeds_the_limits(untaught_site, models):
    """Counted in Python: each changes the raw outputs by more than rounding ever does."""
    import onnxruntime

    assets = assets_of((untaught_site.page.parent / FLOATS).read_text())
    own = assets_of((untaught_site.page.parent / "demo_assets/model.js").read_text())
    info = json.loads(assets[f"{WEBGPU_MODEL}-reference"])
    wanted, logits = (
        np.frombuffer(assets[f"{WEBGPU_MODEL}-{kind}"], np.float32)
        for kind in ("outputs", "logits")
    )
    images = input_of(own[info["sample"]], 64)
    model = onnx.load(models.yolo)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    nodes = [node for node in model.graph.node if node.op_type == "Conv"]
    assert len(nodes) > 80
    for node in nodes:
        wrong = onnx.ModelProto.FromString(model.SerializeToString())
        for array in wrong.graph.initializer:
            if array.name in node.input[1:]:
                values = numpy_helper.to_array(array) * np.float32(1.01)
                array.CopyFrom(numpy_helper.from_array(values, array.name))
        data = half_weights(wrong).SerializeToString() + base64.b64decode(info["suffix"])
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        found, before = session.run(None, {"images": images})
        gaps = np.abs(found[0] - wanted.reshape(found.shape)[0])
        most = {"box": gaps[:4].max(), "score": gaps[4:].max()}
        most["logit"] = np.abs(before.ravel() - logits).max()
        assert any(most[kind] > limit for kind, limit in info["limits"].items()), node.name


@pytest.mark.long
def test_the_self_test_tries_webgpu_too(browser, untaught_site):
    """With the same weights in 16 bits."""
    with visit(browser, f"{untaught_site.url}?selftest") as page:
        report = report_of(page, timeout=600)
    [_, webgpu] = report["backends"]
    assert webgpu["outcome"] == "the boxes are Python's"
    assert "swiftshader" in webgpu["adapter"].lower()
    checked = webgpu["checked"]
    for kind, limit in checked["limits"].items():
        assert 0 < checked["difference"][kind] <= limit
    assert report["passed"]


# ------------------------------------------------------------------------------ what is not asked


def test_on_an_iphone_the_page_stays_on_webassembly(browser, small_site):
    agent = "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15"
    with open_page(browser, small_site.url, disguised=True, user_agent=agent) as page:
        until(page, "demo.info.note", "the reason")
        assert "on iphones and ipads" in page.inner_text("#backend-note").lower()
        choose_webgpu(page)


def test_floats_of_another_model_are_not_taken(browser, small, tmp_path):
    """Beside the page of one model lie the floats of another, of the same classes and size."""
    other = tmp_path / "other.onnx"
    proto = colour_detector_onnx(other, 64)
    proto.doc_string = "another export"
    onnx.save(proto, other)
    site = build_site(small, tmp_path / "page", int8=small)
    beside = build_site(other, tmp_path / "beside", int8=other)
    shutil.copy(beside.page.parent / FLOATS, site.page.parent / FLOATS)
    with open_page(browser, site.url, disguised=True) as page:
        until(page, "demo.info.note", "the look at WebGPU")
        assert page.evaluate("demo.info.backend") == "wasm"
        assert "are of another model (made of other.onnx" in page.inner_text("#backend-note")
