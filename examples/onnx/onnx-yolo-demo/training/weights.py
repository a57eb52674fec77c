"""Weights from elsewhere: choosing classes, and starting a training from them.

A file of the 80 classes of COCO becomes a detector of some of them without any training: the rows
of the other classes are cut from the last layer of the head. The names in the file are those of
the reference's state dict. No pickle is read: a `.pt` file is turned into safetensors by its
owner, with the line in README.md.
"""

import math
from pathlib import Path

import numpy as np
from model import YOLO11n
from training.checkpoint import STATE, CheckpointError, load_weights

# The names of COCO's 80 classes, in the order of the rows of heads trained on them.
COCO_CLASSES = (
    "person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat",
    "traffic light", "fire hydrant", "stop sign", "parking meter", "bench", "bird", "cat", "dog",
    "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe", "backpack", "umbrella",
    "handbag", "tie", "suitcase", "frisbee", "skis", "snowboard", "sports ball", "kite",
    "baseball bat", "baseball glove", "skateboard", "surfboard", "tennis racket", "bottle",
    "wine glass", "cup", "fork", "knife", "spoon", "bowl", "banana", "apple", "sandwich", "orange",
    "broccoli", "carrot", "hot dog", "pizza", "donut", "cake", "chair", "couch", "potted plant",
    "bed", "dining table", "toilet", "tv", "laptop", "mouse", "remote", "keyboard", "cell phone",
    "microwave", "oven", "toaster", "sink", "refrigerator", "book", "clock", "vase", "scissors",
    "teddy bear", "hair drier", "toothbrush",
)  # fmt: skip

LEVELS = range(3)
CLASS_ROWS = [f"model.23.cv3.{level}.2.{kind}" for level in LEVELS for kind in ("weight", "bias")]
# Below this share of the model's numbers, a file is of another model.
LEAST_SHARE = 0.5


def source_classes(path, arrays, info):
    """Return (names of the file's class rows or None if nobody knows them, their number).

    Raises
    ------
    CheckpointError
        If the head is missing, or the names don't fit its rows.
    """
    if CLASS_ROWS[0] not in arrays:
        folded = "model.0.conv.bias" in arrays
        raise CheckpointError(
            f"{path}: no array {CLASS_ROWS[0]}; "
            + (
                "its batch normalization is folded: save the weights before folding"
                if folded
                else "it holds no YOLO11n under the names of the reference's state dict"
            )
        )
    if arrays[CLASS_ROWS[0]].ndim != 4:
        raise CheckpointError(
            f"{path}: {CLASS_ROWS[0]} has shape {arrays[CLASS_ROWS[0]].shape}, not that of filters"
        )
    count = len(arrays[CLASS_ROWS[0]])
    names = info.get("classes")
    if isinstance(names, dict):  # row number -> name
        names = [names[key] for key in sorted(names, key=int)]
    if names is None and count == len(COCO_CLASSES):
        names = COCO_CLASSES
    if names is not None and len(names) != count:
        raise CheckpointError(
            f"{path}: its metadata names {len(names)} classes, but its head has {count} rows"
        )
    return (None if names is None else list(names)), count


def read_arrays(path):
    """Read (arrays by name, info) of a weight file or a checkpoint.

    Of a checkpoint, the averaged weights are taken, which are the ones that were validated.  The
    state of the optimizer and batch counters are left out.
    """
    arrays, info = load_weights(path)
    kept = {
        name: arrays.get(f"{STATE}{name}.ema", value)
        for name, value in arrays.items()
        if not name.startswith(STATE) and not name.endswith("num_batches_tracked")
    }
    return kept, info


def load_pretrained(path, classes=None, class_width=None, seed=0):
    """Make a model for `classes` from the weights of other, or more, classes.

    All arrays whose name and shape fit are taken.  Of the last layer of the class branch, the rows
    of the wanted classes are taken by name; a class that the file lacks starts from random weights.
    The width of the class branch (which the architecture derives from the number of classes) stays
    the file's, so that its other layers fit.

    Parameters
    ----------
    path : path-like
        Safetensors with the reference's names; classes are read from its metadata
        (``info``, JSON, key ``classes``), and 80 unnamed rows are COCO's.
    classes : sequence of str, optional
        All of the file's by default.
    class_width : int, optional
        To train a class branch of this width instead; its arrays are then not taken.
    seed : int
        Of the weights that the file doesn't give.

    Returns
    -------
    model : YOLO11n
    report : dict
        ``classes``; ``taken``, the number of arrays; ``rows``, class name to row of the file or
        None; ``missing``, ``unused`` and ``reshaped``: names of arrays that only the model has,
        that only the file has, and whose shapes differ; ``info``, the file's metadata; ``text``,
        all that for people.

    Raises
    ------
    CheckpointError
        If the file can't be read, is of another model, or doesn't name its classes and none are
        given.
    """
    arrays, info = read_arrays(path)
    names, count = source_classes(path, arrays, info)
    if classes is None:
        if names is None:
            raise CheckpointError(
                f"{path}: it doesn't name its {count} classes; name them with --classes"
            )
        classes = names
    classes = list(classes)
    if len(set(classes)) < len(classes):
        raise CheckpointError(f"{path}: a class is wanted twice: {', '.join(classes)}")
    if names is not None:
        rows = [names.index(name) if name in names else None for name in classes]
    else:  # taken at its word only if the number is the same
        rows = list(range(count)) if count == len(classes) else [None] * len(classes)
    width = class_width or arrays[CLASS_ROWS[0]].shape[1]
    model = YOLO11n(len(classes), seed=seed, class_width=width)
    state = model.state_dict()
    report = {"classes": classes, "rows": dict(zip(classes, rows, strict=True)), "info": info}
    report |= place_arrays(state, arrays, rows, count)
    check_share(path, state, report)
    model.load_state_dict(state)
    report["text"] = describe(path, report, names, len(state))
    return model, report


def starting_model(options, last):
    """The model that a run starts with; if resumed, before its checkpoint `last` is loaded."""
    o = options
    if o.resume:  # a branch is as wide as that of the weights that the run began with
        _, info = load_weights(last)
        return YOLO11n(len(o.classes), seed=o.seed, class_width=info.get("class_width"))
    if o.weights is None:
        return YOLO11n(len(o.classes), seed=o.seed)
    model, report = load_pretrained(o.weights, o.classes, seed=o.seed)
    print(report["text"])
    return model


def load_model(path, classes=None):
    """Make the model that a weight file or checkpoint holds.

    Parameters
    ----------
    path : path-like
        A file of ours, or one of the reference's names.
    classes : sequence of str, optional
        Some of the file's classes, all of them by default.

    Returns
    -------
    model : YOLO11n
    info : dict
        The file's metadata, with the model's ``classes`` and ``class_width``.

    Raises
    ------
    CheckpointError
        If the file can't be read, or lacks a class or an array.
    """
    model, report = load_pretrained(path, classes)
    absent = [name for name, row in report["rows"].items() if row is None]
    if absent:
        raise CheckpointError(f"{path}: it has no class {', '.join(absent)}")
    lacking = [*report["missing"], *report["reshaped"]]
    if lacking:
        raise CheckpointError(
            f"{path}: {len(lacking)} arrays are missing or of another shape, first {lacking[0]}"
        )
    own = {"classes": report["classes"], "class_width": model.class_width}
    return model, report["info"] | own


def place_arrays(state, arrays, rows, count):
    """Put what fits into `state`, in place; returns what was done by name."""
    done = {"taken": 0, "missing": [], "reshaped": []}
    for name, own in state.items():
        given = arrays.get(name)
        if given is None:
            done["missing"].append(name)
        elif name in CLASS_ROWS and given.shape == (count, *own.shape[1:]):
            own = own.copy()
            for row, source in enumerate(rows):
                if source is not None:
                    own[row] = given[source]
            state[name] = own
            done["taken"] += any(source is not None for source in rows)
        elif given.shape == own.shape:
            state[name] = given.astype(np.float32)
            done["taken"] += 1
        else:
            done["reshaped"].append(name)
    done["unused"] = [name for name in arrays if name not in state]
    return done


def check_share(path, state, report):
    """Refuse a file of another model, most of which would start from random weights."""
    lost = [*report["missing"], *report["reshaped"]]
    total = sum(value.size for value in state.values())
    if sum(math.prod(state[name].shape) for name in lost) > (1 - LEAST_SHARE) * total:
        raise CheckpointError(
            f"{path}: not the weights of a YOLO11n: {len(lost)} of its {len(state)} arrays are "
            f"missing or of another shape, first {lost[0]}"
        )


def describe(path, report, names, total):
    """What was taken and what was left, in lines for people."""
    lines = [f"{path}: {report['taken']} of {total} arrays taken"]
    kept = [f"{name} (row {row})" for name, row in report["rows"].items() if row is not None]
    new = [name for name, row in report["rows"].items() if row is None]
    if names is None and kept:
        lines.append(f"  the file names no classes; its rows are taken to be {', '.join(kept)}")
    elif kept:
        lines.append(f"  classes: {', '.join(kept)}")
    if new:
        lines.append(f"  classes that start from random weights: {', '.join(new)}")
    for key, what in [
        ("missing", "not in the file"),
        ("reshaped", "of another shape in the file"),
        ("unused", "of the file not used"),
    ]:
        found = report[key]
        if found:
            more = f", … and {len(found) - 5} more" if len(found) > 5 else ""
            lines.append(f"  {len(found)} arrays {what}: {', '.join(found[:5])}{more}")
    return "\n".join(lines)


def require_folder(path):
    """Raise CheckpointError where a file can't be written for want of its folder."""
    if not Path(path).parent.is_dir():
        raise CheckpointError(f"can't write {path}: there is no folder {Path(path).parent}")
    if Path(path).is_dir():
        raise CheckpointError(f"can't write {path}: it is a folder; give the name of a file")


def model_info(model, classes, image_size):
    """What a reader of a weight file needs to know, for its metadata."""
    return {
        "architecture": "yolo11n",
        "classes": list(classes),
        "class_width": model.class_width,
        "image_size": image_size,
    }


def check_size(parser, size):
    """Leave with one line for an ``--image-size`` that the network can't take."""
    if size is not None and (size < 32 or size % 32):
        parser.error(f"--image-size must be a multiple of 32, got {size}")
