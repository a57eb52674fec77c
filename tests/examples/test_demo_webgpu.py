"""The demo page on WebGPU, which Chromium computes with the processor here.

Slow: shaders are compiled in the first run, and every run takes a part of a second.
"""

import pytest

from tests.examples.demo_browser import (
    as_rows,
    assert_same,
    choose_model,
    clear_scenes,
    detect_file,
    encode,
    expected_detections,
    open_browser,
    until,
    wait_ready,
)

PATIENCE = 180.0


@pytest.fixture(scope="module")
def webgpu():
    with open_browser(webgpu=True) as browser:
        yield browser


def choose_backend(page, name):
    page.select_option("#backend", name)
    until(page, f"demo.info && demo.info.requested === '{name}' && demo.ready", PATIENCE, name)
    return page.evaluate("demo.info")


def test_webgpu(webgpu, demo_site, demo_models):
    """Same boxes as Python; another model; a lost device, after which the page goes on."""
    with webgpu.visit(demo_site.url) as page:
        info = wait_ready(page)
        # An adapter computed by the processor is no gain: automatic doesn't take it, and says so.
        assert (info["backend"], info["requested"]) == ("wasm", "auto")
        assert "software" in info["note"].lower() or "fallback" in info["note"].lower()

        info = choose_backend(page, "webgpu")
        assert info["backend"] == "webgpu"
        assert "webgpu" in page.inner_text("#backend-shown").lower()
        for image in clear_scenes(demo_models.yolo, 3, start=20):
            last = detect_file(page, encode(image))
            assert_same(as_rows(last), expected_detections(demo_models.yolo, image))

        lose_device(page)
        image = next(iter(clear_scenes(demo_models.yolo, 1, start=40)))
        last = detect_file(page, encode(image))
        assert_same(as_rows(last), expected_detections(demo_models.yolo, image))


def lose_device(page):
    """Destroy the device from within the worker, and wait until the page works again."""
    page.evaluate("() => { window.infoBefore = demo.info; }")
    (worker,) = page.workers
    worker.evaluate("async () => { (await ort.env.webgpu.device).destroy(); }")
    until(page, "demo.info !== window.infoBefore && demo.ready", PATIENCE, "the model again")


def test_other_models_on_webgpu(webgpu, colour_site, demo_models):
    """The device outlives the change of models."""
    with webgpu.visit(colour_site.url) as page:
        wait_ready(page)
        assert choose_backend(page, "webgpu")["backend"] == "webgpu"
        info = choose_model(page, demo_models.colour, "again.onnx")
        assert info["backend"] == "webgpu"
        page.wait_for_timeout(500)
        assert page.evaluate("demo.screen") is None
        assert page.evaluate("demo.errors") == []
        assert choose_backend(page, "wasm")["backend"] == "wasm"
