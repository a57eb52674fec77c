"""Integers of a graph as polynomials, by which a difference is found to be constant."""

from collections import Counter
from functools import reduce
from itertools import product

from pytensor import scalar as ps
from pytensor.graph.basic import Constant
from pytensor.raise_op import CheckAndRaise
from pytensor.tensor.basic import ScalarFromTensor, TensorFromScalar
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.type import integer_dtypes

__all__ = ["constant_difference"]

TRANSPARENT = (CheckAndRaise, DimShuffle, ScalarFromTensor, TensorFromScalar, ps.Cast, ps.Identity)
ONE = ()  # the product of no unknowns


def constant_difference(a, b):
    """Return the number ``a - b`` of two integer scalars, or None if it depends on their values.

    Integers that overflow aren't considered.
    """
    polynomials = _Polynomials()
    difference = _sum(polynomials.of(a), polynomials.of(b), -1)
    difference = {unknowns: n for unknowns, n in difference.items() if n}
    return difference.get(ONE, 0) if difference.keys() <= {ONE} else None


class _Polynomials:
    """The factors of the products of unknowns that add up to an integer.

    A product is a sorted tuple of unknowns' numbers.  Unknown are variables, and quotients.
    """

    def __init__(self):
        self._known, self._numbers = {}, {}

    def of(self, variable):
        if variable not in self._known:
            self._known[variable] = self._of_node(variable) or self._unknown(variable)
        return self._known[variable]

    def _unknown(self, what):
        return {(self._numbers.setdefault(what, len(self._numbers)),): 1}

    def _of_node(self, variable):
        """Return the polynomial of a constant or a sum, product or quotient; else None."""
        if isinstance(variable, Constant):
            return {ONE: int(variable.data)}
        node = variable.owner
        if node is None:
            return None
        op = node.op.scalar_op if isinstance(node.op, Elemwise) else node.op
        inputs = node.inputs[:1] if isinstance(op, CheckAndRaise) else node.inputs
        if any(v.type.dtype not in integer_dtypes or v.type.ndim for v in inputs):
            return None
        if isinstance(op, TRANSPARENT):
            return self.of(inputs[0])
        if not isinstance(op, ps.Neg | ps.Add | ps.Sub | ps.Mul | ps.IntDiv):
            return None
        operands = [self.of(v) for v in node.inputs]
        if isinstance(op, ps.IntDiv):
            return self._quotient(*operands)
        if isinstance(op, ps.Neg | ps.Sub):
            return _sum(*([{}] * (2 - len(operands))), *operands, -1)
        return reduce(_product if isinstance(op, ps.Mul) else _sum, operands)

    def _quotient(self, polynomial, divisor):
        """Return what a constant divides without a rest, and the quotient of the others."""
        divisor = divisor.get(ONE, 0) if divisor.keys() == {ONE} else 0
        if not divisor:
            return None
        whole = {p: factor // divisor for p, factor in polynomial.items() if not factor % divisor}
        rest = {p: factor for p, factor in polynomial.items() if factor % divisor}
        if ONE in rest:
            # (n + 7) // 3 is (n + 1) // 3 + 2.
            whole[ONE], rest[ONE] = divmod(rest[ONE], divisor)
        if rest.keys() <= {ONE}:
            return whole or {ONE: 0}
        return _sum(whole, self._unknown((frozenset(rest.items()), divisor)))


def _sum(a, b, sign=1):
    total = Counter(a)
    for unknowns, factor in b.items():
        total[unknowns] += sign * factor
    return dict(total) or {ONE: 0}


def _product(a, b):
    total = Counter()
    for (p, m), (q, n) in product(a.items(), b.items()):
        total[tuple(sorted(p + q))] += m * n
    return dict(total)
