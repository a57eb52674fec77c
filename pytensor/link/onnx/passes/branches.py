def sink_into_branches(graph):
    """Move what only one branch of an If reads into that branch: it may not be needed."""
    readers = _readers(graph)
    if not any(branch is not None for pairs in readers.values() for _, branch in pairs):
        return False
    destinations = {}
    for node in reversed(graph.nodes):
        branches = {branch for name in node.outputs for _, branch in readers.get(name, [])}
        if len(branches) != 1 or None in branches:
            continue
        (branch,) = branches
        destinations[node] = branch
        for name in filter(None, node.reads()):
            readers[name] = [
                (reader, branch if reader is node else inside) for reader, inside in readers[name]
            ]
    for node, branch in destinations.items():
        # The last node comes first here, and what it reads before it there.
        branch.nodes.insert(0, node)
    graph.nodes = [node for node in graph.nodes if node not in destinations]
    return bool(destinations)


def _readers(graph):
    """Map each value to its readers: nodes, and the branch where a branch of an If reads it."""
    readers = {name: [(None, None)] for name in graph.outputs}
    for node in graph.nodes:
        branches = node.subgraphs if node.op_type == "If" and not node.domain else []
        captured = [(name, branch) for branch in branches for name in branch.captured()]
        # A Loop's body would compute the same again in every step.
        own = node.inputs if branches else node.reads()
        for name, branch in [*((name, None) for name in own), *captured]:
            readers.setdefault(name, []).append((node, branch))
    return readers
