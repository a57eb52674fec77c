"""ONNX's operators in terms of the functions of ``pytensor.tensor``, one function per operator.

Each takes the attributes of a node as a dict and its inputs.  Those that only make sense as
constants (`CONSTANT_INPUTS`) are NumPy arrays, the others variables; None is one that's left out.
It returns a variable, or a list of them.  What a user writes who carries a model over to PyTensor
by hand looks like this.
"""

import numpy as np

import pytensor.tensor as pt
from pytensor.scalar import activations
from pytensor.tensor.conv import conv, conv_transpose
from pytensor.tensor.nn.activations import elementwise, slopes_below_zero
from pytensor.tensor.pool import lp_pool, pool_nd
from pytensor.tensor.special import log_softmax, softmax

# Operator -> positions of the inputs that must be constants.
CONSTANT_INPUTS = {"Resize": (1, 2, 3), "MaxUnpool": (2,)}

ADAPTERS = {}


def adapter(function):
    ADAPTERS[function.__name__] = function
    return function


def _by_rank(name, n_spatial):
    """Return ``pt.nn.max_pool1d``, `max_pool2d` or `max_pool3d` for the name "max_pool{}d"."""
    return getattr(pt.nn, name.format(n_spatial))


# Windows


def _pairs(pads):
    """Return (before, after) for each axis, from ONNX's list of all befores and all afters."""
    n = len(pads) // 2
    return tuple(zip(pads[:n], pads[n:], strict=True))


def _same_pads(auto_pad, totals):
    """Share the padding between both ends; an odd cell goes to the end that `auto_pad` names."""
    less_and_more = [(total // 2, total - total // 2) for total in totals]
    return tuple(p if auto_pad == "SAME_UPPER" else p[::-1] for p in less_and_more)


def _window(attributes, x, kernel):
    """Return strides, dilations and pads of a window that moves over `x`."""
    n = len(kernel)
    strides = attributes.get("strides", [1] * n)
    dilations = attributes.get("dilations", [1] * n)
    auto_pad = attributes.get("auto_pad", "NOTSET")
    if auto_pad.startswith("SAME"):
        lengths = x.type.shape[-n:]
        totals = [
            max((-(-length // s) - 1) * s + (k - 1) * d + 1 - length, 0)
            for length, k, s, d in zip(lengths, kernel, strides, dilations, strict=True)
        ]
        pads = _same_pads(auto_pad, totals)
    else:
        pads = _pairs(attributes.get("pads", [0] * (2 * n)))
    return tuple(strides), tuple(dilations), pads


@adapter
def Conv(attributes, x, w):
    kernel = attributes["kernel_shape"]
    strides, dilations, pads = _window(attributes, x, kernel)
    return conv(
        x,
        w,
        border_mode=pads,
        subsample=strides,
        filter_dilation=dilations,
        num_groups=attributes.get("group", 1),
        filter_flip=False,
    )


@adapter
def ConvTranspose(attributes, x, w):
    kernel = w.type.shape[2:]
    n = len(kernel)
    strides = attributes.get("strides", [1] * n)
    dilations = attributes.get("dilations", [1] * n)
    output_padding = attributes.get("output_padding", [0] * n)
    auto_pad = attributes.get("auto_pad", "NOTSET")
    output_shape = attributes.get("output_shape")
    arguments = {}
    if auto_pad.startswith("SAME"):
        # The output is as long as the input times the stride.
        totals = [
            max((k - 1) * d + 1 + o - s, 0)
            for k, s, d, o in zip(kernel, strides, dilations, output_padding, strict=True)
        ]
        pads = _same_pads(auto_pad, totals)
    elif output_shape:
        # Unpadded, the result is cut, or longer by zeros, to that length.
        totals = [
            s * (x.type.shape[2 + i] - 1) + (kernel[i] - 1) * d + 1 + o - output_shape[i]
            for i, (s, d, o) in enumerate(zip(strides, dilations, output_padding, strict=True))
        ]
        pads = _same_pads("SAME_UPPER", [max(total, 0) for total in totals])
        output_padding = [0] * n
        arguments["output_shape"] = tuple(output_shape)
    else:
        pads = _pairs(attributes.get("pads", [0] * (2 * n)))
    if "output_shape" not in arguments:
        arguments["output_padding"] = tuple(output_padding)
    return conv_transpose(
        x,
        w,
        border_mode=pads,
        subsample=tuple(strides),
        filter_dilation=tuple(dilations),
        num_groups=attributes.get("group", 1),
        filter_flip=False,
        **arguments,
    )


def _pool_arguments(attributes, x):
    kernel = tuple(attributes["kernel_shape"])
    strides, dilations, pads = _window(attributes, x, kernel)
    return {
        "kernel_size": kernel,
        "stride": strides,
        "padding": pads,
        "dilation": dilations,
        "ceil_mode": bool(attributes.get("ceil_mode", 0)),
    }


def _images_before(x):
    """Count the images (a channel of an example) before each one in memory."""
    n = x.type.ndim - 2
    # Not arange, whose length JAX would have to know beforehand
    ones = pt.ones_like(x[(..., *[0] * n)], dtype="int64")
    examples, channels = (pt.cumsum(ones, axis=axis) - 1 for axis in (0, 1))
    return (examples * x.shape[1] + channels).dimshuffle(0, 1, *["x"] * n)


@adapter
def MaxPool(attributes, x, n_outputs=1):
    max_pool = _by_rank("max_pool{}d", x.type.ndim - 2)
    arguments = _pool_arguments(attributes, x)
    if n_outputs == 1:
        return max_pool(x, **arguments)
    values, indices = max_pool(x, **arguments, return_indices=True)
    if attributes.get("storage_order"):
        height, width = x.shape[2], x.shape[3]
        indices = indices // width + indices % width * height
    return [values, indices + _images_before(x) * pt.prod(x.shape[2:])]


@adapter
def AveragePool(attributes, x):
    kernel = tuple(attributes["kernel_shape"])
    strides, dilations, pads = _window(attributes, x, kernel)
    mode = "average_inc_pad" if attributes.get("count_include_pad", 0) else "average_exc_pad"
    floor = not attributes.get("ceil_mode", 0)
    return pool_nd(x, kernel, floor, strides, pads, mode, dilation=dilations)


@adapter
def LpPool(attributes, x):
    return lp_pool(x, attributes.get("p", 2), **_pool_arguments(attributes, x))


@adapter
def GlobalAveragePool(attributes, x):
    return pt.nn.global_avg_pool(x)


@adapter
def GlobalMaxPool(attributes, x):
    return pt.nn.global_max_pool(x)


@adapter
def MaxUnpool(attributes, x, indices, output_shape=None):
    kernel = tuple(attributes["kernel_shape"])
    strides, _, pads = _window(attributes, x, kernel)
    n = len(kernel)
    lengths = [
        (x.shape[2 + i] - 1) * strides[i] + kernel[i] - sum(pads[i]) for i in range(n)
    ]
    # ONNX counts through the whole batch, and through images of the shape that the arguments
    # imply, even where another output shape is asked for.
    indices = indices - _images_before(x) * pt.prod(pt.stack(lengths))
    output_size = None
    if output_shape is not None:
        output_size = tuple(output_shape[2:].tolist())
        places = []
        for length in reversed(lengths):
            places.insert(0, indices % length)
            indices = indices // length
        indices = sum(p * int(np.prod(output_size[i + 1 :])) for i, p in enumerate(places))
    unpool = _by_rank("max_unpool{}d", n)
    return unpool(x, indices, kernel, stride=strides, padding=pads, output_size=output_size)


@adapter
def Resize(attributes, x, roi=None, scales=None, sizes=None):
    arguments = {
        "mode": "nearest",
        **attributes,
        "exclude_outside": bool(attributes.get("exclude_outside", 0)),
        "antialias": bool(attributes.get("antialias", 0)),
    }
    axes = arguments.pop("axes", None)
    if axes is None:
        # Given for all axes; batch and channels aren't resized
        skip = 2
    else:
        skip, arguments["axes"] = 0, tuple(axes)
    if roi is not None:
        arguments["roi"] = tuple(roi.reshape(2, -1)[:, skip:].ravel().tolist())
    if scales is not None:
        return pt.resize(x, scale=tuple(scales[skip:].tolist()), **arguments)
    return pt.resize(x, size=tuple(sizes[skip:].tolist()), **arguments)


# Normalization


@adapter
def BatchNormalization(attributes, x, scale, bias, mean, variance):
    epsilon = attributes.get("epsilon", 1e-5)
    if not attributes.get("training_mode"):
        return pt.batch_normalization(x, scale, bias, mean, variance, epsilon=epsilon)
    out, _, _, mean, variance = pt.batch_normalization_train(
        x,
        scale,
        bias,
        axes="spatial",
        epsilon=epsilon,
        running_average_factor=1 - attributes.get("momentum", 0.9),
        running_mean=mean,
        running_var=variance,
        running_var_ddof=0,
    )
    return [out, mean, variance]


@adapter
def InstanceNormalization(attributes, x, scale, bias):
    return pt.nn.instance_norm(x, weight=scale, bias=bias, eps=attributes.get("epsilon", 1e-5))


@adapter
def GroupNormalization(attributes, x, scale, bias):
    epsilon = attributes.get("epsilon", 1e-5)
    return pt.nn.group_norm(x, attributes["num_groups"], scale, bias, eps=epsilon)


@adapter
def LayerNormalization(attributes, x, scale, bias, n_outputs=3):
    axis, epsilon = attributes.get("axis", -1), attributes.get("epsilon", 1e-5)
    out = pt.nn.layer_norm(x, x.type.shape[axis:], scale, bias, eps=epsilon)
    first = axis % x.type.ndim
    axes = tuple(range(first, x.type.ndim)) if first else None
    # As float32, which mode JAX would not return by itself for a mean.
    mean = x.mean(axis=axes, keepdims=True, acc_dtype="float32")
    variance = pt.sqr(x - mean).mean(axis=axes, keepdims=True, acc_dtype="float32")
    return [out, mean, 1 / pt.sqrt(variance + np.float32(epsilon))]


@adapter
def RMSNormalization(attributes, x, scale):
    axis, epsilon = attributes.get("axis", -1), attributes.get("epsilon", 1e-5)
    return pt.nn.rms_norm(x, x.type.shape[axis:], scale, eps=epsilon)


# Activations


@adapter
def Swish(attributes, x):
    alpha = np.float32(attributes.get("alpha", 1))
    return pt.silu(alpha * x) / alpha


@adapter
def HardSwish(attributes, x):
    return pt.nn.hardswish(x)


@adapter
def HardSigmoid(attributes, x):
    alpha, beta = attributes.get("alpha", 0.2), attributes.get("beta", 0.5)
    return elementwise(activations.HardSigmoid(alpha=alpha, beta=beta), x)


@adapter
def Gelu(attributes, x):
    return pt.nn.gelu(x, **attributes)


@adapter
def Mish(attributes, x):
    return pt.nn.mish(x)


@adapter
def Elu(attributes, x):
    return pt.nn.elu(x, **attributes)


@adapter
def Selu(attributes, x):
    if not attributes:
        return pt.nn.selu(x)
    gamma = np.float32(attributes["gamma"])
    return gamma * pt.nn.elu(x, alpha=attributes["alpha"])


@adapter
def Relu(attributes, x):
    return pt.nn.relu(x)


@adapter
def PRelu(attributes, x, slope):
    return slopes_below_zero(x, slope)


@adapter
def LeakyRelu(attributes, x):
    return pt.nn.leaky_relu(x, attributes.get("alpha", 0.01))


@adapter
def Softsign(attributes, x):
    return pt.nn.softsign(x)


@adapter
def Softmax(attributes, x):
    return softmax(x, axis=attributes.get("axis", -1))


@adapter
def LogSoftmax(attributes, x):
    return log_softmax(x, axis=attributes.get("axis", -1))
