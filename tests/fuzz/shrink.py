"""Make a graph that a linker gets wrong as small as it gets while it stays wrong."""

from dataclasses import replace

from tests.catalogue.random_graphs.programs import Step, of_inputs


def without_step(graph, which):
    """Yield the graph without a step; who took its result takes one of its operands instead."""
    number, step = len(graph.inputs) + which, graph.steps[which]
    for instead in {*step.operands}:
        steps = []
        for other in graph.steps[:which] + graph.steps[which + 1 :]:
            operands = tuple(instead if k == number else k - (k > number) for k in other.operands)
            steps.append(replace(other, operands=operands))
        yield replace(graph, steps=tuple(steps))


def without_input(graph, which):
    """Yield the graph without an input that no step takes."""
    if any(which in step.operands for step in graph.steps):
        return
    steps = tuple(
        Step(s.operation, tuple(k - (k > which) for k in s.operands), s.settings)
        for s in graph.steps
    )
    inputs = graph.inputs[:which] + graph.inputs[which + 1 :]
    yield replace(graph, inputs=inputs, steps=steps, sizes=of_inputs(graph.sizes, inputs))


def with_other_operands(graph):
    """Let one step at a time take an input of the same shape for another step's result."""
    for which, step in enumerate(graph.steps):
        for place, taken in enumerate(step.operands):
            for other in range(len(graph.inputs)):
                if taken >= len(graph.inputs):
                    operands = (*step.operands[:place], other, *step.operands[place + 1 :])
                    steps = list(graph.steps)
                    steps[which] = replace(step, operands=operands)
                    yield replace(graph, steps=tuple(steps))


def smaller(graph):
    """Yield graphs with one thing less, the largest cuts first."""
    for which in reversed(range(len(graph.steps))):
        yield from without_step(graph, which)
    for which in reversed(range(len(graph.inputs))):
        if len(graph.inputs) > 1:
            yield from without_input(graph, which)
    for order in range(graph.order):
        yield replace(graph, order=order)
    if graph.cost != "sum":
        yield replace(graph, cost="sum")
    yield from with_other_operands(graph)
    for name, length in graph.sizes.items():
        for less in sorted({1, 2, length // 2, length * 3 // 4, length - 4, length - 1}):
            if 0 < less < length:
                yield replace(graph, sizes=graph.sizes | {name: less})
    if graph.static:
        yield replace(graph, static=False)
    if graph.dtype == "float32":
        yield replace(graph, dtype="float64")


def shrink(graph, is_wrong, most=500):
    """Return the smallest graph found that is still wrong.

    Parameters
    ----------
    graph : Graph
    is_wrong : callable
        Of a graph; False for one that can't be built.
    most : int
        Graphs that are tried at most.
    """
    tried = {str(graph)}
    found = True
    while found:
        found = False
        for candidate in smaller(graph):
            if str(candidate) in tried:
                continue
            if len(tried) > most:
                return graph
            tried.add(str(candidate))
            if is_wrong(candidate):
                graph, found = candidate, True
                break
    return graph
