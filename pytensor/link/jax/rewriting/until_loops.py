"""Rows of loops that a condition ends, computed at full length as masks are, for `jax_mode`.

A loop by `until` has a row for each step that it makes, and JAX no array of such a length.  Here it
writes into arrays of `n_steps` rows, and counts its steps: the rows it has made are a mask of the
first ones.  A loop over such rows, as a gradient has, makes as many steps, which JAX need not know.
"""

from dataclasses import dataclass, replace

import numpy as np

from pytensor import scalar as ps
from pytensor.graph.basic import Constant, Variable
from pytensor.link.jax.rewriting import masks
from pytensor.link.jax.rewriting.kept_rows import Kept, kept, returns_all_rows
from pytensor.link.jax.rewriting.masks import Full, carry
from pytensor.scan.op import Scan
from pytensor.tensor.basic import (
    Alloc,
    AllocEmpty,
    ARange,
    Join,
    ScalarFromTensor,
    TensorFromScalar,
    arange,
    as_tensor_variable,
    constant,
    get_underlying_scalar_constant_value,
    switch,
)
from pytensor.tensor.math import Argmax, clip, lt, maximum, minimum
from pytensor.tensor.shape import Shape, Shape_i, specify_shape
from pytensor.tensor.subtensor import (
    IncSubtensor,
    Subtensor,
    inc_subtensor,
    indices_from_subtensor,
    set_subtensor,
)
from pytensor.tensor.type import lscalar

__all__ = ["compute_at_full_length"]

# With what is registered here.
compute_at_full_length = masks.compute_at_full_length


@dataclass(frozen=True)
class Rows:
    """The first rows of arrays: of run time `made` + `offset`, and arrays have `most` + `offset`.

    Below 0, they are none.
    """

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

    def up_to(self, most):
        """Return the first of these, not more than a number."""
        return Rows(minimum(self.number, most), minimum(self.length, most))

    def are_among(self, others):
        """Return whether other rows have these for certain."""
        return self.made is others.made and self.offset <= others.offset

    def turned(self, x, axis):
        """Return an array with these rows in reverse order, first as before."""
        places = clip(self.number - 1 - arange(self.length), 0, self.length - 1)
        return x.take(places, axis=axis)


def _full(value, rows, lengths, axis=0):
    """Return the `Full` of the first rows of an array; equal rows have one mask."""
    mask = lengths.once(rows, lambda _: lt(arange(rows.length), rows.number))
    lengths.rows[mask] = rows
    return Full(value, axis, mask)


def _rows(variable, lengths):
    """Return the `Rows` of a variable, or None."""
    full = lengths.full(variable)
    return lengths.rows.get(full.mask) if full else None


def _numbered(variable, lengths):
    """Return the `Rows` that a variable is the number of, or None."""
    node = getattr(variable, "owner", None)
    if node is None:
        return None
    op, (x, *others) = node.op, node.inputs
    if isinstance(op, Shape_i) or (isinstance(op, Subtensor) and isinstance(x.owner_op, Shape)):
        is_length = isinstance(op, Shape_i)
        axis = op.i if is_length else _integer(*others) if len(others) == 1 else None
        of = x if is_length else x.owner.inputs[0]
        return _rows(of, lengths) if lengths.full(of) and lengths.full(of).axis == axis else None
    if isinstance(op, ScalarFromTensor | TensorFromScalar):
        return _numbered(x, lengths)
    scalar_op = getattr(op, "scalar_op", None)
    if isinstance(scalar_op, ps.Cast):
        return _numbered(x, lengths)
    if not isinstance(scalar_op, ps.Add | ps.Sub) or len(others) != 1:
        return None
    (y,) = others
    rows, added = _numbered(x, lengths), _integer(y)
    if rows is None and isinstance(scalar_op, ps.Add):
        rows, added = _numbered(y, lengths), _integer(x)
    if rows is None or added is None:
        return None
    return rows.plus(-added if isinstance(scalar_op, ps.Sub) else added)


def _integer(variable, default=None):
    """Return a constant integer, `default` for None, and None for what isn't constant."""
    if variable is None:
        return default
    value = get_underlying_scalar_constant_value(variable, raise_not_constant=False)
    return None if isinstance(value, Variable) else int(value)


def _sliced(index, rows, lengths):
    """Return the `Rows` that a slice leaves, its bounds in an array, and if it reverses; or None.

    `rows` are the axis's rows, None where XLA knows its length.  None are returned for rows that
    are always there, as the initial ones of a loop.
    """
    start, stop, step = index.start, index.stop, index.step
    if _integer(step) == -1 and stop is None:
        last = _numbered(start, lengths)
        left = rows if start is None else last and last.plus(1)
        if left is None or (rows is not None and left != rows):
            return None
        return left, (None, left.length), True
    first, number = _integer(start, 0), _numbered(stop, lengths)
    if _integer(step, 1) != 1 or first is None or first < 0:
        return None
    if number is not None:
        if rows is not None and not number.are_among(rows):
            return None
        return number.plus(-first), (first, number.length), False
    last = _integer(stop, 0)
    if rows is None or last is None or (last == 0 and stop is not None):
        return None
    if last <= 0:
        return rows.plus(last - first), (first, rows.length + last), False
    if last <= rows.offset:
        return None, (first, last), False
    left = lengths.once((rows, last), lambda _: rows.up_to(last))
    return left.plus(-first), (first, last), False


def _along_rows(x, index_variables, op, lengths):
    """Return an axis, its `Rows`, the index along it, and the other indices; or None.

    The axis is that of the rows of `x`, else the first that is sliced by a number of rows.
    """
    indices = list(indices_from_subtensor(index_variables, op.idx_list))
    rows, full = _rows(x, lengths), lengths.full(x)
    if full is not None:
        axis = full.axis
        if rows is None or axis >= len(indices):
            return None
    else:
        slices = [k for k, v in enumerate(indices) if isinstance(v, slice)]
        bounds = {k: (indices[k].start, indices[k].stop) for k in slices}
        axes = [k for k, v in bounds.items() if any(_numbered(b, lengths) for b in v)]
        if not axes:
            return None
        axis = axes[0]
    index, indices[axis] = indices[axis], slice(None)
    return None if index == slice(None) else (axis, rows, index, indices)


def _part(x, axis, rows, index, lengths):
    """Return the rows of an array that an index selects, and what writes them; or None.

    They are a `Full`, or as many as XLA knows.  The other is a function of their new values.
    """
    before = (slice(None),) * axis
    if not isinstance(index, slice):
        # As everywhere, the nearest element if it is outside, which only the device knows.
        place = as_tensor_variable(lengths.take(index))
        place = clip(switch(place < 0, place + rows.number, place), 0, maximum(rows.number - 1, 0))
        row = x[(*before, place)]
        return row, lambda new: set_subtensor(row, new)
    found = _sliced(index, rows, lengths)
    if found is None:
        return None
    left, bounds, reverses = found
    if left is None:
        rows = x[(*before, slice(*bounds))]
        return rows, lambda new: set_subtensor(rows, new)
    old = x[(*before, slice(*bounds))]
    if rows is None:
        # NumPy's slice is shorter if the array is; this is an error then.
        old = specify_shape(old, [*[None] * axis, left.length, *[None] * (x.type.ndim - axis - 1)])
    full = _full(left.turned(old, axis) if reverses else old, left, lengths, axis)

    def written(new):
        return set_subtensor(
            x[(*before, slice(*bounds))],
            full.where(left.turned(new, axis) if reverses else new, old),
        )

    return full, written


@carry.register(Subtensor)
def carry_Subtensor(op, node, lengths):
    x, *index_variables = node.inputs
    if x in lengths.last:
        if isinstance(op.idx_list[0], slice):
            lengths.last[node.outputs[0]] = lengths.last[x]
            return None
        return [lengths.last[x]]
    found = _along_rows(x, index_variables, op, lengths)
    if found is None:
        return masks.carry_Subtensor(op, node, lengths) if lengths.full(x) else None
    axis, rows, index, others = found
    value = lengths.full(x).value if rows else lengths.take(x)
    part = _part(value, axis, rows, index, lengths)
    if part is None:
        return None
    if isinstance(part[0], Full):
        beside = masks.beside_mask(part[0], others)
        return [beside[0]]
    if not isinstance(index, slice):
        del others[axis]
    return [part[0][(*others,)]]


@carry.register(IncSubtensor)
def carry_IncSubtensor(op, node, lengths):
    x, y, *index_variables = node.inputs
    if isinstance(x.owner_op, AllocEmpty) and lengths.full(x):
        return _with_initial_rows(op, node, lengths)
    found = _along_rows(x, index_variables, op, lengths)
    if found is None:
        return masks.carry_IncSubtensor(op, node, lengths)
    axis, rows, index, others = found
    value = lengths.full(x).value if rows else lengths.take(x)
    part = _part(value, axis, rows, index, lengths)
    if part is None:
        return None
    old, write = part
    if isinstance(old, Full):
        to, positions, variables = masks.beside_mask(old, others)
        new = masks.written(lengths, y, to)
        if new is None:
            return None
        change = IncSubtensor(positions, set_instead_of_inc=op.set_instead_of_inc)
        new = write(change(old.value, new, *variables))
    elif lengths.full(y):
        return None
    else:
        if not isinstance(index, slice):
            del others[axis]
        change = set_subtensor if op.set_instead_of_inc else inc_subtensor
        new = write(change(old[(*others,)], lengths.take(y)))
    return [lengths.full(x).with_value(new) if rows else new]


def _with_initial_rows(op, node, lengths):
    """Write a loop's initial rows, all of which it has."""
    x, y, *index_variables = node.inputs
    if lengths.full(y) or any(_numbered(v, lengths) for v in index_variables):
        return None
    full = lengths.full(x)
    return [full.with_value(op(full.value, lengths.take(y), *map(lengths.take, index_variables)))]


@carry.register(Alloc)
@carry.register(AllocEmpty)
def carry_Alloc(op, node, lengths):
    values = int(isinstance(op, Alloc))
    value, shape = node.inputs[:values], node.inputs[values:]
    numbers = [_numbered(length, lengths) for length in shape]
    axes = [axis for axis, rows in enumerate(numbers) if rows]
    if len(axes) != 1:
        return masks.carry_Alloc(op, node, lengths) if value else None
    (axis,) = axes
    if value:
        place = axis - len(shape) + value[0].type.ndim
        if lengths.full(value[0]) or (place >= 0 and value[0].type.shape[place] != 1):
            return None
    shape = [lengths.take(length) for length in shape]
    shape[axis] = numbers[axis].length
    return [_full(op(*map(lengths.take, value), *shape), numbers[axis], lengths, axis)]


@carry.register(ARange)
def carry_ARange(op, node, lengths):
    start, stop, step = node.inputs
    rows = _numbered(stop, lengths)
    if rows is None or _integer(start) != 0 or _integer(step) != 1:
        return None
    return [_full(op(start, rows.length, step), rows, lengths)]


@carry.register(Argmax)
def carry_Argmax(op, node, lengths):
    full, rows = lengths.full(node.inputs[0]), _rows(node.inputs[0], lengths)
    axes = range(node.inputs[0].type.ndim) if op.axis is None else op.axis
    if full.axis not in axes and full.of_mask == 1:
        return [full.with_value(op(full.value), full.axis - sum(k < full.axis for k in axes))]
    # Numbers of first rows are those of the array, if it is read row by row.
    if rows is None or (len(axes) > 1 and full.axis):
        return None
    return [op(full.masked(masks.neutral(ps.scalar_maximum, full.value.type.dtype)))]


@carry.register(Join)
def carry_Join(op, node, lengths):
    """Add rows of zeros up to the number of steps that a loop may make, as a gradient does."""
    if op.axis != 0 or len(node.inputs) != 2:
        return None
    first, zeros = node.inputs
    full, rows = lengths.full(first), _rows(first, lengths)
    if rows is None or full.axis or not isinstance(zeros.owner_op, Alloc):
        return None
    filled, number = zeros.owner.inputs[:2]
    subtracts = isinstance(getattr(number.owner_op, "scalar_op", None), ps.Sub)
    if _integer(filled) != 0 or not subtracts:
        return None
    most, made = number.owner.inputs
    steps = _numbered(made, lengths)
    if steps != replace(rows, offset=0) or not _same(lengths.take(most), rows.most):
        return None
    return [full.masked(0)]


def _same(one, other):
    return one is other or (isinstance(one, Constant) and one.equals(other))


def _is_read_last(variable, fgraph):
    """Return whether no row is read but the last, perhaps of those after the initial one."""

    def reads_last(node):
        if not isinstance(node.op, Subtensor) or len(node.op.idx_list) != 1:
            return False
        (index,) = indices_from_subtensor(node.inputs[1:], node.op.idx_list)
        if not isinstance(index, slice):
            return _integer(index) == -1
        after_first = index.stop is None and index.step is None and _integer(index.start) == 1
        return after_first and _is_read_last(node.outputs[0], fgraph)

    return all(reads_last(client) for client, _ in fgraph.clients[variable])


def _first_row(buffer):
    """Return the initial state that a buffer begins with: XLA need not know its length then."""
    node = buffer.owner
    if (
        node
        and isinstance(node.op, IncSubtensor)
        and isinstance(node.inputs[0].owner_op, AllocEmpty)
    ):
        buffer = node.inputs[1]
    return buffer[0]


def _counting_loop(op, last, number):
    """Return a loop of the same steps, which returns all rows and counts steps that may end it.

    `last` says which states return only their last value; those come after other untraced ones, and
    the count after them.
    """
    info, graph = op.info, op.fgraph.unfreeze()
    inner, new = list(graph.inputs), list(graph.outputs)
    ends = new.pop() if info.as_while else constant(np.array(False))
    states, results = op.inner_sitsot(inner), op.inner_sitsot_outs(new)
    first, rest = np.flatnonzero(last), np.flatnonzero(np.logical_not(last))
    untraced = [*op.inner_untraced_sit_sot(inner), *(states[k] for k in first)]
    new_untraced = [*op.inner_untraced_sit_sot_outs(new), *(results[k] for k in first)]
    if info.as_while:
        untraced.append(lscalar())
        new_untraced.append(untraced[-1] + 1)
    before = info.n_seqs + sum(map(len, info.mit_mot_in_slices + info.mit_sot_in_slices))
    return Scan(
        [*inner[:before], *(states[k] for k in rest), *untraced, *op.inner_non_seqs(inner)],
        [
            *new[: info.n_mit_mot_outs + info.n_mit_sot], *(results[k] for k in rest),
            *op.inner_nitsot_outs(new), *new_untraced, Kept(number)(ends),
        ],
        replace(
            info, as_while=True, n_untraced_sit_sot=len(untraced),
            sit_sot_in_slices=((-1,),) * len(rest),
        ),
        mode=op.mode, truncate_gradient=op.truncate_gradient, name=op.name,
    )  # fmt: skip


@carry.register(Scan)
def carry_Scan(op, node, lengths):
    """Count the steps of a loop that a condition ends, or make as many as there are rows."""
    info, inputs, outputs = op.info, node.inputs, node.outputs
    rows = _numbered(inputs[0], lengths)
    if rows is None and (not info.as_while or returns_all_rows(op)):
        return None
    if not _fits(op, inputs, rows, lengths):
        return None

    def array(variable):
        return lengths.full(variable).value if rows else lengths.take(variable)

    last = [_is_read_last(v, lengths.fgraph) for v in op.outer_sitsot_outs(outputs)]
    states = list(zip(map(array, op.outer_sitsot(inputs)), last, strict=True))
    arrays = [*op.outer_seqs(inputs), *op.outer_mitmot(inputs), *op.outer_mitsot(inputs)]
    most = rows.length if rows else lengths.take(inputs[0])
    made = _counting_loop(op, last, next(lengths.loops))(
        rows.number if rows else most,
        *map(array, arrays),
        *(state for state, is_last in states if not is_last),
        *map(lengths.take, op.outer_untraced_sit_sot(inputs)),
        *(_first_row(state) for state, is_last in states if is_last),
        *[kept(constant(np.int64(0)))] * info.as_while,
        *[most] * info.n_nit_sot,
        *map(lengths.take, op.outer_non_seqs(inputs)),
        return_list=True,
    )
    steps = Rows(made[-1], most) if info.as_while else rows

    def full(value, initial):
        return _full(kept(value), steps.plus(initial), lengths)

    made = iter(made)
    found = [lengths.full(v).with_value(kept(next(made))) for v in op.outer_mitmot(inputs)]
    found += [full(next(made), -min(taps)) for taps in info.mit_sot_in_slices]
    found += [None if is_last else full(next(made), 1) for is_last in last]
    found += [full(next(made), 0) for _ in range(info.n_nit_sot)]
    found += [next(made) for _ in range(info.n_untraced_sit_sot)]
    for variable, is_last in zip(op.outer_sitsot_outs(outputs), last, strict=True):
        if is_last:
            lengths.last[variable] = next(made)
    return found


def _fits(op, inputs, rows, lengths):
    """Return whether a loop over `rows`, if any, has its arrays at full length, and no others."""
    arrays = [*op.outer_mitmot(inputs), *op.outer_mitsot(inputs), *op.outer_sitsot(inputs)]
    arrays += op.outer_seqs(inputs)
    others = [*op.outer_untraced_sit_sot(inputs), *op.outer_non_seqs(inputs)]
    if rows is None:
        return not op.info.n_mit_mot and not any(map(lengths.full, arrays + others))
    found = [_rows(v, lengths) for v in arrays]
    return (
        not any(map(lengths.full, others))
        and all(found)
        and all(
            rows.are_among(each) and not lengths.full(v).axis
            for each, v in zip(found, arrays, strict=True)
        )
        and all(_numbered(v, lengths) == rows for v in op.outer_nitsot(inputs))
    )
