"""Pooling, with the names, arguments and numbers of PyTorch; over whole images besides."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pytensor.graph.basic import Variable
from pytensor.scalar import discrete_dtypes
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import as_tensor_variable, cast, constant, switch
from pytensor.tensor.batching import lengths_of
from pytensor.tensor.conv.basic import Ints, Pairs, flag, is_int, per_axis
from pytensor.tensor.conv.lengths import conv_transpose_output_length
from pytensor.tensor.math import abs as pt_abs
from pytensor.tensor.math import eq
from pytensor.tensor.moments import widen
from pytensor.tensor.nn.checks import of_shape
from pytensor.tensor.pool.adaptive import AdaptivePool
from pytensor.tensor.pool.arguments import PYTORCH_NAMES, pad_pairs, real_input, window_geometry
from pytensor.tensor.pool.lp import LpPool, checked_norm_type, norm_of_terms
from pytensor.tensor.pool.ops import Pool, PoolWithIndices
from pytensor.tensor.pool.unpool import MaxUnpool
from pytensor.tensor.variable import TensorVariable

type Sizes = int | tuple[int | None, ...] | list[int | None] | None
type OutputSize = Ints | Variable | Sequence[int | Variable] | None


def _windows(
    function: str, n: int, x: TensorVariable, kernel_size: Ints, stride: Ints | None,
    padding: Pairs, dilation: Ints, ceil_mode: bool,
) -> dict[str, Any]:  # fmt: skip
    floor = not flag(f"{function}: ceil_mode", ceil_mode)
    return window_geometry(
        function, n, x, PYTORCH_NAMES, window=kernel_size, stride=stride, padding=padding,
        dilation=dilation, floor=floor,
    )  # fmt: skip


def _max_pool(
    function: str, n: int, x: TensorLike, kernel_size: Ints, stride: Ints | None, padding: Pairs,
    dilation: Ints, ceil_mode: bool, return_indices: bool,
) -> Any:  # fmt: skip
    x = real_input(function, x, n)
    windows = _windows(function, n, x, kernel_size, stride, padding, dilation, ceil_mode)
    op: Any = Pool(mode="max", **windows)
    if flag(f"{function}: return_indices", return_indices):
        op = PoolWithIndices(op=op)
    return op(x)


def _avg_pool(
    function: str, n: int, x: TensorLike, kernel_size: Ints, stride: Ints | None, padding: Pairs,
    ceil_mode: bool, count_include_pad: bool, divisor_override: int | None = None,
) -> TensorVariable:  # fmt: skip
    x = real_input(function, x, n, floating=True)
    windows = _windows(function, n, x, kernel_size, stride, padding, 1, ceil_mode)
    counted = flag(f"{function}: count_include_pad", count_include_pad)
    if divisor_override is None:
        op: Any = Pool(mode="average_inc_pad" if counted else "average_exc_pad", **windows)
        return op(x)
    if not is_int(divisor_override) or divisor_override == 0:
        raise ValueError(
            f"{function}: divisor_override must be an int that isn't 0, got {divisor_override!r}"
        )
    op = Pool(mode="sum", **windows)
    total = op(widen(x))
    return cast(total / constant(np.asarray(divisor_override, total.type.dtype)), x.type.dtype)


def _lp_pool(
    function: str, n: int, x: TensorLike, norm_type: float, kernel_size: Ints,
    stride: Ints | None, ceil_mode: bool,
) -> TensorVariable:  # fmt: skip
    x = real_input(function, x, n, floating=True)
    p = checked_norm_type(function, norm_type)
    windows = _windows(function, n, x, kernel_size, stride, 0, 1, ceil_mode)
    if p % 2 == 0 and windows["ignore_border"]:
        norm: Any = LpPool(norm_type=p, **windows)
        return norm(x)
    # PyTorch takes no absolute values, and counts each window as if it had all its cells.
    average: Any = Pool(mode="average_inc_pad", **windows)
    wide = widen(x)
    dtype = wide.type.dtype
    power = wide ** constant(np.asarray(p, dtype))
    total = average(power) * constant(np.asarray(prod(windows["ws"]), dtype))
    zero = eq(total, 0)  # where the root has no finite derivative
    root = switch(zero, constant(np.asarray(1, dtype)), total) ** constant(np.asarray(1 / p, dtype))
    return cast(switch(zero, constant(np.asarray(0, dtype)), root), x.type.dtype)


def _max_unpool(
    function: str, n: int, x: TensorLike, indices: TensorLike, kernel_size: Ints,
    stride: Ints | None, padding: Pairs, output_size: OutputSize,
) -> TensorVariable:  # fmt: skip
    x, indices = real_input(function, x, n), as_tensor_variable(indices)
    indices = of_shape(function, "indices", indices, lengths_of(x), "that of x")
    if indices.type.dtype not in discrete_dtypes or indices.type.dtype == "bool":
        raise TypeError(f"{function}: indices must be integers, got {indices.type.dtype}")
    ws = per_axis(f"{function}: kernel_size", kernel_size, n, 1)
    steps = ws if stride is None else per_axis(f"{function}: stride", stride, n, 1)
    pad = pad_pairs(f"{function}: padding", padding, n)
    if output_size is None:
        lengths = [
            conv_transpose_output_length(*axis, dilation=1)
            for axis in zip(lengths_of(x)[-n:], ws, pad, steps, strict=True)
        ]
    else:
        lengths = _output_lengths(function, output_size, n, x.type.ndim)
    for length in lengths:
        if isinstance(length, int) and length < 1:
            raise ValueError(
                f"{function}: output lengths must be at least 1, got {lengths} from "
                f"kernel_size={ws}, stride={steps}, padding={pad}, output_size={output_size}"
            )
    known = tuple(length if isinstance(length, int) else None for length in lengths)
    unknown = [cast(length, "int64") for length in lengths if not isinstance(length, int)]
    op: Any = MaxUnpool(lengths=known)
    return op(x, cast(indices, "int64"), *unknown)


def _output_lengths(function: str, output_size: Any, n: int, ndim: int) -> list[Any]:
    """Return the last `n` of `output_size`: ints or scalar variables, or a vector variable."""
    if isinstance(output_size, TensorVariable):
        if output_size.type.ndim != 1 or output_size.type.dtype not in discrete_dtypes:
            raise ValueError(
                f"{function}: output_size must be {n} lengths or a vector of integers, got "
                f"{output_size.type}"
            )
        return [output_size[i - n] for i in range(n)]
    lengths = (output_size,) * n if is_int(output_size) else output_size
    if isinstance(lengths, tuple | list) and len(lengths) in (n, ndim):
        lengths = lengths[-n:]
        if all(
            length.type.ndim == 0 and length.type.dtype in discrete_dtypes
            if isinstance(length, TensorVariable)
            else is_int(length)
            for length in lengths
        ):
            return [v if isinstance(v, TensorVariable) else int(v) for v in lengths]
    raise ValueError(
        f"{function}: output_size must be an int, {n} lengths (ints or integer variables), or "
        f"the whole shape, got {output_size!r}"
    )


def _adaptive_pool(
    function: str, n: int, x: TensorLike, output_size: Sizes, mode: str,
    return_indices: bool = False,
) -> Any:  # fmt: skip
    x = real_input(function, x, n, floating=mode == "average")
    sizes = output_size if isinstance(output_size, tuple | list) else (output_size,) * n
    if len(sizes) != n or not all(m is None or (is_int(m) and m >= 1) for m in sizes):
        raise ValueError(
            f"{function}: output_size must be an int of at least 1 or None (keep the length), or "
            f"{n} of them, got {output_size!r}"
        )
    for axis, length in enumerate(x.type.shape[x.type.ndim - n :]):
        if length == 0 and sizes[axis] is not None:
            raise ValueError(f"{function}: x has no cells along pooled axis {axis}")
    op: Any = AdaptivePool(output_size=tuple(m if m is None else int(m) for m in sizes), mode=mode)
    if flag(f"{function}: return_indices", return_indices):
        op = PoolWithIndices(op=op)
    return op(x)


def _images(function: str, x: TensorLike, *, floating: bool) -> TensorVariable:
    x = real_input(function, x, 1, floating=floating)
    if x.type.ndim < 3:
        raise ValueError(
            f"{function}: x must have axes after batch and channels, it has {x.type.ndim} axes"
        )
    return x


def max_pool1d(
    x: TensorLike, kernel_size: Ints, stride: Ints | None = None, padding: Pairs = 0, *,
    dilation: Ints = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> TensorVariable | Any:  # fmt: skip
    """Return the maxima of windows of the last axis; see `max_pool2d`.

    `x` has shape (..., length).  Arguments for an axis are an int or (int,); `padding` may be a
    pair (before, after) in a tuple.  `indices` are positions in the last axis, flattened, as
    `max_unpool1d` takes them.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.max_pool1d(pt.constant([1.0, 5.0, 2.0, 3.0, 4.0]), 2, ceil_mode=True).eval()
    array([5., 3., 4.])
    """
    return _max_pool(
        "max_pool1d", 1, x, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )


def max_pool2d(
    x: TensorLike, kernel_size: Ints, stride: Ints | None = None, padding: Pairs = 0, *,
    dilation: Ints = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> TensorVariable | Any:  # fmt: skip
    """Return the maxima of windows of the last two axes, as in PyTorch.

    Parameters
    ----------
    x : tensor_like, shape (..., height, width), real numbers
    kernel_size : int or (int, int)
        Cells of a window along each axis.
    stride : int or (int, int), optional
        Distance between windows; default `kernel_size`.
    padding : int, (int, int), or two pairs (before, after)
        Cells added around the image, less than a window.  They count as -inf, or as the
        smallest number of an integer dtype.
    dilation : int or (int, int)
        Distance between neighbouring cells of a window.
    ceil_mode : bool
        Whether a last window may reach past the padded end.  Each window starts on the image or
        on the padding before it.
    return_indices : bool

    Returns
    -------
    values : TensorVariable, shape (..., output height, output width), dtype of `x`
        Each output length is ``(length + before + after - k') // stride + 1`` with
        ``k' = (kernel - 1) * dilation + 1``; in ceil mode the quotient is rounded up, but no
        window starts past the end of the image.
        Differentiable: of equal maxima the first in row-major order takes the gradient.  NaN
        counts as largest.  Nothing is propagated to a window of nothing but -inf that starts on
        padding.
    indices : TensorVariable, int64
        With `return_indices` only: their positions in the flattened last two axes of `x`, as
        `max_unpool2d` takes them.  They never point at padding.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or a window is larger than the padded image.
    TypeError
        If `x` is boolean or complex.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[1.0, 5.0, 2.0, 3.0], [4.0, 0.0, 6.0, 6.0]])
    >>> values, indices = pt.nn.max_pool2d(x, 2, return_indices=True)
    >>> values.eval(), indices.eval()
    (array([[5., 6.]]), array([[1, 6]]))
    """
    return _max_pool(
        "max_pool2d", 2, x, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )


def max_pool3d(
    x: TensorLike, kernel_size: Ints, stride: Ints | None = None, padding: Pairs = 0, *,
    dilation: Ints = 1, ceil_mode: bool = False, return_indices: bool = False,
) -> TensorVariable | Any:  # fmt: skip
    """Return the maxima of windows of the last three axes; see `max_pool2d`.

    `x` has shape (..., depth, height, width).  Arguments for each axis are an int or (int, int,
    int); `padding` may be three pairs.  `indices` are positions in the last three axes, flattened,
    as `max_unpool3d` takes them.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.nn.max_pool3d(np.arange(24.0).reshape(2, 3, 4), (2, 3, 2)).eval()
    array([[[21., 23.]]])
    """
    return _max_pool(
        "max_pool3d", 3, x, kernel_size, stride, padding, dilation, ceil_mode, return_indices
    )


def avg_pool1d(
    x: TensorLike, kernel_size: Ints, stride: Ints | None = None, padding: Pairs = 0, *,
    ceil_mode: bool = False, count_include_pad: bool = True,
) -> TensorVariable:  # fmt: skip
    """Return the averages of windows of the last axis; see `avg_pool2d`.

    `x` has shape (..., length).  Arguments for an axis are an int or (int,); `padding` may be a
    pair (before, after) in a tuple.  There is no `divisor_override`.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.avg_pool1d(pt.constant([1.0, 5.0, 2.0, 4.0]), 2).eval()
    array([3., 3.])
    """
    return _avg_pool("avg_pool1d", 1, x, kernel_size, stride, padding, ceil_mode, count_include_pad)


def avg_pool2d(
    x: TensorLike, kernel_size: Ints, stride: Ints | None = None, padding: Pairs = 0, *,
    ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> TensorVariable:  # fmt: skip
    """Return the averages of windows of the last two axes, as in PyTorch.

    Parameters
    ----------
    x : tensor_like, shape (..., height, width), floating point
    kernel_size : int or (int, int)
        Cells of a window along each axis.
    stride : int or (int, int), optional
        Distance between windows; default `kernel_size`.
    padding : int, (int, int), or two pairs (before, after)
        Cells of 0 added around, less than a window.
    ceil_mode : bool
        Whether a last window may reach past the padded end; as in `max_pool2d`.
    count_include_pad : bool
        Whether a window is divided by the number of its cells on the image and its padding, or
        only on the image.  Cells past the padded end are never counted.
    divisor_override : int, optional
        Divisor of every window's sum instead of the number of its cells.

    Returns
    -------
    TensorVariable, shape (..., output height, output width), dtype of `x`
        Lengths as in `max_pool2d`.  Half precision is summed up in float32.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or a window is larger than the padded image.
    TypeError
        If `x` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[1.0, 5.0, 2.0, 3.0], [4.0, 0.0, 6.0, 6.0]])
    >>> pt.nn.avg_pool2d(x, (1, 2), padding=(0, 1), count_include_pad=False).eval()
    array([[1. , 3.5, 3. ],
           [4. , 3. , 6. ]])
    """
    return _avg_pool(
        "avg_pool2d", 2, x, kernel_size, stride, padding, ceil_mode, count_include_pad,
        divisor_override,
    )  # fmt: skip


def avg_pool3d(
    x: TensorLike, kernel_size: Ints, stride: Ints | None = None, padding: Pairs = 0, *,
    ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> TensorVariable:  # fmt: skip
    """Return the averages of windows of the last three axes; see `avg_pool2d`.

    `x` has shape (..., depth, height, width).  Arguments for each axis are an int or (int, int,
    int); `padding` may be three pairs.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.nn.avg_pool3d(np.arange(24.0).reshape(2, 3, 4), (2, 3, 2)).eval()
    array([[[10.5, 12.5]]])
    """
    return _avg_pool(
        "avg_pool3d", 3, x, kernel_size, stride, padding, ceil_mode, count_include_pad,
        divisor_override,
    )  # fmt: skip


def lp_pool1d(
    x: TensorLike, norm_type: float, kernel_size: Ints, stride: Ints | None = None, *,
    ceil_mode: bool = False,
) -> TensorVariable:  # fmt: skip
    """Return the norms of windows of the last axis; see `lp_pool2d`.

    `x` has shape (..., length).  Arguments for an axis are an int or (int,).

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.lp_pool1d(pt.constant([3.0, -4.0, 0.0, 0.0]), 2, 2).eval()
    array([5., 0.])
    """
    return _lp_pool("lp_pool1d", 1, x, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    x: TensorLike, norm_type: float, kernel_size: Ints, stride: Ints | None = None, *,
    ceil_mode: bool = False,
) -> TensorVariable:  # fmt: skip
    """Return the norms of windows of the last two axes, as in PyTorch.

    A norm is the sum of ``x ** p``, to the power ``1 / p``.

    Parameters
    ----------
    x : tensor_like, shape (..., height, width), floating point
    norm_type : float
        The order p, greater than 0.
    kernel_size : int or (int, int)
        Cells of a window along each axis.
    stride : int or (int, int), optional
        Distance between windows; default `kernel_size`.
    ceil_mode : bool
        Whether a last window may reach past the end; as in `max_pool2d`.  The sum over such a
        window is multiplied by how many times as many cells a whole window has.

    Returns
    -------
    TensorVariable, shape (..., output height, output width), dtype of `x`
        Lengths as in `max_pool2d`.  It is a norm where p is even: no absolute value is taken,
        so that for another p negative sums are NaN.  Where the sum is 0, so is the gradient.

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or a window is larger than the image.
    TypeError
        If `x` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.lp_pool2d(pt.constant([[3.0, -4.0], [0.0, 0.0]]), 2, (1, 2)).eval()
    array([[5.],
           [0.]])
    """
    return _lp_pool("lp_pool2d", 2, x, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(
    x: TensorLike, norm_type: float, kernel_size: Ints, stride: Ints | None = None, *,
    ceil_mode: bool = False,
) -> TensorVariable:  # fmt: skip
    """Return the norms of windows of the last three axes; see `lp_pool2d`.

    `x` has shape (..., depth, height, width).  Arguments for each axis are an int or (int, int,
    int).

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.nn.lp_pool3d(np.ones((1, 2, 2)), 2, (1, 2, 2)).eval()
    array([[[2.]]])
    """
    return _lp_pool("lp_pool3d", 3, x, norm_type, kernel_size, stride, ceil_mode)


def max_unpool1d(
    x: TensorLike, indices: TensorLike, kernel_size: Ints, stride: Ints | None = None,
    padding: Pairs = 0, *, output_size: OutputSize = None,
) -> TensorVariable:  # fmt: skip
    """Write maxima back to where they came from along the last axis; see `max_unpool2d`.

    `x` and `indices` have shape (..., length); `indices` are from `max_pool1d`.  Arguments for an
    axis are an int or (int,); `padding` may be a pair (before, after) in a tuple.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.max_unpool1d(pt.constant([5.0, 6.0]), pt.constant([1, 2]), 2).eval()
    array([0., 5., 6., 0.])
    """
    return _max_unpool("max_unpool1d", 1, x, indices, kernel_size, stride, padding, output_size)


def max_unpool2d(
    x: TensorLike, indices: TensorLike, kernel_size: Ints, stride: Ints | None = None,
    padding: Pairs = 0, *, output_size: OutputSize = None,
) -> TensorVariable:  # fmt: skip
    """Write maxima back to where they came from along the last two axes, and zeros elsewhere.

    Parameters
    ----------
    x : tensor_like, shape (..., height, width), real numbers
    indices : tensor_like of integers, same shape
        From `max_pool2d` with ``return_indices=True``: positions in the last two axes of the
        output, flattened.
    kernel_size, stride : int or (int, int)
        As for the pooling; `stride` is `kernel_size` by default.
    padding : int, (int, int), or two pairs (before, after)
        That of the pooling.
    output_size : int, two in a tuple, or the image's whole shape, optional
        Lengths of the output in place of those below; variables such as ``x.shape`` too.

    Returns
    -------
    TensorVariable, shape (..., output height, output width), dtype of `x`
        Without `output_size` each length is
        ``(m - 1) * stride + kernel - padding before - padding after``, `m` being that of `x`:
        that of the smallest image.  Of several entries for one position the last in row-major
        order stays, and takes the gradient.

    Raises
    ------
    ValueError
        If shapes don't agree, or an argument isn't one of those above.
    TypeError
        If `x` is boolean or complex, or `indices` aren't integers.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> values, indices = pt.constant([[5.0, 6.0]]), pt.constant([[1, 6]])
    >>> pt.nn.max_unpool2d(values, indices, 2).eval()
    array([[0., 5., 0., 0.],
           [0., 0., 6., 0.]])
    """
    return _max_unpool("max_unpool2d", 2, x, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    x: TensorLike, indices: TensorLike, kernel_size: Ints, stride: Ints | None = None,
    padding: Pairs = 0, *, output_size: OutputSize = None,
) -> TensorVariable:  # fmt: skip
    """Write maxima back to where they came from along the last three axes; see `max_unpool2d`.

    `x` and `indices` have shape (..., depth, height, width); `indices` are from `max_pool3d`.
    Arguments for each axis are an int or (int, int, int); `padding` may be three pairs.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> values, indices = pt.constant([[[5.0]]]), pt.constant([[[2]]])
    >>> pt.nn.max_unpool3d(values, indices, (1, 2, 2)).eval()
    array([[[0., 0.],
            [5., 0.]]])
    """
    return _max_unpool("max_unpool3d", 3, x, indices, kernel_size, stride, padding, output_size)


def adaptive_avg_pool1d(x: TensorLike, output_size: Sizes) -> TensorVariable:
    """Average a given number of windows of the last axis; see `adaptive_avg_pool2d`.

    `x` has shape (..., length); `output_size` is an int or None, or one of them in a tuple.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.adaptive_avg_pool1d(pt.constant([1.0, 5.0, 3.0]), 2).eval()
    array([3., 4.])
    """
    return _adaptive_pool("adaptive_avg_pool1d", 1, x, output_size, "average")


def adaptive_avg_pool2d(x: TensorLike, output_size: Sizes) -> TensorVariable:
    """Average a given number of windows along the last two axes, as in PyTorch.

    Parameters
    ----------
    x : tensor_like, shape (..., height, width), floating point
    output_size : int or None, or two of them in a tuple
        Number m of windows along each axis; None keeps the axis as it is.  Of length n, window
        i has the cells from ``floor(i n / m)`` up to but without ``ceil((i + 1) n / m)``.

    Returns
    -------
    TensorVariable, shape ``(..., *output_size)``, dtype of `x`

    Raises
    ------
    ValueError
        If `output_size` isn't as above, or an axis has no cells.
    TypeError
        If `x` isn't floating point.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[1.0, 5.0, 3.0], [0.0, 0.0, 2.0]])
    >>> pt.nn.adaptive_avg_pool2d(x, (1, 2)).eval()
    array([[1.5, 2.5]])
    """
    return _adaptive_pool("adaptive_avg_pool2d", 2, x, output_size, "average")


def adaptive_avg_pool3d(x: TensorLike, output_size: Sizes) -> TensorVariable:
    """Average a given number of windows of the last three axes; see `adaptive_avg_pool2d`.

    `x` has shape (..., depth, height, width); `output_size` is an int or None, or three of them in
    a tuple.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.nn.adaptive_avg_pool3d(np.arange(24.0).reshape(2, 3, 4), (1, 1, 2)).eval()
    array([[[10.5, 12.5]]])
    """
    return _adaptive_pool("adaptive_avg_pool3d", 3, x, output_size, "average")


def adaptive_max_pool1d(
    x: TensorLike, output_size: Sizes, return_indices: bool = False
) -> TensorVariable | Any:
    """Return maxima of a given number of windows of the last axis; see `adaptive_max_pool2d`.

    `x` has shape (..., length); `output_size` is an int or None, or one of them in a tuple.
    `indices` are positions in the last axis, flattened.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.adaptive_max_pool1d(pt.constant([1.0, 5.0, 3.0]), 2).eval()
    array([5., 5.])
    """
    return _adaptive_pool("adaptive_max_pool1d", 1, x, output_size, "max", return_indices)


def adaptive_max_pool2d(
    x: TensorLike, output_size: Sizes, return_indices: bool = False
) -> TensorVariable | Any:
    """Return the maxima of a given number of windows along the last two axes, as in PyTorch.

    Parameters
    ----------
    x : tensor_like, shape (..., height, width), real numbers
    output_size : int or None, or two of them in a tuple
        As for `adaptive_avg_pool2d`.
    return_indices : bool

    Returns
    -------
    values : TensorVariable, shape ``(..., *output_size)``, dtype of `x`
        Of equal maxima the first in row-major order takes the gradient; NaN counts as largest.
    indices : TensorVariable, int64
        With `return_indices` only: positions in the last two axes of `x`, flattened.

    Raises
    ------
    ValueError
        If `output_size` isn't as above, or an axis has no cells.
    TypeError
        If `x` is boolean or complex.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[1.0, 5.0, 3.0], [0.0, 7.0, 2.0]])
    >>> values, indices = pt.nn.adaptive_max_pool2d(x, (2, 1), return_indices=True)
    >>> values.eval().ravel(), indices.eval().ravel()
    (array([5., 7.]), array([1, 4]))
    """
    return _adaptive_pool("adaptive_max_pool2d", 2, x, output_size, "max", return_indices)


def adaptive_max_pool3d(
    x: TensorLike, output_size: Sizes, return_indices: bool = False
) -> TensorVariable | Any:
    """Return maxima of a given number of windows of the last three axes; see `adaptive_max_pool2d`.

    `x` has shape (..., depth, height, width); `output_size` is an int or None, or three of them in
    a tuple.  `indices` are positions in the last three axes, flattened.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.nn.adaptive_max_pool3d(np.arange(24.0).reshape(2, 3, 4), (1, 1, 2)).eval()
    array([[[21., 23.]]])
    """
    return _adaptive_pool("adaptive_max_pool3d", 3, x, output_size, "max", return_indices)


def global_avg_pool(x: TensorLike) -> TensorVariable:
    """Return the averages over all axes after batch and channels.

    Parameters
    ----------
    x : tensor_like, shape ``(batch, channels, *spatial)``, floating point

    Returns
    -------
    TensorVariable, shape (batch, channels, 1, ...), dtype of `x`

    Raises
    ------
    ValueError
        If `x` has less than three axes.
    TypeError
        If it isn't floating point.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.nn.global_avg_pool(np.arange(12.0).reshape(1, 2, 2, 3)).eval().ravel()
    array([2.5, 8.5])
    """
    x = _images("global_avg_pool", x, floating=True)
    return _adaptive_pool("global_avg_pool", x.type.ndim - 2, x, 1, "average")


def global_max_pool(x: TensorLike) -> TensorVariable:
    """Return the maxima over all axes after batch and channels.

    Parameters
    ----------
    x : tensor_like, shape ``(batch, channels, *spatial)``, real numbers

    Returns
    -------
    TensorVariable, shape (batch, channels, 1, ...), dtype of `x`
        Of equal maxima the first in row-major order takes the gradient; NaN counts as largest.

    Raises
    ------
    ValueError
        If `x` has less than three axes.
    TypeError
        If it is boolean or complex.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.nn.global_max_pool(np.arange(12.0).reshape(1, 2, 2, 3)).eval().ravel()
    array([ 5., 11.])
    """
    x = _images("global_max_pool", x, floating=False)
    return _adaptive_pool("global_max_pool", x.type.ndim - 2, x, 1, "max")


def global_lp_pool(x: TensorLike, norm_type: float = 2) -> TensorVariable:
    """Return the norms over all axes after batch and channels, as in ONNX.

    A norm is the sum of ``abs(x) ** p``, to the power ``1 / p``.

    Parameters
    ----------
    x : tensor_like, shape ``(batch, channels, *spatial)``, floating point
    norm_type : float
        The order p, greater than 0.

    Returns
    -------
    TensorVariable, shape (batch, channels, 1, ...), dtype of `x`
        Powers neither overflow nor vanish.  The gradient at cells of 0 is 0.

    Raises
    ------
    ValueError
        If `x` has less than three axes, or `norm_type` isn't a finite positive number.
    TypeError
        If `x` isn't floating point.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.nn.global_lp_pool(np.array([[[3.0, -4.0]]])).eval()
    array([[[5.]]])
    """
    x = _images("global_lp_pool", x, floating=True)
    p = checked_norm_type("global_lp_pool", norm_type)
    terms = pt_abs(widen(x))
    axes, dtype = tuple(range(2, x.type.ndim)), terms.type.dtype
    largest = terms.max(axis=axes, keepdims=True)

    def add_up(powers: list[TensorVariable]) -> TensorVariable:
        (power,) = powers
        return power.sum(axis=axes, keepdims=True, dtype=dtype, acc_dtype=dtype)

    return cast(norm_of_terms([terms], p, largest, add_up), x.type.dtype)
