"""What the training recipe reaches from scratch: mean and spread over seeds, on one data set.

    python -m benchmarks.training.detection_quality --data FOLDER --seeds 0 1 2 [--short]
        [--variants float32 bf16 ...] [--jobs 3] [--resume] [--json OUT] [--record]

FOLDER is a set in COCO's layout with persons and cell phones.  The settings are fixed, so that
results can be compared with another trainer's on the same files: 192 px, batch 16 accumulated to
64, 30 epochs, SGD 0.01, linear schedule, 3 epochs of warm-up, mosaic until epoch 20, and the
weights after the last epoch (averaged, with batch statistics of their own), not the best ones: so
nothing is chosen on the validation set.  They are scored by pycocotools.  --short trains for 12
epochs at 128 px, without mosaic for the last 4.

Variants are trained from the same seeds, which decide weights, order and augmentation.  Each one is
compared with float32 by the differences of equal seeds: their mean, with the 95 % confidence
interval of Student's t.  Seeds and variants that the file OUT already has are not trained again, so
more of them can be added to it.

    float32          the demo's training on this machine
    bf16             convolutions and activations in bfloat16
    without-kernels  on a CPU: without our C++ kernels
    device-drawn     training images drawn on JAX's device
    one-thread       on a CPU: on one core
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scipy.stats import t as students_t

from benchmarks.common import results as table
from benchmarks.common.machine import processor
from benchmarks.common.step_sides import DEMO

SETTINGS = [
    "--image-size", "192", "--batch-size", "16", "--nominal-batch", "64", "--epochs", "30",
    "--optimizer", "sgd", "--lr", "0.01", "--final-lr", "0.01", "--momentum", "0.937",
    "--weight-decay", "0.0005", "--schedule", "linear", "--warmup-epochs", "3",
    "--mosaic", "1", "--close-mosaic", "10", "--scale", "0.5", "--ema-decay", "0.9999",
    "--ema-steps", "2000", "--classes", "person", "cell phone", "--no-export",
]  # fmt: skip
SHORT = ["--image-size", "128", "--epochs", "12", "--close-mosaic", "4"]
# What comes before the command, options of the training, and the environment.
VARIANTS = {
    "float32": ([], [], {}),
    "bf16": ([], ["--precision", "bf16"], {}),
    "without-kernels": ([], [], {"PYTENSOR_FLAGS": "cxx="}),
    "device-drawn": ([], ["--device-augment", "on"], {}),
    "one-thread": (["taskset", "-c", "0"], [], {}),
}
REFERENCE = "float32"


def train(data, variant, seed, settings, output, resume):
    """Train one seed in a separate process; return the last weights' scores, and its seconds.

    SystemExit if it fails, or if `resume` finds a training of other settings or other data.
    """
    folder = output / variant / f"seed{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    before, changed, environment = VARIANTS[variant]
    begun = any((folder / name).exists() for name in ("metrics.json", "last.safetensors"))
    asked, note = {"data": str(data.resolve()), "settings": settings}, folder / "asked.json"
    if resume and begun and not (note.exists() and json.loads(note.read_text()) == asked):
        raise SystemExit(
            f"{folder} has a training of other settings or other data: give another --output-dir, "
            "or leave out --resume to train again"
        )
    note.write_text(json.dumps(asked) + "\n")
    command = [*before, sys.executable, "train_yolo11n.py", "--data", str(data.resolve())]
    command += ["--preset", "none"]
    command += [*settings, *changed, "--seed", str(seed), "--output-dir", str(folder.resolve())]
    if resume and (folder / "metrics.json").exists():
        command = ["true"]  # it has ended
    command += ["--resume" if resume and (folder / "last.safetensors").exists() else "--overwrite"]
    with open(folder / "output.txt", "a") as log:
        code = subprocess.run(
            command, cwd=DEMO, stdout=log, stderr=subprocess.STDOUT, env=os.environ | environment
        ).returncode
    if code:
        raise SystemExit(f"seed {seed} failed (exit {code}): see {log.name}")
    metrics = json.loads((folder / "metrics.json").read_text())
    machine = {"processor": processor(), "cores": len(os.sched_getaffinity(0))}
    return metrics["last"] | {"seed": seed, "train_seconds": metrics["train_seconds"], **machine}


def summarize(results):
    """Return mean and standard deviation (n - 1) of both mAPs, of all classes and of each."""
    rows = {"all": results} | {
        name: [result["per_class"][name] for result in results] for name in results[0]["per_class"]
    }
    return {
        name: {
            key: {
                "mean": statistics.mean(row[key] for row in values),
                "sd": statistics.stdev(row[key] for row in values) if len(values) > 1 else None,
            }
            for key in ("map50_95", "map50")
        }
        for name, values in rows.items()
    }


def difference(results, others, key="map50_95"):
    """Compare two variants by the seeds that both have.

    Parameters
    ----------
    results, others : sequence of dict
        Scores, by "seed" and `key`.
    key : str

    Returns
    -------
    dict or None
        "mean" of ``results - others``; "low" and "high", the ends of its 95 % confidence interval,
        None for fewer than two seeds; "seeds", how many were compared.  None if no seed is in both.
    """
    known = {other["seed"]: other[key] for other in others}
    values = [each[key] - known[each["seed"]] for each in results if each["seed"] in known]
    if not values:
        return None
    mean, low, high = statistics.mean(values), None, None
    if len(values) > 1:
        half = (
            students_t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / len(values) ** 0.5
        )
        low, high = mean - half, mean + half
    return {"mean": mean, "low": low, "high": high, "seeds": len(values)}


def show(summary, count):
    for name, values in summary.items():
        cells = [
            f"{label} {v['mean']:.4f}" + (f" ± {v['sd']:.4f}" if v["sd"] is not None else "")
            for label, v in zip(("mAP@0.5:0.95", "mAP@0.5"), values.values(), strict=True)
        ]
        print(f"{name:12} {'   '.join(cells)}   ({count} seeds)")


def known_results(path, settings):
    """Read the scores that an earlier run with the same settings wrote, by seed and variant."""
    if path is None or not path.exists():
        return {}
    known = json.loads(path.read_text())
    if known["settings"] != settings:
        raise SystemExit(f"{path} has results of other settings; name another file with --json")
    rows = [(name, row) for name, v in known["variants"].items() for row in v["seeds"]]
    return {(row["seed"], name): row for name, row in rows}


def record(settings, results):
    """Return scores by variant, with their means and differences, as JSON has them."""
    found = {"settings": settings, "variants": {}}
    for variant in VARIANTS:
        rows = [row for (_, name), row in sorted(results.items()) if name == variant]
        if rows:
            found["variants"][variant] = {"seeds": rows, "summary": summarize(rows)}
    reference = found["variants"].get(REFERENCE, {"seeds": []})["seeds"]
    for name, values in found["variants"].items():
        values["difference"] = difference(values["seeds"], reference) if name != REFERENCE else None
    return found


def figures(found):
    """Return the figures for the table of results."""
    return {
        variant: {
            **{
                f"seed {row['seed']}": {key: row[key] for key in ("map50_95", "map50")}
                for row in values["seeds"]
            },
            "all seeds": values["summary"]["all"],
            f"map50_95, difference to {REFERENCE}": values["difference"],
        }
        for variant, values in found["variants"].items()
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--short", action="store_true", help="12 epochs at 128 px")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=[REFERENCE])
    parser.add_argument("--jobs", type=int, default=1, help="trainings at a time")
    parser.add_argument("--output-dir", type=Path, default=Path("runs/detection_quality"))
    parser.add_argument("--resume", action="store_true", help="go on with what was interrupted")
    table.add_options(parser)
    options = parser.parse_args()
    settings = SETTINGS + SHORT * options.short
    results, lock = known_results(options.json, settings), threading.Lock()

    def run(each):
        seed, variant = each
        if each not in results:
            data, folder = options.data, options.output_dir
            scores = train(data, variant, seed, settings, folder, options.resume)
            with lock:  # or a file of fewer results could be written last
                results[each] = scores
                table.save(options, record(settings, results))
        result = results[each]
        print(
            f"{variant}, seed {seed}: mAP@0.5:0.95 {result['map50_95']:.4f}, "
            f"mAP@0.5 {result['map50']:.4f}, {result['train_seconds'] / 60:.1f} min",
            flush=True,
        )

    # All variants of a seed before the next, so that what is interrupted can be compared, too.
    pairs = [(seed, variant) for seed in options.seeds for variant in options.variants]
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(run, pairs))
    found = record(settings, results)
    table.save(options, found, figures(found))
    for variant, values in found["variants"].items():
        print(variant)
        show(values["summary"], len(values["seeds"]))
        if found := values["difference"]:
            text = f"difference of mAP@0.5:0.95 to {REFERENCE}: {found['mean']:+.4f}"
            if found["low"] is not None:
                text += f" ({found['low']:+.4f} to {found['high']:+.4f})"
            print(f"{text}, {found['seeds']} seeds")


if __name__ == "__main__":
    main()
