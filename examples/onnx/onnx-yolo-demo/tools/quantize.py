"""Turn an exported YOLO11n into one that computes in 8-bit integers.

    python -m tools.quantize yolo11n.onnx yolo11n_int8.onnx --data PATH

PATH is a data set, or several, as for training; as many pictures of each training part show how
large the values between the layers get.  The first three layers stay float32: half of the error is
theirs, and they are no faster in integers.  So do the last convolutions of the head and the
decoding behind them: scores and pixels need more than 256 steps.  evaluate_yolo11n.py says what it
costs, benchmarks/onnx/inference.py what it gains.
"""

import re
import sys
from pathlib import Path

from commandline import Parser, existing, output_file

PICTURES = 256


def parse_arguments(arguments=None):
    """Parse the command line; see ``--help``."""
    parser = Parser(description=__doc__.splitlines()[0])
    parser.add_argument("onnx", type=existing, help="float32 model of export.py")
    parser.add_argument("quantized", type=output_file, help="file to write")
    parser.add_argument(
        "--data", required=True, nargs="+", type=existing, metavar="PATH",
        help="data sets, as for training",
    )  # fmt: skip
    parser.add_argument("--pictures", type=int, default=PICTURES, help="default: %(default)s")
    return parser.parse_args(arguments)


if __name__ == "__main__":  # a mistake is answered before the imports below, which take seconds
    parse_arguments()

import numpy as np
import onnx
from dataset import load_split
from evaluation.detectors import ModelError, OnnxDetector
from training.checkpoint import CheckpointError

from pytensor.link.onnx import VerificationError, quantize_int8

# Names of weights: of the last convolutions, for boxes and for classes at each of three levels, and
# of the first convolution in integers.
LAST = re.compile(r"model\.23\.cv[23]\.[012]\.2\.weight")
FIRST = "model.3.conv.weight"
COMPARED = 32  # of them at most, with the float32 model


def float_nodes(model):
    """Name the nodes of an `onnx.ModelProto` that stay float32, the first and the last ones.

    ModelError if no convolution has a weight that is called as one of the last ones.
    """

    def before(values):
        found = set()
        for node in reversed(model.graph.node):  # each comes after what it reads
            if values.intersection(node.output):
                found.add(node.name)
                values.update(node.input)
        return found

    convolutions = [node for node in model.graph.node if node.op_type == "Conv"]
    last = {node.input[0] for node in convolutions if LAST.fullmatch(node.input[1])}
    first = {node.input[0] for node in convolutions if node.input[1] == FIRST}
    if not last:
        raise ModelError(
            "no convolution has a weight called model.23.cv3.0.2.weight: the head isn't found; "
            "quantize a model that export.py has written, before anything renames its weights"
        )
    integers = before(last) - before(first)
    return [node.name for node in model.graph.node if node.name not in integers]


def quantize_detector(source, path, images, tolerance=0.1):
    """Quantize an exported detector to 8 bits, except its first layers, last ones and decoding.

    Parameters
    ----------
    source, path : path-like
        The float32 model, for one image or any number, and the file to write.
    images : list of uint8 array (size, size, 3)
        They calibrate the model.
    tolerance : float
        See `pytensor.link.onnx.quantize_int8`; `COMPARED` pictures are compared, for the scores of
        a class are tiny in a picture that doesn't show it.

    Returns
    -------
    onnx.ModelProto
        With the same inputs, outputs and metadata, but for the precision that was measured with
        floats; weights are int8 with a scale for each output channel, activations uint8.

    Raises
    ------
    ModelError
        If the model isn't a detector, or its head's convolutions aren't found.
    VerificationError
        If the results differ by more than the tolerance; nothing is written then.
    """
    detector = OnnxDetector(source, batch_size=1, form="yolo11")
    model = onnx.load(source)
    planes = (image.transpose(2, 0, 1)[None] for image in images)
    inputs = [{detector.input_name: image.astype(np.float32) / np.float32(255)} for image in planes]
    sample = inputs[:: -(-len(inputs) // COMPARED)]
    settings = {"exclude": float_nodes(model), "sample": sample, "tolerance": tolerance}
    quantized = quantize_int8(model, calibration=inputs, **settings)
    kept = [entry for entry in quantized.metadata_props if entry.key != "average_precision"]
    del quantized.metadata_props[:]
    quantized.metadata_props.extend(kept)
    onnx.save(quantized, path)
    return quantized


def calibration(source, data, pictures=PICTURES):
    """Return training pictures of data sets (paths), as an exported detector takes them.

    They are spread evenly over the sets: what is first in one may be all of one kind.
    """
    detector = OnnxDetector(source, batch_size=1)
    classes, size, spread = detector.classes, detector.image_size, -(-pictures // len(data))
    parts = [load_split(path, "train", classes, size, spread=spread) for path in data]
    return [part[k].image for part in parts for k in range(len(part))]


def main(arguments=None):
    """Quantize as the command line says; the exit code."""
    options = parse_arguments(arguments)
    try:
        images = calibration(options.onnx, options.data, options.pictures)
        options.quantized.parent.mkdir(parents=True, exist_ok=True)
        quantize_detector(options.onnx, options.quantized, images)
    except (ModelError, CheckpointError, VerificationError, ValueError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    before, after = (path.stat().st_size for path in (Path(options.onnx), options.quantized))
    print(f"wrote {options.quantized}: {after:,} bytes instead of {before:,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
