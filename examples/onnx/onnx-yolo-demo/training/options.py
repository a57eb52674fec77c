"""The command line of train_yolo11n.py: its options, presets for two machines, a settings file."""

import argparse
import math
import os
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

from training.recipe import OPTIMIZERS, SCHEDULES, Recipe

PRECISIONS = ("float32", "bf16")
# Backends that needn't be installed.
PACKAGES = {"PYTORCH": "torch", "MLX": "mlx", "NUMBA": "numba", "ONNX": "onnxruntime"}
# Pictures of training and validation where none are given.
DEFAULT_IMAGES = {"coco": (12000, 2000), "synthetic": (1200, 300)}

# What train.sh asks for. Without a batch size, the GPU's free memory decides.
PRESETS = {
    "gpu": {"data": "coco", "batch_size": None, "build_page": True},
    # Sized for two cores: minutes, not hours.
    "cpu": {
        "data": "synthetic", "image_size": 192, "batch_size": 16, "nominal_batch": 16,
        "epochs": 22, "warmup_epochs": 2.0, "close_mosaic": 8, "ema_decay": 0.99,
        "ema_steps": 100.0, "workers": 1, "build_page": True,
    },
}  # fmt: skip
# What the preset of the CPU reaches with the drawn pictures, if nothing else is asked for that
# changes what is learned or how it is scored.
CPU_MAP50 = 0.40
LEARNED = (
    "data", "classes", "image_size", "batch_size", "nominal_batch", "epochs", "warmup_epochs",
    "optimizer", "lr", "final_lr", "schedule", "momentum", "weight_decay", "ema_decay",
    "ema_steps", "statistics_images", "mosaic", "close_mosaic", "scale", "patience", "val_every",
    "weights", "train_images", "val_images", "seed", "precision", "stop_after",
)  # fmt: skip
# Beside the recipe, a resumed run must share these with the one that it continues,
RESUMED = (
    "epochs", "batch_size", "image_size", "classes", "seed", "mosaic", "close_mosaic", "scale",
    "precision",
)  # fmt: skip
# and several processes these, which would wait for one another otherwise.
AGREED = (
    "resume", "val_every", "patience", "checkpoint_minutes", "stop_after", "no_export",
    "device_augment", "statistics_images",
)  # fmt: skip

# Options that a settings file and the environment may give, in capitals. DATASET is --data.
SETTINGS = (
    "DATASET", "CLASSES", "DATA_DIR", "OUTPUT_DIR", "IMAGE_SIZE", "BATCH_SIZE", "NOMINAL_BATCH",
    "EPOCHS", "WARMUP_EPOCHS", "OPTIMIZER", "LR", "SCHEDULE", "MOSAIC", "CLOSE_MOSAIC", "PATIENCE",
    "WEIGHTS", "TRAIN_IMAGES", "VAL_IMAGES", "CONNECTIONS", "VAL_EVERY", "CHECKPOINT_MINUTES",
    "CACHE", "WORKERS", "DEVICES", "SEED", "REQUIRE_MAP50",
)  # fmt: skip
# Environment variables that the file may set for others: the download, the driver, and JAX.
# XLA_FLAGS is none of them, for it can name files to write.
HANDED_ON = (
    "COCO_BASE_URL", "COCO_ANNOTATIONS_SHA256", "CUDA_VISIBLE_DEVICES", "JAX_PLATFORMS",
    "JAX_COMPILATION_CACHE_DIR", "XLA_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_MEM_FRACTION",
    "XLA_PYTHON_CLIENT_PREALLOCATE", "XLA_PYTHON_CLIENT_ALLOCATOR",
)  # fmt: skip

# Of XLA's temporaries a step at 320 px takes 82 MB an image; twice that leaves room for cuDNN, and
# a quarter of the memory for the pictures of the data set and all else.
MIB_PER_IMAGE_AT_320 = 160


def parse_arguments(description, arguments):
    """Parse the command line; see ``--help``.

    Returns
    -------
    argparse.Namespace
        With what follows from other options filled in, and as ``arguments`` the command line
        without ``--settings``, but with what it gave.
    """
    first = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    first.add_argument("--preset", choices=PRESETS)
    first.add_argument("--settings", type=Path)
    chosen, arguments = first.parse_known_args(arguments)
    parser = make_parser(description)
    parser.set_defaults(preset=chosen.preset, **PRESETS.get(chosen.preset, {}))
    try:
        given = [] if chosen.settings is None else settings_arguments(chosen.settings, os.environ)
    except ValueError as error:
        parser.error(str(error))
    arguments = [*given, *arguments]
    options = parser.parse_args(arguments)
    if chosen.preset is not None:
        arguments = ["--preset", chosen.preset, *arguments]
    check_data(parser, options)
    check_processes(parser, options)
    check_mode(parser, options)
    if len(set(options.classes)) < len(options.classes):
        parser.error(f"--classes names one twice: {', '.join(options.classes)}")
    if options.tensorboard and find_spec("tensorboardX") is None:
        parser.error("--tensorboard needs the package: pip install tensorboardX")
    if options.batch_size is None:
        options.batch_size = batch_for_memory(options.image_size)
    if options.export_onnx is None:
        options.export_onnx = options.output_dir / f"yolo11n_{options.image_size}_trained.onnx"
    if chosen.preset == "cpu" and options.require_map50 is None:
        plain = parse_arguments(description, ["--preset", "cpu", "--require-map50", "0"])
        if all(getattr(options, name) == getattr(plain, name) for name in LEARNED):
            options.require_map50 = CPU_MAP50
    options.arguments = arguments
    return options


# -------------------------------------------------------------------------------- the options


def make_parser(description):
    """The parser of all options."""
    # Abbreviations are off: the command to go on with a run is made from its arguments.
    parser = argparse.ArgumentParser(
        description=description, allow_abbrev=False, formatter_class=_Help
    )
    add = parser.add_argument
    add("--preset", choices=PRESETS, help="defaults for a GPU, or for two cores in minutes")
    add("--settings", type=Path, metavar="FILE",
        help="read options from the environment and, if it exists, from this file of lines "
        "NAME=VALUE, as train.sh does")  # fmt: skip

    add = parser.add_argument_group("what is learned").add_argument
    add("--epochs", type=whole(1), default=100, help="passes over the training images")
    add("--batch-size", type=whole(1), default=64, help="images per batch, on all devices together")
    add("--image-size", type=image_size, default=320, help="pixels, a multiple of 32")
    add("--weights", type=Path, metavar="FILE", help="weights to start from")
    add("--optimizer", choices=OPTIMIZERS, default=Recipe.optimizer,
        help="auto: AdamW for short runs, MuSGD for long ones")  # fmt: skip
    add("--lr", type=number(), default=Recipe.lr, help="learning rate of the first epoch")
    add("--final-lr", type=number(), default=Recipe.final_lr,
        help="learning rate of the last epoch, as a fraction of the first one's")  # fmt: skip
    add("--schedule", choices=[*SCHEDULES], default=Recipe.schedule,
        help="how the learning rate falls")  # fmt: skip
    add("--momentum", type=number(below=1), default=Recipe.momentum, help="of SGD and MuSGD")
    add("--weight-decay", type=number(), default=Recipe.weight_decay,
        help="weight decay of convolution filters")  # fmt: skip
    add("--warmup-epochs", type=number(), default=Recipe.warmup_epochs,
        help="epochs in which the learning rate rises")  # fmt: skip
    add("--nominal-batch", type=whole(1), default=Recipe.nominal_batch,
        help="images whose gradients make one step")  # fmt: skip
    add("--ema-decay", type=number(below=1), default=Recipe.ema_decay,
        help="decay of the averaged weights")  # fmt: skip
    add("--ema-steps", type=number(above=0), default=Recipe.ema_steps,
        help="steps over which that decay grows")  # fmt: skip
    add("--statistics-images", type=whole(0), default=2400, metavar="N",
        help="training images on which the normalizations' statistics of the averaged weights are "
        "measured at the end, at most two epochs of them; 0: they are averages, too")  # fmt: skip
    add("--mosaic", type=number(most=1), default=1.0, help="probability of joining four images")
    add("--close-mosaic", type=whole(0), default=10, help="last epochs without mosaic")
    add("--scale", type=number(below=1), default=0.5, help="strength of the random scaling")
    add("--patience", type=whole(0), default=0,
        help="stop after so many epochs without a better mAP; 0: never")  # fmt: skip
    add("--val-every", type=whole(1), default=5, help="epochs between validations")
    add("--seed", type=whole(0), default=0, help="seed of weights, order and augmentation")

    add = parser.add_argument_group("data").add_argument
    add("--data", default="coco", help="coco, synthetic, or the path of a data set")
    add("--data-dir", type=Path,
        help="folder of the coco or synthetic set (default: datasets/NAME)")  # fmt: skip
    images = ", ".join(f"{name} {a} and {b}" for name, (a, b) in DEFAULT_IMAGES.items())
    add("--train-images", type=whole(0),
        help=f"images to download or draw; 0: all of coco (default: {images})")  # fmt: skip
    add("--val-images", type=whole(0), help="the same for validation")
    add("--connections", type=whole(1), default=32, help="connections of the download at a time")
    add("--classes", nargs="+", default=["person", "cell phone"], metavar="NAME",
        help="classes to detect")  # fmt: skip
    add("--cache", choices=["memory", "disk"], default="memory", help="where decoded images lie")
    add("--cache-dir", type=Path, help="folder of --cache disk")

    add = parser.add_argument_group("machine").add_argument
    add("--workers", type=whole(0), default=2, help="threads that prepare batches")
    add("--device-augment", choices=["auto", "on", "off"], default="auto",
        help="draw training images on the device; auto: on a GPU with room for them")  # fmt: skip
    add("--devices", type=whole(1), help="devices that share each batch (default: one a process)")
    add("--mode", default="JAX", metavar="NAME",
        help="PyTensor's mode: JAX, NUMBA, PYTORCH, FAST_COMPILE …")  # fmt: skip
    add("--precision", choices=PRECISIONS, default=PRECISIONS[0],
        help="of convolutions and activations in training; weights stay float32")  # fmt: skip
    add("--compilation-cache", metavar="DIR|off",
        help="folder of compiled programs (default: $JAX_COMPILATION_CACHE_DIR, or else a folder "
        "in the user's cache folder)")  # fmt: skip
    add("--profile", type=whole(1), nargs="?", const=10, metavar="STEPS",
        help="trace so many steps (10) and print the time by kind of operation")  # fmt: skip
    add("--coordinator", metavar="HOST:PORT", help="address of the first of several processes")
    add("--num-processes", type=whole(1), help="how many processes train together")
    add("--process-id", type=whole(0), help="number of this process, from 0")

    add = parser.add_argument_group("files").add_argument
    add("--output-dir", type=Path, default=Path("runs/yolo11n"), help="folder of the run")
    add("--resume", action="store_true", help="go on from last.safetensors")
    add("--overwrite", action="store_true", help="replace a run in the output folder")
    add("--checkpoint-minutes", type=number(), default=5.0,
        help="minutes between checkpoints; 0: after every batch")  # fmt: skip
    add("--log-every", type=whole(0), default=50, help="batches between rows of steps.csv; 0: none")
    add("--stop-after", type=whole(1), help="stop after this epoch as if interrupted")
    add("--tensorboard", action="store_true", help="write files for TensorBoard")
    add("--export-onnx", type=Path, metavar="PATH", help="ONNX file to write")
    add("--no-export", action="store_true", help="write no ONNX model")
    add("--build-page", action=argparse.BooleanOptionalAction, default=False,
        help="at the end, build the browser page of the exported model")  # fmt: skip
    add("--require-map50", type=number(), help="fail if the final mAP@0.5 is below")
    return parser


class _Help(argparse.HelpFormatter):
    """Help that ends in the default where there is one."""

    def _get_help_string(self, action):
        default = action.default
        if default is None or default is False or action.nargs == 0:
            return action.help
        shown = ", ".join(default) if isinstance(default, list) else default
        return f"{action.help} (default: {shown})"


def number(kind=float, least=0, most=math.inf, below=math.inf, above=-math.inf):
    """The type of an option that is a number within limits; NaN and infinity are in none."""

    def parse(text):
        value = kind(text)
        limits = {
            f"at least {least}": value >= least, f"at most {most}": value <= most,
            f"below {below}": value < below, f"above {above}": value > above,
        }  # fmt: skip
        if wrong := [limit for limit, kept in limits.items() if not kept]:
            raise argparse.ArgumentTypeError(f"must be {wrong[0]}, got {text}")
        return value

    parse.__name__ = kind.__name__
    return parse


def whole(least):
    """The type of an option that is a whole number."""
    return number(int, least)


def image_size(text):
    """The type of an option that is the side of an image."""
    value = int(text)
    if value < 32 or value % 32:
        raise argparse.ArgumentTypeError(f"must be a multiple of 32, got {text}")
    return value


# ---------------------------------------------------------- what doesn't fit, and what follows


def check_data(parser, options):
    """Check and fill in the options of the data."""
    names = ("train_images", "val_images")
    if options.data in DEFAULT_IMAGES:
        for name, default in zip(names, DEFAULT_IMAGES[options.data], strict=True):
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
    given = [options.coordinator, options.num_processes, options.process_id]
    if any(value is not None for value in given):
        if None in given:
            parser.error("--coordinator, --num-processes and --process-id go together")
        if options.process_id >= options.num_processes:
            parser.error(
                f"--process-id must be below --num-processes, got {options.process_id} of "
                f"{options.num_processes}"
            )


def check_mode(parser, options):
    """Check PyTensor's mode, and what only JAX can do."""
    if options.mode == "JAX":
        return
    # Not before: PyTensor imports JAX, which reads the environment then.
    from training.train_step import uses_jax

    from pytensor.compile.mode import predefined_modes

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


def batch_for_memory(size):
    """The largest batch up to 64 that fits into the free memory of the fullest GPU."""
    command = ["nvidia-smi", "--query-gpu=memory.free", "--format=csv,noheader,nounits"]
    try:
        lines = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    except OSError:
        lines = []
    free = [int(line) for line in lines if line.strip().isdecimal()]
    batch = 64
    if not free:
        print(f"nvidia-smi doesn't say how much memory is free: batch {batch}")
        return batch
    while batch > 4 and batch * MIB_PER_IMAGE_AT_320 * (size / 320) ** 2 > min(free) * 3 / 4:
        batch //= 2
    print(f"{min(free)} MiB of GPU memory are free: batch {batch} at {size} px")
    return batch


def make_recipe(options):
    """The recipe that the options describe."""
    given = vars(options)
    return Recipe(**{name: given[name] for name in Recipe.__annotations__ if name in given})


# ----------------------------------------------------------------------- the settings of train.sh


def read_settings(path):
    """Read lines NAME=VALUE of a file, which may be missing, as they are: nothing is run.

    Raises
    ------
    ValueError
        A line isn't of that form, or its name isn't one of `SETTINGS` and `HANDED_ON`.
    """
    if not path.is_file():
        return {}
    values = {}
    for count, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = re.fullmatch(r"(?:export\s+)?([A-Za-z_]\w*)=(.*)", line)
        if match is None:
            raise ValueError(f"{path}, line {count}: expected NAME=VALUE, found: {line}")
        name, value = match.groups()
        if name not in SETTINGS + HANDED_ON:
            known = ", ".join(SETTINGS + HANDED_ON)
            raise ValueError(f"{path}, line {count}: there is no setting {name}; there are {known}")
        quoted = re.fullmatch(r"""(["'])(.*)\1""", value)
        values[name] = quoted[2] if quoted else value
    return values


def settings_arguments(path, environment):
    """The options that a settings file and the environment give; the environment wins."""
    given = read_settings(path)
    given |= {name: environment[name] for name in SETTINGS if name in environment}
    arguments = []
    for name in SETTINGS:
        if not (value := given.get(name)):
            continue
        if name == "CLASSES":
            names = value.split(",")
            if any(not each or each.startswith("-") for each in names):
                raise ValueError(f"CLASSES must be names separated by commas, not {value!r}")
            arguments += ["--classes", *names]
        else:
            option = "data" if name == "DATASET" else name.lower().replace("_", "-")
            arguments.append(f"--{option}={value}")
    return arguments


def set_environment(arguments):
    """Set the variables that a settings file hands on; before JAX is imported, which reads them."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--settings", type=Path)
    path = parser.parse_known_args(arguments)[0].settings
    try:
        values = {} if path is None else read_settings(path)
    except ValueError as error:
        raise SystemExit(f"error: {error}") from None
    for name in HANDED_ON:
        if values.get(name):
            os.environ.setdefault(name, values[name])
