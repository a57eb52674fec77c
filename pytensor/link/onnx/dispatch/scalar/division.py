"""Floor division and the modulo that goes with it."""

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import cast_inputs, output_dtype, where
from pytensor.link.onnx.write.order import FLOATS
from pytensor.scalar import basic as ps


@onnx_funcify.register(ps.IntDiv)
def onnx_funcify_IntDiv(op, node, builder, *inputs):
    return divide(builder, node, inputs, float_quotient, integer_quotient)


@onnx_funcify.register(ps.Mod)
def onnx_funcify_Mod(op, node, builder, *inputs):
    return divide(builder, node, inputs, float_rest, integer_rest)


def divide(builder, node, inputs, of_floats, of_integers):
    # NumPy divides booleans as int8, and computes half precision in single.
    dtype = output_dtype(node)
    work = {"bool": "int8", "float16": "float32"}.get(dtype, dtype)
    x, y = cast_inputs(builder, node, inputs, work)
    result = (of_floats if work in FLOATS else of_integers)(builder, x, y, work)
    return builder.cast(result, work, dtype)


def integer_quotient(builder, x, y, dtype):
    # With y = divisor * factor, x // y = (x // divisor) * factor wherever the factor isn't 1.
    divisor, factor = split_divisor(builder, y, dtype)
    quotient = builder.add("Div", x, divisor)
    if dtype.startswith("int"):
        # ONNX truncates: one too many where the signs differ and the division leaves a rest.
        rest = builder.add("Mod", x, divisor)
        below = builder.cast(leaves_rest(builder, rest, x, divisor, dtype), "bool", dtype)
        quotient = builder.add("Sub", quotient, below)
    return quotient if factor is None else builder.add("Mul", quotient, factor)


def integer_rest(builder, x, y, dtype):
    # NumPy defines x % 0 as 0 for integers, which is x % 1 as well as x % -1.
    return builder.add("Mod", x, split_divisor(builder, y, dtype)[0])


def split_divisor(builder, y, dtype):
    """Split y into a divisor and a factor, either of which is 1.

    The factor has the divisors on which hardware traps: 0, and -1, by which the smallest integer
    can't be divided.
    """
    value = builder.constant_value(y)
    if value is not None and not np.isin(value, [0, -1]).any():
        return y, None
    one = builder.constant(1, dtype)
    traps = builder.add("Equal", y, builder.constant(0, dtype))
    if dtype.startswith("int"):
        traps = builder.add("Or", traps, builder.add("Equal", y, builder.constant(-1, dtype)))
    return where(builder, dtype, traps, one, y), where(builder, dtype, traps, y, one)


def leaves_rest(builder, rest, x, y, dtype):
    """Return whether `rest` isn't zero, and `x` and `y` are on different sides of zero."""
    zero = builder.constant(0, dtype)
    differ = builder.add("Xor", builder.add("Less", x, zero), builder.add("Less", y, zero))
    return builder.add("And", differ, builder.add("Not", builder.add("Equal", rest, zero)))


def float_rest(builder, x, y, dtype):
    zero = builder.constant(0, dtype)
    rest = builder.add("Mod", x, y, fmod=1)
    shifted = where(
        builder,
        dtype,
        leaves_rest(builder, rest, rest, y, dtype),
        builder.add("Add", rest, y),
        rest,
    )
    # A rest of zero has the divisor's sign; division by zero has left NaN.
    size = builder.add("Abs", rest)
    one, minus_one = builder.constant(1, dtype), builder.constant(-1, dtype)
    sign = where(builder, dtype, builder.add("Less", y, zero), minus_one, one)
    remains = builder.add("Greater", size, zero)
    return where(builder, dtype, remains, shifted, builder.add("Mul", size, sign))


def float_quotient(builder, x, y, dtype):
    # As NumPy does it: exact remainder first, so that 1.0 // 0.1 is 9 although 1.0 / 0.1 is 10.
    zero = builder.constant(0, dtype)
    ratio = builder.add("Div", x, y)
    rest = builder.add("Mod", x, y, fmod=1)
    quotient = builder.add("Div", builder.add("Sub", x, rest), y)
    below = builder.cast(leaves_rest(builder, rest, rest, y, dtype), "bool", dtype)
    quotient = builder.add("Sub", quotient, below)
    floor = builder.add("Floor", quotient)
    half = builder.constant(0.5, dtype)
    too_low = builder.add("Greater", builder.add("Sub", quotient, floor), half)
    result = builder.add("Add", floor, builder.cast(too_low, "bool", dtype))
    # A quotient of zero has the sign of the ratio, which is below 1.
    remains = builder.add("Greater", builder.add("Abs", quotient), zero)
    result = where(builder, dtype, remains, result, builder.add("Mul", ratio, zero))
    return where(builder, dtype, builder.add("Equal", y, zero), ratio, result)
