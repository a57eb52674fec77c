"""Every operator with its attributes, for the tests of backends without a module for each."""

import numpy as np

import pytensor
import pytensor.tensor as pt
from pytensor.scalar.activations import HardSigmoid
from pytensor.tensor.conv import conv, conv_transpose
from pytensor.tensor.nn.activations import elementwise
from pytensor.tensor.pool import POOL_MODES, lp_pool, pool_nd
from pytensor.tensor.resize import COORDINATE_MODES, NEAREST_MODES

# name: (function of the inputs, their shapes)
OPERATORS = {}

IMAGE = (2, 4, 7, 6)
BORDERS = {"valid": "valid", "half": "half", "full": "full", "pairs": ((1, 0), (0, 2))}

for name, border_mode in BORDERS.items():
    OPERATORS[f"conv2d, {name}"] = (
        lambda x, w, b=border_mode: pt.conv2d(x, w, b, (2, 1), (1, 2)),
        [IMAGE, (3, 4, 2, 3)],
    )
OPERATORS |= {
    "conv2d, groups": (lambda x, w: pt.conv2d(x, w, num_groups=2), [IMAGE, (6, 2, 2, 3)]),
    "conv2d, depthwise": (
        lambda x, w: pt.conv2d(x, w, 1, 2, num_groups=4, filter_flip=False),
        [IMAGE, (4, 1, 3, 2)],
    ),
    "conv2d, 1 x 1": (lambda x, w: pt.conv2d(x, w), [IMAGE, (3, 4, 1, 1)]),
    "conv2d, empty batch": (lambda x, w: pt.conv2d(x, w), [(0, 4, 5, 6), (3, 4, 2, 3)]),
    "conv1d": (
        lambda x, w: conv(x, w, ((2, 0),), 3, 2, 2),
        [(2, 4, 11), (6, 2, 3)],
    ),
    "conv3d": (
        lambda x, w: conv(x, w, ((1, 0), (0, 1), 1), (1, 2, 1), (2, 1, 1)),
        [(2, 2, 4, 5, 3), (3, 2, 2, 3, 2)],
    ),
    "conv3d, groups": (
        lambda x, w: conv(x, w, num_groups=2, filter_flip=False),
        [(2, 2, 3, 4, 3), (4, 1, 2, 3, 2)],
    ),
    "conv2d_transpose": (
        lambda x, w: conv_transpose(
            x, w, ((1, 2), (0, 1)), (2, 3), (1, 2), num_groups=2, output_padding=(1, 2)
        ),
        [(2, 4, 4, 5), (4, 3, 3, 2)],
    ),
    "conv1d_transpose": (
        lambda x, w: conv_transpose(x, w, 1, 2, filter_flip=False),
        [(2, 4, 5), (4, 3, 3)],
    ),
    "conv3d_transpose": (
        lambda x, w: conv_transpose(x, w, 0, (1, 2, 1), num_groups=2),
        [(2, 2, 3, 2, 3), (2, 1, 2, 3, 2)],
    ),
}

for mode in POOL_MODES:
    OPERATORS |= {
        f"pool_2d, {mode}": (
            lambda x, m=mode: pt.pool_2d(x, (3, 2), True, (1, 2), (1, 0), m),
            [IMAGE],
        ),
        f"pool_2d, {mode}, ceil": (
            lambda x, m=mode: pt.pool_2d(x, (3, 5), False, (2, 3), (1, 2), m),
            [IMAGE],
        ),
        f"pool_2d, {mode}, rest": (lambda x, m=mode: pt.pool_2d(x, 2, True, (3, 5), 0, m), [IMAGE]),
    }
OPERATORS |= {
    "pool_3d": (lambda x: pool_nd(x, (1, 3, 2), mode="max"), [(2, 2, 5, 4)]),
    "max_pool2d": (
        lambda x: pt.nn.max_pool2d(
            x, (3, 2), (2, 1), ((1, 0), (0, 1)), dilation=(2, 3), ceil_mode=True
        ),
        [IMAGE],
    ),
    "avg_pool2d": (
        lambda x: pool_nd(
            x, (3, 2), False, (2, 1), ((1, 0), 0), "average_exc_pad", dilation=(2, 1)
        ),
        [IMAGE],
    ),
    "avg_pool1d": (
        lambda x: pool_nd(x, (3,), True, 2, 1, "average_inc_pad", dilation=2), [(2, 3, 9)]
    ),
    "lp_pool2d": (lambda x: lp_pool(x, 3, (2, 3), (2, 1), ((1, 0), 0)), [(1, 2, 5, 4)]),
    "adaptive_avg_pool2d": (lambda x: pt.nn.adaptive_avg_pool2d(x, (3, None)), [IMAGE]),
    "adaptive_avg_pool1d": (lambda x: pt.nn.adaptive_avg_pool1d(x, 4), [(2, 3, 10)]),
    "adaptive_max_pool2d": (lambda x: pt.nn.adaptive_max_pool2d(x, (3, 4)), [IMAGE]),
    "global_max_pool": (pt.nn.global_max_pool, [IMAGE]),
    "global_average_pool": (pt.nn.global_avg_pool, [IMAGE]),
    "global_lp_pool": (lambda x: pt.nn.global_lp_pool(x, 3), [IMAGE]),
}

for how in COORDINATE_MODES:
    crop = {"roi": (0.1, 0.2, 0.9, 1.2)} if how == "tf_crop_and_resize" else {}
    for mode in ("nearest", "linear", "cubic"):
        OPERATORS[f"resize, {mode}, {how}"] = (
            lambda x, m=mode, h=how, c=crop: pt.resize(
                x, size=(9, 4), mode=m, coordinate_transformation_mode=h, **c
            ),
            [(1, 2, 5, 6)],
        )
for nearest_mode in NEAREST_MODES:
    OPERATORS[f"resize, {nearest_mode}"] = (
        lambda x, n=nearest_mode: pt.resize(x, scale=(2, 0.6), nearest_mode=n),
        [(1, 2, 5, 6)],
    )
OPERATORS |= {
    "resize, scale": (lambda x: pt.resize(x, scale=(1.7, 0.6), mode="linear"), [(1, 2, 5, 6)]),
    "resize, antialias": (
        lambda x: pt.resize(x, size=(3, 2), mode="cubic", antialias=True),
        [(1, 2, 5, 6)],
    ),
}

PER_CHANNEL, PER_EXAMPLE = IMAGE[1:2], IMAGE[2:]
OPERATORS |= {
    "batch_normalization": (
        lambda x, gamma, beta, mean, s: pt.batch_normalization(x, gamma, beta, mean, s**2),
        [IMAGE, *[PER_CHANNEL] * 4],
    ),
    "batch_normalization_train": (
        lambda x, gamma, beta: pt.batch_normalization_train(x, gamma, beta, "spatial")[0],
        [IMAGE, *[PER_CHANNEL] * 2],
    ),
    "batch_normalization_train, statistics": (
        lambda x, mean, variance: sum(
            (out**2).sum()
            for out in pt.batch_normalization_train(
                x, mean, mean, "spatial", running_mean=mean, running_var=variance
            )[1:]
        ),
        [IMAGE, *[PER_CHANNEL] * 2],
    ),
    "batch_normalization_train, per activation": (
        lambda x, gamma, beta: pt.batch_normalization_train(x, gamma, beta)[0],
        [(5, 3), (3,), (3,)],
    ),
    "layer_normalization": (
        lambda x, *p: pt.nn.layer_norm(x, (None, None), *p),
        [IMAGE, *[PER_EXAMPLE] * 2],
    ),
    "rms_normalization": (
        lambda x, w: pt.nn.rms_norm(x, (None, None), w, eps=1e-5),
        [IMAGE, PER_EXAMPLE],
    ),
    "instance_normalization": (
        lambda x, w, b: pt.nn.instance_norm(x, weight=w, bias=b), [IMAGE, *[PER_CHANNEL] * 2]
    ),
    "group_normalization": (
        lambda x, *parameters: pt.nn.group_norm(
            pt.specify_shape(x, (None, 4, None, None)), 2, *parameters
        ),
        [IMAGE, *[PER_CHANNEL] * 2],
    ),
}

ACTIVATIONS = {
    "relu": pt.nn.relu,
    "relu6": lambda x: pt.nn.relu6(3 * x),
    "leaky_relu": lambda x: pt.nn.leaky_relu(x, 0.1),
    "elu": lambda x: pt.nn.elu(x, 1.5),
    "selu": pt.nn.selu,
    "gelu": pt.nn.gelu,
    "gelu, tanh": lambda x: pt.nn.gelu(x, approximate="tanh"),
    "silu": pt.silu,
    "mish": pt.nn.mish,
    "softsign": pt.nn.softsign,
    "hard_sigmoid": lambda x: elementwise(HardSigmoid(alpha=0.3, beta=0.4), x),
    "hard_swish": lambda x: pt.nn.hardswish(2 * x),
}
OPERATORS |= {name: (function, [(3, 5)]) for name, function in ACTIVATIONS.items()}
OPERATORS["prelu"] = (lambda x, alpha: pt.nn.prelu(x, alpha), [(3, 5), (5,)])

for axis in (0, 1, -1):
    OPERATORS[f"topk, {axis}"] = (lambda x, a=axis: pt.topk(x, 2, a)[0], [(3, 5, 4)])


def graphs(name, dtype="float64"):
    """Return inputs of unknown shape, the result, first and second gradients, and values."""
    build, shapes = OPERATORS[name]
    rng = np.random.default_rng(1)
    inputs = [pt.tensor(shape=(None,) * len(shape), dtype=dtype) for shape in shapes]
    out = build(*inputs)
    first = pytensor.grad((out**3).sum(dtype=dtype), inputs)
    second = pytensor.grad(
        sum((g**2).sum(dtype=dtype) for g in first), inputs, disconnected_inputs="ignore"
    )
    values = [rng.normal(size=shape).astype(dtype) for shape in shapes]
    return inputs, [out, *first, *second], values
