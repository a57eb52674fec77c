"""The folder of a training run, and what stands in it beside the weights.

``settings.json`` says how the run was made (options, resolved recipe) and lists its sessions: when
each began and ended, its command, versions, device and commit.  ``train.log`` has all that was
printed, with times.  ``steps.csv`` has the losses of single steps.
"""

import contextlib
import csv
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from datetime import datetime
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from evaluation.metrics import without_nan
from training.checkpoint import remove_leftovers, write_atomically

PACKAGES = ("pytensor", "pytensor-vision", "jax", "jaxlib", "numpy", "onnx", "onnxruntime")
RESULTS = (
    "best.safetensors", "last.safetensors", "metrics.json", "results.csv", "results.png",
    "settings.json", "steps.csv", "train.log", "val_detections.png",
)  # fmt: skip


class TrainingError(Exception):
    """The run can't start or go on; the message says why."""


def check_writable(folder, option):
    """Make a folder, and see that it can be written to before hours are spent."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".write_test."):
            pass
    except OSError as error:
        raise TrainingError(
            f"can't write to the output folder {folder} ({error.strerror}); give another {option}"
        ) from None


def prepare_export(path):
    """See that the ONNX model can be made and written, before hours are spent."""
    check_writable(path.parent, "--export-onnx")
    if path.is_dir():
        raise TrainingError(f"--export-onnx {path} is a folder; give the name of a file")
    if find_spec("onnxruntime") is None:
        raise TrainingError(
            "the export is verified with the package onnxruntime, which isn't installed; install "
            "it or give --no-export"
        )


def prepare_output(folder, resume, overwrite):
    """Make the output folder, and see that it can be written to, resumed from or replaced.

    What killed processes left half written is removed.
    """
    check_writable(folder, "--output-dir")
    last = folder / "last.safetensors"
    if resume and not last.exists():
        raise TrainingError(f"nothing to resume: {last} doesn't exist")
    if last.exists() and not (resume or overwrite):
        raise TrainingError(
            f"{folder} holds a run already: --resume goes on with it, --overwrite replaces it, "
            f"--output-dir starts another"
        )
    for name in RESULTS:
        remove_leftovers(folder / name)
    return folder


def clear_run(folder):
    """Remove what an earlier run left, but for its log.

    Its checkpoint, above all: a new run that is killed before its first one must not go on with
    that of another.
    """
    for name in RESULTS:
        if name != "train.log":
            (folder / name).unlink(missing_ok=True)


# ------------------------------------------------------------------------------ facts


def versions():
    """Versions of Python and of the packages that decide what a run computes; None: absent."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def devices():
    """Kind and number of JAX's devices, and the operating system."""
    import jax

    found = jax.devices()
    return {
        "platform": found[0].platform,
        "kind": found[0].device_kind,
        "count": len(found),
        "system": platform.platform(),
    }


def git_state(folder):
    """Commit of the repository around a folder, and whether its files differ from it.

    Returns
    -------
    dict or None
        ``commit`` and ``dirty``; None without git or a repository.
    """

    def git(*arguments):
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, timeout=20
        )
        return done.stdout.strip() if done.returncode == 0 else None

    try:
        commit = git("rev-parse", "HEAD")
        if commit is None:
            return None
        return {"commit": commit, "dirty": git("status", "--porcelain", "-uno") != ""}
    except (OSError, subprocess.TimeoutExpired):
        return None


def now():
    """Time of day with its zone, to the second."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


def to_json(value):
    """Indented JSON as bytes; paths become text, NaN null."""
    return json.dumps(without_nan(value), indent=2, default=str).encode() + b"\n"


# ------------------------------------------------------------------------------ writing


class Terminal:
    """A stream of the terminal whose loss (a closed connection) doesn't end the run."""

    def __init__(self, stream):
        self._stream = stream

    def write(self, text):
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self):
        with contextlib.suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name):
        return getattr(self._stream, name)


class Log(Terminal):
    """A terminal's stream that also goes into a file, each line with its time.

    Parameters
    ----------
    path : Path
        Appended to.
    stream : text stream
    show : bool
        Else the stream gets nothing.
    """

    def __init__(self, path, stream, show=True):
        super().__init__(stream)
        self._show = show
        self._file = open(path, "a", encoding="utf-8")  # noqa: SIM115
        self._line = ""

    def write(self, text):
        *lines, self._line = (self._line + text).split("\n")
        self.note(*lines)
        return super().write(text) if self._show else len(text)

    def note(self, *lines):
        """Write lines into the file alone."""
        # A full disk costs the log its lines, not the run.
        with contextlib.suppress(OSError):
            for line in lines:
                self._file.write(f"{now()} {line}\n")
            self._file.flush()

    def close(self):
        """Close the file; the stream stays open."""
        if self._line:
            self.note(self._line)
            self._line = ""
        with contextlib.suppress(OSError):
            self._file.close()


class Outbox:
    """Files of a run that must not be lost, and must not end it either.

    What can't be written, for the disk is full, is kept and tried again with the next file.

    Parameters
    ----------
    folder : Path
    say : callable of str
        For warnings.
    enabled : bool
        Else nothing is written, as by all but the first process of a run.
    """

    def __init__(self, folder, say=print, enabled=True):
        self.folder, self.say, self.enabled = folder, say, enabled
        self.waiting = {}  # path -> bytes
        self.error = None

    def write(self, name, data):
        """Write bytes to a file of the folder, and what is waiting; True if all succeeded."""
        if self.enabled:
            self.waiting[self.folder / name] = data
        return self.retry()

    def retry(self):
        """Try to write what is waiting; True if nothing is left."""
        for path, data in list(self.waiting.items()):
            try:
                write_atomically(path, data)
            except OSError as error:
                self.error = error
                self._warn(path, len(data))
            else:
                # A signal's thread may be here, too: it may have removed the entry already, and
                # the other thread may have put newer data there.
                if self.waiting.get(path) is data:
                    self.waiting.pop(path, None)
        return not self.waiting

    def _warn(self, path, size):
        try:
            free = f"{shutil.disk_usage(self.folder).free / 2**20:,.0f} MiB are free there"
        except OSError:
            free = "its free space is unknown"
        old = "the older one is kept" if path.exists() else "there is no older one"
        self.say(
            f"warning: {path} ({size / 2**20:,.1f} MiB) could not be written: "
            f"{self.error.strerror or self.error}; {free}; {old}; it will be tried again"
        )

    def require(self):
        """Raise TrainingError if something can't be written."""
        if self.waiting and not self.retry():
            names = ", ".join(str(path) for path in self.waiting)
            raise TrainingError(
                f"could not be written: {names} ({self.error.strerror or self.error}); make room "
                f"and go on with --resume"
            )


class StepLog:
    """``steps.csv``: a row for every so many steps.

    Parameters
    ----------
    path : Path
    columns : sequence of str
        The first is the step's number, from 1.
    every : int
        0 writes none.
    """

    def __init__(self, path, columns, every):
        self.path, self.columns, self.every = path, list(columns), every
        self._file = None

    def rewind(self, step):
        """Drop the rows of later steps, which a lost session or a roll-back left."""
        self.close()
        if not self.every:
            return
        kept = []
        if step and self.path.exists():
            with open(self.path, newline="") as file:
                rows = list(csv.reader(file))
            # The last row of a process that was killed may be cut short.
            # A loss of power can leave a row of zero bytes.
            kept = [
                row
                for row in rows[1:]
                if len(row) == len(self.columns) and row[0].isdecimal() and int(row[0]) <= step
            ]
        lines = [",".join(row) for row in [self.columns, *kept]]
        try:
            write_atomically(self.path, "".join(f"{line}\n" for line in lines).encode())
            self._file = open(self.path, "a", encoding="utf-8")  # noqa: SIM115
        except OSError as error:
            print(f"warning: {self.path} gets no more rows: {error.strerror or error}")

    def add(self, step, *values):
        """Write a row, if it is this step's turn."""
        if self._file is None or step % self.every:
            return
        # A full disk costs the file its rows, not the run.
        with contextlib.suppress(OSError):
            # One piece, which reaches the system before the next step: a kill loses nothing.
            self._file.write(
                ",".join(["" if v is None else str(v) for v in (step, *values)]) + "\n"
            )
            self._file.flush()

    def close(self):
        """Close the file."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None


class Settings:
    """``settings.json``: how a run was made, and its sessions.

    Parameters
    ----------
    outbox : Outbox
    resume : bool
        Keeps the sessions that the file lists.
    """

    NAME = "settings.json"

    def __init__(self, outbox, resume):
        self.outbox = outbox
        self.content = {"run_id": uuid.uuid4().hex[:12], "sessions": []}
        path = outbox.folder / self.NAME
        if resume and path.exists():
            try:
                old = json.loads(path.read_text())
                self.content |= {name: old[name] for name in self.content}
            except (ValueError, KeyError, TypeError):
                outbox.say(f"warning: {path} can't be read and begins anew")

    def begin(self, command, epoch, step, **facts):
        """Note the start of a session after so many epochs and steps, and what the run is."""
        self.content |= facts
        self.content["sessions"].append(
            {
                "started": now(),
                "ended": None,
                "outcome": None,
                "resumed": {"epochs": epoch, "steps": step} if step else None,
                "command": command,
                "versions": versions(),
                "devices": devices(),
                "git": git_state(Path(__file__).parents[1]),
            }
        )
        self.write()

    def end(self, outcome):
        """Note the end of the session."""
        if self.content["sessions"]:
            self.content["sessions"][-1] |= {"ended": now(), "outcome": outcome}
            self.write()

    def write(self):
        """Write the file."""
        self.outbox.write(self.NAME, to_json(self.content))


class Timer:
    """Says when a checkpoint is due: after so many minutes or steps, whichever comes first.

    Parameters
    ----------
    minutes : float
    steps : int
        0 leaves either out.
    clock : callable -> float
        Seconds.
    """

    def __init__(self, minutes, steps, clock=time.monotonic):
        self.minutes, self.steps, self.clock = minutes, steps, clock
        self.restart(0)

    def restart(self, step):
        """Count from now and from this step."""
        self._time, self._step = self.clock(), step

    def due(self, step):
        """Whether it is time, after so many steps of the run."""
        return bool(
            (self.steps and step - self._step >= self.steps)
            or (self.minutes and self.clock() - self._time >= 60 * self.minutes)
        )


def resume_command(arguments):
    """The command line that goes on with a run, given the one that started it."""
    kept, skip = [], False
    for argument in arguments:
        if skip:
            skip = False
        elif argument == "--stop-after":
            skip = True
        elif argument not in ("--overwrite", "--resume") and not argument.startswith(
            "--stop-after="
        ):
            kept.append(argument)
    script = Path(__file__).parents[1] / "train_yolo11n.py"
    with contextlib.suppress(ValueError):  # another drive
        script = Path(os.path.relpath(script))
    return shlex.join([sys.executable, str(script), *kept, "--resume"])
