"""Trained detectors behind one interface: PyTensor's weights, and ONNX files.

A detector maps uint8 (batch, 3, size, size), RGB, to decoded float32 (batch, 4 + classes, anchors).
It has `classes`, the names in the order of the scores, the `image_size` and `batch_size` of
what a call takes, the `suppression` that makes detections of its predictions, and `upper_left`,
whether pictures must be in that corner of their squares.
"""

import ast
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from data.images import FILL, letterbox
from data.listing import choose_classes, read_names
from evaluation.forms import COCO_CLASSES, FORMS
from tqdm import tqdm
from training.checkpoint import weights_path
from utils import MAX_DETECTIONS, MOST_DRAWN, nms, scale_detections, suppressed

# Of a model that doesn't say its thresholds: of the score, and of the overlap of two boxes.
CONFIDENCE, IOU = 0.25, 0.45
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

    upper_left = False

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
        self.suppression = Suppression(np.full(len(self.classes), CONFIDENCE), IOU)
        self._run = compile_detector(model, self.image_size, batch_size)

    def __call__(self, images):
        return np.asarray(self._run(images))


class OnnxDetector:
    """An ONNX file of one float input and one output of `FORMS`, run by onnxruntime on the CPU.

    The metadata say the classes (``names``), the size where the input leaves it open (``imgsz``),
    and the thresholds; see `suppression_of`.  `names` replaces the former, and without either, 80
    classes are COCO's.  `batch_size` is used if the file leaves the batch open.  `optimizations`
    names a level of onnxruntime, by default the highest.  `form` is a name of `FORMS`; by default
    the output's shape tells.
    """

    def __init__(
        self, path, image_size=None, batch_size=16, optimizations="ORT_ENABLE_ALL", form=None,
        names=None,
    ):  # fmt: skip
        self._session = open_session(path, optimizations)
        image, *others = self._session.get_inputs()
        channels = image.shape[1] if len(image.shape) == 4 else 0
        of_images = channels == 3 or isinstance(channels, str | None)  # or open
        if others or not of_images or image.type not in ONNX_FLOATS:
            raise ModelError(
                f"{path} takes {image.name}: {image.type} {image.shape} and {len(others)} more "
                "inputs; a detector takes one float image tensor of shape (batch, 3, height, width)"
            )
        batch, _, *sides = (d if isinstance(d, int) else None for d in image.shape)
        said = self._said(path, "imgsz")
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
                "--image-size out, or export the model again"
            )
        self.input_name, self._float = image.name, ONNX_FLOATS[image.type]
        self.batch_size, self.image_size = batch or batch_size, image_size or sides[0]
        shape = self._output_shape()
        self.classes = list(names) if names is not None else self._names(path, shape)
        self._form = self._form_of(path, shape, form)
        self.upper_left = self._form.upper_left
        metadata = self._session.get_modelmeta().custom_metadata_map
        try:
            self.suppression = suppression_of(metadata, self.classes)
        except ValueError as error:
            raise ModelError(f"{path}: {error}") from error

    def __call__(self, images):
        output = self._run(self._form.inputs(images))
        return self._form.predictions(output.astype(np.float32), self.image_size)

    def _run(self, inputs):
        return self._session.run(None, {self.input_name: inputs.astype(self._float)})[0]

    def _said(self, path, key):
        """Return what the metadata say as a Python literal; None if they don't."""
        text = self._session.get_modelmeta().custom_metadata_map.get(key)
        try:
            return None if text is None else ast.literal_eval(text)
        except (ValueError, SyntaxError):
            raise ModelError(
                f"{path}: {key} in its metadata is {text!r}, which is no Python literal: export it "
                "with export.py"
            ) from None

    def _output_shape(self):
        """Return the output's shape: where the file leaves the last two open, by running it."""
        shape = self._session.get_outputs()[0].shape
        if len(shape) == 3 and not all(isinstance(side, int) for side in shape[1:]):
            grey = np.full((self.batch_size, 3, *[self.image_size] * 2), FILL / 255, np.float32)
            shape = self._run(grey).shape
        return tuple(shape)

    def _names(self, path, shape):
        """Return the class names that the metadata say; COCO's if the output has 80 unnamed."""
        names = self._said(path, "names")
        if names is None and any(
            each.fits(shape, len(COCO_CLASSES), self.image_size) for each in FORMS.values()
        ):
            return list(COCO_CLASSES)
        try:
            return [str(names[k]) for k in range(len(names))]
        except (TypeError, LookupError):
            raise ModelError(
                f"{path} has no names of its classes, as {{0: 'person', ...}}, in its metadata: "
                "export it with export.py, or give --names FILE"
            ) from None

    def _form_of(self, path, shape, form):
        """Return the form of the output, of `FORMS`; ModelError if none or several fit."""
        count, known = len(self.classes), [FORMS[form]] if form else [*FORMS.values()]
        fit = [each for each in known if each.fits(shape, count, self.image_size)]
        if not fit:
            texts = [
                f"({', '.join(map(str, each.shape(count, self.image_size)))}) of {each.name}"
                for each in known
            ]
            raise ModelError(
                f"{path} has an output of shape {shape}, not {' or '.join(texts)} for images of "
                f"{self.image_size} px and the classes {', '.join(self.classes)}"
            )
        if len(fit) > 1:
            raise ModelError(
                f"{path} has an output of shape {shape}, which is that of several forms: give "
                f"--form {' or '.join(form.name for form in fit)}"
            )
        return fit[0]


class _Part:
    """A detector that finds only some of another's classes."""

    def __init__(self, detector, classes):
        self._detector, self.classes = detector, classes
        self._rows = [0, 1, 2, 3, *(4 + detector.classes.index(name) for name in classes)]
        self.image_size, self.batch_size = detector.image_size, detector.batch_size
        self.upper_left = detector.upper_left
        least, own = detector.suppression.confidence, [row - 4 for row in self._rows[4:]]
        self.suppression = detector.suppression._replace(confidence=least[own])

    def __call__(self, images):
        return self._detector(images)[:, self._rows]


def open_session(path, optimizations="ORT_ENABLE_ALL"):
    """Open an ONNX file with onnxruntime; ModelError, with the reason, if it can't be.

    Sums of 8-bit products are exact, as in WebAssembly; see `pytensor.link.onnx.quantize_int8`.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    level = getattr(onnxruntime.GraphOptimizationLevel, optimizations)
    options.graph_optimization_level = level
    options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's exceptions have no class in common
        raise ModelError(f"{path}: not an ONNX model that onnxruntime runs ({error})") from None


def add_model_options(add):
    """Add the command line's options that `open_detector` takes as `form`, `names`, `classes`."""
    add("--form", choices=sorted(FORMS), help="of an ONNX file's output; default: by its shape")
    add("--names", type=Path, metavar="FILE",
        help="class names of an ONNX file, one a line; default: its own, or COCO's 80")  # fmt: skip
    add("--classes", nargs="+", metavar="CLASS", help="those to find; default: all of the model")


def open_detector(path, image_size=None, batch_size=16, form=None, names=None, classes=None):
    """Open a model by its suffix, ``.safetensors`` or ``.onnx``, at its own size by default.

    `form` and `names`, a file with one name a line, are for ONNX files: see `OnnxDetector`. With
    `classes` the detector finds only these, in their order.
    """
    path = weights_path(path)
    kinds = {".onnx": OnnxDetector, ".safetensors": PyTensorDetector}
    kinds |= dict.fromkeys((".pt", ".pth"), PyTensorDetector)  # whose reader says what helps
    kind = kinds.get(Path(path).suffix.lower())
    if kind is None:
        raise ModelError(
            f"{path}: a model is a .safetensors or an .onnx file, or real, the repository's weights"
        )
    if not Path(path).exists():
        raise ModelError(f"{path}: no such file")
    how = {}
    if kind is OnnxDetector:
        how = {"form": form, "names": None if names is None else read_names(names)}
    elif form is not None or names is not None:
        raise ModelError(f"{path}: --form and --names are for ONNX files; leave them out")
    detector = kind(path, image_size, batch_size, **how)
    if classes is None:
        return detector
    return _Part(detector, choose_classes(path, detector.classes, classes))


def suppression_of(metadata, classes):
    """Return the `Suppression` of a model, as its ONNX file's metadata say it.

    Parameters
    ----------
    metadata : dict of str to str
        ``conf`` is the least score of classes that aren't in ``thresholds``, a JSON object of
        numbers by class; ``iou`` is the overlap.  See `export.export_detector`.
    classes : list of str

    Raises
    ------
    ValueError
        If one of them isn't of numbers from 0 to 1, or there is a threshold of another class.
    """
    numbers = {"conf": CONFIDENCE, "iou": IOU}
    for key, usual in numbers.items():
        text = metadata.get(key, str(usual))
        try:
            numbers[key] = float(text)
        except ValueError:
            numbers[key] = math.nan
        if not 0 <= numbers[key] <= 1:
            raise ValueError(f"{key} is given as {text!r}, not as a number from 0 to 1")
    text = metadata.get("thresholds", "{}")
    try:
        thresholds = json.loads(text)
        known = {*thresholds} <= {*classes}
        known &= all(type(v) in (int, float) and 0 <= v <= 1 for v in thresholds.values())
    except (ValueError, TypeError, AttributeError):
        known = False
    if not known:
        raise ValueError(
            f"thresholds are given as {text!r}, not as an object of numbers from 0 to 1 for "
            f"classes of {', '.join(classes)}"
        )
    least = [thresholds.get(name, numbers["conf"]) for name in classes]
    return Suppression(np.array(least, np.float64), numbers["iou"])


def class_confidences(texts, classes, otherwise=CONFIDENCE):
    """Return the least score of each class, float64 (classes,).

    `texts` are numbers, which are for all classes, or ``NAME=NUMBER``; a later one replaces an
    earlier one. Classes that none is for have `otherwise`, a number or one for each. ValueError if
    a text is neither, or out of (0, 1).
    """
    given = np.broadcast_to(otherwise, len(classes))
    least = dict(zip(classes, map(float, given), strict=True))
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


def chosen_suppression(detector, confidence, iou):
    """Return the `Suppression` of a command line, or of the detector where that says nothing.

    `confidence` are texts as of `class_confidences`, perhaps none; an `iou` of None is none.
    """
    own = detector.suppression
    least = class_confidences(confidence, detector.classes, own.confidence)
    return Suppression(least, own.iou if iou is None else iou)


def _predict(detector, images, geometries):
    """Return predictions for letterboxed images, and the `Letterbox`es that these are in."""
    if getattr(detector, "upper_left", False):  # a function like a detector doesn't say
        images = images.copy()
        for row, geometry in enumerate(geometries):
            # What is behind the picture's end is padding, as before it.
            images[row] = np.roll(images[row], (-geometry.top, -geometry.left), axis=(1, 2))
        geometries = [replace(geometry, left=0, top=0) for geometry in geometries]
    return np.asarray(detector(images)), geometries


def detect_in(detector, pixels, confidence=None, iou=None):
    """Detect in a uint8 (height, width, 3) picture; return (n, 6): corners, score, class.

    The detector must take a batch of one image. Thresholds are by default its own.
    """
    if confidence is None:
        confidence = detector.suppression.confidence
    if iou is None:
        iou = detector.suppression.iou
    square, geometry = letterbox(pixels, detector.image_size)
    [decoded], [geometry] = _predict(detector, square.transpose(2, 0, 1)[None], [geometry])
    found = nms(decoded, confidence, iou, MOST_DRAWN, multi_label=False)
    return scale_detections(found, geometry)


def detect(
    detector, dataset, batch_size, progress=False, places=None, suppression=AS_VALIDATION
):  # fmt: skip
    """Run a detector, or a function like one, over a `Dataset`, by default as in validation.

    With `places`, a range, only over the images at these.  Returns arrays (n, 6) by image id: x1,
    y1, x2, y2 in pixels of the original picture, score, class index.
    """
    return detect_by([suppression], detector, dataset, batch_size, progress, places)[0]


def as_drawn(detections):
    """Return the detections of a validation that a page draws at its usual thresholds."""
    return {
        image_id: suppressed(np.reshape(rows, (-1, 6)), CONFIDENCE, IOU)
        for image_id, rows in detections.items()
    }


def most_detections(dataset):
    """Return how many detections of an image are kept: twice the things of the densest image.

    At least `utils.MAX_DETECTIONS`.
    """
    return max(MAX_DETECTIONS, 2 * int(dataset.box_counts().max(initial=0)))


def detect_by(suppressions, detector, dataset, batch_size, progress=False, places=None):
    """Return what `detect` returns for each of several ways of suppression, by one run."""
    from data.loader import val_batches  # imports PyTensor and Numba: seconds

    places = range(len(dataset)) if places is None else places
    most = most_detections(dataset)
    batches = val_batches(dataset, batch_size, places)
    count = math.ceil(len(places) / batch_size)
    found = [{} for _ in suppressions]
    for batch in tqdm(batches, total=count, unit="batch", disable=None if progress else True):
        decoded, geometries = _predict(detector, batch.images, batch.geometries)
        # Images that fill up the last batch have no id.
        for predictions, image_id, geometry in zip(
            decoded, batch.image_ids, geometries, strict=False
        ):
            for own, way in zip(found, suppressions, strict=True):
                kept = nms(predictions, way.confidence, way.iou, most, multi_label=way.multi_label)
                own[image_id] = scale_detections(kept, geometry)
    return found
