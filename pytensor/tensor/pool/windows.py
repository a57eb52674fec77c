"""What all pooling of windows shares: where the windows lie."""

import numpy as np

from pytensor.raise_op import Assert
from pytensor.tensor.basic import alloc, arange, constant
from pytensor.tensor.math import maximum, minimum
from pytensor.tensor.shape import Shape_i, specify_shape
from pytensor.tensor.subtensor import set_subtensor
from pytensor.tensor.symbolic import TensorSymbolicOp


def pool_output_length(
    length: int, extent: int, stride: int, pad: tuple[int, int], ignore_border: bool
) -> int:
    """Number of windows along one axis of `length` (an integer) with padding `pad`.

    `extent` is from a window's first to its last cell: ``(window - 1) * dilation + 1``.  Without
    `ignore_border` a last window may reach past the padded end, but each window starts on the image
    or on the padding before it.
    """
    padded = length + pad[0] + pad[1]
    if ignore_border:
        return max((padded - extent) // stride + 1, 0)
    windows = max(-((extent - padded) // stride), 0) + 1
    return min(windows, (length + pad[0] - 1) // stride + 1)


def _symbolic_output_length(length, extent, stride, pad, ignore_border):
    """`pool_output_length` for a symbolic `length`."""
    padded = length + (pad[0] + pad[1])
    if ignore_border:
        windows = (padded - extent) // stride + 1
    else:
        windows = maximum(-((extent - padded) // stride), 0) + 1
        windows = minimum(windows, (length + (pad[0] - 1)) // stride + 1)
    fits = Assert(
        f"pooling: the window (size {extent}) is larger than the padded image (padding {pad}); "
        f"use a smaller window, more padding or ignore_border=False"
    )
    return fits(windows, windows >= 1)


def counts(length, windows, window, stride, pad, dilation, *, include_pad):
    """How many cells each window's average is over, along one axis.

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
        """Output lengths for integer input lengths; an error where no window fits."""
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

    def infer_shape(self, node, shapes):
        # JAX knows lengths while it traces as long as they are made by plain arithmetic: no
        # broadcasting checks as the inner graph's shapes have, no minimum as ceil mode needs.
        shape, (out, *_) = shapes[0], node.outputs
        n = len(self.ws)
        if self.ignore_border:
            spatial = [
                (length + lo + hi - w) // s + 1
                for length, w, s, (lo, hi) in zip(
                    shape[-n:], self.extents, self.stride, self.pad, strict=True
                )
            ]
        else:
            spatial = [Shape_i(axis)(out) for axis in range(out.type.ndim - n, out.type.ndim)]
        return [(*shape[:-n], *spatial)] * len(node.outputs)

    def lengths(self, x, i):
        """Of pooled axis `i` of `x`: length, windows, and cells that these reach past its end.

        Integers where the type of `x` knows the length, else variables.
        """
        axis = x.type.ndim - len(self.ws) + i
        length, extent = x.type.shape[axis], self.extents[i]
        geometry = (extent, self.stride[i], self.pad[i], self.ignore_border)
        if length is None:
            length = x.shape[axis]
            windows = _symbolic_output_length(length, *geometry)
            after = maximum((windows - 1) * self.stride[i] + extent - length - self.pad[i][0], 0)
        else:
            windows = pool_output_length(length, *geometry)
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
        """What the first, the second, ... cell of each window along an axis is."""
        axis = padded.type.ndim - len(self.ws) + i
        reach = self.stride[i] * (windows - 1) + 1
        starts = range(0, self.extents[i], self.dilation[i])
        return [
            padded[(slice(None),) * axis + (slice(start, start + reach, self.stride[i]),)]
            for start in starts
        ]

    def with_length(self, out, i, windows):
        """`out` with the static length of pooled axis `i`, where that is known."""
        shape = list(out.type.shape)
        shape[out.type.ndim - len(self.ws) + i] = windows if isinstance(windows, int) else None
        return specify_shape(out, shape)
