"""Kernels that read and write images in bfloat16: what they compute, and where they are used."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

pytest.importorskip("jax")

import jax
import jax.numpy as jnp

from pytensor.link.jax import jax_mode
from pytensor.link.jax.kernels import cpu_kernels
from pytensor.link.jax.kernels.cpu_kernels import load_kernels, with_cpu_kernels
from pytensor.link.jax.rewriting.recompute import Moments, NormalizedSiLU, SiLUNormalizationGrad
from pytensor.tensor.conv.ops import Conv, ConvGradFilters, ConvGradInput
from tests.link.jax.kernels.test_cpu_kernels import (
    CHANNELS,
    KERNELS,
    PADS,
    PAIRS,
    compute,
    draw_arrays,
    images,
    make_op,
    make_step,
    reference,
)
from tests.link.jax.kernels.test_normalization import EPSILON, draw
from tests.link.jax.kernels.test_normalization import reference as normalization_reference
from tests.link.jax.programs import program_text

pytestmark = [
    pytest.mark.skipif(jax.default_backend() != "cpu", reason="the kernels are for CPUs"),
    pytest.mark.usefixtures("compiler"),
    pytest.mark.slow,  # g++ compiles the kernels
]


def low(array):
    return jnp.asarray(array, dtype="bfloat16")


def assert_rounded(ours, exact, error):
    """Assert that bfloat16 values are the nearest to exact values with an error of their own."""
    assert ours.dtype == "bfloat16"
    ours, scale = np.float64(ours), max(1, abs(exact).max(initial=0))
    assert (abs(ours - exact) <= 2.0**-8 * abs(exact) + error * scale).all()


@given(
    cls=st.sampled_from([Conv, ConvGradFilters, ConvGradInput]),
    batch=st.integers(0, 3),
    channels=st.tuples(CHANNELS, CHANNELS),
    size=st.tuples(st.integers(4, 14), st.integers(4, 14)),
    kernel=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    stride=PAIRS,
    dilation=st.sampled_from([(1, 1), (1, 1), (2, 1), (1, 2)]),
    pads=st.tuples(PADS, PADS),
    channels_last=st.booleans(),
)
@settings(max_examples=12, deadline=None)  # float32 has twice as many, by the same code
def test_sums_are_those_of_float32(
    cls, batch, channels, size, kernel, stride, dilation, pads, channels_last
):
    c, k = channels
    op = make_op(cls, border_mode=pads, subsample=stride, filter_dilation=dilation)
    for n, p, f, d in zip(size, pads, kernel, dilation, strict=True):
        assume(n + sum(p) > (f - 1) * d)
    arrays = [low(v) for v in draw_arrays(op, (batch, c, *size), (k, c, *kernel))]
    arrays = arrays[:2] if cls is Conv else arrays
    out, called = compute(op, *arrays, channels_last=channels_last)
    exact = reference(op, *arrays)
    one = cls is ConvGradFilters or (dilation[1] if cls is Conv else max(dilation)) == 1
    assert len(called) == one
    if cls is ConvGradFilters:
        assert out.dtype == "float32"
        scale = max(1, abs(exact).max(initial=0))
        np.testing.assert_allclose(out, exact, rtol=1e-4, atol=1e-4 * scale)
    elif one:
        assert_rounded(out, exact, 1e-5)


def test_results_are_rounded_to_the_nearest():
    """Of two that are as near, to the even one; infinities and what is no number stay so."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**32, 4096, dtype="uint32")
    bits[:2048] = bits[:2048] & 0xFFFF0000 | 0x8000  # halfway
    bits[:4] = 0x7F800000, 0xFF800000, 0x7F7FFFFF, 0x7F800001
    values = bits.view("float32")
    op = make_op(Conv, border_mode=((0, 0), (0, 0)))
    filters = jnp.asarray(values)[None, None, None, :]
    image = low(np.ones((1, 1, 1, 1)))
    shape = (1, 1, 1, len(values))
    out = cpu_kernels.call(
        cpu_kernels.CONVOLUTION, load_kernels(), shape, op, (1, 1), image, filters
    )
    with np.errstate(invalid="ignore"):
        expected = values.astype(jnp.bfloat16)
    normal = ~(abs(values) < np.finfo("float32").tiny)  # XLA's threads may flush these to zero
    np.testing.assert_array_equal(np.float32(out)[0, 0, 0][normal], np.float32(expected)[normal])


@given(
    shape=st.tuples(
        st.integers(1, 3), st.integers(1, 40), st.integers(1, 40),
        st.sampled_from([1, 2, 3, 8, 15, 16, 17, 32, 48, 71, 130]),
    ),
    seed=st.integers(0, 99),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_normalizations_are_those_of_float32(shape, seed):
    x, gamma, beta, cotangent = draw(shape, seed)
    x, cotangent = low(x), low(cotangent)
    exact, image, (g_x, *g_vectors) = normalization_reference(x, gamma, beta, cotangent)

    def by_kernel(cls, *arrays):
        return with_cpu_kernels(lambda op, **_: pytest.fail, load_kernels())(
            cls(axes=(0, 1, 2), epsilon=EPSILON)
        )(*arrays)

    for ours, theirs in zip(by_kernel(Moments, x, gamma), exact, strict=True):
        assert ours.dtype == "float32"
        np.testing.assert_allclose(ours, theirs, rtol=3e-6, atol=3e-6 * abs(theirs).max())
    known = x, gamma, beta, *(v.astype("float32") for v in exact[:2])
    tolerance = 1e-5 * abs(g_x).max(initial=1)
    assert_rounded(by_kernel(NormalizedSiLU, *known), image, 1e-5)
    ours, *vectors = by_kernel(SiLUNormalizationGrad, *known, cotangent)
    assert_rounded(ours, g_x, tolerance)
    for values, theirs in zip(vectors, g_vectors, strict=True):
        scale = abs(theirs).max(initial=0.1)
        np.testing.assert_allclose(values, theirs, rtol=tolerance, atol=tolerance * scale)


def test_columns_of_a_strided_gradient_are_apart():
    """Rows of every second position, found by squares of 3 x 3, would be written side by side."""
    op = make_op(ConvGradInput, subsample=(2, 1), border_mode=((2, 2), (1, 1)))
    arrays = draw_arrays(op, (2, 32, 24, 12), (32, 32, 6, 3))
    out, called = compute(op, *arrays, channels_last=True)
    assert called == [cpu_kernels.GRAD_IMAGE]
    exact = reference(op, *arrays)
    np.testing.assert_allclose(out, exact, rtol=1e-4, atol=1e-5 * abs(exact).max())


def test_a_training_step_in_mixed_precision_calls_all_kernels():
    """Its losses are near those in float32, and those that XLA computes in bfloat16."""
    steps = {
        "float32": make_step(),
        "kernels": make_step(precision="bf16"),
        "XLA": make_step(mode=jax_mode(precision="bf16")),
    }
    assert all(kernel in program_text(steps["kernels"][0]) for kernel in KERNELS)
    assert not any(kernel in program_text(steps["XLA"][0]) for kernel in KERNELS)
    losses = {name: [float(step(images())) for _ in range(4)] for name, (step, _) in steps.items()}
    for name in ("float32", "XLA"):
        np.testing.assert_allclose(losses["kernels"], losses[name], rtol=0.02)
    assert losses["kernels"][-1] < losses["kernels"][0]


def test_other_axes_are_normalized_in_float32():
    """No kernel computes them, so the rules for conversions hold."""
    op = NormalizedSiLU(axes=(0, 2, 3), epsilon=EPSILON)
    converted = with_cpu_kernels(lambda op, **_: pytest.fail, load_kernels())(op)
    assert not hasattr(converted, "takes_bfloat16")
