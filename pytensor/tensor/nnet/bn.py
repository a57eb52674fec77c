"""Batch normalization with Theano's arguments."""

from pytensor.tensor.basic import as_tensor_variable
from pytensor.tensor.batchnorm import batch_normalization as _with_statistics
from pytensor.tensor.batchnorm import batch_normalization_train

__all__ = ["batch_normalization", "batch_normalization_test", "batch_normalization_train"]


def batch_normalization(inputs, gamma, beta, mean, std, mode="low_mem"):
    """Normalize with a given mean and standard deviation.

    ``(inputs - mean) * gamma / std + beta``

    Parameters
    ----------
    inputs : tensor_like
    gamma, beta, mean, std : tensor_like
        Broadcast with `inputs` as they are: ``(features,)`` for a matrix, ``(1, channels, 1, 1)``
        for images.  Nothing is added to `std`.
    mode : {"low_mem", "high_mem"}
        Theano's hint; both compute the same, in one way.

    Returns
    -------
    TensorVariable, shape of `inputs`

    Raises
    ------
    ValueError
        If `mode` isn't one of those above.

    See Also
    --------
    pytensor.tensor.batch_normalization : takes the variance and `epsilon`.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor.tensor.nnet.bn import batch_normalization
    >>> batch_normalization(pt.constant([[1.0, 5.0]]), 2.0, 1.0, 3.0, 2.0).eval()
    array([[-1.,  3.]])
    """
    if mode not in ("low_mem", "high_mem"):
        raise ValueError(
            f"batch_normalization: mode must be 'low_mem' or 'high_mem', got {mode!r}"
        )
    return (as_tensor_variable(inputs) - mean) * (as_tensor_variable(gamma) / std) + beta


def batch_normalization_test(
    inputs, gamma, beta, mean, var, axes="per-activation", epsilon=1e-4
):
    """Normalize with given statistics, such as the running ones of training.

    ``(inputs - mean) / sqrt(var + epsilon) * gamma + beta``

    Parameters
    ----------
    inputs : tensor_like, shape (batch, features, ...), floating point
    gamma, beta, mean, var : tensor_like
        Shape of `inputs` without the reduced axes, or with length 1 there.
    axes : "per-activation", "spatial" or tuple of int
        The axes that the statistics were taken over: axis 0 alone, all but 1, or those given.
    epsilon : float

    Returns
    -------
    TensorVariable, shape and dtype of `inputs`

    Raises
    ------
    ValueError
        If a parameter's shape doesn't fit, or `axes` isn't one of those above.
    TypeError
        If `inputs` isn't floating point.

    See Also
    --------
    pytensor.tensor.batch_normalization : the same, for ``axes="spatial"`` by default.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor.tensor.nnet.bn import batch_normalization_test
    >>> x, one, zero = pt.constant([[1.0, 5.0]]), pt.ones(2), pt.zeros(2)
    >>> batch_normalization_test(x, one, zero, [3.0, 3.0], [4.0, 4.0], epsilon=0.0).eval()
    array([[-1.,  1.]])
    """
    return _with_statistics(inputs, gamma, beta, mean, var, epsilon=epsilon, axes=axes)
