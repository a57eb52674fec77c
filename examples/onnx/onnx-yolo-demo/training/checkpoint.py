"""Checkpoints and weight files: safetensors, written atomically.

A weight file holds a model's arrays under the names of the state dict.  A checkpoint holds those,
and the state of optimizer and averages under their variables' names with the prefix ``state.``.
What isn't an array is JSON in the file's metadata.
"""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from data.cache import part_of
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

STATE = "state."
LAST = "last.safetensors"  # a run goes on from it


class CheckpointError(Exception):
    """A checkpoint can't be read or written, or isn't one of this run."""


@dataclass
class Progress:
    """Where a run stands; saved with each checkpoint."""

    epoch: int = 0  # epochs finished
    iteration: int = 0  # batches of the run
    last_step: int = -1  # iteration of the latest step of the optimizer
    steps: int = 0
    best: float = -1.0  # mAP@0.5:0.95
    rows: list = field(default_factory=list)  # of results.csv
    # of the epoch that is running
    batch: int = 0
    sums: list = field(default_factory=lambda: [0.0] * 3)  # of the losses
    seconds: float = 0.0
    waited: float = 0.0  # seconds without a batch

    def next_batch(self, stepped):
        """Count a batch, and the optimizer's step if it made one."""
        if stepped:
            self.last_step = self.iteration
            self.steps += 1
        self.iteration += 1
        self.batch += 1

    def next_epoch(self, row):
        """Close the running epoch with its row of results.csv."""
        self.rows.append(row)
        self.epoch += 1
        self.batch, self.sums, self.seconds, self.waited = 0, [0.0] * 3, 0.0, 0.0


# ------------------------------------------------------------------------------ files


def write_atomically(path, data):
    """Write bytes so that `path` always holds the old file or the new one, whole."""
    with part_of(Path(path)) as part, part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def to_bytes(path, arrays, info):
    """Return the content of a weight file; `info`, a dict that JSON can say, is its metadata.

    A CheckpointError says which array isn't finite: what `path` holds is worth more then.
    """
    # ascontiguousarray would make scalars one-dimensional
    arrays = {name: np.asarray(v, order="C") for name, v in arrays.items()}
    broken = [name for name, v in arrays.items() if not np.isfinite(v).all()]
    if broken:
        raise CheckpointError(
            f"{path} is not written: {broken[0]} and {len(broken) - 1} other arrays are not "
            "finite; try a lower --lr"
        )
    return save(arrays, metadata={"info": json.dumps(info)})


def save_weights(path, state_dict, info):
    """Write a weight file: arrays by name, and a dict that JSON can say."""
    write_atomically(path, to_bytes(path, state_dict, info))


# Known as real; they have seen photographs. weights/README.md describes them.
REAL_SIZE = "n"
REAL_WEIGHTS = Path(__file__).parents[1] / "weights" / "real.safetensors"


def weights_path(given):
    """Return the path of weights that a user names; ``real`` are the repository's."""
    return REAL_WEIGHTS if str(given) == "real" else Path(given)


def load_weights(path):
    """Read (arrays by name, info) of a weight file; info is empty where the file has none."""
    if Path(path).suffix.lower() in (".pt", ".pth"):
        raise CheckpointError(
            f"{path}: a pickle, which isn't read; the line under 'Weights to start from' in "
            "docs/tutorials/own_pictures.md turns it into .safetensors"
        )
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


# ------------------------------------------------------------------------------ a run's state


def snapshot(model, state):
    """Return the arrays of a checkpoint by name: the model's, and the variables in `state`."""
    values = {STATE + name: v.get_value(borrow=True) for name, v in state.items()}
    # copied, for a backend may use an array's memory again
    return {name: np.array(v) for name, v in (model.state_dict() | values).items()}


# Why a run can't go on with other values of these.
_FIXED = {
    "epochs": "the learning rates follow the length of the run",
    "labels": "pictures or labels of the training set have changed since the run began",
}


def check_settings(path, saved, settings, names):
    """Raise a CheckpointError if settings with these names differ from a checkpoint's."""
    different = [name for name in sorted(names) if saved.get(name) != settings.get(name)]
    if different:
        said = [f"{n} {saved.get(n)!r} instead of {settings.get(n)!r}" for n in different]
        said += [reason for name, reason in _FIXED.items() if name in different]
        raise CheckpointError(
            f"{path}: made with other settings: {'; '.join(said)}; repeat the run's options, which "
            f"are in settings.json, or start another run from its weights: --weights "
            f"{path.with_name('best.safetensors')}"
        )


def load_checkpoint(path, model, state, settings):
    """Set the model and the shared variables in `state` to what a checkpoint holds; its `info`.

    Nothing is set where the file belongs to another model or other settings: a run resumed with
    others would not be that run.
    """
    arrays, info = load_weights(path)
    if "settings" not in info:
        raise CheckpointError(f"{path}: a weight file, not a checkpoint; it has no training state")
    saved = info["settings"]
    if "labels" not in saved:  # checkpoints of before they were compared
        settings = {name: value for name, value in settings.items() if name != "labels"}
    check_settings(path, saved, settings, saved.keys() | settings.keys())
    weights = {k: v for k, v in arrays.items() if not k.startswith(STATE)}
    values = {k.removeprefix(STATE): v for k, v in arrays.items() if k.startswith(STATE)}

    def form(value):
        return value.dtype, value.shape

    expected = {name: v.get_value(borrow=True) for name, v in state.items()}
    if {k: form(v) for k, v in values.items()} != {k: form(v) for k, v in expected.items()}:
        raise CheckpointError(
            f"{path}: its optimizer state doesn't fit this run ({len(values)} arrays, the run has "
            f"{len(state)})"
        )
    try:
        model.load_state_dict(weights)
    except ValueError as error:
        raise CheckpointError(f"{path}: {error}") from None
    for name, variable in state.items():
        variable.set_value(values[name])
    return info
