"""Layers of normalization; arguments and names are PyTorch's."""

from collections.abc import Sequence

import numpy as np

import pytensor.tensor as pt
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.layers import init
from pytensor.layers.module import Module, buffer, parameter
from pytensor.layers.updates import current_updates
from pytensor.tensor import TensorLike
from pytensor.tensor.nn.checks import has_axes
from pytensor.tensor.variable import TensorVariable


class _Affine(Module):
    """A scale and an offset, unless `affine` is False; both are None then."""

    ranks: tuple[int, ...] = ()  # of x; any if there are none

    def _checked(self, x: TensorLike) -> TensorVariable:
        variable = pt.as_tensor_variable(x)
        has_axes(type(self).__name__, "x", variable, self.ranks)
        return variable

    def _make(self, shape: tuple[int, ...], affine: bool, bias: bool = True) -> None:
        self.weight = parameter(shape, init.constant(1.0)) if affine else None
        self.bias = parameter(shape) if affine and bias else None


class BatchNorm(_Affine):
    """Normalize each channel over the batch and the spatial axes, however many there are.

    Within `training` it takes the batch's mean and variance, and updates the running mean and
    variance from them; otherwise it takes the running ones.

    Parameters
    ----------
    num_features : int
        Channels, the second axis.
    eps : float
    momentum : float
        The weight of the batch's statistics in the running ones, from 0 to 1.
    affine : bool
        Whether to scale and shift each channel.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor import layers
    >>> norm, x = layers.BatchNorm(8), pt.tensor("x", shape=(None, 8, 32, 32))
    >>> with layers.training() as updates:
    ...     y = norm(x)
    >>> [statistic.name for statistic in updates]
    ['running_mean', 'running_var']
    """

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = True
    ) -> None:
        self._make((num_features,), affine)
        self.running_mean = buffer(np.zeros(num_features))
        self.running_var = buffer(np.ones(num_features))
        self.eps, self.momentum = eps, momentum

    def __call__(self, x: TensorLike) -> TensorVariable:
        """Normalize each channel of (batch, channels, ...)."""
        x = self._checked(x)
        mean, var, updates = self.running_mean, self.running_var, current_updates()
        if updates is None or not isinstance(mean, SharedVariable):  # of a frozen module
            return pt.nn.batch_norm(x, mean, var, self.weight, self.bias, eps=self.eps)
        y, new_mean, new_var = pt.nn.batch_norm(
            x, updates.get(mean, mean), updates.get(var, var), self.weight, self.bias,
            training=True, momentum=self.momentum, eps=self.eps,
        )  # fmt: skip
        updates[mean] = pt.cast(new_mean, mean.type.dtype)
        updates[var] = pt.cast(new_var, var.type.dtype)
        return y


class BatchNorm1d(BatchNorm):
    """`BatchNorm` of (batch, channels) or (batch, channels, length)."""

    ranks = 2, 3


class BatchNorm2d(BatchNorm):
    """`BatchNorm` of (batch, channels, height, width)."""

    ranks = (4,)


class BatchNorm3d(BatchNorm):
    """`BatchNorm` of (batch, channels, depth, height, width)."""

    ranks = (5,)


class InstanceNorm(_Affine):
    """Normalize each channel of each example over its spatial axes.

    Parameters
    ----------
    num_features : int
        Channels, the second axis.
    eps : float
    affine : bool
        Whether to scale and shift each channel.
    """

    def __init__(self, num_features: int, eps: float = 1e-5, *, affine: bool = False) -> None:
        self._make((num_features,), affine)
        self.eps = eps

    def __call__(self, x: TensorLike) -> TensorVariable:
        """Normalize each channel of (batch, channels, ...)."""
        x = self._checked(x)
        single = x.type.ndim in self.ranks[:1]
        x = pt.expand_dims(x, 0) if single else x
        y = pt.nn.instance_norm(x, weight=self.weight, bias=self.bias, eps=self.eps)
        return y.squeeze(0) if single else y


class InstanceNorm1d(InstanceNorm):
    """`InstanceNorm` of (batch, channels, length) or (channels, length)."""

    ranks = 2, 3


class InstanceNorm2d(InstanceNorm):
    """`InstanceNorm` of (batch, channels, height, width) or (channels, height, width)."""

    ranks = 3, 4


class InstanceNorm3d(InstanceNorm):
    """`InstanceNorm` of volumes (batch, channels, depth, height, width), or one without a batch."""

    ranks = 4, 5


class GroupNorm(_Affine):
    """Normalize each example over groups of channels and the spatial axes.

    Parameters
    ----------
    num_groups : int
        A divisor of `num_channels`.
    num_channels : int
        The second axis.
    eps : float
    affine : bool
        Whether to scale and shift each channel.
    """

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True
    ) -> None:
        if num_groups < 1 or num_channels % num_groups:
            raise ValueError(
                f"GroupNorm: num_groups must divide the {num_channels} channels, got {num_groups}"
            )
        self._make((num_channels,), affine)
        self.num_groups, self.eps = num_groups, eps

    def __call__(self, x: TensorLike) -> TensorVariable:
        """Normalize each channel of (batch, channels, ...)."""
        return pt.nn.group_norm(x, self.num_groups, self.weight, self.bias, eps=self.eps)


def _lengths(shape: int | Sequence[int]) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int | np.integer) else tuple(shape)


class LayerNorm(_Affine):
    """Normalize each example over its last axes.

    Parameters
    ----------
    normalized_shape : int or sequence of int
        Their lengths.
    eps : float
    affine : bool
        Whether to scale each element.
    bias : bool
        Whether to shift each element, too.
    """

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float = 1e-5, affine: bool = True,
        bias: bool = True,
    ) -> None:  # fmt: skip
        self.normalized_shape, self.eps = _lengths(normalized_shape), eps
        self._make(self.normalized_shape, affine, bias)

    def __call__(self, x: TensorLike) -> TensorVariable:
        """Normalize the last axes."""
        return pt.nn.layer_norm(x, self.normalized_shape, self.weight, self.bias, eps=self.eps)


class RMSNorm(_Affine):
    """Divide each example by the root mean square over its last axes.

    Parameters
    ----------
    normalized_shape : int or sequence of int
        Their lengths.
    eps : float, optional
        By default the machine epsilon of the dtype in which the mean is computed.
    affine : bool
        Whether to scale each element.
    """

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float | None = None, affine: bool = True
    ) -> None:
        self.normalized_shape, self.eps = _lengths(normalized_shape), eps
        self._make(self.normalized_shape, affine, bias=False)

    def __call__(self, x: TensorLike) -> TensorVariable:
        """Divide by the root mean square of the last axes."""
        return pt.nn.rms_norm(x, self.normalized_shape, self.weight, eps=self.eps)
