"""Where Theano and PyTensor before 2.37 had `conv2d`, with its order of arguments."""

from collections.abc import Sequence

from pytensor.graph.basic import Variable
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import as_tensor_variable
from pytensor.tensor.conv.basic import BorderMode, Ints, is_int
from pytensor.tensor.conv.basic import conv2d as conv2d_of_images
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.variable import TensorVariable

__all__ = ["conv2d"]

type Shape = Sequence[int | Variable | None] | None


def conv2d(
    input: TensorLike, filters: TensorLike, input_shape: Shape = None, filter_shape: Shape = None,
    border_mode: BorderMode = "valid", subsample: Ints = (1, 1), filter_flip: bool = True, *,
    filter_dilation: Ints = (1, 1), num_groups: int = 1,
) -> TensorVariable:  # fmt: skip
    """Convolve in two dimensions, with the arguments of Theano, in Theano's order.

    Parameters
    ----------
    input : tensor_like, shape (batch, channels, height, width), floating point
    filters : tensor_like, floating point
        Of shape (out channels, channels / num_groups, kernel height, kernel width).
    input_shape, filter_shape : tuple of (int or None), optional
        Shapes known beforehand; wrong ones raise an error at run time.
    border_mode, subsample, filter_flip, filter_dilation, num_groups
        As for `pytensor.tensor.conv2d`.

    Returns
    -------
    TensorVariable, shape (batch, out channels, output height, output width)
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
    input = _with_shape(input, input_shape, "input_shape")
    filters = _with_shape(filters, filter_shape, "filter_shape")
    return conv2d_of_images(
        input, filters, border_mode, subsample, filter_dilation, num_groups, filter_flip
    )


def _with_shape(x: TensorLike, shape: Shape, name: str) -> TensorVariable:
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
