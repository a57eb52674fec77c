"""Slices, gathering, scattering, padding."""

from typing import Literal

import numpy as np

import pytensor.tensor as pt
from pytensor.link.onnx.importing.operators.control_flow import last_state
from pytensor.link.onnx.importing.registry import Refused, operator_funcify
from pytensor.link.onnx.importing.sizes import (
    entries,
    filled,
    folded,
    is_listed,
    known,
    like,
    must_be_known,
    normalized,
    positions,
    size,
    sizes,
    vector,
    wanted_sizes,
    what_to_give,
)
from pytensor.scan.basic import scan
from pytensor.tensor.basic import constant
from pytensor.tensor.batching import shapes_differ

INT64 = np.iinfo(np.int64)
Reduction = Literal["none", "add", "mul", "max", "min"]
COMBINE = {"add": pt.add, "mul": pt.mul, "max": pt.maximum, "min": pt.minimum}


@operator_funcify.register("Slice")
def slice_(x, starts, ends, axes=None, steps=None):
    starts, ends = (_entries(v, what) for v, what in ((starts, "starts"), (ends, "ends")))
    axes = range(len(starts)) if axes is None else must_be_known(axes, "which axes it cuts")
    steps = [1] * len(starts) if steps is None else must_be_known(steps, "its step")
    index = [slice(None)] * x.type.ndim
    axes = _different(axes, x.type.ndim)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        index[axis] = _slice(size(x, axis), start, end, int(step))
    cut = index[0] if index else None
    if is_listed(x) and all(v is None or isinstance(v, int) for v in (cut.start, cut.stop)):
        return vector(entries(x)[cut], x.type.dtype)
    return x[tuple(index)]


def _different(axes, ndim):
    """Return axes counted from the front, which must be different ones."""
    axes = [normalized(axis, ndim) for axis in axes]
    if len(set(axes)) < len(axes):
        raise Refused(f"it names an axis twice: {axes}")
    return axes


def _entries(x, what):
    found = entries(x)
    if found is None:
        raise Refused(f"how many {what} it has is known only when the model runs{what_to_give(x)}")
    return found


def _slice(length, start, end, step):
    """Return PyTensor's slice for a start and an end, which are clipped to the axis."""
    if step == 0:
        raise Refused("its step is 0")
    if step < 0:
        start = _on_the_axis(start, length)
    far = INT64.max if step > 0 else INT64.min
    number = known(length)
    return slice(_bound(start, ~far, number, -step), _bound(end, far, number, step), step)


def _on_the_axis(start, length):
    """Return the start of a slice backwards; one before the axis means its first entry."""
    number = known(start)
    if number is not None and number >= -1:
        return start
    clipped = pt.maximum(start + length, np.int64(0))
    clipped = clipped if number is not None else pt.switch(pt.lt(start, 0), clipped, start)
    return folded([clipped])[0]


def _bound(bound, far, length, direction):
    """Return a start or end, None where it is beyond the axis."""
    number = known(bound)
    if number is None:
        return bound
    if number == far:
        return None
    if length is not None and (number >= length if direction > 0 else number < -length):
        return None
    return int(number)


@operator_funcify.register("Gather")
def gather(x, indices, *, axis=0):
    axis = normalized(axis, x.type.ndim)
    places = known(indices)
    if is_listed(x) and places is not None and places.ndim < 2:
        row = entries(x)
        if places.ndim == 0:
            return row[int(places)]
        return vector([row[int(i)] for i in places], x.type.dtype)
    index = int(places) if places is not None and places.ndim == 0 else indices
    if x.type.ndim == 1 and isinstance(index, int) and index < 0:
        # thoughts/upstream/last-entry-of-joined-vectors.md
        (index,) = folded([size(x, 0) + np.int64(index)])
    return x[(*(slice(None),) * axis, index)]


def _along(lengths):
    """Return for each axis its entries' numbers, in shapes that broadcast against each other."""
    return [
        pt.expand_dims(positions(n), [a for a in range(len(lengths)) if a != axis])
        for axis, n in enumerate(lengths)
    ]


def _must_fit(what, x, shape):
    """Refuse an input of another shape than the standard has; NumPy might repeat it."""
    if x.type.ndim != len(shape) or shapes_differ(x.type.shape, shape):
        raise Refused(f"its {what} are of the shape {x.type.shape}, and must be of {tuple(shape)}")


def _elements(x, indices, axis):
    """Return the index of `GatherElements` and `ScatterElements`, and its axis."""
    if indices.type.ndim != x.type.ndim:
        raise Refused(
            f"its indices have {indices.type.ndim} axes, and its input {x.type.ndim}: as many "
            f"are needed"
        )
    axis = normalized(axis, indices.type.ndim)
    index = _along(sizes(indices))
    index[axis] = indices
    return index, axis


@operator_funcify.register("GatherElements")
def gather_elements(x, indices, *, axis=0):
    return x[tuple(_elements(x, indices, axis)[0])]


def _tuples(indices, most):
    """Return the parts of tuples of indices, which are along the last axis: `most` at most."""
    number = indices.type.shape[-1]
    if number is None:
        raise Refused("how many axes it indexes, the last size of its indices, must be known")
    if not 1 <= number <= most:
        raise Refused(f"its indices are tuples of {number}; they must have 1 to {most} entries")
    return [indices[..., i] for i in range(number)]


@operator_funcify.register("GatherND")
def gather_nd(x, indices, *, batch_dims=0):
    most = min(x.type.ndim, indices.type.ndim)
    if not 0 <= batch_dims < most:
        raise Refused(f"its batch_dims is {batch_dims}; it must be from 0 to {most - 1}")
    if shapes_differ(x.type.shape[:batch_dims], indices.type.shape[:batch_dims]):
        raise Refused(
            f"its input is of the shape {x.type.shape} and its indices of {indices.type.shape}, of "
            f"which the first {batch_dims} must be equal"
        )
    parts = folded(_tuples(indices, x.type.ndim - batch_dims))
    if len(parts) == 1 and not batch_dims:
        return gather(x, *parts)
    return x[(*_along(sizes(indices)[:-1])[:batch_dims], *parts)]


@operator_funcify.register("ScatterElements", "Scatter")
def scatter_elements(x, indices, updates, *, axis=0, reduction: Reduction = "none"):
    index, axis = _elements(x, indices, axis)
    _must_fit("updates", updates, indices.type.shape)
    # Entries that are written to one place differ only in this axis
    return _scattered(x, index, updates, axis, reduction)


@operator_funcify.register("ScatterND")
def scatter_nd(x, indices, updates, *, reduction: Reduction = "none"):
    index = _tuples(indices, x.type.ndim)
    kept = x.type.ndim - len(index)
    _must_fit("updates", updates, (*indices.type.shape[:-1], *x.type.shape[len(index) :]))
    if reduction not in ("none", "add"):
        rest = sizes(x)[len(index) :]
        index = [part.flatten() for part in index]
        updates = pt.reshape(updates, vector([constant(np.int64(-1)), *rest]), ndim=kept + 1)
    return _scattered(x, index, updates, 0, reduction)


def _scattered(x, index, updates, axis, reduction):
    """`x` with updates in it; in what `axis` counts they come one after the other."""
    if reduction == "none":
        return x[tuple(index)].set(updates)
    if reduction == "add":
        return x[tuple(index)].inc(updates)
    index = pt.broadcast_arrays(*index)

    def step(*values):
        *places, update, result = values
        place = result[tuple(places)]
        return place.set(COMBINE[reduction](place, update))

    first = [pt.moveaxis(v, axis, 0) for v in (*index, updates)]
    steps = scan(step, sequences=first, outputs_info=[x], return_updates=False)
    return last_state(steps)


@operator_funcify.register("TensorScatter")
def tensor_scatter(
    cache, update, start=None, *, axis=-2, mode: Literal["linear", "circular"] = "linear"
):
    axis = normalized(axis, cache.type.ndim)
    if axis == 0:
        raise Refused("its axis is the first one, which counts the batch")
    *shape, batch_size = *cache.type.shape, cache.type.shape[0]
    shape[axis] = update.type.shape[axis]
    _must_fit("updates", update, shape)
    if start is not None:
        _must_fit("write_indices", start, (batch_size,))
    batch, added, length = size(cache, 0), size(update, axis), size(cache, axis)
    places = positions(added)[None, :]
    places = places if start is None else places + pt.cast(start, "int64")[:, None]
    if mode == "circular":
        places = pt.mod(places, length)
    moved, update = pt.moveaxis(cache, axis, 1), pt.moveaxis(update, axis, 1)
    return pt.moveaxis(moved[positions(batch)[:, None], places].set(update), 1, axis)


@operator_funcify.register("Compress")
def compress(x, condition, *, axis=None):
    if condition.type.ndim != 1:
        raise Refused(f"its condition has {condition.type.ndim} axes; it must have one")
    x, axis = (x.flatten(), 0) if axis is None else (x, normalized(axis, x.type.ndim))
    return x[(*(slice(None),) * axis, pt.nonzero(condition)[0])]


@operator_funcify.register("ReverseSequence")
def reverse_sequence(x, lengths, *, batch_axis=1, time_axis=0):
    time, batch = (normalized(axis, x.type.ndim) for axis in (time_axis, batch_axis))
    _must_fit("sequence_lens", lengths, (x.type.shape[batch],))
    moved = pt.moveaxis(x, (time, batch), (0, 1))
    steps, samples = (positions(n)[:, None] for n in sizes(moved)[:2])
    lengths = pt.cast(lengths, "int64")[None, :]
    index = pt.switch(pt.lt(steps, lengths), lengths - np.int64(1) - steps, steps)
    return pt.moveaxis(moved[index, samples.T], (0, 1), (time, batch))


@operator_funcify.register("Pad")
def pad(
    node,
    x,
    pads,
    value=None,
    axes=None,
    *,
    mode: Literal["constant", "edge", "reflect", "wrap"] = "constant",
):
    if axes is None:
        axes = range(x.type.ndim)
    else:
        axes = _different(must_be_known(axes, "which axes it pads"), x.type.ndim)
    widths = wanted_sizes(node, pads) if pads.type.shape != (None,) else [
        pads[i] for i in range(2 * len(axes))
    ]
    if len(widths) != 2 * len(axes):
        raise Refused(f"it has {len(widths)} pads for {len(axes)} axes; each has two")
    around = {a: (widths[i], widths[i + len(axes)]) for i, a in enumerate(axes)}
    value = like(x, 0) if value is None else value.reshape(()) if value.type.ndim else value
    numbers = {axis: [known(w) for w in pair] for axis, pair in around.items()}
    if mode == "constant" and not any(n is None for pair in numbers.values() for n in pair):
        return _padded_by_numbers(x, numbers, value)
    for axis, (before, after) in around.items():
        if numbers[axis] != [0, 0]:
            x = _padded(x, axis, before, after, mode, value)
    return x


def _padded_by_numbers(x, numbers, value):
    """Pad axes with a value, or cut them, by numbers of either sign."""
    # Not by PyTensor's pad: thoughts/upstream/pad-makes-float64.md
    cut, place, lengths = [], [], []
    for axis, length in enumerate(sizes(x)):
        before, after = map(int, numbers.get(axis, (0, 0)))
        # None rather than 0: the length then stays that of the whole axis
        cut.append(slice(max(-before, 0) or None, min(after, 0) or None))
        place.append(slice(max(before, 0) or None, -after if after > 0 else None))
        lengths.append(folded([length + np.int64(before + after)])[0])
    return filled(value, lengths)[tuple(place)].set(x[tuple(cut)])


def _padded(x, axis, before, after, mode, value):
    """Pad or cut an axis by widths of either sign."""
    length = size(x, axis)
    places = positions(folded([before + length + after])[0]) - before
    last = length - np.int64(1)
    if mode == "wrap":
        index = pt.mod(places, length)
    elif mode == "reflect":
        # Back and forth over the axis
        period = pt.maximum(last * np.int64(2), np.int64(1))
        there = pt.mod(places, period)
        index = pt.minimum(there, period - there)
    elif mode == "edge":
        index = pt.clip(places, np.int64(0), last)
    else:
        # From a cell after the last, which an empty axis has too
        inside = pt.ge(places, np.int64(0)) & pt.le(places, last)
        index = pt.switch(inside, places, length)
        lengths = sizes(x)
        lengths[axis] = constant(np.int64(1))
        x = pt.join(axis, x, filled(value, lengths))
    return x.take(folded([index])[0], axis=axis)
