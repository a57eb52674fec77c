"""What all pooling of windows shares: where the windows lie."""

import numpy as np

from pytensor.raise_op import Assert
from pytensor.tensor.basic import alloc, constant
from pytensor.tensor.batching import (
    batch_rule,
    leading_batch,
    lengths_of,
    own_batch_axes,
    shifted,
)
from pytensor.tensor.conv.lengths import (
    cells_past_end,
    pool_output_length,
    started_window_count,
    window_count,
    window_extent,
)
from pytensor.tensor.math import maximum
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.subtensor import set_subtensor
from pytensor.tensor.symbolic import TensorSymbolicOp


def _fits(extent, pad):
    return Assert(
        f"pooling: the window (size {extent}) is larger than the padded image (padding {pad}); "
        f"use a smaller window, more padding or ignore_border=False"
    )


class Steps:
    """Parts of the graphs of `WindowOp` for which a backend may have something better."""

    def after_axis(self, *variables):
        """Return what was computed along an axis, before the next.

        By another Op a compiler can be told to go no further, which else computes the windows of
        one axis again for each window of the next.
        """
        return variables if len(variables) > 1 else variables[0]

    def spread(self, x, axis, first, stride, number, length, fill=0):
        """Write the `number` cells of an axis to every `stride`-th of `length`; others are `fill`.

        The first of them goes to position `first`.
        """
        shape = lengths_of(x)
        shape[axis] = length
        cells = slice(first, first + window_extent(number, stride), stride)
        image = alloc(constant(np.asarray(fill, dtype=x.type.dtype)), *shape)
        return set_subtensor(image[(slice(None),) * axis + (cells,)], x)


STEPS = Steps()


class WindowOp(TensorSymbolicOp):
    """Base of Ops that reduce windows over the last ``len(ws)`` axes, one axis after the other.

    A backend may give the methods that build graphs `Steps` of its own.

    Parameters
    ----------
    ws, stride, dilation : tuple of int, one per pooled axis
    pad : tuple of (int, int)
        Before and after each pooled axis.
    ignore_border : bool
        Whether to leave out windows that reach past the padded end.
    """

    @property
    def extents(self):
        """From the first to the last cell of a window, along each axis."""
        return tuple(map(window_extent, self.ws, self.dilation))

    def tap_offsets(self, i):
        """Return how far each cell of a window lies from its first, along pooled axis `i`."""
        return range(0, self.extents[i], self.dilation[i])

    def output_spatial_shape(self, spatial_shape):
        """Return output lengths for integer input lengths; an error where no window fits."""
        return tuple(self._known_output_length(n, i) for i, n in enumerate(spatial_shape))

    def _known_output_length(self, length, i):
        extent, pad = self.extents[i], self.pad[i]
        windows = pool_output_length(length, extent, self.stride[i], pad, self.ignore_border)
        if windows < 1:
            raise ValueError(
                f"pooling: the window (size {extent}) is larger than the padded image (size "
                f"{length}, padding {pad}) along pooled axis {i}; use a smaller window, more "
                f"padding or ignore_border=False"
            )
        return windows

    def output_length(self, length, i):
        """Return the number of windows along pooled axis `i`, for a variable `length`."""
        count = window_count if self.ignore_border else started_window_count
        return count(length, self.extents[i], self.stride[i], self.pad[i])

    def infer_shape(self, node, shapes):
        # The inner graph's own shapes carry checks, which a traced shape can't have
        shape, n = shapes[0], len(self.ws)
        spatial = [self.output_length(length, i) for i, length in enumerate(shape[-n:])]
        return [(*shape[:-n], *spatial)] * len(node.outputs)

    def lengths(self, x, i):
        """Return pooled axis `i`'s length, windows, and cells that these reach past its end.

        Integers where the type of `x` knows the length, else variables.
        """
        axis = x.type.ndim - len(self.ws) + i
        length, geometry = x.type.shape[axis], (self.extents[i], self.stride[i], self.pad[i])
        if length is None:
            length = x.shape[axis]
            windows = self.output_length(length, i)
            windows = _fits(self.extents[i], self.pad[i])(windows, windows >= 1)
            after = cells_past_end(length, windows, *geometry, maximum)
        else:
            windows = self._known_output_length(length, i)
            after = cells_past_end(length, windows, *geometry)
        return length, windows, after

    def pad_axis(self, x, i, fill, steps=STEPS):
        """Add cells along pooled axis `i`, so that every window lies inside."""
        axis = x.type.ndim - len(self.ws) + i
        length, _, after = self.lengths(x, i)
        before = self.pad[i][0]
        if before == 0 and isinstance(after, int) and after == 0:
            return x
        return steps.spread(x, axis, before, 1, length, length + before + after, fill)

    def taps(self, padded, i, windows):
        """Return what the first, the second, ... cell of each window along an axis is."""
        axis = padded.type.ndim - len(self.ws) + i
        reach = window_extent(windows, self.stride[i])
        return [
            padded[(slice(None),) * axis + (slice(offset, offset + reach, self.stride[i]),)]
            for offset in self.tap_offsets(i)
        ]

    def add_taps(self, parts, x, i, steps):
        """Transpose `taps` and `pad_axis`: return what each cell of `x` gets from its windows.

        `parts` are what the first, the second, ... cell of each window gets.
        """
        axis = x.type.ndim - len(self.ws) + i
        before, stride = self.pad[i][0], self.stride[i]
        length, windows, after = self.lengths(x, i)
        total = None
        for offset, part in zip(self.tap_offsets(i), parts, strict=True):
            image = steps.spread(part, axis, offset, stride, windows, length + before + after)
            total = image if total is None else total + image
        inside = (slice(None),) * axis + (slice(before, before + length),)
        return self.with_length(total[inside], i, length)

    def with_length(self, out, i, length):
        """Return `out` with the static length of pooled axis `i`, where that is known."""
        shape = list(out.type.shape)
        shape[out.type.ndim - len(self.ws) + i] = length if isinstance(length, int) else None
        return specify_shape(out, shape)


batch_rule(WindowOp)(leading_batch)
own_batch_axes.register(WindowOp, lambda op, ndim: range(ndim - len(op.ws)))
shifted.register(WindowOp, lambda op, n: op)
