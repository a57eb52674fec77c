"""Stills that play as films, as a webcam gives them: what the page draws and counts in them."""

import io
import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from evaluation.detectors import OnnxDetector, detect_in
from PIL import Image
from tools.build_demo import DEMO, assets_of


def moved_still(picture, rng, count=20):
    """Yield frames of a picture as a webcam gives them: moved by up to 8 px, noise of 4 levels."""
    height, width = picture.shape[:2]
    wide = np.pad(picture, ((8, 8), (8, 8), (0, 0)), mode="edge")
    for _ in range(count):
        left, top = rng.integers(0, 17, 2)
        frame = wide[top : top + height, left : left + width] + rng.normal(0, 4, picture.shape)
        yield frame.clip(0, 255).round().astype(np.uint8)


def films_of(pictures, folder, count=20):
    """Return what the page's model finds in `count` frames of each picture, and its thresholds.

    Each detection is x1, y1, x2, y2, score, class; the weak ones that keep a box are among them.
    """
    model = folder / "page.onnx"
    model.write_bytes(page_assets()["model"])
    detector = OnnxDetector(model, batch_size=1)
    limits, rng = detector.suppression.confidence, np.random.default_rng(0)
    films = [
        [detect_in(detector, frame, 0.2 * limits).tolist() for frame in moved_still(p, rng, count)]
        for p in pictures
    ]
    return films, [*limits]


def page_assets():
    """Return the assets of the page in the repository that belong to its model."""
    return assets_of((DEMO / "demo_assets/model.js").read_text(encoding="utf-8"))


def followed(films, thresholds, folder):
    """Return what the page's rules make of films of detections; see ``page/test/steady.js``."""
    if not shutil.which("node"):
        pytest.skip("no Node.js on the PATH; bash setup.sh puts one into .venv/bin")
    file = folder / "films.json"
    file.write_text(json.dumps({"films": films, "thresholds": thresholds}))
    command = ["node", DEMO / "page/test/steady.js", file]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


@pytest.mark.slow
def test_a_still_is_counted_the_same_after_20_and_80_seconds(tmp_path):
    """At ten frames a second, in the page's samples: just what is there."""
    assets = page_assets()
    samples = json.loads(assets["samples"])
    pictures = [Image.open(io.BytesIO(assets[one["asset"]])).convert("RGB") for one in samples]
    films, limits = films_of(map(np.asarray, pictures), tmp_path)
    rng = np.random.default_rng(1)
    films = [[film[k] for k in rng.integers(0, len(film), 800)] for film in films]
    for sample, report in zip(samples, followed(films, limits, tmp_path), strict=True):
        numbers = {
            name: int(n) for n, name in re.findall(r"(\d) (person|cell phone)", sample["title"])
        }
        there = [numbers.get(name, 0) for name in ("person", "cell phone")]
        assert report["seen"][199] == report["seen"][799] == there, sample["title"]
