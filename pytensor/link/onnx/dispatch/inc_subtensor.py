"""Setting and incrementing what is indexed."""

from dataclasses import dataclass, replace

import numpy as np

from pytensor.graph.basic import Constant
from pytensor.link.onnx.converters import onnx_funcify
from pytensor.link.onnx.dispatch.advanced_subtensor import (
    layout_of,
    read,
    reorder,
    require_fitting_masks,
)
from pytensor.link.onnx.dispatch.scatter import Positions, Scatter
from pytensor.link.onnx.dispatch.subtensor import Mask, entries_of, is_full, width, with_axes
from pytensor.link.onnx.errors import ConversionError
from pytensor.link.onnx.write.term import Term, where
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
)


@onnx_funcify.register(IncSubtensor)
def onnx_funcify_IncSubtensor(op, node, x, y, *indices):
    return write_region(op, node, x, y, indices, Subtensor)


@onnx_funcify.register(AdvancedIncSubtensor)
def onnx_funcify_AdvancedIncSubtensor(op, node, x, y, *indices):
    return write_region(op, node, x, y, indices, AdvancedSubtensor)


def write_region(op, node, x, y, indices, reading):
    variable, value, *index_variables = node.inputs
    if 0 in value.type.shape:
        # Nothing is written, and onnxruntime drops an Expand to a size of 0 that it can infer.
        # thoughts/upstream/onnxruntime-empty-tensors.md
        return x
    region = reading(op.idx_list).make_node(variable, *index_variables).outputs[0].type
    entries = without_full(entries_of(op, index_variables, indices), variable.type.shape)
    require_fitting_masks(x, variable.type.shape, entries)
    dtype = x.dtype if op.set_instead_of_inc else sum_dtype(variable, value)
    dropped = max(value.type.ndim - region.ndim, 0)
    write = Write(
        lengths=variable.type.shape,
        entries=entries,
        region=region.shape,
        value_shape=value.type.shape[dropped:],
        add=not op.set_instead_of_inc,
        last_of_duplicates=getattr(op, "ignore_duplicates", False),
    )
    # Leading axes of the value that the region doesn't have are of length 1.
    y = y.squeeze(*range(dropped)) if dropped else y
    return write(x.cast(dtype), y.cast(dtype)).cast(x.dtype)


def without_full(entries, lengths):
    """Write slices that take a whole axis as those without bounds."""
    return [
        slice(None) if isinstance(entry, slice) and takes_all(entry, lengths[axis]) else entry
        for axis, entry in with_axes(entries)
    ]


def takes_all(entry, length):
    if any(isinstance(part, Term) for part in (entry.start, entry.stop, entry.step)):
        return False
    if length is None:
        return entry.start in (None, 0) and entry.stop is None and entry.step in (None, 1)
    return range(length)[entry] == range(length)


def sum_dtype(variable, value):
    """Return in which dtype the sum is computed before it is rounded, or wraps, to `variable`'s."""
    x, y = variable.type.dtype, value.type.dtype
    if not x.startswith("float"):
        if y.startswith("float") or (x == "bool") != (y == "bool"):
            raise ConversionError(f"{y} can't be added to {x}; cast one of them")
        # Integers wrap, so the sum is the same in the wider dtype.
        return x
    dtype = x if is_held(value, x) else np.result_type(x, y).name
    # onnxruntime's scatter operators don't add float16.
    # thoughts/upstream/onnxruntime-missing-kernels.md
    return "float32" if dtype == "float16" else dtype


def is_held(value, dtype):
    if not isinstance(value, Constant):
        return False
    with np.errstate(all="ignore"):
        return np.array_equal(value.data.astype(dtype), value.data, equal_nan=True)


@dataclass
class Write:
    """Sets ``x[entries]`` to ``y`` of the same dtype, or adds ``y`` to it.

    `lengths`, `region` and `value_shape` are the static shapes of ``x``, of ``x[entries]`` and of
    ``y``; with `last_of_duplicates` the last of equal indices wins in an addition too.
    """

    lengths: tuple
    entries: list
    region: tuple
    value_shape: tuple
    add: bool
    last_of_duplicates: bool

    def __call__(self, x, y):
        if 0 in self.region:
            return x
        touched = [(axis, e) for axis, e in with_axes(self.entries) if not is_full(e)]
        if not touched:
            return self._write_all(x, y)
        if len(touched) == 1 and isinstance(touched[0][1], Mask):
            chosen = self._choose(x, y, *touched[0])
            if chosen is not None:
                return chosen
        return self._scatter(x, y, touched)

    def _write_all(self, x, y):
        if self.add:
            return x + y
        if None not in self.region and self.value_shape == self.region:
            return y
        return y.expand_as(x)

    def _choose(self, x, y, axis, mask):
        """Write to what a mask selects with a Where, if all of that gets the same value."""
        trailing = len(self.lengths) - axis - mask.ndim
        at = len(self.value_shape) - 1 - trailing
        if at >= 0 and self.value_shape[at] != 1:
            return None
        if at >= 0 and mask.ndim > 1:
            y = y.unsqueeze(*range(at, at + mask.ndim - 1))
        if self.add:
            y = x + y
        condition = mask.term
        if trailing:
            condition = condition.unsqueeze(*range(mask.ndim, mask.ndim + trailing))
        return where(condition, y, x)

    def _scatter(self, x, y, touched):
        ndim = len(self.lengths)
        front = [axis + i for axis, entry in touched for i in range(width(entry))]
        positions = Positions([e for _, e in touched], [self.lengths[axis] for axis in front])
        unique = positions.are_unique() or self._is_same_for_all_indices()
        if self.add and not unique and self.last_of_duplicates:
            y = read(x, self.lengths, self.entries) + y
            return replace(self, value_shape=self.region, add=False)(x, y)

        rest = [axis for axis in range(ndim) if axis not in front]
        chosen = (axis if isinstance(axis, str) else front[axis] for axis in positions.layout)
        layout = [*chosen, *rest]
        x = x.transpose(*front, *rest)
        y, y_shape = self._arrange(y, layout)
        shape = [self.region[self._layout.index(axis)] for axis in layout]
        if None not in shape and y_shape == shape:
            shape = None
        scatter = Scatter(positions, [self.lengths[a] for a in rest], self.add)
        return reorder(scatter(x, y, shape, unique), [*front, *rest], range(ndim))

    @property
    def _layout(self):
        return layout_of(self.entries, len(self.lengths))

    def _is_same_for_all_indices(self):
        """Return whether equal indices are set to the same value: then their order is no matter."""
        missing = len(self.region) - len(self.value_shape)
        sizes = (*(1,) * missing, *self.value_shape)
        pairs = zip(self._layout, sizes, strict=True)
        return not self.add and all(size == 1 for axis, size in pairs if isinstance(axis, str))

    def _arrange(self, y, layout):
        """Bring the axes of `y` into another order; returns the static shape too."""
        missing, shape = len(self.region) - len(self.value_shape), list(self.value_shape)
        if layout == self._layout or not shape:
            return y, shape
        if missing:
            y = y.unsqueeze(*range(missing))
        shape = [1] * missing + shape
        y = reorder(y, self._layout, layout)
        return y, [shape[self._layout.index(axis)] for axis in layout]
