"""Formulas that converters write with Python's operators."""

import operator
from operator import methodcaller

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify


def _operator(op_type, evaluate=None, neutral=None):
    def apply(self, other):
        # For lengths alone: adding 0 to a floating-point number can change it.
        if isinstance(other, int) and other == neutral and self.dtype == "int64":
            return self
        return self.combine(op_type, evaluate, self, other)

    return apply


def _reflected(op_type, evaluate=None, neutral=None):
    def apply(self, other):
        if isinstance(other, int) and other == neutral and self.dtype == "int64":
            return self
        return self.combine(op_type, evaluate, other, self)

    return apply


def _unary(op_type):
    return lambda self: self.apply(op_type)


class Term:
    """A value of the graph; arithmetic with it adds nodes.

    Numbers in formulas are float64: what is rounded to float32 once, at the end, is as good as can
    be.  Lengths and positions are int64 (`lengths.ints`), and where they are known, arithmetic adds
    no nodes.  Quotients of integers must not be negative: NumPy rounds those down, ONNX towards
    zero.

    Attributes
    ----------
    value : str or ndarray
        The name of the value, or the array that it is known to be.
    dtype : str
        Of the numbers that it is combined with.
    """

    __hash__ = None
    # NumPy shall leave ``array * term`` to the term.
    __array_ufunc__ = None

    def __init__(self, builder, value, dtype="float64"):
        self.builder = builder
        self.value = value
        self.dtype = dtype

    def __bool__(self):
        raise TypeError("whether a value of the graph is true is known only when the model runs")

    @property
    def is_known(self):
        return not isinstance(self.value, str)

    @property
    def name(self):
        return self.builder.constant(self.value) if self.is_known else self.value

    def lift(self, value):
        """Return a number as a term."""
        if isinstance(value, Term):
            return value
        if self.dtype == "int64":
            return Term(self.builder, np.int64(value), "int64")
        return Term(self.builder, self.builder.constant(value, self.dtype))

    def combine(self, op_type, evaluate, *operands):
        """Return what an operator makes of terms and numbers; `evaluate` does so with arrays."""
        terms = [self.lift(operand) for operand in operands]
        if evaluate is not None and all(term.is_known for term in terms):
            return Term(self.builder, evaluate(*(term.value for term in terms)), self.dtype)
        name = self.builder.add(op_type, *(term.name for term in terms))
        return Term(self.builder, name, self.dtype)

    def apply(self, op_type, *others, **attributes):
        """Return what an operator of any kind makes of the term and others."""
        names = [self.lift(other).name for other in (self, *others)]
        return Term(self.builder, self.builder.add(op_type, *names, **attributes), self.dtype)

    __add__, __radd__ = _operator("Add", operator.add, 0), _reflected("Add", operator.add, 0)
    __sub__, __rsub__ = _operator("Sub", operator.sub, 0), _reflected("Sub", operator.sub)
    __mul__, __rmul__ = _operator("Mul", operator.mul, 1), _reflected("Mul", operator.mul, 1)
    __truediv__, __rtruediv__ = _operator("Div"), _reflected("Div")
    __floordiv__ = _operator("Div", operator.floordiv, 1)
    __mod__ = _operator("Mod", operator.mod)
    __pow__ = _operator("Pow")
    __neg__, __abs__, __invert__ = _unary("Neg"), _unary("Abs"), _unary("Not")
    __lt__, __le__ = _operator("Less", operator.lt), _operator("LessOrEqual", operator.le)
    __gt__, __ge__ = _operator("Greater", operator.gt), _operator("GreaterOrEqual", operator.ge)
    __eq__ = _operator("Equal", operator.eq)
    __and__, __or__ = _operator("And", operator.and_), _operator("Or", operator.or_)

    def column(self):
        """With a last axis of size 1, along which a vector of constants is broadcast."""
        axis = self.builder.int64s([-1])
        return Term(self.builder, self.builder.add("Unsqueeze", self.name, axis))

    def dot(self, weights):
        """Return the weighted sum over the last axis."""
        # For empty tensors, onnxruntime's sum over axis -1 has the wrong shape, and its product
        # with a vector fails.
        # thoughts/upstream/onnxruntime-empty-tensors.md
        weights = self.builder.constant(np.reshape(weights, (-1, 1)), "float64")
        product = self.builder.add("MatMul", self.name, weights)
        axis = self.builder.int64s([-1])
        return Term(self.builder, self.builder.add("Squeeze", product, axis))


# Formulas of scalar Ops that other packages define, by the function that such an Op names.
NAMED = {}


def named_formula(name):
    """Register ``function(*terms) -> term`` for scalar Ops whose `nfunc_spec` has this name."""

    def register(function):
        NAMED[name] = function
        return function

    return register


def scalar_formula(op_class):
    """Register ``function(*terms) -> term`` as the converter of a scalar Op of floats."""

    def register(function):
        @onnx_funcify.register(op_class)
        def converter(op, node, builder, *inputs):
            return write_formula(function, node, builder, inputs)

        return function

    return register


def write_formula(function, node, builder, inputs):
    """Return the name of what a formula makes of a scalar node's inputs, in double precision."""
    terms = [
        Term(builder, builder.cast(name, variable.type.dtype, "float64"))
        for name, variable in zip(inputs, node.inputs, strict=True)
    ]
    dtype = node.outputs[0].type.dtype
    return builder.cast(function(*terms).name, "float64", dtype)


def where(condition, x, y):
    """`x` where the condition holds, and else `y`, the one that keeps negative zeros."""
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
    """Horner's scheme; the constant coefficient comes first."""
    *rest, result = coefficients
    for coefficient in reversed(rest):
        result = result * x + coefficient
    return result


def minus_abs(x):
    """-abs(x), differentiable at 0 from one side, so that functions of abs(x) are at 0."""
    return where(x < 0.0, x, -x)


def log1p(x):
    """log(u) with u = 1 + x rounded, and what the rounding took."""
    u = 1.0 + x
    return where(abs(u - 1.0) > 0.0, log(u) + where(x < 1.0, x - (u - 1.0), 0.0), x)


def expm1(x):
    """2 t / (1 - t) with t = tanh(x / 2); its derivatives at 0 are right, too."""
    size = abs(x)
    t = tanh(where(size > 1.0, 0.0, x) * 0.5)
    near = where(size > 1e-300, 2.0 * t / (1.0 - t), x)  # the half of the smallest number is 0
    return where(size > 1.0, exp(x) - 1.0, near)


def exp_of_square(x):
    """exp(-x**2), with the square's rounding error put back: it counts 700 times at x = 26."""
    # The square of a multiple of 1/64 below 2**20 is exact.
    coarse = rint(x * 64.0) * 0.015625
    return exp(-(coarse * coarse)) * exp((coarse - x) * (coarse + x))
