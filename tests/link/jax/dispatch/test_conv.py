import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.tensor.conv import conv, conv_transpose
from tests.utils import compare_jax_and_py, in_turn

pytest.importorskip("jax")

# border_mode, stride, dilation, groups, flip; kernels are 2 x 3
CASES = [
    ("valid", (2, 1), (1, 2), 1, True),
    ("half", (1, 2), (2, 1), 2, False),
    ("full", (3, 2), (1, 1), 4, True),
    ((2, 0), (1, 1), (1, 1), 1, False),
    (((2, 0), (1, 3)), (2, 3), (3, 1), 2, True),
    # a filter per channel: its gradient is a convolution too, unless the border is too wide
    ("half", (1, 1), (1, 1), 4, False),
    (((1, 0), (0, 2)), (1, 1), (2, 1), 4, True),
    ((2, 0), (1, 1), (1, 1), 4, False),
]


@in_turn("case, static", CASES, [True, False])
def test_conv2d(case, static):
    border, stride, dilation, groups, flip = case
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
    pads = ((1, 0), (0, 2), (1, 1))[:n]
    out = conv(*inputs, pads, (2, 1, 3)[:n], (1, 2, 2)[:n], 2)
    compare_jax_and_py(inputs, [out, *pytensor.grad((out**2).sum(), inputs)], values)


@pytest.mark.slow
def test_one_by_one_kernel():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(2, 4, 5, 6)), rng.normal(size=(3, 4, 1, 1))
    for border, stride in [("valid", (1, 1)), ("valid", (2, 3)), ((1, (0, 2)), (1, 1))]:
        inputs = [pt.tensor4("x"), pt.tensor4("w", shape=(3, 4, 1, 1))]
        out = pt.conv2d(*inputs, border, stride)
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


@in_turn("case, static", CASES, [False, True])
def test_conv2d_transpose(case, static):
    border, stride, dilation, groups, flip = case
    rng = np.random.default_rng(5)
    values = rng.normal(size=(2, 4, 5, 4)), rng.normal(size=(4, 3, 2, 3))
    inputs = [pt.tensor(shape=v.shape if static else (None,) * 4) for v in values]
    padding = tuple(s - 1 for s in stride)
    out = conv_transpose(*inputs, border, stride, dilation, groups, flip, output_padding=padding)
    outputs, scalar = [out], (out**3).sum()
    for _ in range(2):
        gradients = pytensor.grad(scalar, inputs)
        outputs += gradients
        scalar = sum((g**2).sum() for g in gradients)
    compare_jax_and_py(inputs, outputs, values)


def test_third_order_with_unknown_shapes():
    rng = np.random.default_rng(6)
    values = rng.normal(size=(1, 2, 4, 3)), rng.normal(size=(2, 2, 2, 3))
    inputs = [pt.tensor4("x"), pt.tensor4("w")]
    scalar = (pt.conv2d(*inputs, "full", (2, 1)) ** 2).sum()
    for _ in range(3):
        gradients = pytensor.grad(scalar, inputs)
        scalar = sum(g.sum() for g in gradients)
    compare_jax_and_py(inputs, gradients, values)


@pytest.mark.parametrize("n", [1, 3])
def test_transpose_in_other_ranks(n):
    rng = np.random.default_rng(7)
    values = [rng.normal(size=(2, 4, 5, 4, 3)[: n + 2]), rng.normal(size=(4, 2, 2, 1, 3)[: n + 2])]
    inputs = [pt.tensor(shape=(None,) * (n + 2)) for _ in values]
    out = conv_transpose(*inputs, ((1, 0), (0, 2), (1, 1))[:n], (2, 1, 3)[:n], (1, 2, 2)[:n], 2)
    compare_jax_and_py(inputs, [out, *pytensor.grad((out**2).sum(), inputs)], values)


def test_output_padding_and_output_shape():
    rng = np.random.default_rng(8)
    values = rng.normal(size=(2, 4, 5, 4)), rng.normal(size=(4, 3, 2, 3))
    inputs = [pt.tensor4("x"), pt.tensor("w", shape=(4, None, None, None))]
    # as large as the stride, and the number of channels known
    padded = conv_transpose(*inputs, 1, 1, (1, 3), output_padding=(0, 2))
    sized = conv_transpose(*inputs, 1, (2, 3), output_shape=(9, 11))
    for out in (padded, sized):
        compare_jax_and_py(inputs, [out, *pytensor.grad((out**2).sum(), inputs)], values)


@pytest.mark.parametrize("groups", [1, 4])
def test_transposes_of_the_fast_forms(groups):
    # of one matrix product, and of shifted multiplications
    rng = np.random.default_rng(9)
    size = (1, 1) if groups == 1 else (2, 3)
    values = rng.normal(size=(2, 4, 5, 6)), rng.normal(size=(4, 4 // groups, *size))
    inputs = [pt.tensor4("x"), pt.tensor("w", shape=values[1].shape)]
    out = conv_transpose(*inputs, num_groups=groups)
    compare_jax_and_py(inputs, [out, *pytensor.grad((out**2).sum(), inputs)], values)


def test_bad_shapes_of_a_transposed_convolution_at_run_time():
    inputs = [pt.tensor4("x"), pt.tensor4("w")]
    f = pytensor.function(inputs, conv_transpose(*inputs, border_mode=2), mode="JAX")
    with pytest.raises(ValueError, match="don't match an input of 3 channels"):
        f(np.ones((1, 3, 5, 5)), np.ones((2, 2, 3, 3)))
    with pytest.raises(ValueError, match="takes away all of the output along spatial axis 0"):
        f(np.ones((1, 2, 2, 5)), np.ones((2, 2, 3, 3)))


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
