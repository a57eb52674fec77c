"""Gradients of whole Ops."""

from pytensor.link.conversions import Conversions
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.tensor.pullback import SymbolicPullback


@onnx_funcify.register(SymbolicPullback)
def onnx_funcify_SymbolicPullback(op, node, *inputs):
    return onnx_pullback(op.op, node, *inputs)


@Conversions
def onnx_pullback(op, node, *inputs):
    """Write the gradient of `op`; by default its inner graph's, which every backend can run."""
    return inline_unchecked(node, inputs)


def inline_unchecked(node, inputs):
    """Write an Op's inner graph without its checks of shapes, as a native node has none either."""
    builder = inputs[0].builder
    known, builder.known_checks = builder.known_checks, set()
    try:
        return builder.inline(node.op.fgraph, inputs)
    finally:
        builder.known_checks = known
