"""Spare the arithmetic of updates from rewrites: for `pytensor.link.jax.tuned.jax_mode`.

A training step ends in a few operations for every parameter: momentum, weight decay, an average.
They are most of its nodes, and every rewrite that looks at sums and products looks at all of them,
in several passes, without finding anything that XLA wouldn't.  So they become one node before these
rewrites, and themselves again afterwards.
"""

from pytensor import scalar as ps
from pytensor.compile import optdb
from pytensor.graph.basic import Apply, Constant
from pytensor.graph.fg import Output
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import GraphRewriter
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.type import TensorType

ARITHMETIC = (ps.Add, ps.Mul, ps.Neg, ps.Sqr, ps.Sqrt, ps.Sub, ps.TrueDiv)


class Tail(Op):
    """The nodes that a graph's updates end in.  Its output stands for all that they compute.

    One output instead of one for each update: what walks over graphs looks at all inputs of a node
    once for each of its outputs.

    Parameters
    ----------
    nodes : list of Apply
        In topological order.
    inputs : list of variable
    results : dict of int to variable
        By their positions in the graph's outputs.
    """

    def __init__(self, nodes, inputs, results):
        self.nodes, self.inputs, self.results = nodes, inputs, results

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [TensorType("int8", shape=())()])

    def infer_shape(self, node, shapes):
        return [()]

    def perform(self, node, inputs, output_storage):
        raise NotImplementedError("the rewrite jax_show_updates must run after jax_hide_updates")

    def computed_from(self, inputs):
        """The results, computed by the nodes themselves from other inputs."""
        known = dict(zip(self.inputs, inputs, strict=True))
        for node in self.nodes:
            new = node.clone_with_new_inputs([known.get(v, v) for v in node.inputs])
            known.update(zip(node.outputs, new.outputs, strict=True))
        return {place: known[v] for place, v in self.results.items()}


def _is_arithmetic(op):
    return isinstance(op, DimShuffle) or (
        isinstance(op, Elemwise) and isinstance(op.scalar_op, ARITHMETIC)
    )


def _tail_nodes(fgraph, first):
    """Arithmetic that nothing but outputs from number `first` on depends on, in order."""
    found = {}
    for node in reversed(fgraph.toposort()):
        if _is_arithmetic(node.op) and all(
            client.op.idx >= first if isinstance(client.op, Output) else client in found
            for out in node.outputs
            for client, _ in fgraph.clients[out]
        ):
            found[node] = None
    return list(reversed(found))


def _set_outputs(fgraph, variables, reason):
    """Put other variables in an output's place each, but in no other node's."""
    for place, new in variables.items():
        client, i = fgraph.get_output_client(place)
        # Types of updates may be more exact than those of their variables, or less.
        fgraph.change_node_input(client, i, new, reason=reason, check=False)


class HideUpdates(GraphRewriter):
    """Put a `Tail` in the place of the nodes that updates end in.

    It becomes one more output.  Until it has been undone, each variable is its own update.
    """

    def apply(self, fgraph):
        updates = getattr(fgraph, "update_mapping", None)
        if not updates:
            return
        nodes = _tail_nodes(fgraph, min(updates))
        if not nodes:
            return
        made = {v for node in nodes for v in node.outputs}
        read = dict.fromkeys(v for node in nodes for v in node.inputs)
        inputs = [v for v in read if v not in made and not isinstance(v, Constant)]
        results = {k: v for k, v in enumerate(fgraph.outputs) if v in made}
        fgraph.add_output(Tail(nodes, inputs, results)(*inputs), reason="jax_hide_updates")
        variables = {k: fgraph.inputs[updates[k]] for k in results}
        _set_outputs(fgraph, variables, "jax_hide_updates")


class ShowUpdates(GraphRewriter):
    """Put the nodes back in the place of a `Tail`."""

    def apply(self, fgraph):
        for node in [n for n in fgraph.apply_nodes if isinstance(n.op, Tail)]:
            results = node.op.computed_from(node.inputs)
            _set_outputs(fgraph, results, "jax_show_updates")
            place = fgraph.outputs.index(node.outputs[0])
            fgraph.remove_output(place, reason="jax_show_updates")


# After equal nodes have been merged; and before what is for mode JAX alone.
optdb.register("jax_hide_updates", HideUpdates(), "jax_tuned", position=0.01)
optdb.register("jax_show_updates", ShowUpdates(), "jax_tuned", position=3.3)
