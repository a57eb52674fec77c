"""Batch normalization, for inference and for training."""

import numbers
from functools import reduce, wraps
from operator import mul

import numpy as np

from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.tensor.basic import as_tensor_variable, cast, constant
from pytensor.tensor.math import maximum, reciprocal, sqr, sqrt
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.symbolic import TensorSymbolicOp
from pytensor.tensor.type import float_dtypes


def _expand(parameter, axes, ndim):
    """Insert broadcast axes where a tensor of `ndim` axes is reduced."""
    kept = iter(range(parameter.type.ndim))
    return parameter.dimshuffle(["x" if a in axes else next(kept) for a in range(ndim)])


def _sum(x, axes):
    # The dtype is said because the default would accumulate float32 in float64 in mode JAX too
    return x.sum(axis=axes, dtype=x.type.dtype, acc_dtype=x.type.dtype)


def _count(x, axes):
    """How many elements each statistic is over, in the dtype of `x` (float32 for float16)."""
    dtype = "float32" if x.type.dtype == "float16" else x.type.dtype
    static = [x.type.shape[a] for a in axes]
    if None not in static:
        return constant(np.asarray(np.prod(static), dtype=dtype))
    # Factor by factor: a vector of them would be int64, which JAX lacks with floatX=float32
    return cast(reduce(mul, [x.shape[a] for a in axes]), dtype)


def _half_in_single(build_inner_graph):
    """Compute float16 in float32: sums and counts overflow at 65,504 otherwise."""

    @wraps(build_inner_graph)
    def build(self, *inputs):
        if inputs[0].type.dtype != "float16":
            return build_inner_graph(self, *inputs)
        outputs = build_inner_graph(self, *(cast(v, "float32") for v in inputs))
        return [cast(out, "float16") for out in outputs]

    return build


def _unbiased(count):
    """Factor from the biased to the unbiased variance; 1 for a single element."""
    one = np.asarray(1, dtype=count.type.dtype)
    return count / maximum(count - one, one)


class _Normalization(TensorSymbolicOp):
    """Shared by the Ops below: reduced `axes`, and `epsilon` added to the variance.

    Parameters and statistics have the axes that aren't reduced, in their order: ``(channels,)``
    for images normalized over ``axes=(0, 2, 3)``.
    """

    __props__ = ("axes", "epsilon")

    def infer_shape(self, node, shapes):
        # The inner graph's own shapes would carry broadcasting checks that JAX can't evaluate
        kept = tuple(n for a, n in enumerate(shapes[0]) if a not in self.axes)
        return [shapes[0] if out.type.ndim == len(shapes[0]) else kept for out in node.outputs]

    def _inverse_std(self, variance):
        epsilon = np.asarray(self.epsilon, dtype=variance.type.dtype)
        return reciprocal(sqrt(variance + epsilon))


class BatchNormalization(_Normalization):
    """Normalize with given statistics."""

    @_half_in_single
    def build_inner_graph(self, x, gamma, beta, mean, variance):
        gamma, beta, mean, inverse_std = (
            _expand(v, self.axes, x.type.ndim)
            for v in (gamma, beta, mean, self._inverse_std(variance))
        )
        return [(x - mean) * (inverse_std * gamma) + beta]


class BatchNormalizationTrain(_Normalization):
    """Normalize with the batch's own statistics.

    Outputs (out, mean, biased variance, unbiased variance).  The last is an output, and not
    computed from the third by the caller, because inside the inner graph the number of elements
    is that of an input, which JAX knows while it traces.
    """

    @_half_in_single
    def build_inner_graph(self, x, gamma, beta):
        ndim, axes = x.type.ndim, self.axes
        count = _count(x, axes)
        mean = _sum(x, axes) / count
        centred = x - _expand(mean, axes, ndim)
        variance = _sum(sqr(centred), axes) / count
        scale = _expand(self._inverse_std(variance) * gamma, axes, ndim)
        out = centred * scale + _expand(beta, axes, ndim)
        return [out, mean, variance, variance * _unbiased(count)]

    def pullback(self, inputs, outputs, cotangents):
        x, gamma, _ = inputs
        _, mean, variance, _ = outputs
        g_out, g_mean, g_variance, g_unbiased = cotangents
        if isinstance(g_out.type, DisconnectedType):
            # The statistics depend on x alone
            g_x, g_gamma, g_beta = x.zeros_like(), disconnected_type(), disconnected_type()
        else:
            backward = BatchNormalizationTrainGrad(axes=self.axes, epsilon=self.epsilon)
            g_x, g_gamma, g_beta = backward(x, gamma, mean, variance, g_out)
        ndim, axes = x.type.ndim, self.axes
        if not isinstance(g_mean.type, DisconnectedType):
            g_x = g_x + _expand(g_mean / _count(x, axes), axes, ndim)
        two = np.asarray(2, dtype=x.type.dtype)
        for g, factor in [(g_variance, two), (g_unbiased, two * _unbiased(_count(x, axes)))]:
            if not isinstance(g.type, DisconnectedType):
                centred = x - _expand(mean, axes, ndim)
                g_x = g_x + _expand(g * (factor / _count(x, axes)), axes, ndim) * centred
        return [cast(g_x, x.type.dtype), g_gamma, g_beta]


class BatchNormalizationTrainGrad(_Normalization):
    """Gradients for x, gamma and beta from that of the normalized output, as one node."""

    @_half_in_single
    def build_inner_graph(self, x, gamma, mean, variance, cotangent):
        ndim, axes = x.type.ndim, self.axes
        inverse_std = self._inverse_std(variance)
        normalized = (x - _expand(mean, axes, ndim)) * _expand(inverse_std, axes, ndim)
        g_beta = _sum(cotangent, axes)
        g_gamma = _sum(cotangent * normalized, axes)
        count = _count(x, axes)
        g_x = _expand(gamma * inverse_std, axes, ndim) * (
            cotangent
            - _expand(g_beta / count, axes, ndim)
            - normalized * _expand(g_gamma / count, axes, ndim)
        )
        return [g_x, g_gamma, g_beta]

    def pullback(self, inputs, outputs, cotangents):
        # `mean` and `variance` are functions of x: gradients through this node see them as
        # inputs, and the pullback above adds what flows through them.
        if all(isinstance(c.type, DisconnectedType) for c in cotangents):
            return [disconnected_type() for _ in inputs]
        return super().pullback(inputs, outputs, cotangents)


def _reduced_axes(axes, ndim):
    if axes == "per-activation":
        return (0,)
    if axes == "spatial":
        return (0, *range(2, ndim))
    if isinstance(axes, numbers.Integral):
        axes = (axes,)
    if (
        isinstance(axes, str)
        or not axes
        or not all(isinstance(a, numbers.Integral) and -ndim <= a < ndim for a in axes)
        or len({a % ndim for a in axes}) != len(axes)
    ):
        raise ValueError(
            f"batch normalization: axes must be 'per-activation', 'spatial' or different axes "
            f"of the input's {ndim}, got {axes!r}"
        )
    return tuple(sorted(int(a) % ndim for a in axes))


def _as_input(x):
    x = as_tensor_variable(x)
    if x.type.dtype not in float_dtypes:
        raise TypeError(
            f"batch normalization: the input must be floating point, got {x.type.dtype}; "
            f"cast it first"
        )
    return x


def _drop_reduced(name, parameter, x, axes):
    """Bring a parameter to the axes that aren't reduced; it may have broadcast axes or not."""
    parameter = as_tensor_variable(parameter)
    kept = [a for a in range(x.type.ndim) if a not in axes]
    if parameter.type.ndim == x.type.ndim:
        lengths = [parameter.type.shape[a] for a in axes]
        if any(length not in (1, None) for length in lengths):
            raise ValueError(
                f"batch normalization: {name} must have length 1 along the reduced axes {axes}, "
                f"its shape is {parameter.type.shape}"
            )
        shape = [1 if a in axes else parameter.type.shape[a] for a in range(x.type.ndim)]
        parameter = specify_shape(parameter, shape).dimshuffle(kept)
    if parameter.type.ndim != len(kept):
        raise ValueError(
            f"batch normalization: {name} must have {len(kept)} axes (those of the input that "
            f"aren't reduced) or the input's {x.type.ndim}, got {parameter.type.ndim}"
        )
    for a, length in zip(kept, parameter.type.shape, strict=True):
        if None not in (length, x.type.shape[a]) and length != x.type.shape[a]:
            raise ValueError(
                f"batch normalization: {name} has length {length} where axis {a} of the input "
                f"has {x.type.shape[a]}"
            )
    return cast(parameter, x.type.dtype)


def batch_normalization(x, gamma, beta, mean, variance, epsilon=1e-4, axes="spatial"):
    """Normalize with given statistics, as in inference.

    ``(x - mean) / sqrt(variance + epsilon) * gamma + beta``

    Parameters
    ----------
    x : tensor_like, shape (batch, channels, ...), floating point
    gamma, beta, mean, variance : tensor_like
        Shape (channels,), or in general that of `x` without the reduced axes, or with length 1
        there.
    epsilon : float
    axes : "spatial", "per-activation" or tuple of int
        The axes that the statistics were taken over: all but axis 1, axis 0 alone, or those given.

    Returns
    -------
    TensorVariable, shape and dtype of `x`
        Differentiable with respect to all five inputs.

    Raises
    ------
    ValueError
        If a parameter's shape doesn't fit, or `axes` isn't one of those above.
    TypeError
        If `x` isn't floating point.

    References
    ----------
    Ioffe and Szegedy, "Batch normalization: accelerating deep network training by reducing
    internal covariate shift", ICML 2015.
    """
    x = _as_input(x)
    axes = _reduced_axes(axes, x.type.ndim)
    parameters = {"gamma": gamma, "beta": beta, "mean": mean, "variance": variance}
    parameters = [_drop_reduced(name, v, x, axes) for name, v in parameters.items()]
    return BatchNormalization(axes=axes, epsilon=float(epsilon))(x, *parameters)


def batch_normalization_train(
    inputs,
    gamma,
    beta,
    axes="per-activation",
    epsilon=1e-4,
    running_average_factor=0.1,
    running_mean=None,
    running_var=None,
):
    """Normalize with the batch's own statistics, as in training; Theano's arguments and results.

    Parameters
    ----------
    inputs : tensor_like, shape (batch, channels, ...), floating point
    gamma, beta : tensor_like
        Scale and offset.  Shape of `inputs` without the reduced axes, such as (channels,), or
        with length 1 there.
    axes : "per-activation", "spatial" or tuple of int
        Reduce axis 0 alone, all axes but 1, or those given.
    epsilon : float
    running_average_factor : float
        Weight f of the new value in the running statistics.
    running_mean, running_var : tensor_like, optional
        Current running statistics, shaped like `gamma`.

    Returns
    -------
    out : shape of `inputs`
        ``(inputs - mean) * invstd * gamma + beta``
    mean : shape of `gamma`
    invstd : shape of `gamma`
        ``1 / sqrt(var + epsilon)`` with the biased variance (divided by the number m).
    new_running_mean : shape of `running_mean`; only where that was given
        ``running_mean * (1 - f) + mean * f``
    new_running_var : shape of `running_var`; only where that was given
        ``running_var * (1 - f) + var * m / (m - 1) * f``: the unbiased variance.

        Gradients flow through all outputs and through the statistics.

    Raises
    ------
    ValueError
        If a parameter's shape doesn't fit, or `axes` isn't one of those above.
    TypeError
        If `inputs` isn't floating point.

    References
    ----------
    Ioffe and Szegedy, "Batch normalization: accelerating deep network training by reducing
    internal covariate shift", ICML 2015.
    """
    x = _as_input(inputs)
    axes = _reduced_axes(axes, x.type.ndim)
    gamma = as_tensor_variable(gamma)
    full_rank = gamma.type.ndim == x.type.ndim
    op = BatchNormalizationTrain(axes=axes, epsilon=float(epsilon))
    out, mean, variance, unbiased = op(
        x, _drop_reduced("gamma", gamma, x, axes), _drop_reduced("beta", beta, x, axes)
    )

    def in_form(statistic, full):
        return _expand(statistic, axes, x.type.ndim) if full else statistic

    inverse_std = op._inverse_std(variance)
    results = [out, in_form(mean, full_rank), in_form(inverse_std, full_rank)]
    factor = np.asarray(running_average_factor, dtype=x.type.dtype)
    keep = np.asarray(1 - running_average_factor, dtype=x.type.dtype)
    if running_mean is not None:
        running_mean = as_tensor_variable(running_mean)
        full = running_mean.type.ndim == x.type.ndim
        old = _drop_reduced("running_mean", running_mean, x, axes)
        results.append(in_form(old * keep + mean * factor, full))
    if running_var is not None:
        running_var = as_tensor_variable(running_var)
        full = running_var.type.ndim == x.type.ndim
        old = _drop_reduced("running_var", running_var, x, axes)
        results.append(in_form(old * keep + unbiased * factor, full))
    return tuple(results)
