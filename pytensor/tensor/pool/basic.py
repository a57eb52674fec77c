"""Maxima, sums and averages of windows."""

from pytensor.tensor.conv.basic import flag
from pytensor.tensor.pool.arguments import (
    PYTORCH_NAMES,
    THEANO_NAMES,
    real_input,
    window_geometry,
)
from pytensor.tensor.pool.ops import POOL_MODES, Pool, PoolWithIndices


def pool_nd(input, ws, ignore_border=False, stride=None, pad=0, mode="max"):
    """Pool the last ``len(ws)`` axes of `input`, with the arguments and defaults of Theano.

    Parameters
    ----------
    input : tensor_like, shape (..., *lengths), with as many lengths as `ws` has
    ws : tuple of int
        Window along each pooled axis.
    ignore_border : bool
        True leaves out windows that reach past the padded end (floor mode).  False, the default,
        keeps those that start inside (ceil mode).
    stride : int or tuple of int, optional
        Distance between windows; default `ws`.
    pad : int, tuple of int, or tuple of pairs (before, after)
        Cells added before and after each pooled axis, less than the window.
    mode : {"max", "sum", "average_inc_pad", "average_exc_pad"}
        Averages with padding counted, or not.  Padding counts as -inf for the maximum and as 0
        otherwise.

    Returns
    -------
    TensorVariable, shape (..., *output lengths), dtype of `input`
        Each output length is ``(length + before + after - window) // stride + 1``, in ceil mode
        with the quotient rounded up.  Differentiable; among equal maxima the first in row-major
        order takes the gradient.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or the window is larger than the padded image.
    TypeError
        If `input` is boolean or complex, or an average of integers is asked for.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.pool_nd(pt.constant([1.0, 5.0, 2.0]), (2,)).eval()
    array([5., 2.])
    """
    return _theano_pool("pool_nd", input, len(ws), ws, ignore_border, stride, pad, mode)


def _theano_pool(name, input, n, ws, ignore_border, stride, pad, mode):
    if mode not in POOL_MODES:
        raise ValueError(f"{name}: mode must be one of {', '.join(POOL_MODES)}; got {mode!r}")
    input = real_input(name, input, n, floating=mode.startswith("average"))
    floor = flag(f"{name}: ignore_border", ignore_border)
    geometry = window_geometry(name, n, ws, stride, pad, 1, floor, input, THEANO_NAMES)
    return Pool(mode=mode, **geometry)(input)


def pool_2d(input, ws, ignore_border=False, stride=None, pad=(0, 0), mode="max"):
    """Pool the last two axes of `input`, with the arguments and defaults of Theano.

    Parameters
    ----------
    input : tensor_like, shape (..., height, width)
    ws : int or (int, int)
        Window along height and width.
    ignore_border : bool
        True leaves out windows that reach past the padded end (floor mode).  False, the default,
        keeps those that start inside (ceil mode): 5 rows with a window of 2 give 3 rows.
    stride : int or (int, int), optional
        Distance between windows; default `ws`.
    pad : int, (int, int), or two pairs (before, after)
        Cells added on both sides of height and of width, each less than the window.
    mode : {"max", "sum", "average_inc_pad", "average_exc_pad"}
        Averages with padding counted, or not.  Padding counts as -inf for the maximum and as 0
        otherwise.

    Returns
    -------
    TensorVariable, shape (..., output height, output width), dtype of `input`
        Differentiable; among equal maxima the first in row-major order takes the gradient.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or the window is larger than the padded image.
    TypeError
        If `input` is boolean or complex, or an average of integers is asked for.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> x = pt.constant(np.arange(12.0).reshape(3, 4))
    >>> pt.pool_2d(x, (2, 2)).eval()
    array([[ 5.,  7.],
           [ 9., 11.]])
    """
    return _theano_pool("pool_2d", input, 2, ws, ignore_border, stride, pad, mode)


def pool_3d(input, ws, ignore_border=False, stride=None, pad=(0, 0, 0), mode="max"):
    """Pool the last three axes of `input`, with the arguments and defaults of Theano.

    Parameters
    ----------
    input : tensor_like, shape (..., depth, height, width)
    ws : int or (int, int, int)
        Window along depth, height and width.
    ignore_border : bool
        True leaves out windows that reach past the padded end (floor mode).  False, the default,
        keeps those that start inside (ceil mode).
    stride : int or (int, int, int), optional
        Distance between windows; default `ws`.
    pad : int, (int, int, int), or three pairs (before, after)
        Cells added before and after each axis, less than the window.
    mode : {"max", "sum", "average_inc_pad", "average_exc_pad"}
        Averages with padding counted, or not.  Padding counts as -inf for the maximum and as 0
        otherwise.

    Returns
    -------
    TensorVariable, shape (..., output depth, output height, output width), dtype of `input`
        Each output length is ``(length + before + after - window) // stride + 1``, in ceil mode
        with the quotient rounded up.  Differentiable; among equal maxima the first in row-major
        order takes the gradient.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or the window is larger than the padded image.
    TypeError
        If `input` is boolean or complex, or an average of integers is asked for.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.pool_3d(pt.constant(np.arange(12.0).reshape(2, 2, 3)), (2, 1, 2)).eval()
    array([[[ 7.,  8.],
            [10., 11.]]])
    """
    return _theano_pool("pool_3d", input, 3, ws, ignore_border, stride, pad, mode)


def _max_pool(name, n, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices):
    input = real_input(name, input, n)
    floor = not flag(f"{name}: ceil_mode", ceil_mode)
    geometry = window_geometry(
        name, n, kernel_size, stride, padding, dilation, floor, input, PYTORCH_NAMES
    )
    op = Pool(mode="max", **geometry)
    with_indices = flag(f"{name}: return_indices", return_indices)
    return PoolWithIndices(op=op)(input) if with_indices else op(input)


def max_pool1d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    dilation=1,
    ceil_mode=False,
    return_indices=False,
):
    """Maximum over windows of the last axis, with the argument names of PyTorch.

    Parameters
    ----------
    input : tensor_like, shape (..., length), real numbers
    kernel_size : int or (int,)
        Cells of a window along the axis.
    stride : int or (int,), optional
        Distance between windows; default `kernel_size`.
    padding : int or one pair (before, after) in a tuple
        Cells added around, less than a window; as in `max_pool2d` they count as -inf.
    dilation : int or (int,)
        Distance between neighbouring cells of a window.
    ceil_mode, return_indices : bool
        As in `max_pool2d`.

    Returns
    -------
    values : TensorVariable, shape (..., output length), dtype of `input`
        The output length is ``(length + before + after - k') // stride + 1`` with
        ``k' = (kernel - 1) * dilation + 1``; in ceil mode the quotient is rounded up, but no window
        starts past the end of the image.
        Gradients, NaN and -inf are as in `max_pool2d`.
    indices : TensorVariable, int64
        With `return_indices` only: positions of the maxima along the axis of
        `input`, as `max_unpool1d` takes them.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or a window is larger than the padded image.
    TypeError
        If `input` is boolean or complex.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.max_pool1d(pt.constant([[1.0, 5.0, 2.0, 3.0]]), 2).eval()
    array([[5., 3.]])
    """
    return _max_pool(
        "max_pool1d", 1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )


def max_pool2d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    dilation=1,
    ceil_mode=False,
    return_indices=False,
):
    """Maximum over windows of the last two axes, with the argument names of PyTorch.

    Parameters
    ----------
    input : tensor_like, shape (..., height, width), real numbers
    kernel_size : int or (int, int)
        Cells of a window along height and width.
    stride : int or (int, int), optional
        Distance between windows; default `kernel_size`.
    padding : int, (int, int), or two pairs (before, after)
        Cells added around the image, less than a window.  They count as -inf, or as the smallest
        number of an integer dtype.
    dilation : int or (int, int)
        Distance between neighbouring cells of a window.
    ceil_mode : bool
        Whether a last window may reach past the padded end.  Each window starts on the image or
        on the padding before it.
    return_indices : bool

    Returns
    -------
    values : TensorVariable, shape (..., output height, output width), dtype of `input`
        Differentiable: of equal maxima the first in row-major order takes the gradient.  NaN
        counts as largest.  Nothing is propagated to a window of nothing but -inf that starts on
        padding.
    indices : TensorVariable, int64
        With `return_indices` only: positions of the maxima in the flattened last two axes of
        `input`, as `max_unpool2d` takes them.  They never point at padding.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or a window is larger than the padded image.
    TypeError
        If `input` is boolean or complex.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[1.0, 5.0, 2.0, 3.0], [4.0, 0.0, 6.0, 6.0]])
    >>> values, indices = pt.max_pool2d(x, 2, return_indices=True)
    >>> values.eval(), indices.eval()
    (array([[5., 6.]]), array([[1, 6]]))
    """
    return _max_pool(
        "max_pool2d", 2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )


def max_pool3d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    dilation=1,
    ceil_mode=False,
    return_indices=False,
):
    """Maximum over windows of the last three axes, with the argument names of PyTorch.

    Parameters
    ----------
    input : tensor_like, shape (..., depth, height, width), real numbers
    kernel_size : int or (int, int, int)
        Cells of a window along each axis.
    stride : int or (int, int, int), optional
        Distance between windows; default `kernel_size`.
    padding : int, (int, int, int), or three pairs (before, after)
        Cells added around, less than a window; as in `max_pool2d` they count as -inf.
    dilation : int or (int, int, int)
        Distance between neighbouring cells of a window.
    ceil_mode, return_indices : bool
        As in `max_pool2d`.

    Returns
    -------
    values : TensorVariable, dtype of `input`
        Of shape (..., output depth, output height, output width).
        Each output length is ``(length + before + after - k') // stride + 1`` with
        ``k' = (kernel - 1) * dilation + 1``; in ceil mode the quotient is rounded up, but no window
        starts past the end of the image.
        Gradients, NaN and -inf are as in `max_pool2d`.
    indices : TensorVariable, int64
        With `return_indices` only: positions of the maxima in the flattened last three axes of
        `input`, as `max_unpool3d` takes them.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or a window is larger than the padded image.
    TypeError
        If `input` is boolean or complex.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.max_pool3d(pt.constant(np.arange(16.0).reshape(2, 2, 4)), 2).eval()
    array([[[13., 15.]]])
    """
    return _max_pool(
        "max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )


def _avg_pool(name, n, input, kernel_size, stride, padding, ceil_mode, count_include_pad, dilation):
    input = real_input(name, input, n, floating=True)
    floor = not flag(f"{name}: ceil_mode", ceil_mode)
    geometry = window_geometry(
        name, n, kernel_size, stride, padding, dilation, floor, input, PYTORCH_NAMES
    )
    counted = flag(f"{name}: count_include_pad", count_include_pad)
    mode = "average_inc_pad" if counted else "average_exc_pad"
    return Pool(mode=mode, **geometry)(input)


def avg_pool1d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    ceil_mode=False,
    count_include_pad=True,
    dilation=1,
):
    """Average over windows of the last axis, with the argument names of PyTorch.

    Parameters
    ----------
    input : tensor_like, shape (..., length), floating point
    kernel_size : int or (int,)
        Cells of a window along the axis.
    stride : int or (int,), optional
        Distance between windows; default `kernel_size`.
    padding : int or one pair (before, after) in a tuple
        Cells of 0 added around, less than a window.
    ceil_mode : bool
        Whether a last window may reach past the padded end; as in `max_pool2d`.
    count_include_pad : bool
        Whether to divide by the number of cells on the image and its padding, or on the image
        alone; as in `avg_pool2d`.
    dilation : int or (int,)
        Distance between neighbouring cells of a window.

    Returns
    -------
    TensorVariable, shape (..., output length), dtype of `input`
        The output length is ``(length + before + after - k') // stride + 1`` with
        ``k' = (kernel - 1) * dilation + 1``; in ceil mode the quotient is rounded up, but no window
        starts past the end of the image.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or a window is larger than the padded image.
    TypeError
        If `input` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.avg_pool1d(pt.constant([[1.0, 5.0, 2.0, 3.0]]), 2).eval()
    array([[3. , 2.5]])
    """
    return _avg_pool(
        "avg_pool1d", 1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, dilation
    )


def avg_pool2d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    ceil_mode=False,
    count_include_pad=True,
    dilation=1,
):
    """Average over windows of the last two axes, with the argument names of PyTorch.

    Parameters
    ----------
    input : tensor_like, shape (..., height, width), floating point
    kernel_size, stride, padding, ceil_mode, dilation
        As for `max_pool2d`; padding counts as 0.
    count_include_pad : bool
        Whether a window is divided by the number of its cells on the image and its padding, or
        on the image alone.  Cells past the padded end are never counted.

    Returns
    -------
    TensorVariable, shape (..., output height, output width), dtype of `input`
        Half precision is summed up in float32.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or a window is larger than the padded image.
    TypeError
        If `input` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[1.0, 5.0, 2.0, 3.0], [4.0, 0.0, 6.0, 6.0]])
    >>> pt.avg_pool2d(x, (1, 2), padding=(0, 1), count_include_pad=False).eval()
    array([[1. , 3.5, 3. ],
           [4. , 3. , 6. ]])
    """
    return _avg_pool(
        "avg_pool2d", 2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, dilation
    )


def avg_pool3d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    ceil_mode=False,
    count_include_pad=True,
    dilation=1,
):
    """Average over windows of the last three axes, with the argument names of PyTorch.

    Parameters
    ----------
    input : tensor_like, shape (..., depth, height, width), floating point
    kernel_size : int or (int, int, int)
        Cells of a window along each axis.
    stride : int or (int, int, int), optional
        Distance between windows; default `kernel_size`.
    padding : int, (int, int, int), or three pairs (before, after)
        Cells of 0 added around, less than a window.
    ceil_mode : bool
        Whether a last window may reach past the padded end; as in `max_pool2d`.
    count_include_pad : bool
        Whether to divide by the number of cells on the image and its padding, or on the image
        alone; as in `avg_pool2d`.
    dilation : int or (int, int, int)
        Distance between neighbouring cells of a window.

    Returns
    -------
    TensorVariable, shape (..., output depth, output height, output width), dtype of `input`
        Each output length is ``(length + before + after - k') // stride + 1`` with
        ``k' = (kernel - 1) * dilation + 1``; in ceil mode the quotient is rounded up, but no window
        starts past the end of the image.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or a window is larger than the padded image.
    TypeError
        If `input` isn't floating point.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.avg_pool3d(pt.constant(np.arange(16.0).reshape(2, 2, 4)), 2).eval()
    array([[[6.5, 8.5]]])
    """
    return _avg_pool(
        "avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, dilation
    )
