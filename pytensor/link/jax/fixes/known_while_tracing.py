"""Conversions of nodes whose lengths are known while JAX traces, though they are no constants.

PyTensor's conversions of some Ops want constants for them.  Here such a node is converted when it
is called, with the values that it is called with.
"""

from functools import cache

import jax
import numpy as np
from jax.core import Tracer

from pytensor.graph.basic import Constant
from pytensor.link.jax.rewriting.find_sizes import length_inputs
from pytensor.link.jax.rewriting.host_integers import HostIntegers, as_known
from pytensor.tensor.basic import constant

__all__ = ["computed_if_known", "is_known", "with_constants", "with_numbers"]


def is_known(value):
    """Return whether a value is known while JAX traces."""
    return not isinstance(value, Tracer)


def computed_if_known(node, converted):
    """Compute a node in NumPy, if it is called with known values: lengths may depend on it.

    `converted` is called for traced values only.
    """

    @cache
    def in_numpy():
        inputs = [v if isinstance(v, Constant) else v.type() for v in node.inputs]
        outputs = node.op.make_node(*inputs).outputs
        return HostIntegers(inputs, outputs, any_op=True).function()

    def computed(*inputs):
        if not all(map(is_known, inputs)):
            return converted(*inputs)
        results = in_numpy()(inputs)
        return results[0] if len(results) == 1 else tuple(results)

    return computed


def with_numbers(places, converted):
    """Call a node's function with numbers in the place of JAX's arrays, where those are lengths.

    Python can't compare known arrays while JAX traces.
    """

    def called(*inputs):
        inputs = list(inputs)
        for k in places:
            if isinstance(inputs[k], jax.Array) and is_known(inputs[k]):
                inputs[k] = as_known(inputs[k])
        return converted(*inputs)

    return called


def with_constants(node, convert):
    """Convert a node when it is called, with its lengths as constants; now if they are."""
    places = [k for k in length_inputs(node.op, node) if not isinstance(node.inputs[k], Constant)]
    if not places:
        return convert(node=node)

    def called(*inputs):
        new = list(node.inputs)
        with jax.ensure_compile_time_eval():
            for k in places:
                new[k] = constant(np.asarray(inputs[k], dtype=new[k].type.dtype))
            converted = convert(node=node.op.make_node(*new))
        return converted(*inputs)

    return called
