"""Compute what is read of ``x[mask]`` at full length, for `jax_mode`.

XLA compiles for known lengths, and only the device knows how many True a mask has.  These rewrites
move a mask towards the results, until something is computed whose length is known::

    f(x[mask], y[mask])              ->  f(x, y)[mask]
    x[mask].sum()                    ->  where(mask, x, 0).sum()
    x[mask].shape[0]                 ->  mask.sum()
    set_subtensor(x[mask], y[mask])  ->  where(mask, y, x)

What a mask leaves out is computed in vain and is in no result, a NaN neither.  A mask that remains
must be known before a call; `pytensor.link.jax.mode.refusals` says what to write where it isn't.
"""

from dataclasses import dataclass

import numpy as np

from pytensor.compile.builders import OpFromGraph
from pytensor.compile.rewriting import inline_ofg_node, rewrite_inner_graph
from pytensor.graph.basic import Constant, Variable, equal_computations
from pytensor.graph.rewriting.basic import (
    GraphRewriter,
    OpToRewriterTracker,
    copy_stack_trace,
    node_rewriter,
)
from pytensor.graph.traversal import graph_inputs
from pytensor.scan.op import Scan
from pytensor.tensor.basic import MakeVector, Nonzero, cast, constant, switch
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.math import and_, neq
from pytensor.tensor.reshape import join_dims, split_dims
from pytensor.tensor.shape import Shape, shape_padright, specify_shape
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
    inc_subtensor,
    indices_from_subtensor,
    set_subtensor,
)
from pytensor.tensor.type import discrete_dtypes

__all__ = ["ALL", "REWRITES", "MaskRewriter", "Selected", "selected", "write"]

ALL = slice(None)


@dataclass(frozen=True)
class Selected:
    """``x[mask]``: elements of `x` along `axis`, at which `mask`, a vector of bools, is True."""

    x: Variable
    axis: int
    mask: Variable

    @property
    def variable(self):
        return self.select(self.x)

    def select(self, x, axis=None):
        """Return what the mask selects of another array, along this axis or another."""
        return x[(*[ALL] * (self.axis if axis is None else axis), self.mask)]

    def along_others(self, indices):
        """Index along the other axes."""
        axis = sum(isinstance(index, slice) for index in indices[: self.axis])
        return Selected(self.x[tuple(indices)], axis, self.mask)

    def full(self, y):
        """Return what is broadcast with `x` as `y` is with the selection; None if nothing is."""
        axis, found = self.axis - self.x.type.ndim + y.type.ndim, selected(y)
        if found is None:
            return y if axis < 0 or y.type.shape[axis] == 1 else None
        same = found.axis == axis and equal_computations([found.mask], [self.mask])
        return found.x if same else None

    def where(self, value, other):
        """Return `value` where the mask is True, else `other`, in the dtype of `other`."""
        mask = shape_padright(self.mask, self.x.type.ndim - self.axis - 1)
        return switch(mask, cast(value, other.type.dtype), other)


def selected(variable):
    """Return the `Selected` of ``x[mask]``, where no constants decide the mask; else None."""
    node, is_read = variable.owner, isinstance(variable.owner_op, AdvancedSubtensor)
    return _selection(node.op, node.inputs[0], node.inputs[1:]) if is_read else None


def _selection(op, x, index_variables):
    """Return the `Selected` that a node reads or writes, if a mask is its only index."""
    indices = indices_from_subtensor(index_variables, op.idx_list)
    axes = [axis for axis, index in enumerate(indices) if index != ALL]
    mask = indices[axes[0]] if len(axes) == 1 else None
    if not isinstance(mask, Variable) or mask.type.dtype != "bool" or mask.type.ndim != 1:
        return None
    # NumPy refuses lengths of which one is 1, and `where` would repeat it.
    if (x.type.shape[axes[0]] == 1) != (mask.type.shape == (1,)) or _is_fixed(mask):
        return None
    return Selected(x, axes[0], mask)


def _is_fixed(variable):
    """Return whether only constants decide a variable: PyTensor computes it, and its length."""
    return all(isinstance(v, Constant) for v in graph_inputs([variable]))


def write(op, part, new):
    """Return an array in a part of which other values are set, or added, as `op` does."""
    return (set_subtensor if op.set_instead_of_inc else inc_subtensor)(part, new)


@node_rewriter([AdvancedSubtensor, AdvancedIncSubtensor])
def simplify_index(fgraph, node):
    """``A[mask, 1]`` -> ``A[:, 1][mask]``; ``x[nonzero(mask)]`` -> ``x[: len(mask)][mask]``.

    A mask of several axes becomes a vector, and the axes of the array one.
    """
    x, *others = node.inputs
    writes = isinstance(node.op, AdvancedIncSubtensor)
    indices = list(indices_from_subtensor(others[writes:], node.op.idx_list))
    numbers = [k for k, index in enumerate(indices) if not isinstance(index, slice)]
    start = next((k for k in numbers if indices[k].ndim), None)
    # NumPy puts the selection first if a slice is between the mask and a number.
    if start is None or numbers[-1] - numbers[0] >= len(numbers) or _is_fixed(indices[start]):
        return None
    mask, end = indices[start], start + 1
    along = [ALL] * mask.ndim
    if isinstance(mask.owner_op, Nonzero):
        (mask,), found = mask.owner.inputs, mask.owner.outputs
        end = start + len(found)
        if indices[start:end] != found:
            return None
        mask = mask if mask.type.dtype == "bool" else neq(mask, 0)
        # A mask that is shorter than the axis has numbers of the first elements.
        along = [slice(length) for length in mask.shape]
    rest = (*indices[:start], *along, *indices[end:])
    if mask.type.dtype != "bool" or (mask.ndim == 1 and all(index == ALL for index in rest)):
        return None
    if any(not isinstance(index, slice) and index.ndim for index in rest):
        return None
    part, axis = x[rest], sum(isinstance(index, slice) for index in rest[:start])
    shape = [None] * axis + [*mask.shape] + [None] * (part.ndim - axis - mask.ndim)
    joined = part if mask.ndim == 1 else join_dims(specify_shape(part, shape), axis, mask.ndim)
    selection = Selected(joined, axis, mask.ravel()).variable
    if not writes:
        return [selection]
    new = write(node.op, selection, others[0])
    return [set_subtensor(part, new if mask.ndim == 1 else split_dims(new, mask.shape, axis))]


@node_rewriter([Elemwise])
def lift_over_elementwise(fgraph, node):
    """``f(x[mask], y[mask])`` -> ``f(x, y)[mask]``."""
    selection = next(filter(None, map(selected, node.inputs)), None)
    inputs = [selection and selection.full(v) for v in node.inputs]
    if None in inputs:
        return None
    return [selection.select(out) for out in node.op.make_node(*inputs).outputs]


@node_rewriter([DimShuffle])
def lift_over_dimshuffle(fgraph, node):
    """``x[mask][:, None]`` -> ``x[:, None][mask]``."""
    selection, order = selected(node.inputs[0]), node.op.new_order
    if selection is None or selection.axis not in order:
        return None
    return [selection.select(selection.x.dimshuffle(order), order.index(selection.axis))]


@node_rewriter([Subtensor, IncSubtensor])
def lift_over_index(fgraph, node):
    """``A[mask][:, 1]`` -> ``A[:, 1][mask]``."""
    selection, writes = selected(node.inputs[0]), isinstance(node.op, IncSubtensor)
    indices = indices_from_subtensor(node.inputs[1 + writes :], node.op.idx_list)
    if selection is None or any(index != ALL for index in indices[selection.axis :][:1]):
        return None
    part = selection.along_others(indices)
    if not writes:
        return [part.variable]
    new = part.full(node.inputs[1])
    return None if new is None else [selection.select(write(node.op, part.x, new))]


@node_rewriter([AdvancedSubtensor])
def join_masks(fgraph, node):
    """``x[mask][other[mask]]`` -> ``x[mask & other]``."""
    selection = selected(node.outputs[0])
    both = selection and _by_both(selection)
    return both and [both.variable]


def _by_both(selection):
    """Return the `Selected` of ``x[mask][other[mask]]`` by both masks; None for another."""
    first = selected(selection.x)
    if first is None or selection.axis != first.axis or selected(selection.mask) is None:
        return None
    second = Selected(first.mask, 0, first.mask).full(selection.mask)
    return None if second is None else Selected(first.x, first.axis, and_(first.mask, second))


@node_rewriter([CAReduce])
def reduce_at_full_length(fgraph, node):
    """``x[mask].sum()`` -> ``where(mask, x, 0).sum()``."""
    selection, axes = selected(node.inputs[0]), node.op.axis
    if selection is None:
        return None
    if axes is not None and selection.axis not in axes:
        axis = selection.axis - sum(axis < selection.axis for axis in axes)
        return [selection.select(node.op(selection.x), axis)]
    neutral = _neutral(node.op.scalar_op, selection.x.type.dtype)
    return None if neutral is None else [node.op(selection.where(selection.x, neutral))]


def _neutral(scalar_op, dtype):
    """Return the constant of a dtype that changes no result of a reduction; None if none does."""
    value = scalar_op.identity
    if value is not None and np.isinf(value) and dtype in discrete_dtypes:
        info = None if dtype == "bool" else np.iinfo(dtype)
        value = (info.max if value > 0 else info.min) if info else value > 0
    return None if value is None else constant(np.asarray(value).astype(dtype))


@node_rewriter([Shape])
def count_selected(fgraph, node):
    """``x[mask].shape`` -> ``[mask.sum(), ...]``."""
    selection = selected(node.inputs[0])
    if selection is None:
        return None
    lengths = [*selection.x.shape]
    lengths[selection.axis] = selection.mask.sum(dtype="int64")
    return [MakeVector("int64")(*lengths)]


@node_rewriter([AdvancedIncSubtensor])
def write_at_full_length(fgraph, node):
    """``set_subtensor(x[mask], y[mask])`` -> ``where(mask, y, x)``."""
    x, y, *index_variables = node.inputs
    selection = _selection(node.op, x, index_variables)
    both = selection and _by_both(selection)
    target = both or selection
    new = target and target.full(y)
    if new is None:
        return None
    written = target.where(new if node.op.set_instead_of_inc else target.x + new, target.x)
    return [selected(x).select(written) if both else written]


@node_rewriter([OpFromGraph])
def inline(fgraph, node):
    """Put the graph of an Op in its place, where the other rewrites find what it computes."""
    return inline_ofg_node(node) if any(map(selected, node.inputs)) else None


REWRITES = [
    simplify_index, lift_over_elementwise, lift_over_dimshuffle, lift_over_index,
    join_masks, reduce_at_full_length, count_selected, write_at_full_length, inline,
]  # fmt: skip


class MaskRewriter(GraphRewriter):
    """Apply rewrites to each node after those that it is computed from, in scans too.

    A scan would hand out what a mask selects for all steps: it needs the number then.
    """

    def __init__(self, rewrites):
        self.rewrites = OpToRewriterTracker()
        for rewrite in rewrites:
            self.rewrites.add_tracker(rewrite)

    def apply(self, fgraph):
        rewrite_inner_graph(fgraph, _is_scan_with_mask, self._rewrite_inner)
        if any(map(_has_mask, fgraph.apply_nodes)):
            seen = set()
            for node in fgraph.toposort():
                self._visit(node, fgraph, seen)

    def _visit(self, node, fgraph, seen):
        if node is None or node in seen:
            return
        seen.add(node)
        for variable in list(node.inputs):
            self._visit(variable.owner, fgraph, seen)
        for rewrite in self.rewrites.get_trackers(node.op):
            if node in fgraph.apply_nodes and (outputs := rewrite.transform(fgraph, node)):
                copy_stack_trace(node.outputs, outputs)
                fgraph.replace_all(list(zip(node.outputs, outputs, strict=True)), reason="masks")
                for variable in outputs:
                    self._visit(variable.owner, fgraph, seen)

    def _rewrite_inner(self, linker, op, node, inner, *, mode):
        self.apply(inner)


def _is_scan_with_mask(op):
    return isinstance(op, Scan) and any(map(_has_mask, op.fgraph.apply_nodes))


def _has_mask(node):
    """Return whether a node has a number of elements or rows that only the device knows."""
    if isinstance(node.op, Nonzero) or (isinstance(node.op, Scan) and node.op.info.as_while):
        return True
    if not isinstance(node.op, AdvancedSubtensor | AdvancedIncSubtensor):
        return False
    return any(v.type.dtype == "bool" and not isinstance(v, Constant) for v in node.inputs[1:])
