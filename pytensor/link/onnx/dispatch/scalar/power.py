"""Powers, of integers too."""

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.checks import can_raise, require
from pytensor.link.onnx.dispatch.scalar.basic import fills_output, output_dtype
from pytensor.scalar import basic as ps


@onnx_funcify.register(ps.Exp2)
def onnx_funcify_Exp2(op, node, x):
    return 2 ** x.cast(output_dtype(node))


@onnx_funcify.register(ps.Pow)
def onnx_funcify_Pow(op, node, base, exponent):
    base, exponent = (x.cast(output_dtype(node)) for x in (base, exponent))
    if base.is_float:
        return base**exponent
    # onnxruntime computes integer powers in double precision, which is inexact beyond 2**53.
    # thoughts/upstream/onnxruntime-integers-in-double.md
    value = exponent.data
    may_be_negative = base.is_signed and (value is None or value.min(initial=0) < 0)
    if may_be_negative and can_raise(base.builder):
        message = "Integers to negative integer powers are not allowed."
        require(exponent >= 0, ValueError, message)
    if value is None:
        return power_in_loop(base, exponent)
    if value.size == 1 and value.item() > 0 and fills_output(node, 0):
        return constant_power(base, value.item())
    squarings = max(int(value.max(initial=0)).bit_length() - 1, 0)
    result, base, exponent = first_step(base, exponent)
    for _ in range(squarings):
        result, base, exponent = square_and_multiply(result, base, exponent)
    return result


def constant_power(base, exponent):
    result = None
    while exponent:
        if exponent & 1:
            result = base if result is None else result * base
        exponent >>= 1
        if exponent:
            base = base * base
    return result


def first_step(base, exponent):
    """Return `base` where the exponent is odd, else 1, and what is left of base and exponent."""
    halved = exponent // 2
    odd = exponent & 1
    return 1 + odd * (base - 1), base * base, halved


def square_and_multiply(result, base, exponent):
    factor, base, exponent = first_step(base, exponent)
    return result * factor, base, exponent


def power_in_loop(base, exponent):
    """Square and multiply, until no bits of any exponent are left."""

    def step(k, *state):
        state = square_and_multiply(*state)
        return (state[-1] > 0).any(), *state

    # The first step gives the result its shape.
    state, builder = first_step(base, exponent), base.builder
    return builder.loop(step, state, condition=builder.constant(True), shapes=[None] * 3)[0]
