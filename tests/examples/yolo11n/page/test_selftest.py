"""The page's self-test, which compares what a browser computes with what Python computed."""

import json
from functools import partial

import pytest

from tests.examples.yolo11n.page.browsers import (
    assert_exact,
    open_firefox,
    report_of,
    visit,
)

pytestmark = pytest.mark.browser

PROTECTION = "privacy.fingerprintingProtection"
# Canvases that give random pixels, and so that there is no other way.
FIREFOXES = {
    "canvas": {PROTECTION: True, f"{PROTECTION}.overrides": "+AllTargets,-WebCodecs"},
    "everything": {"privacy.resistFingerprinting": True},
}
# Functions that open them; the names are those of the tests.
WAYS = {f"firefox {name}": partial(open_firefox, FIREFOXES[name]) for name in FIREFOXES}

# What pages read from canvases is changed, in workers too.
CHANGED_PIXELS = """
const Plain = Blob;
window.Blob = class extends Plain {
  constructor(parts, options) {
    const noise = `{
      const { prototype } = OffscreenCanvasRenderingContext2D;
      const read = prototype.getImageData;
      prototype.getImageData = function (...given) {
        const pixels = read.apply(this, given);
        for (let k = 0; k < pixels.data.length; k++) pixels.data[k] ^= (k * 37) & 255;
        return pixels;
      };
    }`;
    super(options?.type === "text/javascript" ? [noise, ...parts] : parts, options);
  }
};
"""
WITHOUT_FRAMES = CHANGED_PIXELS.replace(
    "const noise = `{", "const noise = `delete self.VideoFrame; {"
)


def test_the_report_says_device_browser_versions_and_differences(browser, untaught_site):
    """By the button, too; nothing in it is a picture."""
    with visit(browser, f"{untaught_site.single_url}?selftest") as page:
        report = report_of(page)
        assert_exact(report)
        assert "Chrome/" in report["browser"]["userAgent"]
        assert report["device"]["cores"] > 0
        assert report["versions"]["onnxruntimeWeb"].startswith("1.")
        assert len(report["versions"]["program"]) == 8
        wasm, webgpu = report["backends"]
        assert wasm["model"]["file"] == "yolo.onnx"
        assert webgpu["reason"] == "the browser found no graphics adapter for WebGPU"
        assert len(json.dumps(report)) < 5000
        assert "data:" not in json.dumps(report)
        assert page.locator("#link-note").is_hidden()
        page.evaluate("() => document.querySelector('#selftest-result').textContent = ''")
        page.click("#selftest")
        assert_exact(report_of(page))
        assert page.inner_text("#selftest-note") == "Self-test passed."
        assert page.evaluate("[demo.screen, demo.errors]") == [None, []]


@pytest.mark.parametrize(
    "browser",
    [
        pytest.param(way, marks=() if "everything" in name else pytest.mark.long)
        for name, way in WAYS.items()
    ],
    ids=WAYS,
    indirect=True,
)
def test_in_a_firefox_that_changes_pixels(browser, untaught_site, request):
    """Boxes are Python's where any way gives the pixels as they are; else the page says so."""
    with visit(browser, f"{untaught_site.single_url}?selftest") as page:
        report = report_of(page)
        if "everything" not in request.node.name:
            assert_exact(report, "frame")
            assert page.locator("#pixels-note").is_hidden()
            return
        assert report["pixels"] == {"canvasGivesWhatWasDrawn": False, "readBy": "changed"}
        assert not report["passed"]
        assert page.inner_text("#selftest-note").startswith("Self-test failed")
        assert "resistFingerprinting" in page.inner_text("#pixels-note")


@pytest.mark.parametrize("script", [CHANGED_PIXELS, WITHOUT_FRAMES], ids=["frames", "no frames"])
def test_a_chromium_that_changes_what_is_read_of_a_canvas(browser, untaught_site, script):
    with visit(browser, f"{untaught_site.single_url}?selftest", script=script) as page:
        report = report_of(page)
        if script == CHANGED_PIXELS:
            assert_exact(report, "frame")
        else:
            assert (report["passed"], report["pixels"]["readBy"]) == (False, "changed")
            assert page.locator("#pixels-note").is_visible()
