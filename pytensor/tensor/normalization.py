"""Normalization of each example by statistics of its own: layer, group, instance and RMS."""

import numbers

from pytensor.graph.facts import precision
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import as_tensor_variable, cast
from pytensor.tensor.batching import (
    batch_rule,
    leading_batch,
    own_batch_axes,
    shifted,
    written_out,
)
from pytensor.tensor.moments import (
    as_epsilon,
    as_floating_point,
    count,
    expand,
    half_in_single,
    inverse_std,
    moments,
    pullback_as_node,
)
from pytensor.tensor.reshape import split_dims
from pytensor.tensor.shape import reshape, specify_shape
from pytensor.tensor.symbolic import TensorSymbolicOp
from pytensor.tensor.variable import TensorVariable


class _Normalization(TensorSymbolicOp):
    """Shared by the Ops below, with inputs x, the scale if `scaled`, and the bias if `shifted`."""

    @half_in_single
    def build_inner_graph(self, x, *parameters):
        out = self.normalized(x)
        parameters = [self.expanded(parameter, x.type.ndim) for parameter in parameters]
        if self.scaled:
            out = out * parameters.pop(0)
        if self.shifted:
            out = out + parameters.pop(0)
        return [specify_shape(out, x.type.shape)]

    def infer_shape(self, node, shapes):
        return [shapes[0]]

    def pullback(self, inputs, outputs, cotangents):
        return pullback_as_node(self, inputs, cotangents)

    def normalized(self, x):
        """`x` with zero mean, where there is one, and unit variance."""
        raise NotImplementedError

    def expanded(self, parameter, ndim):
        """A parameter with the axes of the input."""
        raise NotImplementedError

    def over(self, x, axes, centre=True):
        """Normalize over the axes given."""
        _, x, variance = moments(x, axes, count(x, axes), centre=centre)
        return x * expand(inverse_std(variance, self.epsilon), axes, x.type.ndim)


class _OverLastAxes(_Normalization):
    """Statistics over the axes from number `axis` on; parameters have those axes."""

    __props__ = ("axis", "epsilon", "scaled", "shifted")

    def expanded(self, parameter, ndim):
        return parameter.dimshuffle([*["x"] * self.axis, *range(parameter.type.ndim)])


class LayerNormalization(_OverLastAxes):
    """Zero mean and unit variance over the last axes."""

    def normalized(self, x):
        return self.over(x, tuple(range(self.axis, x.type.ndim)))


class RMSNormalization(_OverLastAxes):
    """Unit mean square over the last axes."""

    def normalized(self, x):
        return self.over(x, tuple(range(self.axis, x.type.ndim)), centre=False)


class _PerChannel(_Normalization):
    """Parameters have an element per channel, which is axis 1."""

    def expanded(self, parameter, ndim):
        return parameter.dimshuffle(["x", 0, *["x"] * (ndim - 2)])


class InstanceNormalization(_PerChannel):
    """Zero mean and unit variance over the spatial axes."""

    __props__ = ("epsilon", "scaled", "shifted")

    def normalized(self, x):
        return self.over(x, tuple(range(2, x.type.ndim)))


class GroupNormalization(_PerChannel):
    """Zero mean and unit variance over groups of channels and the spatial axes."""

    __props__ = ("num_groups", "epsilon", "scaled", "shifted")

    def normalized(self, x):
        channels = x.shape[1] if x.type.shape[1] is None else x.type.shape[1]
        grouped = split_dims(x, (self.num_groups, channels // self.num_groups), axis=1)
        # An Op of its own because that knows its shape; JAX could not work it out while it traces
        over_groups = LayerNormalization(axis=2, epsilon=self.epsilon, scaled=False, shifted=False)
        out = over_groups(grouped)
        # Not join_dims: NumPy can't join axes of an empty array
        lengths = [x.shape[a] if n is None else n for a, n in enumerate(x.type.shape)]
        return reshape(out, lengths)


def _with_other_props(op, **props):
    return type(op)(**{name: getattr(op, name) for name in op.__props__} | props)


@shifted.register(_OverLastAxes)
def _(op, n):
    has_parameters = op.scaled or op.shifted
    return None if has_parameters else _with_other_props(op, axis=op.axis + n)


@own_batch_axes.register(_OverLastAxes)
def _(op, ndim):
    return () if op.scaled or op.shifted else range(op.axis)


@own_batch_axes.register(_PerChannel)
def _(op, ndim):
    return () if op.scaled or op.shifted else (0,)


@written_out.register(_Normalization)
def _(op, x, *parameters):
    # As in the Op, half precision is rounded at the end.
    computed = cast(x, "float32") if x.type.dtype == "float16" else x
    out = _with_other_props(op, scaled=False, shifted=False)(computed)
    parameters = [op.expanded(parameter, x.type.ndim) for parameter in parameters]
    if op.scaled:
        out = out * parameters.pop(0)
    if op.shifted:
        out = out + parameters.pop(0)
    return [cast(out, x.type.dtype)]


@batch_rule(_Normalization)
def batch_of_normalization(op, node, batch):
    """Apply a batch of parameters by elementwise functions; no `Blockwise`."""
    if any(batch.has[1:]):
        return leading_batch(op, node, batch)
    image, *parameters = batch.inputs
    if isinstance(op, _OverLastAxes) and op.axis == 0:
        return [_with_other_props(op, axis=batch.ndim)(image, *parameters)]
    out = op(batch.merge(image, 0), *parameters)
    return [batch.part(out, 0, batch.own_lengths(0)[0])]


def _apply(function, op_class, x, scale, bias, shape, *, epsilon, **props):
    """Apply an Op to the parameters that there are, whose static shape has to fit `shape`."""
    epsilon = as_epsilon(function, epsilon)
    parameters = []
    for name, parameter in (("scale", scale), ("bias", bias)):
        if parameter is None:
            continue
        parameter = as_tensor_variable(parameter)
        lengths = parameter.type.shape
        if len(lengths) != len(shape) or any(
            None not in pair and pair[0] != pair[1] for pair in zip(lengths, shape, strict=True)
        ):
            raise ValueError(f"{function}: {name} must have shape {shape}, got {lengths}")
        parameters.append(cast(parameter, x.type.dtype))
    op = op_class(epsilon=epsilon, scaled=scale is not None, shifted=bias is not None, **props)
    return op(x, *parameters)


def _over_last_axes(function, op_class, x, scale, bias, axis, epsilon):
    x = as_floating_point(function, x, 1)
    ndim = x.type.ndim
    if isinstance(axis, bool) or not isinstance(axis, numbers.Integral) or not -ndim <= axis < ndim:
        raise ValueError(f"{function}: axis must be one of the input's {ndim} axes, got {axis!r}")
    axis = int(axis) % ndim
    shape = x.type.shape[axis:]
    return _apply(function, op_class, x, scale, bias, shape, axis=axis, epsilon=epsilon)


def layer_normalization(
    x: TensorLike, scale: TensorLike | None = None, bias: TensorLike | None = None,
    axis: int = -1, epsilon: float = 1e-5,
) -> TensorVariable:  # fmt: skip
    """Normalize each example over its last axes.

    ``(x - mean) / sqrt(variance + epsilon) * scale + bias``, with the mean and the biased variance
    over the axes ``axis, ..., x.ndim - 1``.

    Parameters
    ----------
    x : tensor_like, floating point, one axis or more
    scale, bias : tensor_like, shape ``x.shape[axis:]``, optional
        They are cast to the dtype of `x`.
    axis : int
        The first of the axes that are normalized, as in ONNX.
    epsilon : float

    Returns
    -------
    TensorVariable, shape and dtype of `x`
        Statistics of float16 are computed in float32.

    Raises
    ------
    TypeError
        If `x` isn't floating point.
    ValueError
        If a parameter's static shape doesn't fit, `x` has no such axis, or `epsilon` is negative.

    References
    ----------
    Ba, Kiros and Hinton, "Layer normalization", arXiv:1607.06450.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.layer_normalization([[1.0, 3.0], [0.0, 0.0]]).eval().round(3)
    array([[-1.,  1.],
           [ 0.,  0.]])
    """
    return _over_last_axes("layer_normalization", LayerNormalization, x, scale, bias, axis, epsilon)


def rms_normalization(
    x: TensorLike, scale: TensorLike | None = None, axis: int = -1, epsilon: float = 1e-5
) -> TensorVariable:
    """Divide each example by the root mean square over its last axes.

    ``x / sqrt(mean(x**2) + epsilon) * scale``, over the axes ``axis, ..., x.ndim - 1``.

    Parameters
    ----------
    x : tensor_like, floating point, one axis or more
    scale : tensor_like, shape ``x.shape[axis:]``, optional
        It is cast to the dtype of `x`.
    axis : int
        The first of the axes that are normalized, as in ONNX.
    epsilon : float

    Returns
    -------
    TensorVariable, shape and dtype of `x`
        Statistics of float16 are computed in float32.

    Raises
    ------
    TypeError
        If `x` isn't floating point.
    ValueError
        If the static shape of `scale` doesn't fit, `x` has no such axis, or `epsilon` is negative.

    References
    ----------
    Zhang and Sennrich, "Root mean square layer normalization", arXiv:1910.07467.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.rms_normalization([[3.0, 3.0], [1.0, -1.0]]).eval().round(3)
    array([[ 1.,  1.],
           [ 1., -1.]])
    """
    return _over_last_axes("rms_normalization", RMSNormalization, x, scale, None, axis, epsilon)


def instance_normalization(
    x: TensorLike, scale: TensorLike | None = None, bias: TensorLike | None = None,
    epsilon: float = 1e-5,
) -> TensorVariable:  # fmt: skip
    """Normalize each channel of each example over its spatial axes.

    ``(x - mean) / sqrt(variance + epsilon) * scale + bias``, with the mean and the biased variance
    over all axes but the first two.

    Parameters
    ----------
    x : tensor_like, shape (batch, channels, spatial, ...), floating point
    scale, bias : tensor_like, shape (channels,), optional
        They are cast to the dtype of `x`.
    epsilon : float

    Returns
    -------
    TensorVariable, shape and dtype of `x`
        Statistics of float16 are computed in float32.

    Raises
    ------
    TypeError
        If `x` isn't floating point.
    ValueError
        If a parameter's static shape doesn't fit, `x` has less than 3 axes, or `epsilon` is
        negative.

    References
    ----------
    Ulyanov, Vedaldi and Lempitsky, "Instance normalization: the missing ingredient for fast
    stylization", arXiv:1607.08022.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.instance_normalization([[[1.0, 3.0], [0.0, 8.0]]], [1.0, 2.0]).eval().round(3)
    array([[[-1.,  1.],
            [-2.,  2.]]])
    """
    x = as_floating_point("instance_normalization", x, 3)
    shape = x.type.shape[1:2]
    return _apply(
        "instance_normalization", InstanceNormalization, x, scale, bias, shape, epsilon=epsilon
    )


def group_normalization(
    x: TensorLike, num_groups: int, scale: TensorLike | None = None,
    bias: TensorLike | None = None, epsilon: float = 1e-5,
) -> TensorVariable:  # fmt: skip
    """Normalize each example over groups of channels and the spatial axes.

    ``(x - mean) / sqrt(variance + epsilon) * scale + bias``, with one mean and one biased variance
    for ``channels / num_groups`` neighbouring channels.

    Parameters
    ----------
    x : tensor_like, shape (batch, channels, ...), floating point
    num_groups : int
        A divisor of the number of channels.
    scale, bias : tensor_like, shape (channels,), optional
        They are cast to the dtype of `x`.
    epsilon : float

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
        fit, `x` has less than 2 axes, or `epsilon` is negative.

    References
    ----------
    Wu and He, "Group normalization", arXiv:1803.08494.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> pt.group_normalization([[[1.0], [3.0], [5.0], [5.0]]], 2).eval().round(3)[0, :, 0]
    array([-1.,  1.,  0.,  0.])
    """
    x = as_floating_point("group_normalization", x, 2)
    (channels,) = shape = x.type.shape[1:2]
    if isinstance(num_groups, bool) or not isinstance(num_groups, numbers.Integral):
        raise ValueError(f"group_normalization: num_groups must be an int, got {num_groups!r}")
    if num_groups < 1 or (channels or 0) % num_groups:
        raise ValueError(
            f"group_normalization: num_groups must be at least 1 and divide the number of "
            f"channels ({'not known yet' if channels is None else channels}), got {num_groups}"
        )
    return _apply(
        "group_normalization", GroupNormalization, x, scale, bias, shape,
        num_groups=int(num_groups), epsilon=epsilon,
    )  # fmt: skip


precision.register(_Normalization, lambda op: "normalization")
