"""Keep shapes known, for JAX and mode ONNX: fewer integer computations.

JAX traces a function with concrete shapes, but integers that were computed from them with array
operations are traced values, which can't serve as a shape any more.
"""

import warnings

import numpy as np

from pytensor.compile import optdb
from pytensor.graph.basic import Constant
from pytensor.graph.rewriting.basic import copy_stack_trace, dfs_rewriter, node_rewriter
from pytensor.printing import pprint
from pytensor.tensor.basic import (
    MakeVector,
    cast,
    constant,
    get_underlying_scalar_constant_value,
)
from pytensor.tensor.exceptions import NotScalarConstantError
from pytensor.tensor.rewriting.known_lengths import beside_our_ops, lengths_behind
from pytensor.tensor.shape import Reshape
from pytensor.tensor.subtensor import IncSubtensor


@node_rewriter([Reshape])
def local_reshape_to_lengths(fgraph, node):
    """Compute the shape of a reshape while JAX traces.

    The gradient of a reshape asks for its input's shape, which shape inference turns into
    arithmetic.
    """
    x, shape = node.inputs
    if isinstance(shape, Constant):
        return None
    from pytensor.link.jax.dispatch.lengths import UNCHECKED, JAXShapeTuple, LengthsTuple

    if shape.owner is not None and isinstance(shape.owner.op, JAXShapeTuple):
        return None
    static = node.outputs[0].type.shape
    lengths = lengths_behind(shape)
    if lengths is not None:
        new_shape = LengthsTuple(lengths, shape, static)(*lengths)
    # -1 stands for any length only if the others aren't 0
    elif static.count(None) > 1 or (None in static and 0 in static):
        return None
    else:
        warnings.warn(UNCHECKED.format(shape=pprint(shape)), stacklevel=2)
        new_shape = constant(np.array([-1 if n is None else n for n in static], dtype="int64"))
    new = node.clone_with_new_inputs([x, new_shape]).outputs
    copy_stack_trace(node.outputs, new)
    return new


# before "jax_shape_parameter_as_tuple", which takes what remains
optdb.register(
    "jax_reshape_to_lengths", dfs_rewriter(local_reshape_to_lengths), "jax_tuned", position=99
)


@node_rewriter([IncSubtensor])
def local_set_subtensor_of_make_vector(fgraph, node):
    """``set_subtensor(stack([a, b, c])[1], d)`` -> ``stack([a, d, c])``.

    The shape of a split and that of a sum whose axis stays look so.
    """
    vector, value, *index = node.inputs
    if not (
        node.op.set_instead_of_inc
        and vector.owner is not None
        and isinstance(vector.owner.op, MakeVector)
        and value.type.ndim == 0
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
    entries[position] = cast(value, vector.type.dtype)  # as writing into the vector does
    new = vector.owner.op(*entries)
    copy_stack_trace(node.outputs[0], new)
    return [new]


# Not with PyTensor's decorators, which would register it for every mode. Shapes of what the first
# phase makes appear in the second.
for phase in ("canonicalize", "specialize"):
    optdb[phase].register(
        "local_set_subtensor_of_make_vector",
        local_set_subtensor_of_make_vector,
        "jax_tuned",
        "onnx",
    )
    optdb[phase].register(
        "set_subtensor_of_make_vector_beside_our_ops",
        beside_our_ops(local_set_subtensor_of_make_vector),
        "jax",
    )
