"""User functions for convolution."""

import numbers

import numpy as np

from pytensor.tensor.basic import as_tensor_variable
from pytensor.tensor.conv.ops import Conv

BORDER_MODES = (
    "'valid', 'half', 'full', an int, or per spatial axis an int or a (before, after) pair"
)


def _is_int(value):
    return isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)


def per_axis(name, value, n_spatial, minimum=1):
    """Check an attribute with one integer per spatial axis; a single integer serves for all."""
    values = (value,) * n_spatial if _is_int(value) else value
    if (
        not isinstance(values, tuple | list)
        or len(values) != n_spatial
        or not all(_is_int(v) and v >= minimum for v in values)
    ):
        raise ValueError(
            f"{name} must be an int or {n_spatial} ints of at least {minimum}, got {value!r}"
        )
    return tuple(int(v) for v in values)


def _normalize_border_mode(border_mode, n_spatial):
    """Return (before, after) pairs per spatial axis, or the name "half" or "full"."""
    error = ValueError(
        f"border_mode must be {BORDER_MODES} for {n_spatial} spatial axes; got {border_mode!r}"
    )
    if isinstance(border_mode, str):
        if border_mode == "valid":
            return ((0, 0),) * n_spatial
        if border_mode in ("half", "full"):
            return border_mode
        raise error
    if _is_int(border_mode):
        border_mode = (border_mode,) * n_spatial
    if not isinstance(border_mode, tuple | list) or len(border_mode) != n_spatial:
        raise error
    pairs = [(p, p) if _is_int(p) else p for p in border_mode]
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise error
        if not all(_is_int(p) and p >= 0 for p in pair):
            raise error
    return tuple((int(lo), int(hi)) for lo, hi in pairs)


def conv_nd(
    input,
    filters,
    n_spatial,
    border_mode="valid",
    subsample=1,
    filter_dilation=1,
    num_groups=1,
    filter_flip=True,
):
    """Convolve over the last `n_spatial` axes; see `conv2d` for the arguments."""
    input, filters = as_tensor_variable(input), as_tensor_variable(filters)
    border_mode = _normalize_border_mode(border_mode, n_spatial)
    if not _is_int(num_groups) or num_groups < 1:
        raise ValueError(f"num_groups must be an int of at least 1, got {num_groups!r}")
    properties = {
        "border_mode": border_mode,
        "subsample": per_axis("subsample", subsample, n_spatial),
        "filter_dilation": per_axis("filter_dilation", filter_dilation, n_spatial),
        "num_groups": int(num_groups),
        "filter_flip": bool(filter_flip),
    }
    kernel_shape = filters.type.shape[2:]
    if len(kernel_shape) == n_spatial and None not in kernel_shape:
        properties["border_mode"] = Conv(**properties).pads(kernel_shape)
    return Conv(**properties)(input, filters)


def conv2d(
    input,
    filters,
    border_mode="valid",
    subsample=(1, 1),
    filter_dilation=(1, 1),
    num_groups=1,
    filter_flip=True,
):
    """Two-dimensional convolution of a batch of images with a bank of filters.

    Parameters
    ----------
    input : tensor_like, shape (batch, channels, height, width), floating point
    filters : tensor_like, shape (out channels, channels / num_groups, kernel height, kernel width)
        Floating point; may be computed at run time.
    border_mode : str, int or tuple
        Zeros around the image.  ``"valid"``: none.  ``"half"``: half the (dilated) kernel,
        rounded down, on every side, so that an odd kernel with stride 1 keeps the image's size.
        ``"full"``: one less than the (dilated) kernel on every side.  An int: that many on every
        side.  A tuple: per axis an int or a pair (before, after).
    subsample : int or (int, int)
        Stride along height and width.
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
        If ranks, channels and groups don't match, the kernel is larger than the padded image, or
        an argument isn't one of those above.  Shapes that only run time knows are checked then.
    TypeError
        If an input isn't floating point.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> image = pt.constant(np.arange(12.0).reshape(1, 1, 3, 4))
    >>> edges = pt.constant(np.array([[[[1.0, -1.0]]]]))
    >>> pt.conv2d(image, edges, filter_flip=False).eval()[0, 0]
    array([[-1., -1., -1.],
           [-1., -1., -1.],
           [-1., -1., -1.]])
    """
    return conv_nd(
        input, filters, 2, border_mode, subsample, filter_dilation, num_groups, filter_flip
    )
