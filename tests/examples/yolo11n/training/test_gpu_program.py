"""The program of the whole training step that a GPU gets, before XLA optimizes it."""

import numpy as np
import pytest
from model import YOLO11n
from training.train_step import DeviceImages, TrainStep

from pytensor.link.jax import jax_mode
from tests.link.jax.programs import faults

pytestmark = [pytest.mark.training, pytest.mark.slow]
SIZE, BATCH, BOXES = 64, 4, 4


def test_the_step():
    """No float64, nothing from the host, products in bfloat16, images as they lie, all donated."""
    images = DeviceImages(np.zeros((3, SIZE, SIZE, 3), np.uint8), SIZE, BATCH)
    mode = jax_mode(donate=True, precision="bf16", cpu_kernels=True, platform="cuda")
    step = TrainStep(YOLO11n(2), SIZE, BATCH, BOXES, 5e-4, mode=mode, images=images)
    assert faults(step._step) == {}
