"""Gradients of whole Ops."""

from pytensor.link.conversions import Conversions
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.tensor.pullback import SymbolicPullback


@onnx_funcify.register(SymbolicPullback)
def onnx_funcify_SymbolicPullback(op, node, builder, *inputs):
    return onnx_pullback(op.op, node, builder, *inputs)


@Conversions
def onnx_pullback(op, node, builder, *inputs):
    """Write the gradient of `op`; by default its inner graph's, which every backend can run."""
    return inline_unchecked(builder, node, inputs)


def inline_unchecked(builder, node, inputs):
    """Write an Op's inner graph without its checks of shapes, as a native node has none either."""
    known, builder.known_checks = builder.known_checks, set()
    try:
        return builder.inline(node.op.fgraph, inputs)
    finally:
        builder.known_checks = known
