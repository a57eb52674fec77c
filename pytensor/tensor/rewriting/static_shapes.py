"""Keep shapes known: fewer integer computations in every backend, and none that JAX can't trace.

JAX traces a function with concrete shapes, but integers that were computed from them with array
operations are traced values, which can't serve as a shape any more.
"""

import numpy as np

from pytensor.compile import optdb
from pytensor.graph.basic import Constant
from pytensor.graph.rewriting.basic import copy_stack_trace, dfs_rewriter, node_rewriter
from pytensor.tensor.basic import MakeVector, constant, get_underlying_scalar_constant_value
from pytensor.tensor.exceptions import NotScalarConstantError
from pytensor.tensor.rewriting.basic import register_canonicalize
from pytensor.tensor.shape import Reshape
from pytensor.tensor.subtensor import IncSubtensor


@node_rewriter([Reshape])
def local_reshape_to_static_shape(fgraph, node):
    """``reshape(x, shape)`` -> ``reshape(x, (-1, 64, 36))`` where one length at most is unknown.

    The gradient of a reshape asks for its input's shape, which shape inference turns into
    arithmetic.  The output's type already says all lengths but the batch's.
    """
    x, shape = node.inputs
    static = node.outputs[0].type.shape
    if isinstance(shape, Constant) or static.count(None) > 1:
        return None
    # -1 stands for any length only if the others aren't 0
    if None in static and 0 in static:
        return None
    lengths = constant(np.array([-1 if n is None else n for n in static], dtype="int64"))
    new = Reshape(node.op.ndim)(x, lengths)
    copy_stack_trace(node.outputs[0], new)
    return [new] if new.type == node.outputs[0].type else None


# before "jax_shape_parameter_as_tuple", which takes what remains
optdb.register(
    "jax_reshape_to_static_shape", dfs_rewriter(local_reshape_to_static_shape), "jax", position=99
)


@register_canonicalize
@node_rewriter([IncSubtensor])
def local_set_subtensor_of_make_vector(fgraph, node):
    """``set_subtensor(stack([a, b, c])[1], d)`` -> ``stack([a, d, c])``.

    This is what the shape of a split looks like.
    """
    vector, value, *index = node.inputs
    if not (
        node.op.set_instead_of_inc
        and vector.owner is not None
        and isinstance(vector.owner.op, MakeVector)
        and value.type.ndim == 0
        and value.type.dtype == vector.type.dtype
        and len(index) == 1
        and node.op.idx_list == (0,)
    ):
        return None
    try:
        position = int(get_underlying_scalar_constant_value(index[0]))
    except NotScalarConstantError:
        return None
    entries = list(vector.owner.inputs)
    if not -len(entries) <= position < len(entries):
        return None  # the error belongs to run time
    entries[position] = value
    new = vector.owner.op(*entries)
    copy_stack_trace(node.outputs[0], new)
    return [new]
