"""Check that the browser's page finds what Python finds with the same model.

    python -m tools.compare_runtimes yolo11n.onnx
    python -m tools.compare_runtimes yolo11n.onnx --confidence 0.01      # many more boxes
    python -m tools.compare_runtimes yolo11n.onnx --data PATH            # and 100 pictures of a set

Builds the page of the model into a temporary folder, opens it in Chromium, hands it the pixels of
the sample pictures, and tall and wide pictures, and compares its detections with the detections
of onnxruntime in Python.  With --data, 100 pictures of the set's validation part follow.  The exit
status is 1 if a box differs by more than 0.5 px, or a score by more than 0.005, or a detection has
no partner.  One without a partner whose score is that close to the threshold is allowed.  Then
`pytensor.link.onnx.compare` says which of the two computes the network wrongly for the first
picture that differs, and from which node on; if neither does, it is what the page does before or
after it.

It drives an installed Chromium by Playwright, which downloads none.
"""

import base64
import io
import itertools
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from commandline import Parser, existing


def parse_arguments(arguments=None):
    """Parse the command line; see ``--help``."""
    parser = Parser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=existing, help="ONNX file of a detector")
    parser.add_argument("--confidence", type=float, help="least score; default: the model's own")
    parser.add_argument(
        "--webgpu", action="store_true", help="use a graphics processor; default: WebAssembly"
    )
    parser.add_argument("--data", type=existing, metavar="PATH", help="also pictures of a data set")
    parser.add_argument(
        "--pictures", type=int, default=100, help="pictures of --data; default: 100"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":  # a mistake is answered before the imports below, which take seconds
    parse_arguments()

import numpy as np
from data.synthetic.scenes import sample_scene
from dataset import load_split
from evaluation.detectors import ModelError, detect_in, open_detector
from PIL import Image
from tools.build_demo import NODE_MODULES, RUNTIME, BuildError, build
from tools.reference import input_of_pixels
from tools.samples import SAMPLES, SEED, SPLIT, sample_scene_of

from pytensor.link.onnx.compare import ComparisonError, compare_runtimes, web
from pytensor.link.onnx.compare.command import describe

MAX_BOX_DIFFERENCE = 0.5  # pixels of the picture
MAX_SCORE_DIFFERENCE = 0.005
MAX_DISTANCE = 5  # pixels between detections that are the same
# Width and height: Pillow resizes the columns of what is taller than twice its width first.
SHAPES = [(360, 780), (300, 601), (1080, 2340), (960, 320), (1600, 700)]

WEBGPU_ARGS = {
    None: (),  # as this Chromium has it by itself
    "software": web.SOFTWARE,
    "hardware": web.HARDWARE,
}
TIMEOUT = 120_000  # ms for Chromium to start, or for one step of a page, on a busy machine


class BrowserError(Exception):
    """No browser, or the page didn't do what was waited for; the message says what to do."""


# ------------------------------------------------------------------------------ the browser


def find_chromium():
    """Return the path of a Chromium: that of the variable ``CHROMIUM``, or else a usual one.

    Raises
    ------
    BrowserError
        If there is none, or no Playwright to drive it.
    """
    try:
        return web.find_chromium()
    except ComparisonError as error:
        raise BrowserError(str(error)) from error


@contextmanager
def open_page(page, *, webgpu=None, **query):
    """Open a page in a Chromium of its own, with an empty profile.

    Parameters
    ----------
    page : path-like or str
        An HTML file, or an address.
    webgpu : {None, "software", "hardware"}
    query
        Of the address, such as ``backend="wasm"``.

    Yields
    ------
    playwright.sync_api.Page

    Raises
    ------
    BrowserError
        If Chromium doesn't start, or a script of the page throws while it is open.
    """
    find_chromium()
    # Here, so that other commands don't need the package.
    from playwright.sync_api import Error, sync_playwright

    address = str(page) if str(page).startswith("http") else Path(page).resolve().as_uri()
    try:
        with sync_playwright() as driver:
            browser = web.launch(driver, WEBGPU_ARGS[webgpu], TIMEOUT)
            opened = browser.new_page()
            opened.set_default_timeout(TIMEOUT)
            opened.goto(f"{address}?{urlencode(query)}")
            yield opened
            browser.close()
    except Error as error:
        raise BrowserError(f"in the browser: {str(error).splitlines()[0]}") from error


def wait_for(page, expression, seconds, what, look=lambda: None):
    """Wait until a JavaScript expression is true, and return its value.

    The page's content security policy forbids what Playwright's own waiting evaluates, so this
    asks again and again.  Between two times it calls `look`, which may raise.

    Raises
    ------
    BrowserError
        After this number of seconds; the message holds `what`, and what the page says.
    """
    end = time.monotonic() + seconds
    while not (value := page.evaluate(expression)):
        if time.monotonic() > end:
            said = page.evaluate(
                "window.demo ? JSON.stringify([demo.state, demo.screen, demo.errors, "
                "document.querySelector('#status').textContent]) : 'nothing'"
            )
            raise BrowserError(f"waited {seconds:.0f} s for {what}; the page says {said}")
        page.wait_for_timeout(30)
        look()
    return value


def wait_ready(page, seconds=120):
    """Wait until the page's model runs; what it says about its detector (``window.demo.info``).

    Raises
    ------
    BrowserError
        If the page shows an error instead, or takes longer.
    """
    wait_for(page, "window.demo && (demo.ready || demo.screen)", seconds, "the model")
    if not page.evaluate("demo.ready"):
        said = page.locator("#status").inner_text()
        raise BrowserError(f"the page doesn't run: {said}")
    return page.evaluate("demo.info")


# ------------------------------------------------------------------------------ detections


def png_url(pixels):
    """Return a picture, uint8 (height, width, 3), as the ``data:`` address of a PNG."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def page_detections(last):
    """Return the page's detections (``window.demo.last``) as float32 (n, 6)."""
    keys = ("x1", "y1", "x2", "y2", "score", "classId")
    rows = [[found[key] for key in keys] for found in last["detections"]]
    return np.array(rows, dtype=np.float32).reshape(-1, 6)


def differences(first, second):
    """Return how far two lists of detections (n, 6) are apart: each is paired with the nearest.

    Returns
    -------
    box, score : float
        The largest differences of pairs, in pixels and in scores.
    lonely : list of array (6,)
        Detections without a partner of their class.
    """
    left, box, score, lonely = list(second), 0.0, 0.0, []
    for row in first:
        gaps = [np.abs(other - row) for other in left]
        # Among boxes at the same place the scores decide.
        near = [
            (round(float(gap[:4].max()), 2), float(gap[4]), k)
            for k, gap in enumerate(gaps)
            if gap[5] == 0 and gap[:4].max() <= MAX_DISTANCE
        ]
        if not near:
            lonely.append(row)
            continue
        gap = gaps[min(near)[2]]
        box, score = max(box, float(gap[:4].max())), max(score, float(gap[4]))
        left.pop(min(near)[2])
    return box, score, lonely + left


def compared_pictures():
    """Yield drawn pictures and their names: the page's samples, and some of other shapes."""
    for index in range(len(SAMPLES)):
        yield f"sample {index + 1}", sample_scene_of(index)[0]
    for number, (width, height) in enumerate(SHAPES):
        rng = np.random.default_rng([SEED, SPLIT, len(SAMPLES) + number])
        yield f"{width}x{height}", sample_scene(rng, (width, height))[0]


def pictures_of(path, classes, count):
    """Yield `count` validation pictures of a data set with their names, spread evenly over it."""
    dataset = load_split(path, "val", classes, 32, spread=count)
    for index in range(len(dataset)):
        yield dataset.file_name(index), dataset.picture(index)


def who_is_wrong(model, detector, pixels, runtimes):
    """Return lines that say which runtime computes the network wrongly for a picture.

    Parameters
    ----------
    model : path-like
        ONNX file.
    detector : OnnxDetector
        Of that file.
    pixels : uint8 array (height, width, 3)
    runtimes : list of str or callable
        As `pytensor.link.onnx.compare.compare_runtimes` takes them.
    """
    inputs = {detector.input_name: input_of_pixels(pixels, detector.image_size)}
    found = compare_runtimes(model, inputs, runtimes, ort_web=NODE_MODULES / RUNTIME)
    lines = [f"{one.runtime}: {describe(one)}" for one in found]
    if not any(one.wrong for one in found):
        lines.append("the difference is of what the page does before or after the network")
    return lines


def compare(model, webgpu=False, confidence=None, data=None, count=100):
    """Print how far the page and Python are apart on each picture; whether they agree.

    Parameters
    ----------
    model : path-like
        ONNX file.
    webgpu : bool
        Let the page use a graphics processor.
    confidence : float, optional
        The least score, of the class that has the lowest; by default the model's own.
    data : path-like, optional
        A data set, of which `count` pictures are compared, too.
    """
    detector = open_detector(model, batch_size=1)
    differing, total, largest = None, 0, [0.0, 0.0]
    pictures = compared_pictures()
    if data is not None:
        pictures = itertools.chain(pictures, pictures_of(data, detector.classes, count))
    with tempfile.TemporaryDirectory() as folder:
        html = build(model, output=folder, webgpu=webgpu)["single_file"]
        way = {"backend": "webgpu", "webgpu": "hardware"} if webgpu else {"backend": "wasm"}
        with open_page(html, **way) as page:
            info = wait_ready(page)
            print(f"page: {info['backend']} {info['adapter']}; {'box, px':>27} {'score':>9}")
            if confidence is not None:
                page.locator("#confidence").fill(f"{confidence:g}")
            for name, pixels in pictures:
                last = page.evaluate("url => demo.detectImage(url)", png_url(pixels))
                found = page_detections(last)
                limits = np.array(last["settings"]["confidence"])
                expected = detect_in(detector, pixels, limits, info["iou"])
                box, score, lonely = differences(found, expected)
                near = [row[4] <= limits[int(row[5])] + MAX_SCORE_DIFFERENCE for row in lonely]
                words = f"{name}: {len(found)} and {len(expected)} detections"
                print(f"{words:<40} {box:>8.4f} {score:>9.6f}")
                # Written so that NaN fails, too.
                close = box <= MAX_BOX_DIFFERENCE and score <= MAX_SCORE_DIFFERENCE
                total += len(found)
                if differing is None and not (close and all(near)):
                    differing = pixels
                largest = [max(pair) for pair in zip(largest, (box, score), strict=True)]
    print(f"largest differences: {largest[0]:.4f} px, {largest[1]:.6f} ({total} boxes)")
    if not total:
        print("nothing was detected in any picture, which compares nothing: is the model trained?")
    if differing is not None:
        runtimes = ["ort", "web-webgpu" if webgpu else "web-wasm"]
        print(*who_is_wrong(model, detector, differing, runtimes), sep="\n")
    return differing is None and total > 0


def main(arguments=None):
    """Compare as the command line says; the exit code."""
    o = parse_arguments(arguments)
    try:
        agree = compare(o.model, o.webgpu, o.confidence, o.data, o.pictures)
    except (BrowserError, BuildError, ModelError, ValueError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    print("the page and Python agree" if agree else "the page and Python differ")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
