"""The page's layout by its HTML and CSS alone: no script, no model, so it is quick."""

import itertools
import shutil

import pytest
from tools.build_demo import DEMO, PAGE, STYLE

from tests.examples.yolo11n.page.browsers import (
    FONTS,
    IN_BOTH,
    MISFITS,
    screenshot,
    set_letters,
    visit,
)

pytestmark = pytest.mark.browser

# Phones, one of them sideways, a tablet, and a low window.
SIZES = (320, 568), (320, 640), (390, 844), (640, 360), (768, 1024), (1280, 620)

# More than there ever is at once: all buttons, with their longest texts, and a strip of pictures.
ALL = """() => {
  for (const id of [
    "#camera-open", "#screen-open", "#album", "#flip", "#teach-take-live", "#full-screen",
    "#message",
  ]) {
    document.querySelector(id).hidden = false;
  }
  for (const id of ["#start", "#stop"]) document.querySelector(id).disabled = false;
  document.querySelector("#confidence-value").textContent = "0.33–0.39";
  const thumbnail = document.createElement("button");
  thumbnail.className = "thumbnail";
  document.querySelector("#strip").append(thumbnail);
  const texts = { start: "Play video", stop: "Pause", record: "Save video" };
  for (const [id, text] of Object.entries(texts)) {
    document.querySelector(`#${id}-text`).textContent = text;
  }
}"""
CONTROLS = """[...document.querySelectorAll("#view :is(.button, .slider input), .thumbnail")]
  .filter((e) => e.checkVisibility()).map((e) => ({
    ...e.getBoundingClientRect().toJSON(), beyond: e.scrollWidth - e.clientWidth,
    onStage: Boolean(e.closest("#stage-frame")), row: Boolean(e.closest(".toolbar")) }))"""


@pytest.fixture
def unbuilt(browser, tmp_path):
    """Open the page without its scripts."""
    for file in (PAGE, STYLE):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        shutil.copy(DEMO / file, tmp_path / file)
    with visit(browser, (tmp_path / PAGE).as_uri(), complaints=["ERR_FILE_NOT_FOUND"]) as page:
        page.evaluate(ALL)
        yield page


def check(page, width, height, letters, font):
    """Assert that no control is outside of the window, too small to be hit, or for its text.

    Where letters have the usual size, a film's controls are there, too.
    """
    page.set_viewport_size({"width": width, "height": height})
    set_letters(page, letters, font)
    film = letters == 16
    page.evaluate("film => { document.querySelector('#player').hidden = !film; }", film)
    boxes = page.evaluate(CONTROLS)
    assert len(boxes) == 17 + film
    for box in boxes:
        assert 0 <= box["left"] < box["right"] <= width
        assert 0 <= box["top"] < box["bottom"] <= height
        # WCAG 2.2: Target Size (Enhanced) for what is needed most, and (Minimum).
        assert min(box["width"], box["height"]) >= (44 if box["onStage"] else 24)
        assert box["beyond"] <= 1
    for one, other in itertools.combinations(boxes, 2):
        beside = one["right"] <= other["left"] or other["right"] <= one["left"]
        assert beside or one["bottom"] <= other["top"] or other["bottom"] <= one["top"]
    picture = page.locator("#stage").bounding_box()
    assert picture["height"] >= (64 if film else 96)
    bottom, right = picture["y"] + picture["height"], picture["x"] + picture["width"]
    assert all(box["top"] >= bottom or box["left"] >= right for box in boxes)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    return boxes


@IN_BOTH
@pytest.mark.parametrize("font", FONTS)
def test_all_controls_are_within_the_window(unbuilt, tmp_path, font):
    """With large letters, too."""
    for (width, height), letters in itertools.product(SIZES, (16, 20, 24)):
        check(unbuilt, width, height, letters, font)
        screenshot(unbuilt, f"layout-{width}x{height}-{letters}-{font}", tmp_path)
        assert unbuilt.evaluate(MISFITS) == [], (width, height, letters)


@IN_BOTH
@pytest.mark.parametrize("font", FONTS)
def test_a_wide_window_has_all_controls_in_one_row(unbuilt, tmp_path, font):
    for width in (1265, 1280, 1366, 1600):
        boxes = check(unbuilt, width, 800, 16, font)
        screenshot(unbuilt, f"layout-{width}-{font}", tmp_path)
        assert len({box["top"] for box in boxes if box["row"]}) == 1, width
