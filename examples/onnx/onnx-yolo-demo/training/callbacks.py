"""What hangs on the training loop: losses and times, log files, checkpoints, signals, profiles.

The loop calls each `Callback` before an epoch, before and after a step, and after an epoch.
"""

import contextlib
import csv
import io
import math
import shutil
import signal
import sys
import time
from argparse import Namespace
from dataclasses import asdict, dataclass

import jax
from data.loader import BatchLoader
from evaluation.report import draw_curves
from tqdm import tqdm
from training.checkpoint import CheckpointError, Progress, snapshot, to_bytes, write_atomically
from training.finishing import Interrupted, with_averages
from training.loggers import LOGGERS
from training.recipe import StepSettings
from training.run_folder import RunFolder, Stopped, Terminal, TrainingError
from training.train_step import LOSS_PARTS, TrainStep

from pytensor.link.jax.parallel.devices import Devices
from pytensor.link.jax.parallel.prefetch import IdleClock
from pytensor.link.jax.profiling.report import read_profile, trace
from pytensor.optimizers import EarlyStopping

COLUMNS = [
    "epoch", *LOSS_PARTS, "lr", "images_per_s", "map50", "map50_95", "seconds", "waited_share",
]  # fmt: skip
STEP_COLUMNS = ["step", "epoch", *LOSS_PARTS, "gradient_norm", "lr"]
MEASURED_FROM, MEASURED_TO = 3, 8  # steps of a session, whose pace is told
PROFILE_AFTER = 3  # steps: of new programs, and of arrays that come from the host


@dataclass(kw_only=True)
class Run:
    """The parts of a run, for callbacks and the final files."""

    options: Namespace
    folder: RunFolder
    loader: BatchLoader
    rates: StepSettings
    step: TrainStep
    settings: dict  # that a resumed run must share
    info: dict  # for readers of weight files
    progress: Progress
    devices: Devices

    def exhausted(self):
        """Return whether the precision hasn't risen for as many epochs as --patience says."""
        stopping = EarlyStopping(self.options.patience)
        validated = [row for row in self.progress.rows if row["map50_95"] is not None]
        return any(stopping.update(row["epoch"], row["map50_95"]) for row in validated)

    def where(self):
        """Say how far the run came, in words."""
        p = self.progress
        within = f", batch {p.batch} of {len(self.loader)} of the next" if p.batch else ""
        return f"epoch {p.epoch}{within}"

    def save_best(self, epoch, map50_95):
        """Write the averaged weights as the best epoch's."""
        if not self.folder.first:
            return
        averaged = with_averages(self.step.model, self.step.averages)
        info = self.info | {"epoch": epoch, "map50_95": map50_95}
        data = to_bytes(self.folder.best, averaged.state_dict(), info)
        self.folder.write(self.folder.best.name, data)


class Callback:
    """Does nothing."""

    def before_epoch(self):
        """Handle an epoch's beginning, or that of its rest in a resumed run."""

    def before_step(self):
        """Handle a batch that is there, before its step."""

    def after_step(self, losses, norm, lr):
        """Handle a step that was started; its results are arrays, perhaps not computed yet."""

    def after_epoch(self, row):
        """Handle an epoch that is done; `row` is its row of results.csv."""

    def close(self):
        """Handle the end of the session, perhaps by an error."""


class Meter(Callback):
    """Adds up losses and times, shows them in a bar, and writes steps.csv.

    A step's loss is read when the next one was started, so that the device doesn't wait.
    """

    def __init__(self, run):
        self.run = run
        self.path = run.folder.path / "steps.csv"
        self.every = run.options.log_every if run.folder.first else 0
        self.pending = self.clock = self.bar = None
        if self.every:
            self._drop_later_rows()

    def _drop_later_rows(self):
        """Keep the whole rows up to the checkpoint; a lost session may have written more."""
        rows, done = [], self.run.progress.iteration
        if done and self.path.exists():
            rows = list(csv.reader(self.path.read_text().replace("\0", "").splitlines()))[1:]
        rows = [r for r in rows if len(r) == len(STEP_COLUMNS) and r[0] and int(r[0]) <= done]
        text = "".join(",".join(row) + "\n" for row in [STEP_COLUMNS, *rows])
        self.run.folder.write("steps.csv", text.encode())

    def before_epoch(self):
        o, p = self.run.options, self.run.progress
        self.start, self.waited = time.perf_counter() - p.seconds, p.waited
        self.clock = IdleClock()
        self.clock.watch(())  # nothing to do until the first batch comes
        self.bar = tqdm(
            total=len(self.run.loader),
            initial=p.batch,
            desc=f"epoch {p.epoch + 1}/{o.epochs}",
            unit="batch",
            file=Terminal(sys.stderr),
            disable=None if self.run.folder.first else True,  # None: where it is no terminal
        )

    def before_step(self):
        self.clock.stop()

    def after_step(self, losses, norm, lr):
        p = self.run.progress
        self.clock.watch((losses, norm))
        self.take()
        self.pending = p.iteration, losses, norm, lr
        p.seconds = time.perf_counter() - self.start
        p.waited = self.waited + self.clock.idle_s
        means = {n: f"{v / p.batch:.3f}" for n, v in zip(LOSS_PARTS, p.sums, strict=True)}
        speed = p.batch * self.run.options.batch_size / p.seconds
        self.bar.set_postfix(means | {"img/s": f"{speed:.0f}", "lr": f"{lr:.2g}"}, refresh=False)
        self.bar.update()

    def take(self):
        """Read the losses of the latest step; TrainingError if they aren't finite."""
        if self.pending is None:
            return
        step, losses, norm, lr = self.pending
        self.pending, p = None, self.run.progress
        losses = [float(loss) for loss in losses]
        norm = None if norm is None else float(norm)
        if self.every and step % self.every == 0:
            row = [step, p.epoch + 1, *losses, "" if norm is None else norm, lr]
            # A full disk costs the file its rows, not the run.
            with contextlib.suppress(OSError), open(self.path, "a", encoding="utf-8") as file:
                file.write(",".join(map(str, row)) + "\n")
        if not all(map(math.isfinite, [*losses, norm or 0.0])):
            shown = [f"{n} {v:.4g}" for n, v in zip(LOSS_PARTS, losses, strict=True)]
            shown += [] if norm is None else [f"gradient norm {norm:.4g}"]
            raise TrainingError(
                f"the loss or its gradient is not finite in epoch {p.epoch + 1}, step {step}: "
                f"{', '.join(shown)}; start again with a lower --lr{self.run.folder.before()}"
            )
        p.sums = [total + loss for total, loss in zip(p.sums, losses, strict=True)]

    def row(self):
        """Return the row of results.csv of the epoch whose last step was started."""
        self.take()
        o, p, size = self.run.options, self.run.progress, len(self.run.loader)
        p.seconds = time.perf_counter() - self.start
        self.close()
        means = dict(zip(LOSS_PARTS, (total / size for total in p.sums), strict=True))
        if self.bar.disable:  # no terminal: a line per epoch instead of the bar
            shown = ", ".join(f"{name} {value:.3f}" for name, value in means.items())
            print(f"epoch {p.epoch + 1}/{o.epochs}: {shown}, {p.seconds:.1f} s")
        return {
            "epoch": p.epoch + 1,
            **means,
            "lr": self.run.rates.lr(p.iteration - 1),
            "images_per_s": size * o.batch_size / p.seconds,
            "map50": None,
            "map50_95": None,
            "seconds": p.seconds,
            "waited_share": p.waited / p.seconds,
        }

    def close(self):
        if self.bar is not None:
            self.bar.close()
            self.clock.close()


class Remaining(Callback):
    """Says once, after the first steps, how long the training takes.

    Epochs of a small set are shorter than that, and what is between them isn't counted.
    """

    def __init__(self, run):
        self.run, self.count, self.start = run, 0, None

    def after_step(self, *_):
        run, p = self.run, self.run.progress
        self.count += 1
        if self.count == MEASURED_FROM:  # the first ones compile, and wait for each other
            self.start = self.spent()
        if self.count == MEASURED_TO:
            pace = (self.spent() - self.start) / (MEASURED_TO - MEASURED_FROM)
            left = pace * (run.options.epochs * len(run.loader) - p.iteration)
            print(f"{pace:.2g} s a step: about {in_words(left)} to go, without validations")

    def spent(self):
        """Return the seconds of all epochs until now."""
        p = self.run.progress
        return sum(row["seconds"] for row in p.rows) + p.seconds


def in_words(seconds):
    """Return a time in the unit that people use."""
    for unit, size in (("hours", 3600), ("minutes", 60)):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(seconds, 1):.0f} seconds"


class Results(Callback):
    """Writes results.csv after each epoch, and results.png after a validation."""

    def __init__(self, run):
        self.run = run

    def after_epoch(self, row):
        p, folder = self.run.progress, self.run.folder
        if not folder.first:
            return
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, COLUMNS)
        writer.writeheader()
        writer.writerows(p.rows)
        folder.write("results.csv", text.getvalue().encode())
        if row["map50"] is not None:
            with contextlib.suppress(OSError):  # a full disk; the next one shows the same curves
                draw_curves(folder.path / "results.png", p.rows)


class Log(Callback):
    """Hands the rows of results.csv to the loggers of ``--log``."""

    def __init__(self, run):
        names = run.options.log if run.folder.first else []
        self.loggers = [LOGGERS[name](run.folder.path, run.options) for name in names]

    def after_epoch(self, row):
        values = {name: v for name, v in row.items() if v is not None and name != "epoch"}
        for logger in self.loggers:
            logger.write(values, row["epoch"])

    def close(self):
        for logger in self.loggers:
            logger.close()


class Profile(Callback):
    """Traces some steps after the first ones, and tells where their time went.

    An epoch's end is the end of a trace, too: what comes then is no step.
    """

    def __init__(self, run):
        self.run, self.count, self.trace = run, 0, None
        self.path = run.folder.path / "profile"

    def before_step(self):
        if self.count == PROFILE_AFTER:
            self._wait()
            shutil.rmtree(self.path, ignore_errors=True)
            self.trace = contextlib.ExitStack()
            self.trace.enter_context(trace(self.path))

    def after_step(self, *_):
        self.count += 1
        if self.count == PROFILE_AFTER + self.run.options.profile:
            self.after_epoch(None)

    def after_epoch(self, row):
        if self.trace is None:
            return
        self._wait()
        self.close()
        steps = self.count - PROFILE_AFTER
        profile = read_profile(self.path, self.run.step.programs(), steps)
        write_atomically(self.path / "profile.txt", f"{profile.table(nodes=None)}\n".encode())
        print(f"profile (the trace is in {self.path}):\n{profile}")

    def _wait(self):
        jax.block_until_ready([v.get_value(borrow=True) for v in self.run.step.variables])

    def close(self):
        if self.trace is not None:
            self.trace.close()
            self.trace = None


class Signals:
    """Takes note of the first SIGINT (Ctrl-C), SIGTERM or SIGHUP; a second one ends the process.

    Until `listen` is called and after `rest`, when no step would be lost, the first one does, in
    the middle of a compilation, too.  Signals that were ignored before (``nohup``) stay ignored.
    """

    NAMES = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows lacks the last
    NUMBERS = tuple(signal.Signals[n] for n in NAMES if hasattr(signal, n))

    def __init__(self):
        self.number = 0
        self._before = {
            n: handler for n in self.NUMBERS if (handler := signal.getsignal(n)) != signal.SIG_IGN
        }
        self.rest()

    def listen(self):
        """Set `number` to the first signal that comes."""
        for number in self._before:
            signal.signal(number, self._note)

    def _note(self, number, _):
        self.number = number
        signal.signal(number, signal.SIG_DFL)

    def rest(self):
        """Have signals end the process."""
        for number in self._before:
            signal.signal(number, signal.SIG_DFL)

    def close(self):
        """Handle signals as before."""
        for number, handler in self._before.items():
            signal.signal(number, handler)


class Checkpoints(Callback):
    """Writes last.safetensors and best.safetensors, and ends the run when a signal asks for it.

    After the epoch `until` the session ends.  Of several processes each may get a signal, at
    another step than the others: what they tell each other in a step is read after the next one,
    so that all end after the same.
    """

    def __init__(self, run, meter, until):
        self.run, self.meter, self.until = run, meter, until
        self.signals, self.listening = Signals(), False
        self.saved_at = time.monotonic()
        self.told, self.number = 0, 0  # what was told last, and the signal that all know of

    def after_step(self, *_):
        if not self.listening:  # from now on there is something to lose
            self.signals.listen()
            self.listening = True
        self.agree()
        if self.due():
            self.meter.take()
            self.save()

    def agree(self, wait=False):
        """Learn of the signals of all processes: of a step ago, or with `wait` of now."""
        several = self.run.devices.processes > 1
        before, self.told = self.told, self.run.devices.maximum(self.signals.number)
        self.number = int(before if several and not wait else self.told)

    def due(self):
        """Return whether it is time for a checkpoint, or a signal has come."""
        minutes = (time.monotonic() - self.saved_at) / 60
        return self.number or minutes >= self.run.options.checkpoint_minutes

    def before(self):
        """Say, for an error's message, where the latest checkpoint is."""
        return self.run.folder.before()

    def check(self):
        """End this process's share of a validation, if a signal has come to it."""
        if self.signals.number:
            raise Interrupted

    def end_together(self):
        """End the run, if a signal has come to any process."""
        self.agree(wait=True)
        if self.number:
            self.save()

    def after_epoch(self, row):
        self.agree(wait=True)
        p = self.run.progress
        better = row["map50_95"] is not None and row["map50_95"] > p.best
        if better:
            p.best = row["map50_95"]
            self.run.save_best(p.epoch, p.best)
        # With the best weights, so that both are always of the same course of a run.
        if better or self.due() or p.epoch == self.until or self.run.exhausted():
            self.save()

    def save(self):
        """Write last.safetensors, and end the run if a signal has come."""
        run, number = self.run, self.number
        if run.folder.first:
            info = run.info | {"settings": run.settings, "progress": asdict(run.progress)}
            try:
                data = to_bytes(run.folder.last, snapshot(run.step.model, run.step.state), info)
            except CheckpointError as error:
                raise CheckpointError(f"{error}{run.folder.before()}") from None
            run.folder.write(run.folder.last.name, data)
        self.saved_at = time.monotonic()
        if number:
            run.folder.require()
            raise Stopped(run.where(), f"stopped by {signal.Signals(number).name}", 128 + number)

    def close(self):
        self.signals.close()
