"""Files of a few nodes, as strangers write them, through `from_onnx` and in onnxruntime."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from pytensor import function
from pytensor.link.onnx import from_onnx
from tests.link.onnx.importing.with_onnxruntime import PYTHON, in_onnxruntime

FLOAT, HALF, INT64 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64


def node(op_type, inputs, outputs="y", **attributes):
    """Return a node whose inputs and outputs are given as names in one text."""
    names = ["" if name == "_" else name for name in inputs.split()]
    return helper.make_node(op_type, names, outputs.split(), **attributes)


def info(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs, outputs=(("y", None),), values=(), opset=17, ir_version=8, **more):
    """Build a model of nodes, inputs and outputs (name, shape[, dtype]), and initializers."""
    graph = helper.make_graph(
        nodes if isinstance(nodes, list) else [nodes],
        "foreign",
        [info(*v) for v in inputs],
        [info(*v) for v in outputs],
        [numpy_helper.from_array(np.asarray(v), name) for name, v in dict(values).items()],
        **more,
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir_version)


def run(network, *values, mode=PYTHON, **options):
    """Return a model's outputs for these inputs, by `from_onnx`."""
    imported = from_onnx(network, **options)
    inputs, outputs = list(imported.inputs.values()), list(imported.outputs.values())
    return function(inputs, outputs, mode=mode, on_unused_input="ignore")(*values)


def compare(network, *values, rtol=1e-5, **options):
    """Compare a model's results with onnxruntime's, dtypes and shapes too."""
    results, wanted = run(network, *values, **options), in_onnxruntime(network, values)
    for result, want in zip(results, wanted, strict=True):
        assert (result.dtype, result.shape) == (want.dtype, want.shape)
        np.testing.assert_allclose(result, want, rtol=rtol, atol=1e-6)
    return results


def ones(*shape):
    return np.ones(shape, "float32")
