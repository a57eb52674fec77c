"""Trained detectors behind one interface: PyTensor's weights, and ONNX files."""

import ast
from pathlib import Path

import numpy as np
from data.loader import val_batches
from evaluation.nms import nms, scale_detections

ONNX_FLOATS = {"tensor(float)": np.float32, "tensor(float16)": np.float16}


class ModelError(Exception):
    """A model file isn't a detector that can be run as asked for."""


class PyTensorDetector:
    """A weight file or checkpoint of train_yolo11n.py, run by PyTensor through JAX.

    Parameters
    ----------
    path : path-like
        Of a checkpoint, the averaged weights are used.
    image_size : int, optional
        What it was trained at by default.
    batch_size : int

    Attributes
    ----------
    classes : list of str
        In the order of the class scores.
    image_size, batch_size : int
        Of the images that a call takes.

    Raises
    ------
    CheckpointError, ModelError
        If the file can't be read or says no image size where none is given.
    """

    def __init__(self, path, image_size=None, batch_size=16):
        # Here, as an ONNX file is evaluated without PyTensor.
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
        """Decoded float32 (batch, 4 + classes, anchors) of uint8 (batch, 3, size, size)."""
        return np.asarray(self._run(images))


class OnnxDetector:
    """An ONNX file with an output of decoded predictions, run by onnxruntime on the CPU.

    Parameters
    ----------
    path : path-like
        Input (batch, 3, size, size), RGB in 0..1, float32 or float16; first output (batch,
        4 + classes, anchors). The metadata say the classes (``names``), and the size where the
        input leaves it open (``imgsz``).
    image_size : int, optional
        An error if the file is fixed to another.
    batch_size : int
        Used if the file leaves the batch open, else what it is fixed to.

    Attributes
    ----------
    classes, image_size, batch_size
        As of PyTensorDetector.
    input_name : str

    Raises
    ------
    ModelError
        If the file is missing, isn't ONNX, or is no such detector.
    """

    def __init__(self, path, image_size=None, batch_size=16):
        self.path = path
        self._session = open_session(path)
        metadata = self._session.get_modelmeta().custom_metadata_map
        image, *others = self._session.get_inputs()
        if others or len(image.shape) != 4 or image.type not in ONNX_FLOATS:
            found = ", ".join(f"{i.name}: {i.type} {i.shape}" for i in (image, *others))
            raise ModelError(
                f"{path} has the input {found}; a detector takes one float image tensor of four "
                "dimensions"
            )
        batch, _, *sides = (d if isinstance(d, int) else None for d in image.shape)
        self.input_name, self._float = image.name, ONNX_FLOATS[image.type]
        self.batch_size = batch or batch_size
        self.image_size = self._choose_size(sides, _literal(path, metadata, "imgsz"), image_size)
        names = _literal(path, metadata, "names")
        if not isinstance(names, dict) or sorted(names) != list(range(len(names))):
            raise ModelError(
                f"{path} has no names of its classes, as {{0: 'person', ...}}, in its metadata: "
                "export it with export.py"
            )
        self.classes = [str(names[k]) for k in range(len(names))]
        rows, shape = 4 + len(names), self._session.get_outputs()[0].shape
        if len(shape) != 3 or (isinstance(shape[1], int) and shape[1] != rows):
            raise ModelError(
                f"{path} has an output of shape {shape}, not (batch, {rows}, anchors) for the "
                f"classes {', '.join(self.classes)}"
            )

    def _choose_size(self, sides, said, wanted):
        """The side of the input, which the graph fixes or the metadata say."""
        fixed = None not in sides
        sides = sides if fixed else said
        if not isinstance(sides, list) or len(sides) != 2 or sides[0] != sides[1]:
            raise ModelError(f"{self.path} takes images of {sides}; only squares are offered")
        if fixed and wanted not in (None, sides[0]):
            raise ModelError(
                f"{self.path} is fixed to images of {sides[0]} px, not {wanted}: leave "
                "--image-size out, or export the model anew"
            )
        return wanted or sides[0]

    def __call__(self, images):
        """Decoded float32 (batch, 4 + classes, anchors) of uint8 (batch, 3, size, size)."""
        inputs = {self.input_name: images.astype(self._float) / self._float(255)}
        return self._session.run(None, inputs)[0].astype(np.float32)


def open_session(path):
    """Open an ONNX file with onnxruntime; what is wrong with it is a ModelError."""
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as errors

    if not Path(path).is_file():
        raise ModelError(f"{path}: no such file")
    kinds = (kind for kind in vars(errors).values() if isinstance(kind, type))
    broken = tuple(kind for kind in kinds if issubclass(kind, Exception))
    try:
        return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except broken as error:
        raise ModelError(f"{path}: not an ONNX model that onnxruntime runs ({error})") from None


def _literal(path, metadata, key):
    """A Python literal of the metadata; None if it is absent."""
    try:
        return ast.literal_eval(metadata.get(key, "None"))
    except (ValueError, SyntaxError):
        raise ModelError(f"{path}: its metadata say {key} = {metadata[key]!r}") from None


def open_detector(path, image_size=None, batch_size=16):
    """Open a model by its suffix: ``.safetensors`` or ``.onnx``; see the two classes."""
    kinds = {".onnx": OnnxDetector, ".safetensors": PyTensorDetector}
    kind = kinds.get(Path(path).suffix.lower())
    if kind is None:
        raise ModelError(f"{path}: a model is a .safetensors or an .onnx file")
    return kind(path, image_size, batch_size)


def choose_classes(path, names, wanted):
    """Rows of the class scores for the `wanted` names, all by default.

    Raises
    ------
    ModelError
        If the model lacks a name.
    """
    unknown = [name for name in wanted or () if name not in names]
    if unknown:
        raise ModelError(
            f"{path} doesn't detect {', '.join(unknown)}; its classes are {', '.join(names)}"
        )
    return [names.index(name) for name in wanted or names]


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
