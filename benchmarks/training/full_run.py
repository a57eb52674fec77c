"""One whole training of the YOLO11n demo on drawn images: its time, speed, idle device, and result.

    python -m benchmarks.training.full_run    # on a GPU: minutes
    python -m benchmarks.training.full_run --images 64 --epochs 2 --image-size 64 \\
        --batch-size 8    # a trial

The settings are those of train.sh on a GPU.  Speed and idle share are medians over the epochs after
the first, which compiles; an epoch's idle share is the part of its time in which the device waited
for a batch.
"""

import argparse
import csv
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

DEMO = Path(__file__).parents[2] / "examples" / "onnx" / "onnx-yolo-demo"
RECIPE = [
    "--optimizer", "sgd", "--lr", "0.01", "--schedule", "linear", "--warmup-epochs", "3",
    "--mosaic", "1", "--close-mosaic", "10",
]  # fmt: skip


def run(script, *arguments):
    command = [sys.executable, "-m", script, *map(str, arguments)]
    start = time.perf_counter()
    if subprocess.run(command, env=os.environ | {"PYTHONPATH": str(DEMO)}).returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    return time.perf_counter() - start


def read_epochs(path):
    with open(path) as file:
        return [
            {key: float(row[key]) for key in ("images_per_s", "waited_share", "seconds")}
            for row in csv.DictReader(file)
        ]


def device_name():
    code = "import jax; d = jax.devices()[0]; print(d.platform, d.device_kind)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return answer.stdout.strip() or f"unknown: {answer.stderr.strip().splitlines()[-1]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--images", type=int, default=12000, help="for training; a twelfth more for validation")
    add("--epochs", type=int, default=100)
    add("--image-size", type=int, default=320)
    add("--batch-size", type=int, default=64)
    add("--workers", type=int, default=2)
    add("--output-dir", type=Path, default=Path("runs/full_run"))
    add("--json", type=Path, help="file to write the result to")
    options = parser.parse_args()
    data = options.output_dir / "data"
    held_out = max(options.images // 12, 4)
    drawing = run(
        "data.synthetic.generate", data, "--train", options.images, "--val", held_out,
        "--jobs", os.cpu_count() or 1,
    )  # fmt: skip
    training = run(
        "train_yolo11n", "--data", data, "--epochs", options.epochs, *RECIPE,
        "--image-size", options.image_size, "--batch-size", options.batch_size,
        "--workers", options.workers, "--val-every", max(options.epochs // 10, 1),
        "--output-dir", options.output_dir / "run", "--overwrite",
    )  # fmt: skip
    epochs = read_epochs(options.output_dir / "run/results.csv")
    metrics = json.loads((options.output_dir / "run/metrics.json").read_text())
    later = epochs[1:] or epochs
    result = {
        "machine": {
            "device": device_name(),
            "processor": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
        },
        "settings": {k: str(v) for k, v in vars(options).items() if k != "json"},
        "drawing_s": drawing,
        "training_s": training,
        "first_epoch_s": epochs[0]["seconds"],
        "images_per_s": statistics.median(e["images_per_s"] for e in later),
        "device_idle_share": statistics.median(e["waited_share"] for e in later),
        "largest_idle_share": max(e["waited_share"] for e in later),
        "best_epoch": metrics["best_epoch"],
        "map50": metrics["map50"],
        "map50_95": metrics["map50_95"],
    }
    print(f"device: {result['machine']['device']}")
    for key, text in [
        ("training_s", "whole training, s: {:.1f}"),
        ("first_epoch_s", "of it the first epoch, with compilation: {:.1f}"),
        ("images_per_s", "images/s, median epoch: {:.0f}"),
        ("device_idle_share", "device idle, median epoch: {:.2%}"),
        ("largest_idle_share", "device idle, worst epoch: {:.2%}"),
        ("best_epoch", "best epoch, whose weights are scored: {}"),
        ("map50", "mAP@0.5: {:.4f}"),
        ("map50_95", "mAP@0.5:0.95: {:.4f}"),
    ]:
        print(text.format(result[key]))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
