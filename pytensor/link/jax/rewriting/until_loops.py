"""Compute the rows of loops that a condition ends at full length, for `jax_mode`.

A loop by `until` has a row for each step that it makes, and XLA no array of such a length.  Here it
fills arrays of `n_steps` rows and counts its steps.  Its result is what a mask, `FirstRows`,
selects of such an array, which the rewrites of masks move on.  First rows can do more than masks,
and gradients of loops need it: slices, arrays of as many rows, and loops over them.
"""

from dataclasses import dataclass, replace

import numpy as np

from pytensor import scalar as ps
from pytensor.graph.basic import Variable
from pytensor.graph.rewriting.basic import node_rewriter
from pytensor.link.jax.rewriting.kept_rows import FirstRows, Kept, kept
from pytensor.link.jax.rewriting.masks import (
    ALL,
    REWRITES,
    MaskRewriter,
    Selected,
    selected,
    write,
)
from pytensor.scan.op import Scan
from pytensor.tensor.basic import (
    Alloc,
    AllocEmpty,
    Join,
    ScalarFromTensor,
    TensorFromScalar,
    arange,
    as_tensor_variable,
    constant,
    get_underlying_scalar_constant_value,
    switch,
    zeros,
)
from pytensor.tensor.math import Sum, clip, maximum, sub
from pytensor.tensor.rewriting.subtensor_lift import local_subtensor_make_vector
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.subtensor import (
    IncSubtensor,
    Subtensor,
    indices_from_subtensor,
    set_subtensor,
)
from pytensor.tensor.type import lscalar

__all__ = ["compute_at_full_length"]


@dataclass(frozen=True)
class Rows:
    """The first `made` + `offset` rows, which the device counts, of `most` + `offset`."""

    made: Variable
    most: Variable
    offset: int = 0

    @property
    def number(self):
        return self.made + self.offset

    @property
    def length(self):
        return self.most + self.offset

    def plus(self, offset):
        return replace(self, offset=self.offset + offset)

    def of(self, x, axis=0):
        """Return the `Selected` of these rows of an array of all."""
        return Selected(x, axis, FirstRows(offset=self.offset)(self.made, self.most))


def _rows(mask):
    """Return the `Rows` that a mask selects, or None."""
    is_of_rows = isinstance(mask.owner_op, FirstRows)
    return Rows(*mask.owner.inputs, mask.owner.op.offset) if is_of_rows else None


def _rows_of(variable):
    """Return the `Rows` that a variable has along its first axis, or None."""
    selection = selected(variable)
    return _rows(selection.mask) if selection and selection.axis == 0 else None


def _counted(variable):
    """Return the `Rows` that an integer is the number of, or None."""
    node = getattr(variable, "owner", None)
    op = node and getattr(node.op, "scalar_op", node.op)
    if isinstance(node and node.op, Sum):
        return _rows(node.inputs[0])
    if isinstance(op, ScalarFromTensor | TensorFromScalar | ps.Cast):
        return _counted(node.inputs[0])
    if not isinstance(op, ps.Add | ps.Sub) or len(node.inputs) != 2:
        return None
    rows, added = _counted(node.inputs[0]), _integer(node.inputs[1])
    if rows is None or added is None:
        return None
    return rows.plus(-added if isinstance(op, ps.Sub) else added)


def _integer(variable, default=None):
    """Return a constant integer, `default` for None, and None for what isn't constant."""
    if variable is None:
        return default
    value = get_underlying_scalar_constant_value(variable, raise_not_constant=False)
    return None if isinstance(value, Variable) else int(value)


def _index_rows(rows, index):
    """Return the `Rows` that an index leaves, and the same index of the array of all rows; or None.

    No rows are returned where XLA knows their number.
    """
    if not isinstance(index, slice):
        # As everywhere, the nearest element if it is outside, which only the device knows.
        place = as_tensor_variable(index)
        place = switch(place < 0, place + rows.number, place)
        return None, clip(place, 0, maximum(rows.number - 1, 0))
    start, stop, step = index.start, index.stop, _integer(index.step, 1)
    if step == -1 and stop is None and (start is None or _counted(start) == rows.plus(-1)):
        # The rows that aren't made stay behind.
        return rows, (rows.number - 1 - arange(rows.length)) % rows.length
    first, last, counted = _integer(start, 0), _integer(stop), _counted(stop)
    if step != 1 or first is None or first < 0 or index == ALL:
        return None
    if last is not None and 0 < last <= rows.offset:
        return None, slice(first, last)  # the initial rows
    if counted is not None and counted.made is rows.made:
        last = counted.offset - rows.offset
    elif stop is not None and last == 0:
        return None
    left_out = 0 if stop is None else last
    if left_out is None or left_out > 0:
        return None
    return rows.plus(left_out - first), slice(first, left_out or None)


def _counted_part(x, indices):
    """Return the `Selected` of what an index that counts rows reads of an array, or None."""
    index = indices[0] if indices and selected(x) is None else None
    if not isinstance(index, slice):
        return None
    rows, last = _counted(index.stop), _counted(index.start)
    rows = rows or (last and last.plus(1))
    if rows is None:
        return None
    # NumPy's slice is shorter if the array is; this is an error then.
    return rows.of(specify_shape(x[: rows.length], [rows.length, *[None] * (x.type.ndim - 1)]))


@node_rewriter([Subtensor, IncSubtensor])
def index_along_rows(fgraph, node):
    """``x[rows][1:]`` -> ``x[1:][all rows but one]``."""
    op, writes = node.op, isinstance(node.op, IncSubtensor)
    x, *others = node.inputs
    indices = list(indices_from_subtensor(others[writes:], op.idx_list))
    selection = selected(x) or _counted_part(x, indices)
    rows = selection and _rows(selection.mask)
    axis = selection and selection.axis
    found = _index_rows(rows, indices[axis]) if rows and axis < len(indices) else None
    if found is None:
        return None
    rows_left, indices[axis] = found
    if rows_left is None:
        part = selection.x[tuple(indices)]
        if not writes:
            return [part]
        return None if selected(others[0]) else [selection.select(write(op, part, others[0]))]
    old = selection.x[(*[ALL] * axis, indices[axis])]
    left, indices[axis] = rows_left.of(old, axis), ALL
    part = left.along_others(indices)
    if not writes:
        return [part.variable]
    new = part.full(others[0])
    if new is None:
        return None
    new = set_subtensor(old, left.where(write(op, part.x, new), old))
    return [selection.select(new) if selected(x) else set_subtensor(x[: rows.length], new)]


@node_rewriter([Alloc, AllocEmpty])
def allocate_all_rows(fgraph, node):
    """``zeros(number of rows)`` -> ``zeros(most)[rows]``."""
    values = int(isinstance(node.op, Alloc))
    value, shape = node.inputs[:values], node.inputs[values:]
    found = [axis for axis, length in enumerate(shape) if _counted(length)]
    if len(found) != 1:
        return None
    (axis,) = found
    if value and (*[1] * (len(shape) - value[0].ndim), *value[0].type.shape)[axis] != 1:
        return None
    rows = _counted(shape[axis])
    shape[axis] = rows.length
    return [rows.of(node.op(*value, *shape), axis).variable]


@node_rewriter([Join])
def join_zeros(fgraph, node):
    """Write zeros to the rows that aren't made, where a gradient joins as many to the others."""
    x, *added = node.inputs
    rows, zero = _rows_of(x), added[0].owner
    if rows is None or node.op.axis or len(added) != 1 or not isinstance(zero and zero.op, Alloc):
        return None
    missing = zero.inputs[1].owner
    if _integer(zero.inputs[0]) != 0 or missing is None or missing.op != sub:
        return None
    if missing.inputs[0] is not rows.most or _counted(missing.inputs[1]) != replace(rows, offset=0):
        return None
    return [selected(x).where(selected(x).x, zeros((), x.type.dtype))]


@node_rewriter([Scan])
def loop_over_all_rows(fgraph, node):
    """Let a loop fill arrays of all rows, and count its steps if a condition ends it.

    A loop over rows, as the gradient is, makes as many steps as there are rows.
    """
    op, info, inputs = node.op, node.op.info, node.inputs
    rows = _counted(inputs[0])
    if rows is None and (not info.as_while or _is_kept(node)):
        return None
    loops = sum(map(_is_kept, fgraph.apply_nodes))
    if rows is None and _only_ends_are_read(node, fgraph):
        graph = op.fgraph.unfreeze()
        *outputs, ends = graph.outputs
        ends = Kept(loops, all_rows=False)(ends)
        return _scan(op, graph.inputs, [*outputs, ends], info)(*inputs, return_list=True)
    arrays = [*op.outer_seqs(inputs), *op.outer_mitmot(inputs)]
    arrays += [*op.outer_mitsot(inputs), *op.outer_sitsot(inputs)]
    others = [*op.outer_untraced_sit_sot(inputs), *op.outer_non_seqs(inputs)]
    of_arrays = [_rows_of(v) for v in arrays]
    if any(map(selected, others if rows else arrays + others)) or (not rows and info.n_mit_mot):
        return None
    if rows and not all(r and r.made is rows.made and r.offset >= rows.offset for r in of_arrays):
        return None
    if rows and any(_counted(length) != rows for length in op.outer_nitsot(inputs)):
        return None
    most = rows.length if rows else inputs[0]
    *made, count = _counting_loop(op, loops)(
        rows.number if rows else most,
        *[selected(v).x if rows else v for v in arrays],
        *op.outer_untraced_sit_sot(inputs),
        kept(constant(np.int64(0))),
        *[most] * info.n_nit_sot,
        *op.outer_non_seqs(inputs),
        return_list=True,
    )
    steps = Rows(count, most) if info.as_while else rows
    initial = [-min(taps) for taps in info.mit_sot_in_slices] + [1] * info.n_sit_sot
    left = of_arrays[info.n_seqs :][: info.n_mit_mot]
    left += [steps.plus(n) for n in initial + [0] * info.n_nit_sot]
    traces = [r.of(kept(v)).variable for r, v in zip(left, made, strict=False)]
    return traces + made[len(left) :]


def _is_kept(node):
    return isinstance(node.op, Scan) and isinstance(node.op.fgraph.outputs[-1].owner_op, Kept)


def _scan(op, inputs, outputs, info):
    settings = {"mode": op.mode, "truncate_gradient": op.truncate_gradient, "name": op.name}
    return Scan(inputs, outputs, info, **settings)


def _counting_loop(op, number):
    """Return a loop of the same steps that returns all rows, and the number of steps at last."""
    info, graph, count = op.info, op.fgraph.unfreeze(), lscalar()
    outputs, before = list(graph.outputs), len(graph.inputs) - info.n_non_seqs
    ends = outputs.pop() if info.as_while else constant(np.array(False))
    return _scan(
        op,
        [*graph.inputs[:before], count, *graph.inputs[before:]],
        [*outputs, count + 1, Kept(number)(ends)],
        replace(info, as_while=True, n_untraced_sit_sot=info.n_untraced_sit_sot + 1),
    )


def _only_ends_are_read(node, fgraph):
    """Return whether no row of a loop is read but the last: PyTensor keeps no other."""

    def is_read_last(variable):
        return all(map(reads_last, [client for client, _ in fgraph.clients[variable]]))

    def reads_last(client):
        if not isinstance(client.op, Subtensor):
            return False
        (index, *_) = indices_from_subtensor(client.inputs[1:], client.op.idx_list)
        if not isinstance(index, slice):
            return _integer(index) == -1
        # `scan` leaves out the initial row.
        bounds = _integer(index.start), index.stop, index.step
        return bounds == (1, None, None) and is_read_last(client.outputs[0])

    states = node.op.outer_sitsot_outs(node.outputs)
    others = [*node.op.outer_mitsot_outs(node.outputs), *node.op.outer_nitsot_outs(node.outputs)]
    return all(map(is_read_last, states)) and not any(fgraph.clients[v] for v in others)


compute_at_full_length = MaskRewriter(
    [
        *REWRITES, loop_over_all_rows, index_along_rows, allocate_all_rows, join_zeros,
        local_subtensor_make_vector,
    ]
)  # fmt: skip
