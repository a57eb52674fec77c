"""Uniform integers, of 64 bits."""

import pytensor.tensor.random.basic as ptr
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.extras.random.draws import after_draw, draws_of, repeat_while
from pytensor.link.onnx.write.formula import floor
from pytensor.link.onnx.write.term import where


@onnx_funcify.register(ptr.IntegersRV)
def onnx_funcify_IntegersRV(op, node, generator, size, low, high):
    draws = draws_of(node, generator, size, [low, high])
    # Modulo 2**64, sums are right for negative integers too.
    low = low.cast("uint64")
    width = high.cast("uint64") - low
    # Without an integer to draw NumPy raises an error; here a division by zero would crash.
    width = where(width == 0, 1, width)
    # The numbers beyond the last multiple of the width are drawn again.
    last = 2**64 - 1 - (0 - width) % width

    def is_beyond(bits):
        return bits > last

    (bits,) = repeat_while(
        draws,
        lambda bits: [where(is_beyond(bits), random_bits(draws), bits)],
        is_beyond,
        [random_bits(draws)],
    )
    return after_draw(node, generator), (low + bits % width).cast(op.dtype)


def random_bits(draws):
    """Draw uniform integers of dtype uint64."""
    high, middle, low = (floor(draws.uniform() * 2.0**bits) for bits in (22, 21, 21))
    return (high * 2.0**21 + middle).cast("uint64") * 2**21 + low.cast("uint64")
