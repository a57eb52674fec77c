"""Names that this distribution adds to `pytensor.tensor`."""

# where it is missing, mode.including("batch_normalization_inference") would do nothing
import pytensor.tensor.rewriting.batchnorm
import pytensor.tensor.signal.pool
from pytensor.tensor import nn
from pytensor.tensor.batchnorm import batch_normalization, batch_normalization_train
from pytensor.tensor.conv import conv2d
from pytensor.tensor.nn import silu
from pytensor.tensor.pool import pool_2d
from pytensor.tensor.resize import resize
from pytensor.tensor.topk import topk

__all__ = [
    "batch_normalization", "batch_normalization_train", "conv2d", "nn", "pool_2d", "resize", "silu",
    "topk",
]  # fmt: skip
