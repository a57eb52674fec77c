"""Normalization, with the names, arguments and numbers of PyTorch."""

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from pytensor.tensor import TensorLike
from pytensor.tensor.basic import as_tensor_variable, cast, constant, ones, zeros
from pytensor.tensor.batching import lengths_of, shapes_differ
from pytensor.tensor.batchnorm import BatchNormalization, BatchNormalizationTrain
from pytensor.tensor.conv.basic import flag, is_int
from pytensor.tensor.math import maximum
from pytensor.tensor.moments import (
    accumulation_dtype,
    as_epsilon,
    as_floating_point,
    count,
    moments,
    widen,
)
from pytensor.tensor.nn.checks import of_shape
from pytensor.tensor.normalization import (
    GroupNormalization,
    InstanceNormalization,
    LayerNormalization,
    RMSNormalization,
)
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.variable import TensorVariable

type Shape = int | Sequence[int | None]
CHANNELS = slice(1, 2)


def _parameter(
    function: str, name: str, value: TensorLike, x: TensorVariable, axes: slice
) -> TensorVariable:
    """Check that a parameter has the lengths of axes of `x`, and cast it to the dtype of `x`."""
    why = f"for x of shape {x.type.shape}"
    value = of_shape(function, name, as_tensor_variable(value), lengths_of(x)[axes], why)
    return cast(value, x.type.dtype)


def _given(
    function: str, x: TensorVariable, axes: slice, **parameters: Any
) -> list[TensorVariable]:
    """Return the parameters that are given, checked."""
    return [
        _parameter(function, name, v, x, axes) for name, v in parameters.items() if v is not None
    ]


def _scale_and_offset(
    function: str, x: TensorVariable, weight: TensorLike | None, bias: TensorLike | None
) -> list[TensorVariable]:
    """Return the parameters of each channel, ones and zeros where they aren't given."""
    channels = lengths_of(x)[1]
    weight = ones((channels,), dtype=x.type.dtype) if weight is None else weight
    bias = zeros((channels,), dtype=x.type.dtype) if bias is None else bias
    return _given(function, x, CHANNELS, weight=weight, bias=bias)


def _momentum(function: str, momentum: float) -> float:
    if not isinstance(momentum, numbers.Real) or not 0 <= momentum <= 1:
        raise ValueError(f"{function}: momentum must be a number from 0 to 1, got {momentum!r}")
    return float(momentum)


def _running(
    function: str, x: TensorVariable, mean: TensorLike | None, var: TensorLike | None, why: str
) -> list[TensorVariable]:
    if mean is None or var is None:
        raise ValueError(f"{function}: give running_mean and running_var, which {why}")
    return _given(function, x, CHANNELS, running_mean=mean, running_var=var)


def batch_norm(
    x: TensorLike, running_mean: TensorLike | None, running_var: TensorLike | None,
    weight: TensorLike | None = None, bias: TensorLike | None = None, *, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> TensorVariable | Any:  # fmt: skip
    """Normalize each channel over the batch and the spatial axes, as in PyTorch.

    ``(x - mean) / sqrt(var + eps) * weight + bias``, with the running statistics, or in training
    with the mean and the biased variance of the batch.

    Parameters
    ----------
    x : tensor_like, shape (batch, channels, ...), floating point
    running_mean, running_var : tensor_like, shape (channels,), or None
        In training both may be None; otherwise they are what `x` is normalized with.
    weight, bias : tensor_like, shape (channels,), optional
        Parameters and statistics are cast to the dtype of `x`.
    training : bool
        Whether to normalize with the statistics of the batch.
    momentum : float
        What the new value counts in the running statistics, from 0 to 1.
    eps : float

    Returns
    -------
    y : TensorVariable, shape and dtype of `x`
        Differentiable with respect to all inputs, in training through the statistics too.
    new_running_mean : TensorVariable, shape (channels,), or None where there is no running mean
        In training only: ``running_mean * (1 - momentum) + mean * momentum``.  Nothing is changed
        in place, as PyTorch does: make it an update of `pytensor.function`.
    new_running_var : TensorVariable, shape (channels,), or None where there is none
        In training only: the same of the variance with divisor m - 1 for m elements.  For a single
        element, which PyTorch refuses, the variance is 0.

    Raises
    ------
    ValueError
        If a parameter's static shape doesn't fit, a running statistic is missing, `x` has less
        than 2 axes, or `momentum` or `eps` isn't one of those above.
    TypeError
        If `x` isn't floating point.

    References
    ----------
    Ioffe and Szegedy, "Batch normalization: accelerating deep network training by reducing
    internal covariate shift", ICML 2015.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[1.0, 5.0], [3.0, 5.0]])
    >>> pt.nn.batch_norm(x, [3.0, 3.0], [4.0, 4.0], eps=0.0).eval()
    array([[-1.,  1.],
           [ 0.,  1.]])
    >>> y, mean, var = pt.nn.batch_norm(x, [0.0, 0.0], [1.0, 1.0], training=True)
    >>> mean.eval(), var.eval()
    (array([0.2, 0.5]), array([1.1, 0.9]))
    """
    x = as_floating_point("batch_norm", x, 2)
    axes, epsilon = (0, *range(2, x.type.ndim)), as_epsilon("batch_norm", eps, "eps")
    parameters = _scale_and_offset("batch_norm", x, weight, bias)
    factor = _momentum("batch_norm", momentum)
    if not flag("batch_norm: training", training):
        running = _running(
            "batch_norm", x, running_mean, running_var, "x is normalized with unless training=True"
        )
        infer: Any = BatchNormalization(axes=axes, epsilon=epsilon)
        return infer(x, *parameters, *running)
    given = running_mean is not None, running_var is not None
    running = _given(
        "batch_norm", x, CHANNELS, running_mean=running_mean, running_var=running_var
    )
    train: Any = BatchNormalizationTrain(
        axes=axes,
        epsilon=epsilon,
        running_average_factor=factor,
        running_var_ddof=1,
        running_mean=given[0],
        running_var=given[1],
    )
    y, _, _, *new = train(x, *parameters, *running)
    return y, *(new.pop(0) if wanted else None for wanted in given)


def instance_norm(
    x: TensorLike, running_mean: TensorLike | None = None, running_var: TensorLike | None = None,
    weight: TensorLike | None = None, bias: TensorLike | None = None, *,
    use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> TensorVariable | Any:  # fmt: skip
    """Normalize each channel of each example over its spatial axes, as in PyTorch.

    ``(x - mean) / sqrt(var + eps) * weight + bias``, with the mean and the biased variance over
    all axes but the first two, or with the running statistics.

    Parameters
    ----------
    x : tensor_like, shape (batch, channels, spatial, ...), floating point
    running_mean, running_var : tensor_like, shape (channels,), optional
        Both or none.
    weight, bias : tensor_like, shape (channels,), optional
        Parameters and statistics are cast to the dtype of `x`.
    use_input_stats : bool
        False normalizes with the running statistics.
    momentum : float
        What the new value counts in the running statistics, from 0 to 1.
    eps : float

    Returns
    -------
    y : TensorVariable, shape and dtype of `x`
        Statistics of float16 are computed in float32.
    new_running_mean, new_running_var : TensorVariable, shape (channels,)
        Only where there are running statistics and `use_input_stats` is True:
        ``running * (1 - momentum) + new * momentum``, where the new value is the average over the
        batch, and the variance has the divisor m - 1 for m elements.

    Raises
    ------
    ValueError
        If a parameter's static shape doesn't fit, a running statistic is missing, `x` has less
        than 3 axes, or `momentum` or `eps` isn't one of those above.
    TypeError
        If `x` isn't floating point.

    References
    ----------
    Ulyanov, Vedaldi and Lempitsky, "Instance normalization: the missing ingredient for fast
    stylization", arXiv:1607.08022.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[[1.0, 3.0], [0.0, 8.0]]])
    >>> pt.nn.instance_norm(x, weight=[1.0, 2.0]).eval().round(3)
    array([[[-1.,  1.],
            [-2.,  2.]]])
    """
    x = as_floating_point("instance_norm", x, 3)
    epsilon, factor = as_epsilon("instance_norm", eps, "eps"), _momentum("instance_norm", momentum)
    if not flag("instance_norm: use_input_stats", use_input_stats):
        running = _running(
            "instance_norm", x, running_mean, running_var,
            "x is normalized with unless use_input_stats=True",
        )  # fmt: skip
        infer: Any = BatchNormalization(axes=(0, *range(2, x.type.ndim)), epsilon=epsilon)
        return infer(x, *_scale_and_offset("instance_norm", x, weight, bias), *running)
    parameters = _given("instance_norm", x, CHANNELS, weight=weight, bias=bias)
    op: Any = InstanceNormalization(
        epsilon=epsilon, scaled=weight is not None, shifted=bias is not None
    )
    y = op(x, *parameters)
    if running_mean is None and running_var is None:
        return y
    running = _running("instance_norm", x, running_mean, running_var, "go together")
    return y, *_new_statistics(x, running, factor)


def _new_statistics(
    x: TensorVariable, running: list[TensorVariable], factor: float
) -> list[TensorVariable]:
    """Return the running mean and variance after an `instance_norm`, in the dtype of `x`."""
    wide = widen(x)
    axes = tuple(range(2, x.type.ndim))
    number = count(wide, axes)
    new_mean, _, biased = moments(wide, axes, number)
    keep, part, one = (constant(np.asarray(v, wide.type.dtype)) for v in (1 - factor, factor, 1))
    new_var = biased * (number / maximum(number - one, one))
    pairs = zip(running, (new_mean, new_var), strict=True)
    dtype = wide.type.dtype
    return [
        cast(old * keep + new.mean(axis=0, dtype=dtype, acc_dtype=dtype) * part, x.type.dtype)
        for old, new in pairs
    ]


def _over_last_axes(
    function: str, x: TensorLike, normalized_shape: Shape
) -> tuple[TensorVariable, int]:
    """Return `x`, checked to have the normalized lengths, and the first of these axes."""
    image = as_floating_point(function, x, 1)
    ndim = image.type.ndim
    shape: Any = (normalized_shape,) if is_int(normalized_shape) else normalized_shape
    if (
        not isinstance(shape, Sequence)
        or not 1 <= len(shape) <= ndim
        or not all(n is None or is_int(n) for n in shape)
    ):
        raise ValueError(
            f"{function}: normalized_shape must be an int, or the lengths of the last of the "
            f"input's {ndim} axes, got {normalized_shape!r}"
        )
    axis = ndim - len(shape)
    wanted, known = tuple(n if n is None else int(n) for n in shape), image.type.shape[axis:]
    if shapes_differ(wanted, known):
        raise ValueError(
            f"{function}: normalized_shape is {wanted}, and the last axes of the input have "
            f"shape {known}"
        )
    lengths = tuple(m if n is None else n for n, m in zip(wanted, known, strict=True))
    if lengths != known:
        image = specify_shape(image, (*image.type.shape[:axis], *lengths))
    return image, axis


def layer_norm(
    x: TensorLike, normalized_shape: Shape, weight: TensorLike | None = None,
    bias: TensorLike | None = None, *, eps: float = 1e-5,
) -> TensorVariable:  # fmt: skip
    """Normalize each example over its last axes, as in PyTorch.

    ``(x - mean) / sqrt(var + eps) * weight + bias``, with the mean and the biased variance over the
    last ``len(normalized_shape)`` axes.

    Parameters
    ----------
    x : tensor_like, floating point, one axis or more
    normalized_shape : int or tuple of (int or None)
        Lengths of the last axes of `x`; None stands for any, so that ``x.type.shape[-1:]`` serves
        where the type of `x` doesn't know the length.
    weight, bias : tensor_like, shape `normalized_shape`, optional
        They are cast to the dtype of `x`.
    eps : float

    Returns
    -------
    TensorVariable, shape and dtype of `x`
        Statistics of float16 are computed in float32.

    Raises
    ------
    TypeError
        If `x` isn't floating point.
    ValueError
        If `normalized_shape` or a parameter's static shape doesn't fit, or `eps` is negative.

    References
    ----------
    Ba, Kiros and Hinton, "Layer normalization", arXiv:1607.06450.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.layer_norm([[1.0, 3.0], [0.0, 0.0]], 2).eval().round(3)
    array([[-1.,  1.],
           [ 0.,  0.]])
    """
    x, axis = _over_last_axes("layer_norm", x, normalized_shape)
    op: Any = LayerNormalization(
        axis=axis,
        epsilon=as_epsilon("layer_norm", eps, "eps"),
        scaled=weight is not None,
        shifted=bias is not None,
    )
    return op(x, *_given("layer_norm", x, slice(axis, None), weight=weight, bias=bias))


def rms_norm(
    x: TensorLike, normalized_shape: Shape, weight: TensorLike | None = None, *,
    eps: float | None = None,
) -> TensorVariable:  # fmt: skip
    """Divide each example by the root mean square over its last axes, as in PyTorch.

    ``x / sqrt(mean(x**2) + eps) * weight``, over the last ``len(normalized_shape)`` axes.

    Parameters
    ----------
    x : tensor_like, floating point, one axis or more
    normalized_shape : int or tuple of (int or None)
        Lengths of the last axes of `x`; as for `layer_norm`.
    weight : tensor_like, shape `normalized_shape`, optional
        It is cast to the dtype of `x`.
    eps : float, optional
        By default the machine epsilon of the dtype in which the mean is computed.

    Returns
    -------
    TensorVariable, shape and dtype of `x`
        Statistics of float16 are computed in float32.

    Raises
    ------
    TypeError
        If `x` isn't floating point.
    ValueError
        If `normalized_shape` or the static shape of `weight` doesn't fit, or `eps` is negative.

    References
    ----------
    Zhang and Sennrich, "Root mean square layer normalization", arXiv:1910.07467.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.rms_norm([[3.0, 3.0], [1.0, -1.0]], 2).eval().round(3)
    array([[ 1.,  1.],
           [ 1., -1.]])
    """
    x, axis = _over_last_axes("rms_norm", x, normalized_shape)
    if eps is None:
        eps = float(np.finfo(accumulation_dtype(x.type.dtype)).eps)
    op: Any = RMSNormalization(
        axis=axis,
        epsilon=as_epsilon("rms_norm", eps, "eps"),
        scaled=weight is not None,
        shifted=False,
    )
    return op(x, *_given("rms_norm", x, slice(axis, None), weight=weight))


def group_norm(
    x: TensorLike, num_groups: int, weight: TensorLike | None = None,
    bias: TensorLike | None = None, *, eps: float = 1e-5,
) -> TensorVariable:  # fmt: skip
    """Normalize each example over groups of channels and the spatial axes, as in PyTorch.

    ``(x - mean) / sqrt(var + eps) * weight + bias``, with one mean and one biased variance for
    ``channels / num_groups`` neighbouring channels.

    Parameters
    ----------
    x : tensor_like, shape (batch, channels, ...), floating point
    num_groups : int
        A divisor of the number of channels.
    weight, bias : tensor_like, shape (channels,), optional
        They are cast to the dtype of `x`.
    eps : float

    Returns
    -------
    TensorVariable, shape and dtype of `x`
        Statistics of float16 are computed in float32.

    Raises
    ------
    TypeError
        If `x` isn't floating point.
    ValueError
        If `num_groups` doesn't divide the number of channels, a parameter's static shape doesn't
        fit, `x` has less than 2 axes, or `eps` is negative.

    References
    ----------
    Wu and He, "Group normalization", arXiv:1803.08494.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.nn.group_norm([[[1.0], [3.0], [5.0], [5.0]]], 2).eval().round(3)[0, :, 0]
    array([-1.,  1.,  0.,  0.])
    """
    x = as_floating_point("group_norm", x, 2)
    channels = x.type.shape[1]
    if not is_int(num_groups):
        raise ValueError(f"group_norm: num_groups must be an int, got {num_groups!r}")
    if num_groups < 1 or (channels or 0) % num_groups:
        raise ValueError(
            f"group_norm: num_groups must be at least 1 and divide the number of channels "
            f"({'not known yet' if channels is None else channels}), got {num_groups}"
        )
    op: Any = GroupNormalization(
        num_groups=int(num_groups),
        epsilon=as_epsilon("group_norm", eps, "eps"),
        scaled=weight is not None,
        shifted=bias is not None,
    )
    return op(x, *_given("group_norm", x, CHANNELS, weight=weight, bias=bias))
