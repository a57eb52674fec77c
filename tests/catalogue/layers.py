"""Layers with the sizes that networks have, which the benchmarks time.

A call is written once: `pt.nn` and `torch.nn.functional` have the same names and arguments.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import pytensor.tensor as pt
from tests.catalogue.examples import Example, image, parameter, positive, unknown


@dataclass(frozen=True)
class Layer(Example):
    """An example that PyTorch has, too.

    Attributes
    ----------
    call : callable
        Takes `pt.nn` or `torch.nn.functional`, the inputs, and `arguments` by their names.
    arguments : dict
    """

    call: Callable = None
    arguments: dict = field(default_factory=dict)


LAYERS: dict[str, Layer] = {}


def layer(name, call, *inputs, **arguments):
    build = partial(call, pt.nn, **arguments)
    LAYERS[name] = Layer(name, build, inputs, call=call, arguments=arguments)


# image, filters, stride, padding, dilation, groups
for kind, (of_image, of_filters, *how) in {
    "3x3": ((8, 32, 40, 40), (64, 32, 3, 3), 1, 1, 1, 1),
    "3x3, stride 2": ((8, 16, 80, 80), (32, 16, 3, 3), 2, 1, 1, 1),
    "3x3 on RGB": ((8, 3, 160, 160), (16, 3, 3, 3), 2, 1, 1, 1),
    "1x1": ((8, 128, 20, 20), (128, 128, 1, 1), 1, 0, 1, 1),
    "depth-wise 3x3": ((8, 64, 40, 40), (64, 1, 3, 3), 1, 1, 1, 64),
    "4 groups": ((8, 64, 20, 20), (64, 16, 3, 3), 1, 1, 1, 4),
    "dilation 2": ((8, 32, 40, 40), (32, 32, 3, 3), 1, 2, 2, 1),
    "7x7, stride 2": ((4, 3, 112, 112), (32, 3, 7, 7), 2, 3, 1, 1),
}.items():
    layer(
        f"conv2d {kind}",
        lambda F, x, w, **how: F.conv2d(x, w, **how),
        image(*of_image),
        parameter(*of_filters),
        **dict(zip(("stride", "padding", "dilation", "groups"), how, strict=True)),
    )

IMAGES, TOKENS = image(8, 64, 40, 40), unknown(8, 1600, 64)
CHANNELS = 2 * [parameter(64, draw=positive)]
layer(
    "conv1d",
    lambda F, x, w: F.conv1d(x, w, padding=1),
    image(8, 64, 1600),
    parameter(64, 64, 3),
)
layer(
    "conv3d",
    lambda F, x, w: F.conv3d(x, w, padding=1),
    image(2, 16, 12, 20, 20),
    parameter(16, 16, 3, 3, 3),
)
layer(
    "conv2d_transpose x2",
    lambda F, x, w: F.conv_transpose2d(x, w, stride=2, padding=1),
    image(8, 64, 20, 20),
    parameter(64, 32, 4, 4),
)
layer("max_pool2d 2x2", lambda F, x: F.max_pool2d(x, 2), IMAGES)
layer("max_pool2d 5x5, stride 1", lambda F, x: F.max_pool2d(x, 5, 1, 2), IMAGES)
layer("avg_pool2d 2x2", lambda F, x: F.avg_pool2d(x, 2), IMAGES)
layer("resize nearest x2", lambda F, x: F.interpolate(x, scale_factor=2), IMAGES)
layer("resize linear x2", lambda F, x: F.interpolate(x, scale_factor=2, mode="bilinear"), IMAGES)


def normalized(F, x, weight, bias):
    """Normalize by the batch's statistics, which `pt.nn` returns, too."""
    results = F.batch_norm(x, None, None, weight, bias, training=True, eps=1e-3)
    return results[0] if F is pt.nn else results


layer(
    "batch_normalization_train",
    normalized,
    IMAGES,
    *CHANNELS,
)
layer("layer_normalization", lambda F, x: F.layer_norm(x, (64,)), TOKENS)
layer("rms_normalization", lambda F, x: F.rms_norm(x, (64,), eps=1e-5), TOKENS)
layer(
    "group_normalization, 8 groups",
    lambda F, x, w, b: F.group_norm(x, 8, w, b),
    IMAGES,
    *CHANNELS,
)
layer("silu", lambda F, x: F.silu(x), IMAGES)
layer("gelu", lambda F, x: F.gelu(x), IMAGES)
