"""Convolution and transposed convolution by the arguments of Theano."""

import numbers
from typing import Any, Literal

import numpy as np

from pytensor.tensor import TensorLike
from pytensor.tensor.basic import as_tensor_variable, join, ones, zeros
from pytensor.tensor.conv.ops import Conv, ConvGradInput, ConvTranspose
from pytensor.tensor.variable import TensorVariable

# One for all axes, or one per axis; cells (before, after) too
type Ints = int | tuple[int, ...] | list[int]
type Pairs = Ints | tuple[int | tuple[int, int], ...] | list[tuple[int, int]]
type BorderMode = Literal["valid", "half", "full"] | Pairs

BORDER_MODES = (
    "'valid', 'half', 'full', an int, or per spatial axis an int or a (before, after) pair"
)


def is_int(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)


def flag(name: str, value: Any) -> bool:
    """Check an attribute that is True or False; 0 and 1 serve as well."""
    if not isinstance(value, bool | np.bool_ | numbers.Integral) or value not in (0, 1):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def per_axis(name: str, value: Any, n_spatial: int, minimum: int = 1) -> tuple[int, ...]:
    """Check an attribute with one integer per spatial axis; a single integer serves for all."""
    values = (value,) * n_spatial if is_int(value) else value
    if (
        not isinstance(values, tuple | list)
        or len(values) != n_spatial
        or not all(is_int(v) and v >= minimum for v in values)
    ):
        plural = "int" if n_spatial == 1 else "ints"
        raise ValueError(
            f"{name} must be an int or {n_spatial} {plural} of at least {minimum}, got {value!r}"
        )
    return tuple(int(v) for v in values)


def pairs_per_axis(value: Any, n: int) -> tuple[tuple[int, int], ...] | None:
    """Return cells (before, after) each axis, of an int, one int per axis, or pairs.

    None if `value` is none of these, or a number is negative.
    """
    values = (value,) * n if is_int(value) else value
    if not isinstance(values, tuple | list) or len(values) != n:
        return None
    pairs = [(v, v) if is_int(v) else v for v in values]
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            return None
        if not all(is_int(v) and v >= 0 for v in pair):
            return None
    return tuple((int(lo), int(hi)) for lo, hi in pairs)


def _normalize_border_mode(function: str, border_mode: Any, n_spatial: int) -> Any:
    """Return (before, after) pairs per spatial axis, or the name "half" or "full"."""
    if isinstance(border_mode, str):
        if border_mode in ("half", "full"):
            return border_mode
        pairs = ((0, 0),) * n_spatial if border_mode == "valid" else None
    else:
        pairs = pairs_per_axis(border_mode, n_spatial)
    if pairs is None:
        raise ValueError(
            f"{function}: border_mode must be {BORDER_MODES} for {n_spatial} spatial "
            f"{'axis' if n_spatial == 1 else 'axes'}, none negative; got {border_mode!r}"
        )
    return pairs


def conv_properties(
    function: str, filters: TensorVariable, n_spatial: int, border_mode: BorderMode,
    subsample: Ints, filter_dilation: Ints, num_groups: int, filter_flip: bool,
) -> dict[str, Any]:  # fmt: skip
    """Check a convolution's arguments, and return the properties of its Op.

    `function` is the name for errors.  Named paddings become numbers where the type of `filters`
    knows the size of the kernel.
    """
    border_mode = _normalize_border_mode(function, border_mode, n_spatial)
    if not is_int(num_groups) or num_groups < 1:
        raise ValueError(f"{function}: num_groups must be an int of at least 1, got {num_groups!r}")
    properties = {
        "border_mode": border_mode,
        "subsample": per_axis(f"{function}: subsample", subsample, n_spatial),
        "filter_dilation": per_axis(f"{function}: filter_dilation", filter_dilation, n_spatial),
        "num_groups": int(num_groups),
        "filter_flip": flag(f"{function}: filter_flip", filter_flip),
    }
    kernel_shape = filters.type.shape[2:]
    if len(kernel_shape) == n_spatial and None not in kernel_shape:
        properties["border_mode"] = Conv(**properties).pads(kernel_shape)
    return properties


def _append_zeros(x: TensorVariable, channels: int | None, counts: list[int]) -> TensorVariable:
    n = len(counts)
    if channels is None:
        for axis, count in enumerate(counts, start=2):
            shape = [count if i == axis else x.shape[i] for i in range(n + 2)]
            x = join(axis, x, zeros(shape, dtype=x.type.dtype))
        return x
    # While a backend traces, shapes of a convolution's gradients are known, not shapes of slices.
    op: Any = Conv(
        border_mode=tuple((0, count) for count in counts),
        subsample=(1,) * n,
        filter_dilation=(1,) * n,
        num_groups=channels,
    )
    return op(x, ones((channels, *(1,) * (n + 1)), dtype=x.type.dtype))


def _padding_limits(op: Any) -> tuple[int, ...]:
    return tuple(max(s, d) for s, d in zip(op.subsample, op.filter_dilation, strict=True))


def _output_padding(
    op: Any, least: tuple[int, ...], output_shape: tuple[int, ...]
) -> tuple[int, ...]:
    """Return what to add to the lengths `least` to get `output_shape`."""
    paddings = tuple(n - m for n, m in zip(output_shape, least, strict=True))
    for axis, (padding, start, limit) in enumerate(
        zip(paddings, least, _padding_limits(op), strict=True)
    ):
        if not 0 <= padding < limit:
            possible = f"{start} to {start + limit - 1}" if limit > 1 else f"{start} only"
            raise ValueError(
                f"{op.function_name}: the output's shape {output_shape} isn't possible along "
                f"spatial axis {axis}: there this input can give {possible}"
            )
    return paddings


def conv_transpose_to_shape(
    op: Any, input: TensorVariable, filters: TensorVariable, spatial: tuple[Any, ...]
) -> TensorVariable:
    """Transpose a convolution to a spatial shape, where only run time knows the input's.

    Run time then checks that a convolution of an image of that shape has the input's shape.
    """
    shape = (input.shape[0], filters.shape[1] * op.num_groups, *spatial)
    return op.like(ConvGradInput)(zeros(shape, dtype=input.type.dtype), filters, input)


def transposed_convolution(
    op: Any, input: TensorVariable, filters: TensorVariable, output_padding: Ints,
    output_shape: Ints | None, shape_name: str,
) -> TensorVariable:  # fmt: skip
    """Apply a `ConvTranspose`, with more output padding than it takes, or to a spatial shape.

    `shape_name` is the user's name of `output_shape`, for errors.
    """
    name, n = op.function_name, op.n_spatial
    paddings = per_axis(f"{name}: output_padding", output_padding, n, minimum=0)
    if output_shape is not None:
        if any(paddings):
            raise ValueError(
                f"{name}: give output_padding or {shape_name}, not both; got "
                f"output_padding={output_padding!r}, {shape_name}={output_shape!r}"
            )
        output_shape = per_axis(f"{name}: {shape_name}", output_shape, n)
        # for its checks, and the lengths without output padding
        least = op(input, filters).type.shape[2:]
        if None in least:
            return conv_transpose_to_shape(op, input, filters, output_shape)
        paddings = _output_padding(op, least, output_shape)
    limits = _padding_limits(op)
    if any(p >= limit for p, limit in zip(paddings, limits, strict=True)):
        raise ValueError(
            f"{name}: output_padding must be less than the larger of stride and dilation, here "
            f"{limits}; got {output_padding!r}"
        )
    # More padding than the Op takes: as if the input went on with zeros.
    whole = [p // s for p, s in zip(paddings, op.subsample, strict=True)]
    if any(whole):
        known = [n for n in (input.type.shape[1], filters.type.shape[0]) if n is not None]
        input = _append_zeros(input, known[0] if known else None, whole)
    op = op.with_output_padding(tuple(p % s for p, s in zip(paddings, op.subsample, strict=True)))
    return op(input, filters)


def _conv(
    name: str, n: int, input: TensorLike, filters: TensorLike, border_mode: BorderMode,
    subsample: Ints, filter_dilation: Ints, num_groups: int, filter_flip: bool,
) -> TensorVariable:  # fmt: skip
    input, filters = as_tensor_variable(input), as_tensor_variable(filters)
    properties = conv_properties(
        name, filters, n, border_mode, subsample, filter_dilation, num_groups, filter_flip
    )
    op: Any = Conv(**properties)
    return op(input, filters)


def conv2d(
    input: TensorLike, filters: TensorLike, border_mode: BorderMode = "valid", subsample: Ints = 1,
    filter_dilation: Ints = 1, num_groups: int = 1, filter_flip: bool = True,
) -> TensorVariable:  # fmt: skip
    """Return a convolution by Theano's arguments, which mirrors filters; PyTorch's: `nn.conv2d`.

    Parameters
    ----------
    input : tensor_like, shape (batch, channels, height, width), floating point
    filters : tensor_like, shape (out channels, channels / num_groups, kernel height, kernel width)
        Floating point; may be computed at run time.
    border_mode : str, int or tuple
        Zeros around the image.  ``"valid"``: none.  ``"half"``: half the (dilated) kernel,
        rounded down, on every side, so that an odd kernel with stride 1 keeps the image's size.
        ``"full"``: one less than the (dilated) kernel on every side.  An int: that many on
        every side.  A tuple: per axis an int or a pair (before, after).
    subsample : int or (int, int)
        Stride along each axis.
    filter_dilation : int or (int, int)
        Distance between neighbouring taps of the kernel.
    num_groups : int
        Channels and filters are divided into that many groups, each convolved on its own;
        equal to the number of channels it is a depth-wise convolution.
    filter_flip : bool
        True (the default, as in Theano) mirrors the kernel: a convolution.  False doesn't: the
        cross-correlation that PyTorch, JAX and ONNX call convolution.

    Returns
    -------
    TensorVariable, shape (batch, out channels, output height, output width)
        Of the inputs' common dtype.  With ``k' = (k - 1) * dilation + 1``, each output side is
        ``(side + before + after - k') // stride + 1``.  Differentiable to any order.

    Raises
    ------
    ValueError
        If ranks, channels and groups don't match, the kernel is larger than the padded image,
        or an argument isn't one of those above.  Shapes that only run time knows are checked
        then.
    TypeError
        If an input isn't floating point.

    See Also
    --------
    pytensor.tensor.nn.conv2d : the same with PyTorch's arguments, and a bias.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> image = pt.constant(np.arange(12.0).reshape(1, 1, 3, 4))
    >>> edges = pt.constant(np.array([[[[1.0, -1.0]]]]))
    >>> pt.conv2d(image, edges).eval()[0, 0]
    array([[1., 1., 1.],
           [1., 1., 1.],
           [1., 1., 1.]])
    """
    return _conv(
        "conv2d", 2, input, filters, border_mode, subsample, filter_dilation, num_groups,
        filter_flip,
    )  # fmt: skip


def _spatial_axes(function: str, input: TensorVariable) -> int:
    if input.type.ndim < 3:
        raise ValueError(
            f"{function}: the input must have axes after batch and channels, it has "
            f"{input.type.ndim} axes"
        )
    return input.type.ndim - 2


def conv(
    input: TensorLike, filters: TensorLike, border_mode: BorderMode = "valid", subsample: Ints = 1,
    filter_dilation: Ints = 1, num_groups: int = 1, filter_flip: bool = True,
) -> TensorVariable:  # fmt: skip
    """Return a convolution over all axes after batch and channels, by Theano's arguments.

    Parameters
    ----------
    input : tensor_like, shape ``(batch, channels, *spatial)``, floating point
    filters : tensor_like, shape ``(out channels, channels / num_groups, *kernel)``
        Floating point; may be computed at run time.
    border_mode, subsample, filter_dilation, num_groups, filter_flip
        As for `conv2d`, for the spatial axes that there are.

    Returns
    -------
    TensorVariable, shape ``(batch, out channels, *output)``
        As for `conv2d`.

    Raises
    ------
    ValueError, TypeError
        As `conv2d` does.

    Examples
    --------
    >>> import numpy as np
    >>> from pytensor.tensor.conv import conv
    >>> conv(np.array([[[1.0, 2.0, 4.0]]]), np.array([[[1.0, -1.0]]])).eval()
    array([[[1., 2.]]])
    """
    input = as_tensor_variable(input)
    n = _spatial_axes("conv", input)
    return _conv(
        f"conv{n}d", n, input, filters, border_mode, subsample, filter_dilation, num_groups,
        filter_flip,
    )  # fmt: skip


def conv_transpose(
    input: TensorLike, filters: TensorLike, border_mode: BorderMode = "valid", subsample: Ints = 1,
    filter_dilation: Ints = 1, num_groups: int = 1, filter_flip: bool = True,
    output_padding: Ints = 0, output_shape: Ints | None = None,
) -> TensorVariable:  # fmt: skip
    """Return a transposed convolution over all axes after batch and channels.

    It is the gradient of `conv` for its input, as a layer: every pixel of the input adds the
    kernel, times its value, to the output, `subsample` pixels further for each.

    Parameters
    ----------
    input : tensor_like, shape ``(batch, in channels, *spatial)``, floating point
    filters : tensor_like, shape ``(in channels, out channels / num_groups, *kernel)``
        Floating point; may be computed at run time.  The order of the filters of the convolution
        whose gradient it is.
    border_mode : str, int or tuple
        As for `conv`, of the convolution: what it would add around is cut off here.
    subsample : int or tuple of int
        Distance in the output between the kernels of neighbouring input pixels.
    filter_dilation, num_groups, filter_flip
        As for `conv`.  `filter_flip` says whether the convolution mirrors the kernel.
    output_padding : int or tuple of int
        What the output has more along each axis, at its end; as for
        `pytensor.tensor.nn.conv_transpose2d`.
    output_shape : int or tuple of int, optional
        Lengths of the output, from which `output_padding` is worked out; as `output_size` there.

    Returns
    -------
    TensorVariable, shape ``(batch, out channels, *output)``
        As for `pytensor.tensor.nn.conv_transpose2d`.

    Raises
    ------
    ValueError, TypeError
        As that does.

    Examples
    --------
    >>> import numpy as np
    >>> from pytensor.tensor.conv import conv_transpose
    >>> image, kernel = np.array([[[1.0, 2.0]]]), np.array([[[1.0, 10.0, 100.0]]])
    >>> conv_transpose(image, kernel, subsample=2, filter_flip=False).eval()
    array([[[  1.,  10., 102.,  20., 200.]]])
    """
    input, filters = as_tensor_variable(input), as_tensor_variable(filters)
    n = _spatial_axes("conv_transpose", input)
    properties = conv_properties(
        f"conv_transpose{n}d", filters, n, border_mode, subsample, filter_dilation, num_groups,
        filter_flip,
    )  # fmt: skip
    op: Any = ConvTranspose(**properties)
    return transposed_convolution(op, input, filters, output_padding, output_shape, "output_shape")
