"""Runtimes with one fault: onnxruntime, given a model in which one node is another."""

from dataclasses import dataclass

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

from pytensor.link.onnx.compare.graph import Model
from pytensor.link.onnx.compare.runtimes import ORT


@dataclass
class Fault:
    """One node of a model, by operator and its number among those, and what is wrong with it."""

    model: str
    operator: str
    number: int
    kind: str
    value: object = None

    def __str__(self):
        return f"{self.model}: {self.kind} of {self.operator} {self.number}"

    def node_of(self, model: Model) -> int:
        found = [i for i, node in enumerate(model.nodes) if node.op_type == self.operator]
        return found[self.number]


def faulty(fault: Fault, model: Model):
    """Return a runtime that computes one node wrongly, in the model and in parts of it."""
    output = model.nodes[fault.node_of(model)].output[0]
    real = ORT("ort-off")

    def run(proto, inputs):
        broken = ModelProto()
        broken.CopyFrom(proto)
        nodes = list(broken.graph.node)
        at = [i for i, node in enumerate(nodes) if output in node.output]
        if at:
            KINDS[fault.kind](broken.graph, nodes, at[0], fault.value)
            del broken.graph.node[:]
            broken.graph.node.extend(nodes)
        return real.run(broken, inputs)

    run.__name__ = fault.kind
    return run


def attribute(graph, nodes, at, value):
    """Set an attribute to another value."""
    name, wrong = value
    kept = [a for a in nodes[at].attribute if a.name != name]
    del nodes[at].attribute[:]
    nodes[at].attribute.extend([*kept, helper.make_attribute(name, wrong)])


def weight(graph, nodes, at, value):
    """Change one number of a weight, which the node alone gets changed."""
    weights = {t.name: t for t in graph.initializer}
    name = next(n for n in nodes[at].input if n in weights)
    array = numpy_helper.to_array(weights[name]).copy()
    flat = array.reshape(-1)
    flat[flat.size // 2] += value
    graph.initializer.append(numpy_helper.from_array(array, "changed"))
    nodes[at].input[list(nodes[at].input).index(name)] = "changed"


def after(nodes, at, make):
    """Put what `make` returns, nodes from a name to a name, behind a node."""
    name = nodes[at].output[0]
    nodes[at].output[0] = "before"
    nodes[at + 1 : at + 1] = make("before", name)


def axes(graph, nodes, at, value):
    """Permute the axes of the result."""
    after(nodes, at, lambda x, y: [helper.make_node("Transpose", [x], [y], perm=value)])


def half(graph, nodes, at, value):
    """Round what the node reads to half precision."""
    node, more = nodes[at], []
    for i, name in enumerate(node.input[:2]):
        small, back = f"half_{i}", f"single_{i}"
        more += [
            helper.make_node("Cast", [name], [small], to=TensorProto.FLOAT16),
            helper.make_node("Cast", [small], [back], to=TensorProto.FLOAT),
        ]
        node.input[i] = back
    nodes[at:at] = more


def fusion(graph, nodes, at, value):
    """Compute the node after this one wrongly, unless the value between them is an output."""
    name = nodes[at].output[0]
    if name in {v.name for v in graph.output}:
        return
    readers = [i for i, node in enumerate(nodes) if name in node.input]
    if readers:
        scaled(graph, nodes, readers[0], value)


def scaled(graph, nodes, at, value):
    graph.initializer.append(numpy_helper.from_array(np.float32(value), "factor"))
    after(nodes, at, lambda x, y: [helper.make_node("Mul", [x, "factor"], [y])])


def saturation(graph, nodes, at, value):
    """Cut the result off at a number."""
    bounds = [np.float32(-value), np.float32(value)]
    graph.initializer.extend(
        numpy_helper.from_array(x, n) for x, n in zip(bounds, ("low", "high"), strict=True)
    )
    after(nodes, at, lambda x, y: [helper.make_node("Clip", [x, "low", "high"], [y])])


def flushed(graph, nodes, at, value):
    """Make subnormal numbers zero."""
    tiny = numpy_helper.from_array(np.finfo("float32").tiny, "tiny")
    zero = numpy_helper.from_array(np.float32(0), "nothing")
    graph.initializer.extend([tiny, zero])
    after(
        nodes,
        at,
        lambda x, y: [
            helper.make_node("Abs", [x], ["size"]),
            helper.make_node("Less", ["size", "tiny"], ["subnormal"]),
            helper.make_node("Where", ["subnormal", "nothing", x], [y]),
        ],
    )


KINDS = {f.__name__: f for f in (attribute, weight, axes, half, fusion, saturation, flushed)}
FAULTS = [
    Fault("ours", "Conv", 1, "half"),
    Fault("ours", "MatMul", 0, "saturation", 0.5),
    Fault("ours", "Conv", 1, "fusion", 1.01),
    Fault("ours", "MaxPool", 0, "axes", [0, 1, 3, 2]),
    Fault("scaled", "Mul", 0, "flushed"),
    Fault("scaled", "MaxPool", 0, "flushed"),
    Fault("scaled", "Mul", 0, "fusion", 1.001),
    Fault("torch_resnet18", "Conv", 3, "weight", 0.01),
    Fault("torch_resnet18", "Conv", 1, "half"),
    Fault("torch_resnet18", "Add", 1, "saturation", 0.3),
    Fault("torch_resnet18", "Conv", 0, "fusion", 1.01),
    Fault("detector", "Conv", 20, "half"),
    Fault("torch_unet", "LeakyRelu", 2, "attribute", ("alpha", 0.11)),
    Fault("torch_unet", "InstanceNormalization", 1, "attribute", ("epsilon", 1e-3)),
    Fault("torch_unet", "ConvTranspose", 0, "half"),
    Fault("detector", "Sigmoid", 30, "saturation", 0.6),
    Fault("torch_unet", "Resize", 0, "attribute", ("coordinate_transformation_mode", "half_pixel")),
    Fault("torch_transformer", "Softmax", 0, "attribute", ("axis", 1)),
    Fault("torch_transformer", "LayerNormalization", 2, "weight", 0.01),
    Fault("torch_transformer", "MatMul", 4, "half"),
    Fault("torch_transformer", "Erf", 0, "fusion", 1.01),
    Fault("torch_lstm", "LSTM", 0, "weight", 0.02),
    Fault("torch_lstm", "Gemm", 0, "half"),
    Fault("torch_lstm", "GRU", 0, "weight", 0.02),
    Fault("torchscript_transformer", "Softmax", 1, "saturation", 0.3),
    Fault("torchscript_transformer", "LayerNormalization", 3, "attribute", ("epsilon", 1e-2)),
    Fault("jax_convolutional", "Gelu", 0, "attribute", ("approximate", "none")),
    Fault("jax_convolutional", "Conv", 1, "half"),
    Fault("sklearn_mlp", "MatMul", 0, "weight", 0.01),
    Fault("int8", "Conv", 1, "saturation", 0.3),
]
