"""Writing to positions along the leading axes of a tensor."""

from dataclasses import dataclass
from math import prod

import numpy as np

from pytensor.link.onnx.dispatch.advanced_subtensor import layout_of, read, stack_indices
from pytensor.link.onnx.dispatch.subtensor import Index, Mask
from pytensor.link.onnx.write.term import Term, concat

# More positions than these are computed at run time, so that the file stays small.
LARGE = 4096
# Among how many elements positions are looked up when the graph is exported.
SEARCHED = 2**20


class Positions:
    """What some entries choose of the axes that they stand for, whose static sizes are given."""

    def __init__(self, entries, lengths):
        self.entries = entries
        self.lengths = lengths
        self.layout = layout_of(entries, len(lengths))
        self.value = self._value()

    @property
    def ndim(self):
        return len(self.layout)

    def _value(self):
        """Return positions in the flattened axes where they are known and few."""
        if None in self.lengths or prod(self.lengths) > SEARCHED:
            return None
        key = []
        for entry, length in zip(self.entries, self.lengths, strict=False):
            if isinstance(entry, slice):
                parts = (entry.start, entry.stop, entry.step)
                if any(isinstance(part, Term) for part in parts):
                    return None
                key.append(entry)
                continue
            value = getattr(entry, "value", None)
            if value is None or not np.all((value >= -length) & (value < length)):
                return None
            key.append(value)
        value = np.arange(prod(self.lengths)).reshape(self.lengths)[tuple(key)]
        return value if value.size <= LARGE else None

    def are_unique(self):
        """Return whether no position can be chosen twice."""
        if self.value is not None:
            return np.unique(self.value).size == self.value.size
        # Each array tells where along its axes an element of the broadcast ones lies.
        return all(isinstance(e, slice | Mask) or self._is_injective(e) for e in self.entries)

    def _is_injective(self, entry):
        if all(size == 1 for size in entry.shape):
            return True
        if entry.source is not None:
            name, _, number = entry.source
            rows = {e.source for e in self.entries if isinstance(e, Index) and e.source}
            return rows >= {(name, row, number) for row in range(number)}
        value = entry.value
        if value is None or np.unique(value).size < value.size:
            return False
        return bool((value >= 0).all() or (value < 0).all())

    def stacked(self, builder):
        """Return positions along each axis, as ScatterND takes them, or None."""
        if self.value is not None:
            axes = np.unravel_index(self.value, self.lengths)
            return builder.constant(np.stack(axes, axis=-1), "int64")
        if len(self.entries) == 1 and isinstance(self.entries[0], Mask):
            return stack_indices(self.entries)
        if all(isinstance(entry, Index) for entry in self.entries):
            return stack_indices(self.entries)
        return None

    def flat(self, x):
        """Return positions in the flattened leading axes of `x`."""
        if self.value is not None:
            return x.builder.constant(self.value, "int64")
        if len(self.lengths) == 1 and isinstance(self.entries[0], Index):
            return self.entries[0].term
        if None not in self.lengths:
            count, shape = x.builder.constant(prod(self.lengths)), x.builder.vector(self.lengths)
        else:
            shape = x.sizes(0, len(self.lengths))
            count = shape.squeeze(0) if len(self.lengths) == 1 else shape.reduce_prod()
        grid = x.builder.arange(count)
        if len(self.lengths) > 1:
            grid = grid.reshape(shape)
        return read(grid, self.lengths, self.entries)


@dataclass
class Scatter:
    """Writes to `positions` along the first axes; `rest` are the static sizes of the others."""

    positions: Positions
    rest: list
    add: bool

    def __call__(self, x, y, shape, unique):
        """Write `y`, expanded to `shape` unless that is None, to `x`.

        Where positions may be equal ScatterElements is used: onnxruntime goes through its updates
        in order, but shares ScatterND's updates among threads, which even loses summands.
        See ``thoughts/upstream/onnxruntime-scatternd-loses-summands.md``.
        """
        stacked = self.positions.stacked(x.builder) if unique else None
        if stacked is not None:
            y = self._expand(y, shape, x, stacked, end=-1)
            return x.node("ScatterND", stacked, y, reduction=self._reduction)
        flat = self.positions.flat(x)
        y = self._expand(y, shape, x, flat)
        n_axes = len(self.positions.lengths)
        joined = self._join(x, x) if n_axes > 1 else x
        if unique:
            result = joined.node("ScatterND", flat.column(), y, reduction=self._reduction)
        else:
            result = self._scatter_in_order(joined, flat, y, x)
        return result if n_axes == 1 else result.reshape(x.sizes())

    @property
    def _reduction(self):
        return "add" if self.add else None

    def _scatter_in_order(self, joined, flat, y, x):
        if 0 in self.rest:
            return joined
        if self.positions.ndim != 1:
            y = self._join(y, x)
        if self.positions.ndim != 1 or self.rest:
            flat = flat.reshape([-1, *[1] * len(self.rest)])
        if self.rest:
            flat = flat.expand_as(y)
        return joined.scatter_elements(flat, y, axis=0, reduction=self._reduction)

    def _expand(self, y, shape, x, indices, end=None):
        """Expand `y` to the shape of `indices` and the rest of the shape of `x`."""
        if shape is None:
            return y
        if None not in shape:
            return y.expand(shape)
        target = indices.sizes(end=end)
        return y.expand(concat([target, self._rest_of(x)]) if self.rest else target)

    def _rest_of(self, x):
        if None not in self.rest:
            return x.builder.vector(self.rest)
        return x.sizes(len(self.positions.lengths))

    def _join(self, value, x):
        """Flatten all axes except `rest`'s, which `x` has too, to one."""
        if not any(size in (None, 0) for size in self.rest):
            return value.reshape([-1, *self.rest])
        # Nothing can be left over for -1 where there is no element.
        count = value.sizes(end=-len(self.rest)).reduce_prod(keepdims=True)
        return value.reshape(concat([count, self._rest_of(x)]))
