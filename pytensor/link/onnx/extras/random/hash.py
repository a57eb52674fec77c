"""Uniform numbers that onnxruntime doesn't draw: SplitMix64's (Steele, Lea & Flood 2014).

It needs no state but a counter.  From operator set 22 on, all that onnxruntime draws is whether
Dropout keeps an entry: 64 such bits, other ones in each run, start the counter of a model.  In mode
ONNX the generator's state does; see `pytensor.link.onnx.extras.random.state`.
"""

import numpy as np

from pytensor.link.onnx.write.term import Term

GOLDEN = 0x9E3779B97F4A7C15
MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, None))


def counters(builder, shape):
    """Return multiples of SplitMix64's increment, uint64, one for each entry of a tensor."""
    count = builder.add("ReduceProd", shape, keepdims=0)
    one = builder.constant(1, "int64")
    steps = builder.add("Range", one, builder.add("Add", count, one), one)
    steps = Term(builder, builder.cast(steps, "int64", "uint64"))
    steps = steps * uint64(builder, GOLDEN)
    return builder.add("Reshape", steps.name, shape, allowzero=1)


def hashed_uniform(builder, counters, start):
    """Return float64 multiples of 2**-53, at least 0 and below 1, from uint64 numbers."""
    bits = mix(Term(builder, counters) + start)
    bits = bits.apply("BitShift", uint64(builder, 11), direction="RIGHT")
    return Term(builder, builder.cast(bits.name, "uint64", "float64")) * 2.0**-53


def mix(bits):
    """Mix the bits of uint64 numbers, as SplitMix64 makes its output."""
    builder = bits.builder
    for shift, factor in MIX:
        shifted = bits.apply("BitShift", uint64(builder, shift), direction="RIGHT")
        bits = bits.apply("BitwiseXor", shifted)
        if factor is not None:
            bits = bits * uint64(builder, factor)
    return bits


def random_start(builder, seed):
    """Draw a number of dtype uint64, another one in each run."""
    ratio, training = builder.constant(0.5, "float32"), builder.constant(True, "bool")
    # onnxruntime computes Dropout of a constant only once, but not what is in a loop.
    with builder.subgraph() as body:
        body.add_input("step", "int64", ())
        condition = body.add_input("condition", "bool", ())
        ones = body.add_input("ones", "float32", (64,))
        kept = builder.add("Dropout", ones, ratio, training, seed=seed)
        builder.output(condition, "bool", ())
        builder.output(kept, "float32", (64,))
    once = builder.constant(1, "int64")
    kept = builder.add("Loop", once, "", builder.constant(np.ones(64), "float32"), body=body)
    bits = builder.cast(builder.cast(kept, "float32", "bool"), "bool", "int64")
    powers = builder.constant((np.uint64(1) << np.arange(64, dtype="uint64")).view("int64"))
    # onnxruntime's sums of int64 are exact up to 2**53 only, its products of vectors always.
    # thoughts/upstream/onnxruntime-integers-in-double.md
    return builder.cast(builder.add("MatMul", bits, powers), "int64", "uint64")


def uint64(builder, value):
    """Return a constant of dtype uint64, as a term."""
    return Term(builder, builder.constant(value, "uint64"))


def scopes(builder):
    """Return the outermost graph, and the bodies of loops between it and the current one."""
    graph, loops = builder.graph, []
    while graph.parent is not None:
        # The first input of a body is the number of the step; the branches of an If have none.
        loops += [graph] if graph.inputs else []
        graph = graph.parent
    return [graph, *reversed(loops)]
