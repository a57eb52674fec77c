"""Norms and distances of vectors, with the names, arguments and numbers of PyTorch."""

import numbers
from collections.abc import Sequence

import numpy as np

from pytensor.gradient import disconnected_grad
from pytensor.tensor import TensorLike
from pytensor.tensor import math as tm
from pytensor.tensor.basic import as_tensor_variable, cast
from pytensor.tensor.conv.basic import flag
from pytensor.tensor.extra_ops import broadcast_arrays
from pytensor.tensor.moments import total
from pytensor.tensor.nn.checks import axis_of, floats, like, nonnegative, single, where
from pytensor.tensor.variable import TensorVariable


def at_least(x: TensorVariable, low: float) -> TensorVariable:
    """Return ``maximum(x, low)`` with the gradient of `x` everywhere."""
    return x + disconnected_grad(tm.maximum(x, like(low, x)) - x)


def norm(
    x: TensorVariable, p: float, axes: tuple[int, ...], *, keepdims: bool = False
) -> TensorVariable:
    """Return the p-norm over some axes; its gradient is 0 where it is 0, not NaN."""
    if np.isinf(p):
        size = tm.abs(x)
        # The largest share the gradient; PyTensor's maximum gives the whole of it to each
        largest = cast(tm.eq(size, tm.max(size, axis=axes, keepdims=True)), x.type.dtype)
        shares = disconnected_grad(largest / total(largest, axes, keepdims=True))
        return total(shares * size, axes, keepdims=keepdims)
    if p == 1:
        return total(tm.abs(x), axes, keepdims=keepdims)
    powers = tm.sqr(x) if p == 2 else _power(tm.abs(x), p)
    return _power(total(powers, axes, keepdims=keepdims), 1 / p)


def _power(x: TensorVariable, p: float) -> TensorVariable:
    """Return ``x ** p`` of numbers that aren't negative; its gradient at 0 is 0, not NaN."""
    is_zero = tm.eq(x, like(0, x))
    positive = where(is_zero, like(1, x), x)
    return where(is_zero, like(0, x), tm.sqrt(positive) if p == 0.5 else positive ** like(p, x))


def order_of_norm(function: str, p: float) -> float:
    """Check the p of a norm, a positive number, or infinity."""
    if isinstance(p, bool) or not isinstance(p, numbers.Real) or not p > 0:
        raise ValueError(f"{function}: p must be a positive number, got {p!r}")
    return float(p)


def distance(
    function: str, x1: TensorVariable, x2: TensorVariable, p: float, eps: float
) -> TensorVariable:
    """Return the p-norm of ``x1 - x2 + eps`` over the last axis."""
    difference = x1 - x2 + like(nonnegative(function, "eps", eps), x1)
    return norm(difference, order_of_norm(function, p), (-1,))


def similarity(x1: TensorVariable, x2: TensorVariable, axis: int, eps: float) -> TensorVariable:
    """Return the cosine of the angle between vectors along an axis."""
    units = [v / at_least(norm(v, 2, (axis,), keepdims=True), eps) for v in (x1, x2)]
    return total(units[0] * units[1], (axis,))


def cosine_similarity(
    x1: TensorLike, x2: TensorLike, dim: int = 1, eps: float = 1e-8
) -> TensorVariable:
    """Return the cosine of the angle between vectors, ``dot(x1, x2) / (|x1| |x2|)``.

    Parameters
    ----------
    x1 : tensor_like, floating point
    x2 : tensor_like, same number of axes
        Cast to the dtype of `x1`; both are broadcast.
    dim : int
        The axis of the vectors.
    eps : float
        The least length that vectors are divided by.

    Returns
    -------
    TensorVariable, shape of the inputs without `dim`
        0 for a vector of zeros.

    Raises
    ------
    ValueError
        If the numbers of axes differ, or an argument isn't one of those above.
    TypeError
        If `x1` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[1.0, 0.0], [3.0, 3.0]])
    >>> pt.nn.cosine_similarity(x, [[0.0, 2.0], [1.0, 1.0]]).eval().round(4)
    array([0., 1.])
    """
    x1, x2 = _pair("cosine_similarity", x1, x2)
    least = nonnegative("cosine_similarity", "eps", eps)
    if x1.type.ndim != x2.type.ndim:
        raise ValueError(
            f"cosine_similarity: x1 and x2 must have the same number of axes, got {x1.type.ndim} "
            f"and {x2.type.ndim}"
        )
    axis = axis_of("cosine_similarity", x1, dim)
    first, second = single(x1, x2)
    if first.type.broadcastable[axis] != second.type.broadcastable[axis]:
        # A vector's length counts all copies of its one entry.
        first, second = broadcast_arrays(first, second)
    return cast(similarity(first, second, axis, least), x1.type.dtype)


def pairwise_distance(
    x1: TensorLike, x2: TensorLike, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> TensorVariable:
    """Return distances between vectors, the p-norm of ``x1 - x2 + eps`` over the last axis.

    Parameters
    ----------
    x1 : tensor_like, shape (..., features), floating point
    x2 : tensor_like, shape (..., features)
        Cast to the dtype of `x1`; both are broadcast.
    p : float
        Positive; it may be infinite.
    eps : float
        Added to each difference, for a gradient where both are equal.
    keepdim : bool
        Whether to keep the last axis, with one entry.

    Returns
    -------
    TensorVariable, shape (...)

    Raises
    ------
    ValueError
        If an input has no axis, or an argument isn't one of those above.
    TypeError
        If `x1` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.pairwise_distance(pt.constant([[3.0, 0.0]]), [[0.0, 4.0]], eps=0).eval()
    array([5.])
    """
    x1, x2 = _pair("pairwise_distance", x1, x2)
    if 0 in (x1.type.ndim, x2.type.ndim):
        raise ValueError("pairwise_distance: x1 and x2 must have 1 axis or more")
    first, second = single(x1, x2)
    out = cast(distance("pairwise_distance", first, second, p, eps), x1.type.dtype)
    return out[..., None] if flag("pairwise_distance: keepdim", keepdim) else out


def normalize(
    x: TensorLike, p: float = 2.0, dim: int | Sequence[int] = 1, eps: float = 1e-12
) -> TensorVariable:
    """Divide vectors by their length, ``x / maximum(norm(x), eps)``.

    Parameters
    ----------
    x : tensor_like, floating point
    p : float
        Of the norm: positive; it may be infinite.
    dim : int or sequence of int
        The axes of the vectors.
    eps : float
        The least length that vectors are divided by.

    Returns
    -------
    TensorVariable, shape of `x`

    Raises
    ------
    ValueError
        If an argument isn't one of those above.
    TypeError
        If `x` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.normalize(pt.constant([[3.0, 4.0], [0.0, 0.0]])).eval()
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    x = floats("normalize", "x", x)
    dims = dim if isinstance(dim, Sequence) else (dim,)
    axes = tuple(axis_of("normalize", x, d) for d in dims)
    least = nonnegative("normalize", "eps", eps)
    (wide,) = single(x)
    lengths = norm(wide, order_of_norm("normalize", p), axes, keepdims=True)
    return cast(wide / tm.maximum(lengths, like(least, wide)), x.type.dtype)


def _pair(function: str, x1: TensorLike, x2: TensorLike) -> tuple[TensorVariable, TensorVariable]:
    x1 = floats(function, "x1", x1)
    return x1, cast(as_tensor_variable(x2), x1.type.dtype)
