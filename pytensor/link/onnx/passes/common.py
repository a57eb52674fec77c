from pytensor.link.onnx.ir import attributes_key

# Every node of these draws new numbers.  onnx_ir merges two of them:
# thoughts/upstream/onnx-ir-merges-random-nodes.md
RANDOM = frozenset(
    (
        "Bernoulli",
        "Dropout",
        "Multinomial",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
    )
)


def merge_common_subexpressions(graph):
    """Compute equal things once: equal constants, and equal nodes of equal inputs."""
    # Constants belong to the outermost graph.
    mapping = _merge_constants(graph) if graph.parent is None else {}
    changed = bool(mapping)
    seen, kept = {}, []
    for node in graph.nodes:
        node.rename(mapping)
        key = (
            node.domain,
            node.op_type,
            tuple(node.inputs),
            len(node.outputs),
            attributes_key(node),
        )
        first = seen.setdefault(key, node) if node.op_type not in RANDOM else node
        if first is node or any(name in graph.outputs for name in node.outputs):
            kept.append(node)
            continue
        mapping.update(zip(node.outputs, first.outputs, strict=True))
        changed = True
    graph.nodes = kept
    return changed


def _merge_constants(graph):
    mapping, seen = {}, {}
    for name, array in graph.initializers.items():
        if name in graph.parameters or name in graph.origin:
            continue
        key = (array.dtype.str, array.shape, array.tobytes())
        if seen.setdefault(key, name) != name:
            mapping[name] = seen[key]
    for name in mapping:
        del graph.initializers[name]
    return mapping
