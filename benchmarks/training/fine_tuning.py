"""Measure what a training on a small set of one's own gains from the weights that it starts from.

    python -m benchmarks.training.fine_tuning PATH --classes WBC RBC Platelets \\
        --starts none drawn=runs/yolo11n/best.safetensors real [--seeds 0 1 2] [--epochs 20]

PATH is a data set with a test part.  Each start is trained with each seed, in turns, with all other
settings equal, and its weights of the best epoch (by validation) are scored on the test part, by
pycocotools.  A start is what --weights of train_yolo11n.py takes, perhaps with a name before it.
"""

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.common import results
from benchmarks.common.step_sides import DEMO

SCORES = ("map50_95", "map50")


def run(script, *arguments):
    """Run a script of the demo; what it prints goes to stderr."""
    command = [sys.executable, str(DEMO / script), *map(str, arguments)]
    subprocess.run(command, check=True, stdout=sys.stderr)


def trained(options, start, seed):
    """Train from a start with a seed; scores on the test part, by class, and seconds."""
    name, _, weights = start.rpartition("=")
    folder = options.output_dir / f"{name or weights}_{seed}"
    size = options.image_size
    if not (folder / "metrics.json").exists():
        run(
            "train_yolo11n.py", "--data", options.data, "--classes", *options.classes,
            "--weights", weights, "--seed", seed, "--output-dir", folder, "--overwrite",
            "--image-size", size, "--batch-size", options.batch_size,
            "--nominal-batch", options.batch_size, "--epochs", options.epochs,
            "--warmup-epochs", 1, "--close-mosaic", options.epochs // 4, "--val-every", 2,
            "--ema-decay", 0.99, "--ema-steps", 100, "--no-export",
        )  # fmt: skip
    test = folder / "test"
    run(
        "evaluate_yolo11n.py", folder / "best.safetensors", "--data", options.data,
        "--split", "test", "--output-dir", test,
    )  # fmt: skip
    scores = json.loads((test / "metrics.json").read_text())["coco"]
    seconds = json.loads((folder / "metrics.json").read_text())["train_seconds"]
    own = {key: scores[key] for key in SCORES}
    own |= {name: found["map50"] for name, found in scores["per_class"].items()}
    return own | {"seconds": seconds}


def summarize(values):
    """Return the mean and the range."""
    return {"mean": statistics.mean(values), "min": min(values), "max": max(values)}


def table(runs):
    """Yield the lines of a Markdown table: the mean and the range of each start's runs."""
    names = list(next(iter(runs.values()))[0])
    yield "| start | " + " | ".join(names) + " |"
    yield "| --- " * (len(names) + 1) + "|"
    for start, found in runs.items():
        cells = []
        for name in names:
            digits = 0 if name == "seconds" else 3
            values = summarize([own[name] for own in found]).values()
            cells.append("{} ({} to {})".format(*(f"{value:.{digits}f}" for value in values)))
        yield f"| {start.rpartition('=')[0] or start} | " + " | ".join(cells) + " |"


def main():
    """Measure as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("data", type=Path)
    add("--classes", nargs="+", required=True)
    add("--starts", nargs="+", default=["none", "real"])
    add("--seeds", nargs="+", type=int, default=[0, 1, 2])
    add("--epochs", type=int, default=20)
    add("--image-size", type=int, default=256)
    add("--batch-size", type=int, default=8)
    add("--output-dir", type=Path, default=Path("runs/fine_tuning"))
    results.add_options(parser, json=False)
    options = parser.parse_args()
    runs = {start: [] for start in options.starts}
    for seed in options.seeds:
        for start in options.starts:
            runs[start].append(trained(options, start, seed))
    print(*table(runs), sep="\n")
    figures = {
        start: {name: summarize([own[name] for own in found]) for name in found[0]}
        for start, found in runs.items()
    }
    results.save(options, None, figures)


if __name__ == "__main__":
    main()
