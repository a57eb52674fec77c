import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.tensor.conv.basic import conv_nd
from tests.utils import compare_jax_and_py

pytest.importorskip("jax")

# border_mode, stride, dilation, groups, flip; kernels are 2 x 3
CASES = [
    ("valid", (2, 1), (1, 2), 1, True),
    ("half", (1, 2), (2, 1), 2, False),
    ("full", (3, 2), (1, 1), 4, True),
    ((2, 0), (1, 1), (1, 1), 1, False),
    (((2, 0), (1, 3)), (2, 3), (3, 1), 2, True),
]


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize(("border", "stride", "dilation", "groups", "flip"), CASES)
def test_conv2d(border, stride, dilation, groups, flip, static):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2, 4, 7, 6)), rng.normal(size=(4, 4 // groups, 2, 3))
    inputs = [pt.tensor(shape=v.shape if static else (None,) * 4) for v in values]
    out = pt.conv2d(*inputs, border, stride, dilation, groups, flip)
    gradients = pytensor.grad((out**3).sum(), inputs)
    second = pytensor.grad(sum((g**2).sum() for g in gradients), inputs)
    compare_jax_and_py(inputs, [out, *gradients, *second], values)


@pytest.mark.parametrize("n", [1, 3])
def test_other_ranks(n):
    rng = np.random.default_rng(1)
    values = [rng.normal(size=(2, 4, 5, 4, 6)[: n + 2]), rng.normal(size=(2, 2, 2, 1, 3)[: n + 2])]
    inputs = [pt.tensor(shape=(None,) * (n + 2)) for _ in values]
    out = conv_nd(*inputs, n, ((1, 0), (0, 2), (1, 1))[:n], (2, 1, 3)[:n], (1, 2, 2)[:n], 2)
    compare_jax_and_py(inputs, [out, *pytensor.grad((out**2).sum(), inputs)], values)


def test_one_by_one_kernel():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(2, 4, 5, 6)), rng.normal(size=(3, 4, 1, 1))
    for stride in [(1, 1), (2, 3)]:
        inputs = [pt.tensor4("x"), pt.tensor4("w", shape=(3, 4, 1, 1))]
        out = pt.conv2d(*inputs, subsample=stride)
        compare_jax_and_py(inputs, [out, *pytensor.grad((out**2).sum(), inputs)], values)


@pytest.mark.parametrize("static", [True, False])
def test_plain_sum_with_unknown_shapes(static):
    # The gradient of a sum is an array of ones, whose shape JAX has to know while it traces
    rng = np.random.default_rng(3)
    values = rng.normal(size=(2, 4, 7, 6)), rng.normal(size=(3, 4, 2, 3))
    inputs = [pt.tensor4("x"), pt.tensor("w", shape=(3, 4, 2, 3) if static else (None,) * 4)]
    out = pt.conv2d(*inputs, "half", (2, 1))
    compare_jax_and_py(inputs, pytensor.grad(out.sum(), inputs), values)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_dtype_is_kept(dtype):
    rng = np.random.default_rng(4)
    values = [rng.normal(size=s).astype(dtype) for s in [(1, 2, 5, 4), (2, 1, 2, 3)]]
    inputs = [pt.tensor(dtype=dtype, shape=(None,) * 4) for _ in values]
    out = pt.conv2d(*inputs, "half", num_groups=2)
    gradients = pytensor.grad((out * out).sum(dtype=dtype), inputs)
    compare_jax_and_py(inputs, [out, *gradients], values, rtol=3e-2, atol=3e-2)


def test_empty_batch():
    inputs = [pt.tensor4("x"), pt.tensor4("w")]
    out = pt.conv2d(*inputs, num_groups=2)
    gradients = pytensor.grad((out**2).sum(), inputs)
    compare_jax_and_py(inputs, [out, *gradients], [np.ones((0, 4, 5, 6)), np.ones((2, 2, 3, 2))])


def test_bad_shapes_at_run_time():
    inputs = [pt.tensor4("x"), pt.tensor4("w")]
    f = pytensor.function(inputs, pt.conv2d(*inputs), mode="JAX")
    with pytest.raises(ValueError, match="don't match an input of 3 channels"):
        f(np.ones((1, 3, 5, 5)), np.ones((2, 2, 3, 3)))
    with pytest.raises(ValueError, match="larger than the padded image"):
        f(np.ones((1, 2, 2, 5)), np.ones((2, 2, 3, 3)))
