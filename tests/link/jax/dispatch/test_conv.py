import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.tensor.conv import conv_transpose
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")


def test_bad_shapes_at_run_time():
    inputs = [pt.tensor4("x"), pt.tensor4("w")]
    f = pytensor.function(inputs, pt.conv2d(*inputs), mode="JAX")
    with pytest.raises(ValueError, match="don't match an input of 3 channels"):
        f(np.ones((1, 3, 5, 5)), np.ones((2, 2, 3, 3)))
    with pytest.raises(ValueError, match="larger than the padded image"):
        f(np.ones((1, 2, 2, 5)), np.ones((2, 2, 3, 3)))


def test_third_order_with_unknown_shapes():
    rng = np.random.default_rng(6)
    values = rng.normal(size=(1, 2, 4, 3)), rng.normal(size=(2, 2, 2, 3))
    inputs = [pt.tensor4("x"), pt.tensor4("w")]
    scalar = (pt.conv2d(*inputs, "full", (2, 1)) ** 2).sum()
    for _ in range(3):
        gradients = pytensor.grad(scalar, inputs)
        scalar = sum(g.sum() for g in gradients)
    compare_jax_and_py(inputs, gradients, values)


def test_bad_shapes_of_a_transposed_convolution_at_run_time():
    inputs = [pt.tensor4("x"), pt.tensor4("w")]
    f = pytensor.function(inputs, conv_transpose(*inputs, border_mode=2), mode="JAX")
    with pytest.raises(ValueError, match="don't match an input of 3 channels"):
        f(np.ones((1, 3, 5, 5)), np.ones((2, 2, 3, 3)))
    with pytest.raises(ValueError, match="takes away all of the output along spatial axis 0"):
        f(np.ones((1, 2, 2, 5)), np.ones((2, 2, 3, 3)))


@pytest.mark.by_default("float16-0")
@pytest.mark.parametrize("batch", [0, 2])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_sum_of_a_transposed_convolution(batch, dtype):
    rng = np.random.default_rng(11)
    values = [rng.normal(size=s).astype(dtype) for s in [(batch, 2, 4, 3), (2, 3, 2, 3)]]
    inputs = [pt.tensor(dtype=dtype, shape=(None,) * 4) for _ in values]
    out = conv_transpose(*inputs, "half", (2, 1), output_padding=(1, 0))
    first = pytensor.grad(out.sum(dtype=dtype), inputs)
    second = pytensor.grad(sum(g.sum(dtype=dtype) for g in first), inputs)
    compare_jax_and_py(inputs, [out, *first, *second], values, rtol=3e-2, atol=3e-2)
