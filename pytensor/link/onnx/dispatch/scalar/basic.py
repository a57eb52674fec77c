"""Scalar Ops of one kernel, Ops that only copy or cast, and what the other scalar files share."""

import numpy as np

from pytensor.link.conversions import import_all
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.errors import NO_CONVERTER, ConversionError
from pytensor.link.onnx.kernels import work_dtype
from pytensor.link.onnx.write import term as formula
from pytensor.link.onnx.write.term import NAMED, write_formula
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


def cast_inputs(builder, node, inputs, dtype):
    """Cast every input of a scalar or elementwise node to one dtype."""
    return [builder.cast(x, v.type.dtype, dtype) for x, v in zip(inputs, node.inputs, strict=True)]


def output_dtype(node):
    return node.outputs[0].type.dtype


def fills_output(node, number):
    """Return whether an input is known to have the shape of the output."""
    shape = getattr(node.inputs[number].type, "broadcastable", None)
    return shape is not None and shape == getattr(node.outputs[0].type, "broadcastable", None)


def where(builder, dtype, condition, x, y):
    """Add a Where, also of dtypes that onnxruntime has no kernel for.

    The kernel makes 0.0 of a -0.0 in `x`, though not in `y`.  Turning the condition around with a
    Not doesn't help, because onnxruntime removes it.
    See ``thoughts/upstream/onnxruntime-nan-and-infinity.md``.
    """
    # Casts between integers of one size keep the bits.
    work = "int64" if dtype == "uint64" else work_dtype("Where", dtype)
    x, y = builder.cast(x, dtype, work), builder.cast(y, dtype, work)
    return builder.cast(builder.add("Where", condition, x, y), work, dtype)


def any_of(builder, condition):
    """Return whether a condition holds anywhere; not so in empty tensors."""
    count = builder.add("ReduceSum", builder.cast(condition, "bool", "int64"), keepdims=0)
    return builder.add("Greater", count, builder.constant(0, "int64"))


def double_formula(op_class, op_type):
    """Register ``function(*terms) -> term`` for float64, and a kernel for the other floats."""

    def register(function):
        @onnx_funcify.register(op_class)
        def converter(op, node, builder, *inputs):
            dtype = output_dtype(node)
            inputs = cast_inputs(builder, node, inputs, dtype)
            if dtype != "float64":
                return builder.add(op_type, *inputs)
            return function(*[formula.Term(builder, name) for name in inputs]).name

        return function

    return register


@onnx_funcify.register(ps.ScalarOp)
def onnx_funcify_ScalarOp(op, node, builder, *inputs):
    name = op.nfunc_spec and op.nfunc_spec[0]
    if type(op) not in SINGLE_NODE:
        import_all("pytensor.link.onnx.extras.special")
    if name in NAMED:
        return write_formula(NAMED[name], node, builder, inputs)
    if type(op) not in SINGLE_NODE:
        raise ConversionError(f"{NO_CONVERTER} for this scalar Op")
    dtype = output_dtype(node)
    return builder.add_as(dtype, SINGLE_NODE[type(op)], *cast_inputs(builder, node, inputs, dtype))


@onnx_funcify.register(ps.Composite)
def onnx_funcify_Composite(op, node, builder, *inputs):
    return builder.inline(op.fgraph, inputs)


@onnx_funcify.register(ps.Identity)
@onnx_funcify.register(ps.Conj)
@onnx_funcify.register(ps.Real)
def onnx_funcify_Identity(op, node, builder, x):
    return builder.cast(x, node.inputs[0].type.dtype, output_dtype(node))


@onnx_funcify.register(ps.Imag)
def onnx_funcify_Imag(op, node, builder, x):
    zero = builder.constant(0, output_dtype(node))
    return builder.add("Expand", zero, builder.add("Shape", x))


@onnx_funcify.register(ps.Second)
def onnx_funcify_Second(op, node, builder, like, x):
    if fills_output(node, 1):
        return x
    return builder.add("Expand", x, builder.add("Shape", like))


@onnx_funcify.register(ps.Cast)
def onnx_funcify_Cast(op, node, builder, x):
    dtype, to = node.inputs[0].type.dtype, output_dtype(node)
    if (dtype, to) == ("float64", "float16") and builder.constant_value(x) is None:
        return round_to_half(builder, x)
    # A float that the integer type can't hold is undefined in C, and so in NumPy and here.
    return builder.cast(x, dtype, to)


def round_to_half(builder, x):
    """Round float64 to float16 once; the kernel goes by way of float32 and rounds twice.

    That matters where the float32 number lies halfway between two of float16.
    """
    x = formula.Term(builder, x)
    # What is just below 65520 is finite in float16, but would be 65520 in float32.
    below = formula.minimum(formula.maximum(x, -65519.9), 65519.9)
    bounded = formula.where(abs(x) < 65520.0, below, x)
    single = rounded_to(bounded, "float32")
    nearest = rounded_to(single, "float16")
    mirrored = 2.0 * single - nearest
    halfway = (mirrored == rounded_to(mirrored, "float16")) & (abs(nearest) < np.inf)
    larger, smaller = formula.maximum(nearest, mirrored), formula.minimum(nearest, mirrored)
    result = formula.where(halfway & (bounded < single), smaller, nearest)
    result = formula.where(halfway & (bounded > single), larger, result)
    # The sign of zeros is lost on the way.
    result = formula.where(abs(result) > 0.0, result, x * 0.0)
    return builder.cast(result.name, "float64", "float16")


def rounded_to(term, dtype):
    builder = term.builder
    name = builder.cast(builder.cast(term.name, "float64", dtype), dtype, "float64")
    return formula.Term(builder, name)
