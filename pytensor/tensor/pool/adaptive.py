"""Pooling to a given number of windows per axis."""

import numpy as np

from pytensor.graph.basic import Variable
from pytensor.graph.facts import precision
from pytensor.tensor.basic import (
    cast,
    constant,
    expand_dims,
    switch,
    take_along_axis,
    zeros_like,
)
from pytensor.tensor.batching import (
    batch_rule,
    leading_batch,
    lengths_of,
    own_batch_axes,
    shifted,
)
from pytensor.tensor.conv.lengths import adaptive_bins
from pytensor.tensor.known_lengths import numbers_below
from pytensor.tensor.math import argmax, minimum
from pytensor.tensor.moments import accumulation_dtype
from pytensor.tensor.pool.ops import GatherAtMaxima, flat_positions, symbolic_pullback
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.symbolic import TensorSymbolicOp


def _at(winner, cells, axis):
    """Return the cell of each window that has won; lengths of 1 stay known."""
    chosen = take_along_axis(cells, winner, axis=axis)
    return specify_shape(chosen, winner.type.shape).squeeze(axis)


class AdaptivePool(TensorSymbolicOp):
    """Maximum or average of windows that share out the last ``len(output_size)`` axes.

    `output_size` has the number of windows per axis, or None to keep it; `mode` is "max" or
    "average".  A number may be a variable, if only the inner graph is used.
    """

    __props__ = ("output_size", "mode")

    def build_inner_graph(self, x):
        if self.mode == "max":
            return [self._fold_maxima(x, None)[0]]
        out = cast(x, accumulation_dtype(x.type.dtype))
        for i in self._pooled_axes():
            axis = x.type.ndim - len(self.output_size) + i
            cells, inside, number = self._windows(out, axis, self.output_size[i])
            if inside is not None:
                shape = [*lengths_of(inside), *[1] * (x.type.ndim - 1 - axis)]
                cells = switch(inside.reshape(shape, ndim=len(shape)), cells, 0)
                number = number.reshape([-1, *[1] * (x.type.ndim - 1 - axis)])
            total = cells.sum(axis=axis + 1, dtype=out.type.dtype, acc_dtype=out.type.dtype)
            out = total / cast(number, out.type.dtype)
        return [self._with_lengths(cast(out, x.type.dtype), x)]

    def _pooled_axes(self):
        return [i for i, m in reversed(list(enumerate(self.output_size))) if m is not None]

    def output_lengths(self, lengths):
        """Return the lengths of the pooled axes afterwards, given those before."""
        return [n if m is None else m for m, n in zip(self.output_size, lengths, strict=True)]

    def _with_lengths(self, out, x):
        """Return `out` with the static lengths that follow from the lengths of the input `x`."""
        n, shape = len(self.output_size), x.type.shape
        lengths = [None if isinstance(m, Variable) else m for m in self.output_lengths(shape[-n:])]
        return specify_shape(out, [*shape[:-n], *lengths])

    def _windows(self, x, axis, windows):
        """Split an axis into one of `windows` and one of the cells of each.

        Also returns which of the cells are inside (None for all), and their number.
        """
        length = lengths_of(x)[axis]
        is_open = isinstance(length, Variable) or isinstance(windows, Variable)
        if windows == 1:
            return expand_dims(x, axis), None, length
        if not is_open and length % windows == 0:
            shape = lengths_of(x)
            shape[axis : axis + 1] = [windows, length // windows]
            return x.reshape(shape), None, length // windows
        if is_open:
            first, end = adaptive_bins(numbers_below(windows), length, windows)
            most = (length + (windows - 1)) // windows + 1
            cells = first[:, None] + numbers_below(most)
            positions = minimum(cells, end[:, None] - 1)
        else:
            first, end = adaptive_bins(np.arange(windows), length, windows)
            cells = first[:, None] + np.arange((end - first).max())
            positions = constant(np.minimum(cells, end[:, None] - 1))
            cells, first, end = constant(cells), constant(first), constant(end)
        return x[(slice(None),) * axis + (positions,)], cells < end[:, None], end - first

    def _fold_maxima(self, x, companion):
        """Return maxima, and for each of them the entry of `companion` at its place."""
        image = x
        for i in self._pooled_axes():
            axis = x.type.ndim - len(self.output_size) + i
            cells, _, _ = self._windows(x, axis, self.output_size[i])
            # of equals the first, and NaN before all numbers
            winner = argmax(cells, axis=axis + 1, keepdims=True)
            x = _at(winner, cells, axis + 1)
            if companion is not None:
                companion, _, _ = self._windows(companion, axis, self.output_size[i])
                companion = _at(winner, companion, axis + 1)
        if companion is not None:
            companion = self._with_lengths(companion, image)
        return self._with_lengths(x, image), companion

    def maxima_and_indices(self, x):
        """Return maxima, and their positions in the flattened pooled axes of `x`."""
        positions = flat_positions(x, len(self.output_size))
        return self._fold_maxima(x, zeros_like(x, dtype="int64") + positions)

    def at_maxima(self, x, values):
        """Return the entries of `values`, of the shape of `x`, where the maxima are."""
        return self._fold_maxima(x, values)[1]

    def infer_shape(self, node, shapes):
        n = len(self.output_size)
        return [(*shapes[0][:-n], *self.output_lengths(shapes[0][-n:]))] * len(node.outputs)

    def derivative(self, x, tangent):
        """Return the change of the output by a change of the input."""
        return GatherAtMaxima(op=self)(x, tangent) if self.mode == "max" else self(tangent)

    def pullback(self, inputs, outputs, cotangents):
        return [symbolic_pullback(self, inputs[0], cotangents[0])]


batch_rule(AdaptivePool)(leading_batch)
own_batch_axes.register(AdaptivePool, lambda op, ndim: range(ndim - len(op.output_size)))
shifted.register(AdaptivePool, lambda op, n: op)
precision.register(AdaptivePool, lambda op: "cheap")
