"""Counts the files that one training step of the detector enters, by running a short training.

    python -m docs.tools.step_files [--json OUT]

Python tells of every function that begins or goes on, in every thread (`sys.monitoring`): once
while the step is compiled, and once from the second step of an epoch to its last one, when nothing
is compiled any more. Code that Numba or XLA has compiled isn't Python's, and isn't seen; what calls
it is.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from types import CodeType
from unittest.mock import patch

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "examples" / "onnx" / "onnx-yolo-demo"
PACKAGE = ROOT / "pytensor"
MOMENTS = {"compiled": "while it is compiled", "run": "each time it runs"}
# Small, and without what comes before and after the steps.
OPTIONS = (
    "--data synthetic --train-images 8 --val-images 2 --image-size 64 --batch-size 2 "
    "--nominal-batch 2 --epochs 2 --stop-after 1 --val-every 2 --close-mosaic 0 --workers 1 "
    "--compilation-cache off --statistics-images 0 --no-export"
)  # fmt: skip


class EnteredFiles:
    """Collects the files of the Python functions that are entered or resumed between two calls."""

    TOOL = sys.monitoring.PROFILER_ID
    EVENTS = sys.monitoring.events.PY_START, sys.monitoring.events.PY_RESUME

    def __init__(self) -> None:
        self.files: set[str] = set()

    def start(self) -> None:
        """Begin to collect."""
        sys.monitoring.use_tool_id(self.TOOL, "files of a step")
        for event in self.EVENTS:
            sys.monitoring.register_callback(self.TOOL, event, self._note)
        sys.monitoring.set_events(self.TOOL, sum(self.EVENTS))
        sys.monitoring.restart_events()

    def stop(self) -> None:
        """End it."""
        sys.monitoring.set_events(self.TOOL, sys.monitoring.events.NO_EVENTS)
        sys.monitoring.free_tool_id(self.TOOL)

    def _note(self, code: CodeType, _: int) -> object:
        self.files.add(code.co_filename)
        return sys.monitoring.DISABLE  # the next call of this function says nothing new

    def below(self, folder: Path) -> list[str]:
        """Return the files in a folder, relative to it."""
        paths = [Path(name) for name in self.files]
        inside = [p.relative_to(folder) for p in paths if p.is_relative_to(folder)]
        return sorted(p.as_posix() for p in inside)


def count() -> dict[str, dict[str, list[str]]]:
    """Train for an epoch; return, by `MOMENTS`, the files of the demo and of the package."""
    sys.path.insert(0, str(DEMO))
    import train_yolo11n
    from training import callbacks

    entered = {moment: EnteredFiles() for moment in MOMENTS}
    make_step = train_yolo11n.make_step

    def traced_make_step(*arguments: object) -> object:
        entered["compiled"].start()
        step = make_step(*arguments)
        entered["compiled"].stop()
        return step

    class Traced(callbacks.Results):
        """Watches from the second step, before which it is asked, to the last one."""

        steps = 0

        def before_step(self) -> None:
            self.steps += 1
            if self.steps == 2:
                entered["run"].start()
            if self.steps == len(self.run.loader):
                entered["run"].stop()

    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(train_yolo11n, "make_step", traced_make_step),
        patch.object(train_yolo11n, "make_validator"),  # the run stops before it is asked
        patch.object(callbacks, "Results", Traced),
    ):
        own = ["--data-dir", f"{folder}/data", "--output-dir", f"{folder}/run"]
        if code := train_yolo11n.main([*OPTIONS.split(), *own]):
            raise SystemExit(code)
    return {
        moment: {"demo": files.below(DEMO), "package": files.below(PACKAGE)}
        for moment, files in entered.items()
    }


def main() -> None:
    """Print the files, or write them to a file as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, metavar="OUT", help="file to write the names to")
    options = parser.parse_args()
    # XLA's programs run for a moment only.
    os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
    entered = count()
    for moment, words in MOMENTS.items():
        for part, files in entered[moment].items():
            print(f"{len(files)} files of the {part} {words}:", *files, sep="\n  ")
    if options.json:
        options.json.write_text(json.dumps(entered, indent=1) + "\n")


if __name__ == "__main__":
    main()
