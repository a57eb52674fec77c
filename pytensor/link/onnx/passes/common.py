from pytensor.link.onnx.ir import attributes_key


def merge_common_subexpressions(graph):
    """Compute equal things once: equal constants, and equal nodes of equal inputs."""
    mapping = {}
    seen = {}
    for name, array in graph.initializers.items():
        if name in graph.parameters or name in graph.origin:
            continue
        key = (array.dtype.str, array.shape, array.tobytes())
        if seen.setdefault(key, name) != name:
            mapping[name] = seen[key]
    changed = bool(mapping)
    for name in mapping:
        del graph.initializers[name]
    seen, kept = {}, []
    for node in graph.nodes:
        node.inputs = [mapping.get(name, name) for name in node.inputs]
        key = (
            node.domain,
            node.op_type,
            tuple(node.inputs),
            len(node.outputs),
            attributes_key(node),
        )
        first = seen.setdefault(key, node)
        if first is node or any(name in graph.outputs for name in node.outputs):
            kept.append(node)
            continue
        mapping.update(zip(node.outputs, first.outputs, strict=True))
        changed = True
    graph.nodes = kept
    return changed
