"""User functions for pooling windows."""

import numbers

from pytensor.scalar import discrete_dtypes
from pytensor.tensor.basic import as_tensor_variable, cast
from pytensor.tensor.conv.basic import per_axis
from pytensor.tensor.pool.lp import LpPool
from pytensor.tensor.pool.ops import POOL_MODES, Pool, PoolWithIndices
from pytensor.tensor.pool.unpool import MaxUnpool
from pytensor.tensor.pool.windows import pool_output_length
from pytensor.tensor.variable import TensorVariable


def real_input(name, input, n, *, floating=False):
    """Check an input that has `n` axes at least."""
    input = as_tensor_variable(input)
    if input.type.ndim < n:
        raise ValueError(
            f"{name}: input must have at least {n} axes, to pool over {n}; it has "
            f"{input.type.ndim}"
        )
    dtype = input.type.dtype
    if dtype.startswith(("bool", "complex")):
        raise TypeError(f"{name}: input must be of real numbers, got {dtype}; cast it first")
    if floating and dtype in discrete_dtypes:
        raise TypeError(f"{name}: input must be floating-point, got {dtype}; cast it first")
    return input


def _is_length(value):
    return (
        isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 0
    )


def pad_pairs(name, value, n):
    """Cells (before, after) each axis, of an int, one int per axis, or pairs."""
    values = (value,) * n if _is_length(value) else value
    if isinstance(values, tuple | list) and len(values) == n:
        pairs = [(v, v) if _is_length(v) else v for v in values]
        if all(
            isinstance(pair, tuple | list) and len(pair) == 2 and all(map(_is_length, pair))
            for pair in pairs
        ):
            return tuple((int(lo), int(hi)) for lo, hi in pairs)
    raise ValueError(
        f"{name} must be an int of at least 0, or for each of {n} axes such an int or a "
        f"(before, after) pair; got {value!r}"
    )


def _geometry(name, n, window, stride, padding, dilation, floor, input, names):
    """Properties that all windows have, checked."""
    ws = per_axis(f"{name}: {names['ws']}", window, n, 1)
    stride = ws if stride is None else per_axis(f"{name}: stride", stride, n, 1)
    dilation = per_axis(f"{name}: dilation", dilation, n, 1)
    pad = pad_pairs(f"{name}: {names['pad']}", padding, n)
    extents = [(w - 1) * d + 1 for w, d in zip(ws, dilation, strict=True)]
    for extent, pair in zip(extents, pad, strict=True):
        if max(pair) >= extent:
            raise ValueError(
                f"{name}: {names['pad']} must be smaller than the window, got "
                f"{names['pad']}={padding} for {names['ws']}={window}, dilation={dilation}"
            )
    for axis, length in enumerate(input.type.shape[input.type.ndim - n :]):
        if length is None:
            continue
        if pool_output_length(length, extents[axis], stride[axis], pad[axis], floor) < 1:
            raise ValueError(
                f"{name}: {names['ws']}={window} makes a window (size {extents[axis]}) larger "
                f"than the padded image (size {length}, padding {pad[axis]}) along pooled axis "
                f"{axis}; use a smaller window, more padding or {names['ceil']}"
            )
    return {
        "ws": ws,
        "stride": stride,
        "pad": pad,
        "dilation": dilation,
        "ignore_border": bool(floor),
    }


THEANO_NAMES = {"ws": "ws", "pad": "pad", "ceil": "ignore_border=False"}
PYTORCH_NAMES = {"ws": "kernel_size", "pad": "padding", "ceil": "ceil_mode=True"}


def pool_nd(input, ws, ignore_border=False, stride=None, pad=0, mode="max"):
    """Pool over the last ``len(ws)`` axes; see `pool_2d` for the arguments.

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
    geometry = _geometry(name, n, ws, stride, pad, 1, ignore_border, input, THEANO_NAMES)
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
        If an average of integers is asked for.

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
    """Pool the last three axes of `input`; see `pool_2d` for arguments and errors.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.pool_3d(pt.constant(np.arange(12.0).reshape(2, 2, 3)), (2, 1, 2)).eval()
    array([[[ 7.,  8.],
            [10., 11.]]])
    """
    return _theano_pool("pool_3d", input, 3, ws, ignore_border, stride, pad, mode)


def _max_pool(
    name, n, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
):
    input = real_input(name, input, n)
    geometry = _geometry(
        name, n, kernel_size, stride, padding, dilation, not ceil_mode, input, PYTORCH_NAMES
    )
    op = Pool(mode="max", **geometry)
    return PoolWithIndices(op=op)(input) if return_indices else op(input)


def max_pool1d(
    input,
    kernel_size,
    stride=None,
    padding=0,
    dilation=1,
    ceil_mode=False,
    return_indices=False,
):
    """Maximum over windows of the last axis; see `max_pool2d`.

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
    """Maximum over windows of the last three axes; see `max_pool2d`.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.max_pool3d(pt.constant(np.arange(16.0).reshape(2, 2, 4)), 2).eval()
    array([[[13., 15.]]])
    """
    return _max_pool(
        "max_pool3d", 3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )


def _avg_pool(
    name, n, input, kernel_size, stride, padding, ceil_mode, count_include_pad, dilation
):
    input = real_input(name, input, n, floating=True)
    geometry = _geometry(
        name, n, kernel_size, stride, padding, dilation, not ceil_mode, input, PYTORCH_NAMES
    )
    mode = "average_inc_pad" if count_include_pad else "average_exc_pad"
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
    """Average over windows of the last axis; see `avg_pool2d`.

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
    """Average over windows of the last three axes; see `avg_pool2d`.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.avg_pool3d(pt.constant(np.arange(16.0).reshape(2, 2, 4)), 2).eval()
    array([[[6.5, 8.5]]])
    """
    return _avg_pool(
        "avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, dilation
    )


def checked_norm_type(name, norm_type):
    if (
        not isinstance(norm_type, numbers.Real)
        or isinstance(norm_type, bool)
        or not 0 < norm_type < float("inf")
    ):
        raise ValueError(f"{name}: norm_type must be a finite positive number, got {norm_type!r}")
    return float(norm_type)


def _lp_pool(name, n, input, norm_type, kernel_size, stride, padding, dilation, ceil_mode):
    input = real_input(name, input, n, floating=True)
    norm_type = checked_norm_type(name, norm_type)
    geometry = _geometry(
        name, n, kernel_size, stride, padding, dilation, not ceil_mode, input, PYTORCH_NAMES
    )
    return LpPool(norm_type=norm_type, **geometry)(input)


def lp_pool1d(
    input, norm_type, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False
):
    """Norm over windows of the last axis; see `lp_pool2d`.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.lp_pool1d(pt.constant([[3.0, -4.0, 0.0, 2.0]]), 2, 2).eval()
    array([[5., 2.]])
    """
    return _lp_pool(
        "lp_pool1d", 1, input, norm_type, kernel_size, stride, padding, dilation, ceil_mode
    )


def lp_pool2d(
    input, norm_type, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False
):
    """Norm over windows of the last two axes: the sum of ``abs(x) ** p``, to the power ``1 / p``.

    Parameters
    ----------
    input : tensor_like, shape (..., height, width), floating point
    norm_type : float
        The order p, greater than 0.
    kernel_size, stride, padding, dilation, ceil_mode
        As for `max_pool2d`; padding counts as 0.

    Returns
    -------
    TensorVariable, shape (..., output height, output width), dtype of `input`
        Powers neither overflow nor vanish: the largest cell of a window is divided out.  As in
        ONNX, and unlike in PyTorch, the absolute value is taken for odd p too.  The gradient at
        cells of 0 is 0.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or a window is larger than the padded image.
    TypeError
        If `input` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.lp_pool2d(pt.constant([[3.0, -4.0], [0.0, 0.0]]), 2, (1, 2)).eval()
    array([[5.],
           [0.]])
    """
    return _lp_pool(
        "lp_pool2d", 2, input, norm_type, kernel_size, stride, padding, dilation, ceil_mode
    )


def lp_pool3d(
    input, norm_type, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False
):
    """Norm over windows of the last three axes; see `lp_pool2d`.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.lp_pool3d(pt.constant([[[3.0, -4.0], [0.0, 0.0]]]), 1, (1, 2, 2)).eval()
    array([[[7.]]])
    """
    return _lp_pool(
        "lp_pool3d", 3, input, norm_type, kernel_size, stride, padding, dilation, ceil_mode
    )


def _max_unpool(name, n, input, indices, kernel_size, stride, padding, output_size):
    input, indices = real_input(name, input, n), as_tensor_variable(indices)
    if indices.type.ndim != input.type.ndim or any(
        a is not None and b is not None and a != b
        for a, b in zip(input.type.shape, indices.type.shape, strict=True)
    ):
        raise ValueError(
            f"{name}: indices must have the shape of input, got shapes {indices.type.shape} and "
            f"{input.type.shape}"
        )
    if indices.type.dtype not in discrete_dtypes or indices.type.dtype == "bool":
        raise TypeError(f"{name}: indices must be integers, got {indices.type.dtype}")
    ws = per_axis(f"{name}: kernel_size", kernel_size, n, 1)
    stride = ws if stride is None else per_axis(f"{name}: stride", stride, n, 1)
    pad = pad_pairs(f"{name}: padding", padding, n)
    if output_size is None:
        lengths = [
            (m - 1) * s + w - lo - hi
            for m, w, s, (lo, hi) in zip(_lengths(input, n), ws, stride, pad, strict=True)
        ]
    else:
        lengths = _output_lengths(name, output_size, n, input.type.ndim)
    for length in lengths:
        if isinstance(length, int) and length < 1:
            raise ValueError(
                f"{name}: output lengths must be at least 1, got {lengths} from "
                f"kernel_size={ws}, stride={stride}, padding={pad}, output_size={output_size}"
            )
    known = tuple(length if isinstance(length, int) else None for length in lengths)
    unknown = [cast(length, "int64") for length in lengths if not isinstance(length, int)]
    return MaxUnpool(lengths=known)(input, cast(indices, "int64"), *unknown)


def _lengths(x, n):
    first = x.type.ndim - n
    static = x.type.shape[first:]
    return [x.shape[a] if m is None else m for a, m in enumerate(static, start=first)]


def _output_lengths(name, output_size, n, ndim):
    """The last `n` of `output_size`: ints or scalar variables, or a vector variable."""
    if isinstance(output_size, TensorVariable):
        if output_size.type.ndim != 1 or output_size.type.dtype not in discrete_dtypes:
            raise ValueError(
                f"{name}: output_size must be {n} lengths or a vector of integers, got "
                f"{output_size.type}"
            )
        return [output_size[i - n] for i in range(n)]
    lengths = (output_size,) * n if _is_length(output_size) else output_size
    if isinstance(lengths, tuple | list) and len(lengths) in (n, ndim):
        lengths = lengths[-n:]
        if all(
            length.type.ndim == 0 and length.type.dtype in discrete_dtypes
            if isinstance(length, TensorVariable)
            else _is_length(length)
            for length in lengths
        ):
            return [v if isinstance(v, TensorVariable) else int(v) for v in lengths]
    raise ValueError(
        f"{name}: output_size must be an int, {n} lengths (ints or integer variables), or the "
        f"whole shape, got {output_size!r}"
    )


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Write maxima back to where they came from along the last axis; see `max_unpool2d`.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.max_unpool1d(pt.constant([[5.0, 3.0]]), pt.constant([[1, 3]]), 2).eval()
    array([[0., 5., 0., 3.]])
    """
    return _max_unpool("max_unpool1d", 1, input, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Write maxima back to where they came from, and zeros elsewhere.

    Parameters
    ----------
    input : tensor_like, shape (..., height, width)
    indices : tensor_like of integers, same shape
        From `max_pool2d` with ``return_indices=True``.
    kernel_size, stride, padding
        Those of the pooling.  They give the output lengths, as its smallest image.
    output_size : int, two lengths, or the image's whole shape, optional
        Lengths of the last two axes in place of these; variables such as ``x.shape`` too.

    Returns
    -------
    TensorVariable, shape (..., *lengths), dtype of `input`
        Length along an axis is ``(m - 1) * stride + kernel - padding before - padding after``
        without `output_size`.  Of several entries for one position the last in row-major order
        stays, and takes the gradient.

    Raises
    ------
    ValueError
        If shapes don't agree, or an argument isn't one of those above.
    TypeError
        If `indices` aren't integers.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> values, indices = pt.constant([[5.0, 6.0]]), pt.constant([[1, 6]])
    >>> pt.max_unpool2d(values, indices, 2).eval()
    array([[0., 5., 0., 0.],
           [0., 0., 6., 0.]])
    """
    return _max_unpool("max_unpool2d", 2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Write maxima back to where they came from along the last three axes; see `max_unpool2d`.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.max_unpool3d(pt.constant([[[5.0]]]), pt.constant([[[3]]]), (1, 2, 2)).eval()
    array([[[0., 0.],
            [0., 5.]]])
    """
    return _max_unpool("max_unpool3d", 3, input, indices, kernel_size, stride, padding, output_size)
