"""Uniform numbers that onnxruntime doesn't draw: SplitMix64's (Steele, Lea & Flood 2014).

It needs no state but a counter.  From operator set 22 on, all that onnxruntime draws is whether
Dropout keeps an entry: 64 such bits, other ones in each run, start the counter of a model.  In mode
ONNX the generator's state does; see `pytensor.link.onnx.extras.random.state`.
"""

import numpy as np

from pytensor.link.onnx.write.term import Term

GOLDEN = 0x9E3779B97F4A7C15
MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, None))


def counters(shape):
    """Return multiples of SplitMix64's increment, uint64, one for each entry of a tensor."""
    one = shape.lift(1)
    steps = one.node("Range", shape.reduce_prod() + one, one)
    return (steps.cast("uint64") * GOLDEN).reshape(shape)


def hashed_uniform(counters, start):
    """Return float64 multiples of 2**-53, at least 0 and below 1, from uint64 numbers."""
    return (mix(counters + start) >> 11).cast("float64") * 2.0**-53


def mix(bits):
    """Mix the bits of uint64 numbers, as SplitMix64 makes its output."""
    for shift, factor in MIX:
        bits = bits ^ (bits >> shift)
        if factor is not None:
            bits = bits * factor
    return bits


def random_start(builder, seed):
    """Draw a number of dtype uint64, another one in each run."""
    training = builder.constant(True)

    # onnxruntime computes Dropout of a constant only once, but not what is in a loop.
    def step(k, ones):
        return ones.node("Dropout", 0.5, training, seed=seed)

    ones = builder.constant(np.ones(64), "float32")
    (kept,) = builder.loop(step, [ones], count=builder.constant(1, "int64"))
    powers = (np.uint64(1) << np.arange(64, dtype="uint64")).view("int64")
    # onnxruntime's sums of int64 are exact up to 2**53 only, its products of vectors always.
    # thoughts/upstream/onnxruntime-integers-in-double.md
    return (kept.cast("bool").cast("int64") @ powers).cast("uint64")


def scopes(builder):
    """Return the outermost graph, and the bodies of loops between it and the current one."""
    graph, loops = builder.graph, []
    while graph.parent is not None:
        # The first input of a body is the number of the step; the branches of an If have none.
        loops += [graph] if graph.inputs else []
        graph = graph.parent
    return [graph, *reversed(loops)]


def step_of(builder, body):
    """Return the number of the step that a loop is in, of which this is the body."""
    return Term(builder, body.inputs[0], "int64", ())
