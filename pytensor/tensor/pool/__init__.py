"""Pooling of windows by the arguments of Theano, and the Ops of all pooling."""

from pytensor.tensor.pool.adaptive import AdaptivePool
from pytensor.tensor.pool.basic import pool_2d, pool_nd
from pytensor.tensor.pool.lp import LpPool, lp_pool
from pytensor.tensor.pool.ops import POOL_MODES, GatherAtMaxima, Pool, PoolWithIndices
from pytensor.tensor.pool.unpool import MaxUnpool, MaxUnpoolGrad
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
    "lp_pool",
    "pool_2d",
    "pool_nd",
]
