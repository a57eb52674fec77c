"""Lengths that are computed from lengths of arrays, known while JAX traces: plain mode JAX too.

There only graphs with an Op of ours are changed: others stay as PyTensor makes them.
"""

from pytensor import scalar as ps
from pytensor.graph.basic import Constant
from pytensor.graph.facts import improves_inside
from pytensor.graph.replace import clone_replace
from pytensor.graph.rewriting.basic import copy_stack_trace, dfs_rewriter, node_rewriter
from pytensor.link.jax.rewriting.our_ops import only_with_our_ops
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.known_lengths import KnownLength
from pytensor.tensor.shape import Shape, Shape_i
from pytensor.tensor.type import TensorType, integer_dtypes

IN_PYTHON = (ps.Add, ps.Mul, ps.Sub, ps.IntDiv, ps.Mod)
integer_scalars = [TensorType(dtype, shape=()) for dtype in integer_dtypes]


improves_inside.register(KnownLength, lambda op: False)
LENGTHS = (Shape, Shape_i, KnownLength)


@node_rewriter([Elemwise])
def local_known_length(fgraph, node):
    """Compute lengths from lengths of arrays while JAX traces: rounded ones, and those of reshapes.

    Sums, products and quotients PyTensor has Python compute.
    """
    out = node.outputs[0]
    if isinstance(node.op.scalar_op, IN_PYTHON) or out.type not in integer_scalars:
        return None
    lengths = lengths_behind(out)
    if not lengths or any(v.owner is None for v in lengths):
        return None
    own = [v.type() for v in lengths]
    graph = clone_replace(out, dict(zip(lengths, own, strict=True)))
    new = KnownLength(own, [graph])(*lengths)
    copy_stack_trace(out, new)
    return [new]


def lengths_behind(shape):
    """Return what a shape is computed from, if that is lengths and scalar inputs; else None."""
    lengths, waiting, seen = {}, [shape], set()
    while waiting:
        variable = waiting.pop()
        # Once each: the ways to what many lengths share double with every step.
        if variable in seen or isinstance(variable, Constant):
            continue
        seen.add(variable)
        if variable.owner is not None and not isinstance(variable.owner.op, LENGTHS):
            waiting += variable.owner.inputs
        elif variable.owner is not None or variable.type in integer_scalars:
            lengths[variable] = None
        else:
            return None
    return list(lengths)


known_lengths = dfs_rewriter(local_known_length)
known_lengths_with_our_ops = dfs_rewriter(only_with_our_ops(local_known_length))
