"""The page on WebGPU, which Chromium computes with the processor here.

Slow: shaders are compiled in the first run, and every run takes a part of a second.
"""

import pytest

from tests.examples.yolo11n.page.browsers import detect_file, open_browser, ready_page, until
from tests.examples.yolo11n.page.detectors import (
    assert_same,
    clear_scenes,
    encode,
    expected_detections,
)

pytestmark = pytest.mark.browser

# Remembers the device that the worker will ask for.
WATCH_DEVICE = """() => {
  const request = GPUAdapter.prototype.requestDevice;
  GPUAdapter.prototype.requestDevice = async function (...given) {
    self.device = await request.apply(this, given);
    return self.device;
  };
}"""


def test_webgpu_gives_the_same_boxes_and_can_be_lost(yolo_site, models):
    """Automatic doesn't take an adapter that is a program; by hand it can be chosen."""
    with (
        open_browser(webgpu=True) as browser,
        ready_page(browser, yolo_site.url) as page,
    ):
        info = page.evaluate("demo.info")
        assert (info["backend"], info["requested"]) == ("wasm", "auto")
        assert "software" in info["note"]
        page.workers[0].evaluate(WATCH_DEVICE)
        page.select_option("#backend", "webgpu")
        until(page, "demo.ready && demo.info.requested === 'webgpu'", timeout=240)
        assert page.evaluate("demo.info.backend") == "webgpu"
        assert "WebGPU" in page.inner_text("#backend-shown")
        first, second = clear_scenes(models.yolo, 2, start=20)
        last = detect_file(page, encode(first))
        assert_same(last, expected_detections(models.yolo, first), pixels=0.5, score=0.005)

        page.evaluate("() => { window.infoBefore = demo.info; }")
        page.workers[0].evaluate("self.device.destroy()")
        until(page, "demo.info !== window.infoBefore && demo.ready", "the model", timeout=240)
        assert "lost" in page.inner_text("#backend-note")
        last = detect_file(page, encode(second))
        assert_same(last, expected_detections(models.yolo, second), pixels=0.5, score=0.005)
