"""Trained detectors behind one interface: PyTensor's weights, and ONNX files."""

import ast
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from training.checkpoint import STATE, load_weights

AVERAGE = ".ema"  # end of the names of averaged arrays in a checkpoint
ONNX_FLOATS = {"tensor(float)": np.float32, "tensor(float16)": np.float16}


class ModelError(Exception):
    """A model file isn't a detector that can be run as asked for."""


class PyTensorDetector:
    """A weight file or checkpoint of train_yolo11n.py, run by PyTensor through JAX.

    Parameters
    ----------
    path : path-like
        A checkpoint's averaged weights are used where it holds them.
    image_size : int, optional
        What it was trained at by default.
    batch_size : int

    Attributes
    ----------
    classes : list of str
        In the order of the class scores.
    image_size, batch_size : int
        Of the images that a call takes.
    averaged : bool
        Whether the weights are a checkpoint's averages.

    Raises
    ------
    CheckpointError, ModelError
        If the file can't be read or says no image size where none is given.
    """

    def __init__(self, path, image_size=None, batch_size=16):
        # Here, as an ONNX file is evaluated without PyTensor.
        from export import load_model
        from training.parts import compile_detector

        model, info = load_model(path)
        averages = {
            name.removeprefix(STATE).removesuffix(AVERAGE): value
            for name, value in load_weights(path)[0].items()
            if name.startswith(STATE) and name.endswith(AVERAGE)
        }
        if averages:
            model.load_state_dict(model.state_dict() | averages)
        if image_size is None and "image_size" not in info:
            raise ModelError(f"{path} says no image size; give --image-size")
        self.averaged = bool(averages)
        self.classes = list(info["classes"])
        self.image_size = image_size or info["image_size"]
        self.batch_size = batch_size
        self._run = compile_detector(model, self.image_size, batch_size)

    def prepare(self, images):
        """What `__call__` takes, of uint8 (batch, 3, size, size): the same."""
        return images

    def __call__(self, images):
        """Decoded float32 predictions (batch, 4 + classes, anchors)."""
        return np.asarray(self._run(images))


class OnnxDetector:
    """An ONNX file with an output of decoded predictions, run by onnxruntime on the CPU.

    Parameters
    ----------
    path : path-like
        Input (batch, 3, size, size), RGB in 0..1, float32 or float16; first output (batch,
        4 + classes, anchors). Names of the classes, and the size where the input leaves it open,
        are in the metadata (``names``, ``imgsz``).
    image_size : int, optional
        Needed if neither input nor metadata say it. An error if the file is fixed to another.
    batch_size : int
        Used if the file leaves the batch open, else what it is fixed to.
    classes : sequence of str, optional
        Names of all its classes in order, where the metadata name none.

    Attributes
    ----------
    classes, image_size, batch_size, averaged
        As of PyTensorDetector.

    Raises
    ------
    ModelError
        If the file is missing, isn't ONNX, or is no such detector.
    """

    def __init__(self, path, image_size=None, batch_size=16, classes=None):
        self.path, self.averaged = path, False
        self._session = open_session(path)
        metadata = self._session.get_modelmeta().custom_metadata_map
        image = self._check_input()
        self._input, self._dtype = image.name, ONNX_FLOATS[image.type]
        batch, _, *sides = (d if isinstance(d, int) else None for d in image.shape)
        self.image_size = self._choose_size(sides, metadata, image_size)
        self.batch_size = batch or batch_size
        self._output = self._session.get_outputs()[0]
        self.classes = self._choose_names(metadata, classes)

    def _check_input(self):
        inputs = self._session.get_inputs()
        if len(inputs) != 1 or len(inputs[0].shape) != 4 or inputs[0].type not in ONNX_FLOATS:
            found = ", ".join(f"{i.name}: {i.type} {i.shape}" for i in inputs)
            raise ModelError(
                f"{self.path} has the input {found}; a detector takes one float image tensor of "
                "four dimensions"
            )
        return inputs[0]

    def _choose_size(self, sides, metadata, wanted):
        said = _literal(self.path, metadata, "imgsz", list)
        fixed = None not in sides
        sides = sides if fixed else said or [wanted, wanted]
        if len(sides) != 2 or sides[0] != sides[1]:
            raise ModelError(f"{self.path} takes images of {sides}; only squares are offered")
        if sides[0] is None:
            raise ModelError(f"{self.path} says no image size; give --image-size")
        if fixed and wanted not in (None, sides[0]):
            raise ModelError(
                f"{self.path} is fixed to images of {sides[0]} px, not {wanted}: leave "
                "--image-size out, or export the model anew"
            )
        return wanted or sides[0]

    def _choose_names(self, metadata, classes):
        rows = self._output.shape[1] if len(self._output.shape) == 3 else None
        if len(self._output.shape) != 3 or (isinstance(rows, int) and rows < 5):
            raise ModelError(
                f"{self.path} has an output {self._output.name} of shape {self._output.shape}, "
                "not (batch, 4 + classes, anchors)"
            )
        names = _literal(self.path, metadata, "names", dict)
        if names is None:
            if classes is None:
                raise ModelError(
                    f"{self.path} names no classes in its metadata; give --classes with all of "
                    "them in the order of its scores"
                )
            names = dict(enumerate(classes))
        if sorted(names) != list(range(len(names))) or (
            isinstance(rows, int) and rows != 4 + len(names)
        ):
            raise ModelError(
                f"{self.path} has {len(names)} class names ({names}), which don't fit its output "
                f"of shape {self._output.shape}"
            )
        return [str(names[k]) for k in range(len(names))]

    def prepare(self, images):
        """What `__call__` takes, of uint8 (batch, 3, size, size): floats in 0..1."""
        return images.astype(self._dtype) / self._dtype(255)

    def __call__(self, images):
        """Decoded float32 predictions (batch, 4 + classes, anchors)."""
        decoded = self._session.run([self._output.name], {self._input: images})[0]
        wanted = len(images), 4 + len(self.classes)
        if decoded.shape[:2] != wanted:
            raise ModelError(
                f"{self.path} returns an array of shape {decoded.shape}, not "
                f"({wanted[0]}, {wanted[1]}, anchors), for {len(self.classes)} classes"
            )
        return decoded.astype(np.float32)


def open_session(path):
    """Open an ONNX file with onnxruntime; what is wrong with it is an ModelError."""
    if find_spec("onnxruntime") is None:
        raise ModelError(f"{path}: an ONNX file needs the package onnxruntime")
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as errors

    if not Path(path).is_file():
        raise ModelError(f"{path}: no such file")
    broken = (
        errors.Fail,
        errors.InvalidArgument,
        errors.InvalidGraph,
        errors.InvalidProtobuf,
        errors.NoModel,
        errors.NotImplemented,
        errors.RuntimeException,
    )
    try:
        return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except broken as error:
        raise ModelError(f"{path}: not an ONNX model that onnxruntime runs ({error})") from None


def _literal(path, metadata, key, kind):
    """A Python literal of the metadata; None if it is absent."""
    if key not in metadata:
        return None
    try:
        value = ast.literal_eval(metadata[key])
    except (ValueError, SyntaxError):
        value = None
    if not isinstance(value, kind):
        raise ModelError(f"{path}: its metadata say {key} = {metadata[key]!r}, not a {kind}")
    return value


def open_detector(path, image_size=None, batch_size=16, classes=None):
    """Open a model by its suffix: ``.safetensors`` or ``.onnx``; see the two classes."""
    kind = Path(path).suffix.lower()
    if kind == ".onnx":
        return OnnxDetector(path, image_size, batch_size, classes)
    if kind == ".safetensors":
        return PyTensorDetector(path, image_size, batch_size)
    raise ModelError(f"{path}: a model is a .safetensors or an .onnx file")


def choose_classes(path, names, wanted):
    """Rows of the class scores for the `wanted` names, all by default.

    Raises
    ------
    ModelError
        If the model lacks a name, or has one twice.
    """
    if len(set(names)) < len(names):
        raise ModelError(f"{path} has a class name twice: {', '.join(names)}")
    wanted = names if wanted is None else wanted
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise ModelError(
            f"{path} doesn't detect {', '.join(unknown)}; its classes are {', '.join(names)}"
        )
    return [names.index(name) for name in wanted]
