"""Rounding, and logarithms and exponentials that ONNX doesn't have."""

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import output_dtype
from pytensor.link.onnx.write.formula import ceil, expm1, floor, log, log1p, rint, scalar_formula
from pytensor.link.onnx.write.term import minimum, where
from pytensor.scalar import basic as ps

scalar_formula(ps.Log1p)(log1p)
scalar_formula(ps.Expm1)(expm1)


@scalar_formula(ps.Log2)
def log2(x):
    return log_to_base(x, 2.0, 2.0**600, 600.0, 1023.0)


@scalar_formula(ps.Log10)
def log10(x):
    return log_to_base(x, 10.0, 1e300, 300.0, 308.0)


def log_to_base(x, base, scale, exponent, largest):
    """Compute the logarithm to an integer base, exact at its powers: n + log(x / base**n)."""
    # Scaled, base**n has full precision.
    is_small = x < 1 / scale
    x = where(is_small, x * scale, x)
    natural = log(x)
    digits = minimum(rint(natural / np.log(base)), largest)
    rest = log(x / base**digits) / np.log(base)
    exact = digits + rest - where(is_small, exponent, 0.0)
    return where(abs(natural) < np.inf, exact, natural)


@onnx_funcify.register(ps.Trunc)
def onnx_funcify_Trunc(op, node, x):
    x = x.cast(output_dtype(node))
    return where(x > 0, floor(x), ceil(x))


@onnx_funcify.register(ps.RoundHalfAwayFromZero)
def onnx_funcify_RoundHalfAwayFromZero(op, node, x):
    # floor(|x| + 0.5) would round 0.49999997 up: the sum is rounded before the floor sees it.
    size = abs(x)
    below = floor(size)
    rounded = below + (size - below >= 0.5).cast(x.dtype)
    # Zeros of either sign become -0.0, as in Python.
    return where(x > 0, rounded, -rounded)
