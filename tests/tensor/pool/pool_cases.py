"""Pooling functions of one image that every backend is tested with."""

import numpy as np

import pytensor
import pytensor.tensor as pt

IMAGE = np.random.default_rng(5).permutation(2 * 3 * 7 * 8).reshape(2, 3, 7, 8) / 100 - 1.5


def unpool(x):
    values, indices = pt.max_pool2d(x, (3, 2), (2, 1), return_indices=True)
    return pt.max_unpool2d(values, indices, (3, 2), (2, 1), output_size=x.shape)


CASES = {
    "max": lambda x: pt.max_pool2d(x, (2, 3), (1, 2), ((1, 0), (1, 2)), (2, 1)),
    "max_ceil": lambda x: pt.max_pool2d(x, (2, 3), (3, 2), 1, 2, True),
    "with_indices": lambda x: pt.max_pool2d(x, (2, 3), (3, 2), 1, 2, return_indices=True)[0],
    "average": lambda x: pt.avg_pool2d(x, (2, 3), (3, 2), ((1, 0), 1), True, False, (2, 1)),
    "average_inc_pad": lambda x: pt.avg_pool2d(x, (2, 3), (3, 2), 1, True, True, (2, 1)),
    "sum_3d": lambda x: pt.pool_3d(x, (2, 3, 2), pad=(1, 0, 1), mode="sum"),
    "norm": lambda x: pt.lp_pool2d(x, 3, (2, 3), (3, 2), (1, 1), (2, 1)),
    "unpool": unpool,
    "global_max": pt.global_max_pool,
    "global_average": pt.global_average_pool,
    "global_norm": lambda x: pt.global_lp_pool(x, 3),
    "adaptive_average": lambda x: pt.adaptive_avg_pool2d(x, (3, None)),
    "adaptive_max": lambda x: pt.adaptive_max_pool2d(x, (5, 4), True)[0],
}


def graph(name, *, static, order=1, dtype="float64"):
    """Input, outputs and value: a case, its gradient, and for order 2 the gradient of that."""
    x = pt.tensor("x", shape=IMAGE.shape if static else (None,) * 4, dtype=dtype)
    outputs = [CASES[name](x)]
    for _ in range(order):
        outputs.append(pytensor.grad((outputs[-1] ** 3).sum(), x))
    return x, outputs, IMAGE.astype(dtype)
