"""Formulas that converters write with Python's operators."""

from operator import methodcaller

import numpy as np


def _operator(op_type):
    return lambda self, *others: self.apply(op_type, *others)


def _reflected(op_type):
    return lambda self, other: self.lift(other).apply(op_type, self)


class Term:
    """A float64 or bool value of the graph; arithmetic with it adds nodes.

    Double precision throughout: what is rounded to float32 once, at the end, is as good as can be.
    """

    __hash__ = None
    # NumPy shall leave ``array * term`` to the term.
    __array_ufunc__ = None

    def __init__(self, builder, name):
        self.builder = builder
        self.name = name

    def lift(self, value):
        if isinstance(value, Term):
            return value
        return Term(self.builder, self.builder.constant(value, "float64"))

    def apply(self, op_type, *others, **attributes):
        names = [self.lift(other).name for other in (self, *others)]
        return Term(self.builder, self.builder.add(op_type, *names, **attributes))

    __add__, __radd__ = _operator("Add"), _reflected("Add")
    __sub__, __rsub__ = _operator("Sub"), _reflected("Sub")
    __mul__, __rmul__ = _operator("Mul"), _reflected("Mul")
    __truediv__, __rtruediv__ = _operator("Div"), _reflected("Div")
    __pow__ = _operator("Pow")
    __neg__ = _operator("Neg")
    __abs__ = _operator("Abs")
    __lt__ = _operator("Less")
    __le__ = _operator("LessOrEqual")
    __gt__ = _operator("Greater")
    __ge__ = _operator("GreaterOrEqual")
    __eq__ = _operator("Equal")
    __and__ = _operator("And")
    __or__ = _operator("Or")
    __invert__ = _operator("Not")

    def column(self):
        """Add a last axis of size 1, along which a vector of constants is broadcast."""
        axis = self.builder.int64s([-1])
        return Term(self.builder, self.builder.add("Unsqueeze", self.name, axis))

    def dot(self, weights):
        """Return the weighted sum over the last axis."""
        # Of empty tensors, onnxruntime's sum over axis -1 has the wrong shape, and the product
        # with a vector fails.
        # thoughts/upstream/onnxruntime-empty-tensors.md
        weights = self.builder.constant(np.reshape(weights, (-1, 1)), "float64")
        product = self.builder.add("MatMul", self.name, weights)
        axis = self.builder.int64s([-1])
        return Term(self.builder, self.builder.add("Squeeze", product, axis))


def where(condition, x, y):
    """Return `x` where the condition holds, else `y`, the one that keeps negative zeros."""
    x, y = condition.lift(x), condition.lift(y)
    return condition.apply("Where", x, y)


exp = methodcaller("apply", "Exp")
log = methodcaller("apply", "Log")
sqrt = methodcaller("apply", "Sqrt")
sin = methodcaller("apply", "Sin")
cos = methodcaller("apply", "Cos")
tanh = methodcaller("apply", "Tanh")
floor = methodcaller("apply", "Floor")
sign = methodcaller("apply", "Sign")
# The nearest integer, and of two the even one.
rint = methodcaller("apply", "Round")


def maximum(x, y):
    """Return the larger one; NaN where `x` is NaN."""
    return where(x < y, y, x)


def minimum(x, y):
    """Return the smaller one; NaN where `x` is NaN."""
    return where(x > y, y, x)


def polynomial(x, coefficients):
    """Evaluate by Horner's scheme; the constant coefficient comes first."""
    *rest, result = coefficients
    for coefficient in reversed(rest):
        result = result * x + coefficient
    return result


def minus_abs(x):
    """Return -abs(x), differentiable at 0 from one side, so that functions of abs(x) are at 0."""
    return where(x < 0.0, x, -x)


def log1p(x):
    """Return log(u) with u = 1 + x rounded, and what the rounding took."""
    u = 1.0 + x
    return where(abs(u - 1.0) > 0.0, log(u) + where(x < 1.0, x - (u - 1.0), 0.0), x)


def expm1(x):
    """Return 2 t / (1 - t) with t = tanh(x / 2); its derivatives at 0 are right, too."""
    size = abs(x)
    t = tanh(where(size > 1.0, 0.0, x) * 0.5)
    near = where(size > 1e-300, 2.0 * t / (1.0 - t), x)  # the half of the smallest number is 0
    return where(size > 1.0, exp(x) - 1.0, near)


def exp_of_square(x):
    """Return exp(-x**2), with the square's rounding error: it counts 700 times at x = 26."""
    # The square of a multiple of 1/64 below 2**20 is exact.
    coarse = rint(x * 64.0) * 0.015625
    return exp(-(coarse * coarse)) * exp((coarse - x) * (coarse + x))
