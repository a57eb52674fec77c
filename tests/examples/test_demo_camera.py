"""The demo page with a camera: Chromium plays a film of a moving green square as one."""

from itertools import pairwise

import numpy as np
import pytest

from tests.examples.demo_browser import (
    GREEN,
    after,
    as_rows,
    blob_picture,
    choose_sample,
    decode_data_url,
    find_blob,
    open_browser,
    ready_page,
    screenshot,
    until,
    write_y4m,
)

WIDTH, HEIGHT, SIDE = 640, 480, 90
LINE = (47, 139, 255)  # colour of the page's first class without one of its own
# The stage, the detections drawn on it and what they belong to, at one moment.
MOMENT = """() => ({
  last: demo.last,
  frames: demo.frames,
  stage: document.querySelector("#stage").toDataURL("image/png"),
})"""


def path_of_square(count=40):
    """Centres, with no position twice and no symmetry between left and right."""
    angle = np.linspace(0, 2 * np.pi, count, endpoint=False)
    x = WIDTH / 2 + 230 * np.cos(angle)
    y = HEIGHT / 2 + 150 * np.sin(angle) + 30 * np.cos(2 * angle)
    return np.stack([x, y], axis=1).round()


@pytest.fixture(scope="module")
def camera(tmp_path_factory):
    film = tmp_path_factory.mktemp("film") / "square.y4m"
    write_y4m(
        film,
        [blob_picture(WIDTH, HEIGHT, [(GREEN, x, y, SIDE)]) for x, y in path_of_square()],
    )
    with open_browser(camera=film) as browser:
        yield browser


@pytest.fixture(scope="module")
def open_page(camera, colour_site):
    with ready_page(camera, colour_site) as page:
        yield page


@pytest.fixture
def page(open_page):
    """The one page, with the camera closed and a sample on the stage."""
    choose_sample(open_page, 2)
    until(open_page, "demo.state === 'ready'")
    open_page.evaluate("() => document.activeElement.blur()")
    yield open_page
    assert open_page.log.complaints == []


def start(page):
    frames = page.evaluate("demo.frames")
    page.click("#start")
    until(page, f"demo.state === 'running' && demo.frames > {frames}", what="the camera's frames")


def moments(page, count):
    """That many different frames, each as (drawn picture, detections (n, 6), scale)."""
    seen = []
    frames = page.evaluate("demo.frames")
    for _ in range(count):
        until(page, f"demo.frames > {frames}", what="the next frame")
        moment = page.evaluate(MOMENT)
        frames = moment["frames"]
        stage = decode_data_url(moment["stage"])
        assert moment["last"]["frame"] <= frames
        assert (moment["last"]["width"], moment["last"]["height"]) == (WIDTH, HEIGHT)
        scale = stage.shape[1] / WIDTH
        assert stage.shape == (HEIGHT * scale, WIDTH * scale, 3)
        seen.append((stage, as_rows(moment["last"]), scale))
    return seen


def drawn_square(stage, scale):
    """Box of the square as the stage shows it, in the picture's pixels."""
    box = find_blob(stage, GREEN, tolerance=90)
    assert box is not None
    return np.array(box) / scale


def drawn_bottom_line(stage, scale, y):
    """Ends of the box's lower line as the stage shows it, in the picture's pixels."""
    top = round((y - 4) * scale)
    line = find_blob(stage[top : top + round(8 * scale)], LINE)
    assert line is not None
    return line[0] / scale, line[2] / scale


@pytest.mark.parametrize("mirrored", [True, False])
def test_boxes_are_drawn_on_their_own_frame(page, mirrored, tmp_path):
    """On every frame the box is where that frame, not the one before or after, has the square."""
    page.set_checked("#mirror", mirrored)  # before the camera is open, and it stays so
    start(page)
    assert page.evaluate("demo.last.mirrored") is mirrored
    seen = moments(page, 12)
    centres = []
    for stage, rows, scale in seen:
        assert len(rows) == 1
        shown = rows[0, :4].copy()
        if mirrored:
            shown[[0, 2]] = WIDTH - shown[[2, 0]]
        # The square moves by at least 16 pixels a frame.
        assert np.abs(shown - drawn_square(stage, scale)).max() < 8
        left, right = drawn_bottom_line(stage, scale, shown[3])
        assert abs(left - shown[0]) < 8
        assert abs(right - shown[2]) < 8
        centres.append((rows[0, 0] + rows[0, 2], rows[0, 1] + rows[0, 3]))
    centres = np.array(centres) / 2
    assert np.ptp(centres, axis=0).max() > 100  # it did move
    # In the picture's own pixels every centre is one of the film's.
    off = np.abs(centres[:, None] - path_of_square()[None]).max(axis=2).min(axis=1)
    assert off.max() < 8
    screenshot(page, f"camera{'-mirrored' if mirrored else ''}", tmp_path)


def test_mirrored_by_choice(page):
    """The two ways of showing are mirror images; letters of the labels are not mirrored."""
    start(page)
    page.click("#step")
    until(page, "demo.state === 'paused'")
    # A frame may have been under way; the step's own comes after it.
    until(page, "document.querySelector('#status').textContent.includes('One frame of')")
    shown = {}
    for mirrored in (False, True):
        if page.is_checked("#mirror") != mirrored:
            after(page, lambda mirrored=mirrored: page.set_checked("#mirror", mirrored))
        shown[mirrored] = decode_data_url(page.evaluate(MOMENT)["stage"])
    box = {
        key: np.array(find_blob(stage, GREEN, tolerance=90), int) for key, stage in shown.items()
    }
    width = shown[True].shape[1]
    flipped = box[True].copy()
    flipped[[0, 2]] = width - box[True][[2, 0]]
    assert np.abs(flipped - box[False]).max() <= 3
    assert np.abs(box[True] - box[False]).max() > 20


def test_start_stop_step(page):
    assert page.is_enabled("#start")
    start(page)
    assert page.is_enabled("#stop")
    page.click("#stop")
    until(page, "demo.state === 'paused'")
    page.wait_for_timeout(100)
    frames = page.evaluate("demo.frames")
    page.wait_for_timeout(500)
    assert page.evaluate("demo.frames") == frames
    seen = []
    for step in range(3):
        last = after(page, lambda: page.click("#step"))
        assert page.evaluate("demo.frames") == frames + step + 1
        assert len(last["detections"]) == 1
        seen.append(as_rows(last))
        page.wait_for_timeout(150)
    # Not the same frame again. (The camera opened anew for the first step, with the film's start.)
    for previous, present in pairwise(seen):
        assert np.abs(present - previous).max() > 3
    assert page.evaluate("demo.frames") == frames + 3
    assert page.evaluate("demo.state") == "paused"
    page.click("#start")
    until(page, f"demo.frames > {frames + 4}")


def test_double_click_opens_one_camera(page):
    """Of two cameras that were asked for at once the later one stays, and nothing complains."""
    frames = page.evaluate("demo.frames")
    page.evaluate("() => { for (let k = 0; k < 2; k++) document.querySelector('#start').click(); }")
    until(page, f"demo.state === 'running' && demo.frames > {frames + 3}")
    assert page.evaluate("demo.screen") is None
    assert page.evaluate("demo.errors") == []


def test_picture_chosen_while_the_camera_opens(page):
    """It stays, and the camera that comes too late is closed."""
    script = """(delay) => {
      document.querySelector("#start").click();
      setTimeout(() => document.querySelector("#samples [data-sample='1']").click(), delay);
    }"""
    for delay in (0, 20, 40, 80):
        page.evaluate(script, delay)
        page.wait_for_timeout(400 + delay)
        until(page, "demo.state === 'ready' && demo.last.width === 640")
        assert page.evaluate("demo.last.title").startswith("Sample")
        assert page.evaluate("document.querySelector('video').srcObject") is None
        assert page.evaluate("demo.screen") is None
    assert page.evaluate("demo.errors") == []


def test_a_frame_that_came_during_a_detection_is_next(page):
    """Without waiting for one more, or a slow detector would lose every other moment."""
    script = """async () => {
      const feed = document.querySelector("#feed");
      const detect = Detector.prototype.detect;
      const nextFrame = () => new Promise((resolve) => feed.requestVideoFrameCallback(resolve));
      let calls = 0;
      await new Promise((resolve) => {
        Detector.prototype.detect = async function (...parameters) {
          calls += 1;
          const result = await detect.apply(this, parameters);
          if (calls === 1) {
            for (let frame = 0; frame < 3; frame += 1) await nextFrame();
            feed.pause(); // no other frame comes
            await new Promise((settled) => setTimeout(settled, 300));
            resolve();
          }
          return result;
        };
      });
      const patience = performance.now() + 10000;
      while (calls < 2 && performance.now() < patience) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      Detector.prototype.detect = detect;
      return calls;
    }"""
    start(page)
    assert page.evaluate(script) == 2


def test_keys(page):
    page.locator("body").press("Space")
    until(page, "demo.state === 'running' && demo.last.width === 640", what="the camera's frames")
    page.locator("body").press("Space")
    until(page, "demo.state === 'paused'")
    after(page, lambda: page.locator("body").press("."))
    assert page.evaluate("demo.state") == "paused"


def test_camera_picker(page):
    start(page)
    until(page, "document.querySelectorAll('#camera-select option').length >= 1")
    names = page.locator("#camera-select option").all_inner_texts()
    assert page.evaluate("demo.last.title") in names
    frames = page.evaluate("demo.frames")
    values = page.eval_on_selector_all("#camera-select option", "all => all.map(o => o.value)")
    page.select_option("#camera-select", next(value for value in reversed(values) if value))
    until(page, f"demo.frames > {frames + 3} && demo.state === 'running'")


def test_numbers_while_running(page):
    start(page)
    frames = page.evaluate("demo.frames")
    until(page, f"demo.frames > {frames + 5}")
    page.wait_for_timeout(600)
    for name in ("fps", "time-inference", "time-pre", "time-post"):
        assert float(page.inner_text(f"#{name}")) >= 0, name
    assert float(page.inner_text("#fps")) > 0
    times = page.evaluate("demo.last.times")
    assert set(times) >= {"pre", "inference", "post"}
    assert all(value >= 0 for value in times.values())
    rows = page.locator("#detections li").all_inner_texts()
    assert len(rows) == 1
    assert "green thing" in rows[0]
    # The chart has bars, not only its line: more than two colours.
    colours = page.evaluate("""() => {
      const canvas = document.querySelector("#chart");
      const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      return new Set(new Uint32Array(data.buffer)).size;
    }""")
    assert colours > 2


def test_picture_ends_the_camera(page):
    """A chosen picture stops the camera, whose light goes out, and isn't covered by a frame."""
    for _ in range(3):  # in the midst of different frames
        start(page)
        page.locator("#samples [data-sample='2']").click()
        until(page, "demo.state === 'ready'")
        until(page, "demo.last.width === 480", what="the sample")
        page.wait_for_timeout(300)
        last = page.evaluate("demo.last")
        assert (last["width"], last["height"]) == (480, 640)
        assert page.evaluate("demo.frames") == last["frame"]
    stream = page.evaluate("document.querySelector('video').srcObject")
    assert stream is None
