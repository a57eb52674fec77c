"""Ten models as exporters write them, with inputs, for the comparison of runtimes."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx, quantize_int8
from pytensor.link.onnx.compare.graph import Model
from tests.link.onnx.importing.recorded import FOLDER, inputs_of

FILES = (
    "torch_resnet18",
    "torch_unet",
    "torch_transformer",
    "torch_lstm",
    "torchscript_transformer",
    "jax_convolutional",
    "sklearn_mlp",
)


def of_file(name):
    model = Model.read(str(FOLDER / f"{name}.onnx"))
    return model, dict(zip(model.inputs, inputs_of(name), strict=True))


def parameter(rng, name, *shape):
    value = rng.normal(size=shape) / np.sqrt(np.prod(shape[1:]))
    return pytensor.shared(value.astype("float32"), name=name)


def ours():
    """Export a small convolutional network."""
    rng = np.random.default_rng(0)
    x = pt.tensor("x", shape=(2, 3, 12, 12), dtype="float32")
    h = pt.silu(pt.conv2d(x, parameter(rng, "conv", 16, 3, 3, 3), border_mode="half"))
    h = pt.nn.max_pool2d(h, 2)
    h = pt.nn.relu(pt.conv2d(h, parameter(rng, "deep", 16, 16, 3, 3), border_mode="half"))
    y = pt.special.softmax(h.flatten(2) @ parameter(rng, "dense", 16 * 36, 8), axis=1)
    return export_onnx([x], [y]), {"x": rng.normal(size=(2, 3, 12, 12)).astype("float32")}


def scaled():
    """Export what only scales and selects: small numbers come out of it as they went in."""
    x = pt.tensor("x", shape=(2, 3, 8, 8), dtype="float32")
    y = pt.nn.max_pool2d(pt.nn.relu(x * np.float32(0.75)), 2) - x[:, :, ::2, ::2]
    values = np.random.default_rng(0).normal(size=(2, 3, 8, 8)) * 1e-38
    return export_onnx([x], [y]), {"x": values.astype("float32")}


def int8():
    """Quantize the small network, weights and activations."""
    model, inputs = ours()
    rng = np.random.default_rng(1)
    samples = [{"x": rng.normal(size=(2, 3, 12, 12)).astype("float32")} for _ in range(4)]
    small = quantize_int8(model, calibration=samples, sample=samples[0], tolerance=0.1)
    return small, inputs


def detector():
    """Export the detector for pictures of 64 pixels."""
    from tests.examples.yolo11n.page.detectors import yolo_onnx

    with TemporaryDirectory() as folder:
        proto = onnx.load(yolo_onnx(Path(folder, "detector.onnx")))
    pixels = np.random.default_rng(0).uniform(size=(1, 3, 64, 64))
    return proto, {"images": pixels.astype("float32")}


@cache
def public_model(name):
    """Return a model by name, and its inputs."""
    if name in FILES:
        return of_file(name)
    proto, inputs = OURS[name]()
    assert isinstance(proto, onnx.ModelProto)
    return Model(proto), inputs


OURS = {"ours": ours, "scaled": scaled, "int8": int8, "detector": detector}
NAMES = (*FILES, *OURS)
