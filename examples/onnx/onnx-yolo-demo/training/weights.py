"""Weights from elsewhere: choosing classes, and starting a training from them.

A file of the 80 classes of COCO becomes a detector of some of them without any training: the rows
of the other classes are cut from the last layer of the head. The names in the file are from
the reference's state dict, except in ONNX files. No pickle is read: a `.pt` file is turned into
safetensors by its owner, with the line in
docs/tutorials/own_pictures.md.
"""

from pathlib import Path

import numpy as np
from data.listing import hint
from data.loader import val_batches
from evaluation.forms import COCO_CLASSES
from model import BACKBONE, YOLO11n, size_of
from training.checkpoint import STATE, CheckpointError, load_weights

LEVELS = range(3)
STEM = "model.0.conv.weight"
SECOND_BLOCK = "model.2.m.1.cv1.conv.weight"
CLASS_ROWS = [f"model.23.cv3.{level}.2.{kind}" for level in LEVELS for kind in ("weight", "bias")]


def load_pretrained(path, classes=None, seed=0, size=None):
    """Make a model for `classes` from the weights of other, or more, classes.

    Of the last layer of the class branch, the rows of the wanted classes are taken by name; a class
    that the file lacks starts from random weights.  All else must be in the file.

    Parameters
    ----------
    path : path-like
        Safetensors with the reference's names, a checkpoint, or an ONNX file (`read_onnx`).
        Classes are read from its metadata (``info``, JSON, key ``classes``; in ONNX ``names``), and
        80 unnamed rows are COCO's.
    classes : sequence of str, optional
        All of the file's by default.
    seed : int
        Of the weights that the file doesn't give.
    size : str, optional
        Of `model.SIZES`, which the file must have; by default any.

    Returns
    -------
    model : YOLO11n
    rows : dict of str to int or None
        Each class's row in the file.
    info : dict
        The file's metadata, with the ``classes`` that it has.

    Raises
    ------
    CheckpointError
        If the file can't be read, is of another model or size, or doesn't name its classes and none
        are given.
    """
    arrays, info = read_arrays(path)
    names, count = source_classes(path, arrays, info)
    if classes is None and names is None:
        raise CheckpointError(
            f"{path}: it doesn't name its {count} classes; name them with --classes"
        )
    classes = list(names if classes is None else classes)
    if len(set(classes)) < len(classes):
        raise CheckpointError(f"{path}: a class is wanted twice: {', '.join(classes)}")
    if names is None and count == len(classes):
        names = classes  # taken at its word
    rows = {name: names.index(name) if name in (names or ()) else None for name in classes}
    width, stem = arrays[CLASS_ROWS[0]].shape[1], arrays.get(STEM, np.empty(0)).shape
    own = size_of(stem[0], 2 if SECOND_BLOCK in arrays else 1) if len(stem) == 4 else None
    if own is not None and size not in (None, own):
        raise CheckpointError(
            f"{path}: the weights of a YOLO11{own}, not of size {size}: --size {own} takes them"
        )
    model = YOLO11n(len(classes), seed=seed, class_width=width, size=own or "n")
    state = model.state_dict()
    for name in CLASS_ROWS:
        own = state[name].copy()
        if name in arrays and arrays[name].shape == (count, *own.shape[1:]):
            for row, source in enumerate(rows.values()):
                if source is not None:
                    own[row] = arrays[name][source]
            arrays[name] = own
    lost = [n for n, v in state.items() if n not in arrays or arrays[n].shape != v.shape]
    if lost:
        raise CheckpointError(
            f"{path}: not the weights of a YOLO11{model.size}: {len(lost)} of its {len(state)} "
            f"arrays are missing or of another shape, first {lost[0]}"
        )
    arrays = {name: arrays[name].astype(np.float32) for name in state}
    if broken := [name for name, value in arrays.items() if not np.isfinite(value).all()]:
        raise CheckpointError(
            f"{path}: {broken[0]} and {len(broken) - 1} other arrays are not finite"
        )
    model.load_state_dict(arrays)
    return model, rows, info if names is None else info | {"classes": names}


def read_arrays(path):
    """Read (arrays by name, info) of a weight file, an ONNX file or a checkpoint.

    Of a checkpoint, the averaged weights are taken, which are the ones that were validated.  The
    state of the optimizer and batch counters are left out.
    """
    if Path(path).suffix.lower() == ".onnx":
        from training.onnx_weights import read_onnx  # which loads what imports ONNX

        return read_onnx(path)
    arrays, info = load_weights(path)
    kept = {
        name: arrays.get(f"{STATE}{name}.ema", value)
        for name, value in arrays.items()
        if not name.startswith(STATE) and not name.endswith("num_batches_tracked")
    }
    return kept, info


def source_classes(path, arrays, info):
    """Return (names of the file's class rows or None if nobody knows them, their number)."""
    filters = arrays.get(CLASS_ROWS[0])
    if filters is None or filters.ndim != 4:
        raise CheckpointError(
            f"{path}: no filters {CLASS_ROWS[0]}; it holds no YOLO11n under the names of the "
            "reference's state dict"
        )
    if "model.0.conv.bias" in arrays:
        raise CheckpointError(
            f"{path}: its batch normalization is folded: save the weights before folding"
        )
    count, names = len(filters), info.get("classes")
    if isinstance(names, dict):  # row number -> name
        names = [names[key] for key in sorted(names, key=int)]
    if names is None and count == len(COCO_CLASSES):
        names = list(COCO_CLASSES)
    if names is not None and len(names) != count:
        raise CheckpointError(
            f"{path}: its metadata names {len(names)} classes, but its head has {count} rows"
        )
    return names, count


def starting_model(options, last, train_set):
    """Return the model that a run starts with; if resumed, before its checkpoint is loaded.

    Second, in words, what it will have seen at the end; None where that isn't known.
    """
    o = options
    kept = BACKBONE if o.freeze else 0
    if o.resume:  # a branch is as wide as that of the weights that the run began with
        _, info = load_weights(last)
        own = info.get("size", "n")
        if o.size not in (None, own):
            raise CheckpointError(f"{last}: of a YOLO11{own}, not of size {o.size}")
        model = YOLO11n(len(o.classes), o.seed, info.get("class_width"), own, kept)
        return model, o.trained_on or info.get("trained_on")
    if o.weights is None:
        drawn = "drawn pictures" if o.data == ["synthetic"] else None
        return YOLO11n(len(o.classes), o.seed, size=o.size or "n"), o.trained_on or drawn
    model, rows, info = load_pretrained(o.weights, o.classes, o.seed, o.size)
    model.kept = kept
    found = [
        f"{name} (from {'random weights' if row is None else f'row {row}'})"
        for name, row in rows.items()
    ]
    print(f"{o.weights}: all layers; in the last one, by class: {', '.join(found)}")
    unknown = [name for name, row in rows.items() if row is None]
    if meant := hint(unknown, info.get("classes", ())):
        print(
            f"warning: {', '.join(unknown)}{meant} The row of a class is taken only by its name; "
            "rename the class in the data to start from that row"
        )
    if info.get("folded"):
        from training.onnx_weights import measure_normalizations

        size = min(o.batch_size, len(train_set))
        measure_normalizations(model, next(val_batches(train_set, size)).images)
        print(f"its normalizations were folded; their statistics are from {size} images")
    return model, o.trained_on


def kept_classes(options, last):
    """Return the classes that ``--keep-classes`` keeps, and the image size of their training.

    They may be none, and 0.
    """
    if not options.keep_classes:
        return [], 0
    path = last if options.resume else options.weights
    arrays, info = read_arrays(path)
    names, count = source_classes(path, arrays, info)
    if names is None:
        raise CheckpointError(f"{path}: it doesn't name its {count} classes, so none can be kept")
    # The file of a run that is resumed has the new classes, too.
    return info.get("kept", names) if options.resume else names, info.get("image_size", 0)


def load_model(path, classes=None):
    """Make (model, info) of a weight file or checkpoint, for all or some of its classes.

    `info` is the file's metadata, with the model's ``classes`` and ``class_width``.

    Raises
    ------
    CheckpointError
        If the file can't be read, or lacks a class or an array.
    """
    model, rows, info = load_pretrained(path, classes)
    if absent := [name for name, row in rows.items() if row is None]:
        known = info.get("classes", ())
        raise CheckpointError(
            f"{path}: it has no class {', '.join(absent)}{hint(absent, known)}; it has "
            f"{', '.join(known)}"
        )
    return model, info | {"classes": list(rows), "class_width": model.class_width}


def model_info(model, classes, image_size, trained_on, kept=()):
    """Return what a reader of a weight file needs to know, for its metadata."""
    return {
        "architecture": f"yolo11{model.size}",
        "size": model.size,
        "classes": list(classes),
        "class_width": model.class_width,
        "image_size": image_size,
        "trained_on": trained_on,
    } | ({"kept": [*kept]} if kept else {})
