"""Eigenvalues of symmetric matrices, by the method of Jacobi.

The rotations of one step are of disjoint pairs of rows, in the order of Luk and Park, "A Proof of
Convergence for Two Parallel Jacobi SVD Algorithms" (1989); the angles are those of Golub and Van
Loan, "Matrix Computations", algorithm 8.4.1.  The eigenvectors may have other signs than LAPACK's.
"""

import numpy as np

from pytensor.link.onnx.extras.linalg.basic import matrices_of
from pytensor.link.onnx.extras.linalg.triangular import cholesky, substitute
from pytensor.link.onnx.write.batched import expand_batch, register_batched
from pytensor.tensor.linalg.decomposition.eigen import Eigh, Eigvalsh

# Ten suffice; without a limit, what isn't a number would never end.
MOST_SWEEPS = 30


@register_batched(Eigh)
def onnx_funcify_Eigh(op, node, builder, *inputs):
    inputs = [expand_batch(builder, node, inputs, i) for i in range(len(inputs))]
    m, a = matrices_of(builder, node, inputs[0])
    a = m.symmetric(a, lower=op.lower)
    if len(inputs) == 1:
        return eigh(m, a)
    b = builder.cast(inputs[1], node.inputs[1].type.dtype, m.dtype)
    factor = cholesky(m, b, lower=op.lower)
    factor = factor if op.lower else m.transpose(factor)
    half = substitute(m, factor, a, lower=True)
    reduced = substitute(m, factor, m.transpose(half), lower=True)
    values, vectors = eigh(m, m.symmetric(reduced, lower=True))
    return values, substitute(m, m.transpose(factor), vectors, lower=False)


@register_batched(Eigvalsh)
def onnx_funcify_Eigvalsh(op, node, builder, *inputs):
    return onnx_funcify_Eigh(op, node, builder, *inputs)[0]


def eigh(m, a):
    """Return eigenvalues, which ascend, and eigenvectors of symmetric matrices."""
    add = m.add
    tolerance = add("Mul", m.largest(a), m.constant(np.finfo(m.dtype).eps))

    def step(k, a, v):
        pairs = Pairs(m, k)
        c, s = pairs.rotation(m.transpose(m.diagonal(a)), m.transpose(pairs.across(a)))
        a = pairs.rotate_columns(a, c, s)
        a = m.transpose(pairs.rotate_columns(m.transpose(a), c, s))
        # Both entries of a pair must be the same for both to turn by the same angle.
        a = m.symmetric(add("Where", pairs.is_pair, m.constant(0), a), lower=True)
        rest = add("Where", add("Equal", m.rows, m.positions), m.constant(0), a)
        goes_on = m.is_any(add("Greater", m.largest(rest), tolerance))
        return goes_on, a, pairs.rotate_columns(v, c, s)

    identity = add("Expand", m.identity(), add("Shape", a))
    a, v = m.loop(step, a, identity, count=most_steps(m), may_end=True)
    size = add("Unsqueeze", m.order, m.builder.int64s([0]))
    values = m.vectors(m.diagonal(a))
    values, order = add("TopK", values, size, n_outputs=2, largest=0)
    index = add("Expand", add("Unsqueeze", order, m.builder.int64s([-2])), add("Shape", v))
    return values, add("GatherElements", v, index, axis=-1)


def most_steps(m):
    return m.add("Mul", m.order, m.builder.constant(MOST_SWEEPS, "int64"))


class Pairs:
    """The pairs of positions i and j with ``i + j = k`` modulo the order of the matrices.

    `partners` are the other positions, which may be the same, and `is_pair` tells which entries of
    a matrix are at a pair of two different ones.
    """

    def __init__(self, m, k):
        self.m = m
        add = m.add
        # onnxruntime refuses to divide by a constant zero, even in a loop of no steps.
        # thoughts/upstream/onnxruntime-division-by-constant-zero.md
        order = add("Max", m.order, m.builder.constant(1, "int64"))
        self.partners = add("Mod", add("Sub", k, m.positions), order)
        self.column = add("Unsqueeze", self.partners, m.builder.int64s([1]))
        differ = add("Not", add("Equal", m.rows, m.positions))
        self.is_pair = add("And", differ, add("Equal", self.column, m.positions))

    def across(self, a):
        """Return the entry of each row in the column of its partner, as matrices of one column."""
        index = self.m.add("Expand", self.column, self.m.add("Shape", self.m.row_numbers(a)))
        return self.m.add("GatherElements", a, index, axis=-1)

    def other(self, x):
        return self.m.add("Gather", x, self.partners, axis=-1)

    def rotation(self, diagonal, across):
        """Return cosines and sines that make `across` zero, as matrices of one row."""
        m, add = self.m, self.m.add
        zero, one = m.constant(0), m.constant(1)
        is_done = add("Equal", across, zero)
        is_done = add("Or", is_done, add("Equal", self.partners, m.positions))
        twice = add("Add", across, across)
        difference = add("Sub", self.other(diagonal), diagonal)
        ratio = add("Div", difference, add("Where", is_done, one, twice))
        # If two entries are equal, one takes each sign.
        sign = add("Where", add("Less", m.positions, self.partners), one, m.constant(-1))
        sign = add("Where", add("Equal", ratio, zero), sign, add("Sign", ratio))
        root = add("Sqrt", add("Add", add("Mul", ratio, ratio), one))
        tangent = add("Div", sign, add("Add", add("Abs", ratio), root))
        tangent = add("Where", is_done, zero, tangent)
        cosine = add("Div", one, add("Sqrt", add("Add", add("Mul", tangent, tangent), one)))
        return cosine, add("Mul", tangent, cosine)

    def rotate_columns(self, x, cosine, sine):
        add = self.m.add
        return add("Sub", add("Mul", x, cosine), add("Mul", self.other(x), sine))
