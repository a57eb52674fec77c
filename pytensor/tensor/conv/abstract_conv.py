"""The names under which Theano and PyTensor before 2.37 offered convolution."""

from pytensor.tensor.conv.basic import conv2d as _conv2d
from pytensor.tensor.shape import specify_shape


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
    input_shape, filter_shape : tuple of (int or None), optional
        Shapes known beforehand; wrong ones raise an error at run time.
    image_shape : tuple of (int or None), optional
        Theano's older name for `input_shape`.
    unshared : bool
        Must be False: filters of their own for each position aren't offered.

    See Also
    --------
    pytensor.tensor.conv2d : all other arguments, results and errors.
    """
    if unshared:
        raise ValueError("conv2d: unshared=True is not offered; use unshared=False")
    if image_shape is not None and input_shape is not None:
        raise ValueError("conv2d: give input_shape or its older name image_shape, not both")
    input_shape = image_shape if input_shape is None else input_shape
    if input_shape is not None:
        input = specify_shape(input, input_shape)
    if filter_shape is not None:
        filters = specify_shape(filters, filter_shape)
    return _conv2d(
        input, filters, border_mode, subsample, filter_dilation, num_groups, filter_flip
    )
