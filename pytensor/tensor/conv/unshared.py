"""Locally connected layers: convolutions with filters of their own at every output position."""

import math

import numpy as np

from pytensor.tensor.basic import as_tensor_variable
from pytensor.tensor.conv.basic import conv_properties
from pytensor.tensor.conv.ops import Conv
from pytensor.tensor.math import matmul
from pytensor.tensor.shape import specify_shape


def unshared_conv2d(
    input,
    filters,
    border_mode="valid",
    subsample=1,
    filter_dilation=1,
    num_groups=1,
    filter_flip=True,
):
    """Convolution of images with filters of their own at every output position.

    A convolution with one-hot filters makes the patches, a product of matrices for every position
    the output: nothing here needs code of a backend's own.

    Parameters
    ----------
    input : tensor_like, shape (batch, channels, height, width), floating point
    filters : tensor_like, floating point
        Of shape (out channels, output height, output width, channels / num_groups, kernel height,
        kernel width), which its type must know.
    border_mode, subsample, filter_dilation, num_groups, filter_flip
        As for `pytensor.tensor.conv2d`.

    Returns
    -------
    TensorVariable, shape (batch, out channels, output height, output width)

    Raises
    ------
    ValueError
        As `pytensor.tensor.conv2d`, and if the shape of the filters isn't known or doesn't say
        the output's height and width.

    Examples
    --------
    >>> import numpy as np
    >>> from pytensor.tensor.conv.unshared import unshared_conv2d
    >>> image, filters = np.ones((1, 1, 1, 3)), np.arange(4.0).reshape(1, 1, 2, 1, 1, 2)
    >>> unshared_conv2d(image, filters).eval()
    array([[[[1., 5.]]]])
    """
    input, filters = as_tensor_variable(input), as_tensor_variable(filters)
    shape = filters.type.shape
    if len(shape) != 6 or None in shape:
        raise ValueError(
            "conv2d: unshared filters must have 6 axes of known lengths (out channels, output "
            "height and width, channels / num_groups, kernel height and width); got "
            f"{filters.type}"
        )
    out_channels, *positions, per_group = shape[:4]
    kernel = shape[4:]
    shared = filters[:, 0, 0]
    properties = conv_properties(
        "conv2d",
        shared,
        2,
        border_mode,
        subsample,
        filter_dilation,
        num_groups,
        filter_flip,
    )
    expected = Conv(**properties)(input, shared).type  # for its checks
    groups, taps = properties["num_groups"], math.prod(kernel)
    if any(n not in (None, m) for n, m in zip(expected.shape[2:], positions, strict=True)):
        raise ValueError(
            f"conv2d: unshared filters for an output of {tuple(positions)} don't match the output "
            f"of height and width {expected.shape[2:]} that input and kernel make"
        )
    patches = _patches(input, properties, groups * per_group, kernel, expected.dtype)
    # (positions, groups, batch, taps) times (positions, groups, taps, out channels per group)
    patches = specify_shape(patches, (None, None, *positions))
    # the batch's own length, not -1: JAX knows it while it traces
    batch = input.shape[0]
    columns = patches.reshape((batch, groups, per_group * taps, *positions))
    columns = columns.transpose(3, 4, 1, 0, 2)
    matrices = filters.reshape(
        (groups, out_channels // groups, *positions, per_group * taps)
    ).transpose(2, 3, 0, 4, 1)
    out = matmul(columns, matrices).transpose(3, 2, 4, 0, 1)
    return out.reshape((batch, out_channels, *positions)).astype(expected.dtype)


def _patches(input, properties, channels, kernel, dtype):
    """What each output position sees of each of `channels`, side by side as channels."""
    taps = math.prod(kernel)
    one_hot = np.tile(np.eye(taps, dtype=dtype), (channels, 1)).reshape(-1, 1, *kernel)
    return Conv(**properties | {"num_groups": channels})(input, one_hot)
