"""Linear equations for tensors and for matrices on both sides."""

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.extras.linalg.basic import Matrices
from pytensor.link.onnx.extras.linalg.lu import lu, solve_lu
from pytensor.link.onnx.write.batched import batch_ndim, expand_batch, register_batched
from pytensor.tensor.linalg.inverse import TensorInv
from pytensor.tensor.linalg.solvers.linear_control import SolveSylvester
from pytensor.tensor.linalg.solvers.lstsq import TensorSolve


@register_batched(SolveSylvester)
def onnx_funcify_SolveSylvester(op, node, builder, *inputs):
    # ``a x + x b = q`` as one system for all entries of x; ONNX has no Schur forms.
    add, dtype, ndim = builder.add, node.outputs[0].type.dtype, batch_ndim(node)
    a, b, q = (
        builder.cast(expand_batch(builder, node, inputs, i), v.type.dtype, dtype)
        for i, v in enumerate(node.inputs)
    )
    rows, columns = (
        Matrices(builder, dtype, x, ndim + 2, v.type.shape[-1])
        for x, v in ((a, node.inputs[0]), (b, node.inputs[1]))
    )
    zero = rows.constant(0)
    # Entry (i, j) of a x is the sum of a[i, k] x[k, j], and of x b that of x[i, l] b[l, j].
    same_row = add("Unsqueeze", add("Equal", rows.rows, rows.positions), builder.int64s([1, 3]))
    same_column = add(
        "Unsqueeze", add("Equal", columns.rows, columns.positions), builder.int64s([1])
    )
    left = add("Unsqueeze", a, builder.int64s([ndim + 1, ndim + 3]))
    right = add("Unsqueeze", columns.transpose(b), builder.int64s([ndim, ndim + 2]))
    system = add("Add", add("Where", same_column, left, zero), add("Where", same_row, right, zero))
    shape, batch = add("Shape", q), add("Shape", q, end=-2)
    entries = add("ReduceProd", add("Shape", q, start=-2), keepdims=1)
    square = add("Concat", batch, entries, entries, axis=0)
    system = add("Reshape", system, square, allowzero=1)
    column = add("Concat", batch, entries, builder.int64s([1]), axis=0)
    solution = solve(builder, dtype, system, add("Reshape", q, column, allowzero=1), ndim + 2)
    return add("Reshape", solution, shape, allowzero=1)


def solve(builder, dtype, a, b, ndim):
    m = Matrices(builder, dtype, a, ndim)
    factors, _, order = lu(m, a)
    return solve_lu(m, factors, order, b)


@onnx_funcify.register(TensorInv)
def onnx_funcify_TensorInv(op, node, builder, a):
    add, dtype = builder.add, node.outputs[0].type.dtype
    before, after = add("Shape", a, end=op.ind), add("Shape", a, start=op.ind)
    matrix = as_square(builder, a, after)
    identity = Matrices(builder, dtype, matrix, 2).identity()
    inverse = solve(builder, dtype, matrix, identity, 2)
    return add("Reshape", inverse, add("Concat", after, before, axis=0), allowzero=1)


@onnx_funcify.register(TensorSolve)
def onnx_funcify_TensorSolve(op, node, builder, a, b):
    add, dtype = builder.add, node.outputs[0].type.dtype
    (a_type, b_type) = (v.type for v in node.inputs)
    a, b = builder.cast(a, a_type.dtype, dtype), builder.cast(b, b_type.dtype, dtype)
    if op.axes is not None:
        last = [axis % a_type.ndim for axis in op.axes]
        a = add("Transpose", a, perm=[i for i in range(a_type.ndim) if i not in last] + last)
    shape = add("Shape", a, start=b_type.ndim)
    matrix = as_square(builder, a, shape)
    column = add("Reshape", b, builder.int64s([-1, 1]))
    return add("Reshape", solve(builder, dtype, matrix, column, 2), shape, allowzero=1)


def as_square(builder, a, shape):
    """Merge axes of `a`, the sizes of some of which are in `shape`, to a square matrix."""
    size = builder.add("ReduceProd", shape, keepdims=1)
    return builder.add("Reshape", a, builder.add("Concat", size, size, axis=0), allowzero=1)
