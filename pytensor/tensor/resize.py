"""Resampling of the spatial axes of a tensor, with the numbers of ONNX's Resize."""

import numbers

import numpy as np

import pytensor.tensor.basic as ptb
import pytensor.tensor.math as ptm
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.tensor.basic import as_tensor_variable, cast, constant
from pytensor.tensor.shape import Shape_i, specify_shape
from pytensor.tensor.symbolic import TensorSymbolicOp
from pytensor.tensor.type import float_dtypes
from pytensor.tensor.vjp import SymbolicPullback

RESIZE_MODES = ("nearest", "linear")
COORDINATE_MODES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
)
NEAREST_MODES = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


class _Symbolic:
    """The few functions that the coordinate formulas need, on variables; NumPy has the same."""

    floor = staticmethod(ptm.floor)
    ceil = staticmethod(ptm.ceil)
    clip = staticmethod(ptm.clip)
    maximum = staticmethod(ptm.maximum)

    @staticmethod
    def arange(stop):
        return cast(ptb.arange(stop), "float64")


class Resize(TensorSymbolicOp):
    """Resample the last axes, one after the other, each as a weighted sum of shifted lookups.

    Parameters
    ----------
    size : tuple of int, or None
        Output lengths of the last ``len(size)`` axes; else `scale` gives their factors.
    scale : tuple of float, or None
        Output length is ``floor(length * factor)``.
    mode, coordinate_transformation_mode, nearest_mode : str
        As in ONNX.  `nearest_mode` is "" unless `mode` is "nearest".
    """

    __props__ = ("size", "scale", "mode", "coordinate_transformation_mode", "nearest_mode")

    @property
    def n_spatial(self):
        return len(self.size if self.scale is None else self.scale)

    def output_length(self, length, axis):
        """Output length of the resized axis number `axis`, for an integer or variable."""
        if self.size is not None:
            return self.size[axis]
        if isinstance(length, numbers.Integral):
            out = int(np.floor(length * self.scale[axis]))
            if out < 1:
                raise ValueError(
                    f"resize: scale={self.scale[axis]} leaves no cell of length {length} along "
                    f"resized axis {axis}; use a larger scale"
                )
            return out
        return cast(ptm.floor(cast(length, "float64") * np.float64(self.scale[axis])), "int64")

    def taps(self, length, axis, xp=np):
        """Where each output cell of one axis reads from, and with which weight.

        Parameters
        ----------
        length : int, or scalar variable with ``xp=_Symbolic``
        axis : int, number of the resized axis

        Returns
        -------
        list of (indices, weights)
            One pair per tap, each of the output's length; weights are None for 1.
        """
        out = self.output_length(length, axis)
        factor = out / length if self.scale is None else np.float64(self.scale[axis])
        i = xp.arange(out) * 1.0
        how = self.coordinate_transformation_mode
        if how == "asymmetric":
            x = i / factor
        elif how == "align_corners":
            x = i * ((length - 1) / xp.maximum(out - 1, 1))
        else:
            x = (i + 0.5) / factor - 0.5
            if how == "pytorch_half_pixel":
                x = x * (xp.clip(out, 1, 2) - 1)
            elif how == "half_pixel_symmetric":
                # the part of the output that the factor's rounding cut off, shared by both ends
                x = x + length / 2 * (1 - out / (factor * length))
        if self.mode == "nearest":
            rounded = {
                "round_prefer_floor": lambda: xp.ceil(x - 0.5),
                "round_prefer_ceil": lambda: xp.floor(x + 0.5),
                "floor": lambda: xp.floor(x),
                "ceil": lambda: xp.ceil(x),
            }[self.nearest_mode]()
            return [(xp.clip(rounded, 0, length - 1).astype("int64"), None)]
        low = xp.floor(x)
        upper_weight = x - low
        return [
            (xp.clip(low, 0, length - 1).astype("int64"), 1 - upper_weight),
            (xp.clip(low + 1, 0, length - 1).astype("int64"), upper_weight),
        ]

    def build_inner_graph(self, x):
        n = self.n_spatial
        out = x
        for i in range(n):
            axis = x.type.ndim - n + i
            length = x.type.shape[axis]
            symbolic = length is None
            taps = self.taps(
                out.shape[axis] if symbolic else length, i, _Symbolic if symbolic else np
            )
            terms = []
            for indices, weights in taps:
                term = out[(slice(None),) * axis + (indices,)]
                if weights is not None:
                    shape = [-1 if a == axis else 1 for a in range(x.type.ndim)]
                    weights = as_tensor_variable(weights).astype(x.type.dtype)
                    term = term * weights.reshape(shape)
                terms.append(term)
            out = terms[0] if len(terms) == 1 else ptm.add(*terms)
            shape = list(out.type.shape)
            shape[axis] = None if symbolic and self.size is None else self.output_length(length, i)
            out = specify_shape(out, shape)
        return [out]

    def infer_shape(self, node, shapes):
        # JAX knows lengths while it traces as long as they are made by plain arithmetic
        (shape,) = shapes
        (out,) = node.outputs
        n = self.n_spatial
        if self.size is not None:
            spatial = [constant(length, dtype="int64") for length in self.size]
        elif all(factor.is_integer() for factor in self.scale):
            spatial = [v * int(f) for v, f in zip(shape[-n:], self.scale, strict=True)]
        else:
            spatial = [Shape_i(axis)(out) for axis in range(out.type.ndim - n, out.type.ndim)]
        return [(*shape[:-n], *spatial)]

    def pullback(self, inputs, outputs, cotangents):
        (x,) = inputs
        (cotangent,) = cotangents
        if isinstance(cotangent.type, DisconnectedType):
            return [disconnected_type()]
        return [SymbolicPullback(op=self)(x, cotangent)]


def _one_of(name, value, allowed):
    if value not in allowed:
        raise ValueError(f"resize: {name} must be one of {', '.join(allowed)}; got {value!r}")


def _sizes_or_factors(name, values, n, kind):
    values = (values,) * n if isinstance(values, numbers.Real) else values
    if (
        not isinstance(values, tuple | list)
        or not 1 <= len(values) <= n
        or not all(isinstance(v, kind) and not isinstance(v, bool) and v > 0 for v in values)
    ):
        what = "int" if kind is numbers.Integral else "number"
        raise ValueError(
            f"resize: {name} must be one positive {what}, or at most {n} (one per last axis of "
            f"the input after batch and channels), got {values!r}"
        )
    return tuple(int(v) if kind is numbers.Integral else float(v) for v in values)


def resize(
    input,
    size=None,
    scale=None,
    mode="nearest",
    coordinate_transformation_mode="half_pixel",
    nearest_mode="round_prefer_floor",
):
    """Resample the spatial axes of `input`; the same numbers as ONNX's Resize.

    Parameters
    ----------
    input : tensor_like, shape (batch, channels, *spatial), floating point
    size : int or tuple of int
        Length of each resized axis afterwards.  Give this or `scale`.
    scale : float or tuple of float
        Factor for each resized axis; the length becomes ``floor(length * factor)``.
    mode : {"nearest", "linear"}
        Linear interpolation is separable: bilinear over two axes.  Shrinking doesn't average.
    coordinate_transformation_mode : str
        Which place x in the input belongs to place i of the output (factor f, lengths n and m):
        ``"half_pixel"``: (i + 0.5) / f - 0.5; ``"pytorch_half_pixel"``: the same, 0 if m is 1;
        ``"half_pixel_symmetric"``: the same, centred where rounding cut m;
        ``"align_corners"``: i (n - 1) / (m - 1); ``"asymmetric"``: i / f.
    nearest_mode : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}
        How x is rounded for ``mode="nearest"``.

    Returns
    -------
    TensorVariable, shape (batch, channels, *new spatial), dtype of `input`
        Differentiable.

    Raises
    ------
    ValueError
        If neither or both of `size` and `scale` are given, or an argument isn't one of those above.
    TypeError
        If `input` isn't floating point.

    Notes
    -----
    Coordinates are computed in float64, by ONNX runtimes in float32: where a place falls exactly
    between two cells, and the factor isn't a binary fraction, a nearest lookup can differ.

    References
    ----------
    ONNX operator specification, Resize.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> x = pt.constant(np.array([[[[1.0, 2.0]]]]))
    >>> pt.resize(x, scale=2).eval()[0, 0]
    array([[1., 1., 2., 2.],
           [1., 1., 2., 2.]])
    """
    input = as_tensor_variable(input)
    n = input.type.ndim - 2
    if n < 1:
        raise ValueError(
            f"resize: the input must have batch, channel and spatial axes, got "
            f"{input.type.ndim} axes"
        )
    if input.type.dtype not in float_dtypes:
        raise TypeError(
            f"resize: the input must be floating point, got {input.type.dtype}; cast it first"
        )
    if (size is None) == (scale is None):
        raise ValueError("resize: give exactly one of size and scale")
    _one_of("mode", mode, RESIZE_MODES)
    _one_of("coordinate_transformation_mode", coordinate_transformation_mode, COORDINATE_MODES)
    _one_of("nearest_mode", nearest_mode, NEAREST_MODES)
    if size is not None:
        size = _sizes_or_factors("size", size, n, numbers.Integral)
    else:
        scale = _sizes_or_factors("scale", scale, n, numbers.Real)
    op = Resize(
        size=size,
        scale=scale,
        mode=mode,
        coordinate_transformation_mode=coordinate_transformation_mode,
        nearest_mode=nearest_mode if mode == "nearest" else "",
    )
    return op(input)
