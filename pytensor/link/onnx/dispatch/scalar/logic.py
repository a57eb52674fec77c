"""Comparisons, choices and bits."""

import operator

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import output_dtype
from pytensor.link.onnx.errors import ConversionError
from pytensor.link.onnx.write.term import where
from pytensor.scalar import basic as ps

COMPARISONS = {
    ps.LT: operator.lt,
    ps.GT: operator.gt,
    ps.LE: operator.le,
    ps.GE: operator.ge,
    ps.EQ: operator.eq,
    ps.NEQ: operator.ne,
}
BITWISE = {ps.AND: operator.and_, ps.OR: operator.or_, ps.XOR: operator.xor}


@onnx_funcify.register(ps.LogicalComparison)
def onnx_funcify_LogicalComparison(op, node, x, y):
    compare = COMPARISONS[type(op)]
    dtype = np.result_type(x.dtype, y.dtype).name
    if dtype == "float64" and not x.is_float and not y.is_float:
        return compare_uint64(op, compare, x, y)
    return compare(x.cast(dtype), y.cast(dtype))


def compare_uint64(op, compare, x, y):
    """Compare uint64 with signed integers, of which no common dtype holds all values."""
    result = compare(x.cast("uint64"), y.cast("uint64"))
    signed, below = (x, ps.LT | ps.LE) if x.is_signed else (y, ps.GT | ps.GE)
    negative = signed < 0
    return result | negative if isinstance(op, below | ps.NEQ) else result & ~negative


@onnx_funcify.register(ps.IsNan)
@onnx_funcify.register(ps.IsInf)
def onnx_funcify_IsNan(op, node, x):
    x = x if x.is_float else x.cast("float32")
    # IsInf knows float16 from operator set 20 on only.
    return x.is_nan() if isinstance(op, ps.IsNan) else abs(x) == np.inf


@onnx_funcify.register(ps.Switch)
def onnx_funcify_Switch(op, node, condition, x, y):
    dtype = output_dtype(node)
    return where(condition.cast("bool"), x.cast(dtype), y.cast(dtype))


@onnx_funcify.register(ps.BinaryBitOp)
def onnx_funcify_BinaryBitOp(op, node, *inputs):
    x, *rest = (x.cast(output_dtype(node)) for x in inputs)
    if x.is_float:
        raise ConversionError("there are no bits of uint64 and signed integers; cast one of them")
    (y,) = rest
    return BITWISE[type(op)](x, y)


@onnx_funcify.register(ps.Invert)
def onnx_funcify_Invert(op, node, x):
    return ~x
