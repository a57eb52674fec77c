"""Theano's oldest names of pooling."""

from pytensor.tensor.signal.pool import max_pool_2d_same_size, pool_2d

__all__ = ["max_pool_2d", "max_pool_2d_same_size"]


def max_pool_2d(input, ds, ignore_border=None, st=None, padding=(0, 0), mode="max"):
    """Pool the last two axes of `input`.

    Parameters
    ----------
    input : tensor_like, shape (..., height, width)
    ds : int or (int, int)
        Window along height and width.
    ignore_border : bool, optional
        True leaves out windows that reach past the padded end; None is False.
    st : int or (int, int), optional
        Distance between windows; default `ds`.
    padding : int or (int, int)
    mode : {"max", "sum", "average_inc_pad", "average_exc_pad"}

    Returns
    -------
    TensorVariable, shape (..., output height, output width), dtype of `input`

    Raises
    ------
    ValueError, TypeError
        As `pytensor.tensor.signal.pool.pool_2d`.

    Examples
    --------
    >>> import numpy as np
    >>> from pytensor.tensor.signal import downsample
    >>> x = np.arange(12.0).reshape(3, 4)
    >>> downsample.max_pool_2d(x, (2, 2), ignore_border=True).eval()
    array([[5., 7.]])
    """
    return pool_2d(input, ds, ignore_border, st, padding, mode)
