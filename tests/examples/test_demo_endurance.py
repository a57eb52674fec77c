"""Ten minutes of frames through the demo page: it doesn't grow.

The frames are drawn in the page and go in as pictures, as fast as it detects: 1,000 by default,
and 18,000, ten minutes at 30 frames a second, in the slow test.
"""

import gc
import sys

import pytest

from tests.examples.demo_browser import open_browser, ready_page

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="reads the memory of processes in /proc"
)

# As many frames as asked for, each with its square elsewhere: bitmap files of 24 bits, written by
# hand because that costs next to nothing.
FEED = """async ([from, count]) => {
  const [width, height, side] = [320, 240, 40];
  const file = new Uint8Array(54 + 3 * width * height);
  const header = new DataView(file.buffer);
  header.setUint16(0, 0x424d);
  header.setUint32(2, file.length, true);
  for (const [at, value] of [[10, 54], [14, 40], [18, width], [22, height]]) {
    header.setUint32(at, value, true);
  }
  header.setUint16(26, 1, true);
  header.setUint16(28, 24, true);
  const paint = (x, y, [blue, green, red], w, h) => {
    for (let row = y; row < y + h; row++) {
      for (let at = 54 + 3 * ((height - 1 - row) * width + x), k = 0; k < w; k++, at += 3) {
        file[at] = blue;
        file[at + 1] = green;
        file[at + 2] = red;
      }
    }
  };
  paint(0, 0, [110, 80, 70], width, height);
  for (let k = from; k < from + count; k++) {
    const x = 60 + Math.round(90 + 90 * Math.sin(k / 7));
    const y = 50 + Math.round(50 + 50 * Math.cos(k / 11));
    paint(x, y, [40, 220, 0], side, side);
    const last = await demo.detectImage(new Blob([file], {type: "image/bmp"}));
    paint(x, y, [110, 80, 70], side, side);
    const box = last.detections[0];
    const right = last.detections.length === 1 &&
      Math.abs(box.x1 - x) < 4 && Math.abs(box.y2 - y - side) < 4;
    if (!right) return `frame ${k}: ${JSON.stringify(last.detections)} for ${x}, ${y}`;
  }
  return "";
}"""


@pytest.fixture(scope="module")
def browser():
    with open_browser(args=["--js-flags=--expose-gc"]) as browser:
        yield browser


def memory(browser, page):
    """JavaScript heap of the page after collecting garbage, and the process's, in megabytes."""
    session = page.context.new_cdp_session(page)
    try:
        for _ in range(2):
            session.send("HeapProfiler.collectGarbage")
            page.wait_for_timeout(200)
        for worker in page.workers:
            worker.evaluate("() => gc()")
        used = session.send("Runtime.getHeapUsage")["usedSize"]
    finally:
        session.detach()
    return used / 2**20, browser.renderer_memory() / 2**20


def endure(browser, site, frames):
    """Memory at several points of so many frames."""
    with ready_page(browser, site) as page:
        points, part = [], frames // 8
        for k in range(8):
            assert page.evaluate(FEED, [k * part, part]) == ""
            points.append(memory(browser, page))
        assert page.evaluate("demo.frames") >= frames
        assert page.evaluate("demo.errors") == []
    gc.collect()
    return points


def assert_level(points):
    """No growth from the second eighth on: buffers have their sizes by then."""
    heap, process = zip(*points[1:], strict=True)
    assert heap[-1] - heap[0] < 1.0, points
    # The allocator's own ups and downs; 18,000 leaked frames would be gigabytes.
    assert min(process[-2:]) - process[0] < 40, points


def test_thousand_frames(browser, colour_site):
    assert_level(endure(browser, colour_site, 1000))


@pytest.mark.long
def test_ten_minutes_of_frames(browser, colour_site):
    assert_level(endure(browser, colour_site, 18000))
