"""Resizing, sampling at computed places, cropping."""

from itertools import product
from typing import Literal

import numpy as np

import pytensor.tensor as pt
from pytensor.graph.basic import Constant, Variable
from pytensor.link.onnx.importing.registry import Refused, operator_funcify
from pytensor.link.onnx.importing.sampling import all_images, at_cells, bounded, linear
from pytensor.link.onnx.importing.sizes import (
    entries,
    filled,
    like,
    must_be_known,
    normalized,
    what_to_give,
)
from pytensor.tensor.batching import lengths_of
from pytensor.tensor.resize import (
    ASPECT_RATIO_POLICIES,
    COORDINATE_MODES,
    NEAREST_MODES,
    RESIZE_MODES,
)

EXACT_IN_DOUBLE = ("bool", "int8", "int16", "int32", "uint8", "uint16", "uint32")


@operator_funcify.register("Resize")
def resize(
    node,
    x,
    roi=None,
    scales=None,
    sizes=None,
    *,
    antialias=0,
    axes=None,
    coordinate_transformation_mode: Literal[*COORDINATE_MODES] = "half_pixel",
    cubic_coeff_a=-0.75,
    exclude_outside=0,
    extrapolation_value=0.0,
    keep_aspect_ratio_policy: Literal[*ASPECT_RATIO_POLICIES] = "stretch",
    mode: Literal[*RESIZE_MODES] = "nearest",
    nearest_mode: Literal[*NEAREST_MODES] = "round_prefer_floor",
):
    how, policy = coordinate_transformation_mode, keep_aspect_ratio_policy
    axes = [normalized(a, x.type.ndim) for a in (range(x.type.ndim) if axes is None else axes)]
    if scales is not None and 0 in sum(node.declared_inputs[2:3], scales.type.shape):
        scales = None  # as opset 10 left it out
    if (scales is None) == (sizes is None):
        how_many = "neither scales nor sizes" if sizes is None else "scales and sizes"
        raise Refused(f"it has {how_many}, of which it must have one")
    if scales is None:
        x, targets = _sizes(x, sizes, axes)
        pairs = zip([x.type.shape[axis] for axis in axes], targets, strict=True)
        unchanged = [length == target and policy == "stretch" for length, target in pairs]
    else:
        given = must_be_known(scales, "how much it scales").tolist()
        unchanged = [scale == 1 for scale in given]
        targets = [_factor(x.type.shape[a], scale) for a, scale in zip(axes, given, strict=True)]
    crop = None
    if how == "tf_crop_and_resize":
        crop = must_be_known(roi, "its region of interest").reshape(2, -1).T.tolist()
        unchanged = [same and ends == [0, 1] for same, ends in zip(unchanged, crop, strict=True)]
    if how == "tf_half_pixel_for_nn":  # which moves cells even where lengths stay
        unchanged = [False for _ in axes]
    if any(isinstance(v, Variable) for v in targets) and (crop or policy != "stretch"):
        raise Refused(
            "the lengths to which it resizes are computed when the model runs, and how it resizes "
            f"needs them before{what_to_give(sizes)}"
        )
    kept = [number for number, same in enumerate(unchanged) if not same]
    if not kept:
        return x
    options = {
        "size" if scales is None else "scale": tuple(targets[i] for i in kept),
        "axes": tuple(axes[i] for i in kept),
        "mode": mode,
        "coordinate_transformation_mode": how,
        "cubic_coeff_a": cubic_coeff_a,
        "nearest_mode": nearest_mode,
        "keep_aspect_ratio_policy": policy,
    }
    if mode != "nearest":
        options["exclude_outside"] = bool(exclude_outside)
        options["antialias"] = bool(antialias)
    if crop is not None:
        options["roi"] = tuple(crop[i][end] for end in (0, 1) for i in kept)
        options["extrapolation_value"] = extrapolation_value
    if x.type.dtype.startswith("float"):
        return pt.resize(x, **options)
    if mode != "nearest" or x.type.dtype not in EXACT_IN_DOUBLE:
        raise Refused(
            f"the standard doesn't define the rounding of {mode} interpolation of {x.type.dtype}: "
            f"cast to floating point before it, and back after it"
        )
    return pt.cast(pt.resize(pt.cast(x, "float64"), **options), x.type.dtype)


def _sizes(x, sizes, axes):
    """Return the input and the axes' target lengths; of images, batch and channels must stay."""
    targets = entries(sizes)
    if targets is None:
        raise Refused("the number of entries of its sizes isn't known")
    shape = list(x.type.shape)
    for number, (axis, target) in enumerate(zip(axes, targets, strict=True)):
        if isinstance(target, Constant):
            targets[number] = int(target.data)
        elif axis < 2 and len(axes) == x.type.ndim:
            # Batch and channels; run time checks that
            shape[axis], targets[number] = target, x.type.shape[axis]
    return pt.specify_shape(x, shape), targets


def _factor(length, scale):
    """Return a scale in double precision with the length that it gives in single precision."""
    if length is None:
        return scale
    out = np.floor(np.float32(length) * np.float32(scale))
    if np.floor(length * scale) == out:
        return scale
    return float(np.nextafter(out / length, np.inf))


Padding = Literal["zeros", "border", "reflection"]


@operator_funcify.register("GridSample", before=20)
def grid_sample_of_images(
    x,
    grid,
    *,
    align_corners=0,
    mode: Literal["bilinear", "bicubic", "nearest"] = "bilinear",
    padding_mode: Padding = "zeros",
):
    mode = mode.removeprefix("bi")
    return grid_sample(x, grid, align_corners=align_corners, mode=mode, padding_mode=padding_mode)


@operator_funcify.register("GridSample")
def grid_sample(
    x,
    grid,
    *,
    align_corners=0,
    mode: Literal["linear", "cubic", "nearest"] = "linear",
    padding_mode: Padding = "zeros",
):
    spatial, dtype = lengths_of(x)[2:], grid.type.dtype
    places = []
    # The grid has the last axis first
    for axis, length in enumerate(spatial):
        place, length = grid[..., len(spatial) - 1 - axis], pt.cast(length, dtype)
        one = like(grid, 1)
        if align_corners:
            places.append((place + one) * ((length - one) / like(grid, 2)))
        else:
            places.append(((place + one) * length - one) / like(grid, 2))
    if mode == "cubic":
        return _cubic(x, places, padding_mode, align_corners)
    places = [
        _padded_places(place, length, padding_mode, align_corners)
        for place, length in zip(places, spatial, strict=True)
    ]
    if mode == "nearest":
        places = [pt.round(place, mode="half_to_even") for place in places]
        return _read(x, places)
    _must_be_floating(x)
    return pt.cast(linear(x, [pt.cast(place, x.type.dtype) for place in places]), x.type.dtype)


def _must_be_floating(x):
    if not x.type.dtype.startswith("float"):
        raise Refused(f"interpolation of {x.type.dtype}: cast to floating point before it")


def _read(x, places):
    """Return the entries at places that are numbers of cells; 0 beyond the ends."""
    found = [bounded(p, n) for p, n in zip(places, lengths_of(x)[2:], strict=True)]
    inside = found[0][1]
    for _, other in found[1:]:
        inside = pt.and_(inside, other)
    out = at_cells(x, all_images(x, places[0].type.ndim), [cell for cell, _ in found])
    return pt.switch(pt.expand_dims(inside, 1), out, like(x, 0))


def _padded_places(place, length, padding, aligned):
    last = pt.cast(length - 1, place.type.dtype)
    zero = like(place, 0)
    if padding == "zeros":
        return place
    if padding == "reflection":
        edge = zero if aligned else like(place, 0.5)
        span = last + edge + edge
        # within twice the image, from the edge before it
        span_or_one = pt.switch(span > zero, span, like(place, 1))
        turn = pt.mod(pt.abs(place + edge), like(place, 2) * span_or_one)
        place = pt.minimum(turn, like(place, 2) * span_or_one - turn) - edge
        place = pt.switch(span > zero, place, zero)
    return pt.clip(place, zero, last)


def _cubic(x, places, padding, aligned):
    _must_be_floating(x)
    floors = [pt.floor(place) for place in places]
    out = None
    for taps in product((-1, 0, 1, 2), repeat=len(places)):
        weight, cells = None, []
        for place, floor, length, tap in zip(places, floors, lengths_of(x)[2:], taps, strict=True):
            cell = floor + like(place, tap)
            share = _cubic_weight(pt.abs(place - cell), inner=tap in (0, 1))
            weight = share if weight is None else weight * share
            cells.append(_padded_places(cell, length, padding, aligned))
        term = _read(x, cells) * pt.cast(pt.expand_dims(weight, 1), x.type.dtype)
        out = term if out is None else out + term
    return out


def _cubic_weight(distance, inner):
    a, d = like(distance, -0.75), distance
    one, two, three = (like(d, n) for n in (1, 2, 3))
    if inner:
        return ((a + two) * d - (a + three)) * d * d + one
    return ((d - like(d, 5)) * d + like(d, 8)) * d * a - like(d, 4) * a


@operator_funcify.register("AffineGrid")
def affine_grid(theta, size, *, align_corners=0):
    spatial = must_be_known(size, "the size of the image").tolist()[2:]
    axes = []
    for length in spatial:
        if align_corners and length == 1:
            raise Refused("align_corners=1 divides by 0 on an axis of length 1: use 0")
        cells = np.arange(length)
        if align_corners:
            axes.append(2 * cells / (length - 1) - 1)
        else:
            axes.append((2 * cells + 1) / length - 1)
    places = np.meshgrid(*axes, indexing="ij")
    places = np.stack([*reversed(places), np.ones(spatial)]).reshape(len(spatial) + 1, -1)
    out = pt.matmul(theta, like(theta, places)[None])
    return pt.moveaxis(out, 1, 2).reshape((lengths_of(theta)[0], *spatial, len(spatial)))


@operator_funcify.register("CenterCropPad")
def center_crop_pad(x, shape, *, axes=None):
    axes = range(x.type.ndim) if axes is None else axes
    targets = entries(shape)
    if targets is None:
        raise Refused("the number of entries of its shape isn't known")
    wanted = lengths_of(x)
    source, inside = [slice(None)] * x.type.ndim, [slice(None)] * x.type.ndim
    for axis, target in zip(axes, targets, strict=True):
        length = wanted[axis]
        target = int(target.data) if isinstance(target, Constant) else target
        wanted[axis] = target
        kept = _smaller(length, target)
        start, before = (length - kept) // 2, (target - kept) // 2
        source[axis], inside[axis] = slice(start, start + kept), slice(before, before + kept)
    zeros = filled(like(x, 0), wanted)
    return pt.set_subtensor(zeros[tuple(inside)], x[tuple(source)])


def _smaller(a, b):
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else pt.minimum(a, b)
