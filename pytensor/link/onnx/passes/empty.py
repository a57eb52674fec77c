import numpy as np

from pytensor.link.onnx.ir import Node


def slice_empty_expansions(graph):
    """Write an Expand to a constant size of 0 as one to size 1 of which nothing is taken.

    onnxruntime's own optimization drops the Expand, and leaves one element.
    See ``thoughts/upstream/onnxruntime-empty-tensors.md``.
    """
    nodes, changed = [], False
    for node in graph.nodes:
        nodes.append(node)
        target = graph.constant(node.inputs[1]) if node.op_type == "Expand" else None
        if target is None or target.all():
            continue
        changed = True
        axes = np.flatnonzero(target == 0) - len(target)
        (output,) = node.outputs
        ones = graph.add_initializer("expand_shape", np.where(target == 0, 1, target))
        zeros = graph.add_initializer("slice_bounds", np.zeros(len(axes), "int64"))
        whole = graph.fresh_name(f"{output}_whole")
        node.inputs = [node.inputs[0], ones]
        node.outputs = [whole]
        names = [whole, zeros, zeros, graph.add_initializer("slice_axes", axes.astype("int64"))]
        nodes.append(Node("Slice", names, [output], name=f"{node.name}/slice", domain=node.domain))
    graph.nodes = nodes
    return changed
