"""Scalar Ops of one kernel, Ops that only copy or cast, and what the other scalar files share."""

import numpy as np

from pytensor.link.conversions import import_all
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.errors import NO_CONVERTER, ConversionError
from pytensor.link.onnx.write.formula import NAMED, write_formula
from pytensor.link.onnx.write.term import maximum, minimum, where
from pytensor.scalar import basic as ps

# Unary functions of floats with a kernel in every precision that agrees with NumPy.
UNARY = {
    ps.Ceil: "Ceil",
    ps.Cos: "Cos",
    ps.Exp: "Exp",
    ps.Floor: "Floor",
    ps.Log: "Log",
    ps.Reciprocal: "Reciprocal",
    ps.RoundHalfToEven: "Round",
    ps.Sin: "Sin",
    ps.Sqrt: "Sqrt",
    ps.Tanh: "Tanh",
}
SINGLE_NODE = UNARY | {ps.Sub: "Sub", ps.TrueDiv: "Div"}


def output_dtype(node):
    return node.outputs[0].type.dtype


def fills_output(node, number):
    """Return whether an input is known to have the shape of the output."""
    shape = getattr(node.inputs[number].type, "broadcastable", None)
    return shape is not None and shape == getattr(node.outputs[0].type, "broadcastable", None)


@onnx_funcify.register(ps.ScalarOp)
def onnx_funcify_ScalarOp(op, node, *inputs):
    name = (getattr(op, "nfunc_spec", None) or [None])[0]
    if type(op) not in SINGLE_NODE:
        import_all("pytensor.link.onnx.extras.special")
    if name in NAMED:
        return write_formula(NAMED[name], node, inputs)
    if type(op) not in SINGLE_NODE:
        raise ConversionError(f"{NO_CONVERTER} for this scalar Op")
    x, *rest = (x.cast(output_dtype(node)) for x in inputs)
    return x.node(SINGLE_NODE[type(op)], *rest)


@onnx_funcify.register(ps.Composite)
def onnx_funcify_Composite(op, node, x, *inputs):
    return x.builder.inline(op.fgraph, (x, *inputs))


@onnx_funcify.register(ps.Identity)
@onnx_funcify.register(ps.Conj)
@onnx_funcify.register(ps.Real)
def onnx_funcify_Identity(op, node, x):
    return x.cast(output_dtype(node))


@onnx_funcify.register(ps.Imag)
def onnx_funcify_Imag(op, node, x):
    return x.builder.constant(0, output_dtype(node)).expand_as(x)


@onnx_funcify.register(ps.Second)
def onnx_funcify_Second(op, node, like, x):
    return x if fills_output(node, 1) else x.expand_as(like)


@onnx_funcify.register(ps.Cast)
def onnx_funcify_Cast(op, node, x):
    to = output_dtype(node)
    if (x.dtype, to) == ("float64", "float16") and x.data is None:
        return round_to_half(x)
    # A float that the integer type can't hold is undefined in C, and so in NumPy and here.
    return x.cast(to)


def round_to_half(x):
    """Round float64 to float16 once; the kernel goes by way of float32 and rounds twice.

    That matters where the float32 number lies halfway between two of float16.
    """
    # What is just below 65520 is finite in float16, but would be 65520 in float32.
    below = minimum(maximum(x, -65519.9), 65519.9)
    bounded = where(abs(x) < 65520.0, below, x)
    single = rounded_to(bounded, "float32")
    nearest = rounded_to(single, "float16")
    mirrored = 2.0 * single - nearest
    halfway = (mirrored == rounded_to(mirrored, "float16")) & (abs(nearest) < np.inf)
    larger, smaller = maximum(nearest, mirrored), minimum(nearest, mirrored)
    result = where(halfway & (bounded < single), smaller, nearest)
    result = where(halfway & (bounded > single), larger, result)
    # The sign of zeros is lost on the way.
    result = where(abs(result) > 0.0, result, x * 0.0)
    return result.cast("float16")


def rounded_to(x, dtype):
    return x.cast(dtype).cast(x.dtype)
