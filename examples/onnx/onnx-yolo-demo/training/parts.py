"""What trains and validates YOLO11n: the parts by name, and the detector of validation."""

import numpy as np
from data.loader import val_batches
from model import YOLO11n
from training.recipe import Recipe, StepSettings, resolve
from training.train_step import (
    LOSS_PARTS,
    DeviceImages,
    HostImages,
    TrainStep,
    image_input,
    to_float,
    training_mode,
)
from utils import nms, scale_detections

import pytensor
from pytensor.link.jax.prefetch import IdleClock, prefetch
from pytensor.link.jax.tuned import jax_mode
from pytensor.optimizers import EarlyStopping

__all__ = [
    "LOSS_PARTS",
    "DeviceImages",
    "EarlyStopping",
    "HostImages",
    "IdleClock",
    "Recipe",
    "StepSettings",
    "TrainStep",
    "compile_detector",
    "detect",
    "prefetch",
    "resolve",
    "training_mode",
    "with_averages",
]


def compile_detector(model, image_size, batch_size, averages=None, mode="JAX"):
    """Compile uint8 images (batch, 3, size, size) -> float32 (batch, 4 + classes, anchors).

    Parameters
    ----------
    averages : dict of str to shared variable, optional
        Used in place of the model's own parameters and statistics, by name.
    mode : Mode or str
        "JAX" is `pytensor.link.jax.tuned.jax_mode`; any other name is PyTensor's own mode.
    """
    images = image_input(image_size, batch_size)
    decoded = model.decode(model(to_float(images)))
    givens = []
    if averages is not None:
        variables = model.store.trainable | model.store.statistics
        givens = [(variables[name], average) for name, average in averages.items()]
    mode = jax_mode() if mode == "JAX" else mode
    return pytensor.function([images], decoded, givens=givens, mode=mode, trust_input=True)


def detect(
    detector, dataset, batch_size, confidence=0.001, iou=0.7, max_detections=300, rows=slice(None)
):
    """Run a compiled detector over a dataset.

    Parameters
    ----------
    detector : callable
        Takes the images of a batch, uint8 (batch, 3, size, size); returns the predictions for
        them, (batch, 4 + classes, anchors).
    dataset : Dataset
    batch_size : int
    confidence, iou : float
    max_detections : int
        See `nms`.
    rows : slice
        Of each batch, given to `detector`: those of one process, where several share the work.

    Returns
    -------
    dict of int to float array (n, 6)
        By image id: x1, y1, x2, y2 in pixels of the original picture, score, class index.
    """
    found = {}
    for batch in val_batches(dataset, batch_size):
        decoded = np.asarray(detector(batch.images[rows]))
        # Those that fill up the last batch have no id. It may be that `rows` has none but them.
        for predictions, image_id, geometry in zip(
            decoded, batch.image_ids[rows], batch.geometries[rows], strict=False
        ):
            kept = nms(predictions, confidence, iou, max_detections, multi_label=True)
            found[image_id] = scale_detections(kept, geometry)
    return found


def with_averages(model, averages):
    """Return a copy of the model that holds the averaged weights."""
    copy = YOLO11n(model.num_classes, class_width=model.class_width)
    state = model.state_dict()
    state |= {name: np.asarray(v.get_value(borrow=True)) for name, v in averages.items()}
    copy.load_state_dict(state)
    return copy
