def remove_unused(graph):
    """Remove nodes and initializers that no output depends on."""
    needed = set(graph.outputs)
    kept = []
    for node in reversed(graph.nodes):
        if needed.intersection(node.outputs):
            kept.append(node)
            needed.update(node.inputs)
    changed = len(kept) < len(graph.nodes)
    graph.nodes = kept[::-1]
    for name in [name for name in graph.initializers if name not in needed]:
        if graph.parameters_are_inputs and name in graph.parameters:
            continue
        del graph.initializers[name]
        graph.parameters.discard(name)
        changed = True
    return changed


def restore_parameter_names(graph):
    """Give a constant computed from one parameter that is gone the parameter's name."""
    claims = {}
    for name in graph.initializers:
        if name in graph.origin:
            claims.setdefault(graph.origin[name], []).append(name)
    renamed = {
        names[0]: source
        for source, names in claims.items()
        if len(names) == 1 and source not in graph.initializers
    }
    graph.initializers = {
        renamed.get(name, name): array for name, array in graph.initializers.items()
    }
    for node in graph.nodes:
        node.inputs = [renamed.get(name, name) for name in node.inputs]
    graph.parameters.update(renamed.values())
    for name in renamed:
        del graph.origin[name]
    return bool(renamed)


def sort_initializers(graph):
    """Put the initializers in the order in which nodes read them."""
    order = dict.fromkeys(name for node in graph.nodes for name in node.inputs)
    names = [name for name in order if name in graph.initializers]
    rest = [name for name in graph.initializers if name not in order]
    graph.initializers = {name: graph.initializers[name] for name in (*names, *rest)}
