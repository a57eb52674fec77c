"""What Python computes for the page's samples, with which the page checks itself on a device.

Boxes of every sample, for the self-test; and for WebGPU the raw outputs of one sample, with the
limits within which its own have to lie: ten times what rounding to float32 makes of them.
"""

import io
import json
import sys
import zlib
from typing import Any

import numpy as np
from data.images import letterbox
from evaluation.detectors import detect_in
from PIL import Image

FACTOR = 10  # limits are so many times what rounding makes
MOST = {"box": 0.5, "score": 0.005}  # and never more: pixels of the input, and scores
MOST_BYTES = 250_000  # larger outputs don't travel: the page takes WebAssembly's


def rgba_of(picture: bytes) -> np.ndarray:
    """Return a picture file's pixels as a browser has them, uint8 (height, width, 4)."""
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGBA"))


def box_assets(name: str, detector: Any, facts: dict, samples: dict[str, bytes]) -> dict:
    """Return the asset of a model's boxes in the samples, at its own thresholds.

    Parameters
    ----------
    name : str
        Of the model's own asset.
    detector : callable
        As `evaluation.detectors` has them.
    facts : dict
        ``confidence`` and ``iou``.
    samples : dict of str to bytes
        As `tools.samples.sample_assets` returns them.
    """
    listed = []
    for entry in json.loads(samples["samples"]):
        pixels = rgba_of(samples[entry["asset"]])
        found = detect_in(detector, pixels[..., :3], facts["confidence"], facts["iou"])
        boxes = [[float(number) for number in row] for row in found]
        listed.append({**entry, "pixels": zlib.crc32(pixels.tobytes()), "boxes": boxes})
    return {f"{name}-boxes": json.dumps(listed).encode()}


# ------------------------------------------------------------------------------ raw outputs


def input_of(picture: bytes, size: int) -> np.ndarray:
    """Return what a network gets of a picture file, float32 (1, 3, size, size)."""
    square, _ = letterbox(rgba_of(picture)[..., :3], size)
    return square.transpose(2, 0, 1)[None].astype(np.float32) / np.float32(255)


def outputs_by_onnxruntime(data: bytes, images: np.ndarray) -> list[np.ndarray]:
    """Return a model's output with all of onnxruntime's optimizations, and with none."""
    import onnxruntime

    levels = onnxruntime.GraphOptimizationLevel
    found = []
    for level in (levels.ORT_ENABLE_ALL, levels.ORT_DISABLE_ALL):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = level
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        found.append(session.run(None, {session.get_inputs()[0].name: images})[0])
    return found


def exact_output(data: bytes, images: np.ndarray) -> list[np.ndarray]:
    """Return a model's output computed in float64 by PyTensor; with a warning, none."""
    # Here, as jax takes long to start.
    import jax

    from pytensor import function
    from pytensor.link.onnx import ImportedOpError, from_onnx
    from pytensor.link.onnx.rounding import in_double_precision

    try:
        model = from_onnx(data)
    except ImportedOpError as error:
        print(f"warning: rounding is measured without float64: {error}", file=sys.stderr)
        return []
    inputs, outputs = in_double_precision([*model.inputs.values()], [*model.outputs.values()])
    with jax.enable_x64(True):
        return [np.asarray(function(inputs, outputs[0], mode="JAX")(images.astype("float64")))]


def largest_gaps(outputs: list[np.ndarray]) -> dict[str, float]:
    """Return the largest differences between outputs (1, 4 + classes, boxes): ``box``, ``score``.

    They are at least one unit in the last place of the largest number, in float32.
    """
    gaps = {}
    for kind, rows in (("box", slice(0, 4)), ("score", slice(4, None))):
        parts = np.stack([output[0, rows].astype("float64") for output in outputs])
        unit = np.spacing(np.float32(np.abs(parts).max()))
        gaps[kind] = max(float(np.ptp(parts, axis=0).max()), float(unit))
    return gaps


def reference_assets(name: str, data: bytes, size: int, assets: dict[str, bytes]) -> dict:
    """Return what WebGPU has to compute with a model for one sample, and within which limits.

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
        ``NAME-reference`` (JSON: the sample, the CRC-32 of the network's input, the limits), and
        ``NAME-outputs`` (float32) unless they are large.  Empty without samples.
    """
    entries = json.loads(assets[f"{name}-boxes"])
    if not entries:
        return {}
    sample = next((entry for entry in entries if entry["boxes"]), entries[0])["asset"]
    images = input_of(assets[sample], size)
    outputs = outputs_by_onnxruntime(data, images)
    gaps = largest_gaps([*outputs, *exact_output(data, images)])
    info = {
        "sample": sample,
        "input": zlib.crc32(images.tobytes()),
        "rounding": gaps,
        "limits": {kind: min(FACTOR * gap, MOST[kind]) for kind, gap in gaps.items()},
    }
    found = {f"{name}-reference": json.dumps(info, sort_keys=True).encode()}
    if outputs[0].nbytes <= MOST_BYTES:
        found[f"{name}-outputs"] = outputs[0].astype("<f4").tobytes()
    return found
