"""Turn an exported YOLO11n into one that computes in 8-bit integers.

    python -m tools.quantize yolo11n.onnx yolo11n_int8.onnx --data PATH

PATH is a data set in COCO's or YOLO's layout; pictures of its training part show how large the
values between the layers get.  The decoding of boxes and scores, behind the last convolutions of
the head, stays float32: coordinates in pixels need more than 256 steps.  evaluate_yolo11n.py says
what it costs in precision, and benchmarks/onnx_inference.py what it gains in speed.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import onnx
from dataset import load_split
from evaluation.detectors import ModelError, OnnxDetector
from training.checkpoint import CheckpointError
from training.weights import require_folder

from pytensor.link.onnx import VerificationError, quantize_int8

HEAD = "model.23.cv"  # how the names of the head's convolutions begin; those of its decoding don't
PICTURES = 64


def decoding_nodes(model):
    """Names of the nodes of an `onnx.ModelProto` behind the head's convolutions, as a list.

    Raises
    ------
    ModelError
        If no convolution has a weight whose name begins as those of the head do.
    """
    nodes = model.graph.node
    producers = {name: node for node in nodes for name in node.output}
    waiting = [n for n in nodes if n.op_type == "Conv" and n.input[1].startswith(HEAD)]
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
    return [node.name for node in nodes if node.name not in before]


def quantize_detector(source, path, images, tolerance=0.1):
    """Quantize weights and activations of an exported detector to 8 bits, but for its decoding.

    Parameters
    ----------
    source, path : path-like
        The float32 model, for one image or any number, and the file to write.
    images : list of uint8 array (size, size, 3)
        They calibrate the model.
    tolerance : float
        See `pytensor.link.onnx.quantize_int8`; the first picture is compared.

    Returns
    -------
    onnx.ModelProto
        With the same inputs, outputs and metadata; weights are int8 with a scale for each output
        channel, activations uint8.

    Raises
    ------
    ModelError
        If the model isn't a detector, or its head's convolutions aren't found.
    VerificationError
        If the results differ by more than the tolerance; nothing is written then.
    """
    detector, model = OnnxDetector(source, batch_size=1), onnx.load(source)
    decoding = decoding_nodes(model)
    planes = (image.transpose(2, 0, 1)[None] for image in images)
    inputs = [{detector.input_name: image.astype(np.float32) / np.float32(255)} for image in planes]
    return quantize_int8(
        model, path, calibration=inputs, exclude=decoding, sample=inputs[0], tolerance=tolerance
    )


def calibration(source, data, pictures=PICTURES):
    """The first training pictures of a data set (a path), as an exported detector takes them."""
    detector = OnnxDetector(source, batch_size=1)
    dataset = load_split(data, "train", detector.classes, detector.image_size, limit=pictures)
    return [dataset[k].image for k in range(len(dataset))]


def main(arguments=None):
    """Quantize as the command line says; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("onnx", type=Path, help="float32 model of export.py")
    parser.add_argument("quantized", type=Path, help="file to write")
    parser.add_argument("--data", required=True, metavar="PATH", help="data set, as for training")
    parser.add_argument("--pictures", type=int, default=PICTURES, help="default: %(default)s")
    options = parser.parse_args(arguments)
    try:
        require_folder(options.quantized)
        images = calibration(options.onnx, options.data, options.pictures)
        quantize_detector(options.onnx, options.quantized, images)
    except (ModelError, CheckpointError, VerificationError, ValueError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    before, after = (path.stat().st_size for path in (options.onnx, options.quantized))
    print(f"wrote {options.quantized}: {after:,} bytes instead of {before:,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
