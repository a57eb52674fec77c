from functools import cache, partial
from math import prod

import numpy as np
import torch

from pytensor.link.pytorch.dispatch.basic import pytorch_funcify
from pytensor.tensor.resize.ops import Resize, ResizeGrad
from pytensor.tensor.resize.taps import along

# PyTorch's functions by mode, antialias and number of axes.
WEIGHTED = {
    ("linear", False, 1): "upsample_linear1d",
    ("linear", False, 2): "upsample_bilinear2d",
    ("linear", False, 3): "upsample_trilinear3d",
    ("linear", True, 2): "_upsample_bilinear2d_aa",
    ("cubic", False, 2): "upsample_bicubic2d",
    ("cubic", True, 2): "_upsample_bicubic2d_aa",
}
# Those for the nearest cell by number of axes, in the order in which they are tried.
NEAREST = {n: (f"upsample_nearest{n}d", f"_upsample_nearest_exact{n}d") for n in (1, 2, 3)}


def _computing(x):
    return x.float() if x.dtype == torch.float16 else x


def _taps(op, lengths, device):
    """Return, per axis and tap, the cells that are read and their weights, or None for 1."""
    taps = []
    for i in range(op.n_spatial):
        cells, weights = op.taps(lengths, i)
        cells = torch.as_tensor(np.ascontiguousarray(cells.T), device=device)
        if weights is not None:
            weights = torch.as_tensor(np.ascontiguousarray(weights.T), device=device)
        taps.append((cells, weights))
    return taps


def _outside(op, lengths, device):
    if not op.roi:
        return []
    return [torch.as_tensor(op.outside(lengths, i), device=device) for i in range(op.n_spatial)]


def _weighted(x, weights, tap, axis):
    if weights is None:
        return x
    factors = along(weights[tap].to(x.dtype), axis, x.ndim)
    # What has no weight isn't read: zero times NaN would be NaN.
    return torch.where(factors == 0, torch.zeros_like(x), x * factors)


def _lookup(x, cells, weights, axis):
    terms = [
        _weighted(x.index_select(axis, places), weights, tap, axis)
        for tap, places in enumerate(cells)
    ]
    return sum(terms[1:], start=terms[0])


def _transposed_lookup(x, cells, weights, axis, length):
    out = x.new_zeros((*x.shape[:axis], length, *x.shape[axis + 1 :]))
    for tap, places in enumerate(cells):
        out = out.index_add(axis, places, _weighted(x, weights, tap, axis))
    return out


def _fill_outside(op, lengths, x, value):
    for axis, outside in zip(op.axes, _outside(op, lengths, x.device), strict=False):
        x = torch.where(along(outside, axis, x.ndim), x.new_tensor(value), x)
    return x


def _lookups(op, lengths, x):
    for axis, taps in zip(op.axes, _taps(op, lengths, x.device), strict=True):
        x = _lookup(x, *taps, axis)
    return x


def _transposed_lookups(op, lengths, x):
    for axis, length, taps in zip(op.axes, lengths, _taps(op, lengths, x.device), strict=True):
        x = _transposed_lookup(x, *taps, axis, length)
    return x


def _call_native(name, op, lengths, x, transposed):
    images = x.reshape(1, -1, *x.shape[x.ndim - op.n_spatial :])
    arguments = [op.output_lengths(lengths)]
    if transposed:
        arguments.append((*images.shape[:2], *lengths))
    if op.mode != "nearest":
        arguments.append(op.coordinate_transformation_mode == "align_corners")
    function = getattr(torch.ops.aten, name + "_backward" * transposed)
    out = function.default(images, *arguments)
    return out.reshape(*x.shape[: -op.n_spatial], *out.shape[2:])


def _nearest_name(op, transposed, lengths, dtype, device):
    """Return the name of PyTorch's function that reads the cells of an Op of mode nearest, or None.

    Tried with one image: of a place between two cells, its rounding decides.
    """
    shape = op.output_lengths(lengths) if transposed else lengths
    image = torch.arange(prod(shape), device=device).remainder(8191).to(dtype)
    image = image.reshape((1,) * op.axes[0] + shape)
    expected = (_transposed_lookups if transposed else _lookups)(op, lengths, image)
    for name in NEAREST.get(op.n_spatial, ()):
        if torch.equal(_call_native(name, op, lengths, image, transposed), expected):
            return name
    return None


def _weighted_name(op, lengths):
    """Return the name of PyTorch's function that has the weights of an Op, or None."""
    axes = [op.target(lengths, i) for i in range(op.n_spatial)]
    places = ["half_pixel", "half_pixel_symmetric"]
    if not op.antialias:
        places.append("align_corners")
    if all(axis.out > 1 for axis in axes):
        places.append("pytorch_half_pixel")
    same = (
        op.coordinate_transformation_mode in places
        # Its factor is the quotient of the lengths.
        and all(axis.width == axis.out for axis in axes)
        and op.exclude_outside == op.antialias
        and (op.mode == "linear" or op.cubic_coeff_a == (-0.5 if op.antialias else -0.75))
    )
    return WEIGHTED.get((op.mode, op.antialias, op.n_spatial)) if same else None


def _resized_by(op, transposed=False):
    """Return the function for an Op, or for its transposed map, of lengths of the image and `x`.

    It is PyTorch's where that gives the Op's numbers.
    """
    nearest_name = cache(partial(_nearest_name, op, transposed))
    lookups = _transposed_lookups if transposed else _lookups

    def native_name(lengths, x):
        last = tuple(range(x.ndim - op.n_spatial, x.ndim))
        if op.axes != last or not x.numel():
            return None
        if op.mode == "nearest":
            return nearest_name(lengths, x.dtype, x.device)
        # PyTorch multiplies what has no weight by zero.
        return _weighted_name(op, lengths) if torch.isfinite(x.sum()) else None

    def resized(lengths, x):
        name = native_name(lengths, x)
        if name is None:
            return lookups(op, lengths, x)
        return _call_native(name, op, lengths, x, transposed)

    return resized


@pytorch_funcify.register(Resize)
def pytorch_funcify_Resize(op, **kwargs):
    resized = _resized_by(op)

    # The compiler would trace the NumPy code that works out the taps, with symbols for lengths.
    @torch.compiler.disable
    def resize(x):
        lengths = tuple(x.shape[axis] for axis in op.axes)
        out = resized(lengths, _computing(x))
        return _fill_outside(op, lengths, out, op.extrapolation_value).to(x.dtype)

    return resize


@pytorch_funcify.register(ResizeGrad)
def pytorch_funcify_ResizeGrad(op, **kwargs):
    op = op.op
    resized = _resized_by(op, transposed=True)

    @torch.compiler.disable
    def resize_grad(x, cotangent):
        lengths = tuple(x.shape[axis] for axis in op.axes)
        out = resized(lengths, _fill_outside(op, lengths, _computing(cotangent), 0))
        return out.to(x.dtype)

    return resize_grad
