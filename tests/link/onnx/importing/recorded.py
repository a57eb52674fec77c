"""Networks that torch, scikit-learn's converter and jax2onnx wrote, with inputs and gradients.

The files are made by make_networks.py.
"""

from functools import cache
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "networks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.onnx"))


@cache
def _all_recorded():
    found = {}
    with np.load(FOLDER / "gradients.npz") as file:
        for key, value in file.items():
            network, _, what = key.partition("/")
            found.setdefault(network, {})[what] = value
    return found


def recorded(name):
    """Return the inputs of a file's network, the gradient of one, and that of a weight.

    They are the same for all exporters.
    """
    return _all_recorded()[name.partition("_")[2]]


def inputs_of(name):
    """Return the inputs that were recorded; for scikit-learn's models rows like irises."""
    if name.startswith("sklearn"):
        low, high = [4, 2, 1, 0], [8, 4.4, 7, 2.5]
        return [np.random.default_rng(0).uniform(low, high, (50, 4)).astype("float32")]
    return [value for key, value in recorded(name).items() if key.startswith("input_")]
