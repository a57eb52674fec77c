"""A detector of random weights that finds much, and the files it is written to."""

import export
import numpy as np
import pytest
from model import YOLO11n
from training.checkpoint import save_weights

from tests.examples import yolo11n_golden as golden
from tests.examples.conftest import CLASSES

SIZE = 64


@pytest.fixture(scope="session")
def finder():
    """Build a detector of small boxes that don't jump with logits, and scores from 0 to 1."""
    model = YOLO11n(len(CLASSES))
    golden.load_golden_weights(model, golden.CALIBRATED)
    state = model.state_dict()
    for level in range(3):
        box, label = f"model.23.cv2.{level}.2", f"model.23.cv3.{level}.2"
        bins = np.tile(np.arange(16, dtype=np.float32), 4)
        state[f"{box}.bias"] = state[f"{box}.bias"] - np.float32(1.5) * bins
        state[f"{label}.bias"] = state[f"{label}.bias"] - np.float32(1)
        state[f"{box}.weight"] = state[f"{box}.weight"] * np.float32(0.03)
        state[f"{label}.weight"] = state[f"{label}.weight"] * np.float32(0.1)
    model.load_state_dict(state)
    return model


@pytest.fixture(scope="session")
def finder_weights(finder, tmp_path_factory):
    path = tmp_path_factory.mktemp("finder") / "best.safetensors"
    info = {"classes": CLASSES, "image_size": SIZE, "class_width": finder.class_width}
    save_weights(path, finder.state_dict(), info)
    return path


@pytest.fixture(scope="session")
def finder_onnx(finder, tmp_path_factory):
    """Export it, with the number of images left open."""
    path = tmp_path_factory.mktemp("finder") / "open.onnx"
    export.export_detector(finder, path, CLASSES, SIZE, batch_size=None)
    return path


@pytest.fixture(scope="session")
def finder_onnx_of_one(finder, tmp_path_factory):
    path = tmp_path_factory.mktemp("finder") / "one.onnx"
    export.export_detector(finder, path, CLASSES, SIZE)
    return path
