"""The maximum, the sum and the average of windows as Ops, with their derivatives."""

import numpy as np

from pytensor import config
from pytensor.gradient import DisconnectedType, disconnected_grad, disconnected_type
from pytensor.graph.facts import Layout, layout, precision
from pytensor.scalar import discrete_dtypes
from pytensor.tensor.basic import arange, cast, constant, switch, zeros_like
from pytensor.tensor.batching import batch_rule, leading_batch, own_batch_axes, shifted
from pytensor.tensor.math import isnan, minimum, or_, prod
from pytensor.tensor.pool.windows import WindowOp, counts
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.symbolic import TensorSymbolicOp
from pytensor.tensor.vjp import SymbolicPullback

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


def accumulation_dtype(dtype):
    """Return a dtype in which half precision's sums are rounded once, and don't overflow."""
    return "float32" if dtype == "float16" else dtype


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

    def build_inner_graph(self, x):
        if self.mode == "max":
            return [self._fold_maxima(x, None, None)[0]]
        n = len(self.ws)
        out = cast(x, accumulation_dtype(x.type.dtype))
        divisor = None
        for i in reversed(range(n)):
            length, windows, _ = self.lengths(out, i)
            first, *others = self.taps(self.pad_axis(out, i, 0), i, windows)
            out = sum(others, start=first)
            out = self.with_length(out, i, windows)
            if self.mode != "sum":
                number = self._counts(length, windows, i)
                shape = [-1 if axis == i else 1 for axis in range(n)]
                number = number.reshape(shape)
                divisor = number if divisor is None else divisor * number
        if divisor is not None:
            out = out / cast(divisor, out.type.dtype)
        return [cast(out, x.type.dtype)]

    def _counts(self, length, windows, i):
        return counts(
            length,
            windows,
            self.ws[i],
            self.stride[i],
            self.pad[i],
            self.dilation[i],
            include_pad=self.mode == "average_inc_pad",
        )

    def _fold_maxima(self, x, companion, pad_companion):
        """Return maxima, and for each of them the entry of `companion` at its place."""
        fill = np.iinfo(x.type.dtype).min if x.type.dtype in discrete_dtypes else -np.inf
        # The last axis first: then a tie across rows is settled after that within each row, which
        # makes the winner the first in row-major order.
        for i in reversed(range(len(self.ws))):
            _, windows, _ = self.lengths(x, i)
            out, *others = self.taps(self.pad_axis(x, i, fill), i, windows)
            if companion is None:
                for new in others:
                    # `switch` and not `maximum`: a tie's gradient goes to one of the two
                    out = switch(keeps(out, new), out, new)
            else:
                entry, *entries = self.taps(pad_companion(companion, x, i), i, windows)
                for new, new_entry in zip(others, entries, strict=True):
                    keep = keeps(out, new)
                    out, entry = switch(keep, out, new), switch(keep, entry, new_entry)
                companion = entry
            x = self.with_length(out, i, windows)
        return x, companion

    def maxima_and_indices(self, x):
        """Return maxima, and their positions in the flattened pooled axes of `x`."""
        n = len(self.ws)
        positions = flat_positions(x, n)

        def pad_positions(positions, x, i):
            # Padding stands for the first cell of the image in the same window: where all are
            # -inf, the padding before it comes first.
            length, _, after = self.lengths(x, i)
            before = self.pad[i][0]
            cells = arange(before + length + after) - before
            cells = switch(cells < 0, cells % self.dilation[i], minimum(cells, length - 1))
            cells = minimum(cells, length - 1)
            axis = positions.type.ndim - n + i
            return positions[(slice(None),) * axis + (cells,)]

        out, positions = self._fold_maxima(x, positions, pad_positions)
        return out, specify_shape(zeros_like(out, dtype="int64") + positions, out.type.shape)

    def at_maxima(self, x, values):
        """Return the entries of `values`, shaped as `x`, where the maxima are; 0 for padding."""
        return self._fold_maxima(x, values, lambda values, x, i: self.pad_axis(values, i, 0))[1]

    def derivative(self, x, tangent):
        """Change of the output by a change of the input."""
        return GatherAtMaxima(op=self)(x, tangent) if self.mode == "max" else self(tangent)

    def pullback(self, inputs, outputs, cotangents):
        return [symbolic_pullback(self, inputs[0], cotangents[0])]


class GatherAtMaxima(TensorSymbolicOp):
    """The entries of another tensor at the places where a max pooling `op` finds its maxima.

    It is the derivative of the pooling, and the pullback of its gradient.
    """

    __props__ = ("op",)

    def build_inner_graph(self, x, values):
        return [self.op.at_maxima(x, values)]

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

    def build_inner_graph(self, x):
        return list(self.op.maxima_and_indices(x))

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
