"""Floor division and the modulo that goes with it."""

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import output_dtype
from pytensor.link.onnx.write.formula import floor
from pytensor.link.onnx.write.term import where
from pytensor.scalar import basic as ps


@onnx_funcify.register(ps.IntDiv)
def onnx_funcify_IntDiv(op, node, x, y):
    return divide(node, x, y, float_quotient, integer_quotient)


@onnx_funcify.register(ps.Mod)
def onnx_funcify_Mod(op, node, x, y):
    return divide(node, x, y, float_rest, integer_rest)


def divide(node, x, y, of_floats, of_integers):
    # NumPy divides booleans as int8, and computes half precision in single.
    dtype = output_dtype(node)
    work = {"bool": "int8", "float16": "float32"}.get(dtype, dtype)
    x, y = x.cast(work), y.cast(work)
    return (of_floats if x.is_float else of_integers)(x, y).cast(dtype)


def integer_quotient(x, y):
    # With y = divisor * factor, x // y = (x // divisor) * factor wherever the factor isn't 1.
    divisor, factor = split_divisor(y)
    quotient = x.truncated_quotient(divisor)
    if x.is_signed:
        # One too many where the signs differ and the division leaves a rest.
        quotient = quotient - leaves_rest(x % divisor, x, divisor).cast(x.dtype)
    return quotient if factor is None else quotient * factor


def integer_rest(x, y):
    # NumPy defines x % 0 as 0 for integers, which is x % 1 as well as x % -1.
    return x % split_divisor(y)[0]


def split_divisor(y):
    """Split y into a divisor and a factor, either of which is 1.

    The factor has the divisors on which hardware traps: 0, and -1, by which the smallest integer
    can't be divided.
    """
    if y.data is not None and not np.isin(y.data, [0, -1]).any():
        return y, None
    traps = y == 0
    if y.is_signed:
        traps = traps | (y == -1)
    return where(traps, 1, y), where(traps, y, 1)


def leaves_rest(rest, x, y):
    """Return whether `rest` isn't zero, and `x` and `y` are on different sides of zero."""
    return ((x < 0) ^ (y < 0)) & (rest != 0)


def float_rest(x, y):
    rest = x.node("Mod", y, fmod=1)
    shifted = where(leaves_rest(rest, rest, y), rest + y, rest)
    # A rest of zero has the divisor's sign; division by zero has left NaN.
    size = abs(rest)
    sign = where(y < 0, y.lift(-1), 1)
    return where(size > 0, shifted, size * sign)


def float_quotient(x, y):
    # As NumPy does it: exact remainder first, so that 1.0 // 0.1 is 9 although 1.0 / 0.1 is 10.
    ratio, rest = x / y, x.node("Mod", y, fmod=1)
    quotient = (x - rest) / y
    quotient = quotient - leaves_rest(rest, rest, y).cast(x.dtype)
    below = floor(quotient)
    result = below + (quotient - below > 0.5).cast(x.dtype)
    # A quotient of zero has the sign of the ratio, which is below 1.
    result = where(abs(quotient) > 0, result, ratio * 0)
    return where(y == 0, ratio, result)
