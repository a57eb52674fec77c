"""What the training recipe reaches from scratch: mean and spread over seeds, on one data set.

    python benchmarks/detection_quality.py --data FOLDER --seeds 0 1 2 [--jobs 3] [--json OUT]

FOLDER is a set in COCO's layout with persons and cell phones.  The settings are fixed, so that
results can be compared with another trainer's on the same files: 192 px, batch 16 accumulated to
64, 30 epochs, SGD 0.01, linear schedule, 3 epochs of warm-up, mosaic until epoch 20, and the
weights after the last epoch (averaged, with statistics of their own), not the best ones: nothing is
chosen on the validation set.  They are scored by pycocotools.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DEMO = Path(__file__).parents[1] / "examples" / "onnx" / "onnx-yolo-demo"
SETTINGS = [
    "--image-size", "192", "--batch-size", "16", "--nominal-batch", "64", "--epochs", "30",
    "--optimizer", "sgd", "--lr", "0.01", "--final-lr", "0.01", "--momentum", "0.937",
    "--weight-decay", "0.0005", "--schedule", "linear", "--warmup-epochs", "3",
    "--mosaic", "1", "--close-mosaic", "10", "--scale", "0.5", "--ema-decay", "0.9999",
    "--ema-steps", "2000", "--classes", "person", "cell phone", "--no-export",
]  # fmt: skip


def train(data, seed, output, resume):
    """Train one seed in a process of its own; its last weights' scores, and seconds of training."""
    folder = output / f"seed{seed}"
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "train_yolo11n.py", "--data", str(data.resolve()), *SETTINGS]
    command += ["--seed", str(seed), "--output-dir", str(folder.resolve())]
    command += ["--resume" if resume and (folder / "last.safetensors").exists() else "--overwrite"]
    with open(folder / "output.txt", "a") as log:
        code = subprocess.run(command, cwd=DEMO, stdout=log, stderr=subprocess.STDOUT).returncode
    if code:
        raise SystemExit(f"seed {seed} failed (exit {code}): see {log.name}")
    metrics = json.loads((folder / "metrics.json").read_text())
    return metrics["last"] | {"seed": seed, "train_seconds": metrics["train_seconds"]}


def summarize(results):
    """Mean and standard deviation (n - 1) of both precisions, in all and by class."""
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


def show(summary, count):
    for name, values in summary.items():
        cells = [
            f"{label} {v['mean']:.4f}" + (f" ± {v['sd']:.4f}" if v["sd"] is not None else "")
            for label, v in zip(("mAP@0.5:0.95", "mAP@0.5"), values.values(), strict=True)
        ]
        print(f"{name:12} {'   '.join(cells)}   ({count} seeds)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=1, help="seeds trained at a time")
    parser.add_argument("--output-dir", type=Path, default=Path("runs/detection_quality"))
    parser.add_argument("--resume", action="store_true", help="go on with interrupted seeds")
    parser.add_argument("--json", type=Path, help="file to write the result to")
    options = parser.parse_args()
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(
            pool.map(
                lambda seed: train(options.data, seed, options.output_dir, options.resume),
                options.seeds,
            )
        )
    for result in results:
        print(
            f"seed {result['seed']}: mAP@0.5:0.95 {result['map50_95']:.4f}, "
            f"mAP@0.5 {result['map50']:.4f}, {result['train_seconds'] / 60:.1f} min"
        )
    summary = summarize(results)
    show(summary, len(results))
    if options.json:
        machine = {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count()}
        record = {"machine": machine, "settings": SETTINGS, "seeds": results, "summary": summary}
        options.json.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
