"""Finding Chromium and driving it by Playwright, for commands that read the page's numbers.

`compare_runtimes.py`, `benchmarks/browser.py` and the tests (`tests/examples/demo_browser.py`) use
it.  Playwright only speaks to a Chromium that is already installed; it downloads none.
"""

import os
import shutil
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlencode

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chromium-headless-shell",
)
# No sandbox: it needs rights that containers don't give, and the only page is our own.
ARGS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WEBGPU_ARGS = {
    "software": ("--enable-unsafe-webgpu",),  # an adapter in software: correct, but slow
    "hardware": ("--enable-unsafe-webgpu", "--enable-features=Vulkan", "--ignore-gpu-blocklist"),
}
TIMEOUT = 120_000  # ms for Chromium to start, or for one step of a page, on a busy machine


class BrowserError(Exception):
    """No browser, or the page didn't do what was waited for; the message says what to do."""


@dataclass
class Log:
    """What a page reported while it was open.

    Attributes
    ----------
    errors : list of str
        Errors of the console and exceptions that nothing caught.
    requests : list of str
        Addresses that were asked for, ``data:`` and ``blob:`` left out.
    """

    errors: list = field(default_factory=list)
    requests: list = field(default_factory=list)


def find_chromium():
    """Path of an installed Chromium: that of the variable ``CHROMIUM``, or else one of `NAMES`.

    Raises
    ------
    BrowserError
        If there is none.
    """
    chosen = os.environ.get("CHROMIUM")
    if chosen:
        path = shutil.which(chosen)
        if path is None:
            raise BrowserError(f"CHROMIUM={chosen} is no program; unset it or correct it")
        return path
    for name in NAMES:
        path = shutil.which(name)
        if path is not None:
            return path
    raise BrowserError(
        f"no Chromium found ({', '.join(NAMES)}): apt-get install chromium, or set the variable "
        "CHROMIUM to the path of one"
    )


def _playwright():
    if find_spec("playwright") is None:
        raise BrowserError("driving the browser needs Playwright: pip install playwright")
    # Here, so that other commands don't need the package.
    from playwright.sync_api import sync_playwright

    return sync_playwright()


@contextmanager
def open_browser(*, webgpu=None, args=(), permissions=(), profile=None, headless=True):
    """Start Chromium with an empty profile.

    Parameters
    ----------
    webgpu : {None, "software", "hardware"}
        None leaves WebGPU as this Chromium has it by itself.
    args : sequence of str
        More arguments for Chromium.
    permissions : sequence of str
        Granted to every page, such as ``"camera"``.
    profile : path-like, optional
        Folder of the profile; a temporary one by default.
    headless : bool
        False opens a window.

    Yields
    ------
    playwright.sync_api.BrowserContext

    Raises
    ------
    BrowserError
        If Chromium or Playwright is missing, Chromium doesn't start, or Playwright fails while
        it is open, such as for a script of the page that throws.
    """
    executable, playwright = find_chromium(), _playwright()
    with playwright as driver, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        from playwright.sync_api import Error

        try:
            context = driver.chromium.launch_persistent_context(
                str(profile or folder),
                executable_path=executable,
                headless=headless,
                args=[*ARGS, *WEBGPU_ARGS.get(webgpu, ()), *args],
                permissions=list(permissions),
                timeout=TIMEOUT,
            )
        except Error as error:
            first = str(error).splitlines()[0]
            raise BrowserError(f"{executable} doesn't start: {first}") from error
        context.set_default_timeout(TIMEOUT)
        try:
            yield context
        except Error as error:
            raise BrowserError(f"in the browser: {str(error).splitlines()[0]}") from error
        finally:
            context.close()


def page_url(page, **query):
    """Address of a page: an HTML file as ``file://…``, or an address; with a query, if given."""
    address = str(page)
    if not address.startswith(("http://", "https://", "file://")):
        path = Path(page).resolve()
        if not path.is_file():
            command = "python -m tools.build_demo MODEL.onnx"
            raise BrowserError(f"{page}: no such page; run {command} first")
        address = path.as_uri()
    return f"{address}?{urlencode(query)}" if query else address


def watch(page):
    """Collect a Playwright page's errors and requests from now on; returns the `Log`."""
    log = Log()

    def note_request(request):
        if not request.url.startswith(("data:", "blob:")):
            log.requests.append(request.url)

    def note_console(message):
        if message.type == "error":
            log.errors.append(message.text)

    page.on("request", note_request)
    page.on("console", note_console)
    page.on("pageerror", lambda error: log.errors.append(str(error)))
    return log


@contextmanager
def open_page(url, **options):
    """Open a page in a Chromium of its own; see `open_browser` for the options.

    Parameters
    ----------
    url : str or path-like
        An address, or an HTML file.

    Yields
    ------
    page : playwright.sync_api.Page
    log : Log
    """
    address = page_url(url)
    with open_browser(**options) as context:
        page = context.pages[0] if context.pages else context.new_page()
        log = watch(page)
        page.goto(address)
        yield page, log


def wait_for(page, expression, seconds, what):
    """Wait until a JavaScript expression is true, and return its value.

    The page's content security policy forbids what Playwright's own waiting evaluates, so this
    asks again and again.

    Raises
    ------
    BrowserError
        After so many seconds; the message holds `what`.
    """
    end = time.monotonic() + seconds
    while True:
        value = page.evaluate(expression)
        if value:
            return value
        if time.monotonic() > end:
            raise BrowserError(f"the page didn't get to this in {seconds:.0f} s: {what}")
        page.wait_for_timeout(50)


def wait_ready(page, seconds=120):
    """Wait until the page's model runs; returns what it says about its detector.

    Returns
    -------
    dict
        As of ``window.demo.info``: ``backend``, ``adapter``, ``threads``, ``size``, ``names`` …

    Raises
    ------
    BrowserError
        If the page shows an error instead, or takes longer.
    """
    state = """() => {
      const demo = window.demo;
      if (!demo || (!demo.ready && demo.state !== "error")) return null;
      const said = document.querySelector("#message").innerText.split("\\n")[0];
      return {ready: demo.ready, info: demo.info, errors: [said, ...demo.errors]};
    }"""
    found = wait_for(page, state, seconds, "the model is loaded")
    if not found["ready"]:
        raise BrowserError(f"the page doesn't run: {'; '.join(filter(None, found['errors']))}")
    return found["info"]
