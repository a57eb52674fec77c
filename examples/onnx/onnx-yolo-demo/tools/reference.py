"""Computes for the page's samples that with which the page checks itself on a device.

Boxes of every sample, for the self-test; and for WebGPU the raw outputs of one sample, with the
limits within which its own have to lie: what rounding to float32 may do to them.
"""

import base64
import io
import json
import sys
import zlib
from pathlib import Path

import numpy as np
import onnx
from data.images import letterbox
from evaluation.detectors import OnnxDetector, detect_in
from PIL import Image

from pytensor.link.onnx.compare import ComparisonError
from pytensor.link.onnx.compare.expected import Expected
from pytensor.link.onnx.compare.graph import Model

# Limits are never more: pixels of the input, scores, and what they are the sigmoid of.
MOST = {"box": 0.5, "score": 0.005, "logit": 0.02}
MOST_BYTES = 250_000  # larger outputs don't travel: the page takes WebAssembly's


def rgba_of(picture: bytes) -> np.ndarray:
    """Return a picture file's pixels as a browser has them, uint8 (height, width, 4)."""
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGBA"))


def box_assets(name: str, path: Path, samples: dict[str, bytes]) -> dict:
    """Return the asset of a model's boxes in the samples, at its own thresholds.

    They are from the graph that the page runs on WebAssembly: of integers, other optimizations
    round other numbers to the next one, which moves boxes.

    Parameters
    ----------
    name : str
        Of the model's own asset.
    path : Path
        The ONNX file.
    samples : dict of str to bytes
        As `tools.samples.sample_assets` returns them.
    """
    detector = OnnxDetector(path, batch_size=1, optimizations="ORT_ENABLE_EXTENDED")
    listed = []
    for entry in json.loads(samples["samples"]):
        pixels = rgba_of(samples[entry["asset"]])
        found = detect_in(detector, pixels[..., :3])
        boxes = [[float(number) for number in row] for row in found]
        listed.append({**entry, "pixels": zlib.crc32(pixels.tobytes()), "boxes": boxes})
    return {f"{name}-boxes": json.dumps(listed).encode()}


# ------------------------------------------------------------------------------ raw outputs


def input_of(picture: bytes, size: int) -> np.ndarray:
    """Return what a network gets of a picture file, float32 (1, 3, size, size)."""
    return input_of_pixels(rgba_of(picture)[..., :3], size)


def input_of_pixels(pixels: np.ndarray, size: int) -> np.ndarray:
    """Return the same of pixels, uint8 (height, width, 3)."""
    square, _ = letterbox(pixels, size)
    return square.transpose(2, 0, 1)[None].astype(np.float32) / np.float32(255)


def logits_name(graph: onnx.GraphProto) -> str | None:
    """Return the name of what the scores are the sigmoid of; None where they are made otherwise."""
    makers = {name: node for node in graph.node for name in node.output}
    last = makers[graph.output[0].name]
    found = [makers[name] for name in last.input if name in makers]
    names = [node.input[0] for node in found if node.op_type == "Sigmoid"]
    return names[0] if len(names) == 1 else None


def one_more_output(name: str) -> bytes:
    """Return what gives an ONNX file another output, float32 of three axes, if put behind its end.

    Protocol buffers merge a message that comes twice, here the graph.
    """
    value = onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [None] * 3)
    return onnx.ModelProto(graph=onnx.GraphProto(output=[value])).SerializeToString()


def what_rounding_does(data: bytes, images: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Compute a model's outputs, and how far float32 may move each number of them by rounding.

    Each node is computed in float64 and rounded once; `pytensor.link.onnx.compare` says how it
    finds what all nodes together may do.

    Raises
    ------
    ComparisonError
        If the model has a node that `from_onnx` can't read.
    """
    model = Model.read(data)
    expected = Expected(model, {model.inputs[0]: images})
    return [(expected.values[name], expected.tolerances[name]) for name in model.outputs]


def reference_assets(name: str, data: bytes, size: int, assets: dict[str, bytes]) -> dict:
    """Return what WebGPU has to compute with a model for one sample, and within which limits.

    A score near 0 hides what is wrong before its sigmoid, so that counts, too.  The limits are
    the numbers that rounding may move by most.

    Parameters
    ----------
    name : str
        Of the model's own asset.
    data : bytes
        The ONNX file that WebGPU runs.
    size : int
        Side of its input in pixels.
    assets : dict of str to bytes
        The samples, as `tools.samples.sample_assets` returns them, and the model's boxes in them.
        The first sample with boxes is taken, or else the first.

    Returns
    -------
    dict
        ``NAME-reference`` (JSON: the sample, the CRC-32 of the network's input, the limits, the
        name of the logits and what makes them an output of the file), and ``NAME-outputs`` and
        ``NAME-logits`` (float32) unless they are large.  Empty without samples, and with a warning
        for a model that can't be computed so: then the page takes WebAssembly's outputs, and
        limits that are the same for all models.
    """
    entries = json.loads(assets[f"{name}-boxes"])
    if not entries:
        return {}
    sample = next((entry for entry in entries if entry["boxes"]), entries[0])["asset"]
    images = input_of(assets[sample], size)
    logits = logits_name(onnx.load_from_string(data).graph)
    suffix = one_more_output(logits) if logits else b""
    try:
        (output, moved), *before = what_rounding_does(data + suffix, images)
    except ComparisonError as error:
        print(f"warning: the page can't check WebGPU by Python's outputs: {error}", file=sys.stderr)
        return {}
    arrays, gaps = {"outputs": output}, {"box": moved[0, :4], "score": moved[0, 4:]}
    if before:
        [(arrays["logits"], gaps["logit"])] = before
    info = {
        "sample": sample,
        "input": zlib.crc32(images.tobytes()),
        "limits": {kind: min(float(gap.max()), MOST[kind]) for kind, gap in gaps.items()},
        "logits": logits,
        "suffix": base64.b64encode(suffix).decode(),
    }
    made = {f"{name}-reference": json.dumps(info, sort_keys=True).encode()}
    if sum(array.nbytes for array in arrays.values()) <= MOST_BYTES:
        made |= {f"{name}-{kind}": array.astype("<f4").tobytes() for kind, array in arrays.items()}
    return made


if __name__ == "__main__":
    sys.exit("this is a part of: python -m tools.build_demo MODEL.onnx")
