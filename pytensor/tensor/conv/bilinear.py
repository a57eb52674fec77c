"""Bilinear upsampling as a transposed convolution, with Theano's grid."""

import math

from pytensor.configdefaults import config
from pytensor.tensor.basic import arange, as_tensor_variable, cast, ones
from pytensor.tensor.conv.basic import conv_nd, conv_transpose_nd, per_axis
from pytensor.tensor.type import float_dtypes


def bilinear_kernel_1D(ratio, normalize=True):
    """Kernel of linear interpolation for enlarging by a whole factor: a triangle.

    Parameters
    ----------
    ratio : int or integer scalar variable
    normalize : bool
        Whether the peak is 1; otherwise it is `ratio`.

    Returns
    -------
    TensorVariable, shape (2 * ratio - 1,), floatX

    Examples
    --------
    >>> from pytensor.tensor.conv.abstract_conv import bilinear_kernel_1D
    >>> bilinear_kernel_1D(2).eval().tolist()
    [0.5, 1.0, 0.5]
    """
    kernel = cast(ratio - abs(arange(1 - ratio, ratio)), config.floatX)
    return kernel / cast(ratio, config.floatX) if normalize else kernel


def bilinear_kernel_2D(ratio, normalize=True):
    """Kernel of bilinear interpolation: the outer product of `bilinear_kernel_1D` with itself.

    Parameters
    ----------
    ratio : int or integer scalar variable
    normalize : bool
        Whether the peak is 1; otherwise it is ``ratio ** 2``.

    Returns
    -------
    TensorVariable, shape (2 * ratio - 1, 2 * ratio - 1), floatX

    Examples
    --------
    >>> from pytensor.tensor.conv.abstract_conv import bilinear_kernel_2D
    >>> bilinear_kernel_2D(2, normalize=False).eval().tolist()
    [[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]
    """
    kernel = bilinear_kernel_1D(ratio, normalize)
    return kernel[:, None] * kernel


def bilinear_upsampling(
    input,
    ratio=None,
    frac_ratio=None,
    batch_size=None,
    num_input_channels=None,
    use_1D_kernel=True,
):
    """Enlarge images by interpolating linearly; the outermost pixels go on beyond their centres.

    Pixel i is placed at ``i * ratio + (ratio - 1) // 2`` of the output.  For an odd ratio that is
    `pytensor.tensor.resize` with ``mode="linear"`` and ``"half_pixel"``; for an even one, the last
    row and column are repeated once more than the first.

    Parameters
    ----------
    input : tensor_like, shape (batch, channels, height, width), floating point
    ratio : int
        The whole factor, at least 1.
    frac_ratio : (int, int) or ((int, int), (int, int))
        Instead of `ratio`: numerator and denominator, or these for height and for width.  The
        image is enlarged by the numerator, and of that each denominator-th pixel remains.
    batch_size, num_input_channels : int, optional
        Not needed; Theano's hints for its compiler.
    use_1D_kernel : bool
        Without effect: always two passes with a 1-D kernel, which give the same result as one.

    Returns
    -------
    TensorVariable, shape (batch, channels, ceil(height * ratio), ceil(width * ratio))
        Of the input's dtype.

    Raises
    ------
    ValueError
        If the input hasn't 4 axes, or not exactly one of `ratio` and `frac_ratio` is given, in
        one of the forms above.
    TypeError
        If the input isn't floating point.

    Examples
    --------
    >>> import numpy as np
    >>> from pytensor.tensor.conv.abstract_conv import bilinear_upsampling
    >>> bilinear_upsampling(np.array([[[[0.0, 2.0]]]]), 2).eval()
    array([[[[0., 1., 2., 2.],
             [0., 1., 2., 2.]]]])
    """
    input = as_tensor_variable(input)
    if input.type.ndim != 4:
        raise ValueError(f"bilinear_upsampling: input must have 4 axes, got {input.type.ndim}")
    if input.type.dtype not in float_dtypes:
        raise TypeError(
            f"bilinear_upsampling: input must be of a floating-point dtype, got "
            f"{input.type.dtype}; cast it first"
        )
    if (ratio is None) == (frac_ratio is None):
        raise ValueError(
            f"bilinear_upsampling: give either ratio or frac_ratio, got ratio={ratio!r}, "
            f"frac_ratio={frac_ratio!r}"
        )
    if frac_ratio is None:
        fractions = [(n, 1) for n in per_axis("bilinear_upsampling: ratio", ratio, 2)]
    else:
        fractions = _fractions(frac_ratio)
    # channels as a spatial axis: one kernel serves them all
    x = input.dimshuffle(0, "x", 1, 2, 3)
    for axis, (numerator, _) in enumerate(fractions, start=1):
        x = _upsample(x, axis, numerator)
    steps = (1, *(denominator for _, denominator in fractions))
    if steps != (1, 1, 1):
        x = conv_nd(x, ones((1,) * 5, dtype=x.type.dtype), 3, subsample=steps)
    return x.dimshuffle(0, 2, 3, 4)


def _fractions(frac_ratio):
    pairs = frac_ratio
    if isinstance(pairs, tuple | list) and not any(isinstance(p, tuple | list) for p in pairs):
        pairs = (frac_ratio, frac_ratio)
    try:
        checked = [per_axis("", pair, 2) for pair in pairs]
    except (TypeError, ValueError):
        checked = []
    if len(checked) != 2 or not all(isinstance(p, tuple | list) for p in pairs):
        raise ValueError(
            "bilinear_upsampling: frac_ratio must be a pair (numerator, denominator) of ints of at "
            f"least 1, or one such pair for each of height and width; got {frac_ratio!r}"
        )
    return [(n // math.gcd(n, d), d // math.gcd(n, d)) for n, d in checked]


def _upsample(x, axis, ratio):
    """Enlarge one of the three spatial axes.

    At an edge, where one of the two neighbours is missing, dividing by the sum of the weights
    leaves the other one.
    """
    if ratio == 1:
        return x
    shape, stride, pads = [1] * 5, [1] * 3, [(0, 0)] * 3
    shape[2 + axis], stride[axis] = 2 * ratio - 1, ratio
    pads[axis] = (ratio - 1 - (ratio - 1) // 2, (ratio - 1) // 2)
    kernel = cast(bilinear_kernel_1D(ratio, normalize=False), x.type.dtype).reshape(shape)
    lengths = [x.shape[i] if i == 2 + axis else 1 for i in range(5)]
    sums, weights = (
        conv_transpose_nd(v, kernel, 3, pads, stride) for v in (x, ones(lengths, x.type.dtype))
    )
    return sums / weights
