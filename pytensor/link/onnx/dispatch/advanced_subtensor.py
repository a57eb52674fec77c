"""Indexing with arrays and with masks."""

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
from pytensor.link.onnx.write.term import concat
from pytensor.tensor.basic import Nonzero
from pytensor.tensor.subtensor import AdvancedSubtensor


@onnx_funcify.register(AdvancedSubtensor)
def onnx_funcify_AdvancedSubtensor(op, node, x, *indices):
    entries = entries_of(op, node.inputs[1:], indices)
    lengths = node.inputs[0].type.shape
    require_fitting_masks(x, lengths, entries)
    return read(x, lengths, entries)


def require_fitting_masks(x, lengths, entries):
    """Let mode ONNX refuse masks of other lengths than their axes, which ONNX's Compress takes."""
    for axis, entry in with_axes(entries):
        if not isinstance(entry, Mask) or not can_raise(x.builder):
            continue
        end = axis + entry.ndim
        if None not in entry.shape and entry.shape == tuple(lengths[axis:end]):
            continue
        same = entry.term.sizes() == x.sizes(axis, end)
        require(same, IndexError, "boolean index did not match indexed array")


@onnx_funcify.register(Nonzero)
def onnx_funcify_Nonzero(op, node, x):
    positions = x.cast(x.dtype if has_kernel("NonZero", x.dtype) else "bool").node("NonZero")
    return tuple(positions.gather(row) for row in range(x.ndim))


def read(x, lengths, entries):
    """Write ``x[entries]``; `lengths` are the static sizes of `x`."""
    pairs = with_axes(entries)
    x = gather_scalars(slice_axes(x, lengths, pairs), pairs)
    arrays = [entry for entry in entries if is_array(entry)]
    if not arrays:
        return x
    scalars = [axis for axis, e in pairs if isinstance(e, Index) and not e.ndim]
    layout = [axis for axis in range(len(lengths)) if axis not in scalars]
    if len(arrays) > 1:
        entries = expand_masks(entries)
    spans = [(layout.index(axis), e) for axis, e in with_axes(entries) if is_array(e)]
    x, layout = gather_arrays(x, layout, spans)
    return reorder(x, layout, layout_of(entries, len(lengths)))


def is_array(entry):
    return isinstance(entry, Mask) or (isinstance(entry, Index) and entry.ndim > 0)


def expand_masks(entries):
    """Replace masks by the positions of what they select, along each of their axes."""
    expanded = []
    for entry in entries:
        if isinstance(entry, Mask):
            positions = entry.term.node("NonZero")
            expanded.extend(
                Index(positions.gather(row), (None,), source=(entry.term.name, row, entry.ndim))
                for row in range(entry.ndim)
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


def reorder(x, layout, wanted):
    """Transpose from one order of axes to another one."""
    return x.transpose(*(layout.index(axis) for axis in wanted))


def gather_arrays(x, layout, spans):
    """Index only with arrays, which are given with their axes."""
    axis, entry = spans[0]
    if len(spans) > 1:
        return gather_together(x, layout, spans)
    if isinstance(entry, Index):
        new = [f"i{i}" for i in range(entry.ndim)]
        return x.gather(entry.term, axis=axis), [*layout[:axis], *new, *layout[axis + 1 :]]
    if entry.ndim == 1:
        x = x.node("Compress", entry.term, axis=axis)
        return x, [*layout[:axis], "i0", *layout[axis + 1 :]]
    if entry.ndim == len(layout):
        return x.node("Compress", entry.term.flatten()), ["i0"]
    return gather_together(x, layout, spans)


def gather_together(x, layout, spans):
    entries = [entry for _, entry in spans]
    axes = [layout[axis + i] for axis, entry in spans for i in range(width(entry))]
    rest = [axis for axis in layout if axis not in axes]
    x = reorder(x, layout, [*axes, *rest])
    x = x.node("GatherND", stack_indices(entries))
    return x, [*(f"i{i}" for i in range(broadcast_ndim(entries))), *rest]


def stack_indices(entries):
    """Return several `Index` or one `Mask` as positions, broadcast, in one tensor's last axis."""
    first = entries[0].term
    if isinstance(entries[0], Mask):
        return first.node("NonZero").transpose(1, 0)
    if all(entry.value is not None for entry in entries):
        values = np.broadcast_arrays(*(entry.value for entry in entries))
        return first.builder.constant(np.stack(values, axis=-1))
    return concat([term.column() for term in broadcast(entries)], axis=-1)


def broadcast(entries):
    """Return the terms of indices, expanded to their common shape."""
    terms = [entry.term for entry in entries]
    # Rows of one matrix are equally long.
    if len({entry.source[0] if entry.source else entry.term.name for entry in entries}) == 1:
        return terms
    shapes = [entry.shape for entry in entries]
    if not any(size in (None, 0) for shape in shapes for size in shape):
        common = np.broadcast_shapes(*shapes)
        return [
            term if shape == common else term.expand(common)
            for term, shape in zip(terms, shapes, strict=True)
        ]
    # onnxruntime drops an Expand from size 1 to size 0; sums broadcast as they should.
    # thoughts/upstream/onnxruntime-empty-tensors.md
    first, *others = terms
    for term in others:
        first = first + (term - term)
    return [first, *(term + (first - first) for term in others)]
