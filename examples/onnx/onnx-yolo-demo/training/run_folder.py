"""The folder of a training run: its log, its settings, and files that survive a full disk.

``settings.json`` says how the run was made (options, resolved recipe) and lists its sessions: when
each began and ended, how, its command, versions and device.  ``train.log`` has all that was
printed, with times.
"""

import contextlib
import json
import os
import platform
import shlex
import shutil
import sys
import tempfile
import traceback
from datetime import datetime
from importlib import metadata
from pathlib import Path

from evaluation.metrics import without_nan
from training.checkpoint import remove_leftovers, write_atomically

RESULTS = (
    "best.safetensors", "last.safetensors", "metrics.json", "results.csv", "results.png",
    "settings.json", "steps.csv", "val_detections.png",
)  # fmt: skip
PACKAGES = ("pytensor", "jax", "jaxlib", "numpy", "onnx")


class TrainingError(Exception):
    """The run can't start or go on; the message says why."""


class Stopped(Exception):
    """The run ends before its last epoch, and can be resumed; the message says how far it came."""

    def __init__(self, where, outcome="stopped", exit_code=0):
        super().__init__(where)
        self.outcome, self.exit_code = outcome, exit_code


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


class Terminal:
    """A stream of the terminal whose loss (a closed connection) doesn't end the run.

    Parameters
    ----------
    stream : text stream
    log : path-like, optional
        A file that receives the lines, too, each with its time.
    show : bool
        Else the stream gets nothing.
    """

    def __init__(self, stream, log=None, show=True):
        self.stream, self.show = stream, show
        self.log = None if log is None else open(log, "a", encoding="utf-8")  # noqa: SIM115
        self.line = ""

    def write(self, text):
        if self.log is not None:
            *lines, self.line = (self.line + text).split("\n")
            self.note(*lines)
        if self.show:
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
        """Nothing waits to be written."""

    def __getattr__(self, name):
        return getattr(self.stream, name)


class RunFolder:
    """A run's folder for one session: a context manager that logs what is printed and how it ends.

    Parameters
    ----------
    options : argparse.Namespace
        Of `parse_arguments`.
    known_errors : tuple of class
        Errors that aren't bugs: the log has no traceback of them.

    Attributes
    ----------
    path, last, best : Path
        The folder, the checkpoint to resume from, and the best weights.

    Raises
    ------
    TrainingError
        The folder can't be written to, or holds a run already, or none to resume.
    """

    def __init__(self, options, known_errors=(TrainingError,)):
        self.options, self.path = options, options.output_dir
        self.known_errors = known_errors
        # One of several processes writes.
        self.is_main = not options.process_id
        self.last, self.best = (self.path / f"{name}.safetensors" for name in ("last", "best"))
        self.waiting = {}  # path -> bytes that could not be written
        self.settings = None
        if self.is_main:
            self._prepare()

    def _prepare(self):
        resume, overwrite = self.options.resume, self.options.overwrite
        check_writable(self.path, "--output-dir")
        if resume and not self.last.exists():
            raise TrainingError(f"nothing to resume: {self.last} doesn't exist")
        if self.last.exists() and not (resume or overwrite):
            raise TrainingError(
                f"{self.path} holds a run already: --resume goes on with it, --overwrite replaces "
                "it, --output-dir starts another"
            )
        for name in RESULTS:
            remove_leftovers(self.path / name)

    def __enter__(self):
        log = self.path / "train.log" if self.is_main else os.devnull
        self.log = Terminal(sys.stdout, log, show=self.is_main)
        self._redirection = contextlib.redirect_stdout(self.log)
        self._redirection.__enter__()
        self.log.note(f"command: {shlex.join([sys.executable, *sys.argv])}")
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, Stopped):
            outcome = error.outcome
            print(f"stopped after {error}; go on with\n  {self.resume_command()}")
        elif error is not None:
            outcome = f"error: {' '.join(str(error).split()) or kind.__name__}"
            self.log.note(outcome)
            if not isinstance(error, self.known_errors):
                self.log.note(*"".join(traceback.format_exception(error)).splitlines())
        else:
            outcome = "finished"
        if self.settings is not None:
            self.settings["sessions"][-1] |= {"ended": now(), "outcome": outcome}
            self.write("settings.json", to_json(self.settings))
        self._redirection.__exit__(None, None, None)
        self.log.log.close()

    def begin(self, progress, recipe):
        """Note the start of a session, once nothing can go wrong any more for a known reason.

        A new run removes the files of an earlier one, its checkpoint above all: if it is killed
        before its own first one, it must not go on with that of another.
        """
        import jax

        if self.is_main and not self.options.resume:
            for name in RESULTS:
                (self.path / name).unlink(missing_ok=True)
        options = {k: v for k, v in vars(self.options).items() if k != "arguments"}
        session = {
            "started": now(),
            "ended": None,
            "outcome": None,
            "resumed": {"epochs": progress.epoch, "steps": progress.iteration},
            "command": self.options.arguments,
            "versions": {"python": platform.python_version()}
            | {name: metadata.version(name) for name in PACKAGES},
            "device": f"{jax.device_count()} x {jax.devices()[0].device_kind}",
        }
        sessions = [*self._sessions(), session]
        self.settings = {"options": options, "recipe": recipe, "sessions": sessions}
        self.write("settings.json", to_json(self.settings))

    def _sessions(self):
        """The earlier sessions of a run that is resumed."""
        path = self.path / "settings.json"
        try:
            return json.loads(path.read_text())["sessions"] if self.options.resume else []
        except (OSError, ValueError, KeyError):
            print(f"warning: {path} can't be read and begins anew")
            return []

    def write(self, name, data):
        """Write bytes to a file of the folder, and what is waiting; whether all succeeded.

        What can't be written, for the disk is full, is kept and tried again with the next file.
        """
        if self.is_main:
            self.waiting[self.path / name] = data
        return self.retry()

    def retry(self):
        """Write what is waiting; whether all succeeded."""
        for path, content in list(self.waiting.items()):
            try:
                write_atomically(path, content)
                del self.waiting[path]
            except OSError as error:
                self.error = error.strerror or error
                old = "the older one is kept" if path.exists() else "there is no older one"
                free = shutil.disk_usage(self.path).free / 2**20
                print(
                    f"warning: {path} ({len(content) / 2**20:,.1f} MiB) could not be written: "
                    f"{self.error}; {free:,.0f} MiB are free there; {old}; it will be tried again"
                )
        return not self.waiting

    def require(self):
        """Raise TrainingError if something of the run could not be written."""
        if not self.retry():
            names = ", ".join(str(path) for path in self.waiting)
            raise TrainingError(
                f"could not be written: {names} ({self.error}); make room and go on with --resume"
            )

    def resume_command(self):
        """The command line that goes on with the run."""
        kept, skip = [], False
        for argument in self.options.arguments:
            if not skip and argument.partition("=")[0] not in (
                "--stop-after", "--overwrite", "--resume",
            ):  # fmt: skip
                kept.append(argument)
            skip = argument == "--stop-after"
        script = Path(__file__).parents[1] / "train_yolo11n.py"
        with contextlib.suppress(ValueError):  # another drive
            script = Path(os.path.relpath(script))
        return shlex.join([sys.executable, str(script), *kept, "--resume"])


def now():
    """Time of day with its zone, to the second."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


def to_json(value):
    """Indented JSON as bytes; paths become text, NaN null."""
    return json.dumps(without_nan(value), indent=2, default=str).encode() + b"\n"
