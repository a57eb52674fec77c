"""The mark of loops by `until` that return arrays as long as they can be, for `jax_mode`."""

from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

__all__ = ["Kept", "kept", "returns_all_rows"]


class Kept(Op):
    """The input itself, which no rewrite of a loop sees through.

    It marks the rows that a loop returns, and its condition, whose `number` is another for each
    loop: PyTensor would merge two loops whose conditions are the same of states that begin the same
    (thoughts/upstream/scan-merge-of-until-loops.md).
    """

    __props__ = ("number",)

    def __init__(self, number=0):
        self.number = number

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0].copy()

    def infer_shape(self, node, shapes):
        return shapes

    def do_constant_folding(self, fgraph, node):
        return False


kept = Kept()


def returns_all_rows(op):
    """Return whether a loop that a condition ends returns arrays as long as they can be."""
    return isinstance(op.fgraph.outputs[-1].owner_op, Kept)
