"""The convolution of Theano's first years, `pytensor.tensor.nnet.conv.conv2d`."""

from pytensor.tensor.nnet import abstract_conv

__all__ = ["conv2d"]


def conv2d(
    input, filters, image_shape=None, filter_shape=None, border_mode="valid", subsample=(1, 1)
):
    """Two-dimensional convolution, with kernels mirrored.

    Parameters
    ----------
    input : tensor_like, shape (batch, channels, height, width)
    filters : tensor_like, shape (out channels, channels, kernel height, kernel width)
    image_shape, filter_shape : tuple of (int or None), optional
        Shapes known beforehand; wrong ones raise an error at run time.
    border_mode : {"valid", "full"} or any other of `pytensor.tensor.conv2d`
    subsample : (int, int)
        Stride along height and width.

    Returns
    -------
    TensorVariable, shape (batch, out channels, output height, output width)

    Raises
    ------
    ValueError
        As `pytensor.tensor.conv2d`.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> image, filters = pt.ones((1, 2, 3, 3)), pt.ones((1, 2, 2, 2))
    >>> pt.nnet.conv.conv2d(image, filters).eval()[0, 0]
    array([[8., 8.],
           [8., 8.]])
    """
    return abstract_conv.conv2d(input, filters, image_shape, filter_shape, border_mode, subsample)
