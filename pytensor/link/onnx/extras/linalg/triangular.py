"""Cholesky factors and triangular systems."""

from pytensor.link.onnx.extras.linalg.basic import matrices_of
from pytensor.link.onnx.write.batched import expand_batch, register_batched
from pytensor.tensor.linalg.decomposition.cholesky import Cholesky
from pytensor.tensor.linalg.solvers.psd import CholeskySolve
from pytensor.tensor.linalg.solvers.triangular import SolveTriangular


@register_batched(Cholesky)
def onnx_funcify_Cholesky(op, node, builder, x):
    m, x = matrices_of(builder, node, x)
    return cholesky(m, x, lower=op.lower)


def cholesky(m, x, *, lower):
    """Return Cholesky factors from one triangle of `x`; NaNs for matrices that have none."""
    add = m.add
    x = m.triangle(x, lower=lower)
    if not lower:
        x = m.transpose(x)

    def step(k, factor, failed):
        row = m.transpose(m.row(factor, k))
        column = add("Sub", m.column(x, k), add("MatMul", factor, row))
        pivot = m.row(column, k)
        failed = add("Or", failed, add("LessOrEqual", pivot, zero))
        root = add("Sqrt", pivot)
        column = add("Where", add("Equal", m.rows, k), root, add("Div", column, root))
        column = add("Where", add("Less", m.rows, k), zero, column)
        return add("Where", add("Equal", m.positions, k), column, factor), failed

    zero = m.constant(0)
    zeros = add("Expand", zero, add("Shape", x))
    factor, failed = m.loop(step, zeros, (m.any(add("IsNaN", zeros)), "bool"))
    factor = add("Where", failed, m.nan(), factor)
    return factor if lower else m.transpose(factor)


@register_batched(SolveTriangular)
def onnx_funcify_SolveTriangular(op, node, builder, a, b):
    m, a, b = system(op, node, builder, a, b)
    x = substitute(m, a, b, lower=op.lower, unit=op.unit_diagonal)
    return solution(op, builder, x)


@register_batched(CholeskySolve)
def onnx_funcify_CholeskySolve(op, node, builder, a, b):
    m, a, b = system(op, node, builder, a, b)
    return solution(op, builder, solve_cholesky(m, a, b, lower=op.lower))


def solve_cholesky(m, factor, b, *, lower):
    first, second = factor, m.transpose(factor)
    if not lower:
        first, second = second, first
    x = substitute(m, first, b, lower=True, check=False)
    return substitute(m, second, x, lower=False, check=False)


def system(op, node, builder, a, b):
    """Return a solver's matrices and right-hand sides, these as matrices of the whole batch."""
    inputs = (a, b)
    m, a = matrices_of(builder, node, a)
    b = builder.cast(expand_batch(builder, node, inputs, 1), node.inputs[1].type.dtype, m.dtype)
    return m, a, right_sides(op, builder, b)


def right_sides(op, builder, b):
    """Return vectors as matrices of one column, and matrices as they are."""
    return b if op.b_ndim == 2 else builder.add("Unsqueeze", b, builder.int64s([-1]))


def solution(op, builder, x):
    """Undo `right_sides`."""
    return x if op.b_ndim == 2 else builder.add("Squeeze", x, builder.int64s([-1]))


def substitute(m, a, b, *, lower, unit=False, check=True):
    """Solve triangular systems, reading one triangle of `a` only.

    As LAPACK's trtrs does, `check` gives NaNs where a diagonal has a zero.
    """
    others = m.triangle(a, lower=lower, strict=True)

    def step(k, x):
        if not lower:
            last = m.add("Sub", m.order, m.builder.constant(1, "int64"))
            k = m.add("Sub", last, k)
        value = m.add("Sub", m.row(b, k), m.add("MatMul", m.row(others, k), x))
        if not unit:
            value = m.add("Div", value, m.column(m.row(a, k), k))
        return m.add("Where", m.add("Equal", m.rows, k), value, x)

    zeros = m.add("Expand", m.constant(0), m.add("Shape", b))
    (x,) = m.loop(step, zeros)
    if unit or not check:
        return x
    singular = m.any(m.add("Equal", m.diagonal(a), m.constant(0)))
    return m.add("Where", singular, m.nan(), x)
