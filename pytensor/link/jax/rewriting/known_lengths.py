"""Lengths that follow from lengths of arrays, kept known while plain mode JAX traces.

Only graphs with an Op of ours are changed: others stay as PyTensor makes them.  `jax_mode` computes
all nodes of known integers on the host: see `pytensor.link.jax.fixes.known_while_tracing`.
"""

from pytensor import scalar as ps
from pytensor.graph.facts import improves_inside
from pytensor.graph.replace import clone_replace
from pytensor.graph.rewriting.basic import copy_stack_trace, dfs_rewriter, node_rewriter
from pytensor.link.jax.rewriting.host_integers import leaves
from pytensor.link.jax.rewriting.our_ops import only_with_our_ops
from pytensor.tensor.elemwise import Elemwise
from pytensor.tensor.known_lengths import KnownLength
from pytensor.tensor.type import TensorType, integer_dtypes

IN_PYTHON = (ps.Add, ps.Mul, ps.Sub, ps.IntDiv, ps.Mod)
integer_scalars = [TensorType(dtype, shape=()) for dtype in integer_dtypes]


improves_inside.register(KnownLength, lambda op: False)


@node_rewriter([Elemwise])
def local_known_length(fgraph, node):
    """Compute rounded lengths and lengths of reshapes from lengths of arrays while JAX traces.

    Sums, products and quotients PyTensor has Python compute.
    """
    out = node.outputs[0]
    if isinstance(node.op.scalar_op, IN_PYTHON) or out.type not in integer_scalars:
        return None
    lengths = leaves([out])
    if not lengths or any(v.owner is None for v in lengths):
        return None
    own = [v.type() for v in lengths]
    graph = clone_replace(out, dict(zip(lengths, own, strict=True)))
    new = KnownLength(own, [graph])(*lengths)
    copy_stack_trace(out, new)
    return [new]


known_lengths_with_our_ops = dfs_rewriter(only_with_our_ops(local_known_length))
