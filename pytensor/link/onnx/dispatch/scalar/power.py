"""Powers, of integers too."""

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.checks import can_raise, require
from pytensor.link.onnx.dispatch.scalar.basic import any_of, cast_inputs, fills_output, output_dtype
from pytensor.link.onnx.write.order import FLOATS
from pytensor.scalar import basic as ps


@onnx_funcify.register(ps.Exp2)
def onnx_funcify_Exp2(op, node, builder, x):
    dtype = output_dtype(node)
    return builder.add("Pow", builder.constant(2, dtype), *cast_inputs(builder, node, [x], dtype))


@onnx_funcify.register(ps.Pow)
def onnx_funcify_Pow(op, node, builder, *inputs):
    dtype = output_dtype(node)
    base, exponent = cast_inputs(builder, node, inputs, dtype)
    if dtype in FLOATS:
        return builder.add("Pow", base, exponent)
    # onnxruntime computes integer powers in double precision, which is inexact beyond 2**53.
    # thoughts/upstream/onnxruntime-integers-in-double.md
    value = builder.constant_value(exponent)
    may_be_negative = dtype.startswith("int") and (value is None or value.min(initial=0) < 0)
    if may_be_negative and can_raise(builder):
        positive = builder.add("GreaterOrEqual", exponent, builder.constant(0, dtype))
        message = "Integers to negative integer powers are not allowed."
        require(builder, positive, ValueError, message)
    if value is None:
        return power_in_loop(builder, base, exponent, dtype)
    if value.size == 1 and value.item() > 0 and fills_output(node, 0):
        return constant_power(builder, base, value.item())
    squarings = max(int(value.max(initial=0)).bit_length() - 1, 0)
    result, base, exponent = first_step(builder, base, exponent, dtype)
    for _ in range(squarings):
        result, base, exponent = square_and_multiply(builder, result, base, exponent, dtype)
    return result


def constant_power(builder, base, exponent):
    result = None
    while exponent:
        if exponent & 1:
            result = base if result is None else builder.add("Mul", result, base)
        exponent >>= 1
        if exponent:
            base = builder.add("Mul", base, base)
    return result


def factor_where_odd(builder, base, exponent, dtype):
    """Return `base` where the exponent is odd, else 1."""
    one = builder.constant(1, dtype)
    odd = builder.add("BitwiseAnd", exponent, one)
    return builder.add("Add", one, builder.add("Mul", odd, builder.add("Sub", base, one)))


def first_step(builder, base, exponent, dtype):
    halved = builder.add("Div", exponent, builder.constant(2, dtype))
    factor = factor_where_odd(builder, base, exponent, dtype)
    return factor, builder.add("Mul", base, base), halved


def square_and_multiply(builder, result, base, exponent, dtype):
    factor, base, exponent = first_step(builder, base, exponent, dtype)
    return builder.add("Mul", result, factor), base, exponent


def power_in_loop(builder, base, exponent, dtype):
    """Square and multiply, until no bits of any exponent are left."""
    # The first step gives the result its shape.
    state = first_step(builder, base, exponent, dtype)
    with builder.subgraph() as body:
        body.add_input("iteration", "int64", ())
        body.add_input("condition", "bool", ())
        names = [body.add_input(name, dtype, None) for name in ("result", "base", "exponent")]
        names = square_and_multiply(builder, *names, dtype)
        left = builder.add("Greater", names[-1], builder.constant(0, dtype))
        builder.output(any_of(builder, left), "bool", ())
        for name in names:
            builder.output(name, dtype, None)
    return builder.add("Loop", "", builder.constant(True), *state, body=body, n_outputs=3)[0]
