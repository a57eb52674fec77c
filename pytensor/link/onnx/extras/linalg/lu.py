"""LU factors, and what is computed from them."""

from pytensor.link.onnx.extras.linalg.basic import Matrices, matrices_of
from pytensor.link.onnx.extras.linalg.triangular import (
    cholesky,
    solution,
    solve_cholesky,
    substitute,
    system,
)
from pytensor.link.onnx.write.batched import register_batched
from pytensor.tensor.linalg.decomposition.lu import LU, LUFactor, PivotToPermutations
from pytensor.tensor.linalg.inverse import MatrixInverse
from pytensor.tensor.linalg.solvers.general import Solve
from pytensor.tensor.linalg.summary import Det, SLogDet


def lu(m, a):
    """Decompose with partial pivoting, as LAPACK's getrf does.

    Returns U with L below the diagonal and, as columns of int64, the row that was swapped with each
    row and the rows of `a` in the order of those of L U.
    """
    add = m.add

    def step(k, a, pivots, order):
        column = m.column(a, k)
        candidates = add("GreaterOrEqual", m.rows, k)
        sizes = add("Where", candidates, add("Abs", column), m.constant(-1))
        # Among NaNs, onnxruntime's ArgMax may find a row that has been dealt with.
        # thoughts/upstream/onnxruntime-nan-and-infinity.md
        pivot_row = add("Max", add("ArgMax", sizes, axis=-2, keepdims=1), k)
        is_k, is_pivot = add("Equal", m.rows, k), add("Equal", m.rows, pivot_row)
        swap = add("Where", is_k, pivot_row, add("Where", is_pivot, k, m.rows))
        a = add("GatherElements", a, add("Expand", swap, add("Shape", a)), axis=-2)
        order = add("GatherElements", order, swap, axis=-2)
        pivots = add("Where", is_k, pivot_row, pivots)
        row, column = m.row(a, k), m.column(a, k)
        pivot = m.column(row, k)
        divisor = add("Where", add("Equal", pivot, m.constant(0)), m.constant(1), pivot)
        factors = add("Div", column, divisor)
        rest = add("Sub", a, add("Mul", factors, row))
        below = add("Where", add("Equal", m.positions, k), factors, a)
        below = add("Where", add("Greater", m.positions, k), rest, below)
        return add("Where", add("Greater", m.rows, k), below, a), pivots, order

    rows = m.row_numbers(a)
    return m.loop(step, a, (rows, "int64"), (rows, "int64"))


def solve_lu(m, factors, order, b):
    """Solve systems from what `lu` returns."""
    b = m.add("GatherElements", b, m.add("Expand", order, m.add("Shape", b)), axis=-2)
    x = substitute(m, factors, b, lower=True, unit=True)
    return substitute(m, factors, x, lower=False)


def inverse_order(m, order):
    return m.add("ScatterElements", order, order, m.row_numbers(order), axis=-2)


@register_batched(LUFactor)
def onnx_funcify_LUFactor(op, node, builder, x):
    m, x = matrices_of(builder, node, x)
    factors, pivots, _ = lu(m, x)
    singular = m.any(m.add("Equal", m.diagonal(factors), m.constant(0)))
    factors = m.add("Where", singular, m.nan(), factors)
    return factors, builder.cast(m.vectors(pivots), "int64", "int32")


@register_batched(LU)
def onnx_funcify_LU(op, node, builder, x):
    m, x = matrices_of(builder, node, x, output=-1)
    factors, _, order = lu(m, x)
    lower = m.add("Add", m.triangle(factors, lower=True, strict=True), m.identity())
    upper = m.triangle(factors, lower=False)
    where = inverse_order(m, order)
    if op.p_indices:
        return builder.cast(m.vectors(where), "int64", "int32"), lower, upper
    if op.permute_l:
        index = m.add("Expand", where, m.add("Shape", lower))
        return m.add("GatherElements", lower, index, axis=-2), upper
    permutation = m.cast_from_bool(m.add("Equal", where, m.positions))
    return permutation, lower, upper


@register_batched(PivotToPermutations)
def onnx_funcify_PivotToPermutations(op, node, builder, pivots):
    variable = node.inputs[0]
    pivots = builder.cast(pivots, variable.type.dtype, "int64")
    pivots = builder.add("Unsqueeze", pivots, builder.int64s([-1]))
    m = Matrices(builder, "int64", pivots, variable.type.ndim + 1, variable.type.shape[-1])

    def step(k, order):
        other = m.row(pivots, k)
        is_other = m.add("Equal", m.rows, other)
        swap = m.add("Where", is_other, k, m.rows)
        swap = m.add("Where", m.add("Equal", m.rows, k), other, swap)
        return m.add("GatherElements", order, swap, axis=-2)

    (order,) = m.loop(step, m.row_numbers(pivots))
    return m.vectors(order if op.inverse else inverse_order(m, order))


@register_batched(SLogDet)
def onnx_funcify_SLogDet(op, node, builder, x):
    m, x = matrices_of(builder, node, x)
    return slogdet(m, x)


@register_batched(Det)
def onnx_funcify_Det(op, node, builder, x):
    # As NumPy does: the product of the pivots may overflow on the way to a moderate result.
    m, x = matrices_of(builder, node, x)
    sign, log = slogdet(m, x)
    return m.add("Mul", sign, m.add("Exp", log))


def slogdet(m, x):
    add = m.add
    factors, pivots, _ = lu(m, x)
    diagonal = m.diagonal(factors)
    zero, one = m.constant(0), m.constant(1)
    signs = add("Where", add("Less", diagonal, zero), m.constant(-1), one)
    signs = add("Where", add("Equal", pivots, m.rows), signs, add("Neg", signs))
    signs = add("Where", add("Equal", diagonal, zero), zero, signs)
    sign = add("ReduceProd", signs, m.axes, keepdims=0)
    # A product of zeros may be a negative one.
    sign = add("Where", add("Equal", sign, zero), zero, sign)
    logs = add("Log", add("Abs", diagonal))
    return sign, add("ReduceSum", logs, m.axes, keepdims=0)


@register_batched(MatrixInverse)
def onnx_funcify_MatrixInverse(op, node, builder, x):
    m, x = matrices_of(builder, node, x)
    factors, _, order = lu(m, x)
    identity = m.add("Expand", m.identity(), m.add("Shape", x))
    return solve_lu(m, factors, order, identity)


@register_batched(Solve)
def onnx_funcify_Solve(op, node, builder, a, b):
    m, a, b = system(op, node, builder, a, b)
    if op.assume_a == "pos":
        factor = cholesky(m, a, lower=op.lower)
        return solution(op, builder, solve_cholesky(m, factor, b, lower=op.lower))
    if op.assume_a in ("sym", "her"):
        a = m.symmetric(a, lower=op.lower)
    if op.assume_a == "tridiagonal":
        distance = m.add("Abs", m.add("Sub", m.rows, m.positions))
        is_near = m.add("LessOrEqual", distance, builder.constant(1, "int64"))
        a = m.add("Where", is_near, a, m.constant(0))
    factors, _, order = lu(m, a)
    return solution(op, builder, solve_lu(m, factors, order, b))
