import numpy as np

from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.link.onnx.dispatch.util import require_dtype
from pytensor.link.onnx.errors import NO_CONVERTER, ConversionError
from pytensor.scalar import basic as ps
from pytensor.scalar import math as psm
from pytensor.scalar.nn import SiLU

FLOATS = ("float16", "float32", "float64")
WIDER = {
    "bool": "int32",
    "int8": "int32",
    "int16": "int32",
    "uint8": "int32",
    "uint16": "int32",
    "uint32": "int64",
}

# Unary float functions of the same meaning, and whether onnxruntime has them in double precision.
UNARY = {
    ps.Exp: ("Exp", True),
    ps.Log: ("Log", True),
    ps.Sqrt: ("Sqrt", True),
    ps.Reciprocal: ("Reciprocal", True),
    ps.Floor: ("Floor", True),
    ps.Ceil: ("Ceil", True),
    ps.RoundHalfToEven: ("Round", True),
    ps.Sin: ("Sin", True),
    ps.Cos: ("Cos", True),
    ps.Tan: ("Tan", False),
    ps.ArcSin: ("Asin", False),
    ps.ArcCos: ("Acos", False),
    ps.ArcTan: ("Atan", False),
    ps.Sinh: ("Sinh", False),
    ps.Cosh: ("Cosh", False),
    ps.ArcSinh: ("Asinh", False),
    ps.ArcCosh: ("Acosh", False),
    ps.ArcTanh: ("Atanh", False),
    ps.Tanh: ("Tanh", True),
    psm.Erf: ("Erf", False),
    psm.Sigmoid: ("Sigmoid", True),
}
COMPARISONS = {
    ps.LT: "Less",
    ps.GT: "Greater",
    ps.LE: "LessOrEqual",
    ps.GE: "GreaterOrEqual",
    ps.EQ: "Equal",
}
BITWISE = {
    ps.AND: ("And", "BitwiseAnd"),
    ps.OR: ("Or", "BitwiseOr"),
    ps.XOR: ("Xor", "BitwiseXor"),
}


def arithmetic_dtype(dtype, supported):
    """`dtype`, or the next wider one that has kernels."""
    while dtype not in supported:
        if dtype not in WIDER:
            raise ConversionError(f"onnxruntime computes this in {', '.join(supported)} only")
        dtype = WIDER[dtype]
    return dtype


def cast_inputs(builder, node, inputs, dtype):
    """Cast every input of a scalar or elementwise node to one dtype."""
    return [builder.cast(x, v.type.dtype, dtype) for x, v in zip(inputs, node.inputs, strict=True)]


def output_dtype(node):
    return node.outputs[0].type.dtype


def is_constant(builder, name, value):
    array = builder.constant_value(name)
    return array is not None and array.size > 0 and bool((array == value).all())


def chain(builder, op_type, inputs):
    result, *rest = inputs
    for x in rest:
        result = builder.add(op_type, result, x)
    return result


def where(builder, dtype, condition, x, y):
    """Where, also of dtypes that onnxruntime has no kernel for."""
    stand_ins = {"bool": "uint8", "int16": "int32", "uint16": "int32", "uint64": "int64"}
    work = stand_ins.get(dtype, dtype)
    x, y = builder.cast(x, dtype, work), builder.cast(y, dtype, work)
    return builder.cast(builder.add("Where", condition, x, y), work, dtype)


@onnx_funcify.register(ps.ScalarOp)
def onnx_funcify_ScalarOp(op, node, builder, *inputs):
    if type(op) not in UNARY:
        raise ConversionError(f"{NO_CONVERTER} for this scalar Op")
    op_type, in_double = UNARY[type(op)]
    dtype = output_dtype(node)
    if dtype not in FLOATS:
        if isinstance(op, ps.Floor | ps.Ceil | ps.RoundHalfToEven):
            return cast_inputs(builder, node, inputs, dtype)[0]
        raise ConversionError(f"ONNX has no {op_type} of {dtype}")
    if dtype == "float64" and not in_double:
        require_dtype(node, op_type, FLOATS[:2])
    return builder.add(op_type, *cast_inputs(builder, node, inputs, dtype))


@onnx_funcify.register(ps.Composite)
def onnx_funcify_Composite(op, node, builder, *inputs):
    return builder.inline(op.fgraph, inputs)


@onnx_funcify.register(ps.Add)
def onnx_funcify_Add(op, node, builder, *inputs):
    dtype = output_dtype(node)
    inputs = cast_inputs(builder, node, inputs, dtype)
    return chain(builder, "Or" if dtype == "bool" else "Add", inputs)


@onnx_funcify.register(ps.Mul)
def onnx_funcify_Mul(op, node, builder, *inputs):
    dtype = output_dtype(node)
    inputs = cast_inputs(builder, node, inputs, dtype)
    return chain(builder, "And" if dtype == "bool" else "Mul", inputs)


@onnx_funcify.register(ps.Sub)
def onnx_funcify_Sub(op, node, builder, *inputs):
    return builder.add("Sub", *cast_inputs(builder, node, inputs, output_dtype(node)))


@onnx_funcify.register(ps.TrueDiv)
def onnx_funcify_TrueDiv(op, node, builder, *inputs):
    return builder.add("Div", *cast_inputs(builder, node, inputs, output_dtype(node)))


@onnx_funcify.register(ps.Neg)
def onnx_funcify_Neg(op, node, builder, x):
    dtype = output_dtype(node)
    (x,) = cast_inputs(builder, node, [x], dtype)
    if dtype.startswith("uint"):
        return builder.add("Sub", builder.constant(0, dtype), x)
    return builder.add("Neg", x)


@onnx_funcify.register(ps.Sqr)
def onnx_funcify_Sqr(op, node, builder, x):
    (x,) = cast_inputs(builder, node, [x], output_dtype(node))
    return builder.add("Mul", x, x)


@onnx_funcify.register(ps.Abs)
@onnx_funcify.register(ps.Sign)
def onnx_funcify_Abs(op, node, builder, x):
    dtype = output_dtype(node)
    if dtype == "bool":
        return x
    return builder.add(type(op).__name__, *cast_inputs(builder, node, [x], dtype))


@onnx_funcify.register(ps.Maximum)
@onnx_funcify.register(ps.Minimum)
def onnx_funcify_Maximum(op, node, builder, *inputs):
    dtype = output_dtype(node)
    largest = isinstance(op, ps.Maximum)
    inputs = cast_inputs(builder, node, inputs, dtype)
    if dtype == "bool":
        return builder.add("Or" if largest else "And", *inputs)
    work = "int32" if dtype in ("int16", "uint16") else dtype
    inputs = [builder.cast(x, dtype, work) for x in inputs]
    return builder.cast(builder.add("Max" if largest else "Min", *inputs), work, dtype)


@onnx_funcify.register(ps.Clip)
def onnx_funcify_Clip(op, node, builder, *inputs):
    # PyTensor returns the lower bound where x is below both bounds, even if they are crossed.
    dtype = output_dtype(node)
    x, low, high = cast_inputs(builder, node, inputs, dtype)
    bounds = [builder.constant_value(name) for name in (low, high)]
    known = dtype in FLOATS and all(b is not None and b.size == 1 for b in bounds)
    if known and bounds[0].item() <= bounds[1].item():
        low, high = (builder.constant(b.reshape(())) for b in bounds)
        return builder.add("Clip", x, low, high)
    capped = where(builder, dtype, builder.add("Greater", x, high), high, x)
    return where(builder, dtype, builder.add("Less", x, low), low, capped)


@onnx_funcify.register(ps.Pow)
def onnx_funcify_Pow(op, node, builder, *inputs):
    dtype = output_dtype(node)
    base, exponent = cast_inputs(builder, node, inputs, dtype)
    for value, op_type in ((0.5, "Sqrt"), (-1, "Reciprocal")):
        if dtype in FLOATS and is_constant(builder, exponent, value):
            return builder.add(op_type, _broadcast(builder, node, base))
    if is_constant(builder, exponent, 2):
        return builder.add("Mul", *[_broadcast(builder, node, base)] * 2)
    if dtype not in FLOATS:
        # Kernels compute integer powers in double precision, which is inexact beyond 2**53.
        raise ConversionError("ONNX has no exact integer power; cast to a float dtype first")
    return builder.add("Pow", base, exponent)


def _broadcast(builder, node, base):
    """Refuse to drop an exponent whose shape the result has."""
    if node.inputs[0].type.ndim and node.inputs[0].type.broadcastable != (
        node.outputs[0].type.broadcastable
    ):
        raise ConversionError("a constant exponent must not be larger than its base")
    return base


@onnx_funcify.register(ps.IntDiv)
def onnx_funcify_IntDiv(op, node, builder, *inputs):
    dtype = output_dtype(node)
    if dtype == "bool":
        raise ConversionError("ONNX has no division of booleans; cast to an integer dtype first")
    x, y = cast_inputs(builder, node, inputs, dtype)
    if dtype in FLOATS:
        return _float_floor_divide(builder, x, y, dtype)
    y, is_zero = _nonzero_divisor(builder, y, dtype)
    quotient = builder.add("Div", x, y)
    if dtype.startswith("int"):
        # ONNX truncates: one too many where the signs differ and the division leaves a rest.
        # The remainder of the other kind (fmod=1) would be computed in floating point.
        below = _leaves_rest(builder, builder.add("Mod", x, y), x, y, dtype)
        below = builder.cast(below, "bool", dtype)
        quotient = builder.add("Sub", quotient, below)
    if is_zero is None:
        return quotient
    return where(builder, dtype, is_zero, builder.constant(0, dtype), quotient)


@onnx_funcify.register(ps.Mod)
def onnx_funcify_Mod(op, node, builder, *inputs):
    dtype = output_dtype(node)
    if dtype == "bool":
        raise ConversionError("ONNX has no division of booleans; cast to an integer dtype first")
    x, y = cast_inputs(builder, node, inputs, dtype)
    if dtype in FLOATS:
        rest = builder.add("Mod", x, y, fmod=1)
        wrong_sign = _sign_differs(builder, rest, y, dtype)
        return where(builder, dtype, wrong_sign, builder.add("Add", rest, y), rest)
    y, is_zero = _nonzero_divisor(builder, y, dtype)
    rest = builder.add("Mod", x, y)
    if is_zero is None:
        return rest
    return where(builder, dtype, is_zero, builder.constant(0, dtype), rest)


def _nonzero_divisor(builder, y, dtype):
    """Replace zeros by ones: NumPy defines x // 0 as 0 for integers, hardware traps."""
    value = builder.constant_value(y)
    if value is not None and value.all():
        return y, None
    is_zero = builder.add("Equal", y, builder.constant(0, dtype))
    return where(builder, dtype, is_zero, builder.constant(1, dtype), y), is_zero


def _sign_differs(builder, rest, y, dtype):
    """Whether a truncated division's remainder is neither zero nor of the divisor's sign."""
    return _leaves_rest(builder, rest, rest, y, dtype)


def _leaves_rest(builder, rest, x, y, dtype):
    """Whether `rest` isn't zero, and `x` and `y` are on different sides of zero."""
    zero = builder.constant(0, dtype)
    differ = builder.add("Xor", builder.add("Less", x, zero), builder.add("Less", y, zero))
    return builder.add("And", differ, builder.add("Not", builder.add("Equal", rest, zero)))


def _float_floor_divide(builder, x, y, dtype):
    # As NumPy does it: exact remainder first, so that 1.0 // 0.1 is 9 although 1.0 / 0.1 is 10.
    rest = builder.add("Mod", x, y, fmod=1)
    quotient = builder.add("Div", builder.add("Sub", x, rest), y)
    below = builder.cast(_sign_differs(builder, rest, y, dtype), "bool", dtype)
    quotient = builder.add("Sub", quotient, below)
    floor = builder.add("Floor", quotient)
    half = builder.constant(0.5, dtype)
    too_low = builder.add("Greater", builder.add("Sub", quotient, floor), half)
    result = builder.add("Add", floor, builder.cast(too_low, "bool", dtype))
    is_zero = builder.add("Equal", y, builder.constant(0, dtype))
    return where(builder, dtype, is_zero, builder.add("Div", x, y), result)


@onnx_funcify.register(ps.LogicalComparison)
def onnx_funcify_LogicalComparison(op, node, builder, *inputs):
    dtypes = [v.type.dtype for v in node.inputs]
    dtype = np.result_type(*dtypes).name
    if dtype == "float64" and all(np.dtype(d).kind in "iu" for d in dtypes):
        raise ConversionError("ONNX cannot compare uint64 with signed integers; cast one first")
    inputs = cast_inputs(builder, node, inputs, dtype)
    if isinstance(op, ps.NEQ):
        return builder.add("Not", builder.add("Equal", *inputs))
    if dtype == "bool" and not isinstance(op, ps.EQ):
        inputs = [builder.cast(x, "bool", "int32") for x in inputs]
    return builder.add(COMPARISONS[type(op)], *inputs)


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
    condition = to_bool(builder, condition, node.inputs[0].type.dtype)
    branches = [
        builder.cast(x, v.type.dtype, dtype) for x, v in zip(branches, node.inputs[1:], strict=True)
    ]
    return where(builder, dtype, condition, *branches)


def to_bool(builder, x, dtype):
    if dtype == "bool":
        return x
    return builder.add("Not", builder.add("Equal", x, builder.constant(0, dtype)))


@onnx_funcify.register(ps.BinaryBitOp)
def onnx_funcify_BinaryBitOp(op, node, builder, *inputs):
    dtype = output_dtype(node)
    logical, bitwise = BITWISE[type(op)]
    inputs = cast_inputs(builder, node, inputs, dtype)
    return chain(builder, logical if dtype == "bool" else bitwise, inputs)


@onnx_funcify.register(ps.Invert)
def onnx_funcify_Invert(op, node, builder, x):
    return builder.add("Not" if output_dtype(node) == "bool" else "BitwiseNot", x)


@onnx_funcify.register(ps.Cast)
def onnx_funcify_Cast(op, node, builder, x):
    dtype, to = node.inputs[0].type.dtype, output_dtype(node)
    if to == "bool":
        return to_bool(builder, x, dtype)
    return builder.cast(x, dtype, to)


@onnx_funcify.register(ps.Identity)
def onnx_funcify_Identity(op, node, builder, x):
    return x


@onnx_funcify.register(ps.Second)
def onnx_funcify_Second(op, node, builder, like, x):
    if node.inputs[1].type.broadcastable == node.outputs[0].type.broadcastable:
        return x
    return builder.add("Expand", x, builder.add("Shape", like))


@onnx_funcify.register(ps.Trunc)
def onnx_funcify_Trunc(op, node, builder, x):
    dtype = output_dtype(node)
    (x,) = cast_inputs(builder, node, [x], dtype)
    if dtype not in FLOATS:
        return x
    return builder.add("Mul", builder.add("Sign", x), builder.add("Floor", builder.add("Abs", x)))


@onnx_funcify.register(ps.RoundHalfAwayFromZero)
def onnx_funcify_RoundHalfAwayFromZero(op, node, builder, x):
    # floor(|x| + 0.5) would round 0.49999997 up: the sum is rounded before the floor sees it.
    dtype = output_dtype(node)
    (x,) = cast_inputs(builder, node, [x], dtype)
    if dtype not in FLOATS:
        return x
    size = builder.add("Abs", x)
    floor = builder.add("Floor", size)
    rest = builder.add("Sub", size, floor)
    up = builder.add("GreaterOrEqual", rest, builder.constant(0.5, dtype))
    rounded = builder.add("Add", floor, builder.cast(up, "bool", dtype))
    return builder.add("Mul", builder.add("Sign", x), rounded)


@onnx_funcify.register(ps.Log2)
@onnx_funcify.register(ps.Log10)
def onnx_funcify_Log2(op, node, builder, x):
    dtype = output_dtype(node)
    (x,) = cast_inputs(builder, node, [x], dtype)
    base = 2.0 if isinstance(op, ps.Log2) else 10.0
    return builder.add("Div", builder.add("Log", x), builder.constant(np.log(base), dtype))


@onnx_funcify.register(ps.Exp2)
def onnx_funcify_Exp2(op, node, builder, x):
    dtype = output_dtype(node)
    (x,) = cast_inputs(builder, node, [x], dtype)
    return builder.add("Pow", builder.constant(2.0, dtype), x)


@onnx_funcify.register(ps.Log1p)
def onnx_funcify_Log1p(op, node, builder, x):
    dtype = output_dtype(node)
    (x,) = cast_inputs(builder, node, [x], dtype)
    return log1p(builder, x, dtype)


def log1p(builder, x, dtype):
    """Kahan's log1p: with u = 1 + x rounded, log(u) * x / (u - 1) undoes the rounding."""
    one = builder.constant(1, dtype)
    u = builder.add("Add", one, x)
    rounded = builder.add("Sub", u, one)
    log = builder.add("Log", u)
    corrected = builder.add("Mul", log, builder.add("Div", x, rounded))
    tiny = builder.add("Equal", u, one)
    infinite = builder.add("Equal", u, builder.constant(np.inf, dtype))
    corrected = where(builder, dtype, infinite, u, corrected)
    return where(builder, dtype, tiny, x, corrected)


@onnx_funcify.register(ps.Expm1)
def onnx_funcify_Expm1(op, node, builder, x):
    # Kahan's expm1: with u = exp(x) rounded, (u - 1) * x / log(u) undoes the rounding.
    dtype = output_dtype(node)
    (x,) = cast_inputs(builder, node, [x], dtype)
    one = builder.constant(1, dtype)
    u = builder.add("Exp", x)
    shifted = builder.add("Sub", u, one)
    corrected = builder.add("Mul", shifted, builder.add("Div", x, builder.add("Log", u)))
    tiny = builder.add("Equal", u, one)
    # Beyond these, u - 1 is exact, or u is 0 or infinite and its logarithm of no use.
    large = builder.add("Greater", builder.add("Abs", x), builder.constant(1, dtype))
    return where(builder, dtype, tiny, x, where(builder, dtype, large, shifted, corrected))


@onnx_funcify.register(psm.Softplus)
def onnx_funcify_Softplus(op, node, builder, x):
    dtype = output_dtype(node)
    (x,) = cast_inputs(builder, node, [x], dtype)
    if dtype != "float64":
        return builder.add("Softplus", x)
    # max(x, 0) + log1p(exp(-|x|)); there is no kernel in double precision.
    decay = builder.add("Exp", builder.add("Neg", builder.add("Abs", x)))
    positive = builder.add("Max", x, builder.constant(0, dtype))
    return builder.add("Add", positive, log1p(builder, decay, dtype))


@onnx_funcify.register(psm.Erfc)
def onnx_funcify_Erfc(op, node, builder, x):
    raise ConversionError("ONNX has no erfc, and 1 - erf(x) loses all digits of small results")


@onnx_funcify.register(SiLU)
def onnx_funcify_SiLU(op, node, builder, x):
    (x,) = cast_inputs(builder, node, [x], output_dtype(node))
    return builder.add("Mul", x, builder.add("Sigmoid", x))
