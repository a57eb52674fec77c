"""Names that this distribution adds to `pytensor.tensor`."""

from pytensor.tensor.batchnorm import batch_normalization, batch_normalization_train
from pytensor.tensor.conv import conv2d
from pytensor.tensor.nn import (
    elu,
    gelu,
    hard_sigmoid,
    hard_swish,
    leaky_relu,
    mish,
    relu6,
    silu,
    softsign,
)
from pytensor.tensor.normalization import (
    group_normalization,
    instance_normalization,
    layer_normalization,
    rms_normalization,
)
from pytensor.tensor.pool import avg_pool2d, max_pool2d, pool_2d
from pytensor.tensor.resize import resize
from pytensor.tensor.topk import topk

__all__ = [
    "avg_pool2d",
    "batch_normalization",
    "batch_normalization_train",
    "conv2d",
    "elu",
    "gelu",
    "group_normalization",
    "hard_sigmoid",
    "hard_swish",
    "instance_normalization",
    "layer_normalization",
    "leaky_relu",
    "max_pool2d",
    "mish",
    "pool_2d",
    "relu6",
    "resize",
    "rms_normalization",
    "silu",
    "softsign",
    "topk",
]
