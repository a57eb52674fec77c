"""Runs that are killed, stopped and resumed; their folders, and what is told to trackers.

Nothing is computed by XLA here but in the slow test: a small stand-in for the model learns
something else from the same batches.
"""

import errno
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType, SimpleNamespace

import jax
import numpy as np
import pytest
import train_yolo11n
from data import sources
from data.cache import CacheError
from data.coco import DownloadError
from data.loader import LoaderError
from training import assembly, checkpoint, finishing, run_folder, stopping, training_run
from training.checkpoint import load_weights, remove_leftovers, write_atomically
from training.options import make_recipe
from training.recipe import Recipe
from training.run_folder import Log, Outbox, Settings, StepLog, Terminal, Timer, TrainingError
from training.trackers import TrackerError, Trackers

import pytensor
from pytensor.link.jax.devices import Devices, ParallelError
from tests.examples.yolo11n_runs import CLASSES, SIZE, command, read_rows, without_times, write_data


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_data(tmp_path_factory.mktemp("data"))


# ------------------------------------------------------------------------------ stand-ins


class ToyModel:
    """Three numbers."""

    class_width = 1

    def __init__(self, num_classes=2, seed=0, class_width=None):
        self.num_classes = num_classes
        self.w = pytensor.shared(np.arange(3, dtype=np.float32), name="w")

    def state_dict(self):
        return {"w": self.w.get_value()}

    def load_state_dict(self, state):
        self.w.set_value(state["w"])


class ToyStep:
    """Momentum towards what the batches show, in NumPy; its losses depend on all steps before."""

    hook = staticmethod(lambda: None)

    def __init__(self, model, *args, **settings):
        self.model = model
        self.averages = {"w": pytensor.shared(model.w.get_value(), name="w.ema")}
        self.state = {
            "m": pytensor.shared(np.zeros(3, dtype=np.float32), name="m"),
            "w.ema": self.averages["w"],
        }

    def transfer(self, batch):
        return batch

    def place_variables(self):
        pass

    def run(self, batch, rates, step_now, steps_done, recipe):
        lr, _, momentum = rates
        w, m = self.model.w.get_value(), self.state["m"].get_value()
        seen = batch.images.mean(axis=(0, 2, 3)) / 255 + batch.boxes.mean()
        m = np.float32(momentum) * m + (w - seen).astype(np.float32)
        self.state["m"].set_value(m)
        self.model.w.set_value(w - np.float32(lr) * m)
        average = self.averages["w"]
        average.set_value((average.get_value() + self.model.w.get_value()) / np.float32(2))
        self.hook()
        return [*np.abs(w - seen)], float(np.abs(m).sum())


class Killed(BaseException):
    """Ends a run as kill -9 does, as far as its files can tell."""


def use_stand_ins(set_attribute):
    """Replace all that is expensive in a run."""

    def detect(detector, *_, **settings):
        for _ in range(2):
            detector(np.zeros((4, 3, 64, 64), dtype=np.uint8))
        return {}

    def picture(path, *_):
        write_atomically(path, b"picture")

    for name, value in {
        "YOLO11n": ToyModel,
        "TrainStep": ToyStep,
        "compile_detector": lambda *_: lambda images: np.zeros(1),
        "detect": detect,
        "coco_map": lambda *_: {"map50": 0.5, "map50_95": 0.25},
        "with_averages": lambda model, averages: SimpleNamespace(
            state_dict=lambda: {"w": averages["w"].get_value()}
        ),
        "draw_curves": picture,
        "draw_validation": picture,
        "verify_export": lambda *_: {"nodes": 1, "box_difference": 0.0, "score_difference": 0.0},
        "export_detector": lambda model, path, *_: Path(path).write_bytes(
            model.state_dict()["w"].tobytes()
        ),
    }.items():
        modules = [m for m in (assembly, finishing, training_run) if hasattr(m, name)]
        assert modules
        for module in modules:
            set_attribute(module, name, value)
    set_attribute(run_folder, "git_state", lambda folder: None)


@pytest.fixture
def toy(data, monkeypatch, capsys):
    """Run the script with stand-ins; (exit code, stdout, stderr)."""

    use_stand_ins(monkeypatch.setattr)
    common = ["--no-export", "--log-every", 1, "--val-every", 2, "--epochs", 4]

    def run(*arguments):
        capsys.readouterr()
        code = train_yolo11n.main(command(data, *common, *arguments))
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def at_step(monkeypatch):
    """Have something called after a step, counted from 1 in each session."""

    def install(number, action):
        count = itertools.count(1)
        monkeypatch.setattr(
            ToyStep, "hook", staticmethod(lambda: action() if next(count) == number else None)
        )

    return install


def assert_same_run(whole, other):
    for name in ("results.csv", "steps.csv"):
        rows, others = (without_times(read_rows(folder / name)) for folder in (whole, other))
        assert len(rows) > 3
        assert rows == others
    for name in ("last.safetensors", "best.safetensors"):
        (arrays, info), (others, other_info) = (load_weights(f / name) for f in (whole, other))
        assert arrays.keys() == others.keys()
        assert all(v.tobytes() == others[k].tobytes() for k, v in arrays.items())
        for values in (info, other_info):
            if "progress" in values:
                values["progress"]["rows"] = without_times(values["progress"]["rows"])
                values["progress"] |= {"seconds": 0, "waited": 0}
        assert info == other_info


# ------------------------------------------------------------------------------ kills


class KillAt:
    """Raises Killed at the number-th of all points of a session; nothing is cleaned up then."""

    def __init__(self, monkeypatch, number):
        self.number, self.seen, self.dead, self.where = number, 0, False, None
        unlink, fsync, replace = os.unlink, os.fsync, os.replace

        def opened(path, mode="r", **options):
            self.point("before writing")
            return open(path, mode, **options)

        def synced(handle):
            self.point("half written", lambda: os.ftruncate(handle, os.fstat(handle).st_size // 2))
            fsync(handle)

        def replaced(source, target):
            self.point("before renaming")
            replace(source, target)
            self.point("after renaming")

        monkeypatch.setattr(checkpoint, "open", opened, raising=False)
        monkeypatch.setattr(os, "fsync", synced)
        monkeypatch.setattr(os, "replace", replaced)
        monkeypatch.setattr(os, "unlink", lambda *args: None if self.dead else unlink(*args))
        monkeypatch.setattr(ToyStep, "hook", staticmethod(lambda: self.point("step")))
        detect = finishing.detect

        def detected(*args, **settings):
            self.point("validation")
            return detect(*args)

        monkeypatch.setattr(finishing, "detect", detected)

    def point(self, where, action=lambda: None):
        if self.dead:
            raise Killed
        self.seen += 1
        if self.seen == self.number:
            self.dead, self.where = True, where
            action()
            raise Killed


def test_killed_at_random_points(toy, tmp_path, monkeypatch):
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    common = ["--epochs", 6, "--checkpoint-steps", 1, "--output-dir"]
    with monkeypatch.context() as patch:
        counter = KillAt(patch, 0)
        assert toy(*common, whole)[0] == 0
    assert counter.seen > 100
    rng = np.random.default_rng(0)
    kills, losses = [], {}
    while True:
        with monkeypatch.context() as patch:
            kill = KillAt(patch, int(rng.integers(1, 34)))
            resume = ["--resume"] if (folder / "last.safetensors").exists() else []
            try:
                code, _, err = toy(*common, folder, *resume)
            except Killed:
                kills.append(kill.where)
            else:
                assert (code, err) == (0, "")
                break
            finally:
                steps = folder / "steps.csv"
                for row in read_rows(steps) if steps.exists() else ():
                    losses.setdefault(row["step"], set()).add(tuple(row.values()))
        assert len(kills) < 200
    assert len(kills) >= 20
    places = {"before writing", "half written", "before renaming", "after renaming", "step"}
    assert places <= set(kills)
    # Every step has one loss, however often it was run.
    assert {step: {tuple(row.values())} for row in read_rows(whole / "steps.csv")
            for step in [row["step"]]} == losses  # fmt: skip
    assert_same_run(whole, folder)
    assert not list(folder.glob(".*"))


def test_a_kill_loses_the_steps_since_the_last_checkpoint(toy, tmp_path, monkeypatch, at_step):
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    assert toy("--output-dir", whole, "--val-every", 4)[0] == 0
    common = ["--checkpoint-steps", 4, "--val-every", 4, "--output-dir", folder]

    def kill():
        raise Killed

    at_step(8, kill)  # the second epoch has three batches: 4, 5 and 6
    with pytest.raises(Killed):
        toy(*common)
    _, info = load_weights(folder / "last.safetensors")
    progress = info["progress"]
    assert [progress[name] for name in ("epoch", "batch", "iteration")] == [1, 1, 4]
    steps = []
    at_step(0, None)
    run = ToyStep.run
    monkeypatch.setattr(ToyStep, "run", lambda *args: steps.append(1) or run(*args))
    code, out, _ = toy(*common, "--resume")
    assert code == 0
    assert "resumed after epoch 1 and 1 batches of 4" in out
    assert len(steps) == 12 - 4
    assert_same_run(whole, folder)


def test_best_weights_come_with_a_checkpoint(toy, tmp_path, at_step):
    """Else a roll-back or a kill could leave the best weights of another course of the run."""

    def kill():
        raise Killed

    at_step(5, kill)
    with pytest.raises(Killed):
        toy("--output-dir", tmp_path, "--val-every", 1)
    assert load_weights(tmp_path / "best.safetensors")[1]["epoch"] == 1
    _, info = load_weights(tmp_path / "last.safetensors")
    assert [info["progress"][name] for name in ("epoch", "iteration")] == [1, 3]


def test_a_new_run_never_resumes_the_one_that_it_replaced(toy, tmp_path, at_step):
    assert toy("--output-dir", tmp_path)[0] == 0

    def kill():
        raise Killed

    at_step(1, kill)
    with pytest.raises(Killed):
        toy("--output-dir", tmp_path)
    code, _, err = toy("--output-dir", tmp_path, "--resume")
    assert code == 1
    assert err.startswith("error: nothing to resume")


def test_minutes_between_checkpoints(toy, tmp_path, at_step, monkeypatch):
    now = iter(np.arange(0.0, 10000.0, 25.0))
    monkeypatch.setattr(
        training_run, "Timer", lambda *args: Timer(*args, clock=lambda: float(next(now)))
    )
    written = []
    write = Outbox.write

    def record(self, name, data):
        if name == "last.safetensors":
            written.append(name)
        return write(self, name, data)

    monkeypatch.setattr(Outbox, "write", record)
    assert toy("--output-dir", tmp_path, "--checkpoint-minutes", 1)[0] == 0
    # 16 questions at steps and ends of epochs, 25 seconds apart; checkpoints restart the clock.
    assert 4 <= len(written) <= 7


def test_timer():
    seconds = [0.0]
    timer = Timer(2, 3, clock=lambda: seconds[0])
    assert not timer.due(2)
    assert timer.due(3)
    timer.restart(3)
    assert not timer.due(5)
    seconds[0] = 120.0
    assert timer.due(4)
    seconds[0] = 1e9
    assert not Timer(0, 0, clock=lambda: seconds[0]).due(10**9)


# ------------------------------------------------------------------------------ signals


@pytest.fixture
def own_signals():
    """As from a terminal: a process that was started with nohup ignores the loss of its own."""
    before = {number: signal.getsignal(number) for number in stopping.SIGNALS}
    for number, handler in before.items():
        if handler == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def send(number):
    """Signal this process, and wait until the thread has seen it."""
    os.kill(os.getpid(), number)
    end = time.monotonic() + 60
    while stopping._active.number is None:
        assert time.monotonic() < end, f"{signal.Signals(number).name} was not seen"
        time.sleep(0.001)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
@pytest.mark.parametrize("place", ["step", "validation"])
@pytest.mark.usefixtures("own_signals")
def test_signal_ends_with_a_checkpoint(toy, tmp_path, monkeypatch, at_step, place, number, code):
    whole, folder = tmp_path / "whole", tmp_path / "stopped"
    assert toy("--output-dir", whole)[0] == 0
    handlers = [signal.getsignal(number) for number in stopping.SIGNALS]
    with monkeypatch.context() as patch:
        if place == "step":
            at_step(5, lambda: send(number))
            expected = [1, 2, 5]
        else:
            detect = finishing.detect
            patch.setattr(finishing, "detect", lambda *args, **_: send(number) or detect(*args))
            expected = [1, 3, 6]
        result, out, err = toy("--output-dir", folder)
    assert (result, err) == (code, "")
    assert [signal.getsignal(number) for number in stopping.SIGNALS] == handlers
    _, info = load_weights(folder / "last.safetensors")
    assert [info["progress"][name] for name in ("epoch", "batch", "iteration")] == expected
    assert f"{signal.Signals(number).name}: finishing the running step" in out
    *_, message, line = out.splitlines()
    assert message == f"stopped after epoch 1, batch {expected[1]} of 3 of the next; go on with"
    assert line.startswith(f"  {sys.executable} ")
    assert line.endswith("--resume")
    session = json.loads((folder / "settings.json").read_text())["sessions"][-1]
    assert session["outcome"] == f"stopped by {signal.Signals(number).name}"
    at_step(0, None)
    # The very command, but for the interpreter and the script.
    assert train_yolo11n.main(line.split()[2:]) == 0
    assert_same_run(whole, folder)


def test_nothing_to_lose(toy, tmp_path, monkeypatch):
    """Before the first step, and while all is saved, nothing is waited for."""
    left = []

    def leave(code):
        left.append(code)
        stopping._active.number = None  # go on in this test

    monkeypatch.setattr(stopping.StopRequest, "_leave", staticmethod(leave))

    def opened(*args):
        os.kill(os.getpid(), signal.SIGTERM)
        while not left:
            time.sleep(0.001)
        return make(*args)

    make = training_run.open_data
    monkeypatch.setattr(training_run, "open_data", opened)
    code, out, _ = toy("--output-dir", tmp_path)
    assert code == 0
    assert left == [143]
    assert "stopped before training began: there is nothing to save" in out
    left.clear()
    code, out, _ = toy("--output-dir", tmp_path, "--resume")
    assert left == [143]
    assert "the checkpoint stays as it is" in out


BUSY = """
import signal, sys, time
# Whatever the tests' own process ignores, and this one with it.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_IGN if {ignore} else signal.SIG_DFL)
sys.path.insert(0, {folder!r})
from training.stopping import StopRequest, Stopped
import hashlib
def say(text):
    print(text, flush=True)
with StopRequest(say, lambda: {message!r}) as stop:
    say("ready")
    if {busy}:
        # As compiling does: one call that runs for long without the interpreter.
        hashlib.pbkdf2_hmac("sha512", b"", b"", 10**9)
    else:
        while stop.number is None:
            time.sleep(0.01)
    try:
        stop.check()
    except Stopped as error:
        sys.exit(error.exit_code)
"""


def busy_process(message=None, busy=True, ignore=False):
    folder = str(Path(stopping.__file__).parents[1])
    script = BUSY.format(folder=folder, message=message, busy=busy, ignore=ignore)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def finish(process):
    try:
        out, _ = process.communicate(timeout=20)
    finally:
        process.kill()
    return process.returncode, out


def test_second_signal_leaves_at_once():
    process = busy_process()
    process.send_signal(signal.SIGINT)
    assert "once more to leave at once" in process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert finish(process) == (130, "SIGINT again: leaving at once\n")


def test_leaves_at_once_in_the_middle_of_compiling():
    process = busy_process("nothing to save")
    process.send_signal(signal.SIGTERM)
    assert finish(process) == (143, "nothing to save\n")


def test_signals_that_were_ignored_stay_ignored():
    """As nohup has it."""
    process = busy_process(busy=False, ignore=True)
    process.send_signal(signal.SIGHUP)
    time.sleep(0.2)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    code, out = finish(process)
    assert code == 143
    assert out.startswith("SIGTERM: finishing")


# ------------------------------------------------------------------------------ early stopping


def test_patience(toy, tmp_path, monkeypatch):
    scores = [0.1, 0.3, 0.2, 0.3, 0.1, 0.4, 0.4]
    given = iter(scores)
    monkeypatch.setattr(finishing, "coco_map", lambda *_: {"map50": 0.5, "map50_95": next(given)})
    common = ["--epochs", 7, "--val-every", 1, "--patience", 3, "--output-dir", tmp_path]
    given = iter([*scores[:5], 0.3])  # the best weights are scored again at the end
    code, out, _ = toy(*common)
    assert code == 0
    assert "no better mAP@0.5:0.95 for 3 epochs: training ends here" in out
    assert len(read_rows(tmp_path / "results.csv")) == 5
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert [metrics[name] for name in ("epochs", "best_epoch", "map50_95")] == [5, 2, 0.3]
    assert metrics["last"]["map50_95"] == 0.1
    assert load_weights(tmp_path / "best.safetensors")[1]["epoch"] == 2
    # A run that has ended so stays so, unless it is given more patience.
    given = iter([0.1, 0.3])
    assert toy(*common, "--resume")[0] == 0
    assert json.loads((tmp_path / "metrics.json").read_text())["last"] == metrics["last"]
    assert len(read_rows(tmp_path / "results.csv")) == 5
    given = iter([*scores[5:], 0.4])
    assert toy(*common, "--resume", "--patience", 4)[0] == 0
    assert len(read_rows(tmp_path / "results.csv")) == 7


def test_final_files_are_of_the_best_weights(toy, data, tmp_path, monkeypatch):
    given = iter([0.1, 0.3, 0.2, 0.2])
    scored = []

    def score(*_):
        average = run_of[-1].averages["w"].get_value()
        scored.append((average, next(given, 0.31)))
        return {"map50": scored[-1][1], "map50_95": scored[-1][1]}

    run_of = []
    make = assembly.TrainStep
    monkeypatch.setattr(
        assembly, "TrainStep", lambda *args, **o: run_of.append(make(*args, **o)) or run_of[-1]
    )
    monkeypatch.setattr(finishing, "coco_map", score)
    common = ["--epochs", 4, "--val-every", 1, "--output-dir", tmp_path, "--require-map50"]
    assert train_yolo11n.main(command(data, *common, 0.3)) == 0
    best, info = load_weights(tmp_path / "best.safetensors")
    last, _ = load_weights(tmp_path / "last.safetensors")
    assert info["epoch"] == 2
    assert not np.array_equal(best["w"], last["state.w.ema"])
    exported = (tmp_path / "yolo11n_64_trained.onnx").read_bytes()
    assert exported == best["w"].tobytes()
    weights = [average for average, _ in scored]
    np.testing.assert_array_equal(weights[1], best["w"])
    np.testing.assert_array_equal(weights[3], last["state.w.ema"])
    np.testing.assert_array_equal(weights[4], best["w"])
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert (metrics["best_epoch"], metrics["map50"], metrics["last"]["map50"]) == (2, 0.31, 0.2)
    # What is required is required of them, and resuming changes nothing.
    given = iter([0.2])
    assert train_yolo11n.main(command(data, *common, 0.32, "--resume")) == 1
    assert (tmp_path / "yolo11n_64_trained.onnx").read_bytes() == exported
    assert load_weights(tmp_path / "last.safetensors")[0].keys() == last.keys()
    for name, value in load_weights(tmp_path / "last.safetensors")[0].items():
        np.testing.assert_array_equal(value, last[name])


# ------------------------------------------------------------------------------ the folder


def test_settings_and_log(toy, tmp_path, at_step):
    at_step(5, lambda: send(signal.SIGTERM))
    assert toy("--output-dir", tmp_path, "--seed", 3)[0] == 143
    at_step(0, None)
    assert toy("--output-dir", tmp_path, "--seed", 3, "--resume")[0] == 0
    content = json.loads((tmp_path / "settings.json").read_text())
    assert content["seed"] == content["options"]["seed"] == 3
    assert content["recipe"]["optimizer"] == "sgd"
    first, second = content["sessions"]
    assert first["resumed"] is None
    assert second["resumed"] == {"epochs": 1, "steps": 5}
    assert [s["outcome"] for s in content["sessions"]] == ["stopped by SIGTERM", "finished"]
    assert all(s["started"] <= s["ended"] for s in content["sessions"])
    assert second["command"][-1] == "--resume"
    assert second["versions"]["numpy"] == np.__version__
    assert second["devices"]["platform"] == "cpu"
    lines = (tmp_path / "train.log").read_text().splitlines()
    assert all(line[:4].isdecimal() and line[10] == "T" for line in lines)
    text = "\n".join(lines)
    assert text.count("command: ") == 2
    assert text.index("finishing the running step") < text.index("resumed after epoch 1")
    assert "img/s" not in text  # no progress bar


def test_a_crash_is_in_the_log(toy, tmp_path, at_step):
    def crash():
        raise ZeroDivisionError("a bug")

    at_step(5, crash)
    with pytest.raises(ZeroDivisionError):
        toy("--output-dir", tmp_path)
    text = (tmp_path / "train.log").read_text()
    assert "Traceback (most recent call last):" in text
    assert ", in crash\n" in text
    assert text.endswith(" ZeroDivisionError: a bug\n")
    assert all(line[:4].isdecimal() and line[10] == "T" for line in text.splitlines())


def test_errors_are_in_the_log(toy, tmp_path):
    assert toy("--output-dir", tmp_path, "--require-map50", 1)[0] == 1
    assert "error: mAP@0.5 is 0.5000, below" in (tmp_path / "train.log").read_text()
    content = json.loads((tmp_path / "settings.json").read_text())
    assert content["sessions"][-1]["outcome"].startswith("error: mAP@0.5 is")


def test_settings_that_cannot_be_read_begin_anew(tmp_path):
    said = []
    (tmp_path / "settings.json").write_text("{")
    Settings(Outbox(tmp_path, said.append), resume=True)
    assert len(said) == 1
    assert "settings.json can't be read" in said[0]


def test_git_state(tmp_path):
    if not any((Path(p) / "git").exists() for p in os.environ["PATH"].split(os.pathsep)):
        pytest.skip("git is not installed")
    assert run_folder.git_state(tmp_path) is None

    def git(*arguments):
        own = ["-c", "user.name=n", "-c", "user.email=e@e", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", tmp_path, *own, *arguments], check=True, capture_output=True)

    git("init")
    (tmp_path / "file").write_text("1")
    git("add", "file")
    git("commit", "-m", "m")
    state = run_folder.git_state(tmp_path)
    assert len(state["commit"]) == 40
    assert state["dirty"] is False
    (tmp_path / "file").write_text("2")
    assert run_folder.git_state(tmp_path) == state | {"dirty": True}


def test_lost_terminal():
    """A closed connection must not end a run that tells about its progress."""

    def lost(*_):
        raise OSError(errno.EIO, "Input/output error")

    stream = Terminal(SimpleNamespace(write=lost, flush=lost, encoding="utf-8"))
    assert stream.write("text") == 4
    stream.flush()
    assert stream.encoding == "utf-8"


def test_log_goes_to_both(tmp_path, capsys):
    log = Log(tmp_path / "train.log", sys.stdout)
    print("one\ntw", end="", file=log)
    print("o", file=log)
    print("rest", end="", file=log)
    log.close()
    assert capsys.readouterr().out == "one\ntwo\nrest"
    lines = (tmp_path / "train.log").read_text().splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == ["one", "two", "rest"]


def test_step_log(tmp_path):
    log = StepLog(tmp_path / "steps.csv", ["step", "loss"], 2)
    log.rewind(0)
    for step in range(1, 9):
        log.add(step, step / 10)
    with open(tmp_path / "steps.csv", "a") as file:
        # zero bytes, as a loss of power may leave them; the beginning of a row, as a kill may
        file.write("\0\0,\0\0\n1")
    log.rewind(4)
    log.add(6, None)
    log.close()
    assert (tmp_path / "steps.csv").read_text() == "step,loss\n2,0.2\n4,0.4\n6,\n"


def test_leftovers_of_killed_processes(tmp_path):
    for name in (".last.safetensors.12-34", ".last.safetensors.bak", ".other.12-34"):
        (tmp_path / name).touch()
    remove_leftovers(tmp_path / "last.safetensors")
    assert sorted(os.listdir(tmp_path)) == [".last.safetensors.bak", ".other.12-34"]


def test_command_to_go_on():
    line = run_folder.resume_command(
        ["--data", "a b", "--stop-after", "3", "--overwrite", "--stop-after=4", "--lr", "1"]
    )
    assert line.startswith(f"{sys.executable} ")
    assert line.endswith("train_yolo11n.py --data 'a b' --lr 1 --resume")


def test_what_cannot_be_written_is_tried_again(tmp_path, monkeypatch):
    said = []
    box = Outbox(tmp_path, said.append)
    assert box.write("a", b"1")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert not box.write("a", b"2")
        assert not box.write("b", b"3")
        with pytest.raises(TrainingError, match=r"could not be written: .*No space left") as error:
            box.require()
    assert "\n" not in str(error.value)
    assert (tmp_path / "a").read_bytes() == b"1"
    assert os.listdir(tmp_path) == ["a"]
    assert "No space left on device" in said[0]
    assert "the older one is kept" in said[0]
    box.require()
    assert [(tmp_path / name).read_bytes() for name in "ab"] == [b"2", b"3"]


def test_two_threads_write(tmp_path, monkeypatch):
    outbox, write = Outbox(tmp_path), run_folder.write_atomically
    waited, others = [], iter([b"same", b"newer"])

    def meanwhile(path, data):
        write(path, data)
        monkeypatch.setattr(run_folder, "write_atomically", write)
        if (other := next(others)) == b"same":
            outbox.retry()
        else:
            outbox.waiting[path] = other
            waited.append(path)

    for _ in range(2):
        monkeypatch.setattr(run_folder, "write_atomically", meanwhile)
        outbox.write("a", b"old")
    assert list(outbox.waiting) == waited
    assert outbox.retry()
    assert (tmp_path / "a").read_bytes() == b"newer"


def test_limit_of_the_system_on_a_files_size(tmp_path):
    """Not a stand-in: the system refuses the rest of the write."""
    script = f"""
import resource, sys
sys.path.insert(0, {str(Path(run_folder.__file__).parents[1])!r})
from pathlib import Path
from training.run_folder import Outbox
folder = Path({str(tmp_path)!r})
box = Outbox(folder)
assert box.write("last", b"old")
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
assert not box.write("last", b"x" * 100_000)
assert (folder / "last").read_bytes() == b"old"
assert [path.name for path in folder.iterdir()] == ["last"]
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "File too large" in done.stdout


# ------------------------------------------------------------------------------ trackers


class StandIn(ModuleType):
    """Records what is called in it."""

    def __init__(self, name, fail=None):
        super().__init__(name)
        self.calls, self.fail = [], fail

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*args, **options):
            self.calls.append((name, args, options))
            if name == self.fail:
                raise ConnectionError("network\nunreachable")
            return self

        return call


@pytest.mark.parametrize(
    ("option", "package"), [("wandb", "wandb"), ("tensorboard", "tensorboardX")]
)
def test_missing_tracker_is_told_before_training(toy, tmp_path, monkeypatch, option, package):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(training_run, "open_data", lambda *_: pytest.fail("too late"))
    code, _, err = toy("--output-dir", tmp_path, f"--{option}")
    assert code == 1
    assert err.startswith(f"error: --{option} needs the package {package}")
    assert err.count("\n") == 1


def test_no_tracker_is_imported_unasked(toy, tmp_path, monkeypatch):
    for package in ("wandb", "tensorboardX"):
        monkeypatch.setitem(sys.modules, package, None)
    assert toy("--output-dir", tmp_path)[0] == 0


def test_trackers_get_every_epoch_once(toy, tmp_path, monkeypatch):
    modules = {name: StandIn(name) for name in ("wandb", "tensorboardX")}
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    common = ["--wandb", "project", "--tensorboard", "--output-dir", tmp_path]
    assert toy(*common, "--stop-after", 2)[0] == 0
    assert toy(*common, "--resume")[0] == 0
    calls = modules["wandb"].calls
    starts = [options for name, _, options in calls if name == "init"]
    assert [s["project"] for s in starts] == ["project", "project"]
    assert starts[0]["id"] == starts[1]["id"]
    logged = [(args[0], options["step"]) for name, args, options in calls if name == "log"]
    assert [step for _, step in logged] == [1, 2, 3, 4]
    assert "map50" in logged[1][0]
    assert "map50" not in logged[0][0]
    calls = modules["tensorboardX"].calls
    assert [o["purge_step"] for n, _, o in calls if n == "SummaryWriter"] == [1, 3]
    scalars = [args for name, args, _ in calls if name == "add_scalar"]
    assert [step for key, _, step in scalars if key == "box_loss"] == [1, 2, 3, 4]
    assert [step for key, _, step in scalars if key == "map50"] == [2, 4]
    assert [name for name, *_ in calls].count("close") == 2


@pytest.mark.parametrize("fail", ["init", "log", "finish"])
def test_tracker_that_fails_is_switched_off(toy, tmp_path, monkeypatch, fail):
    module = StandIn("wandb", fail)
    monkeypatch.setitem(sys.modules, "wandb", module)
    code, out, _ = toy("--output-dir", tmp_path, "--wandb")
    assert code == 0
    warning = "warning: --wandb failed and is switched off: network unreachable"
    assert out.count(warning) == 1
    assert len([name for name, *_ in module.calls if name == "log"]) == {"init": 0, "log": 1}.get(
        fail, 4
    )


def test_trackers_alone_say_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(TrackerError, match="pip install tensorboardX"):
        Trackers(tmp_path, tensorboard=True)


# ------------------------------------------------------------------------------ options


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--checkpoint-minutes", "-1"], "--checkpoint-minutes must be at least 0"),
        (["--checkpoint-minutes", "nan"], "--checkpoint-minutes must be at least 0"),
        (["--patience", "-1"], "--patience must be at least 0"),
        (["--data", "synthetic", "--val-images", "0"], "--val-images must be at least 1"),
        (["--data", "x", "--train-images", "5"], "--train-images and --val-images are for"),
        (["--cache-dir", "x"], "--cache-dir is for --cache disk"),
        (["--coordinator", "h:1"], "go together"),
        (
            ["--coordinator", "h:1", "--num-processes", "2", "--process-id", "2"],
            "--process-id must be below --num-processes",
        ),
        (["--check", "3"], "unrecognized arguments"),
    ],
)
def test_options_that_make_no_sense(capsys, arguments, message):
    with pytest.raises(SystemExit) as error:
        train_yolo11n.parse_arguments("", arguments)
    assert error.value.code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("data", "given", "expected"),
    [
        ("coco", [], (12000, 2000)),
        ("coco", ["--train-images", "0"], (0, 2000)),
        ("synthetic", [], (1200, 300)),
        ("folder", [], (None, None)),
    ],
)
def test_numbers_of_images(data, given, expected):
    options = train_yolo11n.parse_arguments("", ["--data", data, *given])
    assert (options.train_images, options.val_images) == expected


@pytest.mark.parametrize(
    ("choice", "platform", "free", "expected"),
    [
        ("on", "cpu", 0, True),
        ("off", "gpu", 1000, False),
        ("auto", "cpu", 1000, False),
        ("auto", "gpu", 199, False),
        ("auto", "gpu", 200, True),
        ("auto", "gpu", None, False),
    ],
)
def test_where_images_are_drawn(monkeypatch, choice, platform, free, expected):
    memory = None if free is None else {"bytes_limit": free + 7, "bytes_in_use": 7}
    device = SimpleNamespace(platform=platform, memory_stats=lambda: memory)
    monkeypatch.setattr(sources, "jax", SimpleNamespace(local_devices=lambda: [device]))
    dataset = SimpleNamespace(squares=np.zeros(100, dtype=np.uint8))
    assert sources.draws_on_device(choice, dataset) is expected


def test_one_process_without_room_has_all_draw_on_the_host(toy, tmp_path, monkeypatch):
    monkeypatch.setattr(training_run, "draws_on_device", lambda *_: True)
    monkeypatch.setattr(Devices, "largest", lambda _, numbers: numbers if len(numbers) > 1 else [1])
    assert toy("--output-dir", tmp_path)[0] == 0  # the stand-in needs images


def test_processes_agree_in_what_they_wait_for(toy, tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(training_run, "agree", told.append)
    assert toy("--output-dir", tmp_path, "--patience", 9)[0] == 0
    assert toy("--output-dir", tmp_path, "--resume", "--val-every", 4)[0] == 0
    first, second = told
    different = {name for name in first if first[name] != second[name]}
    assert different == {"patience", "val_every", "resume"}
    assert {"stop_after", "checkpoint_every", "no_export", "epochs", "val_images"} < first.keys()


@pytest.mark.parametrize("place", ["compile", "train"])
def test_full_memory_of_the_device_takes_one_line(toy, tmp_path, monkeypatch, place):
    def fail(*_, **settings):
        raise jax.errors.JaxRuntimeError(f"{reason}\nmany more lines")

    owner, name = {"compile": (training_run, "make_step"), "train": (ToyStep, "run")}[place]
    monkeypatch.setattr(owner, name, fail)
    reason = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 9 bytes."
    code, _, err = toy("--output-dir", tmp_path)
    assert code == 1
    assert err.count("\n") == 1
    assert f"memory is full ({reason}); try a smaller --batch-size" in err
    reason = "INTERNAL: something else"
    with pytest.raises(jax.errors.JaxRuntimeError, match="something else"):
        toy("--output-dir", tmp_path)


def test_export_is_compared_in_full_precision(monkeypatch):
    function = jax.jit(lambda x: x @ x)
    seen = []

    def detector(images):
        x = images.astype(np.float32)
        seen.append("HIGHEST" in function.lower(x).as_text())
        return function(x)

    validator = finishing.Validator(detector, None, 2, Devices(1), lambda: None)
    for backend in ("cpu", "gpu"):
        monkeypatch.setattr(finishing.jax, "default_backend", lambda backend=backend: backend)
        np.testing.assert_array_equal(validator.predict(np.eye(2)), np.eye(2))
    assert seen == [False, True]


def test_other_processes_only_predict_at_the_export(monkeypatch):
    calls = []
    validator = SimpleNamespace(predict=lambda images: calls.append(images) or "predicted")
    run = SimpleNamespace(
        options=SimpleNamespace(batch_size=2, export_onnx=None), validator=validator,
        val_set=None, devices=SimpleNamespace(is_main=False),
    )  # fmt: skip
    batch = SimpleNamespace(images="images")
    monkeypatch.setattr(finishing, "val_batches", lambda *_: iter([batch]))
    assert finishing.export(run) is None
    assert calls == ["images"]


def test_one_device_unless_asked(toy, tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(train_yolo11n, "Devices", lambda count: made.append(count) or Devices(1))
    assert toy("--output-dir", tmp_path)[0] == 0
    assert toy("--output-dir", tmp_path, "--devices", 4)[0] == 0
    assert made == [1, 4]


@pytest.mark.parametrize(
    "error",
    [DownloadError("no network"), LoaderError("no room"), CacheError("no\nroom")],
    ids=lambda error: type(error).__name__,
)
def test_errors_that_are_not_bugs_take_one_line(toy, tmp_path, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(training_run, "open_data", fail)
    code, _, err = toy("--output-dir", tmp_path)
    assert (code, err) == (1, f"error: {' '.join(str(error).split())}\n")


def test_specified_recipe_is_the_default():
    options = train_yolo11n.parse_arguments("", ["--data", "x"])
    assert make_recipe(options) == Recipe()
    assert (options.mosaic, options.close_mosaic, options.scale) == (1.0, 10, 0.5)


class Meeting:
    """What each of two processes, which are threads here, tells the other."""

    def __init__(self):
        self.barrier = threading.Barrier(2)
        self.told = {}

    def devices(self, process):
        devices = Devices(1)
        devices.process_count, devices.process_index = 2, process

        def largest(numbers):
            self.told[process] = numbers
            self.barrier.wait(20)
            found = [max(pair) for pair in zip(*self.told.values(), strict=True)]
            self.barrier.wait(20)
            return found

        devices.largest = largest
        return devices


def together(action):
    """Call ``action(devices)`` as two processes; what each returned or raised."""

    def call(devices):
        try:
            return action(devices)
        except (DownloadError, ParallelError) as error:
            return error

    meeting = Meeting()
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(call, [meeting.devices(k) for k in range(2)]))


def test_process_0_fetches_the_data_first(data, monkeypatch):
    order = []

    def download(*_, **options):
        order.append(("begin", threading.get_ident()))
        time.sleep(0.7)  # longer than a question
        order.append(("end", threading.get_ident()))
        return data

    monkeypatch.setattr(sources, "download_coco", download)
    arguments = ["--data", "coco", "--workers", "0", "--image-size", "64"]
    options = train_yolo11n.parse_arguments("", arguments)
    sets = together(lambda devices: sources.open_data(options, devices))
    assert [[len(part) for part in both] for both in sets] == [[12, 6]] * 2
    assert [what for what, _ in order] == ["begin", "end", "begin", "end"]
    assert order[0][1] == order[1][1] != order[2][1] == order[3][1]

    def fail(*_, **options):
        raise DownloadError("no network")

    monkeypatch.setattr(sources, "download_coco", fail)
    first, second = together(lambda devices: sources.open_data(options, devices))
    assert str(first) == "no network"
    assert str(second) == "process 0 has failed; its own message says why"


def as_text_labels(data, root):
    """The set of `write_data` once more, in YOLO's format."""
    (root / "images").mkdir(parents=True)
    for split in ("train", "val"):
        (root / "images" / split).symlink_to(data / "images" / split)
        (root / "labels" / split).mkdir(parents=True)
        content = json.loads((data / f"annotations/instances_{split}.json").read_text())
        for a in content["annotations"]:
            x, y, w, h = (v / SIZE for v in a["bbox"])
            with open(root / f"labels/{split}/{a['image_id']}.txt", "a") as file:
                file.write(f"{a['category_id']} {x + w / 2} {y + h / 2} {w} {h}\n")
    (root / "data.yaml").write_text(f"train: images/train\nval: images/val\nnames: {CLASSES}\n")
    return root


def test_disk_cache_and_text_labels(toy, data, tmp_path):
    folders = [tmp_path / name for name in ("memory", "disk", "text")]
    cache = ["--cache", "disk", "--cache-dir", tmp_path / "cache"]
    text = ["--data", as_text_labels(data, tmp_path / "labels")]
    for folder, extra in zip(folders, ([], cache, text), strict=True):
        code, out, _ = toy("--output-dir", folder, *extra)
        assert code == 0
        assert ": 12 images (0 without boxes), 16 boxes (person 8, cell phone 8)" in out
        assert len(read_rows(folder / "steps.csv")) == 12
    assert_same_run(*folders[:2])
    assert list((tmp_path / "cache").iterdir())


def test_coco_is_downloaded(data, monkeypatch):
    asked = []

    def download(root, classes, *counts, **options):
        asked.append((root, classes, counts, options))
        return data

    monkeypatch.setattr(sources, "download_coco", download)
    arguments = ["--data", "coco", "--train-images", "0", "--val-images", "7", "--workers", "0"]
    arguments += ["--image-size", "64", "--connections", "3"]
    train, val = sources.open_data(train_yolo11n.parse_arguments("", arguments), Devices(1))
    assert (len(train), len(val)) == (12, 6)
    assert asked == [(Path("datasets/coco"), ["person", "cell phone"], (0, 7, 3), {"seed": 0})]


# ------------------------------------------------------------------------------ real processes

KILLS = 20
# Where processes are killed: after a step, or in the middle of something.
PLACES = ["step", "half written", "before renaming", "after renaming"]
# It counts the chances of a kind, and kills itself at the one asked for.
KILLER = """
import os, signal, sys
sys.path[:0] = [{demo!r}, {root!r}]
import assembly, finishing, train_yolo11n
place, number, seen = {place!r}, {number}, 0
if {stand_ins}:
    from tests.examples import test_yolo11n_runs
    test_yolo11n_runs.use_stand_ins(setattr)

def chance(kind):
    global seen
    if kind == place:
        seen += 1
        if seen == number:
            os.kill(os.getpid(), signal.SIGKILL)

fsync, replace = os.fsync, os.replace
detect, export = finishing.detect, finishing.export_detector
run = assembly.TrainStep.run

def synced(handle):
    if "last.safetensors" in os.readlink(f"/proc/self/fd/{{handle}}"):
        if place == "half written" and seen + 1 == number:
            os.ftruncate(handle, os.fstat(handle).st_size // 2)
        chance("half written")
    fsync(handle)

def replaced(source, target):
    checkpoint = str(target).endswith("last.safetensors")
    if checkpoint:
        chance("before renaming")
    replace(source, target)
    if checkpoint:
        chance("after renaming")

def counted_run(*args):
    result = run(*args)
    chance("step")
    return result

def counted_detect(detector, *args, **settings):
    def counted(images):
        result = detector(images)
        chance("validation")
        return result
    return detect(counted, *args, **settings)

def counted_export(model, path, *args):
    export(model, path, *args)
    if place == "export":
        os.truncate(path, os.path.getsize(path) // 2)
    chance("export")

os.fsync, os.replace = synced, replaced
assembly.TrainStep.run = counted_run
finishing.detect, finishing.export_detector = counted_detect, counted_export
sys.exit(train_yolo11n.main(sys.argv[1:]))
"""


class Process:
    """Runs the script in processes of their own, which share compiled functions on disk."""

    def __init__(self, stand_ins, cache):
        demo = Path(train_yolo11n.__file__).parent
        self.names = {"demo": str(demo), "root": str(demo.parents[2]), "stand_ins": stand_ins}
        self.environment = os.environ | {
            "PYTENSOR_FLAGS": "",
            "JAX_COMPILATION_CACHE_DIR": str(cache),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        }

    def run(self, arguments, place="", number=0):
        """Whether the process was killed; it must have succeeded otherwise."""
        script = KILLER.format(place=place, number=number, **self.names)
        done = subprocess.run(
            [sys.executable, "-c", script, *map(str, arguments)],
            env=self.environment,
            capture_output=True,
            text=True,
        )
        print(f"{time.strftime('%X')} {place} {number}: exit code {done.returncode}", flush=True)
        assert done.returncode in (-signal.SIGKILL, 0), done.stderr
        return done.returncode != 0


@pytest.mark.long
@pytest.mark.parametrize("stand_ins", [True, False], ids=["stand-ins", "YOLO11n"])
def test_twenty_kills(data, tmp_path, stand_ins):
    """Every step's loss, and all files, of a run killed twenty times are those of a whole one."""
    process = Process(stand_ins, tmp_path / "cache")
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    common = ["--epochs", 16, "--val-every", 2, "--checkpoint-steps", 2, "--log-every", 1]
    assert not process.run(command(data, *common, "--output-dir", whole))
    rng = np.random.default_rng(0)
    kills = [(PLACES[k % 4], int(rng.integers(1, 4))) for k in range(KILLS - 4)]
    # The last session that trains, and those that only make the final files.
    kills[4:4] = [("validation", 1), ("validation", 2)]
    kills += [("export", 1), ("export", 1)]
    losses = {}
    for place, number in kills:
        resume = ["--resume"] if (folder / "last.safetensors").exists() else []
        arguments = command(data, *common, "--output-dir", folder, *resume)
        assert process.run(arguments, place, number), (place, number)
        for row in read_rows(folder / "steps.csv"):
            losses.setdefault(row["step"], set()).add(tuple(row.values()))
    name = "yolo11n_64_trained.onnx"
    assert not (folder / name).exists()
    assert not process.run(command(data, *common, "--output-dir", folder, "--resume"))
    assert losses == {row["step"]: {tuple(row.values())} for row in read_rows(whole / "steps.csv")}
    assert_same_run(whole, folder)
    assert (folder / name).read_bytes() == (whole / name).read_bytes()
    assert not list(folder.glob(".*"))
