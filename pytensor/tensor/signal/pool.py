"""Pooling with the arguments of Theano, older names included."""

from pytensor.gradient import pullback
from pytensor.tensor import pool
from pytensor.tensor.pool.arguments import real_input

__all__ = ["max_pool_2d_same_size", "pool_2d", "pool_3d"]


def _older_names(function, pairs):
    """Take each value from the one of two argument names that was used."""
    values = []
    for name, value, older, older_value in pairs:
        if older_value is not None and value is not None:
            raise ValueError(f"{function}: give {name} or its older name {older}, not both")
        values.append(older_value if value is None else value)
    return values


def _pool(function, input, ignore_border, mode, pairs):
    ws, stride, pad = _older_names(function, pairs)
    if ws is None:
        raise ValueError(f"{function}: ws (the window) is missing")
    floor = False if ignore_border is None else ignore_border
    named = getattr(pool, function)
    return named(input, ws, floor, stride, 0 if pad is None else pad, mode)


def pool_2d(
    input,
    ws=None,
    ignore_border=None,
    stride=None,
    pad=None,
    mode="max",
    ds=None,
    st=None,
    padding=None,
):
    """Pool the last two axes of `input`.

    Parameters
    ----------
    input : tensor_like, shape (..., height, width)
    ws : int or (int, int)
        Window along height and width.
    ignore_border : bool, optional
        True leaves out windows that reach past the padded end; None is False, as in Theano.
    stride : int or (int, int), optional
        Distance between windows; default `ws`.
    pad : int or (int, int), optional
        Cells added on both sides of height and of width; default 0.
    mode : {"max", "sum", "average_inc_pad", "average_exc_pad"}
    ds, st, padding
        Older names of `ws`, `stride` and `pad`.

    Returns
    -------
    TensorVariable, shape (..., output height, output width), dtype of `input`

    Raises
    ------
    ValueError
        If `ws` is missing, an argument is given under both of its names, or as
        `pytensor.tensor.pool_2d`.
    TypeError
        As `pytensor.tensor.pool_2d`.

    See Also
    --------
    pytensor.tensor.pool_2d : modes, padding and gradients in full.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> from pytensor.tensor.signal import pool
    >>> x = pt.constant(np.arange(12.0).reshape(3, 4))
    >>> pool.pool_2d(input=x, ds=(2, 2), ignore_border=True).eval()
    array([[5., 7.]])
    """
    pairs = [("ws", ws, "ds", ds), ("stride", stride, "st", st), ("pad", pad, "padding", padding)]
    return _pool("pool_2d", input, ignore_border, mode, pairs)


def pool_3d(
    input,
    ws=None,
    ignore_border=None,
    stride=None,
    pad=None,
    mode="max",
    ds=None,
    st=None,
    padding=None,
):
    """Pool the last three axes of `input`.

    Parameters
    ----------
    input : tensor_like, shape (..., depth, height, width)
    ws, stride, pad : int or (int, int, int)
        As those of `pool_2d`, with a number for depth.
    ignore_border, mode, ds, st, padding
        As those of `pool_2d`.

    Returns
    -------
    TensorVariable, shape (..., output depth, output height, output width), dtype of `input`

    Raises
    ------
    ValueError, TypeError
        As `pool_2d`.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> from pytensor.tensor.signal import pool
    >>> x = pt.constant(np.arange(8.0).reshape(2, 2, 2))
    >>> pool.pool_3d(x, ws=(2, 1, 2), ignore_border=True).eval()
    array([[[5.],
            [7.]]])
    """
    pairs = [("ws", ws, "ds", ds), ("stride", stride, "st", st), ("pad", pad, "padding", padding)]
    return _pool("pool_3d", input, ignore_border, mode, pairs)


def max_pool_2d_same_size(input, patch_size):
    """Set all to zero but the maximum of each patch; patches don't overlap.

    Parameters
    ----------
    input : tensor_like, shape (..., height, width), floating point
    patch_size : (int, int)
        Rows and columns that are too few for a patch become zero.

    Returns
    -------
    TensorVariable, shape and dtype of `input`
        Among equal maxima of a patch the first in row-major order is kept; Theano kept all.

    Raises
    ------
    ValueError
        If `patch_size` isn't one or two ints of at least 1, or the image is smaller.
    TypeError
        If `input` isn't floating point.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> from pytensor.tensor.signal import pool
    >>> pool.max_pool_2d_same_size(np.array([[1.0, 2.0], [4.0, 3.0]]), (2, 2)).eval()
    array([[0., 0.],
           [4., 0.]])
    """
    input = real_input("max_pool_2d_same_size", input, 2, floating=True)
    pooled = pool_2d(input, patch_size, ignore_border=True)
    return pullback(pooled, input, pooled)
