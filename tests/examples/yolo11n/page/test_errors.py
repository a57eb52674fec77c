"""What the page says when something is missing or wrong, and that it goes on afterwards."""

import shutil

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.examples.yolo11n.page.browsers import (
    detect_file,
    file_of,
    ready_page,
    screenshot,
    serve,
    until,
    visit,
    wait_screen,
)
from tests.examples.yolo11n.page.detectors import (
    GREEN,
    assert_same,
    blob_picture,
    encode,
    expected_detections,
)
from tests.examples.yolo11n.small_models import make_model

pytestmark = pytest.mark.browser

PICTURE = blob_picture(320, 240, [(GREEN, 110, 130, 50)])


def assert_goes_on(page, models):
    """Check that a picture takes the message's place."""
    assert_same(detect_file(page, encode(PICTURE)), expected_detections(models.colour, PICTURE))
    assert page.evaluate("demo.screen") is None
    assert page.locator("#message").is_hidden()


def test_no_camera_and_then_another_failure(colours, models, tmp_path):
    for _ in range(2):  # asked again, not remembered
        colours.click("#start")
        assert "no camera" in wait_screen(colours, "no-camera").lower()
        screenshot(colours, "no-camera", tmp_path)
        colours.set_input_files("#model-file", file_of(b"", "second.onnx"))
        assert "second.onnx" in wait_screen(colours, "model-broken")
        assert_goes_on(colours, models)


def test_a_worker_that_fails_is_started_again(browser, colour_site, models):
    with ready_page(browser, colour_site.url) as page:
        page.workers[0].evaluate("void setTimeout(() => { throw new Error('boom'); })")
        page.wait_for_timeout(300)
        page.set_input_files("#image-file", file_of(encode(PICTURE), "picture.png"))
        assert "boom" in wait_screen(page, "runtime")
        page.click("#message [data-action='reload-model']")
        until(page, "demo.ready && demo.screen === null")
        assert_goes_on(page, models)


def test_in_a_sandboxed_frame(browser, colour_site):
    """It detects, keeps nothing, and doesn't say that it has saved what may be blocked."""
    with serve(colour_site.single_file) as (_, address):
        outer = f'<iframe sandbox="allow-scripts" src="{address}"></iframe>'
        expected = ["Download is disallowed", "404"]  # no icon
        with visit(browser, f"{address}sw.js", complaints=expected) as page:
            page.evaluate("html => { document.body.innerHTML = html; }", outer)
            until(page, "window.frames.length === 1")
            frame = page.frames[1]
            until(frame, "window.demo && demo.ready && demo.last", "the first sample")
            frame.evaluate("() => document.querySelector('#snapshot').click()")
            status = "document.querySelector('#status').textContent"
            until(frame, f"{status}.startsWith('Handed to the browser; if no file was saved')")
            assert frame.evaluate("demo.errors") == []
            assert frame.evaluate("document.querySelector('#offline-card').hidden")


def varying_boxes(path):
    """Write a model with 0 to 3 finished boxes, without a batch: the more, the brighter."""
    boxes = [[8, 8, 24, 24, 0.9, 0], [4, 4, 12, 12, 0.8, 1], [16, 4, 28, 12, 0.7, 1]]
    nodes = [
        helper.make_node("ReduceMean", ["images"], ["mean"], keepdims=0),
        helper.make_node("Less", ["steps", "mean"], ["wanted"]),
        helper.make_node("Compress", ["boxes", "wanted"], ["output0"], axis=0),
    ]
    constants = {"steps": np.float32([0.5, 0.7, 0.9]), "boxes": np.float32(boxes)}
    ends = {"images": [1, 3, 32, 32]}, {"output0": ["found", 6]}
    onnx.save(make_model(nodes, constants, *ends, names="{0: 'one', 1: 'two'}"), path)
    return path


def test_a_model_that_gives_another_number_of_boxes_each_time(colours, tmp_path):
    """None for the grey picture that it is tried with; then three, none, one."""
    colours.set_input_files("#model-file", varying_boxes(tmp_path / "varying.onnx"))
    until(colours, "demo.ready && demo.info.modelName === 'varying.onnx'", "the model")
    for level, count in ((255, 3), (20, 0), (150, 1)):
        last = detect_file(colours, encode(np.full((32, 32, 3), level, np.uint8)))
        assert len(last["detections"]) == count
    colours.click("#model-builtin")
    until(colours, "demo.ready && demo.info.modelName === 'built-in model'", "the model")


def test_an_asset_that_is_damaged(browser, colour_site, tmp_path):
    """A download that broke off: the page says what is damaged and how to make it again."""
    (tmp_path / "cut.html").write_text(colour_site.single_file.read_text()[:-600_000])
    for name in ("model", "runtime"):
        shutil.copytree(colour_site.page.parent, tmp_path / name)
        script = tmp_path / name / f"demo_assets/{name}.js"
        script.write_text(script.read_text().replace("AA", "!!"))
    for file in (*tmp_path.glob("*.html"), *tmp_path.glob("*/yolo_detection_demo.html")):
        with visit(browser, file.as_uri(), complaints=["Content Security Policy"]) as page:
            assert "python -m tools.build_demo" in wait_screen(page, "no-assets")


def test_an_error_in_the_console_ends_what_a_test_waits_for(browser):
    """The test says it, and not that something didn't come."""
    url = "data:text/html,<script>throw new Error('boom')</script>"
    with pytest.raises(AssertionError, match=r"uncaught: .*boom"), visit(browser, url) as page:
        until(page, "false")
