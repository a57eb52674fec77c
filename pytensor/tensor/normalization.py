"""Normalization of each example by statistics of its own: layer, group, instance and RMS."""

import numbers

import numpy as np

from pytensor.tensor.basic import as_tensor_variable, cast
from pytensor.tensor.batchnorm import _count, _half_in_single, _sum
from pytensor.tensor.math import reciprocal, sqr, sqrt
from pytensor.tensor.shape import reshape, specify_shape
from pytensor.tensor.symbolic import TensorSymbolicOp
from pytensor.tensor.type import float_dtypes


class _Normalization(TensorSymbolicOp):
    """Shared by the Ops below, whose inputs are x, and the scale and the bias that it has.

    Statistics of half precision are taken in single precision.
    """

    def __init__(self, *args, scaled=True, shifted=True, **kwargs):
        self.scaled, self.shifted = scaled, shifted
        super().__init__(*args, **kwargs)

    @_half_in_single
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

    def normalized(self, x):
        """`x` with zero mean, where there is one, and unit variance."""
        raise NotImplementedError

    def expanded(self, parameter, ndim):
        """A parameter with the axes of the input."""
        raise NotImplementedError

    def over(self, x, axes, centre=True):
        """Normalize over the axes given."""
        count = _count(x, axes)
        if centre:
            x = x - _mean(x, axes, count)
        variance = _mean(sqr(x), axes, count)
        epsilon = np.asarray(self.epsilon, dtype=x.type.dtype)
        return x * reciprocal(sqrt(variance + epsilon))


def _mean(x, axes, count):
    kept = iter(range(x.type.ndim - len(axes)))
    mean = _sum(x, axes) / count
    return mean.dimshuffle(["x" if axis in axes else next(kept) for axis in range(x.type.ndim)])


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
        lengths = [x.shape[a] if n is None else n for a, n in enumerate(x.type.shape)]
        batch, channels, *spatial = lengths
        groups = (batch, self.num_groups, channels // self.num_groups, *spatial)
        out = self.over(reshape(x, groups), tuple(range(2, x.type.ndim + 1)))
        return reshape(out, lengths)
