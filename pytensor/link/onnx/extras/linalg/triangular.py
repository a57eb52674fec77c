"""Cholesky factors and triangular systems."""

import numpy as np

from pytensor.link.onnx.extras.linalg.basic import matrices_of
from pytensor.link.onnx.write.batched import expand_batch, register_batched
from pytensor.link.onnx.write.formula import sqrt
from pytensor.link.onnx.write.term import where
from pytensor.tensor.linalg.decomposition.cholesky import Cholesky
from pytensor.tensor.linalg.solvers.psd import CholeskySolve
from pytensor.tensor.linalg.solvers.triangular import SolveTriangular


@register_batched(Cholesky)
def onnx_funcify_Cholesky(op, node, x):
    m, x = matrices_of(node, x)
    return cholesky(m, x, lower=op.lower)


def cholesky(m, x, *, lower):
    """Return Cholesky factors from one triangle of `x`; NaNs for matrices that have none."""
    x = m.triangle(x, lower=lower)
    if not lower:
        x = m.transpose(x)

    def step(k, factor, failed):
        row = m.transpose(m.row(factor, k))
        column = m.column(x, k) - factor @ row
        pivot = m.row(column, k)
        failed = failed | (pivot <= 0)
        root = sqrt(pivot)
        column = where(m.rows == k, root, column / root)
        column = where(m.rows < k, 0, column)
        return where(m.positions == k, column, factor), failed

    zeros = m.zeros_like(x)
    factor, failed = m.loop(step, zeros, m.any(zeros.is_nan()))
    factor = where(failed, np.nan, factor)
    return factor if lower else m.transpose(factor)


@register_batched(SolveTriangular)
def onnx_funcify_SolveTriangular(op, node, a, b):
    m, a, b = system(op, node, a, b)
    x = substitute(m, a, b, lower=op.lower, unit=op.unit_diagonal)
    return solution(op, x)


@register_batched(CholeskySolve)
def onnx_funcify_CholeskySolve(op, node, a, b):
    m, a, b = system(op, node, a, b)
    return solution(op, solve_cholesky(m, a, b, lower=op.lower))


def solve_cholesky(m, factor, b, *, lower):
    first, second = factor, m.transpose(factor)
    if not lower:
        first, second = second, first
    x = substitute(m, first, b, lower=True, check=False)
    return substitute(m, second, x, lower=False, check=False)


def system(op, node, a, b):
    """Return a solver's matrices and right-hand sides, these as matrices of the whole batch."""
    b = expand_batch(node, (a, b), 1)
    m, a = matrices_of(node, a)
    return m, a, right_sides(op, b.cast(m.dtype))


def right_sides(op, b):
    """Return vectors as matrices of one column, and matrices as they are."""
    return b if op.b_ndim == 2 else b.column()


def solution(op, x):
    """Undo `right_sides`."""
    return x if op.b_ndim == 2 else x.squeeze(-1)


def substitute(m, a, b, *, lower, unit=False, check=True):
    """Solve triangular systems, reading one triangle of `a` only.

    As LAPACK's trtrs does, `check` gives NaNs where a diagonal has a zero.
    """
    others = m.triangle(a, lower=lower, strict=True)

    def step(k, x):
        if not lower:
            k = m.order - 1 - k
        value = m.row(b, k) - m.row(others, k) @ x
        if not unit:
            value = value / m.column(m.row(a, k), k)
        return where(m.rows == k, value, x)

    (x,) = m.loop(step, m.zeros_like(b))
    if unit or not check:
        return x
    return where(m.any(m.diagonal(a) == 0), np.nan, x)
