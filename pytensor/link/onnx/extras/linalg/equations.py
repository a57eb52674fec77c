"""Linear equations for tensors and for matrices on both sides."""

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.extras.linalg.basic import Matrices
from pytensor.link.onnx.extras.linalg.lu import lu, solve_lu
from pytensor.link.onnx.write.batched import batch_ndim, expand_batch, register_batched
from pytensor.link.onnx.write.term import concat, where
from pytensor.tensor.linalg.inverse import TensorInv
from pytensor.tensor.linalg.solvers.linear_control import SolveSylvester
from pytensor.tensor.linalg.solvers.lstsq import TensorSolve


@register_batched(SolveSylvester)
def onnx_funcify_SolveSylvester(op, node, *inputs):
    # ``a x + x b = q`` as one system for all entries of x; ONNX has no Schur forms.
    dtype, ndim = node.outputs[0].type.dtype, batch_ndim(node)
    a, b, q = (expand_batch(node, inputs, i).cast(dtype) for i in range(3))
    rows, columns = (
        Matrices(x, ndim + 2, v.type.shape[-1]) for x, v in zip((a, b), node.inputs, strict=False)
    )
    # Entry (i, j) of a x is the sum of a[i, k] x[k, j], and of x b that of x[i, l] b[l, j].
    same_row = (rows.rows == rows.positions).unsqueeze(1, 3)
    same_column = (columns.rows == columns.positions).unsqueeze(1)
    left = a.unsqueeze(ndim + 1, ndim + 3)
    right = columns.transpose(b).unsqueeze(ndim, ndim + 2)
    system = where(same_column, left, 0) + where(same_row, right, 0)
    batch, entries = q.sizes(end=-2), q.sizes(-2).reduce_prod(keepdims=True)
    system = system.reshape(concat([batch, entries, entries]))
    column = q.reshape(q.builder.vector([batch, entries, 1]))
    return solve(system, column, ndim + 2).reshape(q.sizes())


def solve(a, b, ndim):
    m = Matrices(a, ndim)
    factors, _, order = lu(m, a)
    return solve_lu(m, factors, order, b)


@onnx_funcify.register(TensorInv)
def onnx_funcify_TensorInv(op, node, a):
    before, after = a.sizes(end=op.ind), a.sizes(op.ind)
    matrix = as_square(a.cast(node.outputs[0].type.dtype), after)
    inverse = solve(matrix, Matrices(matrix, 2).identity(), 2)
    return inverse.reshape(concat([after, before]))


@onnx_funcify.register(TensorSolve)
def onnx_funcify_TensorSolve(op, node, a, b):
    dtype, ndim = node.outputs[0].type.dtype, a.ndim
    first = b.ndim
    a, b = a.cast(dtype), b.cast(dtype)
    if op.axes is not None:
        last = [axis % ndim for axis in op.axes]
        a = a.transpose(*(i for i in range(ndim) if i not in last), *last)
    sizes = a.sizes(first)
    return solve(as_square(a, sizes), b.reshape([-1, 1]), 2).reshape(sizes)


def as_square(a, sizes):
    """Merge axes of `a`, some of whose sizes are given, to a square matrix."""
    size = sizes.reduce_prod(keepdims=True)
    return a.reshape(concat([size, size]))
