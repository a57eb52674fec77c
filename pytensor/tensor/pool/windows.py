"""What all pooling of windows shares: where the windows lie."""

import numpy as np

from pytensor.raise_op import Assert
from pytensor.tensor.basic import alloc, arange, constant
from pytensor.tensor.batching import batch_rule, leading_batch, own_batch_axes, shifted
from pytensor.tensor.conv.lengths import pool_output_length, started_window_count, window_count
from pytensor.tensor.math import maximum, minimum
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.subtensor import set_subtensor
from pytensor.tensor.symbolic import TensorSymbolicOp


def _fits(extent, pad):
    return Assert(
        f"pooling: the window (size {extent}) is larger than the padded image (padding {pad}); "
        f"use a smaller window, more padding or ignore_border=False"
    )


def counts(length, windows, window, stride, pad, dilation, *, include_pad):
    """Return how many cells each window's average is over, along one axis.

    `length` and `windows` are integers, or variables.  Cells past the padded end never count.
    """
    known = isinstance(length, int)
    start = (np.arange if known else arange)(windows) * stride
    low, high = (np.minimum, np.maximum) if known else (minimum, maximum)

    def taps_before(end):
        return high(low((end - start + (dilation - 1)) // dilation, window), 0)

    if include_pad:
        return taps_before(length + (pad[0] + pad[1]))
    return taps_before(length + pad[0]) - taps_before(pad[0])


class WindowOp(TensorSymbolicOp):
    """Base of Ops that reduce windows over the last ``len(ws)`` axes, one axis after the other.

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
        return tuple((w - 1) * d + 1 for w, d in zip(self.ws, self.dilation, strict=True))

    def output_spatial_shape(self, spatial_shape):
        """Return output lengths for integer input lengths; an error where no window fits."""
        lengths = []
        for axis, (length, w, s, p) in enumerate(
            zip(spatial_shape, self.extents, self.stride, self.pad, strict=True)
        ):
            windows = pool_output_length(length, w, s, p, self.ignore_border)
            if windows < 1:
                raise ValueError(
                    f"pooling: the window (size {w}) is larger than the padded image (size "
                    f"{length}, padding {p}) along pooled axis {axis}; use a smaller window, "
                    f"more padding or ignore_border=False"
                )
            lengths.append(windows)
        return tuple(lengths)

    def output_length(self, length, i):
        """Return the number of windows along pooled axis `i`, for a variable `length`."""
        count = window_count if self.ignore_border else started_window_count
        return count(length, self.extents[i], self.stride[i], self.pad[i])

    def infer_shape(self, node, shapes):
        # The inner graph's own shapes carry checks, which JAX can't evaluate
        shape, n = shapes[0], len(self.ws)
        spatial = [self.output_length(length, i) for i, length in enumerate(shape[-n:])]
        return [(*shape[:-n], *spatial)] * len(node.outputs)

    def lengths(self, x, i):
        """Return pooled axis `i`'s length, windows, and cells that these reach past its end.

        Integers where the type of `x` knows the length, else variables.
        """
        axis = x.type.ndim - len(self.ws) + i
        length, extent = x.type.shape[axis], self.extents[i]
        if length is None:
            length = x.shape[axis]
            windows = self.output_length(length, i)
            windows = _fits(extent, self.pad[i])(windows, windows >= 1)
            after = maximum((windows - 1) * self.stride[i] + extent - length - self.pad[i][0], 0)
        else:
            windows = pool_output_length(
                length, extent, self.stride[i], self.pad[i], self.ignore_border
            )
            after = max((windows - 1) * self.stride[i] + extent - length - self.pad[i][0], 0)
        return length, windows, after

    def pad_axis(self, x, i, fill):
        """Add cells along pooled axis `i`, so that every window lies inside."""
        axis = x.type.ndim - len(self.ws) + i
        length, _, after = self.lengths(x, i)
        before = self.pad[i][0]
        if before == 0 and isinstance(after, int) and after == 0:
            return x
        shape = list(x.shape)
        shape[axis] = length + before + after
        buffer = alloc(constant(np.asarray(fill, dtype=x.type.dtype)), *shape)
        inside = (slice(None),) * axis + (slice(before, before + length),)
        return set_subtensor(buffer[inside], x)

    def taps(self, padded, i, windows):
        """Return what the first, the second, ... cell of each window along an axis is."""
        axis = padded.type.ndim - len(self.ws) + i
        reach = self.stride[i] * (windows - 1) + 1
        starts = range(0, self.extents[i], self.dilation[i])
        return [
            padded[(slice(None),) * axis + (slice(start, start + reach, self.stride[i]),)]
            for start in starts
        ]

    def with_length(self, out, i, windows):
        """Return `out` with the static length of pooled axis `i`, where that is known."""
        shape = list(out.type.shape)
        shape[out.type.ndim - len(self.ws) + i] = windows if isinstance(windows, int) else None
        return specify_shape(out, shape)


batch_rule(WindowOp)(leading_batch)
own_batch_axes.register(WindowOp, lambda op, ndim: range(ndim - len(op.ws)))
shifted.register(WindowOp, lambda op, n: op)
