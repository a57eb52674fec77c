"""Batch normalization as a GPU gets it: values where digits are easily lost, and the passes."""

import re
from functools import cache

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax.rewriting.recompute import Barrier, GradientSums, ImageGradient, Moments
from pytensor.tensor.basic import Split
from pytensor.tensor.batchnorm import BatchNormalizationTrain
from pytensor.tensor.conv.ops import Conv, ConvGradFilters
from pytensor.tensor.elemwise import Elemwise

jax = pytest.importorskip("jax")
jax_mode = pytest.importorskip("pytensor.link.jax.mode").jax_mode

SHAPE = (4, 3, 6, 10)
WEIGHTS = np.random.default_rng(1).normal(size=SHAPE)


@cache
def compiled(dtype, *, running=True, **options):
    """Compile, of x and the running mean: normalized x, statistics, gradients, the new mean."""
    x = pt.tensor("x", dtype=dtype, shape=(None, 3, None, None))
    ones, old = np.ones(3, dtype), pt.vector("old", dtype=dtype)
    gamma, beta = pt.constant(ones * 2), pt.constant(ones)
    given = {"running_mean": old, "running_var": ones} if running else {}
    out, mean, invstd, *new = pt.batch_normalization_train(
        x, gamma, beta, "spatial", 1e-30, 0.3, **given
    )
    cost = pt.sum(pt.silu(out) * WEIGHTS[: x.type.shape[0]].astype(dtype), dtype=dtype)
    gradients = pytensor.grad(cost, [x, gamma, beta])
    mode = jax_mode(platform="cuda", **options)
    return pytensor.function(
        [x, old], [out, mean, invstd, *gradients, *new], mode=mode, on_unused_input="ignore"
    )


def expected(x):
    """Return the same from NumPy in float64, from its formulas."""
    x, axes = x.astype("float64"), (0, 2, 3)
    mean, invstd = x.mean(axes, keepdims=True), 1 / np.sqrt(x.var(axes, keepdims=True) + 1e-30)
    normalized = (x - mean) * invstd
    out = 2 * normalized + 1
    s = 1 / (1 + np.exp(-out))
    g = WEIGHTS * s * (1 + out * (1 - s))
    g_gamma, g_beta = (g * normalized).sum(axes), g.sum(axes)
    centred = g - g.mean(axes, keepdims=True)
    g_x = 2 * invstd * (centred - normalized * (g * normalized).mean(axes, keepdims=True))
    return [out, mean.ravel(), invstd.ravel(), g_x, g_gamma, g_beta]


@pytest.mark.parametrize("running", [True, False])
@pytest.mark.parametrize(("mean", "std"), [(1e4, 1), (-1e4, 1e2), (1e12, 1e9), (0, 1e-9)])
def test_digits_are_kept_where_the_mean_is_large(mean, std, running):
    """To a standard deviation from the running mean, or without one: as in two passes."""
    x = (np.random.default_rng(0).normal(size=SHAPE) * std + mean).astype("float32")
    old = np.full(3, mean + std, "float32")
    results = compiled("float32", running=running)(x, old)
    # x itself has so few digits where its mean is so much larger than its deviation
    digits = 1e-5 + 1e-7 * abs(mean) / std
    for result, wanted in zip(results[:6], expected(x), strict=True):
        scale = np.abs(wanted).max()
        np.testing.assert_allclose(result, wanted, rtol=0, atol=digits * scale)
    if running:
        np.testing.assert_allclose(results[6], 0.7 * old + 0.3 * x.mean((0, 2, 3)), rtol=1e-5)


def test_far_from_the_running_mean_the_variance_loses_digits_by_the_square():
    """What the docstring of `Moments` says of a number d standard deviations from the mean."""
    x = np.random.default_rng(0).normal(size=SHAPE).astype("float32")
    wanted = expected(x)[2]
    for d in (10, 100, 300):
        invstd = compiled("float32")(x, np.full(3, d, "float32"))[2]
        assert abs(invstd / wanted - 1).max() < 1e-6 * (1 + d**2)


@pytest.mark.parametrize("old", [np.nan, np.inf])
def test_what_an_earlier_batch_left_does_not_matter(old):
    x = np.random.default_rng(0).normal(size=SHAPE).astype("float32")
    function = compiled("float32")
    clean = function(x, np.zeros(3, "float32"))[:6]
    results = function(x, np.full(3, old, "float32"))
    for result, wanted in zip(results[:6], clean, strict=True):
        np.testing.assert_array_equal(result, wanted)
    np.testing.assert_array_equal(results[6], np.full(3, old))


@pytest.mark.parametrize("running", [True, False])
@pytest.mark.parametrize("value", [0.0, 250.5, 1e-30, -3e18])
def test_constant_channels(value, running):
    x = np.full(SHAPE, value, "float32")
    out, mean, invstd, g_x, *_ = compiled("float32", running=running)(x, x[0, :, 0, 0])
    np.testing.assert_allclose(mean, x[0, :, 0, 0])
    np.testing.assert_allclose(out, 1)
    np.testing.assert_allclose(invstd, 1e15, rtol=1e-6)
    assert np.isfinite(g_x).all()


@pytest.mark.slow
def test_nan_stays_in_its_channel_and_empty_batches_are_as_before():
    function = compiled("float64")
    x, old = np.random.default_rng(0).normal(size=SHAPE), np.zeros(3)
    clean = function(x, old)
    x[1, 1, 2, 3] = np.nan
    for result, wanted in zip(function(x, old), clean, strict=True):
        result, wanted = (np.moveaxis(v, 1, 0) if v.ndim == 4 else v for v in (result, wanted))
        np.testing.assert_array_equal(result[::2], wanted[::2])
        assert np.isnan(result[1]).all()
    x = pt.tensor4("x")
    outputs = pt.batch_normalization_train(
        x, old + 1, old, "spatial", 0.25, running_mean=old + 2, running_var=old + 3
    )
    function = pytensor.function([x], outputs, mode=jax_mode(platform="cuda"))
    for result, wanted in zip(function(np.ones((0, 3, 4, 5)))[1:], (0, 2, 2, 3), strict=True):
        np.testing.assert_array_equal(result, np.full(3, wanted))


def passes(dtype, **options):
    """Return the Ops of a function, and what reduces images in the program that XLA gets."""
    function = compiled(dtype, **options)
    shapes = [jax.ShapeDtypeStruct(shape, dtype) for shape in (SHAPE, (3,))]
    text = function.vm.jit_fn.lower(*shapes).as_text()
    images = "x".join(map(str, SHAPE))
    reduced = re.findall(rf"stablehlo.reduce.*: \(tensor<{images}x(.*?)>, ", text)
    return [type(n.op) for n in function.maker.fgraph.apply_nodes], sorted(reduced)


def test_each_image_is_reduced_once_on_the_way_there_and_once_on_the_way_back():
    ops, reduced = passes("float32")
    assert BatchNormalizationTrain not in ops
    assert {Moments, GradientSums, ImageGradient} <= set(ops)
    # Beside the cost's own sum: two sums at a time, as complex numbers
    assert reduced.count("complex<f32>") == 2
    assert len(reduced) <= 3


def block(platform):
    """Return gradients for filters of layers, of which one is split, and the function."""
    x = pt.tensor("x", shape=(2, 3, 6, 10))
    shapes = [(4, 3, 3, 3), (2, 2, 3, 3), (5, 4, 1, 1), (3, 5, 3, 3)]
    filters = [pt.tensor(f"w{i}", shape=shape) for i, shape in enumerate(shapes)]

    def layer(x, weight):
        v = np.ones(weight.type.shape[0])
        x = pt.conv2d(x, weight, border_mode="half")
        return pt.silu(pt.batch_normalization_train(x, v, v, "spatial")[0])

    first, second = pt.split(layer(x, filters[0]), [2, 2], n_splits=2, axis=1)
    h = layer(pt.concatenate([first, layer(second, filters[1])], axis=1), filters[2])
    gradients = pytensor.grad((layer(h, filters[3]) ** 3).sum(), filters)
    function = pytensor.function([x, *filters], gradients, mode=jax_mode(platform=platform))
    rng = np.random.default_rng(0)
    return function, function(*(rng.normal(size=v.type.shape) for v in (x, *filters)))


@pytest.mark.slow
def test_the_backward_pass_keeps_no_activation_and_parts_are_computed_together():
    (function, found), (_, wanted) = block("cuda"), block("cpu")
    for result, value in zip(found, wanted, strict=True):
        np.testing.assert_allclose(result, value, rtol=1e-8, atol=1e-10)
    fgraph = function.maker.fgraph
    for node in fgraph.apply_nodes:
        readers = {type(client.op) for client, _ in fgraph.clients[node.outputs[0]]}
        assert not (isinstance(node.op, Elemwise) and {Conv, ConvGradFilters} <= readers)
    splits = [n for n in fgraph.apply_nodes if isinstance(n.op, Split)]
    of_activations = [n for n in splits if isinstance(n.inputs[0].owner.op, Elemwise)]
    assert len(of_activations) == 1
    for part in of_activations[0].outputs:
        assert {type(client.op) for client, _ in fgraph.clients[part]} == {Barrier}


def test_float16_stays_whole():
    assert BatchNormalizationTrain in passes("float16")[0]


@cache
def of_small_images(platform):
    """Return what is normalized of x, gamma and old statistics, its statistics, two gradients."""
    x = pt.tensor("x", dtype="float32", shape=(None, 5, 2, 1))
    gamma, old = pt.vector("gamma", dtype="float32"), pt.vector("old", dtype="float32")
    outputs = pt.batch_normalization_train(
        x, gamma, gamma, "spatial", running_mean=old, running_var=old
    )
    gradients = pytensor.grad(pt.sum(pt.silu(outputs[0]) * x), [x, gamma])
    mode = jax_mode(platform=platform)
    return pytensor.function([x, gamma, old], [*outputs, *gradients], mode=mode)


@pytest.mark.by_default("62")
@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 2, 37, 62, 64, 1024])
def test_sums_of_small_images_are_the_same_in_parts(batch):
    """Whatever parts the batch is summed in: results and gradients are those of a CPU's form."""
    rng = np.random.default_rng(batch)
    values = [rng.normal(size=s).astype("float32") for s in ((batch, 5, 2, 1), (5,), (5,))]
    wanted, results = (of_small_images(platform)(*values) for platform in ("cpu", "cuda"))
    for result, value in zip(results, wanted, strict=True):
        np.testing.assert_allclose(result, value, rtol=1e-4, atol=1e-5)
