"""Normalizations, and dropout."""

import numpy as np
import onnx_ir as ir

import pytensor.tensor as pt
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.link.onnx.importing.registry import Refused, dtype_name, operator_funcify
from pytensor.link.onnx.importing.sizes import (
    filled,
    known,
    like,
    normalized,
    positions,
    what_to_give,
    wide,
)
from pytensor.scalar import upcast
from pytensor.tensor.batching import lengths_of
from pytensor.tensor.moments import count, inverse_std, moments, total


@operator_funcify.register("BatchNormalization")
def batch_normalization(
    node, x, scale, bias, mean, variance, *, epsilon=1e-5, momentum=0.9, training_mode=0
):
    # Statistics may be of another dtype than images
    dtype = upcast(*[v.type.dtype for v in (x, scale, bias, mean, variance)])
    image, scale, bias = (pt.cast(v, dtype) for v in (x, scale, bias))
    if not training_mode:
        if 1 in node.wanted_outputs:
            raise Refused(
                "it has more than one output, so it trains, and the standard says how only from "
                "opset 14 on; export the model for inference, or with a later opset"
            )
        statistics = (pt.cast(v, dtype) for v in (mean, variance))
        out = pt.batch_normalization(image, scale, bias, *statistics, epsilon=epsilon)
        return pt.cast(out, x.type.dtype)
    out, _, _, *new = pt.batch_normalization_train(
        image,
        scale,
        bias,
        axes="spatial",
        epsilon=epsilon,
        running_average_factor=1 - momentum,
        running_mean=pt.cast(mean, dtype),
        running_var=pt.cast(variance, dtype),
        running_var_ddof=0,
    )
    new = [pt.cast(v, old.type.dtype) for v, old in zip(new, (mean, variance), strict=True)]
    for value, old in zip(new, (mean, variance), strict=True):
        if isinstance(old, SharedVariable):
            if old in node.importer.updates:
                raise Refused(
                    f"another node updates {old.name!r} too: leave it out of the trainable ones"
                )
            node.importer.updates[old] = value
    return pt.cast(out, x.type.dtype), *new


@operator_funcify.register("InstanceNormalization")
def instance_normalization(x, scale, bias, *, epsilon=1e-5):
    return pt.nn.instance_norm(x, weight=scale, bias=bias, eps=epsilon)


def _dtype(stash_type):
    return dtype_name(ir.DataType(stash_type))


def _scaled(x, scale, bias=None):
    x = pt.cast(x, scale.type.dtype) * scale
    return x if bias is None else x + bias


def _fits(parameter, shape):
    return parameter is None or (parameter.type.shape == shape and None not in shape)


@operator_funcify.register("LayerNormalization")
def layer_normalization(node, x, scale, bias=None, *, axis=-1, epsilon=1e-5, stash_type=1):
    axis, stash = normalized(axis, x.type.ndim), _dtype(stash_type)
    staged = pt.cast(x, stash)
    shape = x.type.shape[axis:]
    if stash == x.type.dtype and _fits(scale, shape) and _fits(bias, shape):
        out = pt.nn.layer_norm(x, x.type.shape[axis:], scale, bias, eps=epsilon)
    else:
        out = pt.nn.layer_norm(staged, staged.type.shape[axis:], eps=epsilon)
        out = _scaled(pt.cast(out, x.type.dtype), scale, bias)
    if node.wanted_outputs.isdisjoint((1, 2)):
        return out
    axes = tuple(range(axis, x.type.ndim))
    mean, _, variance = moments(staged, axes, count(staged, axes))
    shape = [*range(axis), *["x"] * len(axes)]
    return out, mean.dimshuffle(shape), inverse_std(variance, epsilon).dimshuffle(shape)


@operator_funcify.register("RMSNormalization")
def rms_normalization(x, scale, *, axis=-1, epsilon=1e-5, stash_type=1):
    axis, stash = normalized(axis, x.type.ndim), _dtype(stash_type)
    if stash == x.type.dtype == scale.type.dtype and _fits(scale, x.type.shape[axis:]):
        return pt.nn.rms_norm(x, x.type.shape[axis:], scale, eps=epsilon)
    out = pt.nn.rms_norm(pt.cast(x, stash), x.type.shape[axis:], eps=epsilon)
    return _scaled(pt.cast(out, x.type.dtype), scale)


@operator_funcify.register("GroupNormalization")
def group_normalization(node, x, scale, bias, *, epsilon=1e-5, num_groups, stash_type=1):
    if node.opset < 21:  # of each group, and no dtype for the first stage
        channels = lengths_of(x)[1]
        group = positions(channels) // (channels // num_groups)
        scale, bias = scale[group], bias[group]
        stash = x.type.dtype
    else:
        stash = _dtype(stash_type)
    if stash == x.type.dtype:
        return pt.nn.group_norm(x, num_groups, scale, bias, eps=epsilon)
    out = pt.cast(pt.nn.group_norm(pt.cast(x, stash), num_groups, eps=epsilon), x.type.dtype)
    shape = ["x", 0, *["x"] * (x.type.ndim - 2)]
    return _scaled(out, scale.dimshuffle(shape), bias.dimshuffle(shape))


@operator_funcify.register("LRN")
def lrn(x, *, alpha=1e-4, beta=0.75, bias=1.0, size):
    dtype, x = x.type.dtype, wide(x)
    channels = lengths_of(x)[1]
    before = (size - 1) // 2
    batch, _, *spatial = lengths_of(x)
    squares = filled(like(x, 0), (batch, channels + size - 1, *spatial))
    squares = pt.set_subtensor(squares[:, before : before + channels], pt.sqr(x))
    around = sum(
        (squares[:, shift : shift + channels] for shift in range(1, size)),
        start=squares[:, :channels],
    )
    scale = like(x, bias) + like(x, alpha / size) * around
    return pt.cast(x / scale ** like(x, beta), dtype)


@operator_funcify.register("LpNormalization")
def lp_normalization(x, *, axis=-1, p=2):
    axes = (normalized(axis, x.type.ndim),)
    if p not in (1, 2):
        raise Refused(f"its order p is {p}; the standard has 1 and 2")
    dtype, x = x.type.dtype, wide(x)
    powers = total(pt.abs(x) if p == 1 else pt.sqr(x), axes, keepdims=True)
    # 0 where all is 0, and so is the gradient
    powers = pt.switch(pt.eq(powers, like(x, 0)), like(x, 1), powers)
    return pt.cast(x / (powers if p == 1 else pt.sqrt(powers)), dtype)


@operator_funcify.register("MeanVarianceNormalization")
def mean_variance_normalization(x, *, axes=(0, 2, 3)):
    axes = tuple(normalized(a, x.type.ndim) for a in axes)
    dtype, x = x.type.dtype, wide(x)
    _, centred, variance = moments(x, axes, count(x, axes))
    # what the standard's own definition adds
    deviation = pt.sqrt(variance) + like(x, 1e-9)
    return pt.cast(centred / pt.expand_dims(deviation, sorted(axes)), dtype)


@operator_funcify.register("Dropout")
def dropout(x, ratio=None, training_mode=None, *, seed=0):
    # `seed` would be of the draws that are refused
    training = False if training_mode is None else known(training_mode)
    rate = 0.5 if ratio is None else known(ratio)
    if training is None and rate != 0:
        raise Refused(
            "training_mode is an input: leave it out for inference" + what_to_give(training_mode)
        )
    if np.any(training) and rate != 0:
        raise Refused(
            "it drops at random, and no two programs draw the same numbers: set its "
            "training_mode to false or its ratio to 0"
        )
    return x, pt.ones_like(x, dtype="bool")
