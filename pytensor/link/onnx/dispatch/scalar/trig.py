"""Circular and hyperbolic functions, which onnxruntime doesn't compute in double precision.

Its own kernels, for float16 and float32, are used for these.
"""

import numpy as np

from pytensor.link.onnx.write.formula import (
    cos,
    double_formula,
    exp,
    expm1,
    floor,
    log,
    log1p,
    rint,
    scalar_formula,
    sin,
    sqrt,
)
from pytensor.link.onnx.write.term import maximum, where
from pytensor.scalar import basic as ps

# The sum is pi / 2; products of the first two with integers below 2**20 are exact.
HALF_PI = (
    float.fromhex("0x1.921fb544p+0"),
    float.fromhex("0x1.0b4611a6p-34"),
    float.fromhex("0x1.3198a2e037073p-69"),
)


def estimate(x, op_type):
    """Return a first estimate, by the kernel in single precision."""
    return x.cast("float32").node(op_type).cast(x.dtype)


def arcsin_of_small(x):
    """Compute arcsin where abs(x) is at most 0.001 (Abramowitz & Stegun 4.4.40)."""
    square = x * x
    return x + x * square * (square * (3 / 40) + 1 / 6)


def odd(x, of_size):
    """Give `of_size`, the result for abs(x), the sign of x; zeros and NaNs of x stay."""
    return where(x > 0.0, of_size, where(x < 0.0, -of_size, x))


@double_formula(ps.Tan, "Tan")
def tan(x):
    # Close to multiples of pi / 2, the kernels of sin and cos lose digits while abs(x) is below 15.
    turns = rint(x * (2 / np.pi))
    rest = x
    for part in HALF_PI:
        rest = rest - turns * part
    rest = where(abs(turns) > 0.0, rest, x)
    is_odd = turns - 2.0 * floor(turns * 0.5) == 1.0
    s, c = sin(rest), cos(rest)
    reduced = where(is_odd, -c, s) / where(is_odd, s, c)
    return where(abs(x) > 16.0, sin(x) / cos(x), reduced)


@double_formula(ps.ArcSin, "Asin")
def arcsin(x):
    # sin(y - y0) = sin(y) cos(y0) - cos(y) sin(y0).
    start = estimate(x, "Asin")
    result = start + arcsin_of_small(x * cos(start) - sqrt((1.0 - x) * (1.0 + x)) * sin(start))
    return where(abs(x) > 0.0, result, x)


@double_formula(ps.ArcCos, "Acos")
def arccos(x):
    start = estimate(x, "Acos")
    return start + arcsin_of_small(sqrt((1.0 - x) * (1.0 + x)) * cos(start) - x * sin(start))


@double_formula(ps.ArcTan, "Atan")
def arctan(x):
    # tan(y - y0) = (x - tan(y0)) / (1 + x tan(y0)); the difference is below 1e-6.
    start = estimate(x, "Atan")
    s, c = sin(start), cos(start)
    result = start + (x * c - s) / (c + x * s)
    return where(abs(x) > 1e17, odd(x, np.pi / 2), where(abs(x) > 0.0, result, x))


@double_formula(ps.Sinh, "Sinh")
def sinh(x):
    # Half of the exponent, because exp(x) / 2 may exist where exp(x) doesn't.
    size = abs(x)
    root = exp(size * 0.5)
    grown = expm1(size)
    small = (grown + grown / (grown + 1.0)) * 0.5
    return odd(x, where(size < 20.0, small, root * 0.5 * root))


@double_formula(ps.Cosh, "Cosh")
def cosh(x):
    root = exp(abs(x) * 0.5)
    return root * 0.5 * root + 0.5 / root / root


@double_formula(ps.ArcSinh, "Asinh")
def arcsinh(x):
    size = abs(x)
    square = size * size
    small = log1p(size + square / (1.0 + sqrt(1.0 + square)))
    return odd(x, where(size < 1e8, small, log(maximum(size, 1.0)) + np.log(2)))


@double_formula(ps.ArcCosh, "Acosh")
def arccosh(x):
    above = x - 1.0
    small = log1p(above + sqrt(above) * sqrt(above + 2.0))
    return where(x < 1e8, small, log(x) + np.log(2))


@double_formula(ps.ArcTanh, "Atanh")
def arctanh(x):
    size = abs(x)
    return odd(x, log1p(2.0 * size / (1.0 - size)) * 0.5)


@scalar_formula(ps.ArcTan2)
def arctan2(y, x):
    # Equal sizes first: zeros and infinities have no ratio.
    height, width = abs(y), abs(x)
    diagonal = where(height == 0.0, 0.0, 1.0)
    angle = arctan(where(height == width, diagonal, height / width))
    # The reciprocal tells -0.0 from 0.0.
    angle = where((x < 0.0) | (1.0 / x < 0.0), np.pi - angle, angle)
    return where((y > 0.0) | (1.0 / y > 0.0), angle, -angle)
