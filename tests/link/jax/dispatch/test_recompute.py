import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")


@pytest.mark.by_default("float64-spatial-2-True")
@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize(("axes", "length"), [("spatial", 2), ((1, 2, 3), 3)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_train(axes, length, dtype, static):
    rng = np.random.default_rng(0)
    values = [rng.normal(size=(3, 2, 4, 5)), *rng.uniform(1, 2, size=(4, length))]
    values = [v.astype(dtype) for v in values]
    inputs = [pt.tensor(dtype=dtype, shape=v.shape if static else (None,) * v.ndim) for v in values]
    x, gamma, beta, mean, var = inputs
    outputs = pt.batch_normalization_train(x, gamma, beta, axes, 1e-3, 0.3, mean, var)
    loss = sum((out * out).sum(acc_dtype=dtype) for out in outputs)
    compare_jax_and_py(inputs, [*outputs, *pytensor.grad(loss, inputs)], values, rtol=1e-4)


@pytest.mark.by_default("False")
@pytest.mark.slow
@pytest.mark.parametrize("static", [True, False])
def test_inference(static):
    rng = np.random.default_rng(1)
    values = [rng.normal(size=(3, 2, 4, 5)), *rng.uniform(1, 2, size=(4, 2))]
    inputs = [pt.tensor(shape=v.shape if static else (None,) * v.ndim) for v in values]
    out = pt.batch_normalization(*inputs)
    compare_jax_and_py(inputs, [out, *pytensor.grad((out**2).sum(), inputs)], values)


@pytest.mark.slow
def test_second_order():
    rng = np.random.default_rng(2)
    values = [rng.normal(size=(3, 2, 4)), *rng.uniform(1, 2, size=(2, 2))]
    inputs = [pt.tensor3(), pt.vector(), pt.vector()]
    out, mean, _ = pt.batch_normalization_train(*inputs, "spatial")
    first = pytensor.grad((out**3).sum() + (mean**2).sum(), inputs)
    second = pytensor.grad(sum((g**2).sum() for g in first), inputs)
    compare_jax_and_py(inputs, [*first, *second], values, rtol=1e-6)


def test_plain_sum_with_unknown_shapes():
    rng = np.random.default_rng(3)
    values = [rng.normal(size=(3, 2, 4, 5)), *rng.uniform(1, 2, size=(4, 2))]
    inputs = [pt.tensor4(), *(pt.vector() for _ in range(4))]
    train = pt.batch_normalization_train(*inputs[:3], "spatial")[0]
    for out in (train, pt.batch_normalization(*inputs)):
        gradients = pytensor.grad(out.sum(), inputs, disconnected_inputs="ignore")
        compare_jax_and_py(inputs, gradients, values, atol=1e-9)
