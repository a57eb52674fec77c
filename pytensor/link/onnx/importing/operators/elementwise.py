"""Elementwise arithmetic, comparisons, logic, functions and casts."""

from functools import reduce, wraps
from inspect import Parameter, signature
from typing import Literal

import numpy as np
import onnx_ir as ir

import pytensor.tensor as pt
from pytensor.gradient import disconnected_grad
from pytensor.graph.basic import Constant
from pytensor.link.onnx.importing.registry import Refused, dtype_name, operator_funcify
from pytensor.link.onnx.importing.sizes import (
    broadcastable,
    entries,
    folded,
    is_listed,
    is_size,
    known,
    like,
    vector,
    wide,
)
from pytensor.link.onnx.importing.written import as_written, divide, kept, unless_cancelled
from pytensor.tensor.basic import constant

UNARY = {
    "Abs": pt.abs,
    "Acos": pt.arccos,
    "Acosh": pt.arccosh,
    "Asin": pt.arcsin,
    "Asinh": pt.arcsinh,
    "Atan": pt.arctan,
    "Atanh": pt.arctanh,
    "BitwiseNot": pt.invert,
    "Cos": pt.cos,
    "Cosh": pt.cosh,
    "Erf": pt.erf,
    "Exp": pt.exp,
    "Log": pt.log,
    "Neg": pt.neg,
    "Not": pt.invert,
    "Reciprocal": pt.reciprocal,
    "Sin": pt.sin,
    "Sinh": pt.sinh,
    "Sqrt": pt.sqrt,
    "Tan": pt.tan,
    "Tanh": pt.tanh,
}
ROUNDING = {
    "Ceil": pt.ceil,
    "Floor": pt.floor,
    "Round": pt.round_half_to_even,
    "Sign": pt.sign,
}
COMPARING = {
    "Greater": pt.gt,
    "GreaterOrEqual": pt.ge,
    "Less": pt.lt,
    "LessOrEqual": pt.le,
}
BINARY = {
    "Add": unless_cancelled(pt.add),
    "And": pt.and_,
    "BitwiseAnd": pt.and_,
    "BitwiseOr": pt.or_,
    "BitwiseXor": pt.xor,
    "Mul": unless_cancelled(pt.mul),
    "Or": pt.or_,
    "Sub": unless_cancelled(pt.sub),
    "Xor": pt.xor,
}
OF_MANY = {"Max": pt.maximum, "Min": pt.minimum, "Sum": pt.add}


def _has_entries(x, length):
    """Return whether a variable is a number, or a vector of `length` numbers given one by one."""
    if x.type.ndim == 0:
        return True
    return (is_listed(x) or isinstance(x, Constant)) and x.type.shape in ((1,), (length,))


def elementwise(*op_types):
    """Register a converter, which takes the entries of a vector of sizes one by one."""

    def register(convert):
        @wraps(convert)
        def converter(node, *inputs, **attributes):
            given = [v for v in inputs if v is not None]
            length = max((v.type.shape[0] for v in given if is_listed(v)), default=0)
            if not length or not all(_has_entries(v, length) for v in given):
                inputs = broadcastable(inputs, declared=node.declared_inputs)
                return convert(*inputs, **attributes)
            rows = [None if v is None else entries(v) if v.type.ndim else [v] for v in inputs]
            results = []
            for i in range(length):
                scalars = [None if r is None else r[i if len(r) > 1 else 0] for r in rows]
                results.extend(folded([convert(*scalars, **attributes)]))
            return vector(results, results[0].type.dtype)

        of_node = Parameter("node", Parameter.POSITIONAL_ONLY)
        own = signature(convert)
        converter.__signature__ = own.replace(parameters=[of_node, *own.parameters.values()])
        operator_funcify.register(*op_types)(converter)
        return convert

    return register


def unary(function):
    """Return a converter by a function whose result has the dtype of its input."""
    return lambda x: pt.cast(function(x), x.type.dtype)


def _binary(function):
    return lambda x, y: function(x, y)


def _of_many(function):
    return lambda *inputs: reduce(function, inputs)


def _rounding(function):
    return lambda x: pt.cast(function(kept(x)), x.type.dtype)


def comparing(function):
    """Return a function that compares two variables, as they are written.

    What is kept for it is a copy, through which a gradient of 0 would become NaN where a derivative
    is infinite.
    """

    def compare(x, y):
        is_float = x.type.dtype.startswith("float")
        sides = (v if (new := kept(v)) is v else disconnected_grad(new) for v in (x, y))
        return (as_written(function) if is_float else function)(*sides)

    return compare


for _name, _function in UNARY.items():
    elementwise(_name)(unary(_function))
for _name, _function in BINARY.items():
    elementwise(_name)(_binary(_function))
for _name, _function in OF_MANY.items():
    elementwise(_name)(_of_many(_function))
for _name, _function in ROUNDING.items():
    elementwise(_name)(_rounding(_function))
for _name, _function in COMPARING.items():
    elementwise(_name)(comparing(_function))


def is_integer(x):
    """Return whether a variable is of an integer dtype."""
    return np.dtype(x.type.dtype).kind in "iu"


def without_gradient(x):
    """Return `x`, as a constant for gradients if it isn't floating: argmax's and the like fail.

    See ``thoughts/upstream/gradients-of-integer-results.md``.
    """
    return x if x.type.dtype.startswith("float") else disconnected_grad(x)


def divided(x, y):
    """Return the quotient; that of integers has no fraction."""
    if not is_integer(x):
        return divide(x, y)
    quotient = pt.int_div(x, y)
    if x.type.dtype.startswith("uint"):
        return quotient
    # PyTensor rounds down, ONNX towards zero
    below = pt.neq(pt.mul(quotient, y), x) & pt.xor(pt.lt(x, like(x, 0)), pt.lt(y, like(y, 0)))
    return pt.add(quotient, pt.cast(below, x.type.dtype))


@elementwise("Div")
def div(x, y):
    return divided(x, y)


@elementwise("Mod")
def mod(x, y, *, fmod=0):
    x, y = kept(x), kept(y)
    if not fmod:
        return pt.mod(x, y)
    if not is_integer(x):
        size = pt.abs(y)
        return pt.switch(pt.lt(x, like(x, 0)), -pt.mod(-x, size), pt.mod(x, size))
    remainder = pt.mod(x, y)
    if x.type.dtype.startswith("uint"):
        return remainder
    other_sign = pt.xor(pt.lt(x, like(x, 0)), pt.lt(y, like(y, 0)))
    return pt.switch(pt.neq(remainder, like(x, 0)) & other_sign, remainder - y, remainder)


@elementwise("Pow")
def pow_(x, y):
    exponent = known(y)
    if exponent is not None and np.array_equal(exponent.astype(x.type.dtype), exponent):
        y = constant(exponent.astype(x.type.dtype))
    if not (is_integer(x) and y.type.dtype.startswith("int")) or _at_least_zero(y):
        return pt.cast(pt.power(x, y), x.type.dtype)
    # NumPy refuses negative powers of integers: fractions, that is 0, except powers of 1 and -1
    below = pt.lt(y, like(y, 0))
    power = pt.power(x, pt.switch(below, pt.and_(y, like(y, 1)), y))
    fraction = below & pt.neq(pt.abs(x), like(x, 1))
    return pt.cast(pt.switch(fraction, like(power, 0), power), x.type.dtype)


def _at_least_zero(y):
    number = known(y)
    return number is not None and bool((number >= 0).all())


@elementwise("Clip")
def clip(x, low=None, high=None):
    for bound, function in ((low, pt.maximum), (high, pt.minimum)):
        if bound is not None:
            bound = bound if bound.type.ndim == 0 else bound.reshape(())
            x = function(x, pt.cast(bound, x.type.dtype))
    return x


@elementwise("Mean")
def mean(*inputs):
    total = reduce(pt.add, map(wide, inputs))
    return pt.cast(total / like(total, len(inputs)), inputs[0].type.dtype)


@elementwise("Equal")
def equal(x, y):
    # What exporters ask of shapes: whether a size is -1
    if any(_is_negative(v) and is_size(w) for v, w in ((x, y), (y, x))):
        return constant(np.False_)
    return comparing(pt.eq)(x, y)


def _is_negative(x):
    number = known(x)
    return number is not None and is_integer(x) and number.ndim == 0 and number < 0


@elementwise("Where")
def where(condition, x, y):
    chosen = known(condition)
    if chosen is not None and chosen.ndim == x.type.ndim == y.type.ndim == 0:
        return x if chosen else y
    return pt.switch(condition, x, y)


@elementwise("BitShift")
def bit_shift(x, y, *, direction: Literal["LEFT", "RIGHT"]):
    bits = np.dtype(x.type.dtype).itemsize * 8
    signed = x.type.dtype.startswith("int")
    # A signed dtype's highest bit is negative; a right shift by this many leaves the sign alone
    most = bits - 1 if signed and direction == "RIGHT" else bits
    one = np.ones(bits, x.type.dtype)
    powers = constant(np.left_shift(one, np.arange(bits).astype(one.dtype)))
    outside = pt.ge(y, like(y, most)) | pt.lt(y, like(y, 0))
    power = powers[pt.cast(pt.switch(outside, like(y, 0), y), "int64")]
    if direction == "LEFT":
        return pt.switch(outside, like(x, 0), x * power)
    fill = pt.switch(pt.lt(x, like(x, 0)), like(x, -1), like(x, 0)) if signed else like(x, 0)
    return pt.switch(outside, fill, pt.int_div(x, power))


@elementwise("IsNaN")
def is_nan(x):
    return pt.isnan(x)


@elementwise("IsInf")
def is_inf(x, *, detect_negative=1, detect_positive=1):
    wanted = []
    if detect_positive:
        wanted.append(pt.eq(x, like(x, np.inf)))
    if detect_negative:
        wanted.append(pt.eq(x, like(x, -np.inf)))
    return reduce(pt.or_, wanted) if wanted else pt.zeros_like(x, dtype="bool")


def converted(x, dtype):
    """Convert the values of `x` to another dtype."""
    if dtype == "bool" and x.type.dtype != "bool":
        return comparing(pt.neq)(x, like(x, 0))
    return pt.cast(x if dtype.startswith("float") else kept(x), dtype)


@elementwise("Cast")
def cast(x, *, round_mode="up", saturate=1, to):
    # `round_mode` and `saturate` are for floats of 8 bits, which PyTensor doesn't have
    return converted(x, dtype_name(ir.DataType(to)))


@operator_funcify.register("CastLike")
def cast_like(x, target, *, round_mode="up", saturate=1):
    return converted(x, target.type.dtype)


@operator_funcify.register("BitCast")
def bit_cast(x, *, to):
    dtype = np.dtype(dtype_name(ir.DataType(to)))
    if dtype.itemsize != np.dtype(x.type.dtype).itemsize:
        raise Refused(f"{x.type.dtype} and {dtype} aren't of one width")
    value = known(x)
    if value is not None:
        return constant(value.view(dtype))
    if dtype.name == x.type.dtype or (dtype.kind in "iu" and not x.type.dtype.startswith("float")):
        return pt.cast(x, dtype.name)
    raise Refused(
        f"PyTensor has no operation that reads the bits of {x.type.dtype} as {dtype}; it can be "
        f"done for constants and between integers"
    )


@operator_funcify.register("Identity")
def identity(x):
    return x
