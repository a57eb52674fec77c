"""What the page needs to teach its detector more classes: ONNX files of training steps and heads.

Backbone and neck stay as they are, and so does the head.  A second head learns the new classes from
the same feature maps: with the part "class" it is a class branch, whose scores belong to the first
head's boxes; with the part "whole" it has boxes of its own.  It begins with the first head's
weights, batch normalization folded into them, which the page reads out of the model by running it.

A step is one graph: branches, assigner, losses, gradients, AdamW.  The weights and the optimizer's
state are inputs, their new values outputs.
"""

import json
import sys

import numpy as np
import onnx
from blocks import ConvBNSiLU
from loss import (
    CLS_GAIN,
    binary_cross_entropy,
    sum32,
    target_boxes_in_pixels,
    task_aligned_assign,
    yolo_loss,
)
from model import LEVELS, YOLO11n, make_anchors, size_of
from training.train_step import target_inputs

import pytensor
import pytensor.tensor as pt
from pytensor import layers
from pytensor.graph.replace import clone_replace
from pytensor.link.onnx import export_onnx
from pytensor.optimizers import AdamW

HEAD = "model.23."
MAX_CLASSES = 8  # rows of the second head
MAX_BOXES = 16  # of one picture; of more, the page leaves some out
BATCH = 8
EPSILON = 1e-5  # of Adam: larger than usual, so that rounding in tiny gradients moves no weight
# Steps and the highest learning rate for some twenty boxes.
PARTS = {"class": (400, 0.0025), "whole": (300, 0.003)}


class WebAdamW(AdamW):
    """`AdamW` in float32 alone: onnxruntime-web has no casts from float64, which expm1 needs."""

    def _correction(self, beta, dtype):
        taken = pt.cast(self._step() + np.int32(1), dtype)
        return np.float32(1) - pt.power(np.float32(beta), taken)


def fold(block):
    """Make a `ConvBNSiLU`'s normalization no more than a bias that follows its filters."""
    conv, bias = block.conv, block.bn.bias
    bias.name = conv.weight.name.replace("weight", "bias")  # as in an exported model
    conv.bias, block.bn = bias, layers.Sequential()


class SecondHead:
    """The graphs of a head for `MAX_CLASSES` new classes on the maps of a detector.

    `weights` are the shared variables that it learns.  With the part "class" the boxes are
    from `found`, the detector's output.
    """

    def __init__(self, part, class_width, size="n"):
        self.part = part
        self.model = YOLO11n(MAX_CLASSES, class_width=class_width, size=size)
        head = self.model.layers[23]
        for layer in head.modules():
            if isinstance(layer, ConvBNSiLU):
                fold(layer)
        branches = head.cv3 if part == "class" else head.cv3 + head.cv2
        self.weights = [variable for branch in branches for variable in branch.parameters()]

    def predictions(self, maps):
        """Return raw maps by level: box logits if there are any, then class logits."""
        head = self.model.layers[23]
        if self.part == "whole":
            return dict(zip(LEVELS, head(maps), strict=True))
        outputs = [branch(x) for branch, x in zip(head.cv3, maps, strict=True)]
        return dict(zip(LEVELS, outputs, strict=True))

    def loss(self, maps, found, targets):
        """Return a batch's loss, float32 scalar: training's, divided by the number of pictures."""
        predictions = self.predictions(maps)
        if self.part == "whole":
            _, parts = yolo_loss(predictions, targets, MAX_CLASSES)
            return sum(parts.values())
        sizes = [maps[level].type.shape[2:] for level in range(3)]
        logits = flat(predictions)
        centres, stride = make_anchors(sizes)
        height, width = (8 * side for side in sizes[0])
        boxes, valid = target_boxes_in_pixels(targets, height, width)
        target = task_aligned_assign(
            corners(found), pt.sigmoid(logits), boxes, targets["classes"], valid, centres * stride
        )
        norm = pt.maximum(sum32(target.weight), np.float32(1))
        return CLS_GAIN * sum32(binary_cross_entropy(logits, target.scores)) / norm

    def detections(self, maps, found, known, learned):
        """Return detections of both heads, float32 (1, 4 + classes, anchors or twice as many).

        `known` and `learned`, int64 (classes,), are the rows of the classes in `found` and in the
        second head; one behind the last row stands for a class that the head doesn't have.
        """
        own = self.predictions(maps)
        if self.part == "whole":
            own = self.model.decode(own)
            own, scores = own[:, :4], own[:, 4:]
        else:
            scores = pt.sigmoid(flat(own))
        none = pt.zeros_like(scores[:, :1])
        before = pt.concatenate([found[:, 4:], none], axis=1)[:, known]
        now = pt.concatenate([scores, none], axis=1)[:, learned]
        if self.part == "class":
            return pt.concatenate([found[:, :4], pt.maximum(before, now)], axis=1)
        both = [pt.concatenate(rows, axis=1) for rows in ((found[:, :4], before), (own, now))]
        return pt.concatenate(both, axis=2)


def flat(predictions):
    """Join the maps of all levels side by side: (batch, channels, anchors)."""
    maps = [predictions[level] for level in LEVELS]
    return pt.concatenate(
        [m.reshape((m.shape[0], MAX_CLASSES, np.prod(m.type.shape[2:]))) for m in maps], axis=2
    )


def corners(found):
    """Return four float32 (batch, anchors): corners of decoded boxes, in pixels."""
    x, y, width, height = (found[:, row] for row in range(4))
    half_width, half_height = width * np.float32(0.5), height * np.float32(0.5)
    return [x - half_width, y - half_height, x + half_width, y + half_height]


def inputs_of(shapes, batch):
    """Return inputs of `shapes` (behind the batch): the three maps, and the detector's output."""
    *maps, found = (
        pt.tensor(name, dtype="float32", shape=(batch, *shape))
        for name, shape in zip((*LEVELS, "found"), shapes, strict=True)
    )
    return maps, found


def step_model(part, shapes, class_width):
    """Build one training step, for the `shapes` of `inputs_of`: its ModelProto, and its state.

    The state is a list of variables, the weights among them: inputs by their names, and outputs
    with "next/" before them.
    """
    head = SecondHead(part, class_width, size_of(shapes[0][0] // 4))
    maps, found = inputs_of(shapes, BATCH)
    boxes, classes, num_boxes = target_inputs(BATCH, MAX_BOXES)
    rate = pt.scalar("rate", dtype="float32")
    targets = {"boxes": boxes, "classes": classes, "num_boxes": num_boxes}
    loss = head.loss(maps, found, targets)
    optimizer = WebAdamW(rate, epsilon=EPSILON, weight_decay=0.0)
    updates = optimizer.get_updates(head.weights, pytensor.grad(loss, head.weights))
    state = {variable: variable.type(name=variable.name) for variable in updates}
    outputs = clone_replace([loss, *updates.values()], replace=state)
    given = [*maps, *([found] if part == "class" else []), boxes, classes, num_boxes, rate]
    names = ["loss", *(f"next/{variable.name}" for variable in updates)]
    model = export_onnx([*given, *state.values()], outputs, output_names=names)
    return model, list(updates)


def head_model(part, shapes, class_width, names, opset_version):
    """Build the ModelProto from the detector's maps and output to the detections of both heads.

    Its weights, `known` and `learned` (see `SecondHead.detections`) are inputs, which become
    constants when the page joins the two models.  Maps and output have the `names` of the
    detector's graph; all others begin with "taught/".
    """
    head = SecondHead(part, class_width, size_of(shapes[0][0] // 4))
    maps, found = inputs_of(shapes, 1)
    rows = [pt.vector(name, dtype="int64") for name in ("known", "learned")]
    weights = {variable: variable.type(name=variable.name) for variable in head.weights}
    output = clone_replace([head.detections(maps, found, *rows)], replace=weights)
    given = [*maps, found, *rows, *weights.values()]
    options = {"output_names": ["detections"], "opset_version": opset_version}
    model = onnx.compose.add_prefix(export_onnx(given, output, **options), "taught/")
    outer = dict(zip((f"taught/{v.name}" for v in (*maps, found)), names, strict=True))
    for node in model.graph.node:
        node.input[:] = [outer.get(name, name) for name in node.input]
    return model


def head_sources(model):
    """Return what a head's convolutions read, by the name of their filters in `YOLO11n`.

    Names of the tensors (input, filters, bias), in a model with 8-bit integers those behind
    DequantizeLinear: ``{"model.23.cv2.0.0.conv.weight": ("silu_43/mul", ...), ...}``.
    """
    found = {}
    for node in model.graph.node:
        if node.op_type == "Conv" and node.input[1].startswith(HEAD):
            found[node.input[1].removesuffix("_DequantizeLinear_Output")] = tuple(node.input)
    return found


def first_value(variable, sources):
    """Return where the page takes a state's first value from: a detector's tensor, or a number."""
    layer, _, kind = variable.name.rpartition(".")
    if kind not in ("weight", "bias"):  # the optimizer's
        return {"value": 0}
    if ".cv3." in layer and layer.endswith(".2"):  # the new classes', all the same
        return {"value": 0 if kind == "weight" else float(variable.get_value()[0])}
    return {"tensor": sources[f"{layer}.weight"][1 + (kind == "bias")]}


def teaching_assets(model):
    """Return the assets with which the page teaches a detector more classes, bytes by name.

    Parameters
    ----------
    model : onnx.ModelProto
        As the page gets it: of `export.export_detector`, perhaps with weights in 16 bits, or of
        `tools.quantize`.

    Returns
    -------
    dict
        ``teach-info`` (JSON), and for each part, ``class`` and ``whole``, the training step and the
        head, ``teach-PART-step`` and ``teach-PART-head``.  Empty for a model of another structure.
    """
    sources, graph = head_sources(model), model.graph
    head = YOLO11n(MAX_CLASSES).layers[23]
    if sources.keys() != {v.name for v in head.parameters() if v.ndim == 4}:
        return {}
    [image], [output] = graph.input, graph.output
    size = image.type.tensor_type.shape.dim[2].dim_value

    def inputs_of_filters(weight):
        own = (i.dims for i in graph.initializer if i.name.startswith(weight.name))
        [count] = {dims[1] for dims in own if len(dims) == 4}
        return count

    width, stem = (
        inputs_of_filters(layer) for layer in (head.cv3[0][2].weight, head.cv2[0][0].conv.weight)
    )
    head = YOLO11n(MAX_CLASSES, size=size_of(stem // 4)).layers[23]
    first = [branch[0].conv.weight for branch in head.cv2]
    channels = [weight.type.shape[1] for weight in first]
    maps = [(c, size // s, size // s) for c, s in zip(channels, head.strides, strict=True)]
    anchors = sum(side * side for _, side, _ in maps)
    shapes = [*maps, (output.type.tensor_type.shape.dim[1].dim_value, anchors)]
    names = [*(sources[weight.name][0] for weight in first), output.name]
    info = {
        "input": image.name,
        "size": size,
        "tensors": dict(zip((*LEVELS, "found"), names, strict=True)),
        "batch": BATCH,
        "boxes": MAX_BOXES,
        "classes": MAX_CLASSES,
        "parts": {},
    }
    [opset] = {entry.version for entry in model.opset_import if not entry.domain}
    assets = {}
    for part, (steps, rate) in PARTS.items():
        step, state = step_model(part, shapes, width)
        values = [
            {"name": v.name, "shape": v.type.shape, "dtype": v.type.dtype} | first_value(v, sources)
            for v in state
        ]
        info["parts"][part] = {"steps": steps, "rate": rate, "state": values}
        second = head_model(part, shapes, width, names, opset)
        for kind, made in (("step", step), ("head", second)):
            assets[f"teach-{part}-{kind}"] = made.SerializeToString(deterministic=True)
    return {"teach-info": json.dumps(info).encode(), **assets}


if __name__ == "__main__":
    sys.exit("this is a part of: python -m tools.build_demo MODEL.onnx")
