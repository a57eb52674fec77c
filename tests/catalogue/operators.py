"""The catalogue: every operator of the package with its attributes, in small graphs.

The tests of backends, shapes and batches, the tables of what runs where and of what is exported,
and the benchmarks take their graphs from here.  A new operator needs an entry with `row=True`, and
one more for each attribute that a backend can get wrong.
"""

import pytensor.tensor as pt
from pytensor.scalar.activations import HardSigmoid
from pytensor.tensor.broadcasting import BroadcastAs, SumAs
from pytensor.tensor.conv import conv, conv_transpose
from pytensor.tensor.nn.activations import elementwise, slopes_below_zero
from pytensor.tensor.pool import POOL_MODES, lp_pool, pool_nd
from pytensor.tensor.resize import COORDINATE_MODES, NEAREST_MODES
from tests.catalogue.examples import (
    Example,
    Input,
    image,
    parameter,
    positive,
    unknown,
    wide,
    winners,
)

OPERATORS: dict[str, Example] = {}


def row(name, build, *inputs, **settings):
    """Add an example that has a row in the table of what runs where.

    `settings` are the attributes `integers`, `long` and `fails` of `Example`.
    """
    OPERATORS[name] = Example(name, build, inputs, row=True, **settings)


def variant(name, build, *inputs, **settings):
    """Add an example of other attributes."""
    OPERATORS[name] = Example(name, build, inputs, **settings)


# Convolution

row(
    "conv1d",
    lambda x, w: conv(x, w, ((1, 2),), 2, 3, num_groups=2),
    image(2, 4, 9),
    parameter(6, 2, 3),
)
row(
    "conv2d",
    lambda x, w: pt.conv2d(x, w, ((1, 2), (0, 1)), (2, 1), (1, 2), num_groups=2),
    image(2, 4, 7, 6),
    parameter(6, 2, 3, 2),
)
for border, border_mode in {
    "valid": "valid",
    "half": "half",
    "full": "full",
    "pairs": ((1, 0), (0, 2)),
}.items():
    variant(
        f"conv2d, {border}",
        lambda x, w, b=border_mode: pt.conv2d(x, w, b, (2, 1), (1, 2)),
        image(2, 4, 7, 6),
        parameter(3, 4, 2, 3),
    )
variant(
    "conv2d, groups",
    lambda x, w: pt.conv2d(x, w, num_groups=2),
    image(2, 4, 7, 6),
    parameter(6, 2, 2, 3),
)
variant(
    "conv2d, depthwise",
    lambda x, w: pt.conv2d(x, w, 1, 2, num_groups=4, filter_flip=False),
    image(2, 4, 7, 6),
    parameter(4, 1, 3, 2),
)
variant("conv2d, 1 x 1", pt.conv2d, image(2, 4, 7, 6), parameter(3, 4, 1, 1))
variant(
    "conv2d, 1 x 1, padded",
    lambda x, w: pt.conv2d(x, w, (1, (0, 2)), (2, 3)),
    image(2, 4, 7, 6),
    parameter(3, 4, 1, 1),
)
# The gradient of a filter per channel is a convolution, too, unless the border is too wide
for border, border_mode in {"half": "half", "pairs": ((1, 0), (0, 2)), "wide": (2, 0)}.items():
    variant(
        f"conv2d, depthwise, {border}",
        lambda x, w, b=border_mode: pt.conv2d(x, w, b, num_groups=4, filter_flip=False),
        image(2, 4, 7, 6),
        parameter(4, 1, 2, 3),
    )
variant(
    "conv2d, groups, wide stride",
    lambda x, w: pt.conv2d(x, w, ((2, 0), (1, 3)), (2, 3), (3, 1), num_groups=2),
    image(2, 4, 7, 6),
    parameter(4, 2, 2, 3),
)
variant("conv2d, empty batch", pt.conv2d, image(0, 4, 5, 6), parameter(3, 4, 2, 3))
row(
    "conv3d",
    lambda x, w: conv(x, w, ((1, 0), 1, 0), (1, 2, 1), (2, 1, 1), num_groups=2),
    image(2, 2, 4, 5, 3),
    parameter(2, 1, 2, 3, 2),
)
variant(
    "conv3d, not flipped",
    lambda x, w: conv(x, w, num_groups=2, filter_flip=False),
    image(2, 2, 3, 4, 3),
    parameter(4, 1, 2, 3, 2),
)
row(
    "conv_transpose1d",
    lambda x, w: conv_transpose(x, w, ((1, 2),), 2, 3, num_groups=2, output_padding=1),
    image(2, 4, 5),
    parameter(4, 3, 3),
)
variant(
    "conv_transpose1d, not flipped",
    lambda x, w: conv_transpose(x, w, 1, 2, filter_flip=False),
    image(2, 4, 5),
    parameter(4, 3, 3),
)
row(
    "conv_transpose2d",
    lambda x, w: conv_transpose(
        x, w, ((1, 2), (0, 1)), (2, 1), (1, 2), num_groups=2, output_padding=(1, 0)
    ),
    image(2, 4, 5, 4),
    parameter(4, 3, 3, 2),
)
variant(
    "conv_transpose2d, wide stride",
    lambda x, w: conv_transpose(
        x, w, ((1, 2), (0, 1)), (2, 3), (1, 2), num_groups=2, output_padding=(1, 2)
    ),
    image(2, 4, 4, 5),
    parameter(4, 3, 3, 2),
)
variant(
    "conv_transpose2d, full",
    lambda x, w: conv_transpose(
        x, w, "full", (3, 2), num_groups=4, output_padding=(2, 1), filter_flip=False
    ),
    image(2, 4, 5, 4),
    parameter(4, 3, 2, 3),
)
variant(
    "conv_transpose2d, padding beyond the stride",
    lambda x, w: conv_transpose(x, w, 1, 1, (1, 3), output_padding=(0, 2)),
    image(2, 4, 5, 4),
    parameter(4, 3, 2, 3),
    fails={"JAX gradient": "PyTensor's Split warns in JAX of lengths that aren't known"},
)
variant(
    "conv_transpose2d, output shape",
    lambda x, w: conv_transpose(x, w, 1, (2, 3), output_shape=(9, 11)),
    image(2, 4, 5, 4),
    parameter(4, 3, 2, 3),
)
# One matrix product, and shifted multiplications
variant("conv_transpose2d, 1 x 1", conv_transpose, image(2, 4, 5, 6), parameter(4, 4, 1, 1))
variant(
    "conv_transpose2d, depthwise",
    lambda x, w: conv_transpose(x, w, num_groups=4),
    image(2, 4, 5, 6),
    parameter(4, 1, 2, 3),
)
row(
    "conv_transpose3d",
    lambda x, w: conv_transpose(x, w, ((1, 0), 1, 0), (1, 2, 1), (2, 1, 1), num_groups=2),
    image(2, 2, 3, 4, 2),
    parameter(2, 1, 2, 3, 2),
)

# Pooling

row("pool_2d", lambda x: pt.pool_2d(x, (3, 2), mode="sum"), image(2, 3, 7, 5), integers=True)
for pool_mode in POOL_MODES:
    variant(
        f"pool_2d, {pool_mode}",
        lambda x, m=pool_mode: pt.pool_2d(x, (3, 2), True, (1, 2), (1, 0), m),
        image(2, 4, 7, 6),
    )
    variant(
        f"pool_2d, {pool_mode}, ceil",
        lambda x, m=pool_mode: pt.pool_2d(x, (3, 5), False, (2, 3), (1, 2), m),
        image(2, 4, 7, 6),
    )
    variant(
        f"pool_2d, {pool_mode}, rest",
        lambda x, m=pool_mode: pt.pool_2d(x, 2, True, (3, 5), 0, m),
        image(2, 4, 7, 6),
    )
# Of all three of the last axes
for pool_mode in ("sum", "max"):
    variant(
        "pool_2d, three axes" + ", max" * (pool_mode == "max"),
        lambda x, m=pool_mode: pool_nd(x, (2, 3, 2), pad=(1, 0, 1), mode=m),
        image(2, 3, 7, 8),
        integers=True,
    )
row(
    "max_pool1d",
    lambda x: pt.nn.max_pool1d(x, 3, 2, 1, dilation=2, ceil_mode=True, return_indices=True),
    image(2, 3, 8),
)
row(
    "max_pool2d",
    lambda x: pt.nn.max_pool2d(
        x, (3, 2), (2, 1), ((1, 0), 0), dilation=(1, 2), return_indices=True
    ),
    image(2, 3, 7, 5),
    integers=True,
)
variant(
    "max_pool2d, dilated",
    lambda x: pt.nn.max_pool2d(x, (2, 3), (1, 2), ((1, 0), (1, 2)), dilation=(2, 1)),
    image(2, 3, 7, 8),
)
variant(
    "max_pool2d, ceil",
    lambda x: pt.nn.max_pool2d(x, (2, 3), (3, 2), 1, dilation=2, ceil_mode=True),
    image(2, 3, 7, 8),
)
row(
    "max_pool3d",
    lambda x: pt.nn.max_pool3d(x, (1, 3, 2), (1, 2, 1), (0, 1, 1), return_indices=True),
    image(2, 2, 2, 5, 4),
    long=True,
)
row("avg_pool1d", lambda x: pt.nn.avg_pool1d(x, 3, 2, 1, ceil_mode=True), image(2, 3, 8))
variant(
    "avg_pool1d, dilated",
    lambda x: pool_nd(x, (3,), True, 2, 1, "average_inc_pad", dilation=2),
    image(2, 3, 9),
)
row(
    "avg_pool2d",
    lambda x: pt.nn.avg_pool2d(x, (3, 2), (2, 1), ((1, 0), 0)),
    image(2, 3, 7, 5),
)
variant(
    "avg_pool2d, dilated",
    lambda x: pool_nd(x, (2, 3), False, (3, 2), ((1, 0), 1), "average_exc_pad", dilation=(2, 1)),
    image(2, 3, 7, 8),
)
variant(
    "avg_pool2d, padding counts",
    lambda x: pool_nd(x, (2, 3), False, (3, 2), 1, "average_inc_pad", dilation=(2, 1)),
    image(2, 3, 7, 8),
)
row(
    "avg_pool3d",
    lambda x: pt.nn.avg_pool3d(x, (2, 3, 2), (1, 2, 1), (0, 1, 1), count_include_pad=False),
    image(2, 2, 3, 5, 4),
)
row("lp_pool1d", lambda x: pt.nn.lp_pool1d(x, 2, 3, 2), image(2, 3, 8), long=True)
row("lp_pool2d", lambda x: pt.nn.lp_pool2d(x, 2, (2, 3), (2, 1)), image(2, 3, 7, 5))
variant(
    "lp_pool2d, dilated",
    lambda x: lp_pool(x, 3, (2, 3), (3, 2), ((1, 0), 1), (2, 1)),
    image(2, 3, 7, 8),
)
variant(
    "lp_pool2d, ceil",
    lambda x: pt.nn.lp_pool2d(x, 2, 3, 2, ceil_mode=True),
    image(2, 3, 7, 6),
)
row(
    "lp_pool3d",
    lambda x: pt.nn.lp_pool3d(x, 2, (1, 3, 2), (1, 2, 1)),
    image(2, 2, 2, 5, 4),
    long=True,
)
for axes, shape in {1: (2, 3, 4), 2: (2, 3, 4, 2), 3: (2, 2, 1, 3, 2)}.items():
    row(
        f"max_unpool{axes}d",
        lambda x, indices, axes=axes: getattr(pt.nn, f"max_unpool{axes}d")(x, indices, 2),
        image(*shape),
        Input(shape, image(*shape).known, winners(axes)),
    )


def unpooled(x):
    values, indices = pt.nn.max_pool2d(x, (3, 2), (2, 1), return_indices=True)
    return pt.nn.max_unpool2d(values, indices, (3, 2), (2, 1), output_size=x.shape)


variant(
    "max_unpool2d, of its pooling",
    lambda x: pt.nn.max_unpool2d(*pt.nn.max_pool2d(x, 2, return_indices=True), 2, 2),
    image(2, 3, 7, 6),
)
variant("max_unpool2d, as the image", unpooled, image(2, 3, 7, 8))
row("global_max_pool", pt.nn.global_max_pool, image(2, 3, 4, 5))
row("global_avg_pool", pt.nn.global_avg_pool, image(2, 3, 4, 5))
row(
    "global_lp_pool",
    lambda x: pt.nn.global_lp_pool(x, 3),
    image(2, 3, 4, 5),
)
row("adaptive_avg_pool1d", lambda x: pt.nn.adaptive_avg_pool1d(x, 3), image(2, 3, 8))
row("adaptive_avg_pool2d", lambda x: pt.nn.adaptive_avg_pool2d(x, (3, 2)), image(2, 3, 7, 5))
variant(
    "adaptive_avg_pool2d, one axis",
    lambda x: pt.nn.adaptive_avg_pool2d(x, (3, None)),
    image(2, 3, 7, 8),
)
row("adaptive_avg_pool3d", lambda x: pt.nn.adaptive_avg_pool3d(x, (1, 3, 2)), image(2, 2, 3, 4, 5))
row("adaptive_max_pool1d", lambda x: pt.nn.adaptive_max_pool1d(x, 3), image(2, 3, 8))
row(
    "adaptive_max_pool2d",
    lambda x: pt.nn.adaptive_max_pool2d(x, (3, 2), return_indices=True),
    image(2, 3, 7, 5),
)
variant(
    "adaptive_max_pool2d, overlapping",
    lambda x: pt.nn.adaptive_max_pool2d(x, (5, 4)),
    image(2, 3, 7, 6),
)
row(
    "adaptive_max_pool3d",
    lambda x: pt.nn.adaptive_max_pool3d(x, (1, 3, 2)),
    image(2, 2, 3, 4, 5),
    long=True,
)

# Resizing

row(
    "interpolate, bilinear",
    lambda x: pt.nn.interpolate(x, (5, 7), mode="bilinear"),
    image(2, 3, 3, 4),
)
row(
    "interpolate, bicubic",
    lambda x: pt.nn.interpolate(x, scale_factor=(2, 1.5), mode="bicubic"),
    image(2, 3, 3, 4),
)
row("resize, nearest", lambda x: pt.resize(x, scale=(2, 3)), image(2, 3, 3, 4))
row(
    "resize, antialias",
    lambda x: pt.resize(x, (3, 2), mode="linear", antialias=True),
    image(2, 3, 5, 7),
)
row(
    "resize, crop",
    lambda x: pt.resize(
        x,
        (3, 2),
        mode="linear",
        coordinate_transformation_mode="tf_crop_and_resize",
        roi=(0.1, 0.2, 0.9, 1.3),
    ),
    image(2, 3, 5, 7),
)
for how in COORDINATE_MODES:
    crop = {"roi": (0.1, 0.2, 0.9, 1.2)} if how == "tf_crop_and_resize" else {}
    for mode in ("nearest", "linear", "cubic"):
        variant(
            f"resize, {mode}, {how}",
            lambda x, m=mode, h=how, c=crop: pt.resize(
                x, size=(9, 4), mode=m, coordinate_transformation_mode=h, **c
            ),
            image(1, 2, 5, 6),
            # The official vectors have the other coordinates in every run
            long=how != "asymmetric",
        )
for nearest_mode in NEAREST_MODES:
    variant(
        f"resize, {nearest_mode}",
        lambda x, n=nearest_mode: pt.resize(x, scale=(2, 0.6), nearest_mode=n),
        image(1, 2, 5, 6),
    )
variant("resize, scale", lambda x: pt.resize(x, scale=(1.7, 0.6), mode="linear"), image(1, 2, 5, 6))
variant(
    "resize, cubic, coefficient",
    lambda x: pt.resize(x, (7, 4), mode="cubic", antialias=True, cubic_coeff_a=-0.5),
    image(1, 2, 5, 6),
)
variant(
    "resize, cubic, exclude outside",
    lambda x: pt.resize(
        x,
        (7, 4),
        mode="cubic",
        exclude_outside=True,
        coordinate_transformation_mode="asymmetric",
    ),
    image(1, 2, 5, 6),
)
variant(
    "resize, first and last axis",
    lambda x: pt.resize(x, (4, 3), axes=(3, 0), mode="linear"),
    unknown(2, 3, 5, 8),
)
variant(
    "resize, cubic antialias",
    lambda x: pt.resize(x, size=(3, 2), mode="cubic", antialias=True),
    image(1, 2, 5, 6),
)
variant(
    "resize, not larger",
    lambda x: pt.resize(x, size=(9, 4), keep_aspect_ratio_policy="not_larger"),
    image(2, 3, 7, 6),
)

# Normalization

STATISTICS = [*[parameter(4)] * 3, parameter(4, draw=positive)]
row(
    "batch_norm",
    lambda x, gamma, beta, mean, variance: pt.nn.batch_norm(x, mean, variance, gamma, beta),
    image(3, 4, 2, 5),
    *STATISTICS,
)
row(
    "batch_norm, training",
    lambda x, gamma, beta, mean, variance: pt.nn.batch_norm(
        x, mean, variance, gamma, beta, training=True
    ),
    image(3, 4, 2, 5),
    *STATISTICS,
)
variant(
    "batch_norm, per activation",
    lambda x, gamma, beta: pt.batch_normalization_train(x, gamma, beta)[0],
    unknown(5, 3),
    parameter(3),
    parameter(3),
)
row(
    "layer_norm",
    lambda x, *parameters: pt.nn.layer_norm(x, (None,), *parameters),
    unknown(3, 5),
    parameter(5),
    parameter(5),
)
variant(
    "layer_norm, two axes",
    lambda x, *parameters: pt.nn.layer_norm(x, (None, None), *parameters),
    image(2, 4, 7, 6),
    parameter(7, 6),
    parameter(7, 6),
)
row("rms_norm", lambda x, w: pt.nn.rms_norm(x, (None,), w), unknown(3, 5), parameter(5))
variant(
    "rms_norm, two axes",
    lambda x, w: pt.nn.rms_norm(x, (None, None), w, eps=1e-5),
    image(2, 4, 7, 6),
    parameter(7, 6),
)
row(
    "instance_norm",
    lambda x, w, b: pt.nn.instance_norm(x, weight=w, bias=b),
    image(3, 4, 2, 5),
    parameter(4),
    parameter(4),
)
row(
    "group_norm",
    # the number of groups must be known to divide that of the channels
    lambda x, *parameters: pt.nn.group_norm(
        pt.specify_shape(x, (None, 4, None, None)), 2, *parameters
    ),
    image(3, 4, 2, 5),
    parameter(4),
    parameter(4),
)

# Activations


def activation(name, function, add=row):
    add(name, function, unknown(3, 5, draw=wide), integers=True)


activation("relu", pt.nn.relu)
activation("relu6", pt.nn.relu6)
activation("leaky_relu", lambda x: pt.nn.leaky_relu(x, 0.1))
OF_SUMS = {"JAX value": "PyTensor's sums of float16 are float32 there; jax_mode corrects them"}
row("prelu", pt.nn.prelu, unknown(3, 5, draw=wide), parameter(5), fails=OF_SUMS)
variant(
    "prelu, channels",
    slopes_below_zero,
    unknown(2, 3, 4, draw=wide),
    parameter(3, 4),
    fails=OF_SUMS,
)
activation("prelu, one slope", lambda x: pt.nn.prelu(x, 0.3), variant)
activation("elu", lambda x: pt.nn.elu(x, 1.5))
activation("selu", pt.nn.selu)
activation("gelu", pt.nn.gelu)
activation("gelu, tanh", lambda x: pt.nn.gelu(x, approximate="tanh"))
activation("silu", pt.silu)
activation("mish", pt.nn.mish)
activation("softsign", pt.nn.softsign)
activation("hardsigmoid", pt.nn.hardsigmoid)
activation(
    "hardsigmoid, other slope",
    lambda x: elementwise(HardSigmoid(alpha=0.3, beta=0.4), x),
    variant,
)
activation("hardswish", pt.nn.hardswish)
# Those of one input
ACTIVATIONS = [name for name, e in OPERATORS.items() if e.inputs == (unknown(3, 5, draw=wide),)]

# Others

IN_NUMBA = {
    "Numba value": "Numba calls no `perform` with float16",
    "Numba round_trip": "Numba's argsort warns that it isn't stable",
}
row("topk", lambda x: pt.topk(x, 3, axis=1), unknown(2, 7, 2), integers=True, fails=IN_NUMBA)
for axis in (0, 1, -1):
    variant(
        f"topk, {axis}", lambda x, a=axis: pt.topk(x, 2, a)[0], unknown(3, 5, 4), fails=IN_NUMBA
    )
variant(
    "broadcast",
    lambda x, y: BroadcastAs(axes=(-1, -3))(x, y),
    parameter(1, 3, 1),
    unknown(2, 3, 4),
)
variant(
    "broadcast, its gradient",
    lambda x, y: SumAs(axes=(-1, -3))(x, y),
    unknown(2, 3, 4),
    parameter(1, 3, 1),
)
