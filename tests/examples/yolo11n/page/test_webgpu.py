"""The page on WebGPU, which Chromium computes with the processor here.

Slow: shaders are compiled in the first run, and every run takes a part of a second.
"""

from contextlib import ExitStack

import pytest

from tests.examples.yolo11n.page.browsers import detect_file, open_browser, ready_page, until
from tests.examples.yolo11n.page.detectors import (
    assert_same,
    clear_scenes,
    encode,
    expected_detections,
)

pytestmark = pytest.mark.browser

# Workers remember the device that they ask for. If wanted, an adapter passes for a real one, and of
# a measurement the second worker says that it took no time, or very long.
PREPARE = """
(() => {
  const remember = `const request = GPUAdapter.prototype.requestDevice;
    GPUAdapter.prototype.requestDevice = async function (...given) {
      self.device = await request.apply(this, given);
      return self.device;
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


def open_page(stack, yolo_site, disguised="false", slow="false"):
    browser = stack.enter_context(open_browser(webgpu=True))
    script = PREPARE.replace("DISGUISED", disguised).replace("SLOW", slow)
    return stack.enter_context(ready_page(browser, yolo_site.url, script=script))


def test_webgpu_gives_the_same_boxes_and_can_be_lost(yolo_site, models):
    """Automatic doesn't take an adapter that is a program; by hand it can be chosen."""
    with ExitStack() as stack:
        page = open_page(stack, yolo_site)
        until(page, "demo.info.note", "the look at WebGPU")
        info = page.evaluate("demo.info")
        assert (info["backend"], info["requested"]) == ("wasm", "auto")
        assert "software" in info["note"]
        page.select_option("#backend", "webgpu")
        until(page, "demo.ready && demo.info.requested === 'webgpu'", timeout=240)
        assert page.evaluate("demo.info.backend") == "webgpu"
        assert "WebGPU" in page.inner_text("#backend-shown")
        first, second = clear_scenes(models.yolo, 2, start=20)
        last = detect_file(page, encode(first))
        assert_same(last, expected_detections(models.yolo, first), pixels=0.5, score=0.005)

        page.evaluate("() => { window.infoBefore = demo.info; }")
        page.workers[-1].evaluate("self.device.destroy()")
        until(page, "demo.info !== window.infoBefore && demo.ready", "the model", timeout=240)
        assert "lost" in page.inner_text("#backend-note")
        last = detect_file(page, encode(second))
        assert_same(last, expected_detections(models.yolo, second), pixels=0.5, score=0.005)


@pytest.mark.parametrize("faster", ["webgpu", "wasm"])
def test_automatic_takes_what_is_faster_on_this_device(yolo_site, models, faster):
    with ExitStack() as stack:
        page = open_page(stack, yolo_site, "true", "true" if faster == "wasm" else "false")
        assert page.evaluate("demo.info.backend") == "wasm"
        until(page, "demo.info.note", "the measurement", timeout=240)
        info = page.evaluate("demo.info")
        assert (info["backend"], info["requested"]) == (faster, "auto")
        assert "measured on this device" in info["note"]
        (scene,) = clear_scenes(models.yolo, 1, start=20)
        last = detect_file(page, encode(scene))
        assert len(page.workers) == 1
        assert_same(last, expected_detections(models.yolo, scene), pixels=0.5, score=0.005)
