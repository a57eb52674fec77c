"""Keep to the triangle of a positive definite matrix that a solver is told to read."""

from pytensor.compile import optdb
from pytensor.graph.rewriting.basic import copy_stack_trace, dfs_rewriter, node_rewriter
from pytensor.graph.rewriting.unify import OpPattern
from pytensor.tensor.basic import atleast_Nd
from pytensor.tensor.linalg.decomposition.cholesky import cholesky
from pytensor.tensor.linalg.solvers.general import Solve
from pytensor.tensor.linalg.solvers.psd import cho_solve
from pytensor.tensor.rewriting.blockwise import blockwise_of
from pytensor.tensor.rewriting.linalg.utils import strip_left_expand_dims_and_transpose


@node_rewriter([blockwise_of(OpPattern(Solve, assume_a="pos"))])
def local_positive_solve_to_cholesky(fgraph, node):
    """``solve(a, b, assume_a="pos", lower=lower)`` -> ``cho_solve((cholesky(a), lower), b)``.

    PyTensor's own rewrite reads the lower triangle, whichever is given: see
    thoughts/upstream/solve-triangle.md.
    """
    a, b = node.inputs
    core = node.op.core_op
    # The gradient solves with the transposed matrix; it shall have the same factor.
    a, transposed = strip_left_expand_dims_and_transpose(a)
    lower = core.lower != transposed
    x = cho_solve((cholesky(a, lower=lower), lower), b, b_ndim=core.b_ndim)
    x = atleast_Nd(x, n=node.outputs[0].type.ndim)
    copy_stack_trace(node.outputs[0], x)
    return [x]


# First of all, for canonicalization takes the transposition for useless and leaves `lower`.
optdb.register(
    "positive_solve",
    dfs_rewriter(local_positive_solve_to_cholesky),
    "onnx",
    "jax_tuned",
    position=-1,
)
