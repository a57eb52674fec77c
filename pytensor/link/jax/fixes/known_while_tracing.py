"""Conversions of nodes whose lengths are known while JAX traces, though they are no constants.

PyTensor's conversions of some Ops want constants for them.  Here such a node is converted when it
is called, with the values that it is called with.
"""

from functools import cache

import jax
import numpy as np
from jax.core import Tracer

from pytensor.graph.basic import Constant
from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.fixes import corrected_funcify
from pytensor.link.jax.rewriting.find_sizes import length_inputs
from pytensor.link.jax.rewriting.host_integers import HostIntegers, as_known
from pytensor.tensor.basic import ARange, Nonzero, constant
from pytensor.tensor.extra_ops import Unique
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.shape import Reshape

__all__ = ["computed_if_known", "is_known", "with_numbers"]


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


@corrected_funcify.register(ARange)
@corrected_funcify.register(RandomVariable)
@corrected_funcify.register(Reshape)
def corrected_funcify_with_constants(op, node, **kwargs):
    """Convert a node when it is called, with its lengths as constants; now if they are."""
    places = [k for k in length_inputs(op, node) if not isinstance(node.inputs[k], Constant)]
    if not places:
        return jax_funcify(op, node=node, **kwargs)

    def called(*inputs):
        new = list(node.inputs)
        with jax.ensure_compile_time_eval():
            for k in places:
                new[k] = constant(np.asarray(inputs[k], dtype=new[k].type.dtype))
            converted = jax_funcify(op, node=op.make_node(*new), **kwargs)
        return converted(*inputs)

    return called


@corrected_funcify.register(Nonzero)
@corrected_funcify.register(Unique)
def corrected_funcify_in_numpy(op, node, **kwargs):
    if not length_inputs(op, node):
        return jax_funcify(op, node=node, **kwargs)
    # Traced values were refused when the function was compiled.
    return computed_if_known(node, None)
