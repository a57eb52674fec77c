"""The command line of train_yolo11n.py: its options, presets for two machines, a settings file."""

import argparse
import math
import os
import re
from dataclasses import asdict
from pathlib import Path

from commandline import Parser, output_file, output_folder
from data.finding import find
from data.listing import DEFAULT_CLASSES, PartMissingError
from data.merging import split_share
from training.checkpoint import LAST, REAL_SIZE, weights_path
from training.loggers import LOGGERS
from training.preset import CHOSEN
from training.recipe import KEEPING, OPTIMIZERS, SCHEDULES, Recipe

PRECISIONS = ("float32", "bf16")
SIZES = ("n", "s", "m", "l")  # of the network; `model.SIZES` has their widths
# Pictures of training and validation where none are given.
DEFAULT_IMAGES = {"coco": (12000, 2000), "synthetic": (1200, 300)}

# What train.sh asks for.
PRESETS = {
    "gpu": {"data": ["coco"], "build_page": True},
    # Sized for two cores: minutes, not hours.
    "cpu": {
        "data": ["synthetic"], "image_size": 192, "batch_size": 16, "nominal_batch": 16,
        "epochs": 22, "warmup_epochs": 2.0, "close_mosaic": 8, "ema_decay": 0.99,
        "ema_steps": 100.0, "workers": 1, "build_page": True,
    },
}  # fmt: skip
# Besides the recipe, a resumed run must share these with the one that it continues.
RESUMED = (
    "epochs", "batch_size", "image_size", "classes", "seed", "mosaic", "close_mosaic", "scale",
    "copy_paste", "paste_on", "background_share", "hard_share", "precision", "freeze",
)  # fmt: skip
LATER = ("copy_paste", "paste_on", "background_share", "hard_share", "freeze")
# What the preset of the CPU reaches with the drawn pictures, if nothing else is asked for that
# changes what is learned or how it is scored: the recipe, or one of these.
CPU_MAP50 = 0.40
LEARNED = (
    *RESUMED, "data", "train_images", "val_images", "weights", "statistics_images", "patience",
    "val_every", "stop_after", "max_boxes", "size", "keep_classes",
)  # fmt: skip

# Options that a settings file and the environment may give, in capitals; two are lists.
LISTS = {"DATASET": "--data", "CLASSES": "--classes"}
SETTINGS = (
    "DATASET", "CLASSES", "DATA_DIR", "OUTPUT_DIR", "IMAGE_SIZE", "BATCH_SIZE", "NOMINAL_BATCH",
    "EPOCHS", "WARMUP_EPOCHS", "OPTIMIZER", "LR", "SCHEDULE", "MOSAIC", "CLOSE_MOSAIC",
    "COPY_PASTE", "BACKGROUND_SHARE", "HARD_SHARE", "PATIENCE", "WEIGHTS", "TRAIN_IMAGES",
    "VAL_IMAGES", "CONNECTIONS", "VAL_EVERY", "CHECKPOINT_MINUTES", "CACHE", "WORKERS", "DEVICES",
    "SEED", "REQUIRE_MAP50",
)  # fmt: skip


def parse_arguments(description, arguments):
    """Parse the command line; see ``--help``.

    What follows from other options is filled in; ``arguments`` of the result is the command line
    with what the settings gave.
    """
    parser = make_parser(description)
    o = parser.parse_args(arguments)
    parser.set_defaults(**PRESETS.get(o.preset, {}) | (KEEPING if o.keep_classes else {}))
    try:
        given = [] if o.settings is None else settings_arguments(o.settings, os.environ)
    except ValueError as error:
        parser.error(str(error))
    arguments = [*given, *arguments]
    o = parser.parse_args(arguments)
    check_data(parser, o)
    own = [name for each in o.data if (name := split_share(each)[0]) not in DEFAULT_IMAGES]
    if o.preset is None:
        o.preset = "auto" if own else "none"
    o.own_data, o.auto = bool(own), []
    if o.preset == "auto":
        given = given_options(description, arguments)
        o.auto = [name for name in CHOSEN if name not in given]
    if o.classes is None and not own:
        o.classes = [*DEFAULT_CLASSES]
    o.weights = starting_weights(o, own)
    check_start(parser, o)
    check_shares(parser, o)
    check_mode(parser, o)
    rates = {"--lr", "--momentum"} & {each.partition("=")[0] for each in arguments}
    if o.optimizer == "auto" and rates:
        parser.error(f"--optimizer auto chooses {', '.join(sorted(rates))}, too: name an optimizer")
    if o.batch_size == 1 and o.image_size == 32 and not o.auto:
        parser.error(
            "--batch-size 1 with --image-size 32 leaves a normalization one number a channel; "
            "make one of them larger"
        )
    if len(set(o.classes or ())) < len(o.classes or ()):
        parser.error(f"--classes names one twice: {', '.join(o.classes)}")
    for name in o.paste_on[:2] if o.paste_on else ():
        if o.classes is not None and name not in o.classes and not o.keep_classes:
            parser.error(f"--paste-on: {name} is none of the classes {', '.join(o.classes)}")
    if o.export_onnx is None:
        name = f"yolo11{o.size or 'n'}"
        name += "" if "image_size" in o.auto else f"_{o.image_size}"
        o.export_onnx = o.output_dir / f"{name}_trained.onnx"
    if o.preset == "cpu" and o.require_map50 is None:
        plain = parse_arguments(description, ["--preset", "cpu", "--require-map50", "0"])
        same = all(getattr(o, name) == getattr(plain, name) for name in LEARNED)
        if same and make_recipe(o) == make_recipe(plain):
            o.require_map50 = CPU_MAP50
    o.arguments = arguments
    return o


def check_paths(o):
    """End the program if data or starting weights are missing, or the folder is wrong."""
    problem = folder_problem(o)
    paths = [name for each in o.data if (name := split_share(each)[0]) not in DEFAULT_IMAGES]
    for path in paths:
        try:
            find(path, "train")
        except (ValueError, OSError) as error:
            if len(paths) == 1 or not isinstance(error, PartMissingError):  # one may be without
                problem = error
    if o.weights is not None and not o.resume and not o.weights.exists():
        problem = f"{o.weights} does not exist"
    if problem:
        raise SystemExit(f"error: {problem}")


def folder_problem(o):
    """Return why a run can't begin, or go on, in its folder; None if it can."""
    last = o.output_dir / LAST
    if o.resume and not last.exists():
        return f"nothing to resume: {last} doesn't exist"
    if last.exists() and not (o.resume or o.overwrite):
        return (
            f"{o.output_dir} holds a run already: --resume goes on with it, --overwrite replaces "
            "it, --output-dir starts another"
        )
    return None


def given_options(description, arguments):
    """Return the names of the options that a command line has."""
    parser = make_parser(description)
    for action in parser._actions:
        action.default = argparse.SUPPRESS
    parser._defaults.clear()
    return vars(parser.parse_args(arguments)).keys()


# -------------------------------------------------------------------------------- the options


def number(kind, holds, limits):
    """Make the type of an option: a number for which `holds` is true; `limits` says so in words."""

    def parse(text):
        value = kind(text)
        if not holds(value):
            raise argparse.ArgumentTypeError(f"must be {limits}, got {text}")
        return value

    parse.__name__ = kind.__name__
    return parse


ONE_OR_MORE = number(int, lambda n: n >= 1, "at least 1")
COUNT = number(int, lambda n: n >= 0, "at least 0")
SIDE = number(int, lambda n: n > 0 and n % 32 == 0, "a multiple of 32")
AMOUNT = number(float, lambda x: 0 <= x < math.inf, "at least 0")
POSITIVE = number(float, lambda x: 0 < x < math.inf, "above 0")
BELOW_ONE = number(float, lambda x: 0 <= x < 1, "at least 0 and below 1")
PROBABILITY = number(float, lambda x: 0 <= x <= 1, "from 0 to 1")


def scale(text):
    """Parse a strength of the random scaling, or a range of factors LOW:HIGH."""
    if ":" not in text:
        return BELOW_ONE(text)
    from data.augment import MOST_SCALE  # imports Numba: half a second

    low, high = map(float, text.split(":"))
    if not 0 < low <= high <= MOST_SCALE:
        raise argparse.ArgumentTypeError(
            f"a range LOW:HIGH must rise from above 0 to {MOST_SCALE} at most, got {text}"
        )
    return low, high


def paste_on(text):
    """Parse CLASS_BELOW:CLASS_ABOVE[:P] into two names and a probability."""
    names, chance = text.split(":")[:2], text.split(":")[2:]
    if len(chance) > 1 or not all(names) or len(set(names)) < 2:
        raise argparse.ArgumentTypeError(
            f"must be CLASS_BELOW:CLASS_ABOVE[:P] with two classes and a probability, got {text}"
        )
    return *names, PROBABILITY(*chance or ["0.5"])


def add_machine(add):
    """Add the options of where and how it is computed."""
    add("--workers", type=COUNT, default=2, help="threads that prepare batches")
    add("--device-augment", choices=["auto", "on", "off"], default="auto",
        help="draw training images on the device; auto: on a GPU with memory for them")  # fmt: skip
    add("--devices", type=ONE_OR_MORE, default=1,
        help="devices of this machine that share each batch; several processes always use all "
        "their devices")  # fmt: skip
    add("--sync-batchnorm", action="store_true",
        help="take the statistics of batch normalizations from the whole batch; without it, each "
        "device takes its images'")  # fmt: skip
    add("--coordinator", metavar="HOST:PORT",
        help="address of process 0 and a free port, for several processes; auto: ask the cluster; "
        "not needed under SLURM's srun and Open MPI's mpirun")  # fmt: skip
    add("--processes", type=ONE_OR_MORE, metavar="N",
        help="processes that train together; 1: only this one, even under SLURM")  # fmt: skip
    add("--process", type=COUNT, metavar="I", help="number of this process, from 0 on")
    add("--mode", default="JAX", metavar="NAME",
        help="PyTensor's mode: JAX, NUMBA, PYTORCH, FAST_COMPILE …")  # fmt: skip
    add("--precision", choices=PRECISIONS, default=PRECISIONS[0],
        help="dtype of convolutions and activations in training; weights stay float32")  # fmt: skip
    add("--compilation-cache", metavar="DIR|off",
        help="folder of compiled programs (default: $JAX_COMPILATION_CACHE_DIR, or one in your "
        "cache folder)")  # fmt: skip
    add("--profile", type=ONE_OR_MORE, nargs="?", const=10, metavar="STEPS",
        help="trace this number of steps (10) and print the time by kind of operation")  # fmt: skip


def make_parser(description):
    """Make the parser of all options."""
    # Abbreviations are off: the command to go on with a run is made from its arguments.
    parser = Parser(description=description, allow_abbrev=False)
    add = parser.add_argument
    add("--preset", choices=["auto", "none", *PRESETS],
        help="auto: choose options by your data set; gpu and cpu: train.sh's options, for a GPU or "
        "for minutes on two cores; none: the defaults below (default: auto for your data set, else "
        "none)")  # fmt: skip
    add("--settings", type=Path, metavar="FILE",
        help="read options from the environment and, if it exists, from this file of lines "
        "NAME=VALUE, as train.sh does")  # fmt: skip

    add = parser.add_argument_group("training").add_argument
    add("--epochs", type=ONE_OR_MORE, default=100, help="passes over the training images")
    add("--batch-size", type=ONE_OR_MORE, default=64,
        help="images per batch, on all devices together")  # fmt: skip
    add("--image-size", type=SIDE, default=320, help="pixels, a multiple of 32")
    add("--weights", metavar="FILE",
        help=".safetensors or .onnx to start from; real: weights/real.safetensors, trained on "
        "photographs; none: random weights (default: real for your data set, except with --preset "
        "none; else none)")  # fmt: skip
    add("--size", choices=SIZES,
        help="of the network: 2.6, 9.4, 20 or 25 million weights (default: that of --weights, else "
        "n)")  # fmt: skip
    add("--freeze", action="store_true",
        help="keep the backbone of --weights as it is; a step takes less time")  # fmt: skip
    add("--keep-classes", action="store_true",
        help="go on detecting the classes of --weights, too; where the data don't label them, "
        "keep what these see")  # fmt: skip
    add("--optimizer", choices=OPTIMIZERS,
        help="auto: AdamW or, for long runs, MuSGD, with a learning rate that fits")  # fmt: skip
    add("--lr", type=AMOUNT, help="learning rate of the first epoch; not with --optimizer auto")
    add("--final-lr", type=AMOUNT,
        help="learning rate after the last epoch, as a fraction of the first epoch's")  # fmt: skip
    add("--schedule", choices=[*SCHEDULES], help="how the learning rate falls")
    add("--momentum", type=BELOW_ONE, help="momentum of SGD and MuSGD")
    add("--weight-decay", type=AMOUNT, help="weight decay of convolution filters")
    add("--warmup-epochs", type=AMOUNT, help="epochs in which the learning rate rises")
    add("--nominal-batch", type=ONE_OR_MORE, help="images whose gradients make one step")
    add("--ema-decay", type=BELOW_ONE, help="decay of the averaged weights")
    add("--ema-steps", type=POSITIVE, help="steps over which that decay grows")
    add("--statistics-images", type=COUNT, default=2400, metavar="N",
        help="training images, at most two epochs, on which the normalizations' statistics are "
        "measured for the averaged weights at the end; 0: average them, too")  # fmt: skip
    add("--mosaic", type=PROBABILITY, default=1.0, help="probability of joining four images")
    add("--close-mosaic", type=COUNT, default=10, help="last epochs without mosaic")
    add("--copy-paste", type=PROBABILITY, default=0.0, metavar="P",
        help="probability of pasting a labelled object of another image, tried twice")  # fmt: skip
    add("--paste-on", type=paste_on, metavar="CLASS_BELOW:CLASS_ABOVE[:P]",
        help="paste objects of one class onto an object of another, as person:'cell phone', in "
        "each picture with a large enough one, with probability P (0.5)")  # fmt: skip
    add("--scale", type=scale, default=0.5, metavar="S|LOW:HIGH",
        help="size is multiplied by 1 - S to 1 + S, or by LOW to HIGH, at random")  # fmt: skip
    add("--patience", type=COUNT, default=0,
        help="stop after this number of epochs without a better mAP; 0: never")  # fmt: skip
    add("--val-every", type=ONE_OR_MORE, default=5, help="epochs between validations")
    add("--seed", type=COUNT, default=0, help="seed of weights, order and augmentation")
    add("--trained-on", metavar="TEXT",
        help="the training data in words, for the model's file and the page: 1,000 photographs of "
        "...")  # fmt: skip

    add = parser.add_argument_group("data").add_argument
    add("--data", nargs="+", default=["coco"], metavar="PATH[:SHARE]",
        help="coco, synthetic, or the path of a data set; or several, with relative shares of an "
        "epoch's images (A:3 B:1), without which every image comes once")  # fmt: skip
    add("--data-dir", type=output_folder,
        help="folder of the coco or synthetic set, else datasets/NAME")  # fmt: skip
    images = ", ".join(f"{name} {a} and {b}" for name, (a, b) in DEFAULT_IMAGES.items())
    add("--train-images", type=COUNT,
        help=f"images to download or draw; 0: all of coco (default: {images})")  # fmt: skip
    add("--val-images", type=COUNT, help="the same for validation")
    add("--connections", type=ONE_OR_MORE, default=32,
        help="connections of the download at a time")  # fmt: skip
    add("--classes", nargs="+", metavar="NAME",
        help="classes to detect (default: all of your data set; person and cell phone of coco and "
        "synthetic)")  # fmt: skip
    add("--background-share", type=BELOW_ONE, default=0.0, metavar="P",
        help="share of background images in an epoch: images labelled for all classes that show "
        "none; without the option they come like the others")  # fmt: skip
    add("--hard-share", type=BELOW_ONE, default=0.0, metavar="P",
        help="share of an epoch's images that are chosen by the starting weights' mistakes; shares "
        "of data sets divide the rest")  # fmt: skip
    add("--max-boxes", type=ONE_OR_MORE, metavar="N",
        help="leave out training images with more boxes; a mosaic with more becomes one of its "
        "images")  # fmt: skip
    add("--cache", choices=["memory", "disk"], default="memory",
        help="where decoded images are kept")  # fmt: skip
    add("--cache-dir", type=output_folder, help="folder of --cache disk")

    add_machine(parser.add_argument_group("machine").add_argument)

    add = parser.add_argument_group("files").add_argument
    add("--output-dir", type=output_folder, default="runs/yolo11n", help="folder of the run")
    add("--resume", action="store_true", help="continue from last.safetensors")
    add("--overwrite", action="store_true", help="replace a run in the output folder")
    add("--checkpoint-minutes", type=AMOUNT, default=5.0,
        help="minutes between checkpoints; 0: after every batch")  # fmt: skip
    add("--log", nargs="+", choices=[*LOGGERS], default=[],
        help="log losses and scores there, too")  # fmt: skip
    add("--log-every", type=COUNT, default=50, help="batches between rows of steps.csv; 0: none")
    add("--stop-after", type=ONE_OR_MORE, help="stop after this epoch as if interrupted")
    add("--export-onnx", type=output_file, metavar="PATH", help="ONNX file to write")
    add("--no-export", action="store_true", help="write no ONNX model")
    add("--build-page", action=argparse.BooleanOptionalAction, default=False,
        help="at the end, build the browser page of the exported model")  # fmt: skip
    add("--samples", action=argparse.BooleanOptionalAction, default=True,
        help="put some validation pictures of your own data into the page")  # fmt: skip
    add("--require-map50", type=AMOUNT, help="fail if the final mAP@0.5 is below")

    parser.set_defaults(**asdict(Recipe()))
    for action in parser._actions:
        if action.default not in (None, False, argparse.SUPPRESS):
            action.help += " (default: %(default)s)"
    return parser


# ---------------------------------------------------------- what doesn't fit, and what follows


def check_data(parser, options):
    """Check and fill in the options of the data."""
    o = options
    try:
        names = [split_share(each)[0] for each in o.data]
    except ValueError as error:
        parser.error(f"--data {error}")
    if len(set(names)) < len(names):
        parser.error(f"--data names one twice: {', '.join(names)}; give it a larger share instead")
    made = [name for name in names if name in DEFAULT_IMAGES]
    if len(made) > 1:
        parser.error(f"--data takes one of {', '.join(made)} at a time")
    if made:
        train, val = DEFAULT_IMAGES[made[0]]
        o.train_images = train if o.train_images is None else o.train_images
        o.val_images = val if o.val_images is None else o.val_images
        if made == ["synthetic"] and not (o.train_images and o.val_images):
            parser.error("--train-images and --val-images of --data synthetic must be at least 1")
    elif not o.train_images is o.val_images is o.data_dir is None:
        parser.error(
            "--train-images, --val-images and --data-dir are for --data coco and --data synthetic"
        )
    if o.cache_dir is not None and o.cache != "disk":
        parser.error("--cache-dir is for --cache disk")


def check_shares(parser, options):
    """Check the shares of background and of hard images."""
    o = options
    if (together := o.background_share + o.hard_share) >= 1:
        parser.error(
            f"--background-share and --hard-share add up to {together:g}; the sum must be below 1, "
            "for the rest is other images"
        )
    if o.hard_share and o.weights is None and not o.resume:
        parser.error("--hard-share needs --weights: random weights don't know what is hard")


def starting_weights(options, own):
    """Return the path of the weights to start from, or None; `own` are data sets of the user."""
    given = options.weights
    if given is None and own and options.preset != "none" and options.size in (None, REAL_SIZE):
        given = "real"
    return None if given in (None, "none") else weights_path(given)


def check_start(parser, options):
    """Check the options that say what the starting weights are for."""
    for name in ("freeze", "keep_classes"):
        if getattr(options, name) and options.weights is None and not options.resume:
            parser.error(
                f"--{name.replace('_', '-')} needs --weights: random weights know nothing to keep"
            )


def check_mode(parser, options):
    """Check PyTensor's mode, and what only JAX can do."""
    if options.mode == "JAX":
        return
    from training.train_step import uses_jax  # imports JAX and PyTensor: seconds

    try:
        if uses_jax(options.mode):
            return
    except ValueError as error:
        parser.error(f"--mode {options.mode}: {error}")
    if options.device_augment == "auto":
        options.device_augment = "off"
    asked = {
        f"--precision {options.precision}": options.precision != PRECISIONS[0],
        "--device-augment on": options.device_augment == "on",
        "--devices": options.devices != 1,
        "--coordinator": options.coordinator is not None,
        "--profile": options.profile is not None,
    }
    if names := [name for name, given in asked.items() if given]:
        parser.error(f"{', '.join(names)} can only be had with --mode JAX, not {options.mode}")


def make_recipe(options):
    """Make the recipe that the options describe."""
    return Recipe(**{name: getattr(options, name) for name in Recipe.__annotations__})


def resumed_settings(options):
    """Return what a resumed run must share, besides the recipe, by name.

    `LATER` ones are among it where they are on: checkpoints of before there were these options lack
    them. All are as they come back from a checkpoint.
    """
    settings = {name: getattr(options, name) for name in RESUMED}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in settings.items()
        if value or name not in LATER
    }


# ----------------------------------------------------------------------- the settings of train.sh


def read_settings(path):
    """Read lines NAME=VALUE of a file, which may be missing, as they are: nothing is run."""
    values = {}
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    for count, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = re.fullmatch(r"""(?:export\s+)?([A-Za-z_]\w*)=(["']?)(.*)\2""", line)
        if match is None:
            raise ValueError(f"{path}, line {count}: expected NAME=VALUE, found: {line}")
        if not match[2] and re.match(r"""["']|.*\s#""", match[3]):
            raise ValueError(
                f"{path}, line {count}: quotes are around all of a value, and a comment is in a "
                f"line of its own: {line}"
            )
        if match[1] not in SETTINGS:
            raise ValueError(
                f"{path}, line {count}: there is no setting {match[1]}; there are "
                f"{', '.join(SETTINGS)}; what other programs read is set in the environment"
            )
        values[match[1]] = match[3]
    return values


def settings_arguments(path, environment):
    """Return the options that a settings file and the environment give; the environment wins."""
    given = read_settings(path)
    given |= {name: environment[name] for name in SETTINGS if name in environment}
    arguments = []
    for name in SETTINGS:
        if not (value := given.get(name)):
            continue
        if name in LISTS:
            # A folder's name may have commas.
            whole = name == "DATASET" and (value.startswith("-") or Path(value).exists())
            names = [value] if whole else value.split(",")
            if any(not each or (each.startswith("-") and not whole) for each in names):
                raise ValueError(f"{name} must be names separated by commas, not {value!r}")
            arguments += [f"{LISTS[name]}={names[0]}"] if whole else [LISTS[name], *names]
        else:
            arguments.append(f"--{name.lower().replace('_', '-')}={value}")
    return arguments
