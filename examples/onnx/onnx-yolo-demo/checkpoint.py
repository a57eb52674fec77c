"""Checkpoints and weight files: safetensors, written atomically.

A weight file holds a model's arrays under the names of the state dict.  A checkpoint holds those,
and the state of optimizer and averages under their variables' names with the prefix ``state.``.
What isn't an array stands as JSON in the file's metadata.
"""

import contextlib
import json
import os
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

STATE = "state."


class CheckpointError(Exception):
    """A checkpoint can't be read, or isn't one of this run."""


def write_atomically(path, data):
    """Write bytes so that `path` always holds the old file or the new one, whole.

    Raises
    ------
    OSError
        If the folder can't be written to or the disk is full; the old file is untouched.
    """
    path = Path(path)
    # Not mkstemp, whose files only their owner can read. The number keeps processes apart.
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
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


def save_weights(path, state_dict, info):
    """Write a weight file with `info`, a dict that JSON can say, as its metadata.

    Raises
    ------
    CheckpointError
        If an array isn't finite; what `path` holds is worth more then, and stays.
    OSError
        See `write_atomically`.
    """
    # ascontiguousarray would make scalars one-dimensional
    arrays = {name: np.asarray(v, order="C") for name, v in state_dict.items()}
    broken = [name for name, v in arrays.items() if not np.isfinite(v).all()]
    if broken:
        raise CheckpointError(
            f"{path} is not written: {broken[0]} and {len(broken) - 1} other arrays are not finite"
        )
    write_atomically(path, save(arrays, metadata={"info": json.dumps(info)}))


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
    CheckpointError, OSError
        See `save_weights`.
    """
    values = {STATE + name: v.get_value(borrow=True) for name, v in state.items()}
    save_weights(path, model.state_dict() | values, info)


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
    saved = info["settings"]
    different = [
        f"{name} {saved.get(name)!r} instead of {settings.get(name)!r}"
        for name in sorted(saved.keys() | settings.keys())
        if saved.get(name) != settings.get(name)
    ]
    if different:
        raise CheckpointError(f"{path}: made with other settings: {'; '.join(different)}")
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
        raise CheckpointError(
            f"{path}: its optimizer state doesn't fit this run ({len(values)} arrays instead of "
            f"{len(state)}{', first ' + wrong[0] if wrong else ''})"
        )
    try:
        model.load_state_dict(weights)
    except ValueError as error:
        raise CheckpointError(f"{path}: {error}") from None
    for name, variable in state.items():
        variable.set_value(values[name])
    return info
