"""Store a model's weights as float16; the computation stays float32."""

import numpy as np

import onnx
from onnx import TensorProto, helper, numpy_helper

MIN_VALUES = 256  # smaller arrays would save less than the node that casts them costs


def store_half(model):
    """Return a copy of a model whose large float32 weights are stored as float16.

    A Cast node turns each of them back into float32 under its old name; runtimes do that once,
    when they load the model.  The file is half as large, and needs no float16 arithmetic.

    Parameters
    ----------
    model : onnx.ModelProto

    Returns
    -------
    onnx.ModelProto
        With the same inputs, outputs and metadata.  Weights beyond float16's range (65504) stay
        as they are.
    """
    half = onnx.ModelProto()
    half.CopyFrom(model)
    graph = half.graph
    taken = _names(graph)
    # An initializer that is an input too is a default value, which a caller may replace.
    given = {value.name for value in graph.input}
    casts = []
    for index, weight in enumerate(graph.initializer):
        values = _as_half(weight)
        if values is None or weight.name in given:
            continue
        name = _fresh(f"{weight.name}_float16", taken)
        casts.append(
            helper.make_node("Cast", [name], [weight.name], name=name, to=TensorProto.FLOAT)
        )
        graph.initializer[index].CopyFrom(numpy_helper.from_array(values, name))
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    onnx.checker.check_model(half)
    return half


def _as_half(weight):
    """The values as float16, or None if they are to stay as they are."""
    if weight.data_type != TensorProto.FLOAT or np.prod(weight.dims) < MIN_VALUES:
        return None
    values = numpy_helper.to_array(weight)
    largest = float(np.finfo(np.float16).max)
    # written so that NaN fails too
    return values.astype(np.float16) if (np.abs(values) <= largest).all() else None


def _names(graph):
    """All names of values and nodes."""
    names = {value.name for value in (*graph.initializer, *graph.input, *graph.output)}
    for node in graph.node:
        names |= {node.name, *node.input, *node.output}
    return names


def _fresh(name, taken):
    """A name that isn't taken yet; takes it."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
