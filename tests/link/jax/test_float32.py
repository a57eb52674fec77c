"""All operators as in training: floatX=float32, where JAX has no 64-bit types."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")


@pytest.mark.slow
@pytest.mark.usefixtures("float32_everywhere")
def test_network():
    rng = np.random.default_rng(0)
    values = [rng.normal(size=(2, 2, 6, 8)), rng.normal(size=(2, 2, 2, 3)), np.ones(2), np.ones(2)]
    values = [v.astype("float32") for v in values]
    x, w = pt.tensor4("x"), pt.tensor4("w")
    gamma, beta = pt.vector("gamma"), pt.vector("beta")
    h = pt.conv2d(x, w, "half", (1, 2))
    h, mean, *_, var = pt.batch_normalization_train(
        h, gamma, beta, "spatial", running_mean=gamma, running_var=beta
    )
    h = pt.silu(h)
    h = pt.pool_2d(h, (3, 2), True, (1, 2), (1, 0)) + pt.pool_2d(
        h, (3, 2), True, (1, 2), (1, 0), "average_exc_pad"
    )
    h = pt.resize(pt.resize(h, scale=2), size=(5, 7), mode="linear")
    scores, _ = pt.topk(h.reshape((h.shape[0], 2, 35)), 3)
    inputs = [x, w, gamma, beta]
    gradients = pytensor.grad((scores * scores).sum(), inputs)
    outputs = [scores, mean, var, *gradients]
    assert {v.type.dtype for v in outputs} == {"float32"}
    compare_jax_and_py(inputs, outputs, values, rtol=1e-3, atol=1e-4)
    indices = pt.topk(x.flatten(), 3)[1]
    f = pytensor.function([x], x.flatten()[indices], mode="JAX")
    np.testing.assert_array_equal(f(values[0]), np.sort(values[0].ravel())[:-4:-1])
