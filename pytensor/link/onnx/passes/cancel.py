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
            above = producers.get(node.inputs[0])
            if above in bypassed:
                continue
            source = rule(graph, node, above)
            if source is not None:
                bypassed[node] = source
        if not graph.bypass(bypassed):
            return changed
        changed = True


def _identity(graph, node, above):
    return node.inputs[0]


def _cast(graph, node, above):
    to = np.dtype(node.attributes["to"]).name
    if graph.dtype(node.inputs[0]) == to:
        return node.inputs[0]
    if above is None or above.op_type != "Cast":
        return None
    source = graph.dtype(above.inputs[0])
    # Only a detour through a type that holds every value comes back unchanged.
    if source == to and np.can_cast(source, np.dtype(above.attributes["to"])):
        return above.inputs[0]
    return None


def _transpose(graph, node, above):
    perm = node.attributes["perm"]
    source = node.inputs[0]
    if above is not None and above.op_type == "Transpose" and not above.domain:
        perm = [above.attributes["perm"][axis] for axis in perm]
        source = above.inputs[0]
        if perm != list(range(len(perm))):
            node.attributes["perm"] = perm
            node.inputs[0] = source
            return None
    return source if perm == list(range(len(perm))) else None


def _same_shape(graph, node, above):
    before, after = graph.shape(node.inputs[0]), graph.shape(node.outputs[0])
    if before is not None and None not in before and before == after:
        return node.inputs[0]
    return None


def _reshape(graph, node, above):
    if above is not None and above.op_type in ("Reshape", "Unsqueeze", "Squeeze"):
        shape = graph.constant(node.inputs[1])
        if shape is not None and (shape != 0).all():
            node.inputs[0] = above.inputs[0]
    return _same_shape(graph, node, above)


def _unsqueeze(graph, node, above):
    if above is None or {node.op_type, above.op_type} != {"Squeeze", "Unsqueeze"}:
        return None
    axes = [graph.constant(n.inputs[1]) for n in (node, above)]
    if any(a is None for a in axes) or axes[0].tolist() != axes[1].tolist():
        return None
    return above.inputs[0]


def _concat(graph, node, above):
    return node.inputs[0] if len(node.inputs) == 1 else None


RULES = {
    "Identity": _identity,
    "Cast": _cast,
    "Transpose": _transpose,
    "Reshape": _reshape,
    "Expand": _same_shape,
    "Squeeze": _unsqueeze,
    "Unsqueeze": _unsqueeze,
    "Concat": _concat,
}
