"""Maxima, sums and averages of windows, by the arguments of Theano."""

from typing import Any, Literal

from pytensor.tensor import TensorLike
from pytensor.tensor.conv.basic import Ints, Pairs, flag
from pytensor.tensor.pool.arguments import THEANO_NAMES, real_input, window_geometry
from pytensor.tensor.pool.ops import POOL_MODES, Pool
from pytensor.tensor.variable import TensorVariable

type PoolMode = Literal["max", "sum", "average_inc_pad", "average_exc_pad"]


def _pool(
    name: str, n: int, input: TensorLike, ws: Ints, ignore_border: bool, stride: Ints | None,
    pad: Pairs, mode: PoolMode, dilation: Ints = 1,
) -> TensorVariable:  # fmt: skip
    if mode not in POOL_MODES:
        raise ValueError(f"{name}: mode must be one of {', '.join(POOL_MODES)}; got {mode!r}")
    x = real_input(name, input, n, floating=mode.startswith("average"))
    floor = flag(f"{name}: ignore_border", ignore_border)
    geometry = window_geometry(
        name, n, x, THEANO_NAMES, window=ws, stride=stride, padding=pad, dilation=dilation,
        floor=floor,
    )  # fmt: skip
    op: Any = Pool(mode=mode, **geometry)
    return op(x)


def pool_2d(
    input: TensorLike, ws: Ints, ignore_border: bool = False, stride: Ints | None = None,
    pad: Pairs = 0, mode: PoolMode = "max",
) -> TensorVariable:  # fmt: skip
    """Pool the last two axes by Theano's arguments, in ceil mode; PyTorch's: `nn.max_pool2d`.

    Parameters
    ----------
    input : tensor_like, shape (..., height, width)
    ws : int or (int, int)
        Window along each of these axes.
    ignore_border : bool
        True leaves out windows that reach past the padded end (floor mode).  False, the
        default, keeps those that start inside (ceil mode): 5 rows with a window of 2 give 3.
    stride : int or (int, int), optional
        Distance between windows; default `ws`.
    pad : int, (int, int), or two pairs (before, after)
        Cells added before and after each axis, less than the window.
    mode : {"max", "sum", "average_inc_pad", "average_exc_pad"}
        Averages with padding counted, or not.  Padding counts as -inf for the maximum and as 0
        otherwise.

    Returns
    -------
    TensorVariable, shape (..., output height, output width), dtype of `input`
        Each output length is ``(length + before + after - window) // stride + 1``, in ceil mode
        with the quotient rounded up.  Differentiable; among equal maxima the first in row-major
        order takes the gradient.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or the window is larger than the padded image.
    TypeError
        If `input` is boolean or complex, or an average of integers is asked for.

    See Also
    --------
    pytensor.tensor.nn.max_pool2d, pytensor.tensor.nn.avg_pool2d : PyTorch's arguments.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> x = pt.constant(np.arange(12.0).reshape(3, 4))
    >>> pt.pool_2d(x, (2, 2)).eval()
    array([[ 5.,  7.],
           [ 9., 11.]])
    """
    return _pool("pool_2d", 2, input, ws, ignore_border, stride, pad, mode)


def pool_nd(
    input: TensorLike, ws: tuple[int, ...] | list[int], ignore_border: bool = False,
    stride: Ints | None = None, pad: Pairs = 0, mode: PoolMode = "max", *, dilation: Ints = 1,
) -> TensorVariable:  # fmt: skip
    """Pool the last ``len(ws)`` axes by Theano's arguments.

    Parameters
    ----------
    input : tensor_like, shape ``(..., *lengths)``
    ws : tuple of int
        Window along each of the pooled axes.
    ignore_border, stride, pad, mode
        As for `pool_2d`, for ``len(ws)`` axes.
    dilation : int or tuple of int
        Distance between neighbouring cells of a window.

    Returns
    -------
    TensorVariable, shape ``(..., *output)``, dtype of `input`
        As for `pool_2d`, with ``(window - 1) * dilation + 1`` in the place of the window.

    Raises
    ------
    ValueError, TypeError
        As `pool_2d` does.

    Examples
    --------
    >>> import numpy as np
    >>> from pytensor.tensor.pool import pool_nd
    >>> pool_nd(np.arange(5.0), (2,), mode="sum").eval()
    array([1., 5., 4.])
    """
    return _pool("pool_nd", len(ws), input, ws, ignore_border, stride, pad, mode, dilation)
