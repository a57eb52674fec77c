"""Measure what the graft adds to the start of Python: in turns, with and without its `.pth` file.

    python benchmarks/start_up.py [--rounds 200]

The wheel is built and laid into an environment that links to this one's packages. Processor time is
that of the process that Python starts in, which other programs disturb less than the clock.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def environment(folder):
    """Make an environment with the wheel, compiled, and links to the packages of this one."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for entry in Path(metadata.distribution("numpy").locate_file("")).iterdir():
        if entry.suffix != ".pth" and not entry.name.startswith("pytensor_vision"):
            (site / entry.name).symlink_to(entry)
    command = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return folder / "bin" / "python", site / "pytensor_vision.pth"


def start(python):
    """Return milliseconds of clock and processor until a Python has started and ended."""
    begin = time.perf_counter()
    pid = os.posix_spawn(python, [str(python), "-c", "pass"], {**os.environ, "PYTHONPATH": ""})
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"start_up: {python} ended with {status}")
    return 1e3 * (time.perf_counter() - begin), 1e3 * (usage.ru_utime + usage.ru_stime)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        python, pth = environment(Path(folder))
        text = pth.read_text()
        start(python)
        times = {"with": [], "without": []}
        for _ in range(rounds):
            for which, taken in times.items():
                pth.write_text(text if which == "with" else "")
                taken.append(start(python))
    for place, what in enumerate(("clock", "processor")):
        found = {k: statistics.median(v[place] for v in taken) for k, taken in times.items()}
        more = statistics.median(
            a[place] - b[place] for a, b in zip(times["with"], times["without"], strict=True)
        )
        print(f"{what}: {found['without']:.1f} ms without, {more:+.2f} ms with")


if __name__ == "__main__":
    main()
