"""Basic indexing: slices, and scalars that drop an axis."""

import sys
from dataclasses import dataclass

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.write.term import Term, minimum, where
from pytensor.tensor.basic import Nonzero
from pytensor.tensor.subtensor import Subtensor, unflatten_index_variables

LAST, FIRST = sys.maxsize, -sys.maxsize


@dataclass(frozen=True, eq=False)
class Index:
    """Integers along one axis, with their value where it is constant.

    Where they are one row of what a NonZero finds, `source` is its input's name, the row, and the
    number of rows.
    """

    term: Term
    shape: tuple[int | None, ...]
    value: np.ndarray | None = None
    source: tuple[str, int, int] | None = None

    @property
    def ndim(self):
        return len(self.shape)


@dataclass(frozen=True, eq=False)
class Mask:
    """Booleans along one or more axes."""

    term: Term
    shape: tuple[int | None, ...]

    @property
    def ndim(self):
        return len(self.shape)


@onnx_funcify.register(Subtensor)
def onnx_funcify_Subtensor(op, node, x, *indices):
    entries = with_axes(entries_of(op, node.inputs[1:], indices))
    return gather_scalars(slice_axes(x, node.inputs[0].type.shape, entries), entries)


def entries_of(op, variables, terms):
    """Return what an Op indexes with, as a list of `Index`, `Mask` and slices.

    The parts of the slices are None, integers or int64 scalars.
    """
    entries = []
    for entry in unflatten_index_variables(list(zip(variables, terms, strict=True)), op.idx_list):
        if isinstance(entry, slice):
            parts = (entry.start, entry.stop, entry.step)
            entries.append(slice(*(part and bound_of(part[1]) for part in parts)))
        else:
            entries.extend(indices_of(*entry))
    return entries


def with_axes(entries):
    """Return pairs of the first axis that an entry stands for, and the entry."""
    axis, pairs = 0, []
    for entry in entries:
        pairs.append((axis, entry))
        axis += width(entry)
    return pairs


def width(entry):
    """Return the number of axes that an entry stands for."""
    return entry.ndim if isinstance(entry, Mask) else 1


def is_full(entry):
    """Return whether an entry is a slice without bounds."""
    # Slices are equal where their parts are, and comparing a term adds a node.
    return isinstance(entry, slice) and entry.start is entry.stop is entry.step is None


def bound_of(term):
    return as_int64(term) if term.data is None else int(term.data)


def indices_of(variable, term):
    shape, value = getattr(variable.type, "shape", ()), term.data
    if term.dtype == "bool" and value is None:
        return [Mask(term, shape)]
    if value is None:
        return [Index(as_int64(term), shape, source=source_of(term.builder, variable))]
    values = value.nonzero() if term.dtype == "bool" else [value]
    constant = term.builder.constant
    return [Index(constant(v, "int64"), v.shape, v.astype("int64")) for v in values]


def source_of(builder, variable):
    node = variable.owner
    if node is None or not isinstance(node.op, Nonzero):
        return None
    name = builder.value_of(node.inputs[0]).name
    return name, node.outputs.index(variable), len(node.outputs)


def as_int64(term):
    """Cast an index or a bound; what int64 doesn't hold is beyond the end of any axis."""
    if term.dtype == "uint64":
        term = minimum(term, LAST)
    return term.cast("int64")


def gather_scalars(x, pairs):
    # From the last axis to the first, so that the numbers of those still to come stay right.
    for axis, entry in reversed(pairs):
        if isinstance(entry, Index) and not entry.ndim:
            x = x.gather(entry.term, axis=axis)
    return x


def slice_axes(x, lengths, pairs):
    """Apply the entries that are slices; `lengths` are the static sizes of `x`."""
    first, second = [], []
    for axis, entry in pairs:
        if isinstance(entry, slice) and not is_full(entry):
            stages = stages_of(entry, lengths[axis])
            first.append((axis, *stages[0]))
            second.extend((axis, *stage) for stage in stages[1:])
    for stage in (first, second):
        if stage:
            axes, starts, stops, steps = zip(*stage, strict=True)
            x = x.slice(bounds(starts), bounds(stops), axes, bounds(steps))
    return x


def stages_of(entry, length):
    """Return the ``(start, stop, step)`` of one ONNX slice, or of two.

    With positive steps NumPy and ONNX agree on negative and on too large bounds.  With negative
    ones a start before the first element is moved to that by ONNX, but nothing is left in NumPy:
    there the elements are cut out first, and then reversed.
    """
    start, stop, step = entry.start, entry.stop, 1 if entry.step is None else entry.step
    if isinstance(step, Term):
        return stages_of_unknown_step(start, stop, step)
    if step > 0:
        return [(0 if start is None else start, LAST if stop is None else stop, step)]
    if length is not None and not isinstance(start, Term) and not isinstance(stop, Term):
        positions = range(length)[entry]
        if not positions:
            return [(0, 0, 1)]
        return [(positions.start, FIRST if positions.stop < 0 else positions.stop, step)]
    # On an axis of length 0, a start of -1 leaves nothing in ONNX either.
    start, stop = -1 if start is None else start, FIRST if stop is None else stop
    # onnxruntime takes a stop of the largest int32 or int64 for none.
    # thoughts/upstream/onnxruntime-slice-largest-stop.md
    if isinstance(start, int) and start >= -1 and isinstance(stop, int) and stop < 2**31 - 1:
        return [(start, stop, step)]
    return [(bound_after(stop), bound_after(start), 1), (-1, FIRST, step)]


def stages_of_unknown_step(start, stop, step):
    backwards = step < 0
    whole = (where(backwards, -1, 0), where(backwards, FIRST, LAST), step)
    if start is None and stop is None:
        return [whole]
    low = where(
        backwards,
        0 if stop is None else bound_after(stop),
        0 if start is None else start,
    )
    high = where(
        backwards,
        LAST if start is None else bound_after(start),
        LAST if stop is None else stop,
    )
    return [(low, high, 1), whole]


def bound_after(bound):
    """Return ``bound + 1`` where that is a bound too: -1 is followed by the end, not by 0."""
    if isinstance(bound, int):
        return LAST if bound == -1 else min(bound, LAST - 1) + 1
    return where(bound == -1, LAST, minimum(bound, LAST - 1) + 1)


def bounds(parts):
    """Return integers, moved into the range of int64, and scalars as vectors of one entry."""
    return [
        part.unsqueeze(0) if isinstance(part, Term) else max(min(part, LAST), FIRST)
        for part in parts
    ]
