"""Singular values, by Hestenes' rotations of columns, with the steps of `linalg_eigh`.

One-sided Jacobi is Golub and Van Loan, "Matrix Computations", section 8.6.3.  The singular vectors
may have other signs than LAPACK's.
"""

import numpy as np

from pytensor.link.onnx.extras.linalg.basic import Matrices
from pytensor.link.onnx.extras.linalg.eigh import Pairs, most_steps
from pytensor.link.onnx.extras.linalg.qr import Householder
from pytensor.link.onnx.write.batched import register_batched
from pytensor.link.onnx.write.formula import sqrt
from pytensor.link.onnx.write.term import where
from pytensor.tensor.linalg.decomposition.svd import SVD
from pytensor.tensor.linalg.inverse import MatrixPinv

# NumPy's default for singular values, relative to the largest one, that count as zero.
PINV_CUTOFF = 1e-15


@register_batched(SVD)
def onnx_funcify_SVD(op, node, x):
    x = x.cast(node.outputs[0].type.dtype)
    m, rows = columns_and_rows(node.inputs[0], x)
    shorter = x.sizes(-2).reduce_min(keepdims=True)
    rotated, v, values, scale = rotate(m, x)
    values, order = (values * scale).node("TopK", m.order.unsqueeze(0), n_outputs=2)
    values = values.slice(0, shorter, -1).squeeze(-2)
    if not op.compute_uv:
        return values
    rotated, v = (y.gather_elements(order.expand_as(y), axis=-1) for y in (rotated, v))
    u, vt = complete(rows, m, rotated, shorter), m.transpose(v)
    if op.full_matrices:
        return u, values, vt
    return u.slice(0, shorter, -1), values, vt.slice(0, shorter, -2)


@register_batched(MatrixPinv)
def onnx_funcify_MatrixPinv(op, node, x):
    x = x.cast(node.outputs[0].type.dtype)
    m, _ = columns_and_rows(node.inputs[0], x)
    if op.hermitian:
        x = m.symmetric(x, lower=True)
    rotated, v, values, scale = rotate(m, x)
    is_zero = values <= m.largest(values) * PINV_CUTOFF
    inverse = where(is_zero, 0, 1 / where(is_zero, 1, values))
    return ((v * inverse) @ m.transpose(rotated * inverse)) / scale


def columns_and_rows(variable, x):
    """Return `Matrices` of as many rows as `x` has columns, and of as many as it has rows."""
    *batch, height, width = variable.type.shape
    rows = Matrices(x, len(batch) + 2, height)
    return Matrices(rows.transpose(x), rows.ndim, width), rows


def rotate(m, x):
    """Rotate the columns of matrices until they are orthogonal.

    Returns them divided by a scale, the rotation, their lengths, and the scale: the largest
    magnitude in each matrix, or one.
    """
    scale = m.largest(x)
    scale = where(scale == 0, 1, scale)
    x = x / scale
    tolerance = x.length(-2).cast(m.dtype) * np.finfo(m.dtype).eps
    # Columns that should be zero are of that length and of any direction.
    noise = (x * x).reduce_sum(m.axes, keepdims=True)
    noise = tolerance * tolerance * noise

    def squares(x, y):
        return (x * y).reduce_sum(m.ndim - 2, keepdims=True)

    def step(k, quiet, x, v):
        pairs = Pairs(m, k)
        lengths, across = squares(x, x), squares(x, pairs.other(x))
        limit = tolerance * sqrt(lengths * pairs.other(lengths)) + noise
        is_done = (abs(across) <= limit) | (pairs.partners == m.positions)
        c, s = pairs.rotation(lengths, where(is_done, 0, across))
        quiet = where((~is_done).any(), nothing, quiet + one)
        goes_on = (quiet < m.order).any()
        return goes_on, quiet, pairs.rotate_columns(x, c, s), pairs.rotate_columns(v, c, s)

    # All pairs have had their turn after as many steps as there are columns.
    nothing, one = (m.builder.constant(i, "int64").expand([1] * m.ndim) for i in (0, 1))
    identity = m.identity()
    identity = identity.expand([x.sizes(end=-2), identity.sizes()])

    _, rotated, v = m.loop(step, nothing, x, identity, count=most_steps(m), may_end=True)
    return rotated, v, sqrt(squares(rotated, rotated)), scale


def complete(rows, m, rotated, shorter):
    """Return an orthonormal basis that begins with the directions of orthogonal columns."""
    r, q, *_ = Householder(rows, rotated, pivoting=False).run(shorter)
    # R is diagonal, and has the signs by which Q differs.
    diagonal = where(rows.rows == m.positions, r, 0).reduce_sum(rows.ndim - 1, keepdims=True)
    return where(rows.transpose(diagonal) < 0, -q, q)
