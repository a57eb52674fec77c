"""Singular values, by Hestenes' rotations of columns, with the steps of `linalg_eigh`.

One-sided Jacobi is Golub and Van Loan, "Matrix Computations", section 8.6.3.  The singular vectors
may have other signs than LAPACK's.
"""

import numpy as np

from pytensor.link.onnx.extras.linalg.basic import Matrices
from pytensor.link.onnx.extras.linalg.eigh import Pairs, most_steps
from pytensor.link.onnx.extras.linalg.qr import Householder, first
from pytensor.link.onnx.write.batched import register_batched
from pytensor.link.onnx.write.sizes import length
from pytensor.tensor.linalg.decomposition.svd import SVD
from pytensor.tensor.linalg.inverse import MatrixPinv

# NumPy's default for singular values, relative to the largest one, that count as zero.
PINV_CUTOFF = 1e-15


@register_batched(SVD)
def onnx_funcify_SVD(op, node, builder, x):
    add, variable, dtype = builder.add, node.inputs[0], node.outputs[0].type.dtype
    x = builder.cast(x, variable.type.dtype, dtype)
    m, rows = columns_and_rows(builder, variable, x, dtype)
    shorter = add("ReduceMin", add("Shape", x, start=-2), keepdims=1)
    rotated, v, values, scale = rotate(m, x)
    size = add("Unsqueeze", m.order, builder.int64s([0]))
    values, order = add("TopK", add("Mul", values, scale), size, n_outputs=2)
    values = m.vectors(first(m, values, shorter, -1), axis=-2)
    if not op.compute_uv:
        return values
    rotated, v = (
        add("GatherElements", y, add("Expand", order, add("Shape", y)), axis=-1)
        for y in (rotated, v)
    )
    u, vt = complete(rows, m, rotated, shorter), m.transpose(v)
    if op.full_matrices:
        return u, values, vt
    return first(m, u, shorter, -1), values, first(m, vt, shorter, -2)


@register_batched(MatrixPinv)
def onnx_funcify_MatrixPinv(op, node, builder, x):
    add, variable, dtype = builder.add, node.inputs[0], node.outputs[0].type.dtype
    x = builder.cast(x, variable.type.dtype, dtype)
    m, _ = columns_and_rows(builder, variable, x, dtype)
    if op.hermitian:
        x = m.symmetric(x, lower=True)
    rotated, v, values, scale = rotate(m, x)
    cutoff = add("Mul", m.largest(values), m.constant(PINV_CUTOFF))
    is_zero = add("LessOrEqual", values, cutoff)
    inverse = add("Div", m.constant(1), add("Where", is_zero, m.constant(1), values))
    inverse = add("Where", is_zero, m.constant(0), inverse)
    left, right = (add("Mul", y, inverse) for y in (v, rotated))
    return add("Div", add("MatMul", left, m.transpose(right)), scale)


def columns_and_rows(builder, variable, x, dtype):
    """Return `Matrices` of as many rows as `x` has columns, and of as many as it has rows."""
    ndim = variable.type.ndim
    height, width = variable.type.shape[-2:]
    rows = Matrices(builder, dtype, x, ndim, height)
    return Matrices(builder, dtype, rows.transpose(x), ndim, width), rows


def rotate(m, x):
    """Rotate the columns of matrices until they are orthogonal.

    Returns them divided by a scale, the rotation, their lengths, and the scale: the largest
    magnitude in each matrix, or one.
    """
    add, builder = m.add, m.builder
    of_rows = builder.int64s([m.ndim - 2])
    scale = m.largest(x)
    scale = add("Where", add("Equal", scale, m.constant(0)), m.constant(1), scale)
    x = add("Div", x, scale)
    eps = np.finfo(m.dtype).eps
    height = builder.cast(length(builder, x, -2), "int64", m.dtype)
    tolerance = add("Mul", height, m.constant(eps))
    # Columns that should be zero are of that length and of any direction.
    noise = add("ReduceSum", add("Mul", x, x), m.axes)
    noise = add("Mul", add("Mul", tolerance, tolerance), noise)

    def squares(x, y):
        return add("ReduceSum", add("Mul", x, y), of_rows)

    def step(k, quiet, x, v):
        pairs = Pairs(m, k)
        lengths, across = squares(x, x), squares(x, pairs.other(x))
        product = add("Sqrt", add("Mul", lengths, pairs.other(lengths)))
        limit = add("Add", add("Mul", tolerance, product), noise)
        is_done = add("LessOrEqual", add("Abs", across), limit)
        is_done = add("Or", is_done, add("Equal", pairs.partners, m.positions))
        c, s = pairs.rotation(lengths, add("Where", is_done, m.constant(0), across))
        moved = m.is_any(add("Not", is_done))
        quiet = add("Where", moved, nothing, add("Add", quiet, one))
        goes_on = m.is_any(add("Less", quiet, m.order))
        return goes_on, quiet, pairs.rotate_columns(x, c, s), pairs.rotate_columns(v, c, s)

    # All pairs have had their turn after as many steps as there are columns.
    corner = builder.int64s([1] * m.ndim)
    nothing, one = (add("Expand", builder.constant(i, "int64"), corner) for i in (0, 1))
    shape = add("Concat", add("Shape", x, end=-2), add("Shape", m.identity()), axis=0)
    identity = add("Expand", m.identity(), shape)

    _, rotated, v = m.loop(step, (nothing, "int64"), x, identity, count=most_steps(m), may_end=True)
    return rotated, v, add("Sqrt", squares(rotated, rotated)), scale


def complete(rows, m, rotated, shorter):
    """Return an orthonormal basis that begins with the directions of orthogonal columns."""
    add = rows.add
    r, q, *_ = Householder(rows, rotated, pivoting=False).run(shorter)
    # R is diagonal, and has the signs by which Q differs.
    diagonal = add("Where", add("Equal", rows.rows, m.positions), r, rows.constant(0))
    diagonal = add("ReduceSum", diagonal, rows.builder.int64s([rows.ndim - 1]))
    is_flipped = add("Less", rows.transpose(diagonal), rows.constant(0))
    return add("Where", is_flipped, add("Neg", q), q)
