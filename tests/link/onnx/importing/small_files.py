"""Files of a few nodes, as strangers write them, through `from_onnx` and in onnxruntime."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tests.link.onnx.importing import with_onnxruntime
from tests.link.onnx.importing.with_onnxruntime import in_pytensor

FLOAT, HALF = TensorProto.FLOAT, TensorProto.FLOAT16
INT64, BOOL = TensorProto.INT64, TensorProto.BOOL


def node(op_type, inputs, outputs="y", **attributes):
    """Return a node whose inputs and outputs are given as names in one text."""
    names = ["" if name == "_" else name for name in inputs.split()]
    return helper.make_node(op_type, names, outputs.split(), **attributes)


def info(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def body(nodes, outputs, inputs=(), values=(), **more):
    """Return a graph for an If, a Loop or a Scan; its parts are given as to `model`."""
    return helper.make_graph(
        nodes if isinstance(nodes, list) else [nodes],
        "foreign",
        [info(*v) for v in inputs],
        [info(*v) for v in outputs],
        [numpy_helper.from_array(np.asarray(v), name) for name, v in dict(values).items()],
        **more,
    )


def model(nodes, inputs, outputs=(("y", None),), values=(), opset=17, ir_version=8, **more):
    """Build a model of nodes, inputs and outputs (name, shape[, dtype]), and initializers."""
    graph = body(nodes, outputs, inputs, values, **more)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir_version)


def run(network, *values, **options):
    """Return a model's outputs for these inputs, by `from_onnx`."""
    return in_pytensor(network, values, **options)


def compare(network, *values, **options):
    """Compare a model's results with onnxruntime's, dtypes and shapes too."""
    return with_onnxruntime.compare(network, values, **options)


def ones(*shape):
    return np.ones(shape, "float32")
