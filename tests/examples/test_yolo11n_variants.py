"""Real runs of train_yolo11n.py with what makes it compile anew, each in processes of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import train_yolo11n
from model import YOLO11n
from training.checkpoint import save_weights

from tests.examples.yolo11n_runs import command, read_rows, write_data
from tests.link.jax.data_parallel import free_port

LOSSES = ("box_loss", "cls_loss", "dfl_loss")
# Compiles sooner; what is run after that is short.
FLAGS = "--xla_backend_optimization_level=0"
TWO_DEVICES = {"XLA_FLAGS": f"{FLAGS} --xla_force_host_platform_device_count=2"}

pytestmark = pytest.mark.long


class Runs:
    """Starts the script on one data set; what was compiled is shared on disk."""

    def __init__(self, root):
        self.root, self.data = root, write_data(root / "data")

    def start(self, name, *arguments, **variables):
        own = ["--epochs", 2, "--val-every", 1, "--log-every", 1, "--workers", 1]
        own += ["--mosaic", 1, "--close-mosaic", 0, "--output-dir", self.root / name]
        return subprocess.Popen(
            [sys.executable, train_yolo11n.__file__, *command(self.data, *own, *arguments)],
            env=os.environ
            | {
                "JAX_PLATFORMS": "cpu",
                "PYTENSOR_FLAGS": "",
                "XLA_FLAGS": FLAGS,
                "JAX_COMPILATION_CACHE_DIR": str(self.root / "cache"),
            }
            | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, *processes):
        """Wait for processes, which must succeed; what each printed."""
        try:
            printed = [process.communicate(timeout=1500) for process in processes]
        finally:
            for process in processes:
                process.kill()
                process.wait()
        for process, (out, err) in zip(processes, printed, strict=True):
            assert process.returncode == 0, out + err
        return [out for out, _ in printed]

    def run(self, name, *arguments, **variables):
        [out] = self.finish(self.start(name, *arguments, **variables))
        return out

    def losses(self, name):
        rows = read_rows(self.root / name / "steps.csv")
        assert len(rows) == 6
        return np.array([[float(row[part]) for part in LOSSES] for row in rows])

    def metrics(self, name):
        return json.loads((self.root / name / "metrics.json").read_text())


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    runs = Runs(tmp_path_factory.mktemp("variants"))
    runs.run("plain")
    return runs


def assert_same_training(runs, name, rtol):
    # Later steps see weights that differ a little, and losses jump where an anchor is assigned
    # otherwise.
    losses = runs.losses("plain")[:3]
    assert losses.min() > 0.1
    np.testing.assert_allclose(runs.losses(name)[:3], losses, rtol=rtol)
    assert runs.metrics(name)["onnx"]["box_difference"] < 0.05


def test_images_drawn_on_the_device(runs):
    runs.run("device", "--device-augment", "on")
    assert_same_training(runs, "device", 1e-3)


def test_two_devices(runs):
    runs.run("two", "--devices", 2, **TWO_DEVICES)
    assert_same_training(runs, "two", 1e-3)


@pytest.mark.parametrize("augment", ["off", "on"])
def test_two_processes(runs, augment):
    name = f"processes-{augment}"
    own = ["--coordinator", f"127.0.0.1:{free_port()}", "--num-processes", 2, "--process-id"]
    device = ["--device-augment", augment]
    first, second = runs.finish(*(runs.start(name, *device, *own, k) for k in range(2)))
    assert "best weights (epoch " in first
    assert "mAP" not in second  # the main process alone tells
    assert_same_training(runs, name, 1e-3)
    # A resumed run has nothing left to train, and makes the same final files.
    metrics = runs.metrics(name)
    (runs.root / name / "metrics.json").unlink()
    own[1] = f"127.0.0.1:{free_port()}"
    runs.finish(*(runs.start(name, *device, *own, k, "--resume") for k in range(2)))
    assert runs.metrics(name)["last"] == metrics["last"]


def test_disk_cache_and_patience(runs):
    cache = runs.root / "pictures"
    own = ["--epochs", 9, "--patience", 1, "--cache", "disk", "--cache-dir", cache, "--lr", 1e-9]
    out = runs.run("patience", *own)
    assert len(read_rows(runs.root / "patience" / "results.csv")) == 2
    assert "no better mAP@0.5:0.95 for 1 epochs: training ends here" in out
    assert list(cache.iterdir())
    assert runs.metrics("patience")["best_epoch"] == 1


def test_adamw_from_weights_of_more_classes(runs):
    path = runs.root / "coco.safetensors"
    save_weights(path, YOLO11n(80, seed=5).state_dict(), {})
    out = runs.run("weights", "--weights", path, "--optimizer", "auto")
    assert "418 of 418 arrays taken" in out
    content = json.loads((runs.root / "weights" / "settings.json").read_text())
    assert content["recipe"]["optimizer"] == "adamw"
    assert np.isfinite(runs.losses("weights")).all()
    assert Path(runs.root / "weights" / "yolo11n_64_trained.onnx").stat().st_size > 10**6
