"""The maximum, the sum and the average of windows as Ops, with their derivatives."""

import numpy as np

from pytensor import config
from pytensor.gradient import DisconnectedType, disconnected_grad, disconnected_type
from pytensor.graph.facts import Layout, layout, precision
from pytensor.scalar import discrete_dtypes
from pytensor.tensor.basic import alloc, arange, cast, constant, switch
from pytensor.tensor.batching import (
    batch_rule,
    leading_batch,
    lengths_of,
    own_batch_axes,
    shifted,
)
from pytensor.tensor.conv.lengths import averaged_cells
from pytensor.tensor.math import eq, isnan, maximum, minimum, or_, prod
from pytensor.tensor.moments import accumulation_dtype
from pytensor.tensor.pool.windows import STEPS, WindowOp
from pytensor.tensor.pullback import SymbolicPullback
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.symbolic import TensorSymbolicOp

POOL_MODES = ("max", "sum", "average_inc_pad", "average_exc_pad")


def symbolic_pullback(op, x, cotangent):
    """Return the gradient for `x` of an Op of one input, given that of its output."""
    if isinstance(cotangent.type, DisconnectedType):
        return disconnected_type()
    if x.type.dtype in discrete_dtypes:
        return x.zeros_like(dtype=config.floatX)
    return SymbolicPullback(op=op)(x, cast(cotangent, x.type.dtype))


def keeps(out, new):
    """Return whether `out` stays the maximum when `new` comes: the first of equals, or NaN."""
    return disconnected_grad(or_(out >= new, isnan(out)))


def largest(taps, entries=None):
    """Return the largest of some variables, and which of `entries` stands in its place."""
    out, *others = taps
    entry, *other_entries = taps if entries is None else entries
    for new, new_entry in zip(others, other_entries, strict=True):
        # `switch` and not `maximum`: a tie's gradient goes to one of the two
        keep = keeps(out, new)
        out = switch(keep, out, new)
        entry = out if entries is None else switch(keep, entry, new_entry)
    return out, entry


def _apart(values, ndim):
    """Return constants of `ndim` axes: some backends lose the dtype of one without axes."""
    return [constant(value.reshape([1] * ndim)) for value in values]


def lowest(dtype):
    """Return what padding counts as for a maximum."""
    return np.iinfo(dtype).min if dtype in discrete_dtypes else -np.inf


def flat_positions(x, n):
    """Return the cells' positions in the flattened last `n` axes of `x`, in their shape."""
    lengths = x.type.shape[-n:]
    if None in lengths:
        lengths = x.shape[-n:]
        return arange(prod(lengths), dtype="int64").reshape(lengths, ndim=n)
    return constant(np.arange(np.prod(lengths)).reshape(lengths), dtype="int64")


class Pool(WindowOp):
    """Reduce windows over the last ``len(ws)`` axes; see `WindowOp`.

    All four modes are separable: the inner graph reduces one axis after the other, each as a
    handful of strided slices.  Among equal maxima the first in row-major order wins, and takes the
    whole gradient.  Padding counts as -inf for ``"max"``, as 0 otherwise.
    """

    __props__ = ("ws", "stride", "pad", "dilation", "ignore_border", "mode")

    def build_inner_graph(self, x, steps=STEPS):
        if self.mode == "max":
            return [self._fold_maxima(x, None, None, steps)[0]]
        out, divisor = cast(x, accumulation_dtype(x.type.dtype)), self._divisor(x)
        for i in reversed(range(len(self.ws))):
            _, windows, _ = self.lengths(out, i)
            first, *others = self.taps(self.pad_axis(out, i, 0, steps), i, windows)
            out = self.with_length(steps.after_axis(sum(others, start=first)), i, windows)
        if divisor is not None:
            out = out / cast(divisor, out.type.dtype)
        return [cast(out, x.type.dtype)]

    def _divisor(self, x):
        """Return the numbers of cells that averages are over, None for sums."""
        if self.mode == "sum":
            return None
        n, divisor = len(self.ws), 1
        for i in reversed(range(n)):
            length, windows, _ = self.lengths(x, i)
            known = isinstance(length, int)
            number = averaged_cells(
                (np.arange if known else arange)(windows) * self.stride[i],
                length,
                self.ws[i],
                self.pad[i],
                self.dilation[i],
                include_pad=self.mode == "average_inc_pad",
                smaller=np.minimum if known else minimum,
                larger=np.maximum if known else maximum,
            )
            divisor = number.reshape([-1 if axis == i else 1 for axis in range(n)]) * divisor
        return divisor

    def _fold_maxima(self, x, companion, pad_companion, steps=STEPS):
        """Return maxima, and for each of them the entry of `companion` at its place."""
        # The last axis first: then a tie across rows is settled after that within each row, which
        # makes the winner the first in row-major order.
        for i in reversed(range(len(self.ws))):
            _, windows, _ = self.lengths(x, i)
            padded = self.pad_axis(x, i, lowest(x.type.dtype), steps)
            taps = self.taps(padded, i, windows)
            if companion is None:
                out = steps.after_axis(largest(taps)[0])
            else:
                entries = self.taps(pad_companion(companion, x, i), i, windows)
                out, companion = steps.after_axis(*largest(taps, entries))
            x = self.with_length(out, i, windows)
        return x, companion

    def gradient(self, x, cotangent, steps=STEPS):
        """Return the graph of the gradient for `x`."""
        if self.mode == "max":
            return self._share_of_maxima(x, cotangent, steps)
        share, divisor = cast(cotangent, accumulation_dtype(x.type.dtype)), self._divisor(x)
        if divisor is not None:
            share = share / cast(divisor, share.type.dtype)
        for i in range(len(self.ws)):
            share = steps.after_axis(self.add_taps([share] * self.ws[i], x, i, steps))
        return cast(share, x.type.dtype)

    def _tap_dtype(self, i):
        return "int8" if self.ws[i] < 128 else "int32"

    def _share_of_maxima(self, image, cotangent, steps):
        x, found = image, []
        for i in reversed(range(len(self.ws))):
            _, windows, _ = self.lengths(x, i)
            numbers = _apart(np.arange(self.ws[i], dtype=self._tap_dtype(i)), x.type.ndim)
            padded = self.pad_axis(x, i, lowest(x.type.dtype), steps)
            taps = self.taps(padded, i, windows)
            out, winner = steps.after_axis(*largest(taps, numbers))
            found.append((i, numbers, winner))
            x = self.with_length(out, i, windows)
        (zero,) = _apart(np.zeros(1, cotangent.type.dtype), cotangent.type.ndim)
        for i, numbers, winner in reversed(found):
            parts = [switch(eq(winner, number), cotangent, zero) for number in numbers]
            cotangent = steps.after_axis(self.add_taps(parts, image, i, steps))
        return cotangent

    def maxima_and_indices(self, x, steps=STEPS):
        """Return maxima, and their positions in the flattened pooled axes of `x`."""
        n = len(self.ws)
        positions = flat_positions(x, n)

        def pad_positions(positions, x, i):
            # Padding stands for the first cell of the image in the same window: where all are
            # -inf, the padding before it comes first.
            length, _, after = self.lengths(x, i)
            before = self.pad[i][0]
            if isinstance(length, int):
                cells = np.arange(-before, length + after)
                cells = np.where(cells < 0, cells % self.dilation[i], cells)
                cells = constant(np.minimum(cells, length - 1))
            else:
                cells = arange(before + length + after) - before
                cells = switch(cells < 0, cells % self.dilation[i], cells)
                cells = minimum(cells, length - 1)
            axis = positions.type.ndim - n + i
            return positions[(slice(None),) * axis + (cells,)]

        out, positions = self._fold_maxima(x, positions, pad_positions, steps)
        return out, specify_shape(alloc(positions, *lengths_of(out)), out.type.shape)

    def at_maxima(self, x, values, steps=STEPS):
        """Return the entries of `values`, shaped as `x`, where the maxima are; 0 for padding."""

        def pad_values(values, x, i):
            return self.pad_axis(values, i, 0, steps)

        return self._fold_maxima(x, values, pad_values, steps)[1]

    def derivative(self, x, tangent):
        """Return the change of the output by a change of the input."""
        return GatherAtMaxima(op=self)(x, tangent) if self.mode == "max" else self(tangent)

    def pullback(self, inputs, outputs, cotangents):
        return [symbolic_pullback(self, inputs[0], cotangents[0])]


class GatherAtMaxima(TensorSymbolicOp):
    """The entries of another tensor at the places where a max pooling `op` finds its maxima.

    It is the derivative of the pooling, and the pullback of its gradient.
    """

    __props__ = ("op",)

    def build_inner_graph(self, x, values, **of_backend):
        return [self.op.at_maxima(x, values, **of_backend)]

    def infer_shape(self, node, shapes):
        return self.op.infer_shape(node, shapes[:1])

    def connection_pattern(self, node):
        return [[True], [True]]

    def pullback(self, inputs, outputs, cotangents):
        x, _ = inputs
        return [x.zeros_like(), symbolic_pullback(self.op, x, cotangents[0])]


class PoolWithIndices(TensorSymbolicOp):
    """A max pooling `op` that tells where the maxima are, too.

    Indices are int64 positions in the flattened pooled axes of the image without its padding.
    """

    __props__ = ("op",)

    def build_inner_graph(self, x, **of_backend):
        return list(self.op.maxima_and_indices(x, **of_backend))

    def infer_shape(self, node, shapes):
        return self.op.infer_shape(node, shapes)

    def connection_pattern(self, node):
        return [[True, False]]

    def pullback(self, inputs, outputs, cotangents):
        return [symbolic_pullback(self.op, inputs[0], cotangents[0])]


@own_batch_axes.register(GatherAtMaxima)
@own_batch_axes.register(PoolWithIndices)
def _(op, ndim):
    return own_batch_axes(op.op, ndim)


for _op_class in (GatherAtMaxima, PoolWithIndices):
    shifted.register(_op_class, lambda op, n: op)
    batch_rule(_op_class)(leading_batch)

layout.register(Pool, lambda op: Layout())
precision.register(Pool, lambda op: "view" if op.mode == "max" else "cheap")
precision.register(GatherAtMaxima, lambda op: "cheap")
