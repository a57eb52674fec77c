"""Train YOLO11n to detect persons and cell phones, and export it to ONNX.

    python train_yolo11n.py --data synthetic --image-size 192 --batch-size 16 --epochs 20
    python train_yolo11n.py --data PATH --epochs 100 --batch-size 64       # on a GPU

PATH is a folder with ``annotations/instances_{train,val}[2017].json`` and the images.  The output
folder receives ``last.safetensors`` (to resume from), ``best.safetensors`` (averaged weights),
``results.csv``, ``results.png``, ``metrics.json``, ``val_detections.png`` and the ONNX model.
"""

import argparse
import csv
import json
import math
import os
import sys
import time
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path

# Before PyTensor is imported: JAX keeps 64-bit types off then, which float32 training never uses.
os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float32", os.environ.get("PYTENSOR_FLAGS")])
)

import numpy as np
from augment import Augment
from checkpoint import CheckpointError, load_checkpoint, save_checkpoint, save_weights
from dataset import CocoDataset, find_data
from export import ExportMismatch, export_detector, verify_export
from loader import BatchLoader
from model import YOLO11n
from report import draw_curves, draw_validation
from synthetic import generate_dataset
from tqdm import tqdm
from training import (
    LOSS_PARTS,
    Recipe,
    StepSettings,
    TrainStep,
    compile_detector,
    detect,
    with_averages,
)
from utils import coco_map

COLUMNS = ["epoch", *LOSS_PARTS, "lr", "images_per_s", "map50", "map50_95", "seconds"]


class TrainingError(Exception):
    """The run can't start or go on; the message says why."""


def parse_arguments(arguments=None):
    """Parse the command line; see ``--help``."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--epochs", type=int, default=100)
    add("--batch-size", type=int, default=64)
    add("--image-size", type=int, default=320, help="pixels, a multiple of 32")
    add("--lr", type=float, default=Recipe.lr, help="learning rate of the first epoch")
    add("--final-lr", type=float, default=Recipe.final_lr, help="the last one's, as a fraction")
    add("--schedule", choices=["cosine", "linear"], default=Recipe.schedule)
    add("--momentum", type=float, default=Recipe.momentum)
    add("--weight-decay", type=float, default=Recipe.weight_decay)
    add("--warmup-epochs", type=float, default=Recipe.warmup_epochs)
    add("--nominal-batch", type=int, default=Recipe.nominal_batch, help="images per step")
    add("--ema-decay", type=float, default=Recipe.ema_decay, help="of the averaged weights")
    add("--ema-steps", type=float, default=Recipe.ema_steps, help="over which it grows")
    add("--data", default="coco", help="coco, synthetic, or a folder in COCO's layout")
    add("--data-dir", type=Path, help="where coco or the synthetic set lie (data/NAME)")
    add("--train-images", type=int, default=1200, help="size of the synthetic set")
    add("--val-images", type=int, default=300, help="its held-out part")
    add("--classes", nargs="+", default=["person", "cell phone"], metavar="NAME")
    add("--num-classes", type=int, help="checked against --classes")
    add("--mosaic", type=float, default=0.0, help="probability of joining four images")
    add("--close-mosaic", type=int, default=10, help="last epochs without mosaic")
    add("--scale", type=float, default=0.5, help="gain of the random scale")
    add("--workers", type=int, default=2, help="threads that prepare batches")
    add("--output-dir", "--checkpoint-dir", type=Path, default=Path("runs/yolo11n"))
    add("--resume", action="store_true", help="go on from last.safetensors")
    add("--overwrite", action="store_true", help="replace a run in the output folder")
    add("--seed", type=int, default=0)
    add("--val-every", type=int, default=5, help="epochs between validations")
    add("--checkpoint-every", type=int, default=10, help="epochs between checkpoints")
    add("--stop-after", type=int, help="end after this epoch as if interrupted; resume later")
    add("--export-onnx", "--output-onnx", type=Path, metavar="PATH", help="ONNX file to write")
    add("--no-export", action="store_true")
    add("--dynamic-batch", action="store_true", help="export for any number of images")
    add("--require-map50", type=float, help="fail if the final mAP@0.5 is below")
    options = parser.parse_args(arguments)
    check_options(parser, options)
    return options


def check_options(parser, options):
    """Leave with one line for what can't work."""
    least = dict.fromkeys(
        (
            "epochs", "batch_size", "val_every", "checkpoint_every", "nominal_batch",
            "train_images", "val_images", "stop_after",
        ),
        1,
    ) | dict.fromkeys(
        ("lr", "final_lr", "weight_decay", "warmup_epochs", "close_mosaic", "workers", "seed"), 0
    )  # fmt: skip
    for name, limit in least.items():
        value = getattr(options, name)
        # written so that NaN fails too
        if value is not None and not limit <= value < math.inf:
            parser.error(f"--{name.replace('_', '-')} must be at least {limit}, got {value}")
    for name in ("momentum", "scale", "ema_decay"):
        if not 0 <= getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} must be at least 0 and below 1")
    if not options.ema_steps > 0:
        parser.error(f"--ema-steps must be positive, got {options.ema_steps}")
    if not 0 <= options.mosaic <= 1:
        parser.error(f"--mosaic is a probability, got {options.mosaic}")
    if len(set(options.classes)) < len(options.classes):
        parser.error(f"--classes names one twice: {', '.join(options.classes)}")
    if options.image_size < 32 or options.image_size % 32:
        parser.error(f"--image-size must be a multiple of 32, got {options.image_size}")
    if options.num_classes not in (None, len(options.classes)):
        parser.error(
            f"--num-classes {options.num_classes} doesn't fit the {len(options.classes)} "
            f"--classes {', '.join(options.classes)}"
        )
    if options.export_onnx is None:
        options.export_onnx = options.output_dir / f"yolo11n_{options.image_size}_trained.onnx"


def open_data(options):
    """Return (training set, validation set), generating the synthetic one if it is asked for.

    Raises
    ------
    TrainingError, ValueError, OSError
        If the data are missing or wrong, or hold no box of the classes.
    """
    if options.data == "coco":
        root = options.data_dir or Path("data/coco")
        if not (root / "annotations").is_dir():
            raise TrainingError(
                f"COCO 2017 isn't in {root}, and downloading it isn't offered yet: put it there, "
                f"give --data PATH, or train on --data synthetic"
            )
    elif options.data == "synthetic":
        root = options.data_dir or Path("data/synthetic")
        if generate_dataset(
            root, options.train_images, options.val_images, jobs=os.cpu_count() or 1
        ):
            print(f"drew {options.train_images} + {options.val_images} images into {root}")
    else:
        root = Path(options.data)
    paths = find_data(root)
    sets = [
        CocoDataset(annotations, images, options.classes, options.image_size)
        for annotations, images in [
            (paths.train_json, paths.train_images),
            (paths.val_json, paths.val_images),
        ]
    ]
    for name, dataset in zip(("training", "validation"), sets, strict=True):
        print(f"{name}: {dataset.summary()}")
        if not dataset.report["boxes"]:
            raise TrainingError(f"the {name} set has no box of {', '.join(options.classes)}")
    return sets


@dataclass
class Progress:
    """Where a run stands; saved with each checkpoint."""

    epoch: int = 0  # epochs finished
    iteration: int = 0
    last_step: int = -1  # iteration of the latest step of the optimizer
    steps: int = 0
    best: float = -1.0  # mAP@0.5:0.95
    rows: list = field(default_factory=list)


class Run:
    """A training run: data, model, compiled functions and files.

    Parameters
    ----------
    options : argparse.Namespace of `parse_arguments`
    """

    def __init__(self, options):
        self.options = options
        self.output = prepare_output(options.output_dir, options.resume, options.overwrite)
        if not options.no_export:
            prepare_export(options.export_onnx)
        try:
            self.train_set, self.val_set = open_data(options)
        except ValueError as error:  # which says what is wrong with the data
            raise TrainingError(str(error)) from error
        self.recipe = Recipe(
            lr=options.lr,
            final_lr=options.final_lr,
            schedule=options.schedule,
            momentum=options.momentum,
            weight_decay=options.weight_decay,
            warmup_epochs=options.warmup_epochs,
            nominal_batch=options.nominal_batch,
            ema_decay=options.ema_decay,
            ema_steps=options.ema_steps,
        )
        self.loader = BatchLoader(
            self.train_set,
            options.batch_size,
            seed=options.seed,
            augment=Augment(mosaic=options.mosaic, scale=options.scale),
            workers=options.workers,
            mosaic_until=max(options.epochs - options.close_mosaic, 0),
        )
        self.rates = StepSettings(self.recipe, options.epochs, len(self.loader), options.batch_size)
        self.model = YOLO11n(len(options.classes), seed=options.seed)
        self.train_step = TrainStep(
            self.model,
            options.image_size,
            options.batch_size,
            self.loader.max_boxes,
            self.rates.weight_decay,
            self.rates.accumulate,
        )
        self.detector = compile_detector(
            self.model, options.image_size, options.batch_size, self.train_step.averages
        )
        self.progress = Progress()
        self.checkpoint_epoch = None  # of what `last` holds, if it is of this run
        self.detections = None  # of the averaged weights, if those were validated
        if options.resume:
            info = load_checkpoint(self.last, self.model, self.train_step.state, self.settings())
            self.progress = Progress(**info["progress"])
            self.checkpoint_epoch = self.progress.epoch
            print(f"resumed after epoch {self.progress.epoch} of {options.epochs}")

    @property
    def last(self):
        """Path of the checkpoint."""
        return self.output / "last.safetensors"

    def settings(self):
        """What a resumed run must share with the one it continues."""
        o = self.options
        data = {"images": len(self.train_set), "max_boxes": self.loader.max_boxes}
        own = {
            name: getattr(o, name)
            for name in (
                "epochs", "batch_size", "image_size", "classes", "seed", "mosaic",
                "close_mosaic", "scale",
            )
        }  # fmt: skip
        return own | data | asdict(self.recipe)

    def model_info(self):
        """What a reader of the weights needs to know."""
        return {
            "architecture": "yolo11n",
            "classes": self.options.classes,
            "class_width": self.model.class_width,
            "image_size": self.options.image_size,
        }

    def train(self):
        """Run the remaining epochs; True if all are done."""
        o, p = self.options, self.progress
        until = o.epochs if o.stop_after is None else min(o.stop_after, o.epochs)
        while p.epoch < until:
            row = self.train_epoch(p.epoch)
            p.epoch += 1
            validated = p.epoch == o.epochs or p.epoch % o.val_every == 0
            better = False
            if validated:
                result = self.validate()
                row |= {"map50": result["map50"], "map50_95": result["map50_95"]}
                print(f"epoch {p.epoch}: mAP@0.5 {row['map50']:.4f}, "
                      f"mAP@0.5:0.95 {row['map50_95']:.4f}")  # fmt: skip
                better = row["map50_95"] > p.best
                p.best = max(p.best, row["map50_95"])
            p.rows.append(row)
            self.write_results(draw=validated or p.epoch == until)
            if better:
                self.save_best()
            if p.epoch == until or p.epoch % o.checkpoint_every == 0:
                self.save_last()
        return p.epoch == o.epochs

    def validate(self):
        """Mean average precision of the averaged weights; the detections are kept."""
        self.detections = detect(self.detector, self.val_set, self.options.batch_size)
        return coco_map(self.val_set, self.detections)

    def train_epoch(self, epoch):
        """Train one epoch; the row of results.csv."""
        p, start = self.progress, time.perf_counter()
        sums, pending = np.zeros(len(LOSS_PARTS)), None
        bar = tqdm(
            self.loader.epoch(epoch),
            total=len(self.loader),
            desc=f"epoch {epoch + 1}/{self.options.epochs}",
            unit="batch",
            disable=None,
        )
        for count, batch in enumerate(bar, 1):
            *rates, accumulate = self.rates.at(epoch, p.iteration)
            step_now = p.iteration - p.last_step >= accumulate
            parts, norm = self.train_step.run(batch, rates, step_now, p.steps, self.recipe)
            if step_now:
                p.last_step = p.iteration
                p.steps += 1
            # The loss of the batch before: the device works on this one meanwhile.
            sums += self.finished_losses(pending)
            pending = (epoch, p.iteration, parts, norm)
            p.iteration += 1
            if count > 1:
                speed = count * self.options.batch_size / (time.perf_counter() - start)
                losses = dict(
                    zip(LOSS_PARTS, (f"{v / (count - 1):.3f}" for v in sums), strict=True)
                )
                bar.set_postfix(losses | {"img/s": f"{speed:.0f}", "lr": f"{rates[0]:.2g}"})
        sums += self.finished_losses(pending)
        seconds = time.perf_counter() - start
        means = dict(zip(LOSS_PARTS, sums / len(self.loader), strict=True))
        if bar.disable:  # no terminal: a line per epoch stands for the bar
            losses = ", ".join(f"{name} {value:.3f}" for name, value in means.items())
            print(f"epoch {epoch + 1}/{self.options.epochs}: {losses}, {seconds:.1f} s", flush=True)
        return {
            "epoch": epoch + 1,
            **means,
            "lr": rates[0],
            "images_per_s": len(self.loader) * self.options.batch_size / seconds,
            "map50": None,
            "map50_95": None,
            "seconds": seconds,
        }

    def finished_losses(self, pending):
        """Fetch the loss parts of an earlier batch, and stop the run if they aren't finite.

        A gradient that isn't finite stops it too: the loss would only show it a step later, and
        a checkpoint might lie between.
        """
        if pending is None:
            return np.zeros(len(LOSS_PARTS))
        epoch, iteration, parts, norm = pending
        values = {name: float(part) for name, part in zip(LOSS_PARTS, parts, strict=True)}
        losses = np.array(list(values.values()))
        if norm is not None:
            values["gradient_norm"] = float(norm)
        if not all(map(math.isfinite, values.values())):
            shown = ", ".join(f"{name} {value:.4g}" for name, value in values.items())
            kept = (
                "there is no checkpoint yet"
                if self.checkpoint_epoch is None
                else f"{self.last} holds the state after epoch {self.checkpoint_epoch}"
            )
            raise TrainingError(
                f"the loss or its gradient is not finite in epoch {epoch + 1}, step "
                f"{iteration + 1}: {shown}; {kept}; try a lower --lr"
            )
        return losses

    def save_last(self):
        """Write the checkpoint to resume from."""
        info = self.model_info() | {
            "settings": self.settings(),
            "progress": asdict(self.progress),
        }
        save_checkpoint(self.last, self.model, self.train_step.state, info)
        self.checkpoint_epoch = self.progress.epoch

    def save_best(self):
        """Write the averaged weights."""
        averaged = with_averages(self.model, self.train_step.averages)
        info = self.model_info() | {"epoch": self.progress.epoch, "map50_95": self.progress.best}
        save_weights(self.output / "best.safetensors", averaged.state_dict(), info)

    def write_results(self, draw):
        """Write results.csv, and results.png if `draw`."""
        with open(self.output / "results.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(self.progress.rows)
        if draw:
            draw_curves(self.output / "results.png", self.progress.rows)

    def finish(self):
        """Write metrics, pictures and the ONNX model from the averaged weights."""
        o = self.options
        if self.detections is None:  # the run was complete when it was resumed
            result = self.validate()
        else:
            result = coco_map(self.val_set, self.detections)
        draw_validation(
            self.output / "val_detections.png", self.val_set, self.detections, o.classes
        )
        metrics = result | {
            "epochs": self.progress.epoch,
            "train_seconds": sum(row["seconds"] for row in self.progress.rows),
            "classes": o.classes,
        }
        if not o.no_export:
            averaged = with_averages(self.model, self.train_step.averages)
            batch = None if o.dynamic_batch else 1
            export_detector(averaged, o.export_onnx, o.classes, o.image_size, batch)
            metrics["onnx"] = verify_export(
                o.export_onnx, self.detector, self.val_set, o.batch_size
            )
            print(
                f"exported {o.export_onnx}: {metrics['onnx']['nodes']} nodes, "
                f"boxes within {metrics['onnx']['box_difference']:.2g} px and scores within "
                f"{metrics['onnx']['score_difference']:.2g} of PyTensor's"
            )
        (self.output / "metrics.json").write_text(json.dumps(without_nan(metrics), indent=2))
        print(f"mAP@0.5 {result['map50']:.4f}, mAP@0.5:0.95 {result['map50_95']:.4f} "
              f"on {len(self.val_set)} held-out images")  # fmt: skip
        if o.require_map50 is not None and not result["map50"] >= o.require_map50:
            raise TrainingError(
                f"mAP@0.5 is {result['map50']:.4f}, below the {o.require_map50} asked for"
            )


def check_writable(folder, option):
    """Make a folder, and see that it can be written to before hours are spent."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".write_test.{os.getpid()}"
        probe.write_bytes(b"")
        probe.unlink()
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
    """Make the output folder, and see that it can be written to, resumed from or replaced."""
    check_writable(folder, "--output-dir")
    last = folder / "last.safetensors"
    if resume and not last.exists():
        raise TrainingError(f"nothing to resume: {last} doesn't exist")
    if last.exists() and not (resume or overwrite):
        raise TrainingError(
            f"{folder} holds a run already: --resume goes on with it, --overwrite replaces it, "
            f"--output-dir starts another"
        )
    return folder


def without_nan(value):
    """The same structure with None for NaN, which JSON can't say."""
    if isinstance(value, dict):
        return {key: without_nan(v) for key, v in value.items()}
    if isinstance(value, float | np.floating):
        return None if np.isnan(value) else float(value)
    return value


def main(arguments=None):
    """Train as the command line says.

    Errors of the user's making, and those of disks, end with one line; what else may be raised is
    a bug, and shows its traceback.

    Returns
    -------
    int
        The exit code.
    """
    options = parse_arguments(arguments)
    try:
        run = Run(options)
        if run.train():
            run.finish()
        else:
            print(f"stopped after epoch {run.progress.epoch}; go on with --resume")
    except (TrainingError, CheckpointError, ExportMismatch, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"interrupted; what {options.output_dir} holds can be resumed", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
