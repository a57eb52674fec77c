"""The page's letterbox, suppression and metadata in Node: they compute what Python does."""

import base64
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from data.images import letterbox
from tools.build_demo import DEMO, runtime_problem
from utils import nms, scale_detections

RNG = np.random.default_rng(0)
SHAPES = [  # width and height of pictures, side of the square
    (1280, 720, 320),  # cameras
    (640, 480, 320),
    (320, 240, 320),  # along one side as large as the square
    (53, 37, 64),  # enlarged
    (1, 1, 32),
    (1, 700, 64),  # one pixel wide after the resize
    (1000, 3, 64),
    (333, 501, 192),  # odd padding
    *[(100, 199, 64), (100, 200, 64), (100, 203, 64), (90, 700, 96)],  # about twice as tall as wide
    *[(203, 100, 64), (700, 90, 96), (20, 90, 96)],
    (641, 479, 640),
    (5, 3, 7),
]


def to_text(array):
    """Return the Base64 of an array's bytes."""
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def geometry_in_page(geometry):
    """Return a `Letterbox` under the names that the page gives its numbers."""
    names = {"resized_width": "resizedWidth", "resized_height": "resizedHeight"}
    fields = ("size", "width", "height", "resized_width", "resized_height", "left", "top")
    return {names.get(field, field): getattr(geometry, field) for field in fields}


def letterbox_case(width, height, size):
    image = RNG.integers(0, 256, (height, width, 4), dtype=np.uint8)  # alpha must not matter
    canvas, geometry = letterbox(np.ascontiguousarray(image[..., :3]), size)
    expected = canvas.transpose(2, 0, 1).astype(np.float32) / np.float32(255)
    return {
        "geometry": geometry_in_page(geometry),
        "rgba": to_text(image),
        "expected": to_text(expected),
    }


def crowd(classes, anchors, steps):
    """Draw predictions with many overlaps; with `steps`, of few different scores and places."""
    places = RNG.uniform(0, 320, (12, 2))[RNG.integers(0, 12, anchors)]
    centers = places + RNG.normal(0, 6, (anchors, 2))
    sides = RNG.uniform(5, 90, (anchors, 2))
    scores = RNG.uniform(0, 1, (anchors, classes))
    if steps:
        centers, sides = centers.round(-1), sides.round(-1)
        scores = (scores * steps).round() / steps
    return np.concatenate([centers, sides, scores], axis=1).T.astype(np.float32)


def nms_case(classes, anchors, steps, confidence, iou, most=300):
    confidence = np.linspace(confidence, 1 - confidence, classes)  # of each class its own
    predictions = crowd(classes, anchors, steps)
    _, geometry = letterbox(np.zeros((601, 1000, 3), np.uint8), 320)
    found = scale_detections(nms(predictions, confidence, iou, most, multi_label=False), geometry)
    return {
        "output": to_text(predictions),
        "classes": classes,
        "geometry": geometry_in_page(geometry),
        "options": {"confidence": confidence.tolist(), "iou": iou, "maxDetections": most},
        "expected": found.astype(float).tolist(),
    }


def find_node():
    """Find Node.js, of the PATH or where setup.sh has put one; skip the test without."""
    places = [os.environ.get("PATH", ""), str(Path(sys.executable).parent)]
    node = shutil.which("node", path=os.pathsep.join(places))
    if node is None:
        pytest.skip("there is no Node.js, which runs the tests of the page's numbers")
    return node


@pytest.mark.slow
def test_the_page_computes_what_python_does(tmp_path):
    vectors = {
        "letterbox": [letterbox_case(*shape) for shape in SHAPES],
        "nms": [
            nms_case(classes, 500, steps, confidence, iou)
            for classes, steps in ((1, None), (2, None), (2, 4), (80, 5))
            for confidence in (0.0, 0.25, 0.9)
            for iou in (0.0, 0.45, 0.7, 1.0)
        ],
    }
    vectors["nms"].append(nms_case(3, 2100, None, 0.3, 0.6, most=40))
    assert len(vectors["nms"][-1]["expected"]) == 40
    file = tmp_path / "vectors.json"
    file.write_text(json.dumps(vectors))
    if problem := runtime_problem():
        pytest.skip(problem)
    tests = [DEMO / f"page/test/{name}.test.js" for name in ("letterbox", "nms")]
    result = subprocess.run(
        [find_node(), "--test", *tests],
        env=os.environ | {"PAGE_VECTORS": str(file)},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout[-5000:]
    assert "# skipped 0" in result.stdout or "skipped 0" in result.stdout
