"""Compare what one model detects in PyTensor, in onnxruntime and in the browser's page.

    python -m tools.compare_runtimes runs/yolo11n/best.safetensors yolo11n.onnx
    python -m tools.compare_runtimes yolo11n.onnx --html dist/yolo_detection_demo.html

Every model file is run over the page's sample pictures, weights (``.safetensors``) by PyTensor and
``.onnx`` by onnxruntime, and the page runs the model that it was built with.  The pictures are the
very bytes that the page holds.  Python decodes JPEG with Pillow and the page with Chromium, which
may differ by a grey level; ``--lossless`` hands Pillow's pixels to the page, as PNG.

Detections are matched by class and overlap, each runtime with each other.  The exit status is 1 if
a box differs by more than 0.5 px, or a score by more than 0.005, or a detection has no partner.
One without a partner whose score is that close to the threshold is counted apart and allowed.
"""

import argparse
import base64
import hashlib
import io
import itertools
import os
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

# Before PyTensor is imported: JAX keeps 64-bit types off then, which float32 never uses.
os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float32", os.environ.get("PYTENSOR_FLAGS")])
)

import numpy as np
from data.images import letterbox, read_image
from evaluation.detectors import ModelError, PyTensorDetector, open_detector
from evaluation.nms import box_iou, nms, scale_detections
from PIL import Image
from tools.chromium import BrowserError, open_page, page_url, wait_ready
from training.checkpoint import CheckpointError

PAGE = Path(__file__).parents[1] / "yolo_detection_demo.html"
MAX_BOX_DIFFERENCE = 0.5  # pixels of the picture
MAX_SCORE_DIFFERENCE = 0.005
LEAST_IOU = 0.5  # of two detections that are the same
MAX_DETECTIONS = 300  # what the page keeps
CONFIDENCES = [k / 100 for k in range(1, 100)]  # where the page's slider can stand


class ComparisonError(Exception):
    """There is nothing to compare, or the models aren't comparable; the message says why."""


@dataclass
class Picture:
    """A sample picture: its title, and a file's bytes and their media type."""

    title: str
    data: bytes
    media_type: str

    def pixels(self):
        """uint8 (height, width, 3), decoded by Pillow."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "picture"
            path.write_bytes(self.data)
            return read_image(path)

    def as_png(self):
        """The same pixels in a file that every reader decodes alike."""
        file = io.BytesIO()
        Image.fromarray(self.pixels()).save(file, "PNG")
        return Picture(self.title, file.getvalue(), "image/png")

    def data_url(self):
        """The file as a ``data:`` address."""
        return f"data:{self.media_type};base64,{base64.b64encode(self.data).decode()}"


@dataclass
class Difference:
    """How far two lists of detections of one picture are apart.

    Attributes
    ----------
    box, score : float
        The largest differences of matched detections, in pixels and in scores.
    lonely : list of float
        Scores of detections without a partner on the other side.
    """

    box: float = 0.0
    score: float = 0.0
    lonely: list = field(default_factory=list)

    def add(self, other):
        """The larger differences of both, and everything without a partner."""
        return Difference(
            max(self.box, other.box), max(self.score, other.score), [*self.lonely, *other.lonely]
        )

    def missing(self, confidence):
        """How many detections lack a partner, but those whose score lies at the threshold."""
        return sum(not score <= confidence + MAX_SCORE_DIFFERENCE for score in self.lonely)

    def fails(self, confidence):
        """Whether any limit is exceeded."""
        # written so that NaN fails too
        agrees = self.box <= MAX_BOX_DIFFERENCE and self.score <= MAX_SCORE_DIFFERENCE
        return self.missing(confidence) > 0 or not agrees


def match(first, second):
    """Pair the detections of two runtimes by class and place, the closest pairs first.

    Parameters
    ----------
    first, second : float array (n, 6)
        ``x1, y1, x2, y2, score, class``.

    Returns
    -------
    Difference
    """
    gaps = np.abs(first[:, None] - second[None])
    overlap = box_iou(first[:, :4].astype(np.float64), second[:, :4].astype(np.float64))
    # Of boxes that were clipped to a line nothing overlaps.
    overlap[gaps[..., :4].max(axis=-1) <= MAX_BOX_DIFFERENCE] = 1
    overlap[gaps[..., 5] > 0] = 0
    # Among boxes at the same place the scores decide.
    order = np.lexsort((gaps[..., 4].ravel(), -overlap.ravel()))
    left, right = set(range(len(first))), set(range(len(second)))
    result = Difference()
    for i, j in zip(*np.unravel_index(order, overlap.shape), strict=True):
        if not overlap[i, j] >= LEAST_IOU:
            break
        if i in left and j in right:
            left.remove(i)
            right.remove(j)
            gap = gaps[i, j]
            result = result.add(Difference(float(gap[:4].max()), float(gap[4])))
    lonely = [*(first[i, 4] for i in left), *(second[j, 4] for j in right)]
    result.lonely = [float(score) for score in lonely]
    return result


# ------------------------------------------------------------------------------ the runtimes


def detect_in_python(detector, pixels, confidence, iou):
    """Detections (n, 6) of one uint8 (height, width, 3) picture, by a detector of detectors.py."""
    square, geometry = letterbox(pixels, detector.image_size)
    batch = np.repeat(square.transpose(2, 0, 1)[None], detector.batch_size, axis=0)
    decoded = detector(batch)[0]
    found = nms(decoded, confidence, iou, MAX_DETECTIONS, multi_label=False)
    return scale_detections(found, geometry)


def detect_in_page(page, picture):
    """Detections (n, 6) of a picture by the page, at the page's thresholds."""
    last = page.evaluate("(address) => window.demo.detectImage(address)", picture.data_url())
    rows = [
        [d[k] for k in ("x1", "y1", "x2", "y2", "score", "classId")] for d in last["detections"]
    ]
    return np.array(rows, dtype=np.float32).reshape(-1, 6)


def read_asset(page, name):
    """Bytes of something that was built into the page."""
    script = """async (name) => {
      const blob = new Blob([await demoAssets.bytes(name)]);
      return await new Promise((resolve, reject) => {
        const reader = new FileReader();
        reader.onload = () => resolve(reader.result);
        reader.onerror = () => reject(reader.error);
        reader.readAsDataURL(blob);
      });
    }"""
    return base64.b64decode(page.evaluate(script, name).partition(",")[2])


def page_pictures(page):
    """The sample pictures that the page holds, as list of Picture.

    Raises
    ------
    ComparisonError
        If it holds none.
    """
    samples = page.evaluate(
        "async () => demoAssets.has('samples') ? JSON.parse(await demoAssets.text('samples')) : []"
    )
    if not samples:
        raise ComparisonError("the page holds no sample pictures: build it with build_demo.py")
    return [
        Picture(f"{number}. {s['title']}", read_asset(page, s["asset"]), s["type"])
        for number, s in enumerate(samples, 1)
    ]


def page_model(page):
    """Name and SHA-256 of the model in the page."""
    info = page.evaluate("async () => JSON.parse(await demoAssets.text('model-info'))")
    return info["file"], info["sha256"]


def choose_threshold(page, name, value):
    """Move a slider of the page, unless `value` is None; where it stands then."""
    script = """([name, value]) => {
      const slider = document.getElementById(name);
      if (value !== null) {
        slider.value = String(value);
        slider.dispatchEvent(new Event("input", {bubbles: true}));
      }
      return Number(slider.value);
    }"""
    return page.evaluate(script, [name, value])


# ------------------------------------------------------------------------------ the comparison


@dataclass
class PageResults:
    """What the page answered.

    Attributes
    ----------
    info : dict
        Of its detector.
    confidence, iou : float
        The thresholds.
    model, sha256 : str
        Name and SHA-256 of its model.
    pictures : list of Picture
    found : list of array (n, 6)
        Detections in each picture.
    """

    info: dict
    confidence: float
    iou: float
    model: str
    sha256: str
    pictures: list
    found: list


def run_page(options):
    """Open the page and let it detect in all of its sample pictures."""
    address = page_url(options.html, backend="webgpu" if options.webgpu else "wasm")
    webgpu = "hardware" if options.webgpu else None
    with open_page(address, webgpu=webgpu) as (page, _):
        info = wait_ready(page, seconds=300)
        model, sha256 = page_model(page)
        confidence = choose_threshold(page, "confidence", options.confidence)
        iou = choose_threshold(page, "iou", None)
        pictures = page_pictures(page)
        if options.lossless:
            pictures = [picture.as_png() for picture in pictures]
        found = [detect_in_page(page, picture) for picture in pictures]
    return PageResults(info, confidence, iou, model, sha256, pictures, found)


def open_models(paths, info):
    """Open the model files for one picture a call; detectors by column title.

    Raises
    ------
    ComparisonError
        Where a model's size or classes aren't those of the page's.
    """
    detectors = {}
    for path in paths:
        detector = open_detector(path, batch_size=1)
        size, names = detector.image_size, detector.classes
        if list(info["size"]) != [size, size] or list(info["names"]) != names:
            raise ComparisonError(
                f"{path} takes {size} px and has the classes {', '.join(names)}, but the page's "
                f"model takes {info['size'][0]} px and has {', '.join(info['names'])}: build the "
                "page from the same model"
            )
        runtime = "PyTensor" if isinstance(detector, PyTensorDetector) else "onnxruntime"
        title = runtime if runtime not in detectors else f"{runtime} {len(detectors) + 1}"
        detectors[title] = detector
    return detectors


def largest_difference(found):
    """The largest differences among all pairs of runtimes; `found` is a list of (n, 6) arrays."""
    total = Difference()
    for first, second in itertools.combinations(found, 2):
        total = total.add(match(first, second))
    return total


def compare(detectors, results):
    """Run the detectors over the page's pictures and compare everything with everything.

    Returns
    -------
    list of (str, list of int, Difference)
        Of each picture: title, number of detections in each runtime, the page last, and how far
        they are apart.
    """
    rows = []
    for picture, in_page in zip(results.pictures, results.found, strict=True):
        pixels = picture.pixels()
        found = [
            detect_in_python(detector, pixels, results.confidence, results.iou)
            for detector in detectors.values()
        ]
        found.append(in_page)
        rows.append((picture.title, [len(f) for f in found], largest_difference(found)))
    return rows


# ------------------------------------------------------------------------------ results


def format_table(columns, rows, confidence):
    """Text of a table of what `compare` returns, under the titles of the runtimes."""
    lines = [["picture", *columns, "box, px", "score", "unmatched", "at threshold"]]
    for title, counts, difference in rows:
        missing = difference.missing(confidence)
        numbers = [f"{difference.box:.4f}", f"{difference.score:.6f}", missing]
        lines.append([title, *counts, *numbers, len(difference.lonely) - missing])
    cells = [[str(cell) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        )
        for row in cells
    )


def describe_page(results):
    """The page's model and how it runs, as one line."""
    info = results.info
    how = f"{info['backend']}, {info['threads']} thread(s)"
    if info["backend"] == "webgpu":
        how = f"WebGPU on {info['adapter'] or 'an adapter without a name'}"
    return f"page: {results.model} by {how}; threshold {results.confidence}, IoU {results.iou}"


def note_other_model(paths, sha256):
    """Say so where the page was built from none of the ONNX files, whose differences then count."""
    files = [Path(path) for path in paths if Path(path).suffix.lower() == ".onnx"]
    if files and sha256 not in [hashlib.sha256(f.read_bytes()).hexdigest() for f in files]:
        print("note: the page holds other bytes than " + ", ".join(map(str, files)))


def parse_arguments(arguments=None):
    """Parse the command line; see ``--help``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add(
        "models", nargs="+", metavar="MODEL", help="best.safetensors and its export, or one of both"
    )
    add("--html", default=PAGE, help="the page, with its built model; default: beside this script")
    add("--confidence", type=float, metavar="SCORE", help="least score; default: the model's own")
    add("--webgpu", action="store_true", help="the page shall use WebGPU; default: WebAssembly")
    add("--lossless", action="store_true", help="hand the pictures to the page as PNG")
    options = parser.parse_args(arguments)
    if options.confidence is not None and options.confidence not in CONFIDENCES:
        parser.error("--confidence must be one of the slider's, 0.01 to 0.99 in steps of 0.01")
    return options


def run(options):
    """Compare as the command line says; whether all agree."""
    results = run_page(options)
    detectors = open_models(options.models, results.info)
    print(describe_page(results))
    note_other_model(options.models, results.sha256)
    rows = compare(detectors, results)
    confidence = results.confidence
    print(format_table([*detectors, "page"], rows, confidence))
    if not any(any(counts) for _, counts, _ in rows):
        raise ComparisonError(
            "nothing was detected in any picture, which compares nothing: is the model trained?"
        )
    failed = [title for title, _, difference in rows if difference.fails(confidence)]
    limits = f"{MAX_BOX_DIFFERENCE} px, {MAX_SCORE_DIFFERENCE} in scores, every detection matched"
    print(f"differences in {', '.join(failed)}" if failed else "all agree", f"(limits: {limits})")
    return not failed


def main(arguments=None):
    """Compare as the command line says.

    Returns
    -------
    int
        The exit code.
    """
    options = parse_arguments(arguments)
    try:
        return 0 if run(options) else 1
    except (BrowserError, CheckpointError, ComparisonError, ModelError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
