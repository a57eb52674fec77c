"""Kills trainings at random moments, resumes them, and compares them with one that nothing stopped.

    mount -t tmpfs -o size=400m tmpfs FOLDER
    python -m benchmarks.training.resume FOLDER [--kills 20] [--sides host device]
        [--seed 0] [--record]

Twenty sessions of one run are killed (SIGKILL): after steps, while a file is being written, within
validation, and at any time from a session's start on.  Between them come other troubles: a full
disk, a data set that is gone, and a clock that is set back by 400 days (Debian's `faketime`).  The
last session goes on to the end; its weights, the optimizer's state and every row of results.csv and
steps.csv must be the whole run's, except times.  Images are drawn on the host or on the
device.  FOLDER is a file system of its own, for it is filled up.
"""

import argparse
import contextlib
import csv
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.common import results
from benchmarks.common.step_sides import DEMO

sys.path.insert(0, str(DEMO))

from training.checkpoint import load_weights

IMAGES = "--train", "16", "--val", "8"
SETTINGS = [
    "--image-size", "64", "--batch-size", "4", "--nominal-batch", "8", "--epochs", "30",
    "--val-every", "2", "--mosaic", "0.5", "--close-mosaic", "4", "--warmup-epochs", "1",
    "--statistics-images", "8", "--no-export", "--log-every", "1",
]  # fmt: skip
SIDES = {"host": "off", "device": "on"}  # of --device-augment
KINDS = "step", "file", "validation", "any time"
TIMES = "seconds", "images_per_s", "waited_share"
PATIENCE = 1200  # seconds for a session to come to its moment, or to its end


class Failure(Exception):
    """A session did what it must not do."""


class Run:
    """Sessions of one training, one after another."""

    def __init__(self, folder, data, side, cache, log):
        self.folder, self.data, self.log = folder, data, log
        self.command = [
            sys.executable, "train_yolo11n.py", "--data", str(data), "--preset", "none", *SETTINGS,
            "--device-augment", SIDES[side], "--output-dir", str(folder),
            "--compilation-cache", str(cache),
        ]  # fmt: skip

    @contextlib.contextmanager
    def session(self, *arguments, wrapper=(), **variables):
        """Start a session, and kill it at the end."""
        if (self.folder / "last.safetensors").exists():
            arguments = ["--resume", *arguments]
        environment = os.environ | {"JAX_PLATFORMS": "cpu", "PYTHONUNBUFFERED": "1"} | variables
        with open(self.log, "ab") as output:
            process = subprocess.Popen(
                [*wrapper, *self.command, *map(str, arguments)],
                cwd=DEMO, stdout=output, stderr=subprocess.STDOUT, env=environment,
            )  # fmt: skip
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def end(self, process, code):
        """Wait for the session's end."""
        found = process.wait(PATIENCE)
        if found != code:
            raise Failure(f"exit code {found} instead of {code}; see {self.log}")

    def until(self, process, condition):
        """Return whether the condition came true before the session ended."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if process.poll() is not None:
                return False
            if time.monotonic() > end:
                raise Failure(f"nothing happens; see {self.log}")
            time.sleep(0.0005)
        return True

    def steps(self):
        path = self.folder / "steps.csv"
        return len(path.read_bytes().splitlines()) if path.exists() else 0

    def printed(self, text):
        """Count how often the sessions have printed something."""
        return self.log.read_text(errors="replace").count(text) if self.log.exists() else 0

    def more_steps(self, count):
        """Return a condition: `count` more rows are written than when a session began to write."""
        least = [None]

        def there():
            steps = self.steps()
            least[0] = steps if least[0] is None else min(least[0], steps)
            return steps >= least[0] + count

        return there


def kill(run, kind, rng, whole_s):
    """Kill a session at a moment of a kind; what was known of the moment."""
    often = rng.choice([0, 0.02])
    files, epochs = rng.randint(1, 4), run.printed("epoch ")
    condition, delay = {
        "step": (run.more_steps(rng.randint(1, 3)), rng.uniform(0, 0.3)),
        "file": (files_written(run.folder, files), rng.uniform(0, 0.02)),
        "validation": (lambda: ends_of_epochs(run) > before, rng.uniform(0, 0.6)),
        "any time": (lambda: True, rng.uniform(0, whole_s)),
    }[kind]
    before = ends_of_epochs(run)
    with run.session("--checkpoint-minutes", often) as process:
        if not run.until(process, condition):
            raise Failure(f"a session ended before it was killed, with {process.returncode}")
        time.sleep(delay)
        if process.poll() is not None:
            raise Failure(f"a session ended before it was killed, with {process.returncode}")
        left = sorted(path.name for path in run.folder.glob(".*"))
        process.send_signal(signal.SIGKILL)
        process.wait()
    left = sorted({*left, *(path.name for path in run.folder.glob(".*"))})
    return {
        "kind": kind, "delay_s": round(delay, 4), "checkpoint_minutes": often,
        "rows_of_steps_csv": run.steps() - 1, "epoch_lines": run.printed("epoch ") - epochs,
        "unfinished_files": [name.rpartition(".")[0].lstrip(".") for name in left],
    }  # fmt: skip


def files_written(folder, count):
    """Return a condition: a file is being written, for the `count`th time."""
    seen, there = [0], [False]

    def now():
        found = any(folder.glob(".*.safetensors.*"))
        seen[0] += found and not there[0]
        there[0] = found
        return seen[0] >= count

    return now


def ends_of_epochs(run):
    """Count the epochs that were told at their end and are then validated."""
    last = int(SETTINGS[SETTINGS.index("--epochs") + 1])
    every = int(SETTINGS[SETTINGS.index("--val-every") + 1])
    return sum(run.printed(f"epoch {k}/{last}: ") for k in range(every, last + 1, every))


# ------------------------------------------------------------------------------ other troubles


def full_disk(run, number):
    """Fill the disk while a session runs, which then gets a signal; make room after that."""
    ballast = run.folder / "ballast"
    told = run.printed("could not be written")
    with run.session("--checkpoint-minutes", 0) as process:
        run.until(process, run.more_steps(1))
        free = shutil.disk_usage(run.folder).free
        if free > 2**32:
            raise Failure(f"{run.folder} has {free / 2**30:.0f} GiB left: too much to fill up")
        with open(ballast, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, free - 2**20)
        if not run.until(process, lambda: run.printed("could not be written") > told + 1):
            raise Failure(f"a full disk ended the session; see {run.log}")
        process.send_signal(number)
        # The error names the files that are missing; a killed process says nothing.
        run.end(process, -number if number == signal.SIGKILL else 1)
    ballast.unlink()
    return "the disk is full"


def data_gone(run, number):
    """Take the data set's folder away within a session, and at the start of the next one."""
    away = run.data.with_name("away")
    with run.session() as process:
        run.until(process, run.more_steps(1))
        run.data.rename(away)
        try:
            run.until(process, run.more_steps(2))
            process.send_signal(number)
            run.end(process, 128 + number)
            with run.session() as other:
                run.end(other, 1)
        finally:
            away.rename(run.data)
    return "the data are gone"


def clock_set_back(run, number):
    """Set the clock back by 400 days within a session; the next has the right time again."""
    with tempfile.NamedTemporaryFile("w", suffix=".clock") as clock:
        clock.write("+0\n")
        clock.flush()
        variables = {
            "FAKETIME_TIMESTAMP_FILE": clock.name, "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }  # fmt: skip
        command = shutil.which("faketime")
        if command is None:
            raise Failure("there is no faketime (Debian's package of that name)")
        preload = subprocess.run(
            [command, "now", "printenv", "LD_PRELOAD"], capture_output=True, text=True, check=True
        ).stdout.strip()
        minutes = "--checkpoint-minutes", 0
        with run.session(*minutes, LD_PRELOAD=preload, **variables) as process:
            run.until(process, run.more_steps(1))
            clock.seek(0)
            clock.write("-400d\n")
            clock.flush()
            run.until(process, run.more_steps(2))
            process.send_signal(number)
            run.end(process, 128 + number)
    last = json.loads((run.folder / "settings.json").read_text())["sessions"][-1]
    if last["ended"] > last["started"]:
        raise Failure(f"the clock wasn't set back: {last['started']} to {last['ended']}")
    return "the clock is set back"


TROUBLES = [
    (full_disk, signal.SIGKILL), (full_disk, signal.SIGTERM), (data_gone, signal.SIGTERM),
    (clock_set_back, signal.SIGTERM),
]  # fmt: skip


# ------------------------------------------------------------------------------ comparison


def content(folder):
    """Return what two runs must share: bytes of arrays, progress, and rows, without times."""
    found = {}
    for name in ("last", "best"):
        arrays, info = load_weights(folder / f"{name}.safetensors")
        if "progress" in info:
            info["progress"] |= {"seconds": 0, "waited": 0}
            info["progress"]["rows"] = without_times(info["progress"]["rows"])
        found[name] = {k: (str(v.dtype), v.shape, v.tobytes()) for k, v in arrays.items()}
        found[f"{name}'s facts"] = info
    for name in ("results.csv", "steps.csv"):
        with open(folder / name, newline="") as file:
            found[name] = without_times(list(csv.DictReader(file)))
    return found


def without_times(rows):
    return [{k: v for k, v in row.items() if k not in TIMES} for row in rows]


def differences(folder, other):
    """Name what isn't equal in two runs."""
    one, two = content(folder), content(other)
    different = [name for name in one if one[name] != two[name]]
    left = [path.name for path in other.glob(".*")]
    return different + [f"left behind: {name}" for name in left]


def try_side(side, o, data, cache):
    """Run once whole, and once with all troubles; return what happened."""
    logs = [o.folder / f"{side}-{name}.log" for name in ("whole", "killed")]
    whole, killed = (
        Run(o.folder / f"{side}-{name}", data, side, cache, log)
        for name, log in zip(("whole", "killed"), logs, strict=True)
    )
    rng, done = random.Random(f"{o.seed} {side}"), []
    for run in (whole, killed):
        shutil.rmtree(run.folder, ignore_errors=True)
        run.log.unlink(missing_ok=True)
    with whole.session() as process:  # it compiles what the others find
        whole.end(process, 0)
    kinds = [KINDS[k % len(KINDS)] for k in range(o.kills)]
    rng.shuffle(kinds)
    between = {(k + 1) * o.kills // (len(TROUBLES) + 1): t for k, t in enumerate(TROUBLES)}
    for k, kind in enumerate(kinds):
        if k in between:
            trouble, number = between[k]
            done.append({"kind": trouble(killed, number), "signal": signal.Signals(number).name})
            print(f"{side}: {done[-1]}", flush=True)
        done.append(kill(killed, kind, rng, o.any_time))
        print(f"{side}: {done[-1]}", flush=True)
    with killed.session() as process:
        killed.end(process, 0)
    different = differences(whole.folder, killed.folder)
    print(f"{side}: {'different: ' + ', '.join(different) if different else 'equal'}", flush=True)
    return {
        "moments": done,
        "kills": sum(m.get("signal", "SIGKILL") == "SIGKILL" for m in done),
        "steps": whole.steps() - 1,
        "resumed": killed.printed("resumed after"),
        "arrays": len(content(whole.folder)["last"]),
        "different": different,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="a small file system, of about 400 MB")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=[*SIDES])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--any-time", type=float, default=20.0, metavar="SECONDS",
                        help="after a session's start, for the kills at any time")  # fmt: skip
    results.add_options(parser)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as other:
        data, cache = Path(other) / "data", Path(other) / "cache"
        draw = [sys.executable, "-m", "data.synthetic.generate", data, *IMAGES]
        subprocess.run(draw, cwd=DEMO, check=True)
        sides = {side: try_side(side, o, data, cache) for side in o.sides}
    figures = {
        side: {
            "sessions ended by": Counter(moment["kind"] for moment in found["moments"]),
            "different": ", ".join(found["different"]) or "nothing",
            **{name: found[name] for name in ("kills", "steps", "resumed", "arrays")},
        }
        for side, found in sides.items()
    }
    results.save(o, {"settings": SETTINGS, "seed": o.seed, "sides": sides}, figures)
    return int(any(side["different"] for side in sides.values()))


if __name__ == "__main__":
    sys.exit(main())
