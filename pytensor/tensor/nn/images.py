"""Images padded, rearranged and sampled, with the names, arguments and numbers of PyTorch."""

from collections.abc import Sequence
from functools import reduce
from itertools import product
from math import prod
from typing import Any, Literal

import numpy as np

from pytensor.tensor import TensorLike
from pytensor.tensor import math as tm
from pytensor.tensor.basic import (
    alloc,
    arange,
    as_tensor_variable,
    cast,
    constant,
    join,
    moveaxis,
    stack,
    zeros,
)
from pytensor.tensor.batching import lengths_of
from pytensor.tensor.conv.basic import Ints, flag, is_int, per_axis
from pytensor.tensor.conv.lengths import tap_slices, window_count, window_extent
from pytensor.tensor.known_lengths import length_by
from pytensor.tensor.moments import as_floating_point
from pytensor.tensor.nn.checks import (
    floats,
    has_axes,
    integer,
    like,
    number,
    of_shape,
    one_of,
    single,
    where,
)
from pytensor.tensor.nn.interpolation import Factors, Mode, interpolate
from pytensor.tensor.pad import pad as pad_as_numpy
from pytensor.tensor.variable import TensorVariable


def pad(
    x: TensorLike, pad: Sequence[int],
    mode: Literal["constant", "reflect", "replicate", "circular"] = "constant",
    value: float | None = None,
) -> TensorVariable:  # fmt: skip
    """Pad the last axes.

    Parameters
    ----------
    x : tensor_like
    pad : sequence of int
        ``(before, after)`` of the last axis, then of the one before it, and so on.  A negative
        number removes cells, with ``"constant"``.
    mode : {"constant", "reflect", "replicate", "circular"}
        What is added: `value`; the image mirrored at its first and last cells; these cells
        repeated; or the image again.  The last three are for the last one to three axes, and leave
        one or two axes before them.
    value : float, optional
        For ``"constant"``; 0 by default.

    Returns
    -------
    TensorVariable, dtype of `x`

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or an image is known to be too small:
        ``"reflect"`` takes less cells than it has, ``"circular"`` not more.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[1.0, 2.0, 3.0]])
    >>> pt.nn.pad(x, (1, 2), value=9).eval()
    array([[9., 1., 2., 3., 9., 9.]])
    >>> pt.nn.pad(x, (1, 2), "reflect").eval()
    array([[2., 1., 2., 3., 2., 1.]])
    """
    x, name = as_tensor_variable(x), "pad"
    one_of(name, "mode", mode, ("constant", "reflect", "replicate", "circular"))
    amounts = tuple(pad) if isinstance(pad, tuple | list) else (pad,)
    if not all(map(is_int, amounts)) or len(amounts) % 2 or len(amounts) > 2 * x.type.ndim:
        raise ValueError(
            f"pad: pad must be (before, after) of the last axis, then of the one before it, and so "
            f"on, for at most {x.type.ndim} axes; got {pad!r}"
        )
    pairs = [(int(a), int(b)) for a, b in zip(amounts[::2], amounts[1::2], strict=True)]
    n = len(pairs)
    first = x.type.ndim - n
    if mode == "constant":
        return _padded(x, pairs, 0 if value is None else number(name, "value", value))
    if value is not None:
        raise ValueError(f"pad: value is for mode='constant', not {mode!r}")
    if n not in (1, 2, 3) or first not in (1, 2):
        raise ValueError(
            f"pad: mode={mode!r} is for the last 1 to 3 axes, after 1 or 2 others; got x with "
            f"{x.type.ndim} axes and pad={pad!r}"
        )
    for length, pair in zip(x.type.shape[::-1], pairs, strict=False):
        limit: Any = {"reflect": (length or 0) - 1, "circular": length}.get(mode)
        if min(pair) < 0 or (None not in (limit, length) and max(pair) > limit):
            raise ValueError(f"pad: mode={mode!r} can't pad an axis of length {length} by {pair}")
    if mode == "replicate":
        for axis, pair in zip(range(x.type.ndim)[::-1], pairs, strict=False):
            x = _replicated(x, axis, *pair)
        return x
    widths = [(0, 0)] * first + pairs[::-1]
    return pad_as_numpy(x, widths, mode="wrap" if mode == "circular" else "reflect")


def _replicated(x: TensorVariable, axis: int, before: int, after: int) -> TensorVariable:
    length, places = lengths_of(x)[axis], (slice(None),) * axis
    parts = [x[(*places, slice(0, 1))]] * before + [x]
    parts += [x[(*places, slice(length - 1, length))]] * after
    return join(axis, *parts) if len(parts) > 1 else x


def _padded(x: TensorVariable, pairs: Sequence[tuple[int, int]], value: float) -> TensorVariable:
    """Add cells of a value along the last axes, the last one first, or remove cells."""
    filling = like(value, x)
    for axis, pair in zip(range(x.type.ndim)[::-1], pairs, strict=False):
        start, end = (max(-amount, 0) for amount in pair)
        if start or end:
            length = lengths_of(x)[axis]
            if x.type.shape[axis] is not None and start + end > x.type.shape[axis]:
                raise ValueError(f"pad: can't remove {start + end} cells of {length}")
            x = x[(*(slice(None),) * axis, slice(start, -end or None))]
        parts = [x]
        for place, amount in zip((0, len(parts)), pair, strict=True):
            if amount > 0:
                shape = lengths_of(x)
                shape[axis] = amount
                added: Any = alloc(filling, *shape)
                parts.insert(place * len(parts), added)
        if len(parts) > 1:
            x = join(axis, *parts)
    return x


def pixel_shuffle(x: TensorLike, upscale_factor: int) -> TensorVariable:
    """Move channels into the cells of images that are larger by a factor r.

    Parameters
    ----------
    x : tensor_like, shape (..., channels * r ** 2, height, width)
    upscale_factor : int
        r.

    Returns
    -------
    TensorVariable, shape (..., channels, height * r, width * r)

    Raises
    ------
    ValueError
        If `x` has less than three axes, or its number of channels is known not to be a multiple.

    References
    ----------
    Shi et al., "Real-time single image and video super-resolution using an efficient sub-pixel
    convolutional neural network", arXiv:1609.05158.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.pixel_shuffle(pt.arange(4).reshape((4, 1, 1)), 2).eval()
    array([[[0, 1],
            [2, 3]]])
    """
    x, r = as_tensor_variable(x), integer("pixel_shuffle", "upscale_factor", upscale_factor, 1)
    *batch, channels, height, width = _image_lengths("pixel_shuffle", x)
    if x.type.shape[-3] is not None and channels % r**2:
        raise ValueError(
            f"pixel_shuffle: x must have a multiple of {r**2} channels, got {channels}"
        )
    fewer = length_by(lambda n: n // r**2, channels)
    out = _last_axes(x.reshape((*batch, fewer, r, r, height, width)), (0, 3, 1, 4, 2))
    return out.reshape((*batch, fewer, height * r, width * r))


def pixel_unshuffle(x: TensorLike, downscale_factor: int) -> TensorVariable:
    """Move blocks of r by r cells into channels, the inverse of `pixel_shuffle`.

    Parameters
    ----------
    x : tensor_like, shape (..., channels, height * r, width * r)
    downscale_factor : int
        r.

    Returns
    -------
    TensorVariable, shape (..., channels * r ** 2, height, width)

    Raises
    ------
    ValueError
        If `x` has less than three axes, or a length is known not to be a multiple.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.pixel_unshuffle(pt.arange(4).reshape((1, 2, 2)), 2).eval().ravel()
    array([0, 1, 2, 3])
    """
    x, r = (
        as_tensor_variable(x),
        integer("pixel_unshuffle", "downscale_factor", downscale_factor, 1),
    )
    *batch, channels, height, width = _image_lengths("pixel_unshuffle", x)
    for length in x.type.shape[-2:]:
        if length is not None and length % r:
            raise ValueError(
                f"pixel_unshuffle: height and width must be multiples of {r}, got {length}"
            )
    rows, columns = (length_by(lambda n: n // r, n) for n in (height, width))
    out = x.reshape((*batch, channels, rows, r, columns, r))
    out = _last_axes(out, (0, 2, 4, 1, 3))
    return out.reshape((*batch, channels * r**2, rows, columns))


def _image_lengths(function: str, x: TensorVariable) -> list[Any]:
    if x.type.ndim < 3:
        raise ValueError(f"{function}: x must have 3 axes or more, got {x.type.ndim}")
    return lengths_of(x)


def _last_axes(x: TensorVariable, order: Sequence[int]) -> TensorVariable:
    first = x.type.ndim - len(order)
    return x.dimshuffle([*range(first), *(first + axis for axis in order)])


def local_response_norm(
    x: TensorLike, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> TensorVariable:
    """Divide by a power of the squares in neighbouring channels, ``(k + alpha * mean) ** beta``.

    Parameters
    ----------
    x : tensor_like, shape (batch, channels, ...), floating point
    size : int
        The number of channels that the mean is over; beyond the first and last one are zeros.
    alpha, beta, k : float

    Returns
    -------
    TensorVariable, shape and dtype of `x`

    Raises
    ------
    ValueError
        If `x` has less than three axes, or an argument isn't one of those above.
    TypeError
        If `x` isn't floating point.

    References
    ----------
    Krizhevsky, Sutskever and Hinton, "ImageNet classification with deep convolutional neural
    networks", NIPS 2012.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.local_response_norm(pt.ones((1, 1, 2)), 1, alpha=3.0, beta=0.5).eval()
    array([[[0.5, 0.5]]])
    """
    name = "local_response_norm"
    x = as_floating_point(name, x, 3)
    n = integer(name, "size", size, 1)
    (wide,) = single(x)
    factors = [
        like(number(name, key, v), wide) for key, v in (("alpha", alpha), ("beta", beta), ("k", k))
    ]
    channels = lengths_of(x)[1]
    around = [(0, 0)] * (x.type.ndim - 2) + [(n // 2, (n - 1) // 2)]
    squares = _padded(tm.sqr(wide), around, 0)
    neighbours: Any = sum(squares[:, i : channels + i] for i in range(n))
    mean = neighbours / like(n, wide)
    return cast(wide / (factors[2] + factors[0] * mean) ** factors[1], x.type.dtype)


def unfold(
    x: TensorLike, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1
) -> TensorVariable:
    """Collect the cells of each window of images, as columns.

    Parameters
    ----------
    x : tensor_like, shape (batch, channels, height, width) or (channels, height, width)
    kernel_size, dilation, padding, stride : int or tuple of two ints
        Of the windows, as in `conv2d`; `padding` is of zeros on both sides.

    Returns
    -------
    TensorVariable, shape (batch, channels * kernel cells, windows)
        Without the batch if `x` has none.

    Raises
    ------
    ValueError
        If `x` has another number of axes, an argument isn't one of those above, or the image is
        known to be smaller than a window.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.unfold(pt.arange(6).reshape((1, 2, 3)), 2).eval()
    array([[0, 1],
           [1, 2],
           [3, 4],
           [4, 5]])
    """
    x = as_tensor_variable(x)
    has_axes("unfold", "x", x, (4, 3))
    if x.type.ndim == 3:
        return unfold(x[None], kernel_size, dilation, padding, stride)[0]
    kernel, dilation, pads, stride = _windows("unfold", kernel_size, dilation, padding, stride)
    batch, channels, *lengths = lengths_of(x)
    counts = _window_counts("unfold", lengths, kernel, dilation, pads, stride)
    x = _padded(x, [(p, p) for p in pads[::-1]], 0)
    columns = [
        x[(slice(None), slice(None), *place)] for place in _places(kernel, dilation, stride, counts)
    ]
    out = stack(columns, axis=2)
    return out.reshape((batch, channels * prod(kernel), counts[0] * counts[1]))


def fold(
    x: TensorLike, output_size: Ints, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0,
    stride: Ints = 1,
) -> TensorVariable:  # fmt: skip
    """Add the columns of windows into images, the transpose of `unfold`.

    Parameters
    ----------
    x : tensor_like, shape (batch, channels * kernel cells, windows), or without the batch
    output_size : int or tuple of two ints
        Height and width of the images.
    kernel_size, dilation, padding, stride : int or tuple of two ints
        As in `unfold`.

    Returns
    -------
    TensorVariable, shape (batch, channels, height, width)
        Without the batch if `x` has none.

    Raises
    ------
    ValueError
        If `x` has another number of axes or a known shape that doesn't fit, or an argument isn't
        one of those above.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.fold(pt.ones((4, 2)), (2, 3), 2).eval()
    array([[[1., 2., 1.],
            [1., 2., 1.]]])
    """
    x = as_tensor_variable(x)
    has_axes("fold", "x", x, (3, 2))
    if x.type.ndim == 2:
        return fold(x[None], output_size, kernel_size, dilation, padding, stride)[0]
    size = per_axis("fold: output_size", output_size, 2)
    kernel, dilation, pads, stride = _windows("fold", kernel_size, dilation, padding, stride)
    counts = _window_counts("fold", size, kernel, dilation, pads, stride)
    batch, rows, _ = lengths_of(x)
    known = x.type.shape[1]
    if known is not None and known % prod(kernel):
        raise ValueError(f"fold: x must have a multiple of {prod(kernel)} rows, got {known}")
    x = of_shape("fold", "x", x, (None, None, prod(counts)), "a column for each window")
    columns = x.reshape((batch, rows // prod(kernel), *kernel, *counts))
    padded = [n + 2 * p for n, p in zip(size, pads, strict=True)]
    out = zeros((batch, rows // prod(kernel), *padded), dtype=x.type.dtype)
    cells = product(*map(range, kernel))
    for cell, place in zip(cells, _places(kernel, dilation, stride, counts), strict=True):
        out = out[(slice(None), slice(None), *place)].inc(
            columns[(slice(None), slice(None), *cell)]
        )
    return _padded(out, [(-p, -p) for p in pads[::-1]], 0)


def _windows(function: str, *arguments: Ints) -> list[tuple[int, ...]]:
    names = {"kernel_size": 1, "dilation": 1, "padding": 0, "stride": 1}
    return [
        per_axis(f"{function}: {name}", value, 2, least)
        for (name, least), value in zip(names.items(), arguments, strict=True)
    ]


def _window_counts(
    function: str, lengths: Sequence[Any], kernel: Sequence[int], dilation: Sequence[int],
    pads: Sequence[int], stride: Sequence[int],
) -> list[Any]:  # fmt: skip
    """Return the numbers of windows along both axes, where they aren't known as variables."""
    extents = [window_extent(k, d) for k, d in zip(kernel, dilation, strict=True)]
    for n, extent, p in zip(lengths, extents, pads, strict=True):
        if is_int(n) and n + 2 * p < extent:
            raise ValueError(f"{function}: {n} cells padded by {p} have no window of {extent}")
    return [
        window_count(n, extent, s, (p, p))
        for n, extent, p, s in zip(lengths, extents, pads, stride, strict=True)
    ]


def _places(
    kernel: Sequence[int], dilation: Sequence[int], stride: Sequence[int], counts: Sequence[Any]
) -> list[tuple[slice, ...]]:
    """Return for each cell of a window where all windows have it."""
    cells = product(*map(range, kernel))
    return [tap_slices(cell, dilation, stride, counts) for cell in cells]


def upsample(
    x: TensorLike, size: Ints | None = None, scale_factor: Factors | None = None,
    mode: Mode = "nearest", align_corners: bool | None = None,
) -> TensorVariable:  # fmt: skip
    """Resample the spatial axes; it is `interpolate` by an older name.

    Parameters
    ----------
    x, size, scale_factor, mode, align_corners
        As in `interpolate`.

    Returns
    -------
    TensorVariable, dtype of `x`

    Raises
    ------
    ValueError, TypeError
        As `interpolate`.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.upsample(pt.constant([[[0.0, 8.0]]]), scale_factor=2).eval()
    array([[[0., 0., 8., 8.]]])
    """
    return interpolate(x, size, scale_factor, mode, align_corners=align_corners)


def affine_grid(
    theta: TensorLike, size: Sequence[int], align_corners: bool | None = None
) -> TensorVariable:
    """Return the places of `grid_sample` of an affine map.

    Parameters
    ----------
    theta : tensor_like, shape (batch, 2, 3), or (batch, 3, 4) for volumes, floating point
        The maps, ``theta @ (x, y, 1)``, or of (x, y, z, 1).
    size : sequence of int
        The shape of the images afterwards, (batch, channels, height, width) or (batch, channels,
        depth, height, width).
    align_corners : bool, optional
        Whether -1 and 1 are the centres of the first and the last cells, else their outer borders;
        False by default.

    Returns
    -------
    TensorVariable, shape (batch, height, width, 2) or (batch, depth, height, width, 3)

    Raises
    ------
    ValueError
        If shapes don't fit, or an argument isn't one of those above.
    TypeError
        If `theta` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.affine_grid(pt.constant([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.5]]]), (1, 1, 1, 2)).eval()
    array([[[[-0.5,  0.5],
             [ 0.5,  0.5]]]])
    """
    name = "affine_grid"
    theta = floats(name, "theta", theta, 3)
    if not isinstance(size, Sequence) or len(size) not in (4, 5) or not all(map(is_int, size)):
        raise ValueError(
            f"{name}: size must be (batch, channels, height, width) or (batch, channels, depth, "
            f"height, width), got {size!r}"
        )
    batch, _, *lengths = (integer(name, "size", n, 1) for n in size)
    n = len(lengths)
    theta = of_shape(name, "theta", theta, (batch, n, n + 1), f"for size={tuple(size)}")
    aligned = align_corners is not None and flag(f"{name}: align_corners", align_corners)
    # The places in order x, y, z, where the lengths are in order z, y, x
    lines = [
        np.linspace(-1, 1, m) * (1 if aligned else (m - 1) / m) if m > 1 else np.zeros(1)
        for m in lengths
    ]
    places = np.stack([*np.meshgrid(*lines, indexing="ij")[::-1], np.ones(lengths)], axis=-1)
    base = constant(places.reshape(-1, n + 1).astype(theta.type.dtype))
    return (base @ theta.dimshuffle(0, 2, 1)).reshape((batch, *lengths, n))


def grid_sample(
    x: TensorLike, grid: TensorLike, mode: Literal["bilinear", "nearest", "bicubic"] = "bilinear",
    padding_mode: Literal["zeros", "border", "reflection"] = "zeros",
    align_corners: bool | None = None,
) -> TensorVariable:  # fmt: skip
    """Sample images at places, as a spatial transformer does.

    Parameters
    ----------
    x : tensor_like, shape (batch, channels, height, width), floating point
        Or volumes, (batch, channels, depth, height, width).
    grid : tensor_like, shape (batch, out height, out width, 2)
        Or (batch, out depth, out height, out width, 3).  Places (x, y) or (x, y, z), from -1 to 1;
        cast to the dtype of `x`.
    mode : {"bilinear", "nearest", "bicubic"}
        Interpolation; ``"bicubic"``, by Keys' kernel with a = -0.75, is for images only.
    padding_mode : {"zeros", "border", "reflection"}
        What is outside: zeros, the nearest cell of the border, or the image mirrored.
    align_corners : bool, optional
        Whether -1 and 1 are the centres of the first and the last cells, else their outer borders;
        False by default.

    Returns
    -------
    TensorVariable, shape (batch, channels, out height, out width), dtype of `x`
        Or (batch, channels, out depth, out height, out width).  Differentiable for `x` and `grid`.

    Raises
    ------
    ValueError
        If shapes don't fit, or an argument isn't one of those above.
    TypeError
        If `x` isn't floating point.

    References
    ----------
    Jaderberg, Simonyan, Zisserman and Kavukcuoglu, "Spatial transformer networks",
    arXiv:1506.02025.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[[[0.0, 4.0]]]])
    >>> pt.nn.grid_sample(x, [[[[0.0, 0.0], [-0.5, 0.0], [1.0, 0.0]]]]).eval()
    array([[[[2., 0., 2.]]]])
    """
    name = "grid_sample"
    x = floats(name, "x", x, 4, 5)
    n = x.type.ndim - 2
    grid = cast(as_tensor_variable(grid), x.type.dtype)
    shape = (lengths_of(x)[0], *n * [None], n)
    grid = of_shape(name, "grid", grid, shape, f"(batch, ..., {n}), for this x")
    one_of(name, "mode", mode, ("bilinear", "nearest", "bicubic"))
    one_of(name, "padding_mode", padding_mode, ("zeros", "border", "reflection"))
    if mode == "bicubic" and n == 3:
        raise ValueError(f"{name}: mode='bicubic' is for images, not for volumes")
    aligned = align_corners is not None and flag(f"{name}: align_corners", align_corners)
    wide, grid = single(x, grid)
    lengths = [cast(m, wide.type.dtype) for m in map(as_tensor_variable, lengths_of(x)[2:])]
    one, half = like(1, wide), like(0.5, wide)
    places = []
    for m, place in zip(lengths, [grid[..., n - 1 - a] for a in range(n)], strict=True):
        place = (place + one) * half * (m - one) if aligned else ((place + one) * m - one) * half
        places.append(place)

    def inside(place: TensorVariable, m: TensorVariable) -> TensorVariable:
        if padding_mode == "reflection":
            place = _reflected(place, m, aligned)
        return place if padding_mode == "zeros" else _clipped(place, m - one)

    # Of each axis, the cells that count and their weights
    taps: list[list[tuple[TensorVariable, TensorVariable]]] = []
    for place, m in zip(places, lengths, strict=True):
        if mode == "bicubic":
            first = tm.floor(place)
            kernel = _keys(place - first)
            taps.append(
                [
                    (inside(first + like(i, one), m), w)
                    for i, w in zip((-1, 0, 1, 2), kernel, strict=True)
                ]
            )
            continue
        place = inside(place, m)
        if mode == "nearest":
            # a gradient for `grid` that is zero
            flat = one + like(0, place) * _clipped(place, m - one)
            taps.append([(tm.round(place, mode="half_to_even"), flat)])
        else:
            first = tm.floor(place)
            taps.append([(first, first + one - place), (first + one, place - first)])
    rows = moveaxis(wide, 1, -1).reshape((-1, lengths_of(x)[1]))
    batch = arange(x.shape[0], dtype="int64").dimshuffle(0, *["x"] * n)
    terms = []
    for corner in product(*taps):
        index: TensorVariable = batch
        weight: TensorVariable = one
        outside: list[TensorVariable] = []
        for (cell, w), m, length in zip(corner, lengths, lengths_of(x)[2:], strict=True):
            # A place that is NaN is neither inside nor outside: its result is NaN
            is_inside = tm.and_(cell >= like(0, one), cell < m)
            outside.append(tm.or_(cell < like(0, one), cell >= m))
            beyond = where(outside[-1], like(0, one), like(np.nan, one))
            weight = where(is_inside, weight * w, beyond)
            index = index * length + cast(where(is_inside, cell, like(0, one)), "int64")
        # The cell that is read instead of one outside can be NaN or infinite
        is_outside = reduce(tm.or_, outside)[..., None]
        terms.append(where(is_outside, like(0, one), rows[index]) * weight[..., None])
    total: Any = sum(terms[1:], terms[0])
    return cast(moveaxis(total, -1, 1), x.type.dtype)


def _clipped(place: TensorVariable, last: TensorVariable) -> TensorVariable:
    """Return places within an image; the derivative is zero at its ends and beyond."""
    first = like(0, place)
    return where(place <= first, first, where(place >= last, last, place))


def _reflected(place: TensorVariable, m: TensorVariable, aligned: bool) -> TensorVariable:
    """Mirror places at the centres of the first and last cells, or at their borders."""
    low = like(0 if aligned else -0.5, place)
    span = m - like(1, place) if aligned else m
    is_single = tm.eq(span, like(0, span))
    span = where(is_single, like(1, span), span)
    distance = tm.abs(place - low)
    flips = tm.floor(distance / span)
    rest = distance - flips * span
    is_odd = tm.eq(flips - like(2, span) * tm.floor(flips / like(2, span)), like(1, span))
    mirrored = where(is_odd, span - rest, rest) + low
    return where(is_single, like(0, place), mirrored)


def _keys(t: TensorVariable) -> list[TensorVariable]:
    """Return the weights of the four next cells, for a place that is t after the second."""
    a = -0.75

    def near(d: TensorVariable) -> TensorVariable:
        return ((like(a + 2, d) * d - like(a + 3, d)) * d) * d + like(1, d)

    def far(d: TensorVariable) -> TensorVariable:
        return ((like(a, d) * d - like(5 * a, d)) * d + like(8 * a, d)) * d - like(4 * a, d)

    one = like(1, t)
    return [far(t + one), near(t), near(one - t), far(like(2, t) - t)]
