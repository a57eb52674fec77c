"""Real browsers for the tests of the page, without a window or a network: Chromium, and Firefox.

Tests that need one skip where the machine hasn't it, or Python has no ``playwright``.
"""

import base64
import io
import json
import mimetypes
import os
import shutil
import threading
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image
from tools.compare_runtimes import (
    WEBGPU_ARGS,
    BrowserError,
    find_chromium,
    wait_for,
)
from tools.serve_demo import Server

from pytensor.link.onnx.compare.web import ARGUMENTS

# Everything a page may load without a network.
OFFLINE = ("file", "data", "blob")
# Each page compiles onnxruntime anew: what only makes it faster for later is left out.
BASELINE = "--js-flags=--liftoff-only"
FIREFOX_BASELINE = {"javascript.options.wasm_optimizingjit": False}
# Seconds, for a machine that has much else to do; whoever waits this long sees a failure.
PATIENCE = 90.0


# Three families that every machine has; the first is the widest of the usual ones.
FONTS = "DejaVu Sans, sans-serif", "serif", "monospace"
# Of all cards, what is cut off.
MISFITS = """[...document.querySelectorAll(
  ".button, select, h1, h2, label, output, .times dd, .check")]
  .filter((e) => e.clientWidth && e.scrollWidth > e.clientWidth + 1).map((e) => e.outerHTML)"""


# ------------------------------------------------------------------------------ the browser


def require_chromium():
    """Return the path of a Chromium; skip the test where there is none, or no playwright."""
    try:
        return find_chromium()
    except BrowserError as error:
        pytest.skip(str(error))


@contextmanager
def open_browser(*, camera=None, webgpu=False):
    """Open a Chromium without a window; yield Playwright's browser.

    The .y4m film `camera` plays as the camera, over and over; without one there is no camera, even
    if the machine has one. With `webgpu`, the processor computes WebGPU, slowly.
    """
    path = require_chromium()
    from playwright.sync_api import sync_playwright

    device = "--use-fake-device-for-media-stream"
    options = [*ARGUMENTS, BASELINE, device if camera else f"{device}=device-count=0"]
    if camera:
        options.append(f"--use-file-for-fake-video-capture={Path(camera).resolve()}")
    # Without it there shall be none, even if the machine has a graphics processor.
    options += WEBGPU_ARGS["software"] if webgpu else ["--disable-gpu"]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=path, args=options, timeout=1000 * PATIENCE
        )
        yield browser
        browser.close()


@contextmanager
def open_firefox(preferences=None):
    """Open an installed Firefox, with preferences of about:config; yield Playwright's browser."""
    sync_api = pytest.importorskip("playwright.sync_api")
    names = [os.environ.get("FIREFOX", "firefox-esr"), "firefox"]
    if not (path := next(filter(None, map(shutil.which, names)), None)):
        pytest.skip("no Firefox found: apt-get install firefox-esr, or set the variable FIREFOX")
    with sync_api.sync_playwright() as driver:
        browser = driver.firefox.launch(
            executable_path=path,
            channel="moz-firefox",  # BiDi, which Playwright's own Firefox doesn't speak
            firefox_user_prefs=FIREFOX_BASELINE | (preferences or {}),
            timeout=1000 * PATIENCE,
        )
        yield browser
        browser.close()


# For tests whose `browser` is the one, and then the other; see conftest.py.
BROWSERS = {"chromium": open_browser, "firefox": open_firefox}
IN_BOTH = pytest.mark.parametrize("browser", BROWSERS.values(), ids=BROWSERS, indirect=True)


@contextmanager
def visit(browser, url, *, complaints=(), script="", **options):
    """Open a page for as long as the context lasts, with a script that runs before the page's own.

    `complaints` are parts of the console's messages that are expected; any other one fails the
    test while it waits for something or at the end (``page.look_at_console()``), and so does a
    request, of ``page.requests``, to another place than the server of `url`. `options` are those
    of the browser's context: ``viewport``, ``color_scheme``, ``permissions`` ….
    """
    options.setdefault("viewport", {"width": 1280, "height": 900})
    context = browser.new_context(**options)
    context.set_default_timeout(1000 * PATIENCE)
    said, requests = [], []

    def note(message):
        # Chromium says so of a device that has none; the page says it, too.
        expected = message.text.startswith("No available adapters")
        if message.type in ("error", "warning", "assert") and not expected:
            said.append(f"{message.type}: {message.text}")

    def look_at_console():
        unexpected = [text for text in said if not any(part in text for part in complaints)]
        said.clear()  # another test with the same page isn't to blame
        assert not unexpected, unexpected

    context.on("console", note)
    context.on("weberror", lambda error: said.append(f"uncaught: {error.error}"))
    context.on("request", lambda request: requests.append(request.url))
    try:
        page = context.new_page()
        page.requests, page.look_at_console = requests, look_at_console
        page.add_init_script(script)
        page.goto(url)
        yield page
        page.wait_for_timeout(50)  # for messages that are still under way
        own = urlsplit(url).netloc
        places = [urlsplit(request) for request in requests]
        assert [p for p in places if p.scheme not in OFFLINE and p.netloc != own] == []
        look_at_console()
    finally:
        context.close()


@contextmanager
def ready_page(browser, url, **options):
    """Open the page with its model loaded and its first sample shown; options as for `visit`."""
    with visit(browser, url, **options) as page:
        loaded = "window.demo && (demo.screen || demo.ready && demo.last)"
        until(page, loaded, "the first sample")
        assert page.evaluate("demo.screen") is None, page.inner_text("#message")
        yield page


@contextmanager
def serve(page):
    """Serve a page as long as the context lasts; yield its server and its address."""
    server = Server(page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server, f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


# ------------------------------------------------------------------------------ the page


def until(page, expression, what=None, timeout=PATIENCE):
    """Poll until a JavaScript expression is true; its value.

    What the console complains of ends it at once.
    """
    look = getattr(page, "page", page).look_at_console  # of a frame's page
    return wait_for(page, expression, timeout, what or expression, look)


def wait_screen(page, name):
    """Wait for a message screen; its text."""
    until(page, f"window.demo && demo.screen === '{name}'", f"the screen {name}")
    shown = page.locator("#message")
    assert shown.is_visible()
    assert shown.get_attribute("data-screen") == name
    return shown.inner_text()


def after(page, action):
    """Do something that makes the page detect; its new `demo.last`."""
    page.evaluate("() => { window.lastSeen = demo.last; }")
    action()
    until(page, "demo.last !== null && demo.last !== window.lastSeen", "a detection")
    return page.evaluate("demo.last")


def choose_sample(page, number):
    """Press the button of a sample, 1 being the first; the resulting `demo.last`."""
    return after(page, page.locator(f"#samples [data-sample='{number}']").click)


def report_of(page, timeout=240):
    """Return the report that ``?selftest`` writes into the document."""
    text = "document.querySelector('#selftest-result')?.textContent"
    return json.loads(until(page, text, "the self-test", timeout))


def assert_exact(report, reading="canvas", pixels=0.01, equal=6, outcome="the boxes are Python's"):
    """Assert that WebAssembly gave Python's boxes, and WebGPU too where it is there.

    In so many samples boxes differ by so many `pixels` at most: random weights enlarge rounding,
    and in 8-bit integers a number that is rounded the other way moves a box.  What the report says
    of each back end begins with `outcome`.
    """
    assert report["pixels"]["readBy"] == reading
    assert report["pixels"]["canvasGivesWhatWasDrawn"] == (reading == "canvas")
    for found in report["backends"]:
        if found["outcome"] == "not there":
            assert found["backend"] == "webgpu"
            continue
        assert found["outcome"].startswith(outcome)
        gaps = [sample["difference"] for sample in found["samples"]]
        near = [gap for gap in gaps if isinstance(gap, dict) and gap["box"] <= pixels]
        assert len(near) >= equal, gaps
        assert len(found["samples"]) == 6
        assert sum(sample["boxes"] for sample in found["samples"]) > 5
        assert all(sample["pixelsAsInPython"] for sample in found["samples"])
        # Preferences that change what canvases give make the clock coarse, too.
        assert found["millisecondsAnInference"] > 0 or reading == "frame"
    assert report["passed"]


def file_of(data, name):
    """Make a file for `set_input_files`, from bytes or a path."""
    if isinstance(data, str | Path):
        data = Path(data).read_bytes()
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return {"name": name, "mimeType": kind, "buffer": data}


def detect_file(page, data, name="picture.png"):
    """Choose a picture by the page's button; the resulting `demo.last`."""
    last = after(page, lambda: page.set_input_files("#image-file", file_of(data, name)))
    assert last["title"] == name
    return last


def set_letters(page, size, font):
    """Have a page's letters be of a size in pixels and of a font's family."""
    page.evaluate(
        """([size, font]) => {
          document.documentElement.style.fontSize = `${size}px`;
          document.body.style.fontFamily = font;
        }""",
        [size, font],
    )


def screenshot(page, name, folder):
    """Save what is visible below DEMO_SCREENSHOTS, if set, or else in `folder`."""
    folder = Path(os.environ.get("DEMO_SCREENSHOTS") or folder)
    folder.mkdir(parents=True, exist_ok=True)
    if page.context.browser.browser_type.name == "chromium":  # in Firefox it takes a blocked style
        page.screenshot(path=folder / f"{name}.png")
    return folder / f"{name}.png"


def decode_data_url(url):
    """Decode a data: URL of a picture, uint8 array (height, width, 3)."""
    with Image.open(io.BytesIO(base64.b64decode(url.split(",", 1)[1]))) as picture:
        return np.asarray(picture.convert("RGB"))
