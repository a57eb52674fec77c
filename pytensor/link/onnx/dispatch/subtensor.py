"""Basic indexing: slices, and scalars that drop an axis."""

import sys
from dataclasses import dataclass

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.write.sizes import vector
from pytensor.tensor.basic import Nonzero
from pytensor.tensor.subtensor import Subtensor, unflatten_index_variables

LAST, FIRST = sys.maxsize, -sys.maxsize
FULL = slice(None)


@dataclass(frozen=True)
class Index:
    """Integers along one axis, with their value where it is constant.

    Where they are one row of what a NonZero finds, `source` is its input, the row, and the number
    of rows.
    """

    name: str
    shape: tuple[int | None, ...]
    value: np.ndarray | None = None
    source: tuple[str, int, int] | None = None

    @property
    def ndim(self):
        return len(self.shape)


@dataclass(frozen=True)
class Mask:
    """Booleans along one or more axes."""

    name: str
    shape: tuple[int | None, ...]

    @property
    def ndim(self):
        return len(self.shape)


@onnx_funcify.register(Subtensor)
def onnx_funcify_Subtensor(op, node, builder, x, *names):
    entries = entries_of(builder, op, node.inputs[1:], names)
    x = slice_axes(builder, x, node.inputs[0].type.shape, with_axes(entries))
    return gather_scalars(builder, x, with_axes(entries))


def entries_of(builder, op, variables, names):
    """Return what an Op indexes with, as a list of `Index`, `Mask` and slices.

    The parts of the slices are None, integers or names of int64 scalars.
    """
    entries = []
    for entry in unflatten_index_variables(list(zip(variables, names, strict=True)), op.idx_list):
        if isinstance(entry, slice):
            parts = (entry.start, entry.stop, entry.step)
            entries.append(slice(*(part and bound_of(builder, *part) for part in parts)))
        else:
            entries.extend(indices_of(builder, *entry))
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


def bound_of(builder, variable, name):
    value = builder.constant_value(name)
    return as_int64(builder, name, variable.type.dtype) if value is None else int(value)


def indices_of(builder, variable, name):
    shape, dtype = getattr(variable.type, "shape", ()), variable.type.dtype
    value = builder.constant_value(name)
    if dtype == "bool" and value is None:
        return [Mask(name, shape)]
    if value is None:
        return [Index(as_int64(builder, name, dtype), shape, source=source_of(builder, variable))]
    values = value.nonzero() if dtype == "bool" else [value]
    return [Index(builder.constant(v, "int64"), v.shape, v.astype("int64")) for v in values]


def source_of(builder, variable):
    node = variable.owner
    if node is None or not isinstance(node.op, Nonzero):
        return None
    return builder.name_of(node.inputs[0]), node.outputs.index(variable), len(node.outputs)


def as_int64(builder, name, dtype):
    """Cast an index or a bound; what int64 doesn't hold is beyond the end of any axis."""
    if dtype == "uint64":
        name = builder.add("Min", name, builder.constant(LAST, "uint64"))
    return builder.cast(name, dtype, "int64")


def gather_scalars(builder, x, pairs):
    # From the last axis to the first, so that the numbers of those still to come stay right.
    for axis, entry in reversed(pairs):
        if isinstance(entry, Index) and not entry.ndim:
            x = builder.add("Gather", x, entry.name, axis=axis)
    return x


def slice_axes(builder, x, lengths, pairs):
    """Apply those of the entries that are slices; `lengths` are the static sizes of `x`."""
    first, second = [], []
    for axis, entry in pairs:
        if isinstance(entry, slice) and entry != FULL:
            stages = stages_of(builder, entry, lengths[axis])
            first.append((axis, *stages[0]))
            second.extend((axis, *stage) for stage in stages[1:])
    for stage in (first, second):
        if stage:
            axes, starts, stops, steps = zip(*stage, strict=True)
            starts, stops, steps = (bounds(builder, part) for part in (starts, stops, steps))
            x = builder.add("Slice", x, starts, stops, builder.int64s(axes), steps)
    return x


def stages_of(builder, entry, length):
    """Return the ``(start, stop, step)`` of one ONNX slice, or of two.

    With positive steps NumPy and ONNX agree on negative and on too large bounds.  With negative
    ones a start before the first element is moved to that by ONNX, but nothing is left in NumPy:
    there the elements are cut out first, and then reversed.
    """
    start, stop, step = entry.start, entry.stop, 1 if entry.step is None else entry.step
    if isinstance(step, int) and step > 0:
        return [(0 if start is None else start, LAST if stop is None else stop, step)]
    if isinstance(step, str):
        return stages_of_unknown_step(builder, start, stop, step)
    if length is not None and not isinstance(start, str) and not isinstance(stop, str):
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
    return [(bound_after(builder, stop), bound_after(builder, start), 1), (-1, FIRST, step)]


def stages_of_unknown_step(builder, start, stop, step):
    backwards = builder.add("Less", step, builder.constant(0, "int64"))

    def choose(if_backwards, if_forwards):
        operands = (as_scalar(builder, part) for part in (if_backwards, if_forwards))
        return builder.add("Where", backwards, *operands)

    whole = (choose(-1, 0), choose(FIRST, LAST), step)
    if start is None and stop is None:
        return [whole]
    low = choose(
        0 if stop is None else bound_after(builder, stop),
        0 if start is None else start,
    )
    high = choose(
        LAST if start is None else bound_after(builder, start),
        LAST if stop is None else stop,
    )
    return [(low, high, 1), whole]


def bound_after(builder, bound):
    """Return ``bound + 1`` where that is a bound too: -1 is followed by the end, not by 0."""
    if isinstance(bound, int):
        return LAST if bound == -1 else min(bound, LAST - 1) + 1
    is_last = builder.add("Equal", bound, builder.constant(-1, "int64"))
    bound = builder.add("Min", bound, builder.constant(LAST - 1, "int64"))
    bound = builder.add("Add", bound, builder.constant(1, "int64"))
    return builder.add("Where", is_last, builder.constant(LAST, "int64"), bound)


def as_scalar(builder, part):
    return part if isinstance(part, str) else builder.constant(part, "int64")


def bounds(builder, parts):
    """Return a vector of integers, moved into the range of int64, and of named scalars."""
    parts = [
        max(min(part, LAST), FIRST)
        if isinstance(part, int)
        else builder.add("Unsqueeze", part, builder.int64s([0]))
        for part in parts
    ]
    return vector(builder, parts)
