"""Names that this distribution adds to `pytensor.tensor`."""

# where it is missing, mode.including("batch_normalization_inference") would do nothing
import pytensor.tensor.rewriting.batchnorm
import pytensor.tensor.signal.pool
from pytensor.tensor import nn
from pytensor.tensor.batchnorm import batch_normalization, batch_normalization_train
from pytensor.tensor.conv import (
    conv1d,
    conv1d_transpose,
    conv2d,
    conv2d_transpose,
    conv3d,
    conv3d_transpose,
)
from pytensor.tensor.former_activations import (
    elu,
    gelu,
    hard_sigmoid,
    hard_swish,
    leaky_relu,
    mish,
    prelu,
    relu,
    relu6,
    selu,
    softsign,
)
from pytensor.tensor.nn import silu
from pytensor.tensor.normalization import (
    group_normalization,
    instance_normalization,
    layer_normalization,
    rms_normalization,
)
from pytensor.tensor.pool import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    global_average_pool,
    global_lp_pool,
    global_max_pool,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
    pool_2d,
    pool_3d,
    pool_nd,
)
from pytensor.tensor.resize import resize
from pytensor.tensor.topk import topk

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d",
    "adaptive_max_pool2d", "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "batch_normalization", "batch_normalization_train", "conv1d", "conv1d_transpose", "conv2d",
    "conv2d_transpose", "conv3d", "conv3d_transpose", "elu", "gelu", "global_average_pool",
    "global_lp_pool", "global_max_pool", "group_normalization", "hard_sigmoid", "hard_swish",
    "instance_normalization", "layer_normalization", "leaky_relu", "lp_pool1d", "lp_pool2d",
    "lp_pool3d", "max_pool1d", "max_pool2d", "max_pool3d", "max_unpool1d", "max_unpool2d",
    "max_unpool3d", "mish", "nn", "pool_2d", "pool_3d", "pool_nd", "prelu", "relu", "relu6",
    "resize", "rms_normalization", "selu", "silu", "softsign", "topk",
]  # fmt: skip
