"""Batch normalization and SiLU by kernels: what they compute, and where they are used."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pytensor
import pytensor.tensor as pt

pytest.importorskip("jax")

import jax

from pytensor.link.jax import jax_mode
from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.kernels import cpu_kernels
from pytensor.link.jax.kernels.cpu_kernels import load_kernels, with_cpu_kernels
from pytensor.link.jax.rewriting.recompute import Moments, NormalizedSiLU, SiLUNormalizationGrad
from tests.link.jax.programs import program_text

pytestmark = [
    pytest.mark.skipif(jax.default_backend() != "cpu", reason="the kernels are for CPUs"),
    pytest.mark.usefixtures("compiler"),
    pytest.mark.slow,  # g++ compiles the kernels
]
EPSILON = 1e-3
KERNELS = [cpu_kernels.MOMENTS, cpu_kernels.NORMALIZE_SILU, cpu_kernels.NORMALIZE_SILU_GRAD]


def compute(cls, *arrays, **properties):
    """Return what a kernel returns."""
    op = cls(axes=(*range(arrays[0].ndim - 1),), epsilon=EPSILON, **properties)

    def otherwise(op, **kwargs):
        return pytest.fail

    return with_cpu_kernels(otherwise, load_kernels())(op)(*arrays)


def reference(x, gamma, beta, cotangent):
    """Return moments, SiLU of the normalized image, and gradients for all, in double."""
    x, gamma, beta, cotangent = (np.float64(v) for v in (x, gamma, beta, cotangent))
    axes, number = (*range(x.ndim - 1),), max(1, np.prod(x.shape[:-1]))
    mean = x.sum(axes) / number
    variance = np.square(x - mean).sum(axes) / number
    inverse = 1 / np.sqrt(variance + EPSILON)
    normalized = (x - mean) * inverse
    z = gamma * normalized + beta
    with np.errstate(over="ignore"):
        s = 1 / (1 + np.exp(-z))
    back = cotangent * s * (1 + z * (1 - s))
    g_beta, g_gamma = back.sum(axes), (back * normalized).sum(axes)
    g_x = gamma * inverse * (back - g_beta / number - normalized * g_gamma / number)
    return (mean, variance, gamma * inverse), z * s, (g_x, g_gamma, g_beta)


def draw(shape, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape) * rng.uniform(0.1, 3, shape[-1]) + offset
    gamma, beta = rng.normal(1, 0.5, shape[-1]), rng.normal(size=shape[-1])
    return [v.astype("float32") for v in (x, gamma, beta, rng.normal(size=shape))]


def assert_close(ours, expected, tolerance):
    for a, b in zip(ours, expected, strict=True):
        assert a.dtype == "float32"
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * abs(b).max(initial=0.1))


@given(
    shape=st.tuples(
        st.integers(0, 3), st.integers(1, 40), st.integers(1, 40),
        st.sampled_from([0, 1, 2, 3, 5, 8, 15, 16, 17, 24, 32, 48, 64, 71, 80, 130, 257]),
    ),
    offset=st.sampled_from([0.0, 10.0, -300.0]),
    seed=st.integers(0, 99),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_results_are_those_of_numpy(shape, offset, seed):
    x, gamma, beta, cotangent = draw(shape, seed, offset)
    moments, image, gradients = reference(x, gamma, beta, cotangent)
    # Digits that an offset takes from the mean.
    assert_close(compute(Moments, x, gamma), moments, 3e-6 + 2e-7 * abs(offset))
    known = x, gamma, beta, *(v.astype("float32") for v in moments[:2])
    # Of what cancels where the image is of a single element, too.
    tolerance = (1e-5 + 1e-6 * abs(offset)) * abs(moments[2]).max(initial=1)
    assert_close([compute(NormalizedSiLU, *known)], [image], tolerance)
    assert_close(compute(SiLUNormalizationGrad, *known, cotangent), gradients, tolerance)
    wanted = compute(SiLUNormalizationGrad, *known, cotangent, wanted=(2,))
    assert_close([wanted], gradients[2:], tolerance)


def test_half_of_an_image_is_constant():
    """The variance doesn't suffer where its first rows are far from the mean."""
    x, gamma, beta, cotangent = draw((2, 64, 64, 16))
    x[0] = 4096
    assert_close(compute(Moments, x, gamma), reference(x, gamma, beta, cotangent)[0], 3e-6)


def test_silu_of_all_magnitudes():
    z = np.concatenate([np.linspace(-100, 100, 20001), [-3e38, -1e10, 1e10, 3e38, 0.0]])
    z = z.astype("float32")[:, None]
    one, zero = np.ones(1, "float32"), np.zeros(1, "float32")
    known = z, one, zero, zero, np.float32([1 - EPSILON])  # the normalized image is z
    image = compute(NormalizedSiLU, *known)
    x = np.float64(z)
    s = np.where(x < -87, 0, 1 / (1 + np.exp(-np.maximum(x, -87))))
    np.testing.assert_allclose(image, x * s, rtol=1e-6)
    # One position in each call: its gradient is what comes back through SiLU, at gamma.
    for k in range(0, len(z), 997):
        _, g_gamma, g_beta = compute(SiLUNormalizationGrad, *(v[k : k + 1] for v in known[:1]),
                                     *known[1:], np.ones((1, 1), "float32"))  # fmt: skip
        slope = s[k] * (1 + x[k] * (1 - s[k]))
        np.testing.assert_allclose(g_beta, slope, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(g_gamma, slope * x[k], rtol=1e-5, atol=1e-5)


def test_not_a_number_stays_in_its_channel():
    x, gamma, beta, cotangent = draw((2, 9, 9, 20))
    x[1, 3, 4, 7] = np.nan
    mean, variance, _ = compute(Moments, x, gamma)
    image = compute(NormalizedSiLU, x, gamma, beta, mean, variance)
    g_x, *_ = compute(SiLUNormalizationGrad, x, gamma, beta, mean, variance, cotangent)
    for values in (mean, variance, image, g_x):
        broken = np.isnan(values).reshape(-1, 20)
        assert broken[:, 7].all()
        assert not np.delete(broken, 7, axis=1).any()


def make_gradients(mode, activation=pt.silu, dtype="float32"):
    """Compile a function of images and filters: loss, gradients, new running statistics."""
    x = pt.tensor("x", dtype=dtype, shape=(2, 3, 9, 7))
    values = np.random.default_rng(1).normal(size=(4, 3, 3, 3)), np.ones(4) * 1.2, np.ones(4) / 3
    w, gamma, beta = (pytensor.shared(v.astype(dtype), shape=v.shape) for v in values)
    names = "running_mean", "running_var"
    running = {name: pytensor.shared(np.ones(4, dtype), shape=(4,)) for name in names}
    conv = pt.conv2d(x, w, border_mode="half")
    h, _, _, *new = pt.batch_normalization_train(conv, gamma, beta, axes="spatial", **running)
    loss = pt.sqr(activation(h) + 0.1 * pt.sqr(conv)).mean()
    gradients = pytensor.grad(loss, [w, gamma, beta, x])
    return pytensor.function([x], [loss, *gradients, *new], mode=mode)


def images(dtype="float32"):
    return np.random.default_rng(0).normal(size=(2, 3, 9, 7)).astype(dtype)


def test_a_layer_is_computed_by_kernels():
    function = make_gradients(jax_mode(cpu_kernels=True))
    text = program_text(function)
    assert all(text.count(f"@{name}") == 1 for name in KERNELS)
    for ours, theirs in zip(function(images()), make_gradients("JAX")(images()), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5 * (1 + abs(theirs).max()))


@pytest.mark.by_default("another gradient")
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"activation": pt.nn.relu}, id="no SiLU"),
        pytest.param({"activation": lambda x: pt.silu(x) + pt.silu(2 * x)}, id="read by others"),
        pytest.param({"activation": lambda x: pt.silu(x) * pt.exp(x)}, id="another gradient"),
        pytest.param({"dtype": "float64"}, id="float64"),
    ],
)
def test_xla_computes_the_rest(options):
    function = make_gradients(jax_mode(cpu_kernels=True), **options)
    dtype = options.get("dtype", "float32")
    assert not any(name in program_text(function) for name in KERNELS)
    expected = make_gradients("JAX", **options)(images(dtype))
    for ours, theirs in zip(function(images(dtype)), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5 * (1 + abs(theirs).max()))


def test_without_kernels_the_nodes_are_computed_as_well():
    """Their inner graphs say what they are."""
    x, gamma, beta, cotangent = draw((2, 5, 6, 3))
    moments, image, gradients = reference(x, gamma, beta, cotangent)
    known = x, gamma, beta, *(v.astype("float32") for v in moments[:2])
    for cls, arrays, expected in (
        (NormalizedSiLU, known, [image]), (SiLUNormalizationGrad, (*known, cotangent), gradients)
    ):  # fmt: skip
        inputs = [pt.as_tensor(v).type() for v in arrays]
        outputs = cls(axes=(0, 1, 2), epsilon=EPSILON)(*inputs, return_list=True)
        assert_close(pytensor.function(inputs, outputs, mode="JAX")(*arrays), expected, 1e-4)
        assert jax_funcify(outputs[0].owner.op, node=outputs[0].owner) is not None
