"""Export a trained YOLO11n to ONNX.

    python export.py runs/yolo11n/best.safetensors yolo11n.onnx

The end of a training also compares the file that it exports with PyTensor (`verify_export`).
"""

import json
import os
import sys
from argparse import Namespace
from typing import Any

os.environ["PYTENSOR_FLAGS"] = ",".join(
    filter(None, ["floatX=float32", os.environ.get("PYTENSOR_FLAGS")])
)

from commandline import Parser, existing, output_file
from evaluation.detectors import CONFIDENCE, IOU, class_confidences
from training.checkpoint import weights_path
from training.options import PROBABILITY, SIDE


def parse_arguments(arguments: list[str] | None = None) -> Namespace:
    """Parse the command line; see ``--help``."""
    parser = Parser(description=(__doc__ or "").partition("\n")[0])
    add = parser.add_argument
    add("weights", type=lambda given: existing(str(weights_path(given))),
        help="best.safetensors of a run, real for the repository's, or pretrained weights, "
        "also .onnx")  # fmt: skip
    add("onnx", type=output_file, help="file to write")
    add("--classes", nargs="+", metavar="NAME", help="some of the file's classes; default: all")
    add("--image-size", type=SIDE, help="pixels; default: the file's, else 640")
    add("--dynamic-batch", action="store_true", help="any number of images")
    add("--opset", type=int, default=20, help="default: 20")
    add("--confidence", nargs="+", default=[], metavar="SCORE",
        help="least score of a shown box, or of single classes, as CLASS=SCORE; default: "
        f"{CONFIDENCE}")  # fmt: skip
    add("--iou", type=PROBABILITY, default=IOU,
        help=f"overlap from which a box is suppressed; default: {IOU}")  # fmt: skip
    return parser.parse_args(arguments)


if __name__ == "__main__":  # a mistake is answered before the imports below, which take seconds
    parse_arguments()

import numpy as np
from model import YOLO11n
from training.checkpoint import CheckpointError
from training.weights import load_model

import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx

MAX_BOX_DIFFERENCE = 0.05  # pixels
MAX_SCORE_DIFFERENCE = 1e-4
LARGEST_FACTOR = 100  # beyond, a wrong file couldn't be told from rounding


class ExportMismatch(Exception):
    """The exported model doesn't compute what PyTensor does."""


def export_detector(
    model: YOLO11n, path: Any, classes: list[str], image_size: int, *, batch_size: int | None = 1,
    opset_version: int = 20, half: bool = False, trained_on: str | None = None,
    scores: dict | None = None, thresholds: dict[str, float] | None = None, iou: float = IOU,
) -> Any:  # fmt: skip
    """Write the inference graph, batch normalization folded, as one ONNX model; its ModelProto.

    Input ``images`` float32 (batch, 3, size, size), RGB in 0..1; output ``output0`` float32
    (batch, 4 + classes, anchors): centre x, centre y, width, height in pixels, then scores in the
    order of `classes`, whose names go into the metadata.  A `batch_size` of None leaves it open;
    `half` computes in float16 (see `pytensor.link.onnx.export_onnx`).  `trained_on` says in words
    what the model has seen, such as "drawn pictures", for the page to tell its users, and `scores`
    how well it does there: ``on``, what it was measured on, in words, and ``per_class``, as of
    `evaluation.metrics.coco_map`.  `thresholds` are the least scores of what is shown, by class,
    and `iou` is the overlap from which on a box is suppressed; a class without has CONFIDENCE.
    """
    images = pt.tensor("images", dtype="float32", shape=(batch_size, 3, image_size, image_size))
    output = model.decode(model(images))
    return export_onnx(
        [images],
        [output],
        path,
        opset_version=opset_version,
        half=half,
        input_names=["images"],
        output_names=["output0"],
        dynamic_axes={"images": {0: "N"}} if batch_size is None else None,
        model_name=f"yolo11{model.size}",
        # keys and forms that readers of YOLO exports know
        metadata={
            "task": "detect",
            "names": str(dict(enumerate(classes))),
            "stride": str(max(model.layers[23].strides)),
            "imgsz": str([image_size, image_size]),
            "batch": str(batch_size or 1),
            # what the browser page starts with
            "conf": str(CONFIDENCE),
            "iou": str(iou),
            "description": f"YOLO11{model.size} trained with PyTensor",
        }
        | ({"thresholds": json.dumps(thresholds)} if thresholds else {})
        | ({"trained_on": trained_on} if trained_on else {})
        | ({"average_precision": json.dumps(scores, sort_keys=True)} if scores else {}),
    )


def verify_export(path: Any, images: np.ndarray, expected: np.ndarray) -> dict:
    """Compare what an ONNX file computes with PyTensor's predictions; ExportMismatch if it's other.

    After a few steps of training, statistics from a few pictures can leave a network that enlarges
    every rounding error, until float32 can't keep the limits. A difference above them may therefore
    be what rounding may do to this file's results (`rounding_error`), but not over LARGEST_FACTOR
    times the limits.

    `images` are uint8 (n, 3, size, size), `expected` float32 (n, 4 + classes, anchors).  The
    report has ``nodes``, ``box_difference`` (pixels) and ``score_difference``: the largest ones.
    Where they are above the limits, it has ``box_error`` and ``score_error``, rounding's, too.
    """
    import onnx
    import onnxruntime

    images = images.astype(np.float32) / np.float32(255)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    found = np.concatenate([session.run(None, {"images": image[None]})[0] for image in images])
    differences = np.array([_largest(x) for x in np.abs(found - expected)])
    difference = differences.max(axis=0)
    report = {"nodes": len(onnx.load(path).graph.node)}
    report |= dict(zip(("box_difference", "score_difference"), difference.tolist(), strict=True))
    limits = np.array([MAX_BOX_DIFFERENCE, MAX_SCORE_DIFFERENCE])
    if (difference <= limits).all():  # written so that NaN is over them
        return report
    # It imports the way from ONNX to PyTensor, which takes two seconds.
    from pytensor.link.onnx import rounding_error

    beyond = images[~(differences <= limits).all(axis=1)]
    errors = [rounding_error(path, {"images": image[None]})["output0"][0] for image in beyond]
    error = np.max([_largest(x) for x in errors], axis=0)
    allowed = np.minimum(limits + error, LARGEST_FACTOR * limits)
    if (difference <= allowed).all():
        return report | dict(zip(("box_error", "score_error"), error.tolist(), strict=True))
    raise ExportMismatch(
        f"{path} differs from PyTensor by {difference[0]:.3g} px (at most {allowed[0]:.3g}) and "
        f"{difference[1]:.3g} in scores (at most {allowed[1]:.3g}), where rounding may lose "
        f"{error[0]:.3g} px and {error[1]:.3g}; if that is much, as after a few steps of training, "
        "train longer"
    )


def _largest(values: np.ndarray) -> np.ndarray:
    """Return the largest of boxes and of scores, array (2,), of (4 + classes, anchors)."""
    return np.array([values[:4].max(), values[4:].max()], dtype=np.float64)


def main(arguments: list[str] | None = None) -> int:
    options = parse_arguments(arguments)
    try:
        model, info = load_model(options.weights, options.classes)
        size = options.image_size or info.get("image_size", 640)
        batch = None if options.dynamic_batch else 1
        least = class_confidences(options.confidence, info["classes"])
        thresholds = dict(zip(info["classes"], least.tolist(), strict=True))
        options.onnx.parent.mkdir(parents=True, exist_ok=True)
        export_detector(
            model,
            options.onnx,
            info["classes"],
            size,
            batch_size=batch,
            opset_version=options.opset,
            trained_on=info.get("trained_on"),
            iou=options.iou,
            thresholds=thresholds if options.confidence else None,
        )
    except (CheckpointError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"wrote {options.onnx} for {', '.join(info['classes'])} at {size} px")
    return 0


if __name__ == "__main__":
    sys.exit(main())
