"""Arithmetic as the file has it, where rounding, infinity or NaN decides what is computed.

PyTensor's rewrites hold for real numbers.  What a comparison, a rounding or a cast to integers
reads is kept from them, and so is arithmetic that cancels for real numbers; the rest is theirs.
"""

import numpy as np

import pytensor.tensor as pt
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import walk_toposort
from pytensor.scalar import basic as scalar
from pytensor.scalar.as_written import AsWritten
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.shape import Reshape, SpecifyShape

ARITHMETIC = (
    scalar.Abs, scalar.Add, scalar.Exp, scalar.Log, scalar.Mul, scalar.Neg, scalar.Pow,
    scalar.Reciprocal, scalar.Sqr, scalar.Sqrt, scalar.Sub, scalar.TrueDiv,
)  # fmt: skip
BETWEEN = (scalar.Cast, scalar.Maximum, scalar.Minimum, scalar.Switch)
SUMS = (scalar.Add, scalar.Neg, scalar.Sub)
PRODUCTS = (scalar.Mul, scalar.Reciprocal, scalar.TrueDiv)


def as_written(op):
    """Return an elementwise Op that computes what another does, and that no rewrite changes."""
    return Elemwise(AsWritten(op.scalar_op))


def kept(x):
    """Return `x`, of any dtype, computed by the file's own arithmetic of floats."""
    new = {}
    for v in walk_toposort([x], _made_of):
        if not _made_of(v):
            continue
        node = v.owner
        op, inputs = node.op, [new.get(i, i) for i in node.inputs]
        if isinstance(op, Elemwise) and isinstance(op.scalar_op, ARITHMETIC):
            op = as_written(op)
        if op is not node.op or inputs != node.inputs:
            new[v] = op.make_node(*inputs).outputs[0]
    return new.get(x, x)


def _made_of(v):
    """Return what elementwise arithmetic of floats is made of; nothing for any other variable."""
    if v.owner is None or not v.type.dtype.startswith("float"):
        return ()
    op = v.owner.op
    if isinstance(op, DimShuffle | Reshape | SpecifyShape):
        return v.owner.inputs[:1]
    found = isinstance(op, Elemwise) and isinstance(op.scalar_op, ARITHMETIC + BETWEEN)
    return v.owner.inputs if found else ()


def unless_cancelled(op):
    """Return a function that applies `op`, of two numbers, and keeps it where PyTensor cancels."""

    def function(x, y):
        made = op(x, y)
        is_float = made.type.dtype.startswith("float")
        return as_written(op)(x, y) if is_float and _cancels(made) else made

    return function


def _cancels(made):
    """Return whether a sum has a term, or a product a factor, that real numbers need not have."""
    op = made.owner.op.scalar_op
    kinds = SUMS if isinstance(op, SUMS) else PRODUCTS
    terms, waiting = set(), [(made, False)]
    while waiting:
        term = v, is_inverse = waiting.pop()
        if term in terms:
            continue
        node = v.owner
        if node is not None and isinstance(node.op, DimShuffle):
            waiting.append((node.inputs[0], is_inverse))
        elif node is None or not isinstance(getattr(node.op, "scalar_op", None), kinds):
            terms.add(term)
        else:
            scalar_op = node.op.scalar_op
            turned = isinstance(scalar_op, scalar.Neg | scalar.Reciprocal)
            waiting.append((node.inputs[0], is_inverse ^ turned))
            second = isinstance(scalar_op, scalar.Sub | scalar.TrueDiv)
            waiting.extend((w, is_inverse ^ second) for w in node.inputs[1:])
    constants = [v for v, _ in terms if isinstance(v, Constant)]
    if kinds is SUMS:
        alone = sum(v.data.size == 1 for v in constants) < 2
    else:
        alone = all(np.any(v.data) for v in constants)
    return not alone or any((v, not is_inverse) in terms for v, is_inverse in terms)


divide = unless_cancelled(pt.true_div)
