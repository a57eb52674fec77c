"""Spare the arithmetic of updates from rewrites: for `pytensor.link.jax.tuned.jax_mode`.

A training step ends in a few operations for every parameter: momentum, weight decay, an average.
They are most of its nodes, and every rewrite that looks at sums and products looks at all of them,
in several passes, without finding anything that XLA wouldn't.  So those that belong together become
one node.  Many of these nodes are equal but for their inputs, because many parameters have the
same shape: JAX traces them once.
"""

from collections import defaultdict

from pytensor import scalar as ps
from pytensor.compile import optdb
from pytensor.graph.basic import Apply, Constant
from pytensor.graph.fg import Output
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import GraphRewriter
from pytensor.tensor.elemwise import DimShuffle, Elemwise

REASON = "jax_join_updates"
ARITHMETIC = (ps.Add, ps.Mul, ps.Neg, ps.Sqr, ps.Sqrt, ps.Sub, ps.TrueDiv)


class Update(Op):
    """Several nodes of elementwise arithmetic as one.

    Ops are equal if they compute the same from inputs of equal types.

    Parameters
    ----------
    nodes : list of Apply
        In topological order.
    inputs : list of variable
        What they read that none of them makes, without constants.
    results : list of variable
        The Op's outputs.
    """

    def __init__(self, nodes, inputs, results):
        self.nodes, self.inputs, self.results = nodes, inputs, results
        self._key = self._signature()
        self._hash = hash(self._key)  # asked for by every rewrite

    def _signature(self):
        numbers = {}

        def read(variable):
            if isinstance(variable, Constant):
                return variable.signature()
            return numbers[variable]

        for variable in self.inputs:
            numbers[variable] = len(numbers)
        steps = []
        for node in self.nodes:
            steps.append((node.op, *map(read, node.inputs)))
            for variable in node.outputs:
                numbers[variable] = len(numbers)
        return (
            tuple(v.type for v in self.inputs),
            tuple(steps),
            tuple(numbers[v] for v in self.results),
        )

    def __eq__(self, other):
        return self is other or (
            type(self) is type(other) and self._hash == other._hash and self._key == other._key
        )

    def __hash__(self):
        return self._hash

    def __str__(self):
        return f"Update{{{len(self.nodes)} nodes}}"

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [v.type() for v in self.results])

    def perform(self, node, inputs, output_storage):
        raise NotImplementedError("made for mode JAX, and runs there only")


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


def _groups(fgraph, nodes):
    """Sort nodes into those that read one another's arrays.

    Scalars, as a rate or a decay, join nothing: what belongs to two parameters reads them too.
    Those that a single group reads belong to it, others to none.  So no group reads another's
    results.

    Returns
    -------
    list of list of Apply
        Each in topological order.
    """
    parent = {}

    def root(node):
        while parent[node] is not node:
            parent[node] = node = parent[parent[node]]
        return node

    for node in nodes:
        joined = [v.owner for v in node.inputs if v.owner in parent]
        if joined or any(v.type.ndim for v in node.inputs):
            parent[node] = node
            for other in joined:
                parent[root(other)] = node
    homes, groups = {}, defaultdict(list)
    for node in reversed(nodes):
        if node in parent:
            home = root(node)
        else:
            readers = {homes.get(n) for out in node.outputs for n, _ in fgraph.clients[out]}
            home = readers.pop() if len(readers) == 1 else None
        if home is not None:
            homes[node] = home
            groups[home].append(node)
    return [group[::-1] for group in groups.values()]


class JoinUpdates(GraphRewriter):
    """Put an `Update` in the place of each group of nodes that updates end in."""

    def apply(self, fgraph):
        updates = getattr(fgraph, "update_mapping", None)
        if not updates:
            return
        places = {variable: k for k, variable in enumerate(fgraph.inputs)}
        ops = {}
        for nodes in _groups(fgraph, _tail_nodes(fgraph, min(updates))):
            if len(nodes) > 1:
                self._join(fgraph, nodes, places, ops)

    def _join(self, fgraph, nodes, places, ops):
        made = {v for node in nodes for v in node.outputs}
        read = dict.fromkeys(v for node in nodes for v in node.inputs)
        inputs = [v for v in read if v not in made and not isinstance(v, Constant)]
        # What the gradient gives, then the graph's own inputs: profiles name a node after these.
        inputs.sort(key=lambda v: places.get(v, -1))
        leaving = {
            v: [(client, i) for client, i in fgraph.clients[v] if isinstance(client.op, Output)]
            for v in made
        }
        results = [v for node in nodes for v in node.outputs if leaving[v]]
        op = Update(nodes, inputs, results)
        # One object for all that are equal: the same object is found equal sooner.
        new = ops.setdefault(op, op)(*inputs, return_list=True)
        for old, variable in zip(results, new, strict=True):
            for client, i in leaving[old]:
                # Types of updates may be more exact than those of their variables, or less.
                fgraph.change_node_input(client, i, variable, reason=REASON, check=False)


# Before everything else: what isn't seen takes no time.
optdb.register(REASON, JoinUpdates(), "jax_tuned", position=-0.5)
