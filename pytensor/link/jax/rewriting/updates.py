"""Spare the arithmetic of updates from rewrites: for `pytensor.link.jax.jax_mode`.

A training step ends in a few operations for every parameter: momentum, weight decay, an average.
They are most of its nodes, and every rewrite that looks at sums and products looks at all of them,
in several passes, without finding anything that XLA wouldn't.  So those that belong together become
one node, before there is a function graph.  Many of these nodes are equal but for their inputs,
because many parameters have the same shape: JAX traces them once.
"""

from collections import Counter, defaultdict
from copy import copy

from pytensor import scalar as ps
from pytensor.graph.basic import Apply, Constant
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import dfs_rewriter, node_rewriter
from pytensor.graph.traversal import toposort
from pytensor.link.jax.rewriting.recompute import Barrier
from pytensor.link.jax.target import target_platform
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.moments import SumOfSquares

ARITHMETIC = (ps.Add, ps.Mul, ps.Neg, ps.Sqr, ps.Sqrt, ps.Sub, ps.TrueDiv)


class Update(Op):
    """Several nodes of elementwise arithmetic, in topological order, as one.

    Ops are equal if they compute the same from inputs of equal types.  The `inputs` are what the
    nodes read that none of them makes, without constants, the `results` the Op's outputs; `key`
    says what it computes: types, Ops, and which reads what.
    """

    def __init__(self, nodes, inputs, results):
        self.nodes, self.inputs, self.results = nodes, inputs, results
        self.key = self._signature()
        self._hash = hash(self.key)  # asked for by every rewrite

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
            type(self) is type(other) and self._hash == other._hash and self.key == other.key
        )

    def __hash__(self):
        return self._hash

    def __str__(self):
        return f"Update{{{len(self.nodes)} nodes}}"

    def make_node(self, *inputs):
        return Apply(self, list(inputs), [v.type() for v in self.results])

    def perform(self, node, inputs, output_storage):
        raise NotImplementedError("made for mode JAX, and runs there only")


class SharedNumbers(Barrier):
    """Pass on the scalars that several `Update` nodes read: backends may lay them together."""


@node_rewriter([SumOfSquares])
def local_keep_squares(fgraph, node):
    """Keep the node on GPUs, for which its graph has two kernels for each input."""
    if not node.op.is_inline or target_platform() == "cpu":
        return None
    op = copy(node.op)
    op.is_inline = False
    return op(*node.inputs, return_list=True)


keep_squares = dfs_rewriter(local_keep_squares)


def _is_arithmetic(op):
    return isinstance(op, DimShuffle) or (
        isinstance(op, Elemwise) and isinstance(op.scalar_op, ARITHMETIC)
    )


def _tail_nodes(order, clients, outputs):
    """Return the arithmetic that nothing but updates depends on, in order."""
    found = {}
    for node in reversed(order):
        if (
            _is_arithmetic(node.op)
            and outputs.isdisjoint(node.outputs)
            and all(client in found for out in node.outputs for client in clients[out])
        ):
            found[node] = None
    return list(reversed(found))


def _groups(nodes, clients, updates):
    """Sort nodes into lists, in topological order, of those that read one another's arrays.

    Scalars, as a rate or a decay, join nothing: what belongs to two parameters reads them too.
    Those that a single group reads belong to it, others to none.  So no group reads another's
    results.
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
            readers = {homes.get(n) for out in node.outputs for n in clients[out]}
            read_once = len(readers) == 1 and updates.isdisjoint(node.outputs)
            home = readers.pop() if read_once else None
        if home is not None:
            homes[node] = home
            groups[home].append(node)
    return [group[::-1] for group in groups.values()]


def join_updates(updates, outputs, inputs):
    """Compute updates by an `Update` for each group of nodes that belong together.

    Returned are variables in the place of `updates`, the new values of inputs; `outputs` is what
    else is computed.  The graphs given stay as they are.
    """
    order = list(toposort([*outputs, *updates], blockers=inputs))
    clients = defaultdict(list)
    for node in order:
        for variable in node.inputs:
            clients[variable].append(node)
    places = {variable: k for k, variable in enumerate(inputs)}
    wanted = set(updates)
    groups = _groups(_tail_nodes(order, clients, set(outputs)), clients, wanted)
    groups = [(nodes, _read(nodes, places)) for nodes in groups if len(nodes) > 1]
    readers = Counter(v for _, read in groups for v in read if v.type.ndim == 0)
    shared = [v for v, n in readers.items() if n > 1 and v.type.dtype == "float32"]
    # One more, for XLA takes a vector of one for a scalar.
    passed = SharedNumbers()(*shared, shared[0]) if shared else []
    numbers = dict(zip(shared, passed, strict=False))
    replaced, ops = {}, {}
    for nodes, read in groups:
        results = [v for node in nodes for v in node.outputs if v in wanted]
        op = Update(nodes, read, results)
        # One object for all that are equal: the same object is found equal sooner.
        new = ops.setdefault(op, op)(*[numbers.get(v, v) for v in read], return_list=True)
        replaced |= zip(results, new, strict=True)
    return [replaced.get(variable, variable) for variable in updates]


def _read(nodes, places):
    """List what a group's nodes read that none of them makes, without constants."""
    made = {v for node in nodes for v in node.outputs}
    read = dict.fromkeys(v for node in nodes for v in node.inputs)
    inputs = [v for v in read if v not in made and not isinstance(v, Constant)]
    # What the gradient gives, then the graph's own inputs: profiles name a node after these.
    return sorted(inputs, key=lambda v: places.get(v, -1))
