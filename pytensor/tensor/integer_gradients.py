"""Gradients past products of integers, which are zero where PyTensor raises a TypeError.

Importing this module replaces the gradient of two Ops of PyTensor's, for integer results only.
`pytensor.grad` looks for it nowhere else.  See thoughts/upstream/gradients-of-integer-results.md.
"""

from collections.abc import Sequence
from typing import Any

from pytensor.compile.builders import OpFromGraph
from pytensor.configdefaults import config
from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Variable
from pytensor.tensor.basic import cast
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.type import discrete_dtypes

of_float_blockwise, of_float_graph = Blockwise.pullback, OpFromGraph.pullback


def pullback_of_blockwise(
    self: Blockwise,
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    output_gradients: Sequence[Variable],
) -> list[Variable]:
    """Return zeros for integers of which integers are computed, as `Elemwise` does."""
    if all(v.type.dtype in discrete_dtypes for v in (*inputs, *outputs)):
        return [x.zeros_like(dtype=config.floatX) for x in inputs]
    return of_float_blockwise(self, inputs, outputs, output_gradients)


def pullback_of_inner_graph(
    self: OpFromGraph,
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    output_grads: Sequence[Any],
) -> list[Variable]:
    """Return the gradient of a graph, whose integer results become floating first.

    PyTensor differentiates by the results of the graph themselves, which can't be integers.
    """
    integers = [
        getattr(out.type, "dtype", None) in discrete_dtypes
        and not isinstance(cotangent.type, DisconnectedType)
        for out, cotangent in zip(outputs, output_grads, strict=True)
    ]
    if not any(integers) or self.pullback_overrides is not None:
        return of_float_graph(self, inputs, outputs, output_grads)
    graph = self.fgraph.unfreeze()
    floats = [
        cast(out, cotangent.type.dtype) if is_integer else out
        for out, cotangent, is_integer in zip(graph.outputs, output_grads, integers, strict=True)
    ]
    op = OpFromGraph(graph.inputs, floats)
    return op.pullback(inputs, op(*inputs, return_list=True), output_grads)


Blockwise.pullback = pullback_of_blockwise  # type: ignore[method-assign]
OpFromGraph.pullback = pullback_of_inner_graph  # type: ignore[method-assign]
