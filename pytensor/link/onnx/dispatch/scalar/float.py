"""Rounding, and logarithms and exponentials that ONNX doesn't have."""

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import cast_inputs, output_dtype
from pytensor.link.onnx.dispatch.scalar.basic import where as where_as
from pytensor.link.onnx.write.term import (
    expm1,
    log,
    log1p,
    minimum,
    rint,
    scalar_formula,
    where,
)
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
    rest = log(x / x.lift(base) ** digits) / np.log(base)
    exact = digits + rest - where(is_small, exponent, 0.0)
    return where(abs(natural) < np.inf, exact, natural)


@onnx_funcify.register(ps.Trunc)
def onnx_funcify_Trunc(op, node, builder, x):
    dtype = output_dtype(node)
    (x,) = cast_inputs(builder, node, [x], dtype)
    positive = builder.add("Greater", x, builder.constant(0, dtype))
    return where_as(builder, dtype, positive, builder.add("Floor", x), builder.add("Ceil", x))


@onnx_funcify.register(ps.RoundHalfAwayFromZero)
def onnx_funcify_RoundHalfAwayFromZero(op, node, builder, x):
    # floor(|x| + 0.5) would round 0.49999997 up: the sum is rounded before the floor sees it.
    dtype = output_dtype(node)
    size = builder.add("Abs", x)
    floor = builder.add("Floor", size)
    rest = builder.add("Sub", size, floor)
    up = builder.add("GreaterOrEqual", rest, builder.constant(0.5, dtype))
    rounded = builder.add("Add", floor, builder.cast(up, "bool", dtype))
    # Zeros of either sign become -0.0, as in Python.
    positive = builder.add("Greater", x, builder.constant(0, dtype))
    return where_as(builder, dtype, positive, rounded, builder.add("Neg", rounded))
