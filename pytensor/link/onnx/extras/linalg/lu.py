"""LU factors, and what is computed from them."""

import numpy as np

from pytensor.link.onnx.extras.linalg.basic import Matrices, matrices_of
from pytensor.link.onnx.extras.linalg.triangular import (
    cholesky,
    solution,
    solve_cholesky,
    substitute,
    system,
)
from pytensor.link.onnx.write.batched import register_batched
from pytensor.link.onnx.write.formula import exp, log
from pytensor.link.onnx.write.term import maximum, where
from pytensor.tensor.linalg.decomposition.lu import LU, LUFactor, PivotToPermutations
from pytensor.tensor.linalg.inverse import MatrixInverse
from pytensor.tensor.linalg.solvers.general import Solve
from pytensor.tensor.linalg.summary import Det, SLogDet


def lu(m, a):
    """Decompose with partial pivoting, as LAPACK's getrf does.

    Returns U with L below the diagonal and, as columns of int64, the row that was swapped with each
    row and the rows of `a` in the order of L U's rows.
    """

    def step(k, a, pivots, order):
        sizes = where(m.rows >= k, abs(m.column(a, k)), -1)
        # Among NaNs, onnxruntime's ArgMax may find a row that has been dealt with.
        # thoughts/upstream/onnxruntime-nan-and-infinity.md
        pivot_row = maximum(sizes.node("ArgMax", axis=-2, keepdims=1), k)
        is_k, is_pivot = m.rows == k, m.rows == pivot_row
        swap = where(is_k, pivot_row, where(is_pivot, k, m.rows))
        a = a.gather_elements(swap.expand_as(a), axis=-2)
        order = order.gather_elements(swap, axis=-2)
        pivots = where(is_k, pivot_row, pivots)
        row, column = m.row(a, k), m.column(a, k)
        pivot = m.column(row, k)
        factors = column / where(pivot == 0, 1, pivot)
        rest = a - factors * row
        below = where(m.positions == k, factors, a)
        below = where(m.positions > k, rest, below)
        return where(m.rows > k, below, a), pivots, order

    rows = m.row_numbers(a)
    return m.loop(step, a, rows, rows)


def solve_lu(m, factors, order, b):
    """Solve systems from what `lu` returns."""
    b = b.gather_elements(order.expand_as(b), axis=-2)
    x = substitute(m, factors, b, lower=True, unit=True)
    return substitute(m, factors, x, lower=False)


def inverse_order(m, order):
    return order.scatter_elements(order, m.row_numbers(order), axis=-2)


@register_batched(LUFactor)
def onnx_funcify_LUFactor(op, node, x):
    m, x = matrices_of(node, x)
    factors, pivots, _ = lu(m, x)
    singular = m.any(m.diagonal(factors) == 0)
    return where(singular, np.nan, factors), pivots.squeeze(-1).cast("int32")


@register_batched(LU)
def onnx_funcify_LU(op, node, x):
    m, x = matrices_of(node, x, output=-1)
    factors, _, order = lu(m, x)
    lower = m.triangle(factors, lower=True, strict=True) + m.identity()
    upper = m.triangle(factors, lower=False)
    places = inverse_order(m, order)
    if op.p_indices:
        return places.squeeze(-1).cast("int32"), lower, upper
    if op.permute_l:
        return lower.gather_elements(places.expand_as(lower), axis=-2), upper
    return (places == m.positions).cast(m.dtype), lower, upper


@register_batched(PivotToPermutations)
def onnx_funcify_PivotToPermutations(op, node, pivots):
    pivots, shape = pivots.cast("int64").column(), node.inputs[0].type.shape
    m = Matrices(pivots, len(shape) + 1, shape[-1])

    def step(k, order):
        other = m.row(pivots, k)
        swap = where(m.rows == other, k, m.rows)
        swap = where(m.rows == k, other, swap)
        return order.gather_elements(swap, axis=-2)

    (order,) = m.loop(step, m.row_numbers(pivots))
    return (order if op.inverse else inverse_order(m, order)).squeeze(-1)


@register_batched(SLogDet)
def onnx_funcify_SLogDet(op, node, x):
    return slogdet(*matrices_of(node, x))


@register_batched(Det)
def onnx_funcify_Det(op, node, x):
    # As NumPy does: the product of the pivots may overflow on the way to a moderate result.
    sign, logarithm = slogdet(*matrices_of(node, x))
    return sign * exp(logarithm)


def slogdet(m, x):
    factors, pivots, _ = lu(m, x)
    diagonal = m.diagonal(factors)
    signs = where(diagonal < 0, diagonal.lift(-1), 1)
    signs = where(pivots == m.rows, signs, -signs)
    signs = where(diagonal == 0, 0, signs)
    sign = signs.reduce_prod(m.axes)
    # A product of zeros may be a negative one.
    sign = where(sign == 0, 0, sign)
    return sign, log(abs(diagonal)).reduce_sum(m.axes)


@register_batched(MatrixInverse)
def onnx_funcify_MatrixInverse(op, node, x):
    m, x = matrices_of(node, x)
    factors, _, order = lu(m, x)
    return solve_lu(m, factors, order, m.identity().expand_as(x))


@register_batched(Solve)
def onnx_funcify_Solve(op, node, a, b):
    m, a, b = system(op, node, a, b)
    if op.assume_a == "pos":
        factor = cholesky(m, a, lower=op.lower)
        return solution(op, solve_cholesky(m, factor, b, lower=op.lower))
    if op.assume_a in ("sym", "her"):
        a = m.symmetric(a, lower=op.lower)
    if op.assume_a == "tridiagonal":
        a = where(abs(m.rows - m.positions) <= 1, a, 0)
    factors, _, order = lu(m, a)
    return solution(op, solve_lu(m, factors, order, b))
