"""Measure what the graft adds to the start of Python: in turns, with and without its `.pth` file.

    python -m benchmarks.package.start_up [--rounds 200] [--code "import pytensor"] [--record]

The wheel is built and laid into an environment that links to this one's packages. Processor time is
that of the process that Python starts in, which other programs disturb less than the clock.  Last
comes the processor time that our finder takes in one `import pytensor`, without that of the other
finders and without the loading of our modules.
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

from benchmarks.common import results
from benchmarks.common.child import ROOT


def environment(folder):
    """Make an environment with the wheel unpacked; return its Python and its `.pth` file."""
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


def start(python, code):
    """Run a line of code in a Python; return milliseconds of the clock and of the processor."""
    begin = time.perf_counter()
    pid = os.posix_spawn(python, [str(python), "-c", code], {**os.environ, "PYTHONPATH": ""})
    _, status, usage = os.wait4(pid, 0)
    if status:
        code = os.waitstatus_to_exitcode(status)
        raise SystemExit(f"start_up: {python} ended with exit code {code}")
    return 1e3 * (time.perf_counter() - begin), 1e3 * (usage.ru_utime + usage.ru_stime)


# Run in the environment.  NumPy loads most of what PyTensor and the finder both import.
FINDER = """
import sys, time, numpy
begin = time.thread_time()
from pytensor_vision import PyTensorGraft
own, theirs = time.thread_time() - begin, 0
class Timed:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, *arguments):
        global theirs
        begin = time.thread_time()
        spec = self.finder.find_spec(*arguments)
        theirs += time.thread_time() - begin
        return spec
find = PyTensorGraft.find_spec
def find_spec(*arguments):
    global own
    begin, before = time.thread_time(), theirs
    spec = find(*arguments)
    own += time.thread_time() - begin - (theirs - before)
    return spec
PyTensorGraft.find_spec = find_spec
sys.meta_path[1:] = map(Timed, sys.meta_path[1:])
import pytensor
print(1e3 * own)
"""


def finder(python):
    """Return the processor's milliseconds that the finder takes in one `import pytensor`."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = ""
    return float(subprocess.check_output((python, "-c", FINDER), env=environment, text=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--code", default="pass", help="what Python does, by default nothing")
    results.add_options(parser, json=False)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        python, pth = environment(Path(folder))
        own = statistics.median([finder(python) for _ in range(11)][1:])
        text = pth.read_text()
        start(python, options.code)
        times = {"with": [], "without": []}
        for _ in range(options.rounds):
            for which, taken in times.items():
                pth.write_text(text if which == "with" else "")
                taken.append(start(python, options.code))
    figures = {"finder, ms": own}
    for place, what in enumerate(("clock", "processor")):
        found = {k: statistics.median(v[place] for v in taken) for k, taken in times.items()}
        more = statistics.median(
            a[place] - b[place] for a, b in zip(times["with"], times["without"], strict=True)
        )
        print(f"{what}: {found['without']:.1f} ms without, {more:+.2f} ms with")
        figures[what] = {"without, ms": found["without"], "more with, ms": more}
    print(f"processor, import pytensor: {own:.2f} ms for the finder")
    results.save(options, None, figures)


if __name__ == "__main__":
    main()
