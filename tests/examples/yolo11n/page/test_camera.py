"""The page with a camera: Chromium plays a film of a moving green square as one."""

import os
from pathlib import Path

import numpy as np
import pytest

from tests.examples.yolo11n.page.browsers import (
    after,
    choose_sample,
    decode_data_url,
    open_browser,
    ready_page,
    screenshot,
    until,
    wait_screen,
)
from tests.examples.yolo11n.page.detectors import (
    GREEN,
    blob_picture,
    find_blob,
    page_detections,
    write_y4m,
)

pytestmark = pytest.mark.browser

WIDTH, HEIGHT, SIDE = 640, 480, 90
LINE = (47, 139, 255)  # colour of the page's first class without one of its own
# The stage, the detections drawn on it and what they belong to, at one moment.
MOMENT = """() => ({
  last: demo.last,
  frames: demo.frames,
  stage: document.querySelector("#stage").toDataURL("image/png"),
})"""


def path_of_square(count=40):
    """Return centres, with no position twice and no symmetry between left and right."""
    angle = np.linspace(0, 2 * np.pi, count, endpoint=False)
    x = WIDTH / 2 + 230 * np.cos(angle)
    y = HEIGHT / 2 + 150 * np.sin(angle) + 30 * np.cos(2 * angle)
    return np.stack([x, y], axis=1).round()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    film = tmp_path_factory.mktemp("film") / "square.y4m"
    pictures = [blob_picture(WIDTH, HEIGHT, [(GREEN, x, y, SIDE)]) for x, y in path_of_square()]
    write_y4m(film, pictures)
    with open_browser(camera=film) as browser:
        yield browser


@pytest.fixture(scope="module")
def open_page(browser, colour_site):
    with ready_page(browser, colour_site.url, permissions=["camera"]) as page:
        yield page


@pytest.fixture
def page(open_page):
    """Yield the one page, with the camera closed and a sample on the stage."""
    choose_sample(open_page, 2)
    until(open_page, "demo.state === 'ready'")
    open_page.evaluate("() => document.activeElement.blur()")
    yield open_page
    assert open_page.evaluate("[demo.screen, demo.errors]") == [None, []]


def start(page):
    frames = page.evaluate("demo.frames")
    page.click("#start")
    until(page, f"demo.state === 'running' && demo.frames > {frames}", "the camera's frames")


def test_a_refused_camera_is_asked_for_again(browser, colour_site, tmp_path):
    with ready_page(browser, colour_site.url) as page:
        page.click("#start")
        assert "allow" in wait_screen(page, "camera-refused").lower()
        screenshot(page, "camera-refused", tmp_path)
        page.context.grant_permissions(["camera"])
        page.click("#message [data-action='retry-camera']")
        until(page, "demo.state === 'running'")


@pytest.mark.parametrize("mirrored", [True, False])
def test_boxes_are_drawn_on_their_own_frame(page, mirrored, tmp_path):
    """On every frame the box is where that frame, not the one before or after, has the square."""
    page.set_checked("#mirror", mirrored)  # before the camera is open, and it stays so
    start(page)
    assert page.evaluate("demo.last.mirrored") is mirrored
    centres, frames = [], page.evaluate("demo.frames")
    for _ in range(8):
        until(page, f"demo.frames > {frames}", "the next frame")
        moment = page.evaluate(MOMENT)
        frames = moment["frames"]
        stage = decode_data_url(moment["stage"])
        scale = stage.shape[1] / WIDTH
        (row,) = page_detections(moment["last"])
        shown = row[:4].copy()
        if mirrored:
            shown[[0, 2]] = WIDTH - shown[[2, 0]]
        # The square moves by at least 16 pixels a frame.
        drawn = np.array(find_blob(stage, GREEN, tolerance=90)) / scale
        assert np.abs(shown - drawn).max() < 8
        # So is the lower line of the box, in the colour of its class.
        top = round((shown[3] - 4) * scale)
        line = find_blob(stage[top : top + round(8 * scale)], LINE)
        assert np.abs(np.array([line[0], line[2]]) / scale - shown[[0, 2]]).max() < 8
        centres.append((row[:2] + row[2:4]) / 2)
    assert np.ptp(centres, axis=0).max() > 50  # it did move
    # In the picture's own pixels every centre is one of the film's.
    off = np.abs(np.array(centres)[:, None] - path_of_square()[None]).max(axis=2).min(axis=1)
    assert off.max() < 8
    screenshot(page, f"camera{'-mirrored' if mirrored else ''}", tmp_path)


def test_start_stop_and_step_by_buttons_and_keys(page):
    start(page)
    page.wait_for_timeout(600)
    for name in ("frame-ms", "time-inference", "time-pre", "time-post"):
        assert float(page.inner_text(f"#{name}")) >= 0, name
    assert page.evaluate("demo.last.title") in page.locator("#camera-select").inner_text()
    page.click("#stop")
    until(page, "demo.state === 'paused'")
    assert page.evaluate("document.querySelector('video').srcObject") is None
    page.wait_for_timeout(100)
    frames = page.evaluate("demo.frames")
    seen = []
    for step in range(3):
        last = after(page, lambda: page.click("#step"))
        assert page.evaluate("demo.frames") == frames + step + 1
        seen.append(page_detections(last))
        page.wait_for_timeout(150)
    assert np.abs(seen[2] - seen[1]).max() > 3  # not the same frame again
    assert page.evaluate("demo.state") == "paused"
    page.evaluate("() => document.activeElement.blur()")
    page.locator("body").press("Space")
    until(page, f"demo.state === 'running' && demo.frames > {frames + 4}")
    page.locator("body").press("Space")
    until(page, "demo.state === 'paused'")


@pytest.mark.long
def test_a_camera_left_running_takes_no_more_memory(browser, page):
    """For CAMERA_SECONDS, or a minute; what the page's process shares with no other one."""
    start(page)
    session = browser.new_browser_cdp_session()
    frames, sizes = page.evaluate("demo.frames"), []
    for _ in range(60):
        page.wait_for_timeout(1000 / 60 * float(os.environ.get("CAMERA_SECONDS", 60)))
        processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
        files = [f"/proc/{p['id']}/smaps_rollup" for p in processes if p["type"] == "renderer"]
        own = [int(Path(file).read_text().split("Pss_Anon:")[1].split()[0]) for file in files]
        sizes.append(max(own) / 1024)  # megabytes; until it is collected, garbage is among them
    assert page.evaluate("demo.frames") > frames + 60
    assert np.median(sizes[40:]) - np.median(sizes[20:40]) < 10, sizes
