"""Reshapes in `jax_mode` whose shape isn't known before the program runs."""

import warnings

import numpy as np

from pytensor.graph.basic import Constant
from pytensor.graph.rewriting.basic import copy_stack_trace, dfs_rewriter, node_rewriter
from pytensor.link.jax.rewriting.find_sizes import is_decided
from pytensor.printing import pprint
from pytensor.tensor.basic import constant
from pytensor.tensor.shape import Reshape

UNCHECKED = (
    "mode JAX can't check the shape {shape} that a reshape is given: it is known only when the "
    "function runs, so the length that fits is taken. Give -1 for it, or a length that is known "
    "while JAX traces: a number, that of an array, or one that follows from integer inputs."
)


@node_rewriter([Reshape])
def local_reshape_to_static(fgraph, node):
    """Give a reshape the shape that its type says, with a warning, if JAX can't know another."""
    x, shape = node.inputs
    static = node.outputs[0].type.shape
    # -1 stands for any length only if the others aren't 0
    open_lengths = static.count(None) > 1 or (None in static and 0 in static)
    if isinstance(shape, Constant) or open_lengths or is_decided(fgraph, shape):
        return None
    warnings.warn(UNCHECKED.format(shape=pprint(shape)), stacklevel=2)
    new_shape = constant(np.array([-1 if n is None else n for n in static], dtype="int64"))
    # Not by the old node's types: its lengths may be of another dtype.
    new = node.op.make_node(x, new_shape).outputs
    copy_stack_trace(node.outputs, new)
    return new


reshape_to_static = dfs_rewriter(local_reshape_to_static)
