"""Formulas of floating-point numbers, and what registers them.

Numbers in formulas are float64: what is rounded to float32 once, at the end, is as good as can be.
"""

from operator import methodcaller

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.write.term import where

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
        def converter(op, node, *inputs):
            return write_formula(function, node, inputs)

        return function

    return register


def double_formula(op_class, op_type):
    """Register ``function(*terms) -> term`` for float64, and a kernel for the other floats."""

    def register(function):
        @onnx_funcify.register(op_class)
        def converter(op, node, *inputs):
            dtype = node.outputs[0].type.dtype
            x, *rest = (x.cast(dtype) for x in inputs)
            return function(x, *rest) if dtype == "float64" else x.node(op_type, *rest)

        return function

    return register


def write_formula(function, node, inputs):
    """Return what a formula makes of a scalar node's inputs, in double precision."""
    result = function(*(x.cast("float64") for x in inputs))
    return result.cast(node.outputs[0].type.dtype)


exp = methodcaller("node", "Exp")
log = methodcaller("node", "Log")
sqrt = methodcaller("node", "Sqrt")
sin = methodcaller("node", "Sin")
cos = methodcaller("node", "Cos")
tanh = methodcaller("node", "Tanh")
floor = methodcaller("node", "Floor")
ceil = methodcaller("node", "Ceil")
sign = methodcaller("node", "Sign")
# The nearest integer, and of two the even one.
rint = methodcaller("node", "Round")


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
