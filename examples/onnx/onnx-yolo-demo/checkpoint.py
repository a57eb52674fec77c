"""Checkpoints and weight files: safetensors, written atomically.

A weight file holds a model's arrays under the names of the state dict.  A checkpoint holds those,
and the state of optimizer and averages under their variables' names with the prefix ``state.``.
What isn't an array stands as JSON in the file's metadata.
"""

import json
import os
import tempfile
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
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _host(variable):
    return np.ascontiguousarray(np.asarray(variable.get_value(borrow=True)))


def save_weights(path, state_dict, info):
    """Write a weight file with `info`, a dict that JSON can say, as its metadata."""
    arrays = {name: np.ascontiguousarray(v) for name, v in state_dict.items()}
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
        If the file is missing, cut short or no safetensors file.
    """
    try:
        with safe_open(path, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            metadata = file.metadata() or {}
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such file") from None
    except (SafetensorError, OSError) as error:
        raise CheckpointError(
            f"{path}: cut short, or not a safetensors file ({error}); use an older one"
        ) from error
    return arrays, json.loads(metadata.get("info", "{}"))


def save_checkpoint(path, model, state, info):
    """Write the model's arrays, the shared variables in `state` and the dict `info`."""
    arrays = model.state_dict() | {STATE + name: _host(v) for name, v in state.items()}
    save_weights(path, arrays, info)


def load_checkpoint(path, model, state, settings):
    """Restore what `save_checkpoint` wrote.

    Parameters
    ----------
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
    wrong = [n for n, v in state.items() if n not in values or values[n].shape != v.type.shape]
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
