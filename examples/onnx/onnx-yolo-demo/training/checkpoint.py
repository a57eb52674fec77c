"""Checkpoints and weight files: safetensors, written atomically.

A weight file holds a model's arrays under the names of the state dict.  A checkpoint holds those,
and the state of optimizer and averages under their variables' names with the prefix ``state.``.
What isn't an array stands as JSON in the file's metadata.
"""

import contextlib
import json
import os
import re
import threading
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

STATE = "state."
# Settings of checkpoints that don't say.
IMPLIED = {"precision": "float32"}


class CheckpointError(Exception):
    """A checkpoint can't be read, or isn't one of this run."""


class NotFinite(CheckpointError):
    """Arrays to be written hold NaN or infinity."""


def write_atomically(path, data):
    """Write bytes so that `path` always holds the old file or the new one, whole.

    Raises
    ------
    OSError
        If the folder can't be written to or the disk is full; the old file is untouched.
    """
    path = Path(path)
    # Not mkstemp, whose files only their owner can read. The numbers keep writers apart.
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(path.parent)


def sync_folder(folder):
    """Have a renaming survive a loss of power, where folders can be synchronized."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        # Not every file system offers it, and the file itself is on the disk already.
        with contextlib.suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)


def remove_leftovers(path):
    """Remove temporary files of `write_atomically` that killed processes left behind.

    Only for a path that no other process is writing.
    """
    path = Path(path)
    for leftover in path.parent.glob(f".{path.name}.*"):
        if re.fullmatch(r"\d+-\d+", leftover.name.removeprefix(f".{path.name}.")):
            leftover.unlink(missing_ok=True)


def to_bytes(path, arrays, info):
    """Return the content of a weight file.

    Parameters
    ----------
    path : path-like
        Named in errors.
    arrays : dict of str to array
    info : dict
        What JSON can say; it becomes the file's metadata.

    Raises
    ------
    NotFinite
        If an array isn't finite; what `path` holds is worth more then.
    """
    # ascontiguousarray would make scalars one-dimensional
    arrays = {name: np.asarray(v, order="C") for name, v in arrays.items()}
    broken = [name for name, v in arrays.items() if not np.isfinite(v).all()]
    if broken:
        raise NotFinite(
            f"{path} is not written: {broken[0]} and {len(broken) - 1} other arrays are not finite"
        )
    return save(arrays, metadata={"info": json.dumps(info)})


def save_weights(path, state_dict, info):
    """Write a weight file with `info`, a dict that JSON can say, as its metadata.

    Raises
    ------
    NotFinite
        See `to_bytes`; the old file stays.
    OSError
        See `write_atomically`.
    """
    write_atomically(path, to_bytes(path, state_dict, info))


def load_weights(path):
    """Read a weight file.

    Returns
    -------
    arrays : dict of str to array
    info : dict
        Empty where the file has none.

    Raises
    ------
    CheckpointError
        If the file is missing, can't be read, is cut short or no safetensors file.
    """
    try:
        with safe_open(path, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            metadata = file.metadata() or {}
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such file") from None
    except SafetensorError as error:
        raise CheckpointError(
            f"{path}: cut short, or not a safetensors file ({error}); use an older one"
        ) from error
    except OSError as error:
        raise CheckpointError(f"{path}: can't be read ({error})") from error
    return arrays, json.loads(metadata.get("info", "{}"))


def snapshot(model, state):
    """Copy the model's arrays and the shared variables in `state` to the host.

    Returns
    -------
    dict of str to array
        What a checkpoint holds, and `restore` takes.
    """
    values = {STATE + name: v.get_value(borrow=True) for name, v in state.items()}
    # copied, for a backend may use an array's memory again
    return {name: np.array(v) for name, v in (model.state_dict() | values).items()}


def restore(model, state, arrays):
    """Set the model and the shared variables in `state` to what `snapshot` returned.

    Raises
    ------
    ValueError
        If the arrays don't fit; nothing is set then.
    """
    weights = {k: v for k, v in arrays.items() if not k.startswith(STATE)}
    values = {k.removeprefix(STATE): v for k, v in arrays.items() if k.startswith(STATE)}
    wrong = [
        name
        for name, variable in state.items()
        if name not in values
        or values[name].dtype != variable.type.dtype
        or values[name].shape != variable.get_value(borrow=True).shape
    ]
    if wrong or len(values) != len(state):
        raise ValueError(
            f"its optimizer state doesn't fit this run ({len(values)} arrays instead of "
            f"{len(state)}{', first ' + wrong[0] if wrong else ''})"
        )
    model.load_state_dict(weights)
    for name, variable in state.items():
        variable.set_value(values[name])


def save_checkpoint(path, model, state, info):
    """Write the model's arrays, the shared variables in `state` and the dict `info`.

    Parameters
    ----------
    path : path-like
    model : YOLO11n
    state : dict of str to shared variable
    info : dict
        With ``"settings"``, which `load_checkpoint` compares.

    Raises
    ------
    NotFinite, OSError
        See `save_weights`.
    """
    save_weights(path, snapshot(model, state), info)


def load_checkpoint(path, model, state, settings):
    """Restore what `save_checkpoint` wrote.

    Parameters
    ----------
    path : path-like
    model : YOLO11n
    state : dict of str to shared variable
        Set to the file's values; nothing is set if an error is raised.
    settings : dict
        Must agree with ``info["settings"]``: a run resumed with others would not be that run.

    Returns
    -------
    dict
        The checkpoint's `info`.

    Raises
    ------
    CheckpointError
        If the file can't be read or belongs to another model or other settings.
    """
    arrays, info = load_weights(path)
    if "settings" not in info:
        raise CheckpointError(f"{path}: a weight file, not a checkpoint; it has no training state")
    saved = IMPLIED | info["settings"]
    settings = IMPLIED | settings
    different = [
        f"{name} {saved.get(name)!r} instead of {settings.get(name)!r}"
        for name in sorted(saved.keys() | settings.keys())
        if saved.get(name) != settings.get(name)
    ]
    if different:
        raise CheckpointError(f"{path}: made with other settings: {'; '.join(different)}")
    try:
        restore(model, state, arrays)
    except ValueError as error:
        raise CheckpointError(f"{path}: {error}") from None
    return info
