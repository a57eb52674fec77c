"""The names under which Theano and PyTensor before 2.37 offered convolution."""

from pytensor.gradient import grad
from pytensor.graph.basic import Variable
from pytensor.tensor.basic import as_tensor_variable, zeros
from pytensor.tensor.conv.basic import (
    conv1d,
    conv_nd,
    conv_properties,
    conv_transpose_to_shape,
    is_int,
)
from pytensor.tensor.conv.bilinear import (
    bilinear_kernel_1D,
    bilinear_kernel_2D,
    bilinear_upsampling,
)
from pytensor.tensor.conv.ops import ConvGradFilters, ConvTranspose
from pytensor.tensor.conv.unshared import unshared_conv2d
from pytensor.tensor.shape import specify_shape

__all__ = [
    "bilinear_kernel_1D",
    "bilinear_kernel_2D",
    "bilinear_upsampling",
    "causal_conv1d",
    "conv2d",
    "conv2d_grad_wrt_inputs",
    "conv2d_grad_wrt_weights",
    "conv2d_transpose",
    "conv3d",
    "conv3d_grad_wrt_inputs",
    "conv3d_grad_wrt_weights",
    "separable_conv2d",
    "separable_conv3d",
]


def conv2d(
    input,
    filters,
    input_shape=None,
    filter_shape=None,
    border_mode="valid",
    subsample=(1, 1),
    filter_flip=True,
    image_shape=None,
    filter_dilation=(1, 1),
    num_groups=1,
    unshared=False,
):
    """Two-dimensional convolution with the arguments of Theano, in Theano's order.

    Parameters
    ----------
    input : tensor_like, shape (batch, channels, height, width), floating point
    filters : tensor_like, floating point
        Of shape (out channels, channels / num_groups, kernel height, kernel width).
    input_shape, filter_shape : tuple of (int or None), optional
        Shapes known beforehand; wrong ones raise an error at run time.
    border_mode, subsample, filter_flip, filter_dilation, num_groups
        As for `pytensor.tensor.conv2d`.
    image_shape : tuple of (int or None), optional
        Theano's older name for `input_shape`.
    unshared : bool
        True for filters of their own at every output position, a locally connected layer: the
        filters then have shape (out channels, output height, output width, channels / num_groups,
        kernel height, kernel width), which their type or `filter_shape` must know.

    Returns
    -------
    TensorVariable, shape (batch, out channels, output height, output width)
        Each output side is ``(side + before + after - k') // subsample + 1`` with
        ``k' = (k - 1) * filter_dilation + 1``.

    Raises
    ------
    ValueError
        If both `input_shape` and `image_shape` are given, shapes don't match, the kernel is larger
        than the padded image, an argument isn't one of those above, or the shape of unshared
        filters isn't known.  Shapes that only run time knows are checked then.
    AssertionError
        At run time, where a shape isn't that known beforehand.
    TypeError
        If `input` or `filters` isn't floating point.

    See Also
    --------
    pytensor.tensor.conv2d : paddings and groups in full.

    Examples
    --------
    >>> import numpy as np
    >>> from pytensor.tensor.conv.abstract_conv import conv2d
    >>> image = np.array([[[[1.0, 2.0, 4.0]]]])
    >>> conv2d(image, np.array([[[[1.0, -1.0]]]]), input_shape=(None, 1, 1, 3)).eval()
    array([[[[1., 2.]]]])
    """
    if image_shape is not None and input_shape is not None:
        raise ValueError(
            "conv2d: give input_shape or its older name image_shape, not both; got "
            f"{input_shape} and {image_shape}"
        )
    input = _with_shape(
        input, image_shape if input_shape is None else input_shape, "input_shape"
    )
    filters = _with_shape(filters, filter_shape, "filter_shape")
    arguments = (border_mode, subsample, filter_dilation, num_groups, filter_flip)
    if unshared:
        return unshared_conv2d(input, filters, *arguments)
    return conv_nd(input, filters, 2, *arguments)


def conv3d(
    input,
    filters,
    input_shape=None,
    filter_shape=None,
    border_mode="valid",
    subsample=(1, 1, 1),
    filter_flip=True,
    filter_dilation=(1, 1, 1),
    num_groups=1,
):
    """Three-dimensional convolution with the arguments of Theano, in Theano's order.

    Parameters
    ----------
    input : tensor_like, shape (batch, channels, depth, height, width), floating point
    filters : tensor_like, floating point
        Of shape (out channels, channels / num_groups, kernel depth, kernel height, kernel width).
    input_shape, filter_shape : tuple of (int or None), optional
        Shapes known beforehand; wrong ones raise an error at run time.
    border_mode, subsample, filter_flip, filter_dilation, num_groups
        As for `pytensor.tensor.conv3d`.

    Returns
    -------
    TensorVariable, shape (batch, out channels, output depth, output height, output width)
        Each output side is ``(side + before + after - k') // subsample + 1`` with
        ``k' = (k - 1) * filter_dilation + 1``.

    Raises
    ------
    ValueError
        If shapes don't match, the kernel is larger than the padded image, or an argument isn't one
        of those above.  Shapes that only run time knows are checked then.
    AssertionError
        At run time, where a shape isn't that known beforehand.
    TypeError
        If `input` or `filters` isn't floating point.

    Examples
    --------
    >>> import numpy as np
    >>> from pytensor.tensor.conv.abstract_conv import conv3d
    >>> conv3d(np.ones((1, 1, 2, 2, 3)), np.ones((1, 1, 2, 2, 2))).eval()
    array([[[[[8., 8.]]]]])
    """
    input = _with_shape(input, input_shape, "input_shape")
    filters = _with_shape(filters, filter_shape, "filter_shape")
    return conv_nd(
        input, filters, 3, border_mode, subsample, filter_dilation, num_groups, filter_flip
    )


def conv2d_transpose(
    input,
    filters,
    output_shape,
    filter_shape=None,
    border_mode="valid",
    input_dilation=(1, 1),
    filter_flip=True,
    filter_dilation=(1, 1),
    num_groups=1,
    unshared=False,
):
    """Two-dimensional transposed convolution with the arguments of Theano, in Theano's order.

    Parameters
    ----------
    input : tensor_like, shape (batch, in channels, height, width), floating point
    filters : tensor_like
        Of shape (in channels, out channels / num_groups, kernel height, kernel width).
    output_shape : tuple of (int, scalar variable or None)
        Batch, out channels, height and width of the result; the first two may be None.
    filter_shape : tuple of (int or None), optional
        Known beforehand; a wrong one raises an error at run time.
    input_dilation : int or (int, int)
        The stride of the convolution that is transposed.
    border_mode, filter_flip, filter_dilation, num_groups, unshared
        Those of the convolution; see `conv2d`.

    Returns
    -------
    TensorVariable, shape `output_shape`

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or the convolution of an image of shape
        `output_shape` hasn't an output of the shape of `input`; what isn't known is checked at
        run time.
    TypeError
        If `input` or `filters` isn't floating point.

    See Also
    --------
    conv2d_grad_wrt_inputs : the same function, with the names for a gradient.
    pytensor.tensor.conv2d_transpose : the form without an output shape.

    Examples
    --------
    >>> import numpy as np
    >>> from pytensor.tensor.conv.abstract_conv import conv2d_transpose
    >>> x, w = np.array([[[[1.0, 2.0]]]]), np.array([[[[10.0, 1.0]]]])
    >>> conv2d_transpose(x, w, (1, 1, 1, 5), input_dilation=(1, 2)).eval()
    array([[[[ 1., 10.,  2., 20.,  0.]]]])
    """
    return conv2d_grad_wrt_inputs(
        input,
        filters,
        output_shape,
        filter_shape,
        border_mode,
        input_dilation,
        filter_flip,
        filter_dilation,
        num_groups,
        unshared,
    )


def conv2d_grad_wrt_inputs(
    output_grad,
    filters,
    input_shape,
    filter_shape=None,
    border_mode="valid",
    subsample=(1, 1),
    filter_flip=True,
    filter_dilation=(1, 1),
    num_groups=1,
    unshared=False,
):
    """Gradient of `conv2d` for its input, given the gradient for its output.

    Parameters
    ----------
    output_grad : tensor_like, shape (batch, out channels, output height, output width)
    filters : tensor_like
        The convolution's; with `unshared` of 6 axes, as for `conv2d`.
    input_shape : tuple of (int, scalar variable or None)
        The convolution's: with a stride several sizes of image give the same size of output.
        Batch and channels may be None, height and width not.
    filter_shape : tuple of (int or None), optional
        Known beforehand; a wrong one raises an error at run time.
    border_mode, subsample, filter_flip, filter_dilation, num_groups, unshared
        The convolution's; see `conv2d`.

    Returns
    -------
    TensorVariable, shape `input_shape`

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or the convolution of an input of that shape
        hasn't an output of the shape of `output_grad`; what isn't known is checked at run time.
    TypeError
        If `output_grad` or `filters` isn't floating point.

    Examples
    --------
    >>> import numpy as np
    >>> from pytensor.tensor.conv.abstract_conv import conv2d_grad_wrt_inputs
    >>> gradient, filters = np.array([[[[1.0, 2.0]]]]), np.array([[[[10.0, 1.0]]]])
    >>> conv2d_grad_wrt_inputs(gradient, filters, (None, None, 1, 3)).eval()
    array([[[[ 1., 12., 20.]]]])
    """
    arguments = (border_mode, subsample, filter_dilation, num_groups, filter_flip)
    if not unshared:
        return _grad_wrt_inputs(2, output_grad, filters, input_shape, filter_shape, arguments)
    output_grad = as_tensor_variable(output_grad)
    filters = _with_shape(filters, filter_shape, "filter_shape")
    _check_shape("conv2d_grad_wrt_inputs: input_shape", input_shape, 4)
    batch, channels, *spatial = input_shape
    batch = output_grad.shape[0] if batch is None else batch
    channels = filters.shape[3] * num_groups if channels is None else channels
    input = zeros((batch, channels, *spatial), dtype=output_grad.type.dtype)
    return _unshared_grad(input, input, filters, output_grad, arguments)


def conv3d_grad_wrt_inputs(
    output_grad,
    filters,
    input_shape,
    filter_shape=None,
    border_mode="valid",
    subsample=(1, 1, 1),
    filter_flip=True,
    filter_dilation=(1, 1, 1),
    num_groups=1,
):
    """Gradient of `conv3d` for its input, given the gradient for its output.

    Parameters
    ----------
    output_grad : tensor_like
        Of shape (batch, out channels, output depth, output height, output width).
    filters : tensor_like
        The convolution's.
    input_shape : tuple of (int, scalar variable or None)
        The convolution's: with a stride several sizes of image give the same size of output.
        Batch and channels may be None, depth, height and width not.
    filter_shape : tuple of (int or None), optional
        Known beforehand; a wrong one raises an error at run time.
    border_mode, subsample, filter_flip, filter_dilation, num_groups
        The convolution's; see `conv3d`.

    Returns
    -------
    TensorVariable, shape `input_shape`

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or the convolution of an input of that shape
        hasn't an output of the shape of `output_grad`; what isn't known is checked at run time.
    TypeError
        If `output_grad` or `filters` isn't floating point.

    Examples
    --------
    >>> import numpy as np
    >>> from pytensor.tensor.conv.abstract_conv import conv3d_grad_wrt_inputs
    >>> gradient, filters = np.ones((1, 1, 1, 1, 2)), np.ones((1, 1, 1, 1, 2))
    >>> conv3d_grad_wrt_inputs(gradient, filters, (None, None, 1, 1, 3)).eval()
    array([[[[[1., 2., 1.]]]]])
    """
    arguments = (border_mode, subsample, filter_dilation, num_groups, filter_flip)
    return _grad_wrt_inputs(3, output_grad, filters, input_shape, filter_shape, arguments)


def conv2d_grad_wrt_weights(
    input,
    output_grad,
    filter_shape,
    input_shape=None,
    border_mode="valid",
    subsample=(1, 1),
    filter_flip=True,
    filter_dilation=(1, 1),
    num_groups=1,
    unshared=False,
):
    """Gradient of `conv2d` for its filters, given the gradient for its output.

    Parameters
    ----------
    input : tensor_like, shape (batch, channels, height, width)
    output_grad : tensor_like, shape (batch, out channels, output height, output width)
    filter_shape : tuple of (int, scalar variable or None)
        The convolution's: with a stride several sizes of kernel give the same size of output.
        All but the kernel's height and width may be None.  With `unshared` 6 ints, as for
        `conv2d`.
    input_shape : tuple of (int or None), optional
        Known beforehand; a wrong one raises an error at run time.
    border_mode, subsample, filter_flip, filter_dilation, num_groups, unshared
        The convolution's; see `conv2d`.

    Returns
    -------
    TensorVariable, shape `filter_shape`

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or the convolution with filters of that shape
        hasn't an output of the shape of `output_grad`; what isn't known is checked at run time.
    TypeError
        If `input` or `output_grad` isn't floating point.

    Examples
    --------
    >>> import numpy as np
    >>> from pytensor.tensor.conv.abstract_conv import conv2d_grad_wrt_weights
    >>> image, gradient = np.array([[[[1.0, 2.0, 4.0]]]]), np.array([[[[1.0, 10.0]]]])
    >>> conv2d_grad_wrt_weights(image, gradient, (1, 1, 1, 2), filter_flip=False).eval()
    array([[[[21., 42.]]]])
    """
    arguments = (border_mode, subsample, filter_dilation, num_groups, filter_flip)
    if not unshared:
        return _grad_wrt_weights(2, input, output_grad, filter_shape, input_shape, arguments)
    input = _with_shape(input, input_shape, "input_shape")
    output_grad = as_tensor_variable(output_grad)
    filters = zeros(filter_shape, dtype=output_grad.type.dtype)
    return _unshared_grad(filters, input, filters, output_grad, arguments)


def conv3d_grad_wrt_weights(
    input,
    output_grad,
    filter_shape,
    input_shape=None,
    border_mode="valid",
    subsample=(1, 1, 1),
    filter_flip=True,
    filter_dilation=(1, 1, 1),
    num_groups=1,
):
    """Gradient of `conv3d` for its filters, given the gradient for its output.

    Parameters
    ----------
    input : tensor_like, shape (batch, channels, depth, height, width)
    output_grad : tensor_like
        Of shape (batch, out channels, output depth, output height, output width).
    filter_shape : tuple of (int, scalar variable or None)
        The convolution's: with a stride several sizes of kernel give the same size of output.
        All but the kernel's depth, height and width may be None.
    input_shape : tuple of (int or None), optional
        Known beforehand; a wrong one raises an error at run time.
    border_mode, subsample, filter_flip, filter_dilation, num_groups
        The convolution's; see `conv3d`.

    Returns
    -------
    TensorVariable, shape `filter_shape`

    Raises
    ------
    ValueError
        If an argument isn't one of those above, or the convolution with filters of that shape
        hasn't an output of the shape of `output_grad`; what isn't known is checked at run time.
    TypeError
        If `input` or `output_grad` isn't floating point.

    Examples
    --------
    >>> import numpy as np
    >>> from pytensor.tensor.conv.abstract_conv import conv3d_grad_wrt_weights
    >>> volume, gradient = np.ones((1, 1, 2, 1, 3)), np.ones((1, 1, 2, 1, 2))
    >>> conv3d_grad_wrt_weights(volume, gradient, (1, 1, 1, 1, 2)).eval()
    array([[[[[4., 4.]]]]])
    """
    arguments = (border_mode, subsample, filter_dilation, num_groups, filter_flip)
    return _grad_wrt_weights(3, input, output_grad, filter_shape, input_shape, arguments)


def separable_conv2d(
    input,
    depthwise_filters,
    pointwise_filters,
    num_channels,
    input_shape=None,
    depthwise_filter_shape=None,
    pointwise_filter_shape=None,
    border_mode="valid",
    subsample=(1, 1),
    filter_flip=True,
    filter_dilation=(1, 1),
):
    """Convolution of each channel on its own, followed by one that mixes the channels.

    Parameters
    ----------
    input : tensor_like, shape (batch, channels, height, width), floating point
    depthwise_filters : tensor_like, shape (multiplier * channels, 1, kernel height, kernel width)
    pointwise_filters : tensor_like, shape (out channels, multiplier * channels, 1, 1)
    num_channels : int
        The input's channels.
    input_shape, depthwise_filter_shape, pointwise_filter_shape : tuple of (int or None), optional
        Shapes known beforehand; wrong ones raise an error at run time.
    border_mode, subsample, filter_flip, filter_dilation
        Of the first convolution; see `pytensor.tensor.conv2d`.

    Returns
    -------
    TensorVariable, shape (batch, out channels, output height, output width)

    Raises
    ------
    ValueError, TypeError
        As `pytensor.tensor.conv2d`; the pointwise filters' kernel must have size 1.

    Notes
    -----
    F. Chollet, Xception: Deep Learning with Depthwise Separable Convolutions, arXiv:1610.02357.

    Examples
    --------
    >>> import numpy as np
    >>> from pytensor.tensor.conv.abstract_conv import separable_conv2d
    >>> image, depthwise = np.ones((1, 2, 1, 3)), np.ones((2, 1, 1, 2))
    >>> separable_conv2d(image, depthwise, np.ones((1, 2, 1, 1)), num_channels=2).eval()
    array([[[[4., 4.]]]])
    """
    return _separable(
        2,
        _with_shape(input, input_shape, "input_shape"),
        _with_shape(depthwise_filters, depthwise_filter_shape, "depthwise_filter_shape"),
        _with_shape(pointwise_filters, pointwise_filter_shape, "pointwise_filter_shape"),
        (border_mode, subsample, filter_dilation, num_channels, filter_flip),
    )


def separable_conv3d(
    input,
    depthwise_filters,
    pointwise_filters,
    num_channels,
    input_shape=None,
    depthwise_filter_shape=None,
    pointwise_filter_shape=None,
    border_mode="valid",
    subsample=(1, 1, 1),
    filter_flip=True,
    filter_dilation=(1, 1, 1),
):
    """Convolution of each channel of volumes on its own, and one that mixes the channels.

    Parameters
    ----------
    input : tensor_like, shape (batch, channels, depth, height, width), floating point
    depthwise_filters : tensor_like
        Of shape (multiplier * channels, 1, kernel depth, kernel height, kernel width).
    pointwise_filters : tensor_like, shape (out channels, multiplier * channels, 1, 1, 1)
    num_channels : int
        The input's channels.
    input_shape, depthwise_filter_shape, pointwise_filter_shape : tuple of (int or None), optional
        Shapes known beforehand; wrong ones raise an error at run time.
    border_mode, subsample, filter_flip, filter_dilation
        Of the first convolution; see `pytensor.tensor.conv3d`.

    Returns
    -------
    TensorVariable, shape (batch, out channels, output depth, output height, output width)

    Raises
    ------
    ValueError, TypeError
        As `pytensor.tensor.conv3d`; the pointwise filters' kernel must have size 1.

    Examples
    --------
    >>> import numpy as np
    >>> from pytensor.tensor.conv.abstract_conv import separable_conv3d
    >>> volume, depthwise = np.ones((1, 2, 1, 1, 3)), np.ones((2, 1, 1, 1, 2))
    >>> separable_conv3d(volume, depthwise, np.ones((1, 2, 1, 1, 1)), num_channels=2).eval()
    array([[[[[4., 4.]]]]])
    """
    return _separable(
        3,
        _with_shape(input, input_shape, "input_shape"),
        _with_shape(depthwise_filters, depthwise_filter_shape, "depthwise_filter_shape"),
        _with_shape(pointwise_filters, pointwise_filter_shape, "pointwise_filter_shape"),
        (border_mode, subsample, filter_dilation, num_channels, filter_flip),
    )


def causal_conv1d(
    input,
    filters,
    filter_shape,
    input_shape=None,
    subsample=1,
    filter_flip=True,
    filter_dilation=1,
    num_groups=1,
    unshared=False,
):
    """One-dimensional convolution in which no output sees what comes after it.

    Parameters
    ----------
    input : tensor_like, shape (batch, channels, length), floating point
    filters : tensor_like, shape (out channels, channels / num_groups, kernel length)
    filter_shape : tuple of (int or None)
        The shape of the filters; their length must be known.
    input_shape : tuple of (int or None), optional
        Known beforehand; a wrong one raises an error at run time.
    subsample, filter_flip, filter_dilation, num_groups
        As for `pytensor.tensor.conv1d`.
    unshared : bool
        True for filters of their own at every position, of shape (out channels, output length,
        channels / num_groups, kernel length).

    Returns
    -------
    TensorVariable, shape (batch, out channels, ceil(length / subsample))

    Raises
    ------
    ValueError, TypeError
        As `pytensor.tensor.conv1d`.

    Examples
    --------
    >>> import numpy as np
    >>> from pytensor.tensor.conv.abstract_conv import causal_conv1d
    >>> steps, kernel = np.array([[[1.0, 2.0, 4.0]]]), np.array([[[1.0, 10.0]]])
    >>> causal_conv1d(steps, kernel, (1, 1, 2)).eval()
    array([[[ 1., 12., 24.]]])
    """
    _check_shape("causal_conv1d: filter_shape", filter_shape, 4 if unshared else 3, last=1)
    input = _with_shape(input, input_shape, "input_shape")
    filters = _with_shape(filters, filter_shape, "filter_shape")
    if not unshared:
        pads = ((_causal_pad(filter_shape, filter_dilation), 0),)
        return conv1d(input, filters, pads, subsample, filter_dilation, num_groups, filter_flip)
    out = unshared_conv2d(
        input[:, :, None],
        filters.dimshuffle(0, "x", 1, 2, "x", 3),
        (0, (_causal_pad(filter_shape, filter_dilation), 0)),
        (1, _single(subsample)),
        (1, _single(filter_dilation)),
        num_groups,
        filter_flip,
    )
    return out[:, :, 0]


def _single(value):
    return value[0] if isinstance(value, tuple | list) and len(value) == 1 else value


def _causal_pad(filter_shape, dilation):
    return (filter_shape[-1] - 1) * _single(dilation)


def _with_shape(x, shape, name):
    """Give `x` the shape known beforehand, from the argument of that name."""
    x = as_tensor_variable(x)
    if shape is None:
        return x
    if (
        not isinstance(shape, tuple | list)
        or len(shape) != x.type.ndim
        or any(not (n is None or isinstance(n, Variable) or (is_int(n) and n >= 0)) for n in shape)
    ):
        raise ValueError(
            f"{name} must be a tuple with a length of at least 0, or None, for each of the "
            f"{x.type.ndim} axes; got {shape!r}"
        )
    return specify_shape(x, shape)


def _check_shape(name, shape, ndim, last=2):
    if (
        not isinstance(shape, tuple | list)
        or len(shape) != ndim
        or any(n is None for n in shape[-last:])
    ):
        raise ValueError(
            f"{name} must be a tuple of {ndim} lengths, the last {last} of them not None; got "
            f"{shape!r}"
        )


def _grad_wrt_inputs(n, output_grad, filters, input_shape, filter_shape, arguments):
    name = f"conv{n}d_grad_wrt_inputs"
    _check_shape(f"{name}: input_shape", input_shape, n + 2, last=n)
    output_grad = as_tensor_variable(output_grad)
    filters = _with_shape(filters, filter_shape, "filter_shape")
    op = ConvTranspose(**conv_properties(name, filters, n, *arguments))
    gradient = conv_transpose_to_shape(op, output_grad, filters, input_shape[2:])
    return _with_leading(gradient, input_shape)


def _grad_wrt_weights(n, input, output_grad, filter_shape, input_shape, arguments):
    name = f"conv{n}d_grad_wrt_weights"
    _check_shape(f"{name}: filter_shape", filter_shape, n + 2, last=n)
    input = _with_shape(input, input_shape, "input_shape")
    output_grad = as_tensor_variable(output_grad)
    num_groups = arguments[3]
    filters = zeros(
        (output_grad.shape[1], input.shape[1] // num_groups, *filter_shape[2:]),
        dtype=output_grad.type.dtype,
    )
    properties = conv_properties(name, filters, n, *arguments)
    gradient = ConvGradFilters(**properties)(input, filters, output_grad)
    return _with_leading(gradient, filter_shape)


def _with_leading(x, shape):
    """Fix the first two lengths where they were given; run time checks them."""
    if shape[0] is None and shape[1] is None:
        return x
    return specify_shape(x, (*shape[:2], *[None] * (x.type.ndim - 2)))


def _unshared_grad(wrt, input, filters, output_grad, arguments):
    out = unshared_conv2d(input, filters, *arguments)
    return grad(None, wrt, known_grads={out: specify_shape(output_grad, out.type.shape)})


def _separable(n, input, depthwise_filters, pointwise_filters, arguments):
    by_channel = conv_nd(input, depthwise_filters, n, *arguments)
    kernel = pointwise_filters.type.shape[2:]
    if any(length not in (None, 1) for length in kernel):
        raise ValueError(
            f"separable_conv{n}d: pointwise_filters must have a kernel of size 1, got {kernel}"
        )
    return conv_nd(by_channel, specify_shape(pointwise_filters, (None, None, *[1] * n)), n)
