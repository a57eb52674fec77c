"""Whole runs of train_yolo11n.py, as a user starts them: each session is a process of its own."""

import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import train_yolo11n
from model import BACKBONE, YOLO11n
from PIL import Image
from training.checkpoint import load_weights, save_weights
from training.train_step import LOSS_PARTS

from tests.examples.conftest import CLASSES, edit
from tests.examples.yolo11n.training.runs import (
    BATCH,
    SIZE,
    command,
    read_rows,
    without_times,
    write_data,
)

pytestmark = [pytest.mark.long, pytest.mark.training, pytest.mark.usefixtures("compiler")]

EPOCHS = 40
ONNX = f"yolo11n_{SIZE}_trained.onnx"
DFL = "model.23.dfl.conv.weight"
# Compiles sooner; what is run after that is short.
FLAGS = "--xla_backend_optimization_level=0"
# In single precision, with sums in another order.
ROUNDING = 1e-3


class Sessions:
    """Starts the script on one data set; what was compiled is shared on disk."""

    def __init__(self, root):
        self.root, self.data = root, write_data(root / "data")

    def start(self, name, *arguments, preexec_fn=None, **variables):
        own = ["--log-every", 1, "--output-dir", self.root / name]
        cache = self.root / "cache"
        return subprocess.Popen(
            [sys.executable, train_yolo11n.__file__,
             *command(self.data, *own, "--compilation-cache", cache, *arguments)],
            env=os.environ
            | {
                "JAX_PLATFORMS": "cpu",
                "PYTENSOR_FLAGS": "",
                "XLA_FLAGS": FLAGS,
                "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            }
            | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=preexec_fn,
        )  # fmt: skip

    def finish(self, *processes, code=0):
        """Wait for processes; (stdout, stderr) of each."""
        try:
            printed = [process.communicate(timeout=1500) for process in processes]
        finally:
            for process in processes:
                process.kill()
                process.wait()
        for process, (out, err) in zip(processes, printed, strict=True):
            assert process.returncode == code, out + err
        return printed

    def run(self, name, *arguments, code=0, **options):
        [printed] = self.finish(self.start(name, *arguments, **options), code=code)
        return printed

    def interrupt(self, name, number, rows, *arguments):
        """Signal a session when steps.csv has so many rows; return (return code, stdout)."""
        steps = self.root / name / "steps.csv"
        process = self.start(name, *arguments)
        try:
            end = time.monotonic() + 600
            while not steps.exists() or len(steps.read_text().splitlines()) <= rows:
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < end
                time.sleep(0.002)
            process.send_signal(number)
            out, _ = process.communicate(timeout=300)
        finally:
            process.kill()
            process.wait()
        return process.returncode, out

    def losses(self, name):
        rows = read_rows(self.root / name / "steps.csv")
        return np.array([[float(row[part]) for part in LOSS_PARTS] for row in rows])

    def metrics(self, name):
        return json.loads((self.root / name / "metrics.json").read_text())


@pytest.fixture(scope="module")
def sessions(tmp_path_factory):
    return Sessions(tmp_path_factory.mktemp("runs"))


LEARNING = [
    "--epochs", EPOCHS, "--val-every", 10, "--lr", 0.02, "--schedule", "cosine",
    "--statistics-images", 12,
]  # fmt: skip


@pytest.fixture(scope="module")
def learned(sessions):
    """Return what an unbroken run prints, which asks for too much in the end."""
    out, err = sessions.run("learned", *LEARNING, "--require-map50", 1.1, code=1)
    assert err.startswith("error: mAP@0.5 is ")  # and no bar where there is no terminal
    assert err.count("\n") == 1
    return out


def assert_same_run(sessions, *names):
    """Assert equal losses of all steps, rows, weights and the exported model."""
    one, other = (sessions.root / name for name in names)
    for name in ("results.csv", "steps.csv"):
        rows, others = (without_times(read_rows(folder / name)) for folder in (one, other))
        assert len(rows) > 3
        assert rows == others
    for name in ("last.safetensors", "best.safetensors"):
        (arrays, info), (others, other_info) = (load_weights(f / name) for f in (one, other))
        assert arrays.keys() == others.keys()
        assert [k for k, v in arrays.items() if v.tobytes() != others[k].tobytes()] == []
        for values in (info, other_info):
            if "progress" in values:
                values["progress"]["rows"] = without_times(values["progress"]["rows"])
                values["progress"] |= {"seconds": 0, "waited": 0}
        assert info == other_info
    if (one / ONNX).exists():
        assert (one / ONNX).read_bytes() == (other / ONNX).read_bytes()
    assert not list(other.glob("*.part"))


# ------------------------------------------------------------------------------ a whole run


def test_training_lowers_the_loss_and_writes_everything(sessions, learned):
    folder = sessions.root / "learned"
    rows = read_rows(folder / "results.csv")
    assert [int(row["epoch"]) for row in rows] == list(range(1, EPOCHS + 1))
    losses = [sum(float(row[part]) for part in LOSS_PARTS) for row in rows]
    assert np.mean(losses[-5:]) < 0.5 * np.mean(losses[:5])
    assert float(rows[-1]["map50"]) > 0.4
    assert [int(row["epoch"]) for row in rows if row["map50"]] == [10, 20, 30, 40]
    metrics = sessions.metrics("learned")
    best = max((row for row in rows if row["map50_95"]), key=lambda row: float(row["map50_95"]))
    assert metrics["best_epoch"] == int(best["epoch"])
    assert set(metrics["per_class"]) == set(metrics["last"]["per_class"]) == set(CLASSES)
    assert metrics["epochs"] == EPOCHS
    assert metrics["onnx"]["box_difference"] < 0.05
    for name in ("results.png", "val_detections.png"):
        with Image.open(folder / name) as picture:
            assert min(picture.size) > 100
    arrays, info = load_weights(folder / "best.safetensors")
    assert info["classes"] == CLASSES
    YOLO11n(2).load_state_dict(arrays)
    assert info["map50_95"] == metrics["map50_95"]
    assert sorted(p.name for p in folder.iterdir()) == [
        ".lock", "best.safetensors", "confusion_matrix.csv", "confusion_matrix.png", "curves.csv",
        "curves.png", "labels.png", "last.safetensors", "metrics.json", "mistakes.png",
        "results.csv", "results.png", "settings.json", "steps.csv", "train.log",
        "val_detections.png", ONNX,
    ]  # fmt: skip
    log = (folder / "train.log").read_text()
    assert all(line[25:] in log for line in learned.splitlines())
    assert "error: mAP@0.5 is" in (folder / "settings.json").read_text()


def test_a_finished_run_makes_its_files_again(sessions, learned):
    """Its best weights keep all but their statistics, which are measured for them alone."""
    folder = sessions.root / "again"
    shutil.copytree(sessions.root / "learned", folder)
    before, metrics = load_weights(folder / "best.safetensors")[0], sessions.metrics("again")
    (folder / "metrics.json").unlink()
    out, _ = sessions.run("again", *LEARNING, "--resume", "--statistics-images", 8)
    assert re.search(r"best weights \(epoch \d+\), their statistics measured again: mAP@0\.5 ", out)
    after, _ = load_weights(folder / "best.safetensors")
    changed = {name for name, value in before.items() if (value != after[name]).any()}
    assert changed == {name for name in before if ".running_" in name}
    assert sessions.metrics("again")["best_epoch"] == metrics["best_epoch"]
    paths = [path / "last.safetensors" for path in (folder, sessions.root / "learned")]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_class_is_added_while_the_old_ones_stay(sessions):
    """The new set shows persons without a label; the backbone is kept, and resuming goes on."""
    root, start = sessions.root / "lamps", sessions.root / "start.safetensors"
    save_weights(start, YOLO11n(2, seed=5).state_dict(), {"classes": CLASSES})
    shutil.copytree(sessions.data, root)

    def lamps_only(content):
        content["categories"] = [{"id": 1, "name": "lamp"}]
        content["annotations"] = [a for a in content["annotations"] if a["category_id"] == 1]

    for split in ("train", "val"):
        edit(root, lamps_only, split)
    common = ["--data", root, "--weights", start, "--keep-classes", "--freeze", "--no-export"]
    common += ["--epochs", 2, "--val-every", 1, "--statistics-images", 8]
    out, _ = sessions.run("added", *common, "--stop-after", 1)
    assert "person (from row 0), cell phone (from row 1), lamp (from random weights)" in out
    assert "images not labelled for a class: person 12, cell phone 12" in out
    out, _ = sessions.run("added", *common, "--resume")
    assert "resumed after epoch 1" in out
    arrays, info = load_weights(sessions.root / "added" / "best.safetensors")
    assert (info["classes"], info["kept"]) == ([*CLASSES, "lamp"], CLASSES)
    before, _ = load_weights(start)
    same = {name for name, v in before.items() if np.array_equal(v, arrays[name])}
    kept = {name for name in before if int(name.split(".")[1]) < BACKBONE}
    assert kept < same
    assert {name for name in before if ".running_" in name} < same  # of all layers
    assert not {name for name in same - kept if name.endswith("conv.weight")} - {DFL}


# ------------------------------------------------------------------------------ resuming


def test_killed_six_times(sessions, learned):
    """After steps and while files are written: all that is left is as of an unbroken run."""
    rng, folder = np.random.default_rng(0), sessions.root / "killed"
    common, losses = [*LEARNING, "--checkpoint-minutes", 0], {}
    for k in range(6):
        resume = ["--resume"] if (folder / "last.safetensors").exists() else []
        steps = folder / "steps.csv"
        done = len(steps.read_text().splitlines()) if steps.exists() else 0
        rows = done + int(rng.integers(2, 9))
        code, _ = sessions.interrupt("killed", signal.SIGKILL, rows, *common, *resume)
        assert code == -signal.SIGKILL, k
        for row in read_rows(steps)[:-1]:  # the last one may be cut short
            losses.setdefault(row["step"], set()).add(tuple(row.values()))
    sessions.run("killed", *common, "--resume")
    # Every step has one loss, however often it was run.
    assert len(losses) > 12
    for row in read_rows(sessions.root / "learned" / "steps.csv"):
        assert losses.get(row["step"], {tuple(row.values())}) == {tuple(row.values())}
    assert_same_run(sessions, "learned", "killed")


def test_stopped_by_a_signal_and_resumed_by_the_command_that_it_prints(sessions, learned):
    code, out = sessions.interrupt("stopped", signal.SIGTERM, 40, *LEARNING)
    assert code == 128 + signal.SIGTERM
    *_, message, line = out.splitlines()
    assert message.startswith("stopped after epoch 13")
    assert message.endswith("go on with")
    settings = json.loads((sessions.root / "stopped" / "settings.json").read_text())
    assert settings["sessions"][-1]["outcome"] == "stopped by SIGTERM"
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "PYTENSOR_FLAGS": "", "XLA_FLAGS": FLAGS}
    done = subprocess.run(shlex.split(line), env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "resumed after epoch 13" in done.stdout
    assert_same_run(sessions, "learned", "stopped")


def test_resumed_with_half_accumulated_gradients(sessions):
    """Three batches an epoch and two a step; each process orders its sets otherwise."""
    common = ["--epochs", 4, "--nominal-batch", 2 * BATCH, "--no-export", "--warmup-epochs", 0]
    common += ["--val-every", 2]
    sessions.run("whole", *common, PYTHONHASHSEED="1")
    for seed, (stop, resume) in enumerate([(1, []), (3, ["--resume"])], 2):
        own = ["--stop-after", stop, *resume]
        out, err = sessions.run("split", *common, *own, PYTHONHASHSEED=str(seed))
        assert f"stopped after epoch {stop}; go on with\n" in out
        assert err == ""
        arrays, _ = load_weights(sessions.root / "split" / "last.safetensors")
        assert any(v.any() for n, v in arrays.items() if n.endswith(".accumulated_gradient"))
    sessions.run("split", *common, "--resume", PYTHONHASHSEED="4")
    assert_same_run(sessions, "whole", "split")


def test_resumed_with_background_and_hard_images(sessions, tmp_path):
    """Which images are hard is found once; a resumed run reads it, and takes no other file."""
    data = write_data(tmp_path / "data")

    def empty_two(content):
        content["annotations"] = [a for a in content["annotations"] if a["image_id"] not in (2, 5)]

    edit(data, empty_two)
    common = [
        "--data", data, "--epochs", 4, "--no-export", "--val-every", 2, "--weights", "real",
        "--background-share", 0.25, "--hard-share", 0.25,
    ]  # fmt: skip
    out, _ = sessions.run("all", *common)
    assert "the starting weights make mistakes in " in out
    code, _ = sessions.interrupt("part", signal.SIGTERM, 5, *common)
    assert code == 128 + signal.SIGTERM
    found = sessions.root / "part" / "hard.csv"
    text = found.read_text()
    assert text == (sessions.root / "all" / "hard.csv").read_text()
    found.write_text(text.replace("\n0.png,", "\n0.png,1"))
    _, err = sessions.run("part", *common, "--resume", code=1)
    assert "made with other settings: hard.csv '" in err
    found.write_text(text)
    out, _ = sessions.run("part", *common, "--resume")
    assert "make mistakes" not in out
    assert_same_run(sessions, "all", "part")


def test_disk_that_is_full(sessions):
    """The run goes on, says so, keeps the old checkpoint, and ends by an error."""

    def fill():
        limit = 10**6
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    common = ["--epochs", 3, "--val-every", 3, "--no-export", "--checkpoint-minutes", 0]
    sessions.run("full", *common, "--stop-after", 1)
    last = sessions.root / "full" / "last.safetensors"
    before = last.read_bytes()
    off = ["--compilation-cache", "off"]
    out, err = sessions.run("full", *common, "--resume", *off, code=1, preexec_fn=fill)
    assert "MiB) could not be written: File too large; " in out
    assert err.startswith("error: could not be written: ")
    assert err.endswith("(File too large); make room and go on with --resume\n")
    assert last.read_bytes() == before
    sessions.run("full", *common, "--resume")
    assert load_weights(last)[1]["progress"]["epoch"] == 3


# ------------------------------------------------------------------------------ other ends


def test_weights_of_more_classes(sessions):
    path = sessions.root / "coco.safetensors"
    full = YOLO11n(80, seed=5).state_dict()
    save_weights(path, full, {})
    own = ["--weights", path, "--optimizer", "auto", "--epochs", 2, "--lr", 1e-9]
    out, _ = sessions.run("weights", *own, "--stop-after", 1)
    assert "person (from row 0), cell phone (from row 67)" in out
    settings = json.loads((sessions.root / "weights" / "settings.json").read_text())
    assert settings["recipe"]["optimizer"] == "adamw"
    path.unlink()  # a resumed run has all it needs
    sessions.run("weights", *own[2:], "--resume")
    arrays, info = load_weights(sessions.root / "weights" / "best.safetensors")
    assert (info["class_width"], info["trained_on"]) == (80, None)
    YOLO11n(2, class_width=80).load_state_dict(arrays)
    name = "model.0.conv.weight"
    np.testing.assert_allclose(arrays[name], full[name], atol=0.1)


# ------------------------------------------------------------------------------ machines

FEW = [
    "--epochs", 2, "--val-every", 1, "--mosaic", 1, "--close-mosaic", 0, "--copy-paste", 0.5,
    "--workers", 1,
]  # fmt: skip
TWO_DEVICES = f"{FLAGS} --xla_force_host_platform_device_count=2"


@pytest.fixture(scope="module")
def plain(sessions):
    sessions.run("plain", *FEW)
    return sessions.losses("plain")[:2]


def assert_same_training(sessions, name, plain):
    # Later steps see weights that differ a little, and losses jump where an anchor is assigned
    # otherwise.
    assert plain.min() > 0.1
    np.testing.assert_allclose(sessions.losses(name)[:2], plain, rtol=ROUNDING)
    assert sessions.metrics(name)["onnx"]["box_difference"] < 0.05


@pytest.mark.parametrize(
    ("name", "arguments", "flags"),
    [
        ("device", ["--device-augment", "on"], FLAGS),
        ("two", ["--devices", 2, "--sync-batchnorm"], TWO_DEVICES),
    ],
)
def test_other_devices(sessions, plain, name, arguments, flags):
    sessions.run(name, *FEW, *arguments, XLA_FLAGS=flags)
    assert_same_training(sessions, name, plain)


def test_profile(sessions):
    """The two functions of a step that adds up gradients."""
    own = ["--epochs", 3, "--no-export", "--profile", 2, "--nominal-batch", 2 * BATCH]
    out, _ = sessions.run("profile", *own, "--warmup-epochs", 0)
    text = (sessions.root / "profile/profile/profile.txt").read_text()
    assert "mean of 2 calls" in text
    assert text.splitlines()[0] in out
    assert text.count("Conv[model.") > 80
