"""Normalization of each example by statistics of its own: layer, group, instance and RMS."""

from pytensor.graph.facts import precision
from pytensor.tensor.basic import cast
from pytensor.tensor.batching import (
    batch_rule,
    leading_batch,
    lengths_of,
    own_batch_axes,
    shifted,
    written_out,
)
from pytensor.tensor.moments import (
    accumulation_dtype,
    count,
    expand,
    half_in_single,
    inverse_std,
    moments,
)
from pytensor.tensor.pullback import pullback_as_node
from pytensor.tensor.shape import reshape, specify_shape
from pytensor.tensor.symbolic import TensorSymbolicOp


class _Normalization(TensorSymbolicOp):
    """Share what the Ops below do; inputs are x, the scale if `scaled`, the bias if `shifted`."""

    @half_in_single
    def build_inner_graph(self, x, *parameters):
        out = self.scaled_and_shifted(self.normalized(x), *parameters)
        return [specify_shape(out, x.type.shape)]

    def infer_shape(self, node, shapes):
        return [shapes[0]]

    def pullback(self, inputs, outputs, cotangents):
        return pullback_as_node(self, inputs, cotangents)

    def normalized(self, x):
        """Return `x` with zero mean, where there is one, and unit variance."""
        raise NotImplementedError

    def expanded(self, parameter, ndim):
        """Return a parameter with the axes of the input."""
        raise NotImplementedError

    def scaled_and_shifted(self, out, *parameters):
        """Apply the parameters there are to the normalized input."""
        parameters = [self.expanded(parameter, out.type.ndim) for parameter in parameters]
        if self.scaled:
            out = out * parameters.pop(0)
        if self.shifted:
            out = out + parameters.pop(0)
        return out

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
        # Neither split_dims nor join_dims, each the other's pullback: NumPy can't join axes of an
        # empty array.
        first, _, *spatial = lengths_of(x)
        lengths = [first, self.num_groups, channels // self.num_groups, *spatial]
        grouped = reshape(x, lengths, ndim=len(lengths))
        # As an Op, not written out: an Op knows its output's shape, which tracing can't work out
        over_groups = LayerNormalization(axis=2, epsilon=self.epsilon, scaled=False, shifted=False)
        out = over_groups(grouped)
        return reshape(out, lengths_of(x))


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
    computed = cast(x, accumulation_dtype(x.type.dtype))
    normalized = _with_other_props(op, scaled=False, shifted=False)(computed)
    return [cast(op.scaled_and_shifted(normalized, *parameters), x.type.dtype)]


@batch_rule(_Normalization)
def batch_of_normalization(op, node, batch):
    """Batch x by the Op itself, and parameters by elementwise functions; without `Blockwise`."""
    if any(batch.has[1:]):
        return leading_batch(op, node, batch)
    image, *parameters = batch.inputs
    if isinstance(op, _OverLastAxes) and op.axis == 0:
        return [_with_other_props(op, axis=batch.ndim)(image, *parameters)]
    out = op(batch.merge(image, 0), *parameters)
    return [batch.part(out, 0, batch.own_lengths(0)[0])]


precision.register(_Normalization, lambda op: "normalization")
