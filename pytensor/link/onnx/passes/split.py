from collections import defaultdict

import numpy as np

from pytensor.link.onnx.ir import Node


def slices_to_split(graph):
    """Write slices that together make up a tensor as one Split."""
    groups = defaultdict(list)
    for node in graph.nodes:
        span = _span(graph, node)
        if span is not None:
            source, axis, start, end = span
            groups[source, axis].append((start, end, node))
    replaced = {}
    for (source, axis), spans in groups.items():
        spans.sort(key=lambda span: span[:2])
        length = graph.shape(source)[axis]
        edges = [0, *(end for _, end, _ in spans)]
        if len(spans) < 2 or edges[-1] != length or edges[:-1] != [s for s, _, _ in spans]:
            continue
        nodes = [node for _, _, node in spans]
        sizes = np.array([end - start for start, end, _ in spans], dtype="int64")
        first = min(nodes, key=graph.nodes.index)
        outputs = [node.outputs[0] for node in nodes]
        split = Node(
            "Split",
            [source, graph.add_initializer("split_sizes", sizes)],
            outputs,
            {"axis": axis},
            name=f"{first.name}/split",
            metadata=first.metadata,
        )
        replaced.update({node: split if node is first else None for node in nodes})
    graph.nodes = [
        replaced.get(node, node) for node in graph.nodes if replaced.get(node, node) is not None
    ]
    return bool(replaced)


def _span(graph, node):
    """Return ``(source, axis, start, end)`` of a slice of one axis of known length, else None."""
    if node.op_type != "Slice" or node.domain or len(node.inputs) != 5:
        return None
    bounds = [graph.constant(name) for name in node.inputs[1:]]
    shape = graph.shape(node.inputs[0])
    if any(b is None or b.size != 1 for b in bounds) or shape is None:
        return None
    start, end, axis, step = (int(b[0]) for b in bounds)
    if step != 1 or not isinstance(shape[axis], int):
        return None
    start, end, _ = slice(start, end).indices(shape[axis])
    return (node.inputs[0], axis % len(shape), start, end) if start < end else None
