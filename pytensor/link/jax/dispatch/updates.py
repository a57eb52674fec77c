from collections import defaultdict

from pytensor.graph.basic import Constant
from pytensor.link.jax.dispatch.basic import jax_funcify, jax_typify
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.rewriting.updates import Update


def _without_effect(op):
    """Nodes that give scalars the axes of what they meet: JAX does that by itself."""
    readers = defaultdict(list)
    for node in op.nodes:
        for v in node.inputs:
            readers[v].append(node)
    return {
        node
        for node in op.nodes
        if isinstance(node.op, DimShuffle)
        and node.inputs[0].type.ndim == 0
        and node.outputs[0] not in op.results
        and all(
            isinstance(n.op, Elemwise) and not all(n.outputs[0].type.broadcastable)
            for n in readers[node.outputs[0]]
        )
    }


@jax_funcify.register(Update)
def jax_funcify_Update(op, node=None, **kwargs):
    unneeded = _without_effect(op)
    numbers = {v: k for k, v in enumerate(op.inputs)}
    constants = {}

    def number(variable):
        if variable not in numbers:
            numbers[variable] = len(numbers)
            if isinstance(variable, Constant):
                constants[numbers[variable]] = jax_typify(variable.data, variable=variable)
        return numbers[variable]

    steps = []
    for n in op.nodes:
        if n in unneeded:
            numbers[n.outputs[0]] = number(n.inputs[0])
            continue
        function = jax_funcify(n.op, node=n)
        steps.append((function, [number(v) for v in n.inputs], number(n.outputs[0])))
    results = [number(v) for v in op.results]

    def update(*inputs):
        values = constants | dict(enumerate(inputs))
        for function, read, written in steps:
            values[written] = function(*[values[k] for k in read])
        return values[results[0]] if len(results) == 1 else tuple(values[k] for k in results)

    return update
