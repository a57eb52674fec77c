"""Uniform integers, of 64 bits."""

import pytensor.tensor.random.basic as ptr
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import where
from pytensor.link.onnx.extras.random.draws import draws_of, next_key, repeat_while
from pytensor.link.onnx.extras.random.hash import uint64
from pytensor.link.onnx.write.term import Term, floor


@onnx_funcify.register(ptr.IntegersRV)
def onnx_funcify_IntegersRV(op, node, builder, key, size, low, high):
    draws = draws_of(node, builder, key, size, [low, high])
    low_type, high_type = (variable.type.dtype for variable in node.inputs[2:])
    # Modulo 2**64, sums are right for negative integers too.
    low = Term(builder, builder.cast(low, low_type, "uint64"))
    width = Term(builder, builder.cast(high, high_type, "uint64")) - low
    one = uint64(builder, 1)
    # Without an integer to draw NumPy raises an error; here a division by zero would crash.
    width = where_uint64(width == uint64(builder, 0), one, width)
    # The numbers beyond the last multiple of the width are drawn again.
    last = uint64(builder, 2**64 - 1) - (uint64(builder, 0) - width).apply("Mod", width)

    def is_beyond(bits):
        return bits > last

    (bits,) = repeat_while(
        draws,
        lambda bits: [where_uint64(is_beyond(bits), random_bits(draws), bits)],
        is_beyond,
        [random_bits(draws)],
        dtype="uint64",
    )
    result = low + bits.apply("Mod", width)
    return next_key(node, key), builder.cast(result.name, "uint64", op.dtype)


def random_bits(draws):
    """Draw uniform integers of dtype uint64."""
    builder = draws.builder
    high, middle, low = (floor(draws.uniform() * 2.0**bits) for bits in (22, 21, 21))
    high = Term(builder, builder.cast((high * 2.0**21 + middle).name, "float64", "uint64"))
    low = Term(builder, builder.cast(low.name, "float64", "uint64"))
    return high * uint64(builder, 2**21) + low


def where_uint64(condition, x, y):
    """Apply `formula.where` to terms of dtype uint64."""
    builder = condition.builder
    return Term(builder, where(builder, "uint64", condition.name, x.name, y.name))
