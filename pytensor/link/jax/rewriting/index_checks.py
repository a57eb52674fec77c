"""Find the indices of a graph that can be compared with lengths on the host, for `jax_mode`.

They are integer inputs and shared variables, single or arrays, and what follows from them and from
shapes.  Indices that the device computes, and those within a loop or in a branch of a condition,
aren't checked: JAX takes the nearest element for one out of bounds, and writes none.
"""

import math
from dataclasses import dataclass

from pytensor.conditional.op import IfElse
from pytensor.link.jax.rewriting.host_integers import HostIntegers, NotOnHostError, computed_from
from pytensor.tensor.basic import constant
from pytensor.tensor.pool.unpool import MaxUnpool, MaxUnpoolGrad
from pytensor.tensor.rewriting.shape import ShapeFeature
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
    indices_from_subtensor,
)

__all__ = [
    "READING", "IndexCheck", "find_index_checks", "follows", "indexes", "indices",
    "reads_index", "shapes_of",
]  # fmt: skip

READING, WRITING = (Subtensor, AdvancedSubtensor), (IncSubtensor, AdvancedIncSubtensor)


@dataclass(frozen=True)
class IndexCheck:
    """An index, or an array of them: `variables` (index, length), along an axis of a variable."""

    variables: tuple
    of: str
    axis: int

    def holds(self, index, length):
        """Return whether an index lies inside."""
        return -length <= index < length

    def message(self, index, length):
        return (
            f"index {index} is out of bounds for axis {self.axis} of {self.of}, which has "
            f"{length} elements there"
        )


class PlaceCheck(IndexCheck):
    """Places that aren't counted from the end, such as `MaxUnpool`'s."""

    def holds(self, index, length):
        return 0 <= index < length

    def message(self, index, length):
        return f"max_unpool: index {index} of {self.of} is outside of the {length} output cells"


def find_index_checks(fgraph):
    """Return the checks of indices that a graph's function makes before a call."""
    found, shapes = [], shapes_of(fgraph)
    for node in _always_computed(fgraph):
        found += [c for c in _index_checks(node, shapes) if follows(c.variables, fgraph)]
    return found


def shapes_of(fgraph):
    """Return what knows the shapes of a graph's variables."""
    return getattr(fgraph, "shape_feature", None) or ShapeFeature()


def indexes(node):
    """Return whether a node reads or writes by indices or slices."""
    return isinstance(node.op, (*READING, *WRITING))


def indices(node):
    """Return pairs of an axis, and the index or slice along it."""
    axis, variables = 0, node.inputs[2 if isinstance(node.op, WRITING) else 1 :]
    for index in indices_from_subtensor(variables, node.op.idx_list):
        yield axis, index
        is_mask = not isinstance(index, slice) and index.type.dtype == "bool"
        axis += index.type.ndim if is_mask else 1


def reads_index(node):
    """Return whether a node has an index of run time."""
    return any(True for _ in _of_run_time(node))


def _of_run_time(node):
    """Return pairs of an axis, and the index of run time along it."""
    found = indices(node) if indexes(node) else ()
    if isinstance(node.op, MaxUnpool | MaxUnpoolGrad):
        found = [(0, node.inputs[1])]
    for axis, index in found:
        is_place = not isinstance(index, slice) and index.type.dtype != "bool"
        if is_place and computed_from([index]):
            yield axis, index


def _index_checks(node, shapes):
    x, *others = node.inputs
    for axis, index in _of_run_time(node):
        if indexes(node):
            yield IndexCheck((index, shapes.get_shape(x, axis)), x.name or str(x), axis)
            continue
        cells = constant(math.prod(n for n in node.op.lengths if n is not None))
        for length in others[1:]:
            cells = cells * length
        yield PlaceCheck((index, cells), str(index), axis)


def _always_computed(fgraph):
    """Return the nodes that are computed whatever a condition is."""
    found, waiting = {}, list(fgraph.outputs)
    while waiting:
        node = waiting.pop().owner
        if node is None or node in found:
            continue
        found[node] = None
        waiting += node.inputs[:1] if isinstance(node.op, IfElse) else node.inputs
    return found


def follows(variables, fgraph):
    """Return whether variables follow from integer inputs and from shapes of inputs."""
    try:
        HostIntegers(fgraph.inputs, variables)
    except NotOnHostError:
        return False
    return True
