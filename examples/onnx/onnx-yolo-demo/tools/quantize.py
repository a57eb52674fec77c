"""Turn an exported YOLO11n into one that computes in 8-bit integers.

    python -m tools.quantize yolo11n.onnx yolo11n_int8.onnx --data PATH

PATH is a data set in COCO's or YOLO's layout; pictures of its training part show how large the
values between the layers get.  The decoding of boxes and scores, behind the last convolutions of
the head, stays float32: coordinates in pixels need more than 256 steps.  evaluate_yolo11n.py says
what it costs in precision, and benchmarks/onnx_inference.py what it gains in speed.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

# Before PyTensor is imported.
os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float32", os.environ.get("PYTENSOR_FLAGS")])
)

import numpy as np
import onnx
from dataset import load_split
from evaluation.detectors import ModelError, OnnxDetector
from training.checkpoint import CheckpointError
from training.weights import require_folder

from pytensor.link.onnx import VerificationError, quantize_int8

HEAD = "model.23.cv"  # how the names of the head's convolutions begin; those of its decoding don't
PICTURES = 64


class Calibration(Sequence):
    """Pictures of a data set as inputs of a detector, each read when it is asked for.

    Parameters
    ----------
    name : str
        Of the detector's input.
    detector : OnnxDetector
        Its input's dtype and number of images are used.
    dataset : Dataset
        Of the detector's image size.
    """

    def __init__(self, name, detector, dataset):
        self._name, self._detector, self._dataset = name, detector, dataset

    def __len__(self):
        return -(-len(self._dataset) // self._detector.batch_size)

    def __getitem__(self, number):
        if not 0 <= number < len(self):
            raise IndexError(number)
        first = number * self._detector.batch_size
        # The last batch goes round to the first pictures.
        indices = [(first + k) % len(self._dataset) for k in range(self._detector.batch_size)]
        images = np.stack([self._dataset[k].image.transpose(2, 0, 1) for k in indices])
        return {self._name: self._detector.prepare(images)}


def decoding_nodes(model):
    """Names of the nodes behind the head's convolutions.

    Parameters
    ----------
    model : onnx.ModelProto

    Returns
    -------
    list of str

    Raises
    ------
    ModelError
        If no convolution has a weight whose name begins as those of the head do.
    """
    producers = {name: node for node in model.graph.node for name in node.output}
    waiting = [
        node
        for node in model.graph.node
        if node.op_type == "Conv" and node.input[1].startswith(HEAD)
    ]
    if not waiting:
        raise ModelError(
            f"no convolution has a weight called {HEAD}...: the head isn't found; quantize a model "
            "that export.py has written, before anything renames its weights"
        )
    before = set()
    while waiting:
        node = waiting.pop()
        if node.name not in before:
            before.add(node.name)
            waiting += [producers[name] for name in node.input if name in producers]
    return [node.name for node in model.graph.node if node.name not in before]


def quantize_detector(source, calibration, path=None, tolerance=0.1):
    """Quantize weights and activations of an exported detector to 8 bits, but for its decoding.

    Parameters
    ----------
    source : path-like
        Of a float32 model.
    calibration : sequence of dict (by input name) of ndarray
        Typical inputs; the first one is also what both models are compared with.
    path : path-like, optional
        Where to write the result.
    tolerance : float
        See `pytensor.link.onnx.quantize_int8`.

    Returns
    -------
    onnx.ModelProto
        With the same inputs, outputs and metadata; weights are int8 with a scale for each output
        channel, activations uint8.

    Raises
    ------
    ModelError
        If the head's convolutions aren't found.
    VerificationError
        If the results differ by more than the tolerance; nothing is written then.
    """
    model = onnx.load(source)
    return quantize_int8(
        model,
        path,
        calibration=calibration,
        exclude=decoding_nodes(model),
        sample=calibration[0],
        tolerance=tolerance,
    )


def open_calibration(source, data, pictures=PICTURES):
    """`Calibration` of a model on the training part of a data set.

    Raises
    ------
    ModelError, ValueError, OSError
        If the model isn't a detector, or the data are missing or wrong.
    """
    detector = OnnxDetector(source, batch_size=1)
    dataset = load_split(data, "train", detector.classes, detector.image_size, limit=pictures)
    graph = onnx.load(source, load_external_data=False).graph
    defaults = {array.name for array in graph.initializer}
    (name,) = (value.name for value in graph.input if value.name not in defaults)
    return Calibration(name, detector, dataset)


def main(arguments=None):
    """Quantize as the command line says.

    Returns
    -------
    int
        The exit code.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("onnx", type=Path, help="float32 model of export.py")
    parser.add_argument("quantized", type=Path, help="file to write")
    parser.add_argument("--data", required=True, metavar="PATH", help="data set, as for training")
    parser.add_argument(
        "--pictures", type=int, default=PICTURES, help="for calibration; default: %(default)s"
    )
    options = parser.parse_args(arguments)
    if options.pictures < 1:
        parser.error(f"--pictures must be at least 1, got {options.pictures}")
    try:
        require_folder(options.quantized)
        calibration = open_calibration(options.onnx, options.data, options.pictures)
        quantize_detector(options.onnx, calibration, options.quantized)
    except (ModelError, CheckpointError, VerificationError, ValueError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    before, after = (path.stat().st_size for path in (options.onnx, options.quantized))
    print(f"wrote {options.quantized}: {after:,} bytes instead of {before:,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
