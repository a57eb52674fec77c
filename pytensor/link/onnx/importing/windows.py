"""Sliding windows: their attributes, and what is made of an image by them."""

from collections.abc import Sequence
from functools import reduce
from itertools import product
from operator import mul
from typing import Literal, NamedTuple

import numpy as np

import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.link.onnx.importing.registry import Refused
from pytensor.link.onnx.importing.sizes import filled, like
from pytensor.tensor.batching import lengths_of
from pytensor.tensor.conv.lengths import (
    cells_past_end,
    tap_slices,
    window_count,
    window_extent,
)


class Windows(NamedTuple):
    """Where windows lie: an entry for each spatial axis; `pads` are pairs (before, after)."""

    kernel: tuple
    strides: tuple
    dilations: tuple
    pads: tuple

    @property
    def extents(self):
        """From the first to the last cell of a window."""
        return tuple(map(window_extent, self.kernel, self.dilations))

    def counts(self, spatial) -> list:
        """Return how many windows fit on axes of these lengths."""
        return [
            window_count(*axis)
            for axis in zip(spatial, self.extents, self.strides, self.pads, strict=True)
        ]

    def taps(self, counts):
        """Yield for each cell of a window, in row-major order, where all windows have it."""
        # The bounds of a slice are made once, for many cells have it along an axis.
        of_axes = [
            [tap_slices((k,), (dilation,), (stride,), (count,))[0] for k in range(cells)]
            for cells, dilation, stride, count in zip(
                self.kernel, self.dilations, self.strides, counts, strict=True
            )
        ]
        yield from product(*of_axes)


def spatial_axes(x) -> int:
    """Return the number of spatial axes, of which our operators have up to three."""
    n = x.type.ndim - 2
    if not 1 <= n <= 3:
        raise Refused(f"its input has {n} spatial axes; PyTensor's operator takes 1 to 3")
    return n


AutoPad = Literal["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"]


class Sliding(NamedTuple):
    """The attributes of sliding windows, as the standard's operators have them."""

    kernel: Sequence
    auto_pad: str = "NOTSET"
    dilations: Sequence[int] | None = None
    pads: Sequence[int] | None = None
    strides: Sequence[int] | None = None

    def unpadded(self) -> Windows:
        """Return the windows without any padding."""
        ones = (1,) * len(self.kernel)
        strides, dilations = tuple(self.strides or ones), tuple(self.dilations or ones)
        return Windows(tuple(self.kernel), strides, dilations, ((0, 0),) * len(self.kernel))

    def windows(self, spatial=None) -> Windows:
        """Return the windows with their padding.

        `spatial` are the lengths of the input, which `auto_pad` needs; pads are scalar variables
        where they depend on open ones.
        """
        found, mode, n = self.unpadded(), self.auto_pad, len(self.kernel)
        if mode == "NOTSET":
            pads = self.pads or [0] * (2 * n)
            return found._replace(pads=tuple(zip(pads[:n], pads[n:], strict=True)))
        if mode == "VALID":
            return found
        if spatial is None or None in self.kernel:
            raise Refused(f"auto_pad={mode!r} needs the size of the kernel: give it kernel_shape")
        axes = zip(spatial, found.extents, found.strides, strict=True)
        return found._replace(pads=tuple(split(same_padding(*axis), mode) for axis in axes))


def same_padding(length, extent, stride):
    """Return how many cells `auto_pad` adds to an axis."""
    if stride == 1:
        return extent - 1
    larger = max if isinstance(length, int) else pt.maximum
    return cells_past_end(length, -(-length // stride), extent, stride, (0, 0), larger)


def split(padding, mode: str) -> tuple:
    """Split cells before and after an axis; SAME_UPPER adds an odd one at the end."""
    less = padding // 2
    more = padding - less
    return (more, less) if mode == "SAME_LOWER" else (less, more)


def known_pads(x, found: Windows, value=0):
    """Return the input and windows whose pads are numbers.

    Where `auto_pad` depends on lengths that only run time knows, the input gets its pads, cells of
    `value`, and the windows have none.
    """
    if all(isinstance(n, int) for pair in found.pads for n in pair):
        return x, found
    return padded(x, found.pads, value), found._replace(pads=((0, 0),) * len(found.pads))


def with_kernel(w, kernel_shape):
    """Return filters, and their size, given or not; None where only run time knows it."""
    kernel = tuple(w.type.shape[2:] if kernel_shape is None else kernel_shape)
    return pt.specify_shape(w, (*w.type.shape[:2], *kernel)), kernel


def must_have_size(kernel):
    """Refuse a kernel whose size isn't known."""
    if None in kernel:
        raise Refused("it doesn't say how large its kernel is: give it the attribute kernel_shape")


def with_bias(out, bias):
    """Add a bias with an entry per channel."""
    if bias is None:
        return out
    return out + bias.dimshuffle("x", 0, *["x"] * (out.type.ndim - 2))


def padded(x, pads, value=0):
    """Put cells of a value around the spatial axes."""
    if not any(isinstance(n, Variable) or n for pair in pads for n in pair):
        return x
    spatial = lengths_of(x)[2:]
    wider = [n + lo + hi for n, (lo, hi) in zip(spatial, pads, strict=True)]
    inside = tuple(slice(lo, lo + n) for n, (lo, _) in zip(spatial, pads, strict=True))
    around = filled(like(x, value), (*lengths_of(x)[:2], *wider))
    return pt.set_subtensor(around[(..., *inside)], x)


def patches(x, found: Windows):
    """Return what windows see of images: shape (batch, channels, cells of a window, *windows)."""
    counts = found.counts(lengths_of(x)[2:])
    image = padded(x, found.pads)
    return pt.stack([image[(..., *tap)] for tap in found.taps(counts)], axis=2)


def filtered(columns, w, groups: int):
    """Multiply patches, as `patches` has them, by filters: (batch, filters, *windows)."""
    batch, _, _, *counts = lengths_of(columns)
    filters, per_group = lengths_of(w)[:2]
    taps = int(np.prod(w.type.shape[2:]))
    columns = columns.reshape((batch, groups, per_group * taps, reduce(mul, counts)))
    matrix = w.reshape((groups, filters // groups, per_group * taps))
    return pt.matmul(matrix[None], columns).reshape((batch, filters, *counts))
