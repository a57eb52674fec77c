import numpy as np


def cancel_inverses(graph):
    """Remove nodes that return their input, and pairs that undo each other."""
    changed = False
    while True:
        producers = graph.producers()
        bypassed = {}
        for node in graph.nodes:
            rule = RULES.get(node.op_type)
            if rule is None or node.domain:
                continue
            if producers.get(node.inputs[0]) in bypassed:
                continue
            merge = MERGE.get(node.op_type)
            above = _above(producers, node)
            if merge is not None and above is not None and merge(graph, node, above):
                changed = True
                above = _above(producers, node)
            source = rule(graph, node, above)
            if source is not None:
                bypassed[node] = source
        if not graph.bypass(bypassed):
            return changed
        changed = True


def _above(producers, node):
    """Return the node that computes the first input; None where it isn't one of ONNX's own."""
    above = producers.get(node.inputs[0])
    return None if above is None or above.domain else above


# Each changes a node so that it reads what is above the node above it, and returns whether it did.


def _merge_transposes(graph, node, above):
    # A converter of the user's may leave out what ONNX has a default for.
    if above.op_type != "Transpose" or any("perm" not in n.attributes for n in (node, above)):
        return False
    node.attributes["perm"] = [above.attributes["perm"][axis] for axis in node.attributes["perm"]]
    node.inputs[0] = above.inputs[0]
    return True


def _merge_reshapes(graph, node, above):
    shape = graph.constant(node.inputs[1])
    # 0 stands for a length of the input
    if above.op_type not in ("Reshape", "Unsqueeze", "Squeeze") or shape is None or 0 in shape:
        return False
    node.inputs[0] = above.inputs[0]
    return True


MERGE = {"Transpose": _merge_transposes, "Reshape": _merge_reshapes}


# Each returns the value that a node's output equals, or None.


def _identity(graph, node, above):
    return node.inputs[0]


def _cast(graph, node, above):
    to = np.dtype(node.attributes["to"])
    if graph.dtype(node.inputs[0]) == to.name:
        return node.inputs[0]
    if above is None or above.op_type != "Cast" or graph.dtype(above.inputs[0]) != to.name:
        return None
    # Only a detour through a type that holds every value comes back unchanged.
    return above.inputs[0] if holds_every_value(np.dtype(above.attributes["to"]), to) else None


def holds_every_value(wide, narrow):
    """Return whether each value of `narrow` is one of `wide`; False for unusual dtypes.

    `numpy.can_cast` says so of float64 and int64 too, which has more digits.
    """
    if wide.kind not in "iuf" or narrow.kind not in "biuf":
        return narrow == wide
    if narrow.kind in "iu" and wide.kind == "f":
        return np.iinfo(narrow).max < 2 ** (np.finfo(wide).nmant + 1)
    return np.can_cast(narrow, wide)


def _transpose(graph, node, above):
    perm = node.attributes.get("perm")
    return node.inputs[0] if perm is not None and perm == list(range(len(perm))) else None


def _same_shape(graph, node, above):
    before, after = graph.shape(node.inputs[0]), graph.shape(node.outputs[0])
    if before is not None and None not in before and before == after:
        return node.inputs[0]
    return None


def _unsqueeze(graph, node, above):
    if above is None or {node.op_type, above.op_type} != {"Squeeze", "Unsqueeze"}:
        return None
    axes = [graph.constant(n.inputs[1]) if len(n.inputs) > 1 else None for n in (node, above)]
    if any(a is None for a in axes) or axes[0].tolist() != axes[1].tolist():
        return None
    return above.inputs[0]


def _concat(graph, node, above):
    return node.inputs[0] if len(node.inputs) == 1 else None


RULES = {
    "Identity": _identity,
    "Cast": _cast,
    "Transpose": _transpose,
    "Reshape": _same_shape,
    "Expand": _same_shape,
    "Squeeze": _unsqueeze,
    "Unsqueeze": _unsqueeze,
    "Concat": _concat,
}
