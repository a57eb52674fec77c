"""Maxima, sums and averages of windows."""

from typing import Any, Literal

from pytensor.tensor import TensorLike
from pytensor.tensor.conv.basic import Ints, Pairs, flag
from pytensor.tensor.families import family
from pytensor.tensor.pool.arguments import (
    PYTORCH_NAMES,
    THEANO_NAMES,
    real_input,
    window_geometry,
)
from pytensor.tensor.pool.ops import POOL_MODES, Pool, PoolWithIndices
from pytensor.tensor.variable import TensorVariable

type PoolMode = Literal["max", "sum", "average_inc_pad", "average_exc_pad"]


def _pool(
    n: Any, name: str, input: TensorLike, ws: Ints, ignore_border: bool = False,
    stride: Ints | None = None, pad: Pairs = 0, mode: PoolMode = "max",
) -> TensorVariable:  # fmt: skip
    """Pool {last} of `input`, with the arguments and defaults of Theano.

    Parameters
    ----------
    input : tensor_like, shape (..., {image})
    ws : {ints}
        Window along each of these axes.
    ignore_border : bool
        True leaves out windows that reach past the padded end (floor mode).  False, the
        default, keeps those that start inside (ceil mode): 5 rows with a window of 2 give 3.
    stride : {ints}, optional
        Distance between windows; default `ws`.
    pad : {pairs}
        Cells added before and after each axis, less than the window.
    mode : {{"max", "sum", "average_inc_pad", "average_exc_pad"}}
        Averages with padding counted, or not.  Padding counts as -inf for the maximum and as 0
        otherwise.

    Returns
    -------
    TensorVariable, shape (..., {output}), dtype of `input`
        Each output length is ``(length + before + after - window) // stride + 1``, in ceil mode
        with the quotient rounded up.  Differentiable; among equal maxima the first in row-major
        order takes the gradient.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or the window is larger than the padded image.
    TypeError
        If `input` is boolean or complex, or an average of integers is asked for.
    """
    if mode not in POOL_MODES:
        raise ValueError(f"{name}: mode must be one of {', '.join(POOL_MODES)}; got {mode!r}")
    axes = len(ws) if n == "n" else n  # type: ignore[arg-type]
    x = real_input(name, input, axes, floating=mode.startswith("average"))
    floor = flag(f"{name}: ignore_border", ignore_border)
    geometry = window_geometry(name, axes, ws, stride, pad, 1, floor, x, THEANO_NAMES)
    return Pool(mode=mode, **geometry)(x)


pool_2d, pool_3d, pool_nd = family(
    _pool,
    "pool_{n}d",
    """
    >>> import numpy as np, pytensor.tensor as pt
    >>> x = pt.constant(np.arange(12.0).reshape(3, 4))
    >>> pt.pool_2d(x, (2, 2)).eval()
    array([[ 5.,  7.],
           [ 9., 11.]])
    """,
    (2, 3, "n"),
)


def _max_pool(
    n: int, name: str, input: TensorLike, kernel_size: Ints, stride: Ints | None = None,
    padding: Pairs = 0, dilation: Ints = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> TensorVariable | Any:  # fmt: skip
    """Maximum over windows of {last}, with the argument names of PyTorch.

    Parameters
    ----------
    input : tensor_like, shape (..., {image}), real numbers
    kernel_size : {ints}
        Cells of a window along each axis.
    stride : {ints}, optional
        Distance between windows; default `kernel_size`.
    padding : {pairs}
        Cells added around the image, less than a window.  They count as -inf, or as the
        smallest number of an integer dtype.
    dilation : {ints}
        Distance between neighbouring cells of a window.
    ceil_mode : bool
        Whether a last window may reach past the padded end.  Each window starts on the image or
        on the padding before it.
    return_indices : bool

    Returns
    -------
    values : TensorVariable, shape (..., {output}), dtype of `input`
        Each output length is ``(length + before + after - k') // stride + 1`` with
        ``k' = (kernel - 1) * dilation + 1``; in ceil mode the quotient is rounded up, but no
        window starts past the end of the image.
        Differentiable: of equal maxima the first in row-major order takes the gradient.  NaN
        counts as largest.  Nothing is propagated to a window of nothing but -inf that starts on
        padding.
    indices : TensorVariable, int64
        With `return_indices` only: positions of the maxima in {last} of `input`, flattened,
        as `max_unpool{n}d` takes them.  They never point at padding.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or a window is larger than the padded image.
    TypeError
        If `input` is boolean or complex.
    """
    x = real_input(name, input, n)
    floor = not flag(f"{name}: ceil_mode", ceil_mode)
    geometry = window_geometry(
        name, n, kernel_size, stride, padding, dilation, floor, x, PYTORCH_NAMES
    )
    op = Pool(mode="max", **geometry)
    with_indices = flag(f"{name}: return_indices", return_indices)
    return PoolWithIndices(op=op)(x) if with_indices else op(x)


max_pool1d, max_pool2d, max_pool3d = family(
    _max_pool,
    "max_pool{n}d",
    """
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[1.0, 5.0, 2.0, 3.0], [4.0, 0.0, 6.0, 6.0]])
    >>> values, indices = pt.max_pool2d(x, 2, return_indices=True)
    >>> values.eval(), indices.eval()
    (array([[5., 6.]]), array([[1, 6]]))
    """,
)


def _avg_pool(
    n: int, name: str, input: TensorLike, kernel_size: Ints, stride: Ints | None = None,
    padding: Pairs = 0, ceil_mode: bool = False, count_include_pad: bool = True, dilation: Ints = 1,
) -> TensorVariable:  # fmt: skip
    """Average over windows of {last}, with the argument names of PyTorch.

    Parameters
    ----------
    input : tensor_like, shape (..., {image}), floating point
    kernel_size : {ints}
        Cells of a window along each axis.
    stride : {ints}, optional
        Distance between windows; default `kernel_size`.
    padding : {pairs}
        Cells of 0 added around, less than a window.
    ceil_mode : bool
        Whether a last window may reach past the padded end; as in `max_pool{n}d`.
    count_include_pad : bool
        Whether a window is divided by the number of its cells on the image and its padding, or
        on the image alone.  Cells past the padded end are never counted.
    dilation : {ints}
        Distance between neighbouring cells of a window.

    Returns
    -------
    TensorVariable, shape (..., {output}), dtype of `input`
        Lengths as in `max_pool{n}d`.  Half precision is summed up in float32.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or a window is larger than the padded image.
    TypeError
        If `input` isn't floating point.
    """
    x = real_input(name, input, n, floating=True)
    floor = not flag(f"{name}: ceil_mode", ceil_mode)
    geometry = window_geometry(
        name, n, kernel_size, stride, padding, dilation, floor, x, PYTORCH_NAMES
    )
    counted = flag(f"{name}: count_include_pad", count_include_pad)
    return Pool(mode="average_inc_pad" if counted else "average_exc_pad", **geometry)(x)


avg_pool1d, avg_pool2d, avg_pool3d = family(
    _avg_pool,
    "avg_pool{n}d",
    """
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[1.0, 5.0, 2.0, 3.0], [4.0, 0.0, 6.0, 6.0]])
    >>> pt.avg_pool2d(x, (1, 2), padding=(0, 1), count_include_pad=False).eval()
    array([[1. , 3.5, 3. ],
           [4. , 3. , 6. ]])
    """,
)
