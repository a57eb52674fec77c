"""Trained detectors behind one interface: PyTensor's weights, and ONNX files.

A detector maps uint8 (batch, 3, size, size), RGB, to decoded float32 (batch, 4 + classes, anchors).
It has `classes`, the names in the order of the scores, and the `image_size` and `batch_size` of
what a call takes.
"""

import ast
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from data.images import letterbox
from data.loader import val_batches
from tqdm import tqdm
from utils import nms, scale_detections

ONNX_FLOATS = {"tensor(float)": np.float32, "tensor(float16)": np.float16}


class Suppression(NamedTuple):
    """Which predictions become detections; see `utils.nms`."""

    confidence: float | np.ndarray  # or one for each class
    iou: float
    multi_label: bool = False


AS_VALIDATION = Suppression(0.001, 0.7, multi_label=True)


class ModelError(Exception):
    """A model file that isn't a detector, or can't be run as asked for."""


class PyTensorDetector:
    """Weights or a checkpoint's averaged weights, run by PyTensor through JAX."""

    def __init__(self, path, image_size=None, batch_size=16):
        # Imported here, so that an ONNX file is evaluated without PyTensor.
        from training.train_step import compile_detector
        from training.weights import load_model

        model, info = load_model(path)
        if image_size is None and "image_size" not in info:
            raise ModelError(f"{path} says no image size; give --image-size")
        self.classes = list(info["classes"])
        self.image_size = image_size or info["image_size"]
        self.batch_size = batch_size
        self._run = compile_detector(model, self.image_size, batch_size)

    def __call__(self, images):
        return np.asarray(self._run(images))


class OnnxDetector:
    """An ONNX file of one float input and decoded predictions, run by onnxruntime on the CPU.

    The metadata say the classes (``names``), and the size where the input leaves it open
    (``imgsz``).  `batch_size` is used if the file leaves the batch open.  `optimizations` names
    a level of onnxruntime, by default the highest.
    """

    def __init__(self, path, image_size=None, batch_size=16, optimizations="ORT_ENABLE_ALL"):
        self._session = open_session(path, optimizations)
        image, *others = self._session.get_inputs()
        channels = image.shape[1] if len(image.shape) == 4 else 0
        of_images = channels == 3 or isinstance(channels, str | None)  # or open
        if others or not of_images or image.type not in ONNX_FLOATS:
            raise ModelError(
                f"{path} takes {image.name}: {image.type} {image.shape} and {len(others)} more "
                "inputs; a detector takes one float image tensor of shape (batch, 3, height, width)"
            )
        metadata = self._session.get_modelmeta().custom_metadata_map
        try:
            names, said = (ast.literal_eval(metadata.get(k, "None")) for k in ("names", "imgsz"))
            self.classes = [str(names[k]) for k in range(len(names))]
        except (ValueError, SyntaxError, TypeError, LookupError):
            raise ModelError(
                f"{path} has no names of its classes, as {{0: 'person', ...}}, in its metadata: "
                "export it with export.py"
            ) from None
        batch, _, *sides = (d if isinstance(d, int) else None for d in image.shape)
        fixed = None not in sides
        if not fixed and said is None:
            if image_size is None:
                raise ModelError(f"{path} says no image size; give --image-size")
            said = [image_size] * 2
        sides = sides if fixed else said
        if not isinstance(sides, list) or len(sides) != 2 or sides[0] != sides[1]:
            raise ModelError(f"{path} takes images of {sides}; only squares are offered")
        if fixed and image_size not in (None, sides[0]):
            raise ModelError(
                f"{path} is fixed to images of {sides[0]} px, not {image_size}: leave "
                "--image-size out, or export the model anew"
            )
        self.input_name, self._float = image.name, ONNX_FLOATS[image.type]
        self.batch_size, self.image_size = batch or batch_size, image_size or sides[0]
        rows, shape = 4 + len(names), self._session.get_outputs()[0].shape
        if len(shape) != 3 or (isinstance(shape[1], int) and shape[1] != rows):
            raise ModelError(
                f"{path} has an output of shape {shape}, not (batch, {rows}, anchors) for the "
                f"classes {', '.join(self.classes)}"
            )

    def __call__(self, images):
        inputs = {self.input_name: images.astype(self._float) / self._float(255)}
        return self._session.run(None, inputs)[0].astype(np.float32)


def open_session(path, optimizations="ORT_ENABLE_ALL"):
    """Open an ONNX file with onnxruntime; ModelError, with the reason, if it can't be."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    level = getattr(onnxruntime.GraphOptimizationLevel, optimizations)
    options.graph_optimization_level = level
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions have no class in common
        raise ModelError(f"{path}: not an ONNX model that onnxruntime runs ({error})") from None


def open_detector(path, image_size=None, batch_size=16):
    """Open a model by its suffix, ``.safetensors`` or ``.onnx``, at its own size by default."""
    kinds = {".onnx": OnnxDetector, ".safetensors": PyTensorDetector}
    kind = kinds.get(Path(path).suffix.lower())
    if kind is None:
        raise ModelError(f"{path}: a model is a .safetensors or an .onnx file")
    return kind(path, image_size, batch_size)


def class_confidences(texts, classes):
    """Return the least score of each class, float64 (classes,).

    `texts` are numbers, which are for all classes, or ``NAME=NUMBER``; a later one replaces an
    earlier one. Classes that none is for have 0.25. ValueError if a text is neither, or out of
    (0, 1).
    """
    least = dict.fromkeys(classes, 0.25)
    for text in texts:
        name, _, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not 0 < value < 1 or (name and name not in least):
            raise ValueError(
                f"confidence {text!r}: give a number between 0 and 1, or CLASS=NUMBER with a class "
                f"of {', '.join(classes)}"
            )
        least |= dict.fromkeys([name] if name else classes, value)
    return np.array([*least.values()])


def detect_in(detector, pixels, confidence, iou):
    """Detect in a uint8 (height, width, 3) picture; return (n, 6): corners, score, class.

    The detector must take a batch of one image.
    """
    square, geometry = letterbox(pixels, detector.image_size)
    decoded = detector(square.transpose(2, 0, 1)[None])[0]
    return scale_detections(nms(decoded, confidence, iou, multi_label=False), geometry)


def detect(
    detector, dataset, batch_size, progress=False, places=None, suppression=AS_VALIDATION
):  # fmt: skip
    """Run a detector, or a function like one, over a `Dataset`, by default as in validation.

    With `places`, a range, only over the images at these.  Returns arrays (n, 6) by image id: x1,
    y1, x2, y2 in pixels of the original picture, score, class index.
    """
    return detect_by([suppression], detector, dataset, batch_size, progress, places)[0]


def detect_by(suppressions, detector, dataset, batch_size, progress=False, places=None):
    """Return what `detect` returns for each of several ways of suppression, by one run."""
    places = range(len(dataset)) if places is None else places
    batches = val_batches(dataset, batch_size, places)
    count = math.ceil(len(places) / batch_size)
    found = [{} for _ in suppressions]
    for batch in tqdm(batches, total=count, unit="batch", disable=None if progress else True):
        decoded = np.asarray(detector(batch.images))
        # Images that fill up the last batch have no id.
        for predictions, image_id, geometry in zip(
            decoded, batch.image_ids, batch.geometries, strict=False
        ):
            for own, way in zip(found, suppressions, strict=True):
                kept = nms(predictions, way.confidence, way.iou, multi_label=way.multi_label)
                own[image_id] = scale_detections(kept, geometry)
    return found
