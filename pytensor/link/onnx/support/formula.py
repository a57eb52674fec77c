"""Formulas that converters write with Python's operators."""

import numpy as np


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

    def __add__(self, other):
        return self.apply("Add", other)

    def __radd__(self, other):
        return self.lift(other) + self

    def __sub__(self, other):
        return self.apply("Sub", other)

    def __rsub__(self, other):
        return self.lift(other) - self

    def __mul__(self, other):
        return self.apply("Mul", other)

    def __rmul__(self, other):
        return self.lift(other) * self

    def __truediv__(self, other):
        return self.apply("Div", other)

    def __rtruediv__(self, other):
        return self.lift(other) / self

    def __pow__(self, other):
        return self.apply("Pow", other)

    def __neg__(self):
        return self.apply("Neg")

    def __abs__(self):
        return self.apply("Abs")

    def __lt__(self, other):
        return self.apply("Less", other)

    def __le__(self, other):
        return self.apply("LessOrEqual", other)

    def __gt__(self, other):
        return self.apply("Greater", other)

    def __ge__(self, other):
        return self.apply("GreaterOrEqual", other)

    def __eq__(self, other):
        return self.apply("Equal", other)

    def __and__(self, other):
        return self.apply("And", other)

    def __or__(self, other):
        return self.apply("Or", other)

    def __invert__(self):
        return self.apply("Not")

    def column(self):
        """With a last axis of size 1, along which a vector of constants is broadcast."""
        axis = self.builder.int64s([-1])
        return Term(self.builder, self.builder.add("Unsqueeze", self.name, axis))

    def dot(self, weights):
        """Weighted sum over the last axis."""
        # Of empty tensors, onnxruntime's sum over axis -1 has the wrong shape, and the product
        # with a vector fails.
        weights = self.builder.constant(np.reshape(weights, (-1, 1)), "float64")
        product = self.builder.add("MatMul", self.name, weights)
        axis = self.builder.int64s([-1])
        return Term(self.builder, self.builder.add("Squeeze", product, axis))


def where(condition, x, y):
    """`x` where the condition holds, and else `y`, the one that keeps negative zeros."""
    x, y = condition.lift(x), condition.lift(y)
    return condition.apply("Where", x, y)


def exp(x):
    return x.apply("Exp")


def log(x):
    return x.apply("Log")


def sqrt(x):
    return x.apply("Sqrt")


def sin(x):
    return x.apply("Sin")


def cos(x):
    return x.apply("Cos")


def floor(x):
    return x.apply("Floor")


def rint(x):
    """The nearest integer, and of two the even one."""
    return x.apply("Round")


def sign(x):
    return x.apply("Sign")


def maximum(x, y):
    """The larger one; NaN where `x` is NaN."""
    return where(x < y, y, x)


def minimum(x, y):
    """The smaller one; NaN where `x` is NaN."""
    return where(x > y, y, x)


def polynomial(x, coefficients):
    """Horner's scheme; the constant coefficient comes first."""
    *rest, result = coefficients
    for coefficient in reversed(rest):
        result = result * x + coefficient
    return result


def log1p(x):
    """Kahan's log1p: with u = 1 + x rounded, log(u) * x / (u - 1) undoes the rounding."""
    u = 1.0 + x
    corrected = log(u) * (x / (u - 1.0))
    return where(abs(u - 1.0) > 0.0, where(u == np.inf, u, corrected), x)


def expm1(x):
    """Kahan's expm1: with u = exp(x) rounded, (u - 1) * x / log(u) undoes the rounding."""
    u = exp(x)
    corrected = (u - 1.0) * (x / log(u))
    return where(abs(u - 1.0) > 0.0, where(abs(x) > 1.0, u - 1.0, corrected), x)


def exp_of_square(x):
    """exp(-x**2), with the square's rounding error put back: it counts 700 times at x = 26."""
    # The square of a multiple of 1/64 below 2**20 is exact.
    coarse = rint(x * 64.0) * 0.015625
    return exp(-(coarse * coarse)) * exp((coarse - x) * (coarse + x))
