"""The command line of train_yolo11n.py."""

import argparse
import math
from importlib.util import find_spec
from pathlib import Path

from training.batch_statistics import IMAGES
from training.recipe import OPTIMIZERS, SCHEDULES, Recipe
from training.train_step import uses_jax

from pytensor.compile.mode import predefined_modes
from pytensor.link.jax.tuned import PRECISIONS

# Of backends that needn't be there.
PACKAGES = {"PYTORCH": "torch", "MLX": "mlx", "NUMBA": "numba", "ONNX": "onnxruntime"}
# Pictures of training and validation where none are given.
DEFAULT_IMAGES = {"coco": (12000, 2000), "synthetic": (1200, 300)}


class _Help(argparse.HelpFormatter):
    """Help that ends in the default where there is one."""

    def _get_help_string(self, action):
        plain = action.default is None or action.default is False or action.nargs == 0
        return action.help if plain else f"{action.help} (default: {self._shown(action.default)})"

    @staticmethod
    def _shown(default):
        return " ".join(default) if isinstance(default, list) else default


def parse_arguments(description, arguments=None):
    """Parse the command line; see ``--help``."""
    # Abbreviations are off: the command to go on with a run is made from its arguments.
    parser = argparse.ArgumentParser(
        description=description, allow_abbrev=False, formatter_class=_Help
    )
    for add_group in (add_recipe, add_data, add_machine, add_files):
        add_group(parser)
    options = parser.parse_args(arguments)
    check_options(parser, options)
    return options


def add_recipe(parser):
    """Add the options that decide what is learned."""
    add = parser.add_argument_group("recipe").add_argument
    add("--epochs", type=int, default=100, help="passes over the training images")
    add("--batch-size", type=int, default=64, help="images per batch, on all devices together")
    add("--image-size", type=int, default=320, help="pixels, a multiple of 32")
    add("--weights", type=Path, metavar="FILE", help="weights to start from")
    add(
        "--optimizer",
        choices=OPTIMIZERS,
        default=Recipe.optimizer,
        help="auto: AdamW for short runs, MuSGD for long ones",
    )
    add("--lr", type=float, default=Recipe.lr, help="learning rate of the first epoch")
    add("--final-lr", type=float, default=Recipe.final_lr, help="the last one's, as a fraction")
    add("--schedule", choices=[*SCHEDULES], default=Recipe.schedule, help="of the learning rate")
    add("--momentum", type=float, default=Recipe.momentum, help="Adam's first beta")
    add("--weight-decay", type=float, default=Recipe.weight_decay, help="of the kernels alone")
    add("--warmup-epochs", type=float, default=Recipe.warmup_epochs, help="of a rising rate")
    add("--nominal-batch", type=int, default=Recipe.nominal_batch, help="images per step")
    add("--ema-decay", type=float, default=Recipe.ema_decay, help="of the averaged weights")
    add("--ema-steps", type=float, default=Recipe.ema_steps, help="over which it grows")
    add(
        "--statistics-images",
        type=int,
        default=IMAGES,
        metavar="N",
        help="of the training set, two passes at most, on which the statistics of the averaged "
        "weights are measured at the end; 0: they are averages, too",
    )
    add("--mosaic", type=float, default=1.0, help="probability of joining four images")
    add("--close-mosaic", type=int, default=10, help="last epochs without mosaic")
    add("--scale", type=float, default=0.5, help="gain of the random scale")
    add("--patience", type=int, default=0, help="epochs without a better mAP to stop; 0: never")
    add("--val-every", type=int, default=5, help="epochs between validations")
    add("--seed", type=int, default=0, help="of weights, order and augmentation")


def add_data(parser):
    """Add the options of the data."""
    add = parser.add_argument_group("data").add_argument
    add("--data", default="coco", help="coco, synthetic, or the path of a data set")
    add("--data-dir", type=Path, help="where coco or the synthetic set lie (datasets/NAME)")
    images = ", ".join(f"{name} {a} and {b}" for name, (a, b) in DEFAULT_IMAGES.items())
    add("--train-images", type=int, help=f"to download or draw; coco: 0 is all ({images})")
    add("--val-images", type=int, help="for validation")
    add("--connections", type=int, default=32, help="of the download at a time")
    add("--classes", nargs="+", default=["person", "cell phone"], metavar="NAME", help="to detect")
    add("--num-classes", type=int, help="checked against --classes")
    add("--cache", choices=["memory", "disk"], default="memory", help="where decoded images lie")
    add("--cache-dir", type=Path, help="folder of --cache disk")


def add_machine(parser):
    """Add the options of the machine."""
    add = parser.add_argument_group("machine").add_argument
    add("--workers", type=int, default=2, help="that prepare batches")
    add("--device-augment", choices=["auto", "on", "off"], default="auto",
        help="draw training images on the device; auto: on a GPU with room for them")  # fmt: skip
    add("--devices", type=int, help="that share each batch, of all processes (one of each)")
    add("--mode", default="JAX", metavar="NAME",
        help="of PyTensor: JAX, NUMBA, PYTORCH, FAST_COMPILE …; JAX alone has the options of "
        "devices, precision and profiles")  # fmt: skip
    add("--precision", choices=PRECISIONS, default=PRECISIONS[0],
        help="of convolutions and activations in training; weights stay float32")  # fmt: skip
    add("--compilation-cache", metavar="DIR|off",
        help="where compiled programs are kept; without it $JAX_COMPILATION_CACHE_DIR, or else the "
        "user's cache folder")  # fmt: skip
    add("--profile", type=int, nargs="?", const=10, metavar="STEPS",
        help="trace so many steps (10) and print the time by kind of operation")  # fmt: skip
    add("--coordinator", metavar="HOST:PORT", help="of a run of several processes")
    add("--num-processes", type=int, help="of the run")
    add("--process-id", type=int, help="of this one, from 0")


def add_files(parser):
    """Add the options of what is written."""
    add = parser.add_argument_group("files").add_argument
    add("--output-dir", "--checkpoint-dir", type=Path, default=Path("runs/yolo11n"))
    add("--resume", action="store_true", help="go on from last.safetensors")
    add("--overwrite", action="store_true", help="replace a run in the output folder")
    add("--checkpoint-every", type=int, default=10, help="epochs between checkpoints")
    add("--checkpoint-minutes", type=float, default=5.0, help="at most between them; 0: any")
    add("--checkpoint-steps", type=int, default=0, help="batches between them; 0: any")
    add("--log-every", type=int, default=50, help="batches between rows of steps.csv; 0: none")
    add("--stop-after", type=int, help="end after this epoch as if interrupted; resume later")
    add("--wandb", nargs="?", const="yolo11n", metavar="PROJECT", help="log to Weights & Biases")
    add("--tensorboard", action="store_true", help="write files for TensorBoard")
    add("--export-onnx", "--output-onnx", type=Path, metavar="PATH", help="ONNX file to write")
    add("--no-export", action="store_true", help="write no ONNX model")
    add("--dynamic-batch", action="store_true", help="export for any number of images")
    add("--build-page", action=argparse.BooleanOptionalAction, default=False,
        help="at the end, build the browser page of the exported model")  # fmt: skip
    add("--require-map50", type=float, help="fail if the final mAP@0.5 is below")


AT_LEAST = dict.fromkeys(
    (
        "epochs", "batch_size", "val_every", "checkpoint_every", "nominal_batch", "stop_after",
        "connections", "devices", "num_processes", "profile",
    ),
    1,
) | dict.fromkeys(
    (
        "lr", "final_lr", "weight_decay", "warmup_epochs", "close_mosaic", "workers", "seed",
        "patience", "train_images", "val_images", "checkpoint_minutes", "checkpoint_steps",
        "log_every", "process_id", "statistics_images",
    ),
    0,
)  # fmt: skip


def check_options(parser, options):
    """Leave with one line for what can't work, and fill in what follows from other options."""
    for name, limit in AT_LEAST.items():
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
    check_data(parser, options)
    check_processes(parser, options)
    check_mode(parser, options)
    if options.export_onnx is None:
        options.export_onnx = options.output_dir / f"yolo11n_{options.image_size}_trained.onnx"


def check_data(parser, options):
    """Check and fill in the options of the data."""
    if options.data in DEFAULT_IMAGES:
        for name, default in zip(
            ("train_images", "val_images"), DEFAULT_IMAGES[options.data], strict=True
        ):
            if getattr(options, name) is None:
                setattr(options, name, default)
            if options.data == "synthetic" and not getattr(options, name):
                parser.error(f"--{name.replace('_', '-')} must be at least 1, got 0")
    elif options.train_images is not None or options.val_images is not None:
        parser.error("--train-images and --val-images are for --data coco and --data synthetic")
    elif options.data_dir is not None:
        parser.error("--data-dir is for --data coco and --data synthetic; --data names other sets")
    if options.cache_dir is not None and options.cache != "disk":
        parser.error("--cache-dir is for --cache disk")


def check_processes(parser, options):
    """Check the options of a run of several processes."""
    given = [
        getattr(options, name) is not None
        for name in ("coordinator", "num_processes", "process_id")
    ]
    if any(given) and not all(given):
        parser.error("--coordinator, --num-processes and --process-id go together")
    if all(given) and options.process_id >= options.num_processes:
        parser.error(
            f"--process-id must be below --num-processes, got {options.process_id} of "
            f"{options.num_processes}"
        )


def check_mode(parser, options):
    """Check PyTensor's mode, and what only JAX can do."""
    try:
        jax = uses_jax(options.mode)
    except ValueError:
        names = ", ".join(predefined_modes)
        parser.error(f"--mode {options.mode}: PyTensor has no such mode; there are {names}")
    if jax:
        return
    package = PACKAGES.get(options.mode.upper())
    if package is not None and find_spec(package) is None:
        parser.error(f"--mode {options.mode} needs the package {package}, which isn't installed")
    if options.device_augment == "auto":
        options.device_augment = "off"
    asked = {
        f"--precision {options.precision}": options.precision != PRECISIONS[0],
        "--device-augment on": options.device_augment == "on",
        "--devices": options.devices not in (None, 1),
        "--coordinator": options.coordinator is not None,
        "--profile": options.profile is not None,
    }
    if names := [name for name, given in asked.items() if given]:
        parser.error(f"{', '.join(names)} can only be had with --mode JAX, not {options.mode}")


def make_recipe(options):
    """The recipe that the options describe."""
    return Recipe(
        optimizer=options.optimizer,
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
