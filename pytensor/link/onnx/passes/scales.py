from math import frexp

import numpy as np

from pytensor.link.onnx.ir import Node


def keep_double_scales(graph):
    """Copy what lies between a product of matrices and a scale that is no float32.

    onnxruntime's own optimization makes the two one node, whose scale is a float32 even where all
    else is double: 0.6 becomes 0.60000002, and 1e300 infinity.  See
    ``thoughts/upstream/onnxruntime-matmul-scale.md``.
    """
    producers, consumers = graph.producers(), graph.consumers()
    scales = {
        node: by for node in graph.nodes if (by := _scale(graph, producers, node)) is not None
    }
    inexact = [node for node, by in scales.items() if not _is_float32(node, by)]

    def before(node):
        return [producers[name] for name in node.inputs if name in producers]

    def after(node):
        return consumers.get(node.outputs[0], [])

    def meets_product(node, neighbours):
        return any(
            other.op_type == "MatMul"
            # A transposition becomes part of the product too, and so do other scales.
            or (
                (other.op_type == "Transpose" or other in scales)
                and meets_product(other, neighbours)
            )
            for other in neighbours(node)
        )

    copies = {}
    for node in inexact:
        if meets_product(node, before):
            position = next(
                i for i, name in enumerate(node.inputs) if _constant(graph, producers, name) is None
            )
            name = node.inputs[position]
            node.inputs[position] = graph.fresh_name(f"{name}_copy")
            copies[node] = [_copy(name, node.inputs[position], node)]
        if meets_product(node, after):
            (output,) = node.outputs
            node.outputs = [graph.fresh_name(f"{output}_scaled")]
            copies.setdefault(node, []).append(_copy(node.outputs[0], output, node))
    nodes = []
    for node in graph.nodes:
        around = copies.get(node, [])
        nodes += [copy for copy in around if copy.outputs[0] in node.inputs]
        nodes.append(node)
        nodes += [copy for copy in around if copy.inputs[0] in node.outputs]
    graph.nodes = nodes
    return bool(copies)


def _copy(name, output, node):
    # onnxruntime removes an Identity, but not the largest of one.
    return Node("Max", [name], [output], name=f"{node.name}/copy_of_{name}")


def _scale(graph, producers, node):
    """Return the one constant number, in double precision, that a node scales by."""
    if node.op_type not in ("Mul", "Div") or node.domain:
        return None
    values = [_constant(graph, producers, name) for name in node.inputs]
    if node.op_type == "Div":
        values[0] = None
    found = [v for v in values if v is not None and v.size == 1 and v.dtype == np.float64]
    return found[0].item() if len(found) == 1 else None


def _constant(graph, producers, name):
    """Return a constant, whose axes and dtype onnxruntime may have yet to change."""
    dtype = None
    while name in producers and producers[name].op_type in ("Unsqueeze", "Reshape", "Cast"):
        dtype = dtype or producers[name].attributes.get("to")
        name = producers[name].inputs[0]
    value = graph.constant(name)
    return value if value is None or dtype is None else value.astype(dtype)


def _is_float32(node, value):
    with np.errstate(over="ignore"):
        exact = float(np.float32(value)) == value
    # It multiplies by a divisor's reciprocal, which is exact only for powers of two.
    return exact and (node.op_type == "Mul" or abs(frexp(value)[0]) == 0.5)
