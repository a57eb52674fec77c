"""Access to the golden vectors of YOLO11n.

``golden/`` holds the core; the environment variable YOLO11N_GOLDEN may name a folder with the
full set, which some tests ask for.
"""

import json
import os
import zlib
from pathlib import Path

import numpy as np
import pytest

# Ends of names of parameters whose gradients are zero, mathematically: a batch normalization behind
# them removes any constant per channel.
ZERO = ("attn.pe.bn.bias", "attn.proj.bn.bias", "ffn.1.bn.bias")
CORE = Path(__file__).parent / "golden"
CALIBRATED = CORE / "bn_calib_nc2.npz"
LOW = {"platform": "cuda", "precision": "bf16"}
# What `jax_mode` is told: a processor's form, and a GPU's, which a processor runs here.
FORMS = [
    pytest.param({}, id="cpu"),
    pytest.param({"platform": "cuda"}, id="gpu"),
    pytest.param(LOW, id="gpu-bf16", marks=pytest.mark.long),
]
# For what is long in a GPU's form.
PROCESSOR, *_OTHERS = FORMS
PROCESSOR_FIRST = [
    PROCESSOR, *(pytest.param(*f.values, id=f.id, marks=pytest.mark.long) for f in _OTHERS)
]  # fmt: skip


def full(name):
    """Return the path of a file of the full set; skip the test where that isn't at hand."""
    folder = os.environ.get("YOLO11N_GOLDEN")
    if not folder:
        pytest.skip(f"{name} is not in the core set; YOLO11N_GOLDEN names no folder with it")
    return Path(folder) / name


def load_json(name):
    return json.loads((CORE / name).read_text())


def load_arrays(path):
    with np.load(path) as file:
        return dict(file)


def weight(name, shape):
    """Return the value that the golden vectors were computed with."""
    z = np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape)
    if name.endswith("dfl.conv.weight"):
        z = np.arange(16.0).reshape(shape)
    elif len(shape) == 4:
        z = z * np.sqrt(1 / np.prod(shape[1:]))
    elif name.endswith("bn.weight"):
        z = 1 + 0.1 * z
    elif name.endswith("running_var"):
        z = 1 + 0.1 * np.abs(z)
    else:
        z = 0.1 * z
    return z.astype(np.float32)


def assert_close(actual, expected, form, low, **exact):
    """Compare by the tolerances `exact`; in mixed precision by the error's share of the norm.

    At most `low`, about twice what a processor's mixed precision was seen to lose: with random
    weights, rounding alone turns deep layers and their gradients far; see test_precision.py.
    """
    if form == LOW:
        actual, expected = np.asarray(actual), np.asarray(expected)
        assert np.linalg.norm(actual - expected) < low * np.linalg.norm(expected), exact
    else:
        np.testing.assert_allclose(actual, expected, **exact)


def load_golden_weights(model, statistics=None):
    """Load the golden weights, and statistics that were calibrated with them, from a path."""
    state = {k: weight(k, v.shape) for k, v in model.state_dict().items()}
    model.load_state_dict(state | (load_arrays(statistics) if statistics else {}))


def images(batch=2, size=320):
    return np.random.default_rng(0).random((batch, 3, size, size), dtype=np.float32)


def targets(case, max_boxes, batch=2):
    """Return padded (boxes, classes, num_boxes) of a case in targets.json."""
    rows = np.array(load_json("targets.json")["cases"][case], dtype=np.float32).reshape(-1, 6)
    boxes = np.zeros((batch, max_boxes, 4), np.float32)
    classes = np.zeros((batch, max_boxes), np.int32)
    num_boxes = np.zeros(batch, np.int32)
    for image, label, *box in rows:
        k = num_boxes[int(image)]
        boxes[int(image), k], classes[int(image), k] = box, int(label)
        num_boxes[int(image)] += 1
    return boxes, classes, num_boxes
