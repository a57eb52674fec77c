"""What hangs on the loop, with a toy in place of the model: losses, files, checkpoints, signals."""

import contextlib
import json
import math
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from training import callbacks, loggers
from training.callbacks import Checkpoints, Log, Meter, Profile, Remaining, Results, Run
from training.checkpoint import CheckpointError, Progress, load_weights
from training.finishing import Interrupted, Validator
from training.options import parse_arguments
from training.run_folder import RunFolder, Stopped, Terminal, TrainingError, resume_command

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import jax_mode
from pytensor.link.jax.parallel.devices import Devices
from tests.examples.yolo11n.training.runs import read_rows


class Toy:
    """A model and its step in one: three numbers."""

    num_classes, class_width = 2, 1

    def __init__(self):
        self.w = pytensor.shared(np.arange(3, dtype=np.float32), name="w")
        self.state = {"w.ema": pytensor.shared(np.zeros(3, dtype=np.float32))}
        self.averages = {"w": self.state["w.ema"]}
        self.model = self

    def state_dict(self):
        return {"w": self.w.get_value()}


@pytest.fixture
def make_run(tmp_path):
    """Return a maker of runs of three batches an epoch."""

    def make(*arguments, **progress):
        own = ["--output-dir", str(tmp_path), "--log-every", "2", "--batch-size", "4"]
        options = parse_arguments("", [*own, *map(str, arguments)])
        run = Run(
            options=options, folder=RunFolder(options), loader=[0] * 3, step=Toy(),
            rates=SimpleNamespace(lr=lambda iteration: 0.5), settings={"lr": 1}, info={},
            progress=Progress(**progress), devices=Devices(1),
        )  # fmt: skip
        run.save_best = lambda epoch, score: run.folder.write("best.safetensors", b"%d" % epoch)
        return run

    return make


def steps(run, hooks, *losses, norm=1.0):
    """Do what the loop does of an epoch with such losses."""
    for hook in hooks:
        hook.before_epoch()
    for loss in losses:
        for hook in hooks:
            hook.before_step()
        run.progress.next_batch(True)
        for hook in hooks:
            hook.after_step([np.float32(loss)] * 3, norm, 0.5)


def end(run, hooks, meter, map50_95=None):
    row = meter.row() | {"map50": map50_95, "map50_95": map50_95}
    run.progress.next_epoch(row)
    for hook in hooks:
        hook.after_epoch(row)
    return row


# ------------------------------------------------------------------------------ losses


def test_losses_and_times_of_an_epoch(make_run, capsys):
    run = make_run()
    hooks = [meter := Meter(run), Results(run)]
    steps(run, hooks, 1, 2, 6)
    assert run.progress.sums == [3.0] * 3  # the last one may still be computed
    row = end(run, hooks, meter, 0.25)
    assert [row[name] for name in ("epoch", "box_loss", "lr", "map50_95")] == [1, 3.0, 0.5, 0.25]
    assert row["images_per_s"] == pytest.approx(12 / row["seconds"])
    assert 0 <= row["waited_share"] <= 1
    assert "epoch 1/100: box_loss 3.000, cls_loss 3.000" in capsys.readouterr().out
    assert (run.progress.sums, run.progress.seconds) == ([0.0] * 3, 0.0)
    folder = run.folder.path
    assert (folder / "steps.csv").read_text().splitlines()[1:] == ["2,1,2.0,2.0,2.0,1.0,0.5"]
    [written] = read_rows(folder / "results.csv")
    assert float(written["box_loss"]) == 3.0
    assert (folder / "results.png").stat().st_size > 1000


@pytest.mark.parametrize(("loss", "norm"), [(math.nan, 1.0), (math.inf, None), (1.0, math.nan)])
def test_a_loss_that_is_not_finite_ends_the_run(make_run, loss, norm):
    run = make_run()
    with pytest.raises(TrainingError, match=r"not finite in epoch 1, step 1: .*a lower --lr$"):
        steps(run, [Meter(run)], loss, 1.0, norm=norm)
    run.folder.last.write_bytes(b"x")
    with pytest.raises(TrainingError, match=r"last.safetensors is from before: --weights takes it"):
        steps(run, [Meter(run)], loss, 1.0, norm=norm)


def test_rows_of_steps_after_the_checkpoint_are_dropped(make_run):
    """What a kill may leave half written, and a loss of power as zero bytes, too."""
    run = make_run(iteration=4)
    header = ",".join(callbacks.STEP_COLUMNS)
    rows = ["2,1,1,1,1,1,1", "4,1,1,1,1,,1", "6,1,1,1,1,1,1", "\0\0\0", "8,1"]
    (run.folder.path / "steps.csv").write_text("\n".join([header, *rows]))
    Meter(run)
    assert (run.folder.path / "steps.csv").read_text().splitlines() == [header, *rows[:2]]


@pytest.fixture(autouse=True)
def handlers_as_before():
    """Give back the handlers of signals: what is made here has its own."""
    before = {number: signal.getsignal(number) for number in callbacks.Signals.NUMBERS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


class Noted:
    """A logger that keeps what it is told."""

    def __init__(self, folder, options):
        self.rows, self.closed = [], False

    def write(self, values, epoch):
        self.rows.append((epoch, values))

    def close(self):
        self.closed = True


def test_rows_go_to_loggers(make_run, monkeypatch):
    monkeypatch.setitem(loggers.LOGGERS, "wandb", Noted)
    run = make_run("--log", "wandb")
    log = Log(run)
    hooks = [meter := Meter(run), log]
    steps(run, hooks, 1, 2, 6)
    end(run, hooks, meter)
    steps(run, hooks, 1, 1, 1)
    end(run, hooks, meter, 0.25)
    log.close()
    [logger] = log.loggers
    (first, without), (second, values) = logger.rows
    assert (first, second, without["box_loss"], values["map50_95"]) == (1, 2, 3.0, 0.25)
    assert "map50_95" not in without
    assert logger.closed
    run.folder.first = False
    assert Log(run).loggers == []


@pytest.mark.parametrize("name", loggers.LOGGERS)
def test_a_logger_that_is_not_installed(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(loggers.LogError, match=rf"--log {name} needs .*: pip install {name}$"):
        loggers.require([name])
    loggers.require([])


def test_events_of_tensorboard(tmp_path):
    """They are read by its own reader, where it is installed."""
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_file_loader")
    for resume in (False, True):
        log = loggers.TensorBoard(tmp_path, SimpleNamespace(resume=resume))
        log.write({"map50": 0.5, "lr": 0.25}, 3 + resume)
        log.close()
    files = sorted((tmp_path / "tensorboard").iterdir())
    events = [each for file in files for each in reader.LegacyEventFileLoader(str(file)).Load()]
    found = [(e.step, {v.tag: v.simple_value for v in e.summary.value}) for e in events]
    assert [row for row in found if row[1]] == [(k, {"map50": 0.5, "lr": 0.25}) for k in (3, 4)]


# ------------------------------------------------------------------------------ checkpoints


@pytest.fixture
def checkpointed(make_run):
    """Yield (run, hooks, meter) with checkpoints; signals are handled as before at the end."""
    opened = []

    def make(*arguments, until=9):
        run = make_run(*arguments)
        meter = Meter(run)
        opened.append(Checkpoints(run, meter, until))
        return run, [meter, opened[-1]], meter

    yield make
    for checkpoints in opened:
        checkpoints.close()


def saved(run):
    return load_weights(run.folder.last)[1]["progress"]


def test_best_weights_come_with_a_checkpoint(checkpointed):
    """Else a kill could leave the best weights of another course of the run."""
    run, hooks, meter = checkpointed()
    for score, best in [(0.2, b"1"), (0.1, b"1"), (None, b"1"), (0.3, b"4"), (math.nan, b"4")]:
        run.folder.last.unlink(missing_ok=True)
        before = run.folder.best.read_bytes() if run.folder.best.exists() else None
        steps(run, hooks, 1, 1, 1)
        end(run, hooks, meter, score)
        assert run.folder.best.read_bytes() == best
        assert run.folder.last.exists() == (before != best)
    assert run.progress.best == 0.3


def test_the_last_epoch_and_the_end_of_patience_are_saved(checkpointed):
    run, hooks, meter = checkpointed(until=1)
    steps(run, hooks, 1, 1, 1)
    end(run, hooks, meter)
    assert saved(run)["epoch"] == 1
    run, hooks, meter = checkpointed("--patience", 2, "--overwrite")
    for score in (0.2, 0.1, None, 0.1):
        assert not run.exhausted()
        run.folder.last.unlink(missing_ok=True)
        steps(run, hooks, 1, 1, 1)
        end(run, hooks, meter, score)
    assert run.exhausted()
    assert saved(run)["epoch"] == 4


def test_minutes_between_checkpoints(checkpointed):
    run, hooks, _ = checkpointed("--checkpoint-minutes", 0.3 / 60)
    steps(run, hooks, 1)
    assert not run.folder.last.exists()
    time.sleep(0.3)
    steps(run, hooks, 2)
    # The loss of the step before it is in it.
    assert (saved(run)["iteration"], saved(run)["sums"]) == (2, [3.0] * 3)
    steps(run, hooks, 3)
    assert saved(run)["iteration"] == 2


def test_weights_that_are_not_finite_replace_no_checkpoint(checkpointed):
    run, hooks, _ = checkpointed("--checkpoint-minutes", 0)
    steps(run, hooks, 1)
    run.step.w.set_value(np.full(3, np.nan, dtype=np.float32))
    message = r"w and 0 other arrays are not finite.*last\.safetensors is from before: --weights"
    with pytest.raises(CheckpointError, match=message):
        steps(run, hooks, 1)
    assert saved(run)["iteration"] == 1


@pytest.mark.parametrize(
    ("name", "place"),
    [("SIGINT", "step"), ("SIGTERM", "step"), ("SIGTERM", "validation"), ("SIGHUP", "epoch")],
)
def test_a_signal_ends_the_run_with_a_checkpoint(checkpointed, name, place):
    number = getattr(signal, name)
    signal.signal(number, signal.SIG_DFL)  # under nohup it is ignored, and would be by the run
    run, hooks, meter = checkpointed()
    steps(run, hooks, 1, 1)
    signal.raise_signal(number)
    go_on, progress = {
        "step": (lambda: steps(run, hooks, 1), (0, 3)),
        "validation": (hooks[-1].end_together, (0, 2)),
        "epoch": (lambda: end(run, hooks, meter), (1, 0)),
    }[place]
    with pytest.raises(Stopped, match=r"epoch 0, batch [23] of 3|epoch 1$") as error:
        go_on()
    assert (error.value.exit_code, error.value.outcome) == (128 + number, f"stopped by {name}")
    assert tuple(saved(run)[name] for name in ("epoch", "batch")) == progress
    with pytest.raises(Interrupted):  # so that a validation goes no further
        hooks[-1].check()


class TwoProcesses:
    """Devices of this process and of another one, to which signals come as `others` says."""

    processes = 2

    def __init__(self, *others):
        self.others = iter(others)

    def maximum(self, number):
        return np.int32(max(number, next(self.others)))


def test_several_processes_end_after_the_same_step(checkpointed):
    """What one knows in a step, all read after the next: a signal of their own waits for that."""
    run, hooks, _ = checkpointed()
    run.devices = TwoProcesses(0, 15, 15)
    steps(run, hooks, 1, 1)
    with pytest.raises(Stopped):
        steps(run, hooks, 1)
    assert saved(run)["iteration"] == 3
    run, hooks, _ = checkpointed("--overwrite")
    run.devices = TwoProcesses(0, 0, 0)
    steps(run, hooks, 1)
    hooks[-1].signals.number = 2
    steps(run, hooks, 1)
    with pytest.raises(Stopped) as error:
        steps(run, hooks, 1)
    assert error.value.exit_code == 130


def test_a_process_that_is_not_the_first_writes_nothing(tmp_path, capsys):
    options = parse_arguments("", ["--output-dir", str(tmp_path / "run")])
    with RunFolder(options, first=False) as folder:
        print("not seen")
        folder.begin(Progress(), {})
        folder.write("results.csv", b"x")
        folder.lose("process 0 is lost")
        folder.require()
    assert capsys.readouterr().out == ""
    assert not options.output_dir.exists()


SIGNALLED = """
import signal, sys, time
sys.path.insert(0, {folder!r})
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from training.callbacks import Signals
signals = Signals()
if {listen}:
    signals.listen()
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("listen", "count"), [(False, 1), (True, 2)])
def test_signals_that_end_the_process(listen, count):
    """The first one before there is anything to lose, the second one in any case."""
    folder = str(Path(callbacks.__file__).parents[1])
    command = [sys.executable, "-c", SIGNALLED.format(folder=folder, listen=listen)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGHUP)  # was ignored before, as nohup has it
        for k in range(count):
            time.sleep(0.2)
            assert process.poll() is None, k
            process.send_signal(signal.SIGTERM)
        assert process.wait(60) == -signal.SIGTERM


# ------------------------------------------------------------------------------ the folder


@pytest.fixture
def full_disk():
    """Let no file grow beyond a kilobyte."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def fill(full=True):
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000 if full else before[0], before[1]))

    yield fill
    fill(False)
    signal.signal(signal.SIGXFSZ, handler)


def test_what_cannot_be_written_is_tried_again(make_run, full_disk, capsys):
    folder = make_run().folder
    folder.write("last", b"old")
    full_disk()
    folder.write("last", b"x" * 2000)
    folder.write("small", b"x")
    with pytest.raises(TrainingError, match=r"could not be written: .*last \(File too large\)"):
        folder.require()
    said = capsys.readouterr().out
    full_disk(False)
    assert (folder.path / "last").read_bytes() == b"old"
    assert sorted(path.name for path in folder.path.iterdir()) == ["last", "small"]
    assert "last (0.0 MiB) could not be written: File too large; it will be tried again" in said
    folder.require()
    assert (folder.path / "last").read_bytes() == b"x" * 2000


def test_sessions_and_log(make_run, capsys):
    for resume, error, outcome in [
        ([], Stopped("epoch 1", "stopped by SIGTERM", 143), "stopped by SIGTERM"),
        (["--resume"], TrainingError("no\nroom"), "error: no room"),
        (["--resume"], ZeroDivisionError("a bug"), "error: a bug"),
        (["--resume"], None, "finished"),
    ]:
        run = make_run("--seed", 3, *resume)
        run.folder.last.write_bytes(b"x")
        with contextlib.suppress(Stopped, TrainingError, ZeroDivisionError), run.folder as folder:
            folder.begin(Progress(epoch=1, iteration=5), {"optimizer": "sgd"})
            print("one\ntw", end="")
            print("o")
            if error:
                raise error
        run.folder.last.write_bytes(b"x")
        content = json.loads((folder.path / "settings.json").read_text())
        assert content["sessions"][-1]["outcome"] == outcome
    assert content["options"]["seed"] == 3
    assert content["recipe"] == {"optimizer": "sgd"}
    assert len(content["sessions"]) == 4
    session = content["sessions"][1]
    assert session["resumed"] == {"epochs": 1, "steps": 5}
    assert session["started"] <= session["ended"]
    assert session["versions"]["numpy"] == np.__version__
    assert session["command"][-1] == "--resume"
    out = capsys.readouterr().out
    assert "stopped after epoch 1; go on with\n" in out
    assert out.count("one\ntwo\n") == 4
    lines = (folder.path / "train.log").read_text().splitlines()
    assert all(line[:4].isdecimal() and line[10] == "T" for line in lines)
    assert sum(line.endswith(" two") for line in lines) == 4
    # Of bugs alone
    assert sum("Traceback (most recent call last)" in line for line in lines) == 1


def test_a_new_run_removes_the_files_of_the_one_that_it_replaces(make_run):
    run = make_run()
    run.folder.last.write_bytes(b"x")
    with make_run("--overwrite").folder as folder:
        assert folder.last.exists()  # until the new one begins
        folder.begin(Progress(), {})
    assert not folder.last.exists()
    with pytest.raises(TrainingError, match="nothing to resume"):
        make_run("--resume")


def test_command_to_go_on(make_run):
    run = make_run("--data", "a b", "--stop-after", 3, "--overwrite", "--stop-after=4", "--lr", 1)
    line = resume_command(run.options.arguments)
    assert line.startswith(f"{sys.executable} ")
    assert line.endswith("--batch-size 4 --data 'a b' --lr 1 --resume")


def test_lost_terminal():
    """A closed connection must not end a run that tells about its progress."""

    def lost(*_):
        raise OSError("Input/output error")

    stream = Terminal(SimpleNamespace(write=lost, flush=lost, encoding="utf-8"))
    assert stream.write("text") == 4
    assert stream.encoding == "utf-8"


# ------------------------------------------------------------------------------ profile, export


class SmallStep:
    """What `Profile` needs of a `TrainStep`."""

    def __init__(self):
        x = pt.tensor("x", dtype="float32", shape=(50, 60))
        w = pytensor.shared(np.ones((60, 60), "float32"), name="w", shape=(60, 60))
        self.variables = [w]
        self.function = pytensor.function(
            [x], [], updates=[(w, pt.tanh(x.T @ (x @ w)))], mode=jax_mode(), trust_input=True
        )

    def programs(self):
        return [(self.function, [jax.ShapeDtypeStruct((50, 60), "float32")])]


@pytest.mark.by_default("4-9-4")
@pytest.mark.parametrize(("asked", "epoch", "profiled"), [(4, 9, 4), (50, 5, 2)])
def test_profile_of_some_steps(make_run, capsys, asked, epoch, profiled):
    """They end with the epoch, and a profile of an earlier run is gone."""
    run = make_run("--profile", asked)
    run.step = SmallStep()
    (run.folder.path / "profile").mkdir()
    (run.folder.path / "profile" / "old").write_text("x")
    hook = Profile(run)
    for _ in range(2):
        for _ in range(epoch):
            hook.before_step()
            run.step.function(np.ones((50, 60), "float32"))
            hook.after_step()
        hook.after_epoch({})
    hook.close()
    said = capsys.readouterr().out
    assert said.count("profile (the trace is in ") == 1
    assert f"mean of {profiled} calls" in said
    assert f"mean of {profiled} calls" in (run.folder.path / "profile/profile.txt").read_text()
    assert not (run.folder.path / "profile" / "old").exists()


def test_a_run_that_fails_leaves_no_trace_running(make_run):
    run = make_run("--profile", 4)
    run.step = SmallStep()
    hook = Profile(run)
    hook.count = callbacks.PROFILE_AFTER
    hook.before_step()
    hook.close()
    with pytest.raises(RuntimeError, match="No profile started"):
        jax.profiler.stop_trace()


def test_export_is_compared_in_full_precision(monkeypatch):
    function, seen = jax.jit(lambda x: x @ x), []

    def detector(images):
        x = images.astype(np.float32)
        seen.append("HIGHEST" in function.lower(x).as_text())
        return function(x)

    validator = Validator(detector, None, 2, Devices(1), lambda: None)
    for backend in ("cpu", "gpu"):
        monkeypatch.setattr(jax, "default_backend", lambda backend=backend: backend)
        np.testing.assert_array_equal(validator.predict(np.eye(2)), np.eye(2))
    assert seen == [False, True]


def test_how_long_it_takes_is_said_once(make_run, monkeypatch, capsys):
    run = make_run("--epochs", 100)
    p, hook = run.progress, Remaining(run)
    # A validation takes as long as 50 steps.
    now = lambda: 2.0 * p.iteration + 100 * p.epoch  # noqa: E731
    monkeypatch.setattr(callbacks.time, "perf_counter", now)
    for _ in range(20):
        p.next_batch(True)
        p.seconds += 2.0
        hook.after_step()
        if p.batch == 3:
            p.next_epoch({"seconds": p.seconds})
    assert capsys.readouterr().out == "2 s a step: about 10 minutes to go, without validations\n"
