"""Photographs of persons and cell phones, which don't belong to this repository.

The variable PHOTOGRAPHS names a folder of them, in COCO's layout; without it these tests skip.
"""

import json
import os
from pathlib import Path

import export
import numpy as np
import pytest
from dataset import load_split
from evaluation.detectors import OnnxDetector, PyTensorDetector, detect, detect_in
from evaluation.metrics import coco_map
from PIL import Image
from tools.compare_runtimes import (
    MAX_BOX_DIFFERENCE,
    MAX_SCORE_DIFFERENCE,
    differences,
    page_detections,
    png_url,
)
from training.checkpoint import REAL_WEIGHTS
from training.weights import load_model

from tests.examples.conftest import CLASSES
from tests.examples.yolo11n.page.browsers import open_browser, ready_page
from tests.examples.yolo11n.page.conftest import build_site
from tests.examples.yolo11n.page.test_steady import films_of, followed

FOLDER = os.environ.get("PHOTOGRAPHS", "")
pytestmark = pytest.mark.skipif(
    not FOLDER, reason="the variable PHOTOGRAPHS names no folder of photographs"
)
SIZE, CONFIDENCE, IOU = 320, 0.25, 0.45
# AP at an overlap of 0.5 on 200 photographs, below what weights/README.md says of all.
LEAST = {"person": 0.2, "cell phone": 0.2}


@pytest.fixture(scope="module")
def real_onnx(tmp_path_factory):
    """Export the committed weights as an ONNX file for one picture."""
    path = tmp_path_factory.mktemp("real") / "real.onnx"
    model, info = load_model(REAL_WEIGHTS)
    export.export_detector(model, path, info["classes"], SIZE)
    return path


@pytest.fixture(scope="module")
def real_site(real_onnx, tmp_path_factory):
    without = ["teaching_assets", "reference_assets"]
    return build_site(real_onnx, tmp_path_factory.mktemp("real_site"), without=without)


@pytest.mark.slow
def test_every_picture_and_box_is_read():
    dataset = load_split(Path(FOLDER), "val", None, 32)
    file = json.loads((Path(FOLDER) / "annotations/instances_val.json").read_text())
    assert (dataset.skipped, dataset.changed) == ([], [])
    assert len(dataset) == len(file["images"])
    report = dataset.report
    boxes = report["boxes"] + report["regions"] + report["zero_area"] + report["duplicates"]
    assert boxes == len(file["annotations"])


@pytest.mark.slow
def test_the_committed_weights_find_persons_and_phones(real_onnx):
    detector = OnnxDetector(real_onnx)
    dataset = load_split(Path(FOLDER), "val", CLASSES, SIZE, spread=200)
    scores = coco_map(dataset, detect(detector, dataset, detector.batch_size))["per_class"]
    for name, least in LEAST.items():
        assert scores[name]["map50"] >= least, scores


def agree(found, expected):
    """Check that two lists of detections are the same, by the limits of `compare_runtimes`."""
    box, score, lonely = differences(found, expected)
    assert box <= MAX_BOX_DIFFERENCE
    assert score <= MAX_SCORE_DIFFERENCE
    assert [row for row in lonely if row[4] > CONFIDENCE + MAX_SCORE_DIFFERENCE] == []
    return len(found)


@pytest.mark.browser
@pytest.mark.parametrize("count", [10, pytest.param(100, marks=pytest.mark.long)])
def test_boxes_are_equal_in_python_onnxruntime_and_the_page(real_onnx, real_site, count):
    dataset = load_split(Path(FOLDER), "val", CLASSES, 32, spread=count)
    python, onnx = PyTensorDetector(REAL_WEIGHTS, SIZE, batch_size=1), OnnxDetector(real_onnx)
    total = 0
    with open_browser() as browser, ready_page(browser, real_site.url) as page:
        page.fill("#iou", f"{IOU:g}")
        for place in range(len(dataset)):
            pixels = dataset.picture(place)
            expected = detect_in(onnx, pixels, CONFIDENCE, IOU)
            agree(detect_in(python, pixels, CONFIDENCE, IOU), expected)
            last = page.evaluate("url => demo.detectImage(url)", png_url(pixels))
            total += agree(page_detections(last), expected)
    assert total >= count / 2


def box_changes(sources, class_id, count, folder):
    """Return how often the boxes of the page's model change in 19 steps, of `count` pictures.

    These are the first by name that begin with `sources` and show the class. The arrays ``found``
    and ``drawn`` are without and with the rules by which the page follows things.
    """
    file = json.loads((Path(FOLDER) / "annotations/instances_val.json").read_text())
    shown = {row["image_id"] for row in file["annotations"] if row["category_id"] == class_id}
    names = sorted(row["file_name"] for row in file["images"] if row["id"] in shown)
    names = [name for name in names if name.startswith(sources)][:count]
    if len(names) < count:
        pytest.skip(f"PHOTOGRAPHS has {len(names)} pictures {sources}*; this test needs {count}")
    pictures = [Image.open(Path(FOLDER) / "images/val" / name).convert("RGB") for name in names]
    films, limits = films_of(map(np.asarray, pictures), folder)
    report = followed(films, limits, folder)
    return {key: np.array([row[key] for row in report]) for key in ("found", "drawn")}


@pytest.mark.long
@pytest.mark.parametrize(
    ("sources", "class_id", "count", "steady"), [("voc2012_", 1, 28, 25), ("unsplash_", 77, 16, 14)]
)
def test_boxes_in_moved_stills_are_steady(sources, class_id, count, steady, tmp_path):
    changes = box_changes(sources, class_id, count, tmp_path)
    assert changes["drawn"].mean() <= 0.5
    assert changes["drawn"].mean() <= 0.2 * changes["found"].mean()
    assert (changes["drawn"] == 0).sum() >= steady
