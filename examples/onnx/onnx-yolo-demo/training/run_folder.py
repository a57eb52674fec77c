"""The folder of a training run: its log, its settings, and files that survive a full disk.

``settings.json`` says how the run was made (options, resolved recipe) and lists its sessions: when
each began and ended, how, its command, versions and device.  ``train.log`` has all that was
printed, with times.  A lock keeps a second training out while one is running.
"""

import argparse
import contextlib
import io
import json
import platform
import shlex
import sys
import traceback
from datetime import datetime
from importlib import metadata
from pathlib import Path

import jax
from evaluation.metrics import to_json
from filelock import FileLock, Timeout
from training.checkpoint import LAST, write_atomically
from training.options import folder_problem

RESULTS = (
    "best.safetensors", "confusion_matrix.csv", "confusion_matrix.png", "curves.csv", "curves.png",
    "hard.csv", "labels.png", "last.safetensors", "metrics.json", "mistakes.png", "results.csv",
    "results.png", "settings.json", "steps.csv", "val_detections.png",
)  # fmt: skip
PACKAGES = ("pytensor", "jax", "jaxlib", "numpy", "onnx")


class TrainingError(Exception):
    """The run can't start or go on; the message says why."""


class Stopped(Exception):
    """The run ends before its last epoch, and can be resumed; the message says how far it came."""

    def __init__(self, where, outcome="stopped", exit_code=0):
        super().__init__(where)
        self.outcome, self.exit_code = outcome, exit_code


class Terminal:
    """A stream of the terminal whose loss (a closed connection) doesn't end the run.

    The file `log`, if there is one, receives the lines, too, each with its time.
    """

    def __init__(self, stream, log=None):
        self.stream, self.line = stream, ""
        self.log = None if log is None else open(log, "a", encoding="utf-8")  # noqa: SIM115

    def write(self, text):
        if self.log is not None:
            *lines, self.line = (self.line + text).split("\n")
            self.note(*lines)
        with contextlib.suppress(OSError, ValueError):
            self.stream.write(text)
            self.stream.flush()
        return len(text)

    def note(self, *lines):
        """Write lines into the file alone; a full disk costs the log its lines, not the run."""
        with contextlib.suppress(OSError):
            for line in lines:
                self.log.write(f"{now()} {line}\n")
            self.log.flush()

    def flush(self):
        """Do nothing: nothing waits to be written."""

    def __getattr__(self, name):
        return getattr(self.stream, name)


class RunFolder:
    """A run's folder for one session: a context manager that logs what is printed and how it ends.

    `known_errors` are classes of errors that aren't bugs: the log has no traceback of them.  The
    checkpoint to resume from is `last`, the best weights are `best`.  Of several processes those
    that aren't the `first` write and print nothing.
    """

    def __init__(self, options, known_errors=(TrainingError,), first=True):
        self.options, self.path, self.first = options, options.output_dir, first
        self.known_errors = known_errors
        self.last, self.best = self.path / LAST, self.path / "best.safetensors"
        self.waiting = {}  # path -> bytes that could not be written
        self.settings = None
        if first:
            if problem := folder_problem(options):
                raise TrainingError(problem)
            self.path.mkdir(parents=True, exist_ok=True)
            self.lock = FileLock(self.path / ".lock", blocking=False)

    def __enter__(self):
        if not self.first:
            self._redirection = contextlib.redirect_stdout(io.StringIO())
            self._redirection.__enter__()
            return self
        try:
            self.lock.acquire()
        except Timeout:
            raise TrainingError(
                f"another training is running in {self.path}: wait for its end, or give another "
                "--output-dir"
            ) from None
        for name in RESULTS:  # what killed sessions left
            (self.path / f"{name}.part").unlink(missing_ok=True)
        self.log = Terminal(sys.stdout, self.path / "train.log")
        self._redirection = contextlib.redirect_stdout(self.log)
        self._redirection.__enter__()
        self.log.note(f"command: {shlex.join([sys.executable, *sys.argv])}")
        return self

    def __exit__(self, kind, error, trace):
        if not self.first:
            self._redirection.__exit__(None, None, None)
            return
        outcome = "finished"
        if isinstance(error, Stopped):
            outcome = error.outcome
            command = resume_command(self.options.arguments)
            print(f"stopped after {error}; go on with\n  {command}")
        elif error is not None:
            outcome = self.fail(error, kind.__name__)
            if not isinstance(error, self.known_errors):
                self.log.note(*"".join(traceback.format_exception(error)).splitlines())
        self._note_end(outcome)
        self._redirection.__exit__(None, None, None)
        self.log.log.close()
        self.lock.release()

    def _note_end(self, outcome):
        if self.settings is not None:
            self.settings["sessions"][-1] |= {"ended": now(), "outcome": outcome}
            self.write("settings.json", to_json(self.settings))

    def fail(self, error, otherwise=""):
        """Note in the log that an error ends the session; return it as an outcome."""
        outcome = f"error: {' '.join(str(error).split()) or otherwise}"
        self.log.note(outcome)
        return outcome

    def lose(self, message):
        """Note that another process's loss ends this one, which does nothing after that."""
        if self.first:
            with contextlib.suppress(ValueError):  # the log was closed by another error
                self.fail(message)
            self._note_end(f"error: {message}")

    def begin(self, progress, recipe):
        """Note the start of a session, once nothing can go wrong any more for a known reason.

        A new run removes the files of an earlier one, its checkpoint above all: if it is killed
        before its own first one, it must not go on with that of another.
        """
        if not self.first:
            return
        path, sessions = self.path / "settings.json", []
        if self.options.resume and path.exists():
            sessions = json.loads(path.read_text())["sessions"]
        if not self.options.resume:
            for name in RESULTS:
                (self.path / name).unlink(missing_ok=True)
        session = {
            "started": now(),
            "ended": None,
            "outcome": None,
            "resumed": {"epochs": progress.epoch, "steps": progress.iteration},
            "command": self.options.arguments,
            "versions": {"python": platform.python_version()}
            | {name: metadata.version(name) for name in PACKAGES},
            "device": f"{jax.device_count()} x {jax.devices()[0].device_kind}",
            "processes": jax.process_count(),
        }
        options = {k: v for k, v in vars(self.options).items() if k != "arguments"}
        self.settings = {"options": options, "recipe": recipe, "sessions": [*sessions, session]}
        self.write("settings.json", to_json(self.settings))

    def before(self):
        """Say, for an error's message, where the latest checkpoint is; "" where there is none."""
        if not self.last.exists():
            return ""
        return f"; {self.last} is from before: --weights takes it"

    def seen(self):
        """Return what this process finds of the session there, None if it can't."""
        path = self.path / "settings.json"
        return path.read_text() if path.exists() else None

    def write(self, name, data):
        """Write bytes to a file of the folder; what a full disk refuses is tried again later."""
        if self.first:
            self.waiting[self.path / name] = data
            self.retry()

    def retry(self):
        """Write what is waiting."""
        for path, content in list(self.waiting.items()):
            try:
                write_atomically(path, content)
                del self.waiting[path]
            except OSError as error:
                self.error = error.strerror or error
                print(
                    f"warning: {path} ({len(content) / 2**20:,.1f} MiB) could not be written: "
                    f"{self.error}; it will be tried again"
                )

    def require(self):
        """Raise TrainingError if something of the run could not be written."""
        self.retry()
        if self.waiting:
            names = ", ".join(str(path) for path in self.waiting)
            raise TrainingError(
                f"could not be written: {names} ({self.error}); make room and go on with --resume"
            )


def resume_command(arguments):
    """Return the command line that goes on with the run of such arguments."""
    left_out = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for name in ("--stop-after", "--settings"):
        left_out.add_argument(name)
    for name in ("--overwrite", "--resume"):
        left_out.add_argument(name, action="store_true")
    _, kept = left_out.parse_known_args(arguments)
    script = Path(__file__).parents[1] / "train_yolo11n.py"
    return shlex.join([sys.executable, str(script), *kept, "--resume"])


def now():
    """Return the time of day with its zone, to the second."""
    return datetime.now().astimezone().isoformat(timespec="seconds")
