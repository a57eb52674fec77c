"""Convolutions and their transposes, with the names, arguments and numbers of PyTorch.

Kernels aren't mirrored: what networks call a convolution is a cross-correlation.
"""

from typing import Any, Literal

from pytensor.tensor import TensorLike
from pytensor.tensor.basic import as_tensor_variable, cast, expand_dims
from pytensor.tensor.batching import lengths_of
from pytensor.tensor.conv.basic import (
    Ints,
    Pairs,
    is_int,
    pairs_per_axis,
    per_axis,
    transposed_convolution,
)
from pytensor.tensor.conv.ops import Conv, ConvTranspose
from pytensor.tensor.nn.checks import of_shape
from pytensor.tensor.type import float_dtypes
from pytensor.tensor.variable import TensorVariable

type Padding = Literal["same", "valid"] | Pairs


def _operand(
    function: str, name: str, value: TensorLike, ndims: tuple[int, ...], axes: str
) -> TensorVariable:
    value = as_tensor_variable(value)
    if value.type.ndim not in ndims:
        raise ValueError(f"{function}: {name} must have {axes}; it has {value.type.ndim}")
    if value.type.dtype not in float_dtypes:
        raise TypeError(
            f"{function}: {name} must be floating point, got {value.type.dtype}; cast it first"
        )
    return value


def _operands(
    function: str, n: int, x: TensorLike, weight: TensorLike
) -> tuple[TensorVariable, TensorVariable, bool]:
    """Return `x` with a batch axis, `weight`, and whether `x` had none."""
    axes = f"{n + 2} axes, {n} of them spatial"
    image = _operand(function, "x", x, (n + 1, n + 2), f"{axes}, or {n + 1} without a batch")
    single = image.type.ndim == n + 1
    filters = _operand(function, "weight", weight, (n + 2,), axes)
    return (expand_dims(image, 0) if single else image), filters, single


def _groups(function: str, groups: int) -> int:
    if not is_int(groups) or groups < 1:
        raise ValueError(f"{function}: groups must be an int of at least 1, got {groups!r}")
    return int(groups)


def _pairs(function: str, padding: Any, n: int, names: str = "") -> tuple[tuple[int, int], ...]:
    pairs = pairs_per_axis(padding, n)
    if pairs is None:
        raise ValueError(
            f"{function}: padding must be {names}an int of at least 0, or for each of {n} axes "
            f"such an int or a pair (before, after); got {padding!r}"
        )
    return pairs


def _border_mode(
    function: str, padding: Padding, stride: tuple[int, ...], n: int
) -> Literal["same"] | tuple[tuple[int, int], ...]:
    if isinstance(padding, str) and padding == "same":
        if any(step != 1 for step in stride):
            raise ValueError(f"{function}: padding='same' needs stride=1, got stride={stride}")
        return "same"
    if isinstance(padding, str) and padding == "valid":
        return ((0, 0),) * n
    return _pairs(function, padding, n, "'same', 'valid', ")


def _with_bias(function: str, out: TensorVariable, bias: TensorLike | None) -> TensorVariable:
    if bias is None:
        return out
    why = "one number for each channel of the output"
    bias = of_shape(function, "bias", as_tensor_variable(bias), lengths_of(out)[1:2], why)
    return out + cast(bias, out.type.dtype).dimshuffle("x", 0, *["x"] * (out.type.ndim - 2))


def _conv(
    function: str, n: int, x: TensorLike, weight: TensorLike, bias: TensorLike | None,
    stride: Ints, padding: Padding, dilation: Ints, groups: int,
) -> TensorVariable:  # fmt: skip
    x, weight, single = _operands(function, n, x, weight)
    stride = per_axis(f"{function}: stride", stride, n)
    dilation = per_axis(f"{function}: dilation", dilation, n)
    op: Any = Conv(
        border_mode=_border_mode(function, padding, stride, n),
        subsample=stride,
        filter_dilation=dilation,
        num_groups=_groups(function, groups),
        filter_flip=False,
    )
    out = _with_bias(function, op.for_kernel(weight.type.shape[2:])(x, weight), bias)
    return out.squeeze(0) if single else out


def _conv_transpose(
    function: str, n: int, x: TensorLike, weight: TensorLike, bias: TensorLike | None,
    stride: Ints, padding: Pairs, output_padding: Ints, groups: int, dilation: Ints,
    output_size: Ints | None,
) -> TensorVariable:  # fmt: skip
    x, weight, single = _operands(function, n, x, weight)
    op: Any = ConvTranspose(
        border_mode=_pairs(function, padding, n),
        subsample=per_axis(f"{function}: stride", stride, n),
        filter_dilation=per_axis(f"{function}: dilation", dilation, n),
        num_groups=_groups(function, groups),
        filter_flip=False,
    )
    out = transposed_convolution(op, x, weight, output_padding, output_size, "output_size")
    out = _with_bias(function, out, bias)
    return out.squeeze(0) if single else out


def conv1d(
    x: TensorLike, weight: TensorLike, bias: TensorLike | None = None, *, stride: Ints = 1,
    padding: Padding = 0, dilation: Ints = 1, groups: int = 1,
) -> TensorVariable:  # fmt: skip
    """Return the convolution of a batch of sequences with a bank of filters; see `conv2d`.

    `x` has shape (batch, channels, length) or, without a batch, (channels, length), and `weight`
    (out channels, channels / groups, kernel length).  Arguments for an axis are an int or (int,);
    `padding` may be a pair (before, after) in a tuple.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x, weight = pt.constant([[[1.0, 2.0, 4.0, 8.0]]]), pt.constant([[[-1.0, 1.0]]])
    >>> pt.nn.conv1d(x, weight, [10.0]).eval()
    array([[[11., 12., 14.]]])
    """
    return _conv("conv1d", 1, x, weight, bias, stride, padding, dilation, groups)


def conv2d(
    x: TensorLike, weight: TensorLike, bias: TensorLike | None = None, *, stride: Ints = 1,
    padding: Padding = 0, dilation: Ints = 1, groups: int = 1,
) -> TensorVariable:  # fmt: skip
    """Return the convolution of a batch of images with a bank of filters, as in PyTorch.

    Parameters
    ----------
    x : tensor_like, shape (batch, channels, height, width), floating point
        Or (channels, height, width), without a batch; the result has none then.
    weight : tensor_like, shape (out channels, channels / groups, kernel height, kernel width)
        Floating point; may be computed at run time.  The kernel isn't mirrored.
    bias : tensor_like, shape (out channels,), optional
    stride : int or (int, int)
        Distance between neighbouring places of the kernel.
    padding : int, (int, int), two pairs (before, after), "same" or "valid"
        Zeros around; a pair has those before and after an axis.  ``"valid"``: none.
        ``"same"``: as many as keep the size, one more after than before where their number is
        odd; it needs a stride of 1.
    dilation : int or (int, int)
        Distance between neighbouring cells of the kernel.
    groups : int
        Channels and filters are divided into that many groups, each convolved on its own;
        equal to the number of channels it is a depth-wise convolution.

    Returns
    -------
    TensorVariable, shape (batch, out channels, output height, output width)
        Of the common dtype of `x` and `weight`.  With ``k' = (k - 1) * dilation + 1``, each
        output length is ``(length + before + after - k') // stride + 1``.  Differentiable to any
        order.

    Raises
    ------
    ValueError
        If ranks, channels and groups don't match, the kernel is larger than the padded image,
        or an argument isn't one of those above.  Shapes that only run time knows are checked
        then.
    TypeError
        If `x` or `weight` isn't floating point.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> image = np.arange(12.0).reshape(1, 1, 3, 4)
    >>> edges = np.array([[[[1.0, -1.0]]]])
    >>> pt.nn.conv2d(image, edges, stride=(1, 2)).eval()[0, 0]
    array([[-1., -1.],
           [-1., -1.],
           [-1., -1.]])
    """
    return _conv("conv2d", 2, x, weight, bias, stride, padding, dilation, groups)


def conv3d(
    x: TensorLike, weight: TensorLike, bias: TensorLike | None = None, *, stride: Ints = 1,
    padding: Padding = 0, dilation: Ints = 1, groups: int = 1,
) -> TensorVariable:  # fmt: skip
    """Return the convolution of a batch of volumes with a bank of filters; see `conv2d`.

    `x` has shape (batch, channels, depth, height, width) or, without a batch, (channels, depth,
    height, width), and `weight` (out channels, channels / groups, kernel depth, kernel height,
    kernel width).  Arguments for each axis are an int or (int, int, int); `padding` may be three
    pairs.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.nn.conv3d(np.ones((1, 1, 2, 2, 3)), np.ones((1, 1, 2, 2, 2))).eval()
    array([[[[[8., 8.]]]]])
    """
    return _conv("conv3d", 3, x, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(
    x: TensorLike, weight: TensorLike, bias: TensorLike | None = None, *, stride: Ints = 1,
    padding: Pairs = 0, output_padding: Ints = 0, groups: int = 1, dilation: Ints = 1,
    output_size: Ints | None = None,
) -> TensorVariable:  # fmt: skip
    """Return the transposed convolution of a batch of sequences; see `conv_transpose2d`.

    `x` has shape (batch, in channels, length) or, without a batch, (in channels, length), and
    `weight` (in channels, out channels / groups, kernel length).  Arguments for an axis are an int
    or (int,); `padding` may be a pair (before, after) in a tuple.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x, weight = pt.constant([[[1.0, 2.0]]]), pt.constant([[[1.0, 10.0, 100.0]]])
    >>> pt.nn.conv_transpose1d(x, weight, stride=2).eval()
    array([[[  1.,  10., 102.,  20., 200.]]])
    """
    return _conv_transpose(
        "conv_transpose1d", 1, x, weight, bias, stride, padding, output_padding, groups,
        dilation, output_size,
    )  # fmt: skip


def conv_transpose2d(
    x: TensorLike, weight: TensorLike, bias: TensorLike | None = None, *, stride: Ints = 1,
    padding: Pairs = 0, output_padding: Ints = 0, groups: int = 1, dilation: Ints = 1,
    output_size: Ints | None = None,
) -> TensorVariable:  # fmt: skip
    """Return the transposed convolution of a batch of images, as in PyTorch.

    It is the gradient of `conv2d` for its input, as a layer: every cell of the input adds the
    kernel, times its value, to the output, `stride` cells further for each.

    Parameters
    ----------
    x : tensor_like, shape (batch, in channels, height, width), floating point
        Or (in channels, height, width), without a batch; the result has none then.
    weight : tensor_like, shape (in channels, out channels / groups, kernel height, kernel width)
        Floating point; may be computed at run time.  The kernel isn't mirrored.
    bias : tensor_like, shape (out channels,), optional
    stride : int or (int, int)
        Distance in the output between the kernels of neighbouring cells.
    padding : int, (int, int), or two pairs (before, after)
        Cells that are cut off, before and after each axis: those that the convolution would add.
    output_padding : int or (int, int)
        What the output has more along each axis, at its end; less than the larger of stride and
        dilation.  It is zero where no kernel reaches it.  In mode JAX, gradients with one that
        isn't less than the stride need a known number of channels.
    groups : int
        As for `conv2d`.
    dilation : int or (int, int)
        As for `conv2d`.
    output_size : int or (int, int), optional
        Lengths of the output, from which `output_padding` is worked out.  Where the sizes of
        input or kernel aren't known until run time, that's done and checked then, and the
        padding must be less than the stride.

    Returns
    -------
    TensorVariable, shape (batch, out channels, output height, output width)
        Of the common dtype of `x` and `weight`.  With ``k' = (k - 1) * dilation + 1``, each
        output length is ``(length - 1) * stride + k' - before - after + output_padding``.
        Differentiable to any order.

    Raises
    ------
    ValueError
        If ranks, channels and groups don't match, the padding would leave no output, the
        `output_size` is impossible (the error says which are possible), or an argument isn't
        one of those above.  Shapes that only run time knows are checked then.
    TypeError
        If `x` or `weight` isn't floating point.

    References
    ----------
    V. Dumoulin and F. Visin, A guide to convolution arithmetic for deep learning,
    arXiv:1603.07285, chapter 4.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> image = np.array([[[[1.0, 2.0]]]])
    >>> kernel = np.array([[[[1.0, 10.0, 100.0]]]])
    >>> pt.nn.conv_transpose2d(image, kernel, stride=(1, 2)).eval()[0, 0]
    array([[  1.,  10., 102.,  20., 200.]])
    """
    return _conv_transpose(
        "conv_transpose2d", 2, x, weight, bias, stride, padding, output_padding, groups,
        dilation, output_size,
    )  # fmt: skip


def conv_transpose3d(
    x: TensorLike, weight: TensorLike, bias: TensorLike | None = None, *, stride: Ints = 1,
    padding: Pairs = 0, output_padding: Ints = 0, groups: int = 1, dilation: Ints = 1,
    output_size: Ints | None = None,
) -> TensorVariable:  # fmt: skip
    """Return the transposed convolution of a batch of volumes; see `conv_transpose2d`.

    `x` has shape (batch, in channels, depth, height, width) or, without a batch, (in channels,
    depth, height, width), and `weight` (in channels, out channels / groups, kernel depth, kernel
    height, kernel width).  Arguments for each axis are an int or (int, int, int); `padding` may be
    three pairs.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> pt.nn.conv_transpose3d(np.ones((1, 1, 1, 1, 2)), np.ones((1, 1, 1, 1, 2))).eval()
    array([[[[[1., 2., 1.]]]]])
    """
    return _conv_transpose(
        "conv_transpose3d", 3, x, weight, bias, stride, padding, output_padding, groups,
        dilation, output_size,
    )  # fmt: skip
