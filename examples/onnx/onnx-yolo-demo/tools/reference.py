"""Computes for the page's samples that with which the page checks itself on a device.

Boxes of every sample, for the self-test; and for WebGPU the raw outputs of one sample, with the
limits within which its own have to lie: ten times what rounding to float32 makes of them.
"""

import base64
import io
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from data.images import letterbox
from evaluation.detectors import OnnxDetector, detect_in
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator
from PIL import Image

FACTOR = 10  # limits are so many times what rounding makes
# And never more: pixels of the input, scores, and what they are the sigmoid of.
MOST = {"box": 0.5, "score": 0.005, "logit": 0.02}
NARROW = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16)
MOST_BYTES = 250_000  # larger outputs don't travel: the page takes WebAssembly's


def rgba_of(picture: bytes) -> np.ndarray:
    """Return a picture file's pixels as a browser has them, uint8 (height, width, 4)."""
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGBA"))


def box_assets(name: str, path: Path, facts: dict, samples: dict[str, bytes]) -> dict:
    """Return the asset of a model's boxes in the samples, at its own thresholds.

    They are those of the graph that the page runs on WebAssembly: of integers, other optimizations
    round other numbers to the next one, which moves boxes.

    Parameters
    ----------
    name : str
        Of the model's own asset.
    path : Path
        The ONNX file.
    facts : dict
        ``confidence`` and ``iou``.
    samples : dict of str to bytes
        As `tools.samples.sample_assets` returns them.
    """
    detector = OnnxDetector(path, batch_size=1, optimizations="ORT_ENABLE_EXTENDED")
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


def outputs_by_onnxruntime(data: bytes, images: np.ndarray) -> list[list[np.ndarray]]:
    """Return a model's outputs with all of onnxruntime's optimizations, and with none."""
    import onnxruntime

    levels = onnxruntime.GraphOptimizationLevel
    found = []
    for level in (levels.ORT_ENABLE_ALL, levels.ORT_DISABLE_ALL):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = level
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        found.append(session.run(None, {session.get_inputs()[0].name: images}))
    return found


def in_double_precision(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model that computes in float64 what another does in float32 and float16."""
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    graph = wide.graph
    del graph.value_info[:]
    constants = list(graph.initializer)
    for node in graph.node:
        constants += [entry.t for entry in node.attribute if entry.HasField("t")]
        for entry in node.attribute:
            if node.op_type == "Cast" and entry.name == "to" and entry.i in NARROW:
                entry.i = onnx.TensorProto.DOUBLE
    for array in constants:
        if array.data_type in NARROW:
            values = numpy_helper.to_array(array).astype(np.float64)
            array.CopyFrom(numpy_helper.from_array(values, array.name))
    for value in (*graph.input, *graph.output):
        if value.type.tensor_type.elem_type in NARROW:
            value.type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    return wide


def exact_outputs(data: bytes, images: np.ndarray) -> list[np.ndarray]:
    """Return a model's outputs computed in float64 by onnx's reference implementation."""
    run = ReferenceEvaluator(in_double_precision(onnx.load_from_string(data)))
    found: Any = run.run(None, {run.input_names[0]: images.astype(np.float64)})
    return found


def largest_gap(arrays: list[np.ndarray]) -> float:
    """Return the largest difference between arrays, at least a unit in the last place, in float32.

    The place is the last one of the largest number.
    """
    stacked = np.stack([array.astype("float64") for array in arrays])
    unit = np.spacing(np.float32(np.abs(stacked).max()))
    return max(float(np.ptp(stacked, axis=0).max()), float(unit))


def rounding_of(runs: list[list[np.ndarray]]) -> dict[str, float]:
    """Return how far the outputs of several runtimes are apart: ``box``, ``score``, ``logit``."""
    outputs, *logits = zip(*runs, strict=True)
    gaps = {
        "box": largest_gap([output[0, :4] for output in outputs]),
        "score": largest_gap([output[0, 4:] for output in outputs]),
    }
    return gaps | ({"logit": largest_gap(list(logits[0]))} if logits else {})


def reference_assets(name: str, data: bytes, size: int, assets: dict[str, bytes]) -> dict:
    """Return what WebGPU has to compute with a model for one sample, and within which limits.

    A score near 0 hides what is wrong before its sigmoid, so that counts, too.

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
        ``NAME-logits`` (float32) unless they are large.  Empty without samples.
    """
    entries = json.loads(assets[f"{name}-boxes"])
    if not entries:
        return {}
    sample = next((entry for entry in entries if entry["boxes"]), entries[0])["asset"]
    images = input_of(assets[sample], size)
    logits = logits_name(onnx.load_from_string(data).graph)
    suffix = one_more_output(logits) if logits else b""
    runs = outputs_by_onnxruntime(data + suffix, images)
    gaps = rounding_of([*runs, exact_outputs(data + suffix, images)])
    info = {
        "sample": sample,
        "input": zlib.crc32(images.tobytes()),
        "rounding": gaps,
        "limits": {kind: min(FACTOR * gap, MOST[kind]) for kind, gap in gaps.items()},
        "logits": logits,
        "suffix": base64.b64encode(suffix).decode(),
    }
    found = {f"{name}-reference": json.dumps(info, sort_keys=True).encode()}
    if sum(array.nbytes for array in runs[0]) <= MOST_BYTES:
        kinds = zip(("outputs", "logits"), runs[0], strict=False)
        found |= {f"{name}-{kind}": array.astype("<f4").tobytes() for kind, array in kinds}
    return found
