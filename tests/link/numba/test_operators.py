"""The default mode, NUMBA, runs every operator and its gradient without a warning.

Pooling and second derivatives are beside the dispatch.
"""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.utils import REFERENCE_MODE

pytest.importorskip("numba")

rng = np.random.default_rng(0)
IMAGE = rng.normal(size=(2, 2, 6, 5))

OPERATORS = {
    "conv2d": lambda x, v: pt.conv2d(x, v[:, None, None, None] * KERNEL, "half"),
    "batch_normalization": lambda x, v: pt.batch_normalization(x, v, v, v, v),
    "batch_normalization_train": lambda x, v: pt.batch_normalization_train(x, v, v, "spatial")[0],
    "nearest": lambda x, v: pt.resize(x * v[0], scale=(2, 1.5)),
    "linear": lambda x, v: pt.resize(x * v[0], size=(4, 7), mode="linear"),
    "silu": lambda x, v: pt.silu(x * v[0]),
    "topk": lambda x, v: pt.topk(x * v[0], 2, axis=2)[0],
}
KERNEL = rng.normal(size=(2, 2, 2, 3))


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATORS)
def test_default_mode(name):
    inputs = [pt.tensor4("x"), pt.vector("v")]
    out = OPERATORS[name](*inputs)
    outputs = [out, *pytensor.grad((out**2).sum(), inputs)]
    values = [IMAGE, np.array([1.5, 2.5])]
    results = pytensor.function(inputs, outputs, mode="NUMBA")(*values)
    expected = pytensor.function(inputs, outputs, mode=REFERENCE_MODE)(*values)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-9, atol=1e-12)
