"""The mark of loops by `until` that return arrays as long as they can be, for `jax_mode`."""

from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor.basic import arange
from pytensor.tensor.math import lt
from pytensor.tensor.symbolic import TensorSymbolicOp

__all__ = ["FirstRows", "Kept", "kept"]


class Kept(Op):
    """The input itself, which no rewrite of a loop sees through.

    It marks the rows that a loop returns, and its condition, whose `number` is another for each
    loop: PyTensor would merge two loops whose conditions are the same of states that begin the same
    (thoughts/upstream/scan-merge-of-until-loops.md).

    `pytensor.link.jax.rewriting.find_sizes` reads these attributes.

    Attributes
    ----------
    all_rows : bool
        Of a condition: whether its loop returns arrays as long as they can be.
    is_of_device : bool
        The steps that a loop makes are counted from it, which only the device knows.
    """

    __props__ = ("number", "all_rows")
    is_of_device = True

    def __init__(self, number=0, all_rows=True):
        self.number, self.all_rows = number, all_rows

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0].copy()

    def infer_shape(self, node, shapes):
        return shapes

    def do_constant_folding(self, fgraph, node):
        return False


kept = Kept()


class FirstRows(TensorSymbolicOp):
    """The mask of ``most + offset`` rows that is True for the first ``made + offset``."""

    __props__ = ("offset",)

    def __init__(self, *, offset, **kwargs):
        self.offset = offset
        super().__init__(**kwargs)

    def build_inner_graph(self, made, most):
        return [lt(arange(most + self.offset), made + self.offset)]
