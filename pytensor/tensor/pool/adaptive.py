"""Pooling to a given number of windows per axis."""

from typing import Any

import numpy as np

from pytensor.graph.facts import precision
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import (
    arange,
    cast,
    constant,
    expand_dims,
    switch,
    take_along_axis,
    zeros_like,
)
from pytensor.tensor.batching import batch_rule, leading_batch, own_batch_axes, shifted
from pytensor.tensor.conv.basic import flag, is_int
from pytensor.tensor.families import family
from pytensor.tensor.math import abs as pt_abs
from pytensor.tensor.math import argmax, minimum
from pytensor.tensor.pool.arguments import real_input
from pytensor.tensor.pool.lp import checked_norm_type, norm_of_terms
from pytensor.tensor.pool.ops import (
    GatherAtMaxima,
    PoolWithIndices,
    accumulation_dtype,
    flat_positions,
    symbolic_pullback,
)
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.symbolic import TensorSymbolicOp
from pytensor.tensor.variable import TensorVariable

type Sizes = int | tuple[int | None, ...] | list[int | None] | None


def adaptive_bins(length: Any, windows: int) -> Any:
    """First cell of each window, and the one after its last: floor(i n / m), ceil((i + 1) n / m).

    `length` n is an int or a variable, `windows` m an int; arrays or variables accordingly.
    """
    i = np.arange(windows) if isinstance(length, int) else arange(windows)
    return (i * length) // windows, ((i + 1) * length + (windows - 1)) // windows


class AdaptivePool(TensorSymbolicOp):
    """Maximum or average of windows that share out the last ``len(output_size)`` axes.

    `output_size` has the number of windows per axis, or None to keep it; `mode` is "max" or
    "average".
    """

    __props__ = ("output_size", "mode")

    def build_inner_graph(self, x):
        if self.mode == "max":
            return [self._fold_maxima(x, None)[0]]
        out = cast(x, accumulation_dtype(x.type.dtype))
        for i in self._pooled_axes():
            axis = x.type.ndim - len(self.output_size) + i
            cells, inside, number = self._windows(out, axis, self.output_size[i])
            if inside is not None:
                shape = [*inside.shape, *[1] * (x.type.ndim - 1 - axis)]
                cells = switch(inside.reshape(shape, ndim=len(shape)), cells, 0)
                number = number.reshape([-1, *[1] * (x.type.ndim - 1 - axis)])
            total = cells.sum(axis=axis + 1, dtype=out.type.dtype, acc_dtype=out.type.dtype)
            out = total / cast(number, out.type.dtype)
        return [self._with_lengths(cast(out, x.type.dtype))]

    def _pooled_axes(self):
        return [i for i, m in reversed(list(enumerate(self.output_size))) if m is not None]

    def _with_lengths(self, out):
        n = len(self.output_size)
        known = zip(self.output_size, out.type.shape[-n:], strict=True)
        return specify_shape(
            out, [*out.type.shape[:-n], *(s if m is None else m for m, s in known)]
        )

    def _windows(self, x, axis, windows):
        """Split an axis into one of `windows` and one of the cells of each.

        Also returns which of the cells are inside (None for all), and their number.
        """
        length = x.type.shape[axis]
        if windows == 1:
            return expand_dims(x, axis), None, x.shape[axis] if length is None else length
        if length is not None and length % windows == 0:
            shape = list(x.shape)
            shape[axis : axis + 1] = [windows, length // windows]
            return x.reshape(shape), None, length // windows
        if length is None:
            length = x.shape[axis]
            first, end = adaptive_bins(length, windows)
            most = (length + (windows - 1)) // windows + 1
            cells = first[:, None] + arange(most)
            positions = minimum(cells, end[:, None] - 1)
        else:
            first, end = adaptive_bins(length, windows)
            cells = first[:, None] + np.arange((end - first).max())
            positions = constant(np.minimum(cells, end[:, None] - 1))
            cells, first, end = constant(cells), constant(first), constant(end)
        return x[(slice(None),) * axis + (positions,)], cells < end[:, None], end - first

    def _fold_maxima(self, x, companion):
        """Maxima, and for each of them the entry of `companion` at its place."""
        for i in self._pooled_axes():
            axis = x.type.ndim - len(self.output_size) + i
            cells, _, _ = self._windows(x, axis, self.output_size[i])
            # of equals the first, and NaN before all numbers
            winner = argmax(cells, axis=axis + 1, keepdims=True)
            x = take_along_axis(cells, winner, axis=axis + 1).squeeze(axis + 1)
            if companion is not None:
                companion, _, _ = self._windows(companion, axis, self.output_size[i])
                companion = take_along_axis(companion, winner, axis=axis + 1).squeeze(axis + 1)
        if companion is not None:
            companion = self._with_lengths(companion)
        return self._with_lengths(x), companion

    def maxima_and_indices(self, x):
        """Maxima, and their positions in the flattened pooled axes of `x`."""
        positions = flat_positions(x, len(self.output_size))
        return self._fold_maxima(x, zeros_like(x, dtype="int64") + positions)

    def at_maxima(self, x, values):
        """The entries of `values`, of the shape of `x`, where the maxima are."""
        return self._fold_maxima(x, values)[1]

    def infer_shape(self, node, shapes):
        n = len(self.output_size)
        lengths = [
            length if m is None else constant(m, dtype="int64")
            for m, length in zip(self.output_size, shapes[0][-n:], strict=True)
        ]
        return [(*shapes[0][:-n], *lengths)] * len(node.outputs)

    def derivative(self, x, tangent):
        """Change of the output by a change of the input."""
        return GatherAtMaxima(op=self)(x, tangent) if self.mode == "max" else self(tangent)

    def pullback(self, inputs, outputs, cotangents):
        return [symbolic_pullback(self, inputs[0], cotangents[0])]


def _adaptive(name, n, input, output_size, mode, return_indices=False):
    input = real_input(name, input, n, floating=mode == "average")
    sizes = (output_size,) * n if not isinstance(output_size, tuple | list) else output_size
    if len(sizes) != n or not all(m is None or (is_int(m) and m >= 1) for m in sizes):
        raise ValueError(
            f"{name}: output_size must be an int of at least 1 or None (keep the length), or "
            f"{n} of them, got {output_size!r}"
        )
    for axis, length in enumerate(input.type.shape[input.type.ndim - n :]):
        if length == 0 and sizes[axis] is not None:
            raise ValueError(f"{name}: input has no cells along pooled axis {axis}")
    op = AdaptivePool(output_size=tuple(m if m is None else int(m) for m in sizes), mode=mode)
    with_indices = flag(f"{name}: return_indices", return_indices)
    return PoolWithIndices(op=op)(input) if with_indices else op(input)


def _adaptive_avg(n: int, name: str, input: TensorLike, output_size: Sizes) -> TensorVariable:
    """Average over a given number of windows along {last}, as in PyTorch.

    Parameters
    ----------
    input : tensor_like, shape (..., {image}), floating point
    output_size : int or None, or {number} of them in a tuple
        Number m of windows along each axis; None keeps the axis as it is.  Of length n, window
        i has the cells from ``floor(i n / m)`` up to but without ``ceil((i + 1) n / m)``.

    Returns
    -------
    TensorVariable, shape ``(..., *output_size)``, dtype of `input`

    Raises
    ------
    ValueError
        If `output_size` isn't as above, or an axis has no cells.
    TypeError
        If `input` isn't floating point.
    """
    return _adaptive(name, n, input, output_size, "average")


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = family(
    _adaptive_avg,
    "adaptive_avg_pool{n}d",
    """
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[1.0, 5.0, 3.0], [0.0, 0.0, 2.0]])
    >>> pt.adaptive_avg_pool2d(x, (1, 2)).eval()
    array([[1.5, 2.5]])
    """,
)


def _adaptive_max(
    n: int, name: str, input: TensorLike, output_size: Sizes, return_indices: bool = False
) -> TensorVariable | Any:
    """Maximum over a given number of windows along {last}, as in PyTorch.

    Parameters
    ----------
    input : tensor_like, shape (..., {image}), real numbers
    output_size : int or None, or {number} of them in a tuple
        As for `adaptive_avg_pool{n}d`.
    return_indices : bool

    Returns
    -------
    values : TensorVariable, shape ``(..., *output_size)``, dtype of `input`
        Of equal maxima the first in row-major order takes the gradient; NaN counts as largest.
    indices : TensorVariable, int64
        With `return_indices` only: positions in {last} of `input`, flattened.

    Raises
    ------
    ValueError
        If `output_size` isn't as above, or an axis has no cells.
    TypeError
        If `input` is boolean or complex.
    """
    return _adaptive(name, n, input, output_size, "max", return_indices)


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = family(
    _adaptive_max,
    "adaptive_max_pool{n}d",
    """
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[1.0, 5.0, 3.0], [0.0, 7.0, 2.0]])
    >>> values, indices = pt.adaptive_max_pool2d(x, (2, 1), return_indices=True)
    >>> values.eval().ravel(), indices.eval().ravel()
    (array([5., 7.]), array([1, 4]))
    """,
)


def _image(name: str, input: TensorLike, *, floating: bool) -> TensorVariable:
    input = real_input(name, input, 1, floating=floating)
    if input.type.ndim < 3:
        raise ValueError(
            f"{name}: input must have axes after batch and channels, it has {input.type.ndim} axes"
        )
    return input


def global_max_pool(input: TensorLike) -> TensorVariable:
    """Maximum over all axes after batch and channels.

    Parameters
    ----------
    input : tensor_like, shape ``(batch, channels, *spatial)``, real numbers

    Returns
    -------
    TensorVariable, shape (batch, channels, 1, ...), dtype of `input`
        Of equal maxima the first in row-major order takes the gradient; NaN counts as largest.

    Raises
    ------
    ValueError
        If `input` has less than three axes.
    TypeError
        If it is boolean or complex.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.global_max_pool(np.arange(12.0).reshape(1, 2, 2, 3)).eval().ravel()
    array([ 5., 11.])
    """
    input = _image("global_max_pool", input, floating=False)
    return _adaptive("global_max_pool", input.type.ndim - 2, input, 1, "max")


def global_average_pool(input: TensorLike) -> TensorVariable:
    """Average over all axes after batch and channels.

    Parameters
    ----------
    input : tensor_like, shape ``(batch, channels, *spatial)``, floating point

    Returns
    -------
    TensorVariable, shape (batch, channels, 1, ...), dtype of `input`

    Raises
    ------
    ValueError
        If `input` has less than three axes.
    TypeError
        If it isn't floating point.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.global_average_pool(np.arange(12.0).reshape(1, 2, 2, 3)).eval().ravel()
    array([2.5, 8.5])
    """
    input = _image("global_average_pool", input, floating=True)
    return _adaptive("global_average_pool", input.type.ndim - 2, input, 1, "average")


def global_lp_pool(input: TensorLike, norm_type: float = 2) -> TensorVariable:
    """Norm over all axes after batch and channels: the sum of ``abs(x) ** p``, to ``1 / p``.

    Parameters
    ----------
    input : tensor_like, shape ``(batch, channels, *spatial)``, floating point
    norm_type : float
        The order p, greater than 0.

    Returns
    -------
    TensorVariable, shape (batch, channels, 1, ...), dtype of `input`
        Powers neither overflow nor vanish.  The gradient at cells of 0 is 0.

    Raises
    ------
    ValueError
        If `input` has less than three axes, or `norm_type` isn't a finite positive number.
    TypeError
        If `input` isn't floating point.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.global_lp_pool(np.array([[[3.0, -4.0]]])).eval()
    array([[[5.]]])
    """
    input = _image("global_lp_pool", input, floating=True)
    p = checked_norm_type("global_lp_pool", norm_type)
    terms = pt_abs(cast(input, accumulation_dtype(input.type.dtype)))
    axes, dtype = tuple(range(2, input.type.ndim)), terms.type.dtype
    largest = terms.max(axis=axes, keepdims=True)

    def add_up(powers):
        (power,) = powers
        return power.sum(axis=axes, keepdims=True, dtype=dtype, acc_dtype=dtype)

    return cast(norm_of_terms([terms], p, largest, add_up), input.type.dtype)


batch_rule(AdaptivePool)(leading_batch)
own_batch_axes.register(AdaptivePool, lambda op, ndim: range(ndim - len(op.output_size)))
shifted.register(AdaptivePool, lambda op, n: op)
precision.register(AdaptivePool, lambda op: "cheap")
