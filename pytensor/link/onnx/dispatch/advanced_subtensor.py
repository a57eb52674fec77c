"""Indexing with arrays and with masks."""

from dataclasses import replace

import numpy as np

from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.checks import can_raise, require
from pytensor.link.onnx.dispatch.subtensor import (
    Index,
    Mask,
    entries_of,
    gather_scalars,
    slice_axes,
    width,
    with_axes,
)
from pytensor.link.onnx.kernels import has_kernel
from pytensor.link.onnx.write.sizes import concat
from pytensor.tensor.basic import Nonzero
from pytensor.tensor.subtensor import AdvancedSubtensor


@onnx_funcify.register(AdvancedSubtensor)
def onnx_funcify_AdvancedSubtensor(op, node, builder, x, *names):
    entries = entries_of(builder, op, node.inputs[1:], names)
    lengths = node.inputs[0].type.shape
    require_fitting_masks(builder, x, lengths, entries)
    return read(builder, x, lengths, entries)


def require_fitting_masks(builder, x, lengths, entries):
    """Let mode ONNX refuse masks of other lengths than their axes, which ONNX's Compress takes."""
    for axis, entry in with_axes(entries):
        if not isinstance(entry, Mask) or not can_raise(builder):
            continue
        end = axis + entry.ndim
        if None not in entry.shape and entry.shape == tuple(lengths[axis:end]):
            continue
        axes = builder.add("Shape", x, start=axis, end=end)
        same = builder.add("Equal", builder.add("Shape", entry.name), axes)
        require(builder, same, IndexError, "boolean index did not match indexed array")


@onnx_funcify.register(Nonzero)
def onnx_funcify_Nonzero(op, node, builder, x):
    (variable,) = node.inputs
    return split_rows(builder, nonzero(builder, x, variable.type.dtype), variable.type.ndim)


def nonzero(builder, x, dtype):
    to = dtype if has_kernel("NonZero", dtype) else "bool"
    return builder.add("NonZero", builder.cast(x, dtype, to))


def split_rows(builder, matrix, number):
    """Return the rows of a matrix as vectors."""
    rows = [builder.constant(row, "int64") for row in range(number)]
    return tuple(builder.add("Gather", matrix, row, axis=0) for row in rows)


def read(builder, x, lengths, entries):
    """Write ``x[entries]``; `lengths` are the static sizes of `x`."""
    pairs = with_axes(entries)
    x = slice_axes(builder, x, lengths, pairs)
    x = gather_scalars(builder, x, pairs)
    arrays = [entry for entry in entries if is_array(entry)]
    if not arrays:
        return x
    scalars = [axis for axis, e in pairs if isinstance(e, Index) and not e.ndim]
    layout = [axis for axis in range(len(lengths)) if axis not in scalars]
    if len(arrays) > 1:
        entries = expand_masks(builder, entries)
        arrays = [entry for entry in entries if is_array(entry)]
    spans = [(layout.index(axis), e) for axis, e in with_axes(entries) if is_array(e)]
    x, layout = gather_arrays(builder, x, layout, spans)
    return transpose(builder, x, layout, layout_of(entries, len(lengths)))


def is_array(entry):
    return isinstance(entry, Mask) or (isinstance(entry, Index) and entry.ndim > 0)


def expand_masks(builder, entries):
    """Replace masks by the positions of what they select, along each of their axes."""
    expanded = []
    for entry in entries:
        if isinstance(entry, Mask):
            rows = split_rows(builder, builder.add("NonZero", entry.name), entry.ndim)
            sources = [(entry.name, row, entry.ndim) for row in range(entry.ndim)]
            expanded.extend(
                Index(name, (None,), source=source)
                for name, source in zip(rows, sources, strict=True)
            )
        else:
            expanded.append(entry)
    return expanded


def layout_of(entries, ndim):
    """Return where the result's axes come from: axes of what is indexed, and "i0" ... of arrays.

    What the arrays (and scalars between them) index lies in place of the first of them, but ahead
    of everything else if there is a slice between them.
    """
    n_axes = broadcast_ndim(entries)
    new = [f"i{i}" for i in range(n_axes)]
    pairs = with_axes(entries)
    indexed = [i for i, (_, e) in enumerate(pairs) if not isinstance(e, slice)]
    kept = [axis for axis, entry in pairs if isinstance(entry, slice)]
    kept += range(sum(width(entry) for entry in entries), ndim)
    if not indexed:
        return kept
    together = indexed[-1] - indexed[0] == len(indexed) - 1
    start = sum(axis < pairs[indexed[0]][0] for axis in kept) if together else 0
    return [*kept[:start], *new, *kept[start:]]


def broadcast_ndim(entries):
    return max((1 if isinstance(e, Mask) else e.ndim for e in entries if is_array(e)), default=0)


def transpose(builder, x, layout, wanted):
    if layout == wanted:
        return x
    return builder.add("Transpose", x, perm=[layout.index(axis) for axis in wanted])


def gather_arrays(builder, x, layout, spans):
    """Index with arrays alone, which are given with their axes."""
    axis, entry = spans[0]
    if len(spans) > 1:
        return gather_together(builder, x, layout, spans)
    if isinstance(entry, Index):
        new = [f"i{i}" for i in range(entry.ndim)]
        x = builder.add("Gather", x, entry.name, axis=axis)
        return x, [*layout[:axis], *new, *layout[axis + 1 :]]
    if entry.ndim == 1:
        x = builder.add("Compress", x, entry.name, axis=axis)
        return x, [*layout[:axis], "i0", *layout[axis + 1 :]]
    if entry.ndim == len(layout):
        flat = builder.add("Reshape", entry.name, builder.int64s([-1]))
        return builder.add("Compress", x, flat), ["i0"]
    return gather_together(builder, x, layout, spans)


def gather_together(builder, x, layout, spans):
    entries = [entry for _, entry in spans]
    axes = [layout[axis + i] for axis, entry in spans for i in range(width(entry))]
    rest = [axis for axis in layout if axis not in axes]
    x = transpose(builder, x, layout, [*axes, *rest])
    x = builder.add("GatherND", x, stack_indices(builder, entries))
    return x, [*(f"i{i}" for i in range(broadcast_ndim(entries))), *rest]


def stack_indices(builder, entries):
    """Return several `Index` or one `Mask` as positions, broadcast, in one tensor's last axis."""
    if isinstance(entries[0], Mask):
        return builder.add("Transpose", builder.add("NonZero", entries[0].name), perm=[1, 0])
    if all(entry.value is not None for entry in entries):
        return builder.constant(np.stack(np.broadcast_arrays(*(e.value for e in entries)), axis=-1))
    last = builder.int64s([-1])
    columns = [builder.add("Unsqueeze", e.name, last) for e in broadcast(builder, entries)]
    return concat(builder, columns, axis=-1)


def broadcast(builder, entries):
    """Expand indices to their common shape."""
    # Rows of one matrix are equally long.
    if len({(entry.source and entry.source[0]) or entry.name for entry in entries}) == 1:
        return entries
    shapes = [entry.shape for entry in entries]
    if not any(size in (None, 0) for shape in shapes for size in shape):
        shape = np.broadcast_shapes(*shapes)
        target = builder.int64s(shape)
        return [
            e if e.shape == shape else replace(e, name=builder.add("Expand", e.name, target))
            for e in entries
        ]
    # onnxruntime drops an Expand from size 1 to size 0; sums broadcast as they should.
    # thoughts/upstream/onnxruntime-empty-tensors.md
    first, *others = entries
    for entry in others:
        first = add_zeros(builder, first, entry)
    return [first, *(add_zeros(builder, entry, first) for entry in others)]


def add_zeros(builder, entry, like):
    zeros = builder.add("Sub", like.name, like.name)
    return replace(entry, name=builder.add("Add", entry.name, zeros))
