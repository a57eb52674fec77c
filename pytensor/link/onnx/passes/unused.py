def remove_unused(graph):
    """Remove nodes and initializers that no output depends on."""
    needed = set(graph.outputs)
    kept = []
    for node in reversed(graph.nodes):
        if needed.intersection(node.outputs):
            kept.append(node)
            needed.update(node.reads())
    changed = len(kept) < len(graph.nodes)
    graph.nodes = kept[::-1]
    if graph.parent is not None:
        return changed
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
    initializers = [(renamed.get(name, name), a) for name, a in graph.initializers.items()]
    graph.initializers.clear()
    graph.initializers.update(initializers)
    graph.rename(renamed)
    graph.parameters.update(renamed.values())
    for name in renamed:
        del graph.origin[name]
    return bool(renamed)


def sort_initializers(graph):
    """Put the initializers in the order in which nodes read them."""
    order = dict.fromkeys(name for node in graph.nodes for name in node.reads())
    names = [name for name in order if name in graph.initializers]
    rest = [name for name in graph.initializers if name not in order]
    initializers = [(name, graph.initializers[name]) for name in (*names, *rest)]
    graph.initializers.clear()
    graph.initializers.update(initializers)
