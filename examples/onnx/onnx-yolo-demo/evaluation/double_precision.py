"""What single precision loses of a detector's output."""

import numpy as np

import pytensor
import pytensor.tensor as pt
from pytensor.graph.replace import clone_replace
from pytensor.link.jax.tuned import jax_mode
from pytensor.link.onnx.rounding import in_double_precision


def detections_in(dtype, model, images):
    """What a model computes from images, all in one precision, by JAX.

    Parameters
    ----------
    dtype : {"float32", "float64"}
    model : YOLO11n
        In float32; its numbers are taken as they are.
    images : float32 (n, 3, height, width), RGB in 0..1

    Returns
    -------
    ndarray of `dtype`, (n, 4 + classes, anchors)
        As `YOLO11n.decode` says.
    """
    import jax

    image = pt.tensor("image", dtype="float32", shape=(1, *images.shape[1:]))
    stored = list(model.store.all.values())
    arguments = [image, *(v.type(name=v.name) for v in stored)]
    decoded = model.decode(model(image))
    outputs = clone_replace([decoded], replace=dict(zip(stored, arguments[1:], strict=True)))
    if dtype == "float64":
        arguments, outputs = in_double_precision(arguments, outputs)
    values = [v.get_value().astype(dtype) for v in stored]
    # 64-bit types are off in a training; GPUs would shorten the factors of float32 products.
    with jax.enable_x64(dtype == "float64"), jax.default_matmul_precision("highest"):
        compute = pytensor.function(arguments, outputs, mode=jax_mode(), on_unused_input="ignore")
        rows = [compute(one[None].astype(dtype), *values)[0] for one in images]
        return np.concatenate([np.asarray(row) for row in rows])


def single_precision_error(model, images):
    """The largest errors of float32 in what a model computes from images.

    Parameters
    ----------
    model : YOLO11n
    images : float32 (n, 3, height, width), RGB in 0..1

    Returns
    -------
    box, score : float
        In pixels, and in probabilities.
    """
    exact = detections_in("float64", model, images)
    error = np.abs(detections_in("float32", model, images) - exact)
    return float(error[:, :4].max()), float(error[:, 4:].max())
