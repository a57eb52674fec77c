"""Download, training, evaluation of the weights and of the ONNX file, as a user starts them.

Every step is a process of its own, with a loopback server that has a tiny COCO and some faults.
"""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from data import coco
from dataset import find_data

from tests.examples.coco_server import ARCHIVE, Answer, CocoServer

pytestmark = pytest.mark.training

FOLDER = Path(coco.__file__).parents[1]
SIZE, BATCH = 64, 8
FAULTS = {
    ARCHIVE: [Answer(cut=2000)],
    "train2017/000000000001.jpg": [Answer(status=500)],
    "train2017/000000000002.jpg": [Answer(cut=300), Answer(reset=True)],
    "val2017/000000001001.jpg": [Answer(status=404)],
    "val2017/000000001002.jpg": [Answer(body=b"<html>busy</html>")],
}


def run_script(name, *arguments, cwd, **variables):
    """Run a script of the demo, which must succeed; the finished process."""
    kept = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    own = {
        "PYTENSOR_FLAGS": "",
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_backend_optimization_level=0",  # compiles sooner; the rest is short
    }
    done = subprocess.run(
        [sys.executable, str(FOLDER / name), *map(str, arguments)],
        cwd=cwd,
        env=kept | own | variables,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done


def evaluate(model, subset, cwd):
    """Metrics of a model on the subset."""
    output = cwd / f"evaluation{model.suffix}"
    own = ["--output-dir", output, "--batch-size", BATCH]
    # Nothing may be fetched any more.
    variables = {"COCO_BASE_URL": "http://127.0.0.1:9"}
    run_script("evaluate_yolo11n.py", model, "--data", subset, *own, cwd=cwd, **variables)
    return json.loads((output / "metrics.json").read_text())


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A finished training run and the evaluation of what it left."""
    tmp = tmp_path_factory.mktemp("end_to_end")
    options = (
        f"--data coco --data-dir {tmp}/coco --train-images 24 --val-images 12 --image-size {SIZE} "
        f"--batch-size {BATCH} --nominal-batch {BATCH} --warmup-epochs 0 --epochs 2 --val-every 1 "
        f"--workers 1 --compilation-cache off --output-dir {tmp}/run"
    )
    # Untrained, the model predicts boxes as large as the picture.
    with CocoServer(train=40, val=20, sides=(0.75, 0.95)) as server:
        for path, answers in FAULTS.items():
            server.set(path, *answers)
        done = run_script("train_yolo11n.py", *options.split(), cwd=tmp, **server.environment)
    (subset,) = (tmp / "coco/subsets").iterdir()
    run = tmp / "run"
    with open(run / "results.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return SimpleNamespace(
        run=run,
        done=done,
        server=server,
        subset=subset,
        rows=rows,
        weights=evaluate(run / "best.safetensors", subset, tmp),
        onnx=evaluate(run / f"yolo11n_{SIZE}_trained.onnx", subset, tmp),
    )


def test_the_data_come_from_the_server(trained):
    paths, requests = find_data(trained.subset), trained.server.requests
    for split, json_file, folder, count in [
        ("train", paths.train_json, paths.train_images, 24),
        ("val", paths.val_json, paths.val_images, 12),
    ]:
        images = json.loads(json_file.read_text())["images"]
        assert len(images) == count
        for image in images:
            name = f"{split}2017/{Path(image['file_name']).name}"
            assert (folder / image["file_name"]).read_bytes() == trained.server.files[name]
            assert requests[name] == 1 + len(FAULTS.get(name, []))
    assert requests[ARCHIVE] == 2
    assert sum(requests.values()) == 1 + 24 + 12 + sum(map(len, FAULTS.values()))
    assert f"--data {trained.subset}" in trained.done.stderr


def test_the_run_leaves_its_files(trained):
    assert [row["epoch"] for row in trained.rows] == ["1", "2"]
    assert all(float(row["map50"]) >= 0 for row in trained.rows)
    for name in ("last.safetensors", "metrics.json", "results.png", "val_detections.png"):
        assert (trained.run / name).stat().st_size > 100
    assert "exported " in trained.done.stdout


def flat(values, prefix=""):
    """The numbers of nested dicts by their path."""
    found = {}
    for name, value in values.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}.")
        elif isinstance(value, int | float):
            found[f"{prefix}{name}"] = value
    return found


def test_weights_and_onnx_file_score_the_same(trained):
    weights, onnx = trained.weights, trained.onnx
    assert weights["images"] == onnx["images"] == 12
    assert weights["classes"] == onnx["classes"] == ["person", "cell phone"]
    for kind in ("metrics", "coco"):
        # So little training leaves scores that float32 knows to 3e-4 only: some change places.
        assert flat(weights[kind]) == pytest.approx(flat(onnx[kind]), abs=5e-3)
    assert weights["coco"]["map50"] > 0.1  # two zeros would say nothing


def test_evaluation_scores_as_training_did(trained):
    """With the statistics that were measured after the last epoch, which results.csv lacks."""
    metrics = json.loads((trained.run / "metrics.json").read_text())
    best = max(trained.rows, key=lambda row: float(row["map50_95"]))
    assert metrics["best_epoch"] == int(best["epoch"])
    for name in ("map50", "map50_95"):
        assert trained.weights["coco"][name] == pytest.approx(metrics[name], abs=1e-4)
