"""The page on WebGPU, which Chromium computes with the processor here.

Slow: shaders are compiled in the first run, and every run takes a part of a second.  The real
network has a hundred of them: one test takes it, the others a detector of colours with a small
input.
"""

import shutil
from contextlib import ExitStack

import onnx
import pytest
from tools.build_demo import FLOATS, build

from tests.examples.yolo11n.page.browsers import detect_file, open_browser, ready_page, until
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

# Workers remember the device that they ask for, and what they read from it is multiplied by FACTOR.
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
      if (FACTOR === 1 || !(this.usage & GPUBufferUsage.MAP_READ)) return range;
      const numbers = new Float32Array(range);
      for (let k = 0; k < numbers.length; k++) numbers[k] *= FACTOR;
      return range;
    };`;
  const Plain = Blob;
  window.Blob = class extends Plain {
    constructor(parts, options) {
      const script = options?.type === "text/javascript";
      super(script ? [`{${remember}}`, ...parts] : parts, options);
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
def small_site(small, once):
    return site_in(once("small_site", lambda folder: build_site(small, folder)))


def open_page(stack, url, disguised="false", slow="false", factor="1"):
    browser = stack.enter_context(open_browser(webgpu=True))
    script = PREPARE.replace("DISGUISED", disguised).replace("SLOW", slow)
    script = script.replace("FACTOR", factor)
    return stack.enter_context(ready_page(browser, url, script=script))


def test_webgpu_gives_the_same_boxes(yolo_site, models):
    """Automatic doesn't take an adapter that is a program; by hand it can be chosen."""
    with ExitStack() as stack:
        page = open_page(stack, yolo_site.url)
        until(page, "demo.info.note", "the look at WebGPU")
        info = page.evaluate("demo.info")
        assert (info["backend"], info["requested"]) == ("wasm", "auto")
        assert "software" in info["note"]
        page.select_option("#backend", "webgpu")
        until(page, "demo.ready && demo.info.requested === 'webgpu'", timeout=240)
        assert page.evaluate("demo.info.backend") == "webgpu"
        assert "WebGPU" in page.inner_text("#backend-shown")
        assert "WebGPU differs from WebAssembly by at most" in page.inner_text("#backend-note")
        difference = page.evaluate("demo.info.difference")
        assert 0 < difference["box"] < 0.05
        assert 0 < difference["score"] < 0.0005
        [scene] = clear_scenes(models.yolo, 1, start=20)
        last = detect_file(page, encode(scene))
        assert_same(last, expected_detections(models.yolo, scene), pixels=0.5, score=0.005)


def test_a_device_that_is_lost_is_asked_for_again(small_site, small):
    with ExitStack() as stack:
        page = open_page(stack, small_site.url)
        page.select_option("#backend", "webgpu")
        until(page, "demo.ready && demo.info.requested === 'webgpu'", timeout=240)
        assert page.evaluate("demo.info.backend") == "webgpu"
        page.evaluate("() => { window.infoBefore = demo.info; }")
        page.workers[-1].evaluate("self.device.destroy()")
        until(page, "demo.info !== window.infoBefore && demo.ready", "the model", timeout=240)
        assert "lost" in page.inner_text("#backend-note")
        last = detect_file(page, encode(SCENE))
        assert_same(last, expected_detections(small, SCENE), pixels=0.5, score=0.005)


@pytest.mark.parametrize("faster", ["webgpu", "wasm"])
def test_automatic_takes_what_is_faster_on_this_device(small_site, small, faster):
    with ExitStack() as stack:
        page = open_page(stack, small_site.url, "true", "true" if faster == "wasm" else "false")
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


def test_a_back_end_that_computes_wrongly_is_not_taken(small_site, small):
    """Neither by itself, however fast it is, nor by hand: boxes stay those of Python."""
    with ExitStack() as stack:
        page = open_page(stack, small_site.url, "true", factor="1.2")
        until(page, "demo.info.note", "the comparison", timeout=240)
        wrong = "results are not those of WebAssembly"
        assert wrong in page.inner_text("#backend-note")
        assert page.evaluate("demo.info.backend") == "wasm"
        page.select_option("#backend", "webgpu")
        until(page, "demo.screen === 'no-webgpu' && demo.ready", "the refusal", timeout=240)
        assert wrong in page.inner_text("#message")
        page.click("#message [data-action='dismiss']")
        assert wrong in page.inner_text("#backend-note")
        info = page.evaluate("demo.info")
        assert (info["backend"], info["requested"]) == ("wasm", "auto")
        assert_same(detect_file(page, encode(SCENE)), expected_detections(small, SCENE))


def test_floats_of_another_model_are_not_taken(small, tmp_path):
    """Beside the page of one model lie the floats of another, of the same classes and size."""
    other = tmp_path / "other.onnx"
    proto = colour_detector_onnx(other, 64)
    proto.doc_string = "another export"
    onnx.save(proto, other)
    site = build(small, tmp_path / "page", int8=small)
    beside = build(other, tmp_path / "beside", int8=other)
    shutil.copy(beside["page"].parent / FLOATS, site["page"].parent / FLOATS)
    with ExitStack() as stack:
        page = open_page(stack, site["page"].as_uri(), "true")
        until(page, "demo.info.note", "the look at WebGPU")
        assert page.evaluate("demo.info.backend") == "wasm"
        assert "are of another model (made of other.onnx" in page.inner_text("#backend-note")
