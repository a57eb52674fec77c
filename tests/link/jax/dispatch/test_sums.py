"""Gradients of plain sums are of arrays of ones, whose shapes JAX must know while it traces."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.tensor.conv import conv_transpose
from pytensor.tensor.pool import POOL_MODES
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")

X, W = pt.tensor4("x"), pt.tensor4("w")
KNOWN = pt.tensor("known", shape=(3, 4, 2, 3))
PARAMETERS = [pt.vector(name) for name in ("gamma", "beta", "mean", "variance")]
RESIZED = [
    {"size": (7, 4)},
    {"scale": (2, 3)},
    {"scale": (0.5, 1.7)},
    {"size": (7, 4), "keep_aspect_ratio_policy": "not_larger"},
]
# What is summed, each of images whose lengths are open.
RESULTS = {
    "conv": [pt.conv2d(X, W, "half", (2, 1))],
    "conv, known filters": [pt.conv2d(X, KNOWN, "half", (2, 1))],
    "transposed conv": [conv_transpose(X, W.swapaxes(0, 1), "half", (2, 1))],
    "pool": [pt.pool_2d(X, (3, 5), False, (2, 3), (1, 2), mode) for mode in POOL_MODES],
    "resize": [pt.resize(X, **target, mode="linear") for target in RESIZED],
    "batch norm": [pt.batch_normalization(X, *PARAMETERS)],
    "batch norm, training": [pt.batch_normalization_train(X, *PARAMETERS[:2], "spatial")[0]],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RESULTS)
def test_gradients_of_sums_of_open_lengths(name):
    rng = np.random.default_rng(3)
    values = {X: rng.normal(size=(2, 4, 7, 6))}
    values |= dict.fromkeys((W, KNOWN), rng.normal(size=(3, 4, 2, 3)))
    values |= {v: rng.uniform(1, 2, 4) for v in PARAMETERS}
    inputs = [*pytensor.graph.traversal.explicit_graph_inputs(RESULTS[name])]
    gradients = [g for out in RESULTS[name] for g in pytensor.grad(out.sum(), inputs)]
    compare_jax_and_py(inputs, gradients, [values[v] for v in inputs], atol=1e-9)
