"""Loops of recurrent layers, for backends that have them as one operator."""

from collections.abc import Sequence
from copy import copy
from typing import Any, Literal

import pytensor
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.mode import optdb
from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Variable
from pytensor.graph.replace import _vectorize_node, clone_replace, vectorize_graph
from pytensor.graph.rewriting.basic import dfs_rewriter, node_rewriter
from pytensor.scan.op import Scan
from pytensor.tensor.basic import tensor_copy


class Recurrent(OpFromGraph):
    """Run an LSTM's or a GRU's cell along a sequence, in PyTorch's form.

    Inputs are the sequence (length, batch, features), the weight and, if `biased`, the bias of the
    sequence, then the state's weight and bias, and the first states (batch, hidden) unless they are
    zeros.
    Outputs are the hidden states (length, batch, hidden), in the order of the sequence, and the
    last states.

    Its graph takes its place before anything else is rewritten, and in gradients.  A backend that
    has it as an operator asks for `keep_recurrent`.
    """

    def __init__(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], *,
        cell: Literal["GRU", "LSTM"], backwards: bool, biased: bool,
    ) -> None:  # fmt: skip
        super().__init__(list(inputs), list(outputs), inline=True)
        self.cell, self.backwards, self.biased = cell, backwards, biased

    def pullback(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> list[Any]:
        """Differentiate as if there were only the graph."""
        graph = self.fgraph.unfreeze()
        # Of copies, because the last state is a part of all states, whose gradients add up.
        known = {
            tensor_copy(out): gradient
            for out, gradient in zip(graph.outputs, output_grads, strict=True)
            if not isinstance(gradient.type, DisconnectedType)
        }
        gradients: Any = pytensor.grad(
            None, graph.inputs, known_grads=known, disconnected_inputs="ignore",
            return_disconnected="disconnected",
        )  # fmt: skip
        connected = [v for v in gradients if not isinstance(v.type, DisconnectedType)]
        replaced = iter(clone_replace(connected, dict(zip(graph.inputs, inputs, strict=True))))
        return [v if isinstance(v.type, DisconnectedType) else next(replaced) for v in gradients]


@_vectorize_node.register(Recurrent)
def vectorize_recurrent(op: Recurrent, node: Any, *batched_inputs: Any) -> Any:
    """Vectorize the graph."""
    graph = op.fgraph.unfreeze()
    return vectorize_graph(graph.outputs, dict(zip(graph.inputs, batched_inputs, strict=True)))


def _loops(nodes: Any) -> set[Scan]:
    return {node.op for node in nodes if isinstance(node.op, Scan)}


@node_rewriter([Recurrent])
def local_keep_recurrent(fgraph: Any, node: Any) -> Any:
    """Keep a loop in single precision, unless a gradient has the same loop."""
    op = node.op
    if not op.is_inline or {v.type.dtype for v in [*node.inputs, *node.outputs]} != {"float32"}:
        return None
    if _loops(op.fgraph.apply_nodes) & _loops(fgraph.apply_nodes):
        return None
    kept = copy(op)
    kept.is_inline = False
    return kept(*node.inputs, return_list=True)


# Right before a graph would take its place.  By a tag, for a mode may have asked for it before this
# module was imported: thoughts/upstream/rewrite-name-after-query.md.
optdb.register(
    "local_keep_recurrent", dfs_rewriter(local_keep_recurrent), "keep_recurrent", position=-0.02
)
