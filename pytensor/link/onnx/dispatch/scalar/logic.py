"""Comparisons, choices and bits."""

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import cast_inputs, output_dtype, where
from pytensor.link.onnx.errors import ConversionError
from pytensor.link.onnx.write.order import FLOATS
from pytensor.scalar import basic as ps

COMPARISONS = {
    ps.LT: "Less",
    ps.GT: "Greater",
    ps.LE: "LessOrEqual",
    ps.GE: "GreaterOrEqual",
    ps.EQ: "Equal",
    ps.NEQ: "Equal",
}
BITWISE = {
    ps.AND: ("And", "BitwiseAnd"),
    ps.OR: ("Or", "BitwiseOr"),
    ps.XOR: ("Xor", "BitwiseXor"),
}


@onnx_funcify.register(ps.LogicalComparison)
def onnx_funcify_LogicalComparison(op, node, builder, *inputs):
    dtypes = [v.type.dtype for v in node.inputs]
    dtype = np.result_type(*dtypes).name
    if dtype == "float64" and all(np.dtype(d).kind in "iu" for d in dtypes):
        return compare_uint64(op, node, builder, inputs)
    return compare(op, builder, cast_inputs(builder, node, inputs, dtype), dtype)


def compare(op, builder, operands, dtype):
    result = builder.add_as(dtype, COMPARISONS[type(op)], *operands, to="bool")
    return builder.add("Not", result) if isinstance(op, ps.NEQ) else result


def compare_uint64(op, node, builder, inputs):
    """Compare uint64 with signed integers, of which no common dtype holds all values."""
    result = compare(op, builder, cast_inputs(builder, node, inputs, "uint64"), "uint64")
    signed_is_left = node.inputs[0].type.dtype.startswith("int")
    signed, variable = (inputs[0 if signed_is_left else 1], node.inputs[0 if signed_is_left else 1])
    negative = builder.add("Less", signed, builder.constant(0, variable.type.dtype))
    below = ps.LT | ps.LE if signed_is_left else ps.GT | ps.GE
    if isinstance(op, below | ps.NEQ):
        return builder.add("Or", result, negative)
    return builder.add("And", result, builder.add("Not", negative))


@onnx_funcify.register(ps.IsNan)
@onnx_funcify.register(ps.IsInf)
def onnx_funcify_IsNan(op, node, builder, x):
    dtype = node.inputs[0].type.dtype
    if dtype not in FLOATS:
        x, dtype = builder.cast(x, dtype, "float32"), "float32"
    if isinstance(op, ps.IsNan):
        return builder.add("IsNaN", x)
    # IsInf knows float16 from operator set 20 on only.
    infinity = builder.constant(np.inf, dtype)
    return builder.add("Equal", builder.add("Abs", x), infinity)


@onnx_funcify.register(ps.Switch)
def onnx_funcify_Switch(op, node, builder, condition, *branches):
    dtype = output_dtype(node)
    condition = builder.cast(condition, node.inputs[0].type.dtype, "bool")
    branches = [
        builder.cast(x, v.type.dtype, dtype) for x, v in zip(branches, node.inputs[1:], strict=True)
    ]
    return where(builder, dtype, condition, *branches)


@onnx_funcify.register(ps.BinaryBitOp)
def onnx_funcify_BinaryBitOp(op, node, builder, *inputs):
    dtype = output_dtype(node)
    if dtype in FLOATS:
        raise ConversionError("there are no bits of uint64 and signed integers; cast one of them")
    logical, bitwise = BITWISE[type(op)]
    inputs = cast_inputs(builder, node, inputs, dtype)
    return builder.add(logical if dtype == "bool" else bitwise, *inputs)


@onnx_funcify.register(ps.Invert)
def onnx_funcify_Invert(op, node, builder, x):
    return builder.add("Not" if output_dtype(node) == "bool" else "BitwiseNot", x)
