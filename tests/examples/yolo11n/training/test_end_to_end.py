"""Download, training, evaluation of the weights and of the ONNX file, as a user starts them.

Every step is a process of its own, with a loopback server that has a tiny COCO.
"""

import csv
import json
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from data import coco
from evaluation.metrics import TWELVE

from tests.examples.coco_server import CocoServer
from tests.examples.conftest import run_python
from tests.examples.yolo11n.data import writers

pytestmark = pytest.mark.training

FOLDER = Path(coco.__file__).parents[1]
SIZE, BATCH = 64, 8


def run_script(name, *arguments, cwd, **variables):
    """Run a script of the demo, which must succeed; the finished process."""
    own = {
        "PYTHONWARNINGS": "",
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
        # compiles sooner; the rest is short
        "XLA_FLAGS": "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true",
    }
    done = run_python([FOLDER / name, *arguments], cwd, **own | variables)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done


def evaluate(model, subset, cwd):
    """Return metrics of a model on the subset."""
    output = cwd / f"evaluation{model.suffix}"
    own = ["--data", subset, "--output-dir", output]
    # Nothing may be fetched any more.
    variables = {"COCO_BASE_URL": "http://127.0.0.1:9"}
    run_script("evaluate_yolo11n.py", model, *own, cwd=cwd, **variables)
    return json.loads((output / "metrics.json").read_text())


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Train a run to its end, and evaluate what it left."""
    tmp = tmp_path_factory.mktemp("end_to_end")
    options = (
        f"--data coco --data-dir {tmp}/coco --train-images 24 --val-images 12 --image-size {SIZE} "
        f"--batch-size {BATCH} --nominal-batch {BATCH} --warmup-epochs 0 --epochs 2 --val-every 1 "
        f"--workers 1 --compilation-cache off --output-dir {tmp}/run"
    )
    # Untrained, the model predicts boxes as large as the picture.
    with CocoServer(train=40, val=20, sides=(0.75, 0.95)) as server:
        done = run_script("train_yolo11n.py", *options.split(), cwd=tmp, **server.environment)
    (subset,) = (tmp / "coco/subsets").iterdir()
    run = tmp / "run"
    with open(run / "results.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return SimpleNamespace(
        run=run,
        done=done,
        subset=subset,
        rows=rows,
        weights=evaluate(run / "best.safetensors", subset, tmp),
        onnx=evaluate(run / f"yolo11n_{SIZE}_trained.onnx", subset, tmp),
    )


def test_the_run_leaves_its_files(trained):
    assert [row["epoch"] for row in trained.rows] == ["1", "2"]
    assert all(float(row["map50"]) >= 0 for row in trained.rows)
    assert f"--data {trained.subset}" in trained.done.stderr
    for name in ("last.safetensors", "metrics.json", "results.png", "val_detections.png"):
        assert (trained.run / name).stat().st_size > 100
    assert "exported " in trained.done.stdout


def test_weights_and_onnx_file_score_the_same(trained):
    weights, onnx = trained.weights, trained.onnx
    assert weights["images"] == onnx["images"] == 12
    assert weights["classes"] == onnx["classes"] == ["person", "cell phone"]
    # So little training leaves scores so alike that rounding makes some change places, by 0.025.
    twelve = ({key: m["coco"]["twelve"][key] for key in TWELVE} for m in (weights, onnx))
    assert next(twelve) == pytest.approx(next(twelve), abs=3e-2)
    assert weights["coco"]["map50"] > 0.1  # two zeros would say nothing


def test_evaluation_scores_as_training_did(trained):
    """With the statistics that were measured after the last epoch, which results.csv lacks."""
    metrics = json.loads((trained.run / "metrics.json").read_text())
    best = max(trained.rows, key=lambda row: float(row["map50_95"]))
    assert metrics["best_epoch"] == int(best["epoch"])
    for name in ("map50", "map50_95"):
        assert trained.weights["coco"][name] == pytest.approx(metrics[name], abs=1e-4)


@pytest.mark.long
def test_own_pictures_by_one_command(tmp_path):
    """All classes, the weights that have seen photographs, and what is said before and after."""
    writers.voc_of_labelimg(tmp_path / "set")
    own = f"--data {tmp_path}/set --output-dir {tmp_path}/run --epochs 1 --image-size {SIZE}"
    done = run_script("train_yolo11n.py", *own.split(), "--no-build-page", cwd=tmp_path)
    for said in (
        "preset auto, for 4 training images with 4 boxes of 2 classes",
        "  --batch-size 4 --nominal-batch 4: few images make few steps",
        "weights/real.safetensors: all layers; in the last one, by class: "
        "bolt (from random weights), large nut (from random weights)",
        f"labels as they are read: {tmp_path}/run/labels.png",
        "  2 images tell nothing: label at least 30 for the validation",
        "  label more of ",
    ):
        assert said in done.stdout
    metrics = json.loads((tmp_path / "run/metrics.json").read_text())
    assert metrics["classes"] == ["bolt", "large nut"]
    assert (tmp_path / "run/yolo11n_64_trained.onnx").stat().st_size > 10**6
    guide = (FOLDER.parents[2] / "docs/tutorials/own_pictures.md").read_text()
    [line] = re.findall(r"^    python detect.py (.*)", guide, re.MULTILINE)
    line = line.replace("PATH/new_photographs", "set").replace("runs/yolo11n", "run")
    assert "6 pictures: " in run_script("detect.py", *line.split(), cwd=tmp_path).stdout
    assert len([*(tmp_path / "runs/detect/drawn").iterdir()]) == 6
    # Labels that have changed since are no reason to go on.
    file = tmp_path / "set/a.xml"
    file.write_text(file.read_text().replace("<xmin>2", "<xmin>3"))
    arguments = [FOLDER / "train_yolo11n.py", *own.split(), "--resume"]
    failed = run_python(arguments, tmp_path, PYTHONWARNINGS="")
    assert failed.returncode == 1
    assert "pictures or labels of the training set have changed since the run" in failed.stderr


PHOTOGRAPHS = os.environ.get("PHOTOGRAPHS", "")
WITH_LAPTOP = {52, 119, 142, 184, 253, 314, 370, 421, 513, 519, 547, 605}  # the first ids
# As the preset, or the default; the rest is the same for all.
AVERAGES = "--ema-decay 0.99 --ema-steps 100 --warmup-epochs 5"
OTHER_SETTINGS = {
    "default": "--batch-size 12",
    "small batch": f"--batch-size 4 --nominal-batch 4 {AVERAGES}",
    "AdamW": f"--batch-size 4 --nominal-batch 4 {AVERAGES} --optimizer adamw --lr 0.001",
}
CHANCE = 0.02  # validation shows 17 laptops


@pytest.mark.long
@pytest.mark.skipif(
    not PHOTOGRAPHS, reason="the variable PHOTOGRAPHS names no folder of photographs"
)
def test_the_preset_makes_as_much_of_few_pictures_as_other_settings(tmp_path):
    """Twelve photographs with a laptop: nearly nothing, which is said."""
    (tmp_path / "set/annotations").mkdir(parents=True)
    (tmp_path / "set/images").symlink_to(Path(PHOTOGRAPHS, "images").resolve())
    for part in ("train", "val"):
        content = json.loads(Path(PHOTOGRAPHS, f"annotations/others_{part}.json").read_text())
        [laptop] = [each for each in content["categories"] if each["name"] == "laptop"]
        images = content["images"]
        if part == "train":
            images = [image for image in images if image["id"] in WITH_LAPTOP]
        for image in images:
            del image["complete"]  # it names other classes, too
        ids = {image["id"] for image in images}
        boxes = [
            box
            for box in content["annotations"]
            if box["category_id"] == laptop["id"] and box["image_id"] in ids
        ]
        content = {"categories": [laptop], "images": images, "annotations": boxes}
        (tmp_path / f"set/annotations/instances_{part}.json").write_text(json.dumps(content))

    def scores(name, *arguments):
        common = ["--data", "set", "--output-dir", name, "--no-export"]
        done = run_script("train_yolo11n.py", *common, *arguments, cwd=tmp_path, XLA_FLAGS="")
        return json.loads((tmp_path / name / "metrics.json").read_text())["map50"], done.stdout

    preset, said = scores("preset")
    assert "warning: 12 images and 300 steps: expect little;" in said
    same = "--preset none --weights real --image-size 256 --epochs 100 --close-mosaic 25"
    others = {
        name: scores(name, *same.split(), "--val-every", 10, *own.split())[0]
        for name, own in OTHER_SETTINGS.items()
    }
    print(f"preset {preset:.4f}, others {others}")
    assert preset > max(others.values()) - CHANCE
