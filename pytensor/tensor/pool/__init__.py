"""Pooling: windows, adaptive windows and whole images, of any number of axes."""

from pytensor.tensor.pool.adaptive import (
    AdaptivePool,
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    global_average_pool,
    global_lp_pool,
    global_max_pool,
)
from pytensor.tensor.pool.basic import (
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    pool_2d,
    pool_3d,
    pool_nd,
)
from pytensor.tensor.pool.lp import LpPool, lp_pool1d, lp_pool2d, lp_pool3d
from pytensor.tensor.pool.ops import POOL_MODES, GatherAtMaxima, Pool, PoolWithIndices
from pytensor.tensor.pool.unpool import (
    MaxUnpool,
    MaxUnpoolGrad,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from pytensor.tensor.pool.windows import WindowOp

__all__ = [
    "POOL_MODES",
    "AdaptivePool",
    "GatherAtMaxima",
    "LpPool",
    "MaxUnpool",
    "MaxUnpoolGrad",
    "Pool",
    "PoolWithIndices",
    "WindowOp",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "global_average_pool",
    "global_lp_pool",
    "global_max_pool",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "pool_2d",
    "pool_3d",
    "pool_nd",
]
