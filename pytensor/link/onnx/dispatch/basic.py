"""Converters of Ops that have a graph of their own."""

from pytensor.compile.builders import OpFromGraph
from pytensor.link.onnx.converters import onnx_funcify


@onnx_funcify.register(OpFromGraph)
def onnx_funcify_OpFromGraph(op, node, x, *inputs):
    return x.builder.inline(op.fgraph, (x, *inputs))
