"""Weights stored as float16: which ones, and that the results stay."""

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from pytensor.link.onnx.half_weights import store_half


def small_model(rows=6, scale=1.0):
    """Means of an image's channels times a matrix."""
    rng = np.random.default_rng(0)
    weights = {
        "axes": np.array([2, 3]),
        "matrix": (scale * rng.standard_normal((3, rows * 84))).astype(np.float32),
    }
    nodes = [
        helper.make_node("ReduceMean", ["images", "axes"], ["means"], keepdims=0),
        helper.make_node("MatMul", ["means", "matrix"], ["product"]),
    ]
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, (1, 3, 8, 8))],
        [helper.make_tensor_value_info("product", TensorProto.FLOAT, (1, rows * 84))],
        [numpy_helper.from_array(value, key) for key, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    helper.set_model_props(model, {"names": "{0: 'person'}"})
    return model


def run(model):
    image = np.random.default_rng(1).random((1, 3, 8, 8), dtype=np.float32)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"images": image})[0]


@pytest.mark.parametrize("taken", [False, True])
def test_half_of_the_size_and_the_same_results(taken):
    model = small_model()
    if taken:  # the name that the stored weights would get
        model.graph.node[0].output[0] = model.graph.node[1].input[0] = "matrix_float16"
    half = store_half(model)
    assert len(half.SerializeToString()) < 0.65 * len(model.SerializeToString())
    assert half.metadata_props == model.metadata_props
    assert half.graph.input == model.graph.input
    assert half.graph.output == model.graph.output
    difference = np.abs(run(half) - run(model)).max()
    assert 0 < difference < 2e-3


def test_weights_that_stay():
    model = small_model(scale=1e5)
    assert store_half(model) == model  # beyond float16's range
    small = store_half(small_model(rows=1)).graph.initializer
    assert {w.name: w.data_type for w in small} == {
        "axes": TensorProto.INT64,
        "matrix": TensorProto.FLOAT,
    }
