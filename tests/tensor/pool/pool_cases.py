"""Pooling functions of one image that every backend is tested with."""

import numpy as np

import pytensor
import pytensor.tensor as pt
from pytensor.tensor.pool import lp_pool, pool_nd

IMAGE = np.random.default_rng(5).permutation(2 * 3 * 7 * 8).reshape(2, 3, 7, 8) / 100 - 1.5


def unpool(x):
    values, indices = pt.nn.max_pool2d(x, (3, 2), (2, 1), return_indices=True)
    return pt.nn.max_unpool2d(values, indices, (3, 2), (2, 1), output_size=x.shape)


CASES = {
    "max": lambda x: pt.nn.max_pool2d(x, (2, 3), (1, 2), ((1, 0), (1, 2)), dilation=(2, 1)),
    "max_ceil": lambda x: pt.nn.max_pool2d(x, (2, 3), (3, 2), 1, dilation=2, ceil_mode=True),
    "with_indices": lambda x: pt.nn.max_pool2d(
        x, (2, 3), (3, 2), 1, dilation=2, return_indices=True
    )[0],
    "average": lambda x: pool_nd(
        x, (2, 3), False, (3, 2), ((1, 0), 1), "average_exc_pad", dilation=(2, 1)
    ),
    "average_inc_pad": lambda x: pool_nd(
        x, (2, 3), False, (3, 2), 1, "average_inc_pad", dilation=(2, 1)
    ),
    "sum_3d": lambda x: pool_nd(x, (2, 3, 2), pad=(1, 0, 1), mode="sum"),
    "norm": lambda x: lp_pool(x, 3, (2, 3), (3, 2), (1, 1), (2, 1)),
    "unpool": unpool,
    "global_max": pt.nn.global_max_pool,
    "global_average": pt.nn.global_avg_pool,
    "global_norm": lambda x: pt.nn.global_lp_pool(x, 3),
    "adaptive_average": lambda x: pt.nn.adaptive_avg_pool2d(x, (3, None)),
    "adaptive_max": lambda x: pt.nn.adaptive_max_pool2d(x, (5, 4), True)[0],
}


def graph(name, *, static, order=1, dtype="float64"):
    """Return a case's input, outputs and value: with gradient, and for order 2 that of it."""
    x = pt.tensor("x", shape=IMAGE.shape if static else (None,) * 4, dtype=dtype)
    outputs = [CASES[name](x)]
    for _ in range(order):
        outputs.append(pytensor.grad((outputs[-1] ** 3).sum(), x))
    return x, outputs, IMAGE.astype(dtype)
