"""What the page says when something is missing or wrong, and that it goes on afterwards."""

import shutil

import pytest

from tests.examples.yolo11n.page.browsers import (
    detect_file,
    file_of,
    ready_page,
    screenshot,
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

pytestmark = pytest.mark.browser

PICTURE = blob_picture(320, 240, [(GREEN, 110, 130, 50)])


def assert_goes_on(page, models):
    """A picture takes the message's place."""
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
