"""Resampling of the axes of a tensor, with the numbers of ONNX's Resize."""

import math
import numbers
from functools import partial
from typing import Any, Literal

from pytensor.graph.basic import Variable
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import as_tensor_variable, cast
from pytensor.tensor.resize.ops import Resize, ResizeGrad
from pytensor.tensor.resize.taps import COORDINATES, ROUNDINGS
from pytensor.tensor.type import float_dtypes, integer_dtypes
from pytensor.tensor.variable import TensorVariable

type Ints = int | tuple[int, ...] | list[int]

RESIZE_MODES = ("nearest", "linear", "cubic")
COORDINATE_MODES = (*COORDINATES, "tf_crop_and_resize")
NEAREST_MODES = tuple(ROUNDINGS)
ASPECT_RATIO_POLICIES = ("stretch", "not_larger", "not_smaller")

__all__ = [
    "ASPECT_RATIO_POLICIES",
    "COORDINATE_MODES",
    "NEAREST_MODES",
    "RESIZE_MODES",
    "Resize",
    "ResizeGrad",
    "resize",
]


def _one_of(name, value, allowed):
    if value not in allowed:
        raise ValueError(f"resize: {name} must be one of {', '.join(allowed)}; got {value!r}")


def _number(name, value):
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise ValueError(f"resize: {name} must be a number, got {value!r}")
    return float(value)


def _flag(name, value):
    if value not in (False, True):
        raise ValueError(f"resize: {name} must be True or False, got {value!r}")
    return bool(value)


def positive_numbers(values: Any, kind: Any) -> tuple[Any, ...] | None:
    """Return numbers of a kind as Python's; None where one isn't positive, or isn't finite.

    Integers may be scalar variables, which run time decides.
    """
    if all(
        _is_length(v)
        if isinstance(v, Variable) and kind is numbers.Integral
        else isinstance(v, kind) and not isinstance(v, bool) and v > 0 and math.isfinite(v)
        for v in values
    ):
        as_length = partial(cast, dtype="int64")
        convert = int if kind is numbers.Integral else float
        return tuple(as_length(v) if isinstance(v, Variable) else convert(v) for v in values)
    return None


def _is_length(v: Any) -> bool:
    return v.type.ndim == 0 and v.type.dtype in integer_dtypes


def _targets(
    name: str, values: Any, axes: Any, ndim: int, kind: Any
) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """Return the entries of `size` or `scale`, one for each axis, and the axes."""
    if isinstance(values, numbers.Real) and not isinstance(values, bool):
        values = (values,) * (max(ndim - 2, 0) if axes is None else len(axes))
    found = None
    if isinstance(values, tuple | list) and 1 <= len(values) <= ndim:
        found = positive_numbers(values, kind)
    if found is None:
        what = "int" if kind is numbers.Integral else "number"
        raise ValueError(
            f"resize: {name} must be one positive {what}, or a tuple of at most {ndim} (the last "
            f"axes of the input, or those given as axes), got {values!r}"
        )
    if axes is None:
        axes = tuple(range(ndim - len(found), ndim))
    if len(axes) != len(found):
        raise ValueError(
            f"resize: {name} must have one entry for each of axes={axes}, got {values!r}"
        )
    return found, axes


def _axes(axes, ndim):
    axes = (axes,) if isinstance(axes, numbers.Integral) else axes
    if not isinstance(axes, tuple | list) or not all(
        isinstance(a, numbers.Integral) and not isinstance(a, bool) and -ndim <= a < ndim
        for a in axes
    ):
        raise ValueError(
            f"resize: axes must be a tuple of ints from {-ndim} to {ndim - 1}, got {axes!r}"
        )
    positive = tuple(int(a) % ndim for a in axes)
    if len(set(positive)) < len(positive):
        raise ValueError(f"resize: axes must be different ones, got {axes!r}")
    return positive


def _roi(roi, n, how):
    if (roi is not None) != (how == "tf_crop_and_resize"):
        raise ValueError(
            f"resize: give roi if, and only if, coordinate_transformation_mode is "
            f"'tf_crop_and_resize'; got roi={roi!r} and {how!r}"
        )
    if roi is None:
        return ()
    if (
        not isinstance(roi, tuple | list)
        or len(roi) != 2 * n
        or not all(isinstance(v, numbers.Real) and math.isfinite(v) for v in roi)
    ):
        raise ValueError(
            f"resize: roi must be {2 * n} numbers, the starts and then the ends of the {n} resized "
            f"axes, got {roi!r}"
        )
    return tuple(float(v) for v in roi)


def _method(mode, how, nearest_mode, cubic_coeff_a, exclude_outside, antialias):
    """Return the properties that say what each output cell reads, checked."""
    _one_of("mode", mode, RESIZE_MODES)
    _one_of("coordinate_transformation_mode", how, COORDINATE_MODES)
    _one_of("nearest_mode", nearest_mode, NEAREST_MODES)
    cubic_coeff_a = _number("cubic_coeff_a", cubic_coeff_a)
    if not math.isfinite(cubic_coeff_a):
        raise ValueError(f"resize: cubic_coeff_a must be finite, got {cubic_coeff_a}")
    antialias = _flag("antialias", antialias)
    exclude_outside = _flag("exclude_outside", exclude_outside)
    if mode == "nearest" and (antialias or exclude_outside):
        name = "antialias" if antialias else "exclude_outside"
        raise ValueError(f"resize: {name}=True needs mode='linear' or 'cubic', got 'nearest'")
    return {
        "mode": mode,
        "coordinate_transformation_mode": how,
        "nearest_mode": nearest_mode if mode == "nearest" else "",
        "cubic_coeff_a": cubic_coeff_a if mode == "cubic" else 0.0,
        "exclude_outside": exclude_outside,
        "antialias": antialias,
    }


def resize(
    input: TensorLike, size: Ints | None = None,
    scale: float | tuple[float, ...] | list[float] | None = None,
    mode: Literal["nearest", "linear", "cubic"] = "nearest",
    coordinate_transformation_mode: str = "half_pixel", nearest_mode: str = "round_prefer_floor",
    cubic_coeff_a: float = -0.75, exclude_outside: bool = False, antialias: bool = False,
    roi: tuple[float, ...] | list[float] | None = None, extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: Literal["stretch", "not_larger", "not_smaller"] = "stretch",
    axes: Ints | None = None,
) -> TensorVariable:  # fmt: skip
    r"""Resample axes of `input` by ONNX's arguments and numbers; PyTorch's: `nn.interpolate`.

    Interpolation is separable: bilinear or bicubic over two axes.  Along one axis of length n,
    with m cells afterwards and factor f, cell i of the output lies at a place x of the input (see
    `coordinate_transformation_mode`), and is ::

        nearest  input[round(x)]
        linear   sum_j w(j - x) input[j],  w(d) = max(1 - |d|, 0)
        cubic    sum_j w(j - x) input[j],
                 w(d) = (a + 2) |d|^3 - (a + 3) |d|^2 + 1        where |d| <= 1
                        a |d|^3 - 5 a |d|^2 + 8 a |d| - 4 a      where 1 < |d| < 2
                        0                                        elsewhere

    over all integers j; beyond its ends the input continues with its first and last cells.

    Parameters
    ----------
    input : tensor_like, floating point
        Usually of shape (batch, channels, \*spatial).
    size : int or tuple of int
        Length m of each resized axis.  Give this or `scale`.  Entries of a tuple may be scalar
        variables of integers, such as lengths of another image.
    scale : float or tuple of float
        Factor f for each resized axis; m is ``floor(n * f)``.  With `size`, f is m / n.
    mode : {"nearest", "linear", "cubic"}
    coordinate_transformation_mode : str
        x is, where s = n f is the length before it was rounded to m,

        - ``"half_pixel"``: (i + 0.5) / f - 0.5;
        - ``"half_pixel_symmetric"``: n / 2 (1 - m / s) + (i + 0.5) / f - 0.5, which centres what
          rounding left;
        - ``"pytorch_half_pixel"``: as ``"half_pixel"``, but 0 if m is 1;
        - ``"align_corners"``: i (n - 1) / (s - 1), and 0 if s is 1;
        - ``"asymmetric"``: i / f;
        - ``"tf_half_pixel_for_nn"``: (i + 0.5) / f;
        - ``"tf_crop_and_resize"``: start (n - 1) + i (end - start) (n - 1) / (s - 1), and
          (start + end) (n - 1) / 2 if m is 1, for the `roi` from start to end.
    nearest_mode : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}
        How x is rounded for ``mode="nearest"``; the first two round to the nearest integer, and
        halves down or up.
    cubic_coeff_a : float
        The a of ``mode="cubic"``; -0.75 is PyTorch's, -0.5 Pillow's and TensorFlow's.
    exclude_outside : bool
        Whether cells beyond the ends get no weight; the other weights are divided by their sum.
        For linear and cubic interpolation.
    antialias : bool
        Whether to average when shrinking, for linear and cubic interpolation: weights are
        w(min(f, 1) (j - x)), divided by their sum.
    roi : tuple of float
        ``(start, ..., end, ...)``, all starts before all ends, for the resized axes; 0 is the
        centre of the first cell, 1 that of the last.  Only for ``"tf_crop_and_resize"``.
    extrapolation_value : float
        What output cells with x < 0 or x > n - 1 are in ``"tf_crop_and_resize"``.
    keep_aspect_ratio_policy : {"stretch", "not_larger", "not_smaller"}
        Whether `size` is met exactly, or all axes have one factor f, the smallest or the largest of
        the quotients of `size` and n; then m is ``floor(n * f + 0.5)``.
    axes : tuple of int, optional
        The resized axes, in the order of `size` or `scale`.  By default the last ones, and all
        after batch and channels where `size` or `scale` is one number.

    Returns
    -------
    TensorVariable, dtype of `input`
        Differentiable any number of times.  Half precision is computed in single.

    Raises
    ------
    ValueError
        If neither or both of `size` and `scale` are given, or an argument isn't one of those above.
    TypeError
        If `input` isn't floating point.

    Notes
    -----
    Coordinates and weights are computed in float64, by ONNX runtimes in float32: where a place
    falls exactly between two cells, and the factor isn't a binary fraction, a nearest lookup can
    differ.  Mode PYTORCH has linear and cubic interpolation computed by PyTorch where it can, whose
    coordinates have the dtype of `input`.

    A cell of weight zero isn't read, so that NaN and infinity stay where they have an effect; ONNX
    runtimes may multiply them by zero.

    With a `scale`, the length afterwards doesn't depend on `roi`: the text of the specification
    multiplies it by end - start, ONNX's shape inference and reference implementation don't.

    References
    ----------
    ONNX operator specification, Resize.  R. Keys, Cubic convolution interpolation for digital
    image processing, IEEE Transactions on Acoustics, Speech, and Signal Processing 29 (1981).

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> x = pt.constant(np.array([[[[1.0, 2.0]]]]))
    >>> pt.resize(x, scale=2).eval()[0, 0]
    array([[1., 1., 2., 2.],
           [1., 1., 2., 2.]])
    >>> x = pt.constant(np.array([0.0, 8.0, 16.0, 0.0]))
    >>> corners = {"coordinate_transformation_mode": "align_corners"}
    >>> pt.resize(x, size=(7,), mode="linear", **corners).eval()
    array([ 0.,  4.,  8., 12., 16.,  8.,  0.])
    >>> pt.resize(x, size=(2,), mode="cubic").eval()
    array([3.25, 8.75])
    >>> pt.resize(x, size=(2,), mode="linear", antialias=True).eval()
    array([5., 7.])
    """
    input = as_tensor_variable(input)
    ndim = input.type.ndim
    if input.type.dtype not in float_dtypes:
        raise TypeError(
            f"resize: the input must be floating point, got {input.type.dtype}; cast it first"
        )
    if (size is None) == (scale is None):
        raise ValueError(
            f"resize: give exactly one of size and scale, got size={size!r} and scale={scale!r}"
        )
    method = _method(
        mode, coordinate_transformation_mode, nearest_mode, cubic_coeff_a, exclude_outside,
        antialias,
    )  # fmt: skip
    _one_of("keep_aspect_ratio_policy", keep_aspect_ratio_policy, ASPECT_RATIO_POLICIES)
    if scale is not None and keep_aspect_ratio_policy != "stretch":
        raise ValueError(
            f"resize: keep_aspect_ratio_policy={keep_aspect_ratio_policy!r} needs size, got "
            f"scale={scale!r}"
        )
    extrapolation_value = _number("extrapolation_value", extrapolation_value)
    if axes is not None:
        axes = _axes(axes, ndim)
    if size is not None:
        size, axes = _targets("size", size, axes, ndim, numbers.Integral)
    else:
        scale, axes = _targets("scale", scale, axes, ndim, numbers.Real)
    roi = _roi(roi, len(axes), coordinate_transformation_mode)
    if not roi and extrapolation_value:
        raise ValueError(
            f"resize: extrapolation_value needs "
            f"coordinate_transformation_mode='tf_crop_and_resize', got {extrapolation_value}"
        )
    empty = [axis for axis in axes if input.type.shape[axis] == 0]
    if empty:
        raise ValueError(
            f"resize: an axis of length 0 can't be resized; axes={empty} of the input's shape "
            f"{input.type.shape}"
        )
    op = Resize(
        size=size,
        scale=scale,
        axes=axes,
        roi=roi,
        extrapolation_value=extrapolation_value,
        keep_aspect_ratio_policy=keep_aspect_ratio_policy,
        **method,
    )
    if not op.has_computed_size:
        return op(input)
    if roi or keep_aspect_ratio_policy != "stretch":
        raise ValueError("resize: roi and keep_aspect_ratio_policy need a size of integers")
    return op.build_inner_graph(input)[0]
