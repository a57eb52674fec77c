from collections import defaultdict

import jax
import jax.numpy as jnp
import numpy as np

from pytensor.graph.basic import Constant
from pytensor.link.jax.dispatch.basic import jax_funcify, jax_typify
from pytensor.link.jax.rewriting.updates import SharedNumbers, Update
from pytensor.link.jax.target import target_platform
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.moments import SumOfSquares


def _without_effect(op):
    """Return nodes that give scalars the axes of what they meet: JAX does that by itself."""
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
    by_element = all(isinstance(n.op, Elemwise) or n in unneeded for n in op.nodes)
    by_element = by_element and not any(map(np.ndim, constants.values()))

    def update(*inputs):
        shapes = {np.shape(v) for v in inputs} - {()}
        # On a GPU as vectors: XLA would compute in the layout of a filter's gradient, and copy the
        # results, and arrays of as many elements share a kernel.
        as_vectors = target_platform() != "cpu" and by_element and len(shapes) == 1
        if as_vectors:
            inputs = [jnp.ravel(v) if np.ndim(v) else v for v in inputs]
        values = constants | dict(enumerate(inputs))
        for function, read, written in steps:
            values[written] = function(*[values[k] for k in read])
        new = [values[k] for k in results]
        if as_vectors:
            new = [v.reshape(*shapes) if np.ndim(v) else v for v in new]
        return new[0] if len(new) == 1 else tuple(new)

    return update


@jax_funcify.register(SharedNumbers)
def jax_funcify_SharedNumbers(op, **kwargs):
    def shared_numbers(*numbers):
        if target_platform() == "cpu":
            return numbers
        # XLA makes one kernel of loops over arrays of one shape if these read the same vector, and
        # one for each if they read the same scalars.  The barrier keeps it a vector.
        return tuple(jax.lax.optimization_barrier(jnp.stack(numbers)))

    return shared_numbers


@jax_funcify.register(SumOfSquares)
def jax_funcify_SumOfSquares(op, **kwargs):
    def sum_of_squares(*arrays):
        # In memory nothing is joined: a kernel that sums reads 96 arrays, filters' channels last.
        arrays = [v.reshape(*v.shape[:2], -1).mT if v.ndim > 2 else v for v in arrays]
        flat = [v.ravel().astype(op.output_types[0].dtype) for v in arrays]
        joined = [jnp.concatenate(flat[k : k + 80]) for k in range(0, len(flat), 80)]
        return sum(jnp.sum(jnp.square(vector)) for vector in joined)

    return sum_of_squares
