"""Interpolation, with the names, arguments and numbers of PyTorch."""

import math
import numbers
from typing import Any, Literal

from pytensor.graph.basic import Variable
from pytensor.tensor import TensorLike
from pytensor.tensor.conv.basic import Ints, flag
from pytensor.tensor.known_lengths import scaled_length
from pytensor.tensor.moments import as_floating_point
from pytensor.tensor.pool.adaptive import AdaptivePool
from pytensor.tensor.resize import positive_numbers
from pytensor.tensor.resize.ops import Resize
from pytensor.tensor.variable import TensorVariable

type Mode = Literal[
    "nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area"
]
type Factors = float | tuple[float, ...] | list[float]

# Numbers of spatial axes, and the mode of `Resize`
MODES: dict[str, tuple[tuple[int, ...], str]] = {
    "nearest": ((1, 2, 3), "nearest"),
    "nearest-exact": ((1, 2, 3), "nearest"),
    "area": ((1, 2, 3), ""),
    "linear": ((1,), "linear"),
    "bilinear": ((2,), "linear"),
    "bicubic": ((2,), "cubic"),
    "trilinear": ((3,), "linear"),
}


def _mode(mode: str, n: int) -> str:
    if mode not in MODES:
        raise ValueError(f"interpolate: mode must be one of {', '.join(MODES)}; got {mode!r}")
    counts, ours = MODES[mode]
    if n not in counts:
        fitting = ", ".join(name for name, (counts, _) in MODES.items() if n in counts)
        raise ValueError(
            f"interpolate: mode={mode!r} is for {' or '.join(map(str, counts))} spatial axes, x "
            f"has {n}; its modes are {fitting or 'none'}"
        )
    return ours


def _per_axis(name: str, value: Any, n: int, kind: Any) -> tuple[Any, ...]:
    values = tuple(value) if isinstance(value, tuple | list) else (value,) * n
    found = positive_numbers(values, kind)
    if len(values) != n or found is None:
        what = "int" if kind is numbers.Integral else "number"
        raise ValueError(
            f"interpolate: {name} must be one positive {what}, or one for each of the {n} spatial "
            f"axes, got {value!r}"
        )
    return found


def _lengths(x: TensorVariable, factors: tuple[float, ...]) -> tuple[int | Variable, ...]:
    """Return the lengths of the spatial axes afterwards, variables where they aren't known."""
    return tuple(
        scaled_length(x.shape[axis], f) if n is None else math.floor(n * f)
        for axis, (n, f) in enumerate(zip(x.type.shape[2:], factors, strict=True), 2)
    )


def _targets(
    x: TensorVariable, size: Any, scale_factor: Any, mode: str, align_corners: bool, recompute: bool
) -> tuple[tuple[int | Variable, ...] | None, tuple[float, ...] | None]:
    """Return the lengths afterwards, or the factors; one of them is None."""
    n = x.type.ndim - 2
    if (size is None) == (scale_factor is None):
        raise ValueError(
            f"interpolate: give exactly one of size and scale_factor, got size={size!r} and "
            f"scale_factor={scale_factor!r}"
        )
    if size is not None:
        if recompute:
            raise ValueError("interpolate: recompute_scale_factor=True needs scale_factor")
        return _per_axis("size", size, n, numbers.Integral), None
    factors = _per_axis("scale_factor", scale_factor, n, numbers.Real)
    exact = all(f.is_integer() for f in factors)
    if mode == "area" or ((recompute or align_corners) and not exact):
        return _lengths(x, factors), None
    return None, factors


def _method(mode: str, ours: str, align_corners: bool, antialias: bool) -> dict[str, Any]:
    """Return the properties of `Resize` that say what each output cell reads."""
    places = "align_corners" if align_corners else "half_pixel"
    places = {"nearest": "asymmetric", "nearest-exact": "tf_half_pixel_for_nn"}.get(mode, places)
    cubic = -0.5 if antialias else -0.75
    return {
        "mode": ours,
        "coordinate_transformation_mode": places,
        "nearest_mode": "floor" if ours == "nearest" else "",
        "cubic_coeff_a": cubic if ours == "cubic" else 0.0,
        "exclude_outside": antialias,
        "antialias": antialias,
    }


def interpolate(
    x: TensorLike, size: Ints | None = None, scale_factor: Factors | None = None,
    mode: Mode = "nearest", *, align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> TensorVariable:  # fmt: skip
    r"""Resample the spatial axes, as in PyTorch.

    Along an axis of n cells, with m afterwards, cell i of the output lies at the place
    ``(i + 0.5) * n / m - 0.5`` of the input, or with `align_corners` at ``i * (n - 1) / (m - 1)``.
    With a `scale_factor` f, ``1 / f`` takes the place of ``n / m``.

    Parameters
    ----------
    x : tensor_like, shape (batch, channels, \*spatial), floating point
        One to three spatial axes.
    size : int or tuple of int
        Lengths m of the spatial axes.  Give this or `scale_factor`.  They may be scalar variables
        of integers, such as lengths of another image.
    scale_factor : float or tuple of float
        Factors f; m is ``floor(n * f)``.
    mode : str
        ``"nearest"``: cell ``floor(i * n / m)``.  ``"nearest-exact"``: the nearest,
        ``floor((i + 0.5) * n / m)``.  ``"linear"`` for one, ``"bilinear"`` for two and
        ``"trilinear"`` for three spatial axes: between the two next cells of each axis.
        ``"bicubic"`` for two: by Keys' kernel with a = -0.75 over four cells of each axis.
        ``"area"``: averages, as `adaptive_avg_pool2d`.  Beyond its ends the input continues with
        its first and last cells.
    align_corners : bool, optional
        Whether the first and the last cells of input and output lie at one place; False by
        default.  Only for linear and cubic interpolation.
    recompute_scale_factor : bool, optional
        Whether ``n / m`` is taken in place of ``1 / f``.
    antialias : bool
        Whether to average when shrinking, for ``"bilinear"`` and ``"bicubic"``, whose a is -0.5
        then.  Not together with `align_corners`.

    Returns
    -------
    TensorVariable, dtype of `x`
        Differentiable any number of times.  Half precision is computed in single.

    Raises
    ------
    ValueError
        If neither or both of `size` and `scale_factor` are given, the mode isn't for this number of
        axes, or an argument isn't one of those above.
    TypeError
        If `x` isn't floating point.

    See Also
    --------
    pytensor.tensor.resize : other axes, places and roundings, with the numbers of ONNX.

    Notes
    -----
    Places are computed in float64, by PyTorch in the dtype of `x`: where one falls exactly on the
    border between two cells, ``"nearest"`` can differ.  Mode PYTORCH has the other modes computed
    by PyTorch where it can.

    Where a `scale_factor` keeps a length that is known, linear interpolation and `antialias` leave
    the axis as it is, as PyTorch does.  Where one keeps or doubles a length, and isn't an integer,
    PyTorch takes 1 or 2 for it in ``"nearest"`` of two axes on a CPU, and in the gradients of the
    other modes and of `antialias`, which then don't belong to its results; the gradients here do.

    References
    ----------
    R. Keys, Cubic convolution interpolation for digital image processing, IEEE Transactions on
    Acoustics, Speech, and Signal Processing 29 (1981).

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> x = pt.constant(np.array([[[0.0, 8.0]]]))
    >>> pt.nn.interpolate(x, scale_factor=2).eval()
    array([[[0., 0., 8., 8.]]])
    >>> pt.nn.interpolate(x, 4, mode="linear").eval()
    array([[[0., 2., 6., 8.]]])
    >>> pt.nn.interpolate(x, 5, mode="linear", align_corners=True).eval()
    array([[[0., 2., 4., 6., 8.]]])
    """
    x = as_floating_point("interpolate", x, 3)
    ours = _mode(mode, x.type.ndim - 2)
    if ours in ("nearest", "") and align_corners is not None:
        raise ValueError(
            f"interpolate: align_corners is for linear and cubic interpolation, not {mode!r}"
        )
    aligned = align_corners is not None and flag("interpolate: align_corners", align_corners)
    antialias = flag("interpolate: antialias", antialias)
    if antialias and (mode not in ("bilinear", "bicubic") or aligned):
        raise ValueError(
            f"interpolate: antialias=True needs mode='bilinear' or 'bicubic' and no "
            f"align_corners, got {mode!r} and align_corners={align_corners}"
        )
    recompute = recompute_scale_factor is not None and flag(
        "interpolate: recompute_scale_factor", recompute_scale_factor
    )
    lengths, factors = _targets(x, size, scale_factor, mode, aligned, recompute)
    if factors is not None and (ours == "linear" or antialias):
        # as in PyTorch, which doesn't change axes whose length stays
        pairs = zip(factors, x.type.shape[2:], strict=True)
        factors = tuple(1.0 if n and math.floor(n * f) == n else f for f, n in pairs)
    if 0 in (*x.type.shape[2:], *(lengths or ())):
        raise ValueError(
            f"interpolate: x and the output must have cells along every spatial axis, got x of "
            f"shape {x.type.shape} and size={lengths}"
        )
    op: Any
    if mode == "area":
        op = AdaptivePool(output_size=lengths, mode="average")
    else:
        op = Resize(
            size=lengths,
            scale=factors,
            axes=tuple(range(2, x.type.ndim)),
            roi=(),
            extrapolation_value=0.0,
            keep_aspect_ratio_policy="stretch",
            **_method(mode, ours, aligned, antialias),
        )
    is_computed = any(isinstance(n, Variable) for n in lengths or ())
    return op.build_inner_graph(x)[0] if is_computed else op(x)
