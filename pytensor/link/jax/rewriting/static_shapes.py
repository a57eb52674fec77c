"""Keep shapes known while JAX traces.

JAX traces a function with concrete shapes, but integers that were computed from them with array
operations are traced values, which can't serve as a shape any more.
"""

import warnings

import numpy as np

from pytensor.graph.basic import Constant
from pytensor.graph.rewriting.basic import copy_stack_trace, dfs_rewriter, node_rewriter
from pytensor.link.jax.rewriting.known_lengths import lengths_behind
from pytensor.link.jax.rewriting.sizes import is_decided
from pytensor.printing import pprint
from pytensor.tensor.basic import constant
from pytensor.tensor.shape import Reshape


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
    elif static.count(None) > 1 or (None in static and 0 in static) or is_decided(fgraph, shape):
        return None
    else:
        warnings.warn(UNCHECKED.format(shape=pprint(shape)), stacklevel=2)
        new_shape = constant(np.array([-1 if n is None else n for n in static], dtype="int64"))
    # Not by the old node's types: its lengths may be of another dtype.
    new = node.op.make_node(x, new_shape).outputs
    copy_stack_trace(node.outputs, new)
    return new


reshape_to_lengths = dfs_rewriter(local_reshape_to_lengths)
