import torch
import torch.nn.functional as F

from pytensor.link.pytorch.dispatch.basic import pytorch_funcify
from pytensor.link.pytorch.dispatch.vjp import differentiated, pytorch_pullback
from pytensor.tensor.batchnorm import BatchNormalization
from pytensor.tensor.normalization import (
    GroupNormalization,
    InstanceNormalization,
    LayerNormalization,
    RMSNormalization,
)


def _in_single(function):
    """Compute half precision in single."""

    def computed(*inputs):
        if inputs[0].dtype != torch.float16:
            return function(*inputs)
        return function(*(v.float() for v in inputs)).half()

    return computed


def _scale_and_bias(op, parameters, shape):
    """Return the two parameters, in the given shape, or None for those that there aren't."""
    given = iter([v.expand(shape) for v in parameters])
    return next(given) if op.scaled else None, next(given) if op.shifted else None


@pytorch_funcify.register(LayerNormalization)
def pytorch_funcify_LayerNormalization(op, **kwargs):
    @_in_single
    def layer_normalization(x, *parameters):
        shape = x.shape[op.axis :]
        return F.layer_norm(x, shape, *_scale_and_bias(op, parameters, shape), op.epsilon)

    return layer_normalization


@pytorch_funcify.register(RMSNormalization)
def pytorch_funcify_RMSNormalization(op, **kwargs):
    @_in_single
    def rms_normalization(x, *parameters):
        shape = x.shape[op.axis :]
        return F.rms_norm(x, shape, _scale_and_bias(op, parameters, shape)[0], op.epsilon)

    return rms_normalization


@pytorch_funcify.register(InstanceNormalization)
def pytorch_funcify_InstanceNormalization(op, **kwargs):
    @_in_single
    def instance_normalization(x, *parameters):
        # PyTorch's own refuses images of one pixel
        out = F.layer_norm(x, x.shape[2:], None, None, op.epsilon)
        scale, bias = _scale_and_bias(op, parameters, x.shape[1:2])
        channels = (-1, *(1,) * (x.ndim - 2))
        out = out if scale is None else out * scale.reshape(channels)
        return out if bias is None else out + bias.reshape(channels)

    return instance_normalization


@pytorch_funcify.register(GroupNormalization)
def pytorch_funcify_GroupNormalization(op, **kwargs):
    @_in_single
    def group_normalization(x, *parameters):
        if not x.numel():
            return torch.zeros_like(x)  # PyTorch refuses images of no pixel
        # Not F.group_norm, which refuses a single value per group
        parameters = _scale_and_bias(op, parameters, x.shape[1:2])
        return torch.group_norm(x, op.num_groups, *parameters, op.epsilon)

    return group_normalization


for _op_class in (
    LayerNormalization, RMSNormalization, InstanceNormalization, GroupNormalization
):  # fmt: skip
    pytorch_pullback.register(_op_class)(differentiated)


@pytorch_funcify.register(BatchNormalization)
def pytorch_funcify_BatchNormalization(op, **kwargs):
    @_in_single
    def batch_normalization(x, gamma, beta, mean, variance):
        if op.is_per_channel(x.ndim):
            shape = x.shape[1:2]
            mean, variance, gamma, beta = (
                v.expand(shape) for v in (mean, variance, gamma, beta)
            )
            return F.batch_norm(x, mean, variance, gamma, beta, eps=op.epsilon)
        for axis in op.axes:
            gamma, beta, mean, variance = (
                v.unsqueeze(axis) for v in (gamma, beta, mean, variance)
            )
        return (x - mean) * (gamma / torch.sqrt(variance + op.epsilon)) + beta

    return batch_normalization
