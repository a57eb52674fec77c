"""Eigenvalues of symmetric matrices, by the method of Jacobi.

The rotations of one step are of disjoint pairs of rows, in the order of Luk and Park, "A Proof of
Convergence for Two Parallel Jacobi SVD Algorithms" (1989); the angles are from Golub and Van
Loan, "Matrix Computations", algorithm 8.4.1.  The eigenvectors may have other signs than LAPACK's.
"""

import numpy as np

from pytensor.link.onnx.extras.linalg.basic import matrices_of
from pytensor.link.onnx.extras.linalg.triangular import cholesky, substitute
from pytensor.link.onnx.write.batched import expand_batch, register_batched
from pytensor.link.onnx.write.formula import sign, sqrt
from pytensor.link.onnx.write.term import maximum, where
from pytensor.tensor.linalg.decomposition.eigen import Eigh, Eigvalsh

# Ten suffice; without a limit, what isn't a number would never end.
MOST_SWEEPS = 30


@register_batched(Eigh)
def onnx_funcify_Eigh(op, node, *inputs):
    inputs = [expand_batch(node, inputs, i) for i in range(len(inputs))]
    m, a = matrices_of(node, inputs[0])
    a = m.symmetric(a, lower=op.lower)
    if len(inputs) == 1:
        return eigh(m, a)
    factor = cholesky(m, inputs[1].cast(m.dtype), lower=op.lower)
    factor = factor if op.lower else m.transpose(factor)
    half = substitute(m, factor, a, lower=True)
    reduced = substitute(m, factor, m.transpose(half), lower=True)
    values, vectors = eigh(m, m.symmetric(reduced, lower=True))
    return values, substitute(m, m.transpose(factor), vectors, lower=False)


@register_batched(Eigvalsh)
def onnx_funcify_Eigvalsh(op, node, *inputs):
    return onnx_funcify_Eigh(op, node, *inputs)[0]


def eigh(m, a):
    """Return eigenvalues, which ascend, and eigenvectors of symmetric matrices."""
    tolerance = m.largest(a) * np.finfo(m.dtype).eps

    def step(k, a, v):
        pairs = Pairs(m, k)
        c, s = pairs.rotation(m.transpose(m.diagonal(a)), m.transpose(pairs.across(a)))
        a = pairs.rotate_columns(a, c, s)
        a = m.transpose(pairs.rotate_columns(m.transpose(a), c, s))
        # Both entries of a pair must be the same for both to turn by the same angle.
        a = m.symmetric(where(pairs.is_pair, 0, a), lower=True)
        rest = where(m.rows == m.positions, 0, a)
        goes_on = (m.largest(rest) > tolerance).any()
        return goes_on, a, pairs.rotate_columns(v, c, s)

    identity = m.identity().expand_as(a)
    a, v = m.loop(step, a, identity, count=most_steps(m), may_end=True)
    values = m.diagonal(a).squeeze(-1)
    values, order = values.node("TopK", m.order.unsqueeze(0), n_outputs=2, largest=0)
    return values, v.gather_elements(order.unsqueeze(-2).expand_as(v), axis=-1)


def most_steps(m):
    return m.order * MOST_SWEEPS


class Pairs:
    """The pairs of positions i and j with ``i + j = k`` modulo the order of the matrices.

    `partners` are the other positions, which may be the same, and `is_pair` tells which entries of
    a matrix are at a pair of two different ones.
    """

    def __init__(self, m, k):
        self.m = m
        # onnxruntime refuses to divide by a constant zero, even in a loop of no steps.
        # thoughts/upstream/onnxruntime-division-by-constant-zero.md
        self.partners = (k - m.positions) % maximum(m.order, 1)
        self.column = self.partners.unsqueeze(1)
        self.is_pair = (m.rows != m.positions) & (self.column == m.positions)

    def across(self, a):
        """Return the entry of each row in the column of its partner, as matrices of one column."""
        index = self.column.expand_as(self.m.row_numbers(a))
        return a.gather_elements(index, axis=-1)

    def other(self, x):
        return x.gather(self.partners, axis=-1)

    def rotation(self, diagonal, across):
        """Return cosines and sines that make `across` zero, as matrices of one row."""
        is_done = (across == 0) | (self.partners == self.m.positions)
        ratio = (self.other(diagonal) - diagonal) / where(is_done, 1, across + across)
        # If two entries are equal, one takes each sign.
        first = where(self.m.positions < self.partners, ratio.lift(1), -1)
        direction = where(ratio == 0, first, sign(ratio))
        tangent = direction / (abs(ratio) + sqrt(ratio * ratio + 1))
        tangent = where(is_done, 0, tangent)
        cosine = 1 / sqrt(tangent * tangent + 1)
        return cosine, tangent * cosine

    def rotate_columns(self, x, cosine, sine):
        return x * cosine - self.other(x) * sine
