"""Gradients of whole Ops."""

from functools import singledispatch

from pytensor.link.onnx.dispatch.basic import onnx_funcify
from pytensor.tensor.vjp import SymbolicPullback


@onnx_funcify.register(SymbolicPullback)
def onnx_funcify_SymbolicPullback(op, node, builder, x, cotangent):
    return onnx_pullback(op.op, node, builder, x, cotangent)


@singledispatch
def onnx_pullback(op, node, builder, x, cotangent):
    """Write the gradient of `op`; by default its inner graph's, which every backend can run."""
    return builder.inline(node.op.fgraph, (x, cotangent))
