"""Clipping, averages, accumulation, and the examples in the docstrings."""

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import pytensor
import pytensor.optimizers
import pytensor.tensor as pt
from pytensor.optimizers import (
    SGD,
    Adam,
    ExponentialMovingAverage,
    GradientAccumulator,
    clip_by_global_norm,
    clip_by_norm,
    clip_by_value,
    merge_updates,
    schedules,
    skip_nonfinite,
)
from tests.utils import compare_jax_and_py, dtypes_of

GRADS = [np.array([[3.0, -4.0, 0.0], [1.0, 2.0, -2.0]]), np.array([0.5, -6.0]), np.array(1.5)]
NORM = np.sqrt(sum(np.sum(g**2) for g in GRADS))


def gradient_inputs(dtype):
    return [pt.tensor(dtype=dtype, shape=g.shape) for g in GRADS], [g.astype(dtype) for g in GRADS]


@pytest.mark.by_default("2.5-float64")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("max_norm", [2.5, 100.0])
def test_clip_by_global_norm(dtype, max_norm, request):
    if dtype == "float32":
        request.getfixturevalue("float32_everywhere")
    inputs, values = gradient_inputs(dtype)
    clipped, norm = clip_by_global_norm(inputs, max_norm)
    *actual, actual_norm = compare_jax_and_py(inputs, [*clipped, norm], values)
    np.testing.assert_allclose(actual_norm, NORM, rtol=1e-6)
    coefficient = min(1, max_norm / (NORM + 1e-6))
    for result, grad in zip(actual, GRADS, strict=True):
        np.testing.assert_allclose(result, grad * coefficient, rtol=1e-6)
    assert dtype == "float64" or "float64" not in dtypes_of([*clipped, norm])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "ranks"),
    [(80, (0, 1, 2, 4)), (40, (0,)), (40, (1,)), (33, (2,))],
)
def test_norm_of_many_gradients(number, ranks):
    """PyTensor's Python code adds 32 numbers at once."""
    rng = np.random.default_rng(6)
    shapes = [(2, 3, 1, 2)[: ranks[k % len(ranks)]] for k in range(number)]
    values = [rng.normal(size=shape) for shape in shapes]
    grads = [pt.tensor(dtype="float64", shape=shape) for shape in shapes]
    _, norm = clip_by_global_norm(grads, 1.0)
    result = pytensor.function(grads, norm, mode="FAST_COMPILE")(*values)
    squares = sum(np.square(value).sum() for value in values)
    np.testing.assert_allclose(result, np.sqrt(squares), rtol=1e-12)


def test_clip_by_norm():
    inputs, values = gradient_inputs("float64")
    results = compare_jax_and_py(inputs, clip_by_norm(inputs, 2.0), values)
    np.testing.assert_allclose([np.linalg.norm(r) for r in results], [2, 2, 1.5], rtol=1e-6)


def test_clip_by_value():
    inputs, values = gradient_inputs("float32")
    results = compare_jax_and_py(inputs, clip_by_value(inputs, 1.5), values)
    for result, grad in zip(results, GRADS, strict=True):
        np.testing.assert_array_equal(result, np.clip(grad, -1.5, 1.5))
    results = compare_jax_and_py(inputs, clip_by_value(inputs, 0.0, 2.0), values)
    np.testing.assert_array_equal(results[0], np.clip(GRADS[0], 0, 2))


def test_clipping_of_large_half_precision():
    """The norm is more than float16 has, and the factor less than it can tell from 0."""
    grad = pt.tensor(dtype="float16", shape=(1000,))
    clipped, norm = clip_by_global_norm([grad], 1.0)
    f = pytensor.function([grad], [*clipped, norm], mode="FAST_COMPILE")
    result, total = f(np.full(1000, 3e4, "float16"))
    assert (result.dtype, total.dtype) == ("float16", "float32")
    np.testing.assert_allclose(total, 3e4 * 1000**0.5, rtol=1e-3)
    np.testing.assert_allclose(result, 1000**-0.5, rtol=1e-3)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("mode", ["FAST_COMPILE", "JAX"])
def test_steps_that_are_not_finite_are_left_out(mode, wrong):
    w = pytensor.shared(np.zeros(2), name="w", shape=(2,))
    skipped = pytensor.shared(np.int32(0), name="skipped")
    grad = pt.vector("grad", shape=(2,))
    clipped, norm = clip_by_global_norm([grad], 1e6)
    optimizer = Adam(0.5)
    updates = skip_nonfinite(optimizer.get_updates([w], clipped), norm, skipped)
    step = pytensor.function([grad], norm, updates=updates, mode=mode)
    step(np.array([1.0, -2.0]))
    before = [np.array(v.get_value()) for v in (w, *optimizer.state.values())]
    assert not np.isfinite(step(np.array([1.0, wrong])))
    for old, variable in zip(before, (w, *optimizer.state.values()), strict=True):
        np.testing.assert_array_equal(variable.get_value(), old)
    step(np.array([1.0, -2.0]))
    assert (int(skipped.get_value()), int(optimizer.state["step"].get_value())) == (1, 2)
    np.testing.assert_allclose(w.get_value(), [-1, 1], rtol=1e-6)


def test_count_of_steps_is_an_integer():
    w = pytensor.shared(np.zeros(2), name="w")
    with pytest.raises(TypeError, match="skipped must be an integer scalar"):
        skip_nonfinite({w: w}, pt.sum(w), w)


@pytest.mark.parametrize(
    ("grads", "max_norm", "error"),
    [([], 1.0, ValueError), (pt.vector(), 1.0, TypeError), ([pt.vector()], -1.0, ValueError)],
)
def test_clipping_errors(grads, max_norm, error):
    with pytest.raises(error, match=r"grads|max_norm"):
        clip_by_global_norm(grads, max_norm)


@pytest.mark.parametrize(
    ("low", "high"), [(np.nan, None), (-1.0, None), (np.nan, 1.0), (0.0, np.nan), (1.0, -1.0)]
)
def test_limits_that_make_no_sense(low, high):
    with pytest.raises(ValueError, match=r"low|high"):
        clip_by_value([pt.vector()], low, high)


@pytest.mark.parametrize("clip", [clip_by_value, clip_by_norm, clip_by_global_norm])
def test_integers_are_not_clipped_to_zero(clip):
    with pytest.raises(TypeError, match=r"grads\[1\] has dtype int64"):
        clip([pt.vector(), pt.lvector()], 0.5)


def test_decay_is_at_most_1():
    w = pytensor.shared(np.ones(2), name="w")
    with pytest.raises(ValueError, match=r"decay must be in \[0, 1\], not 1\.5"):
        ExponentialMovingAverage([w], 1.5)
    updates = ExponentialMovingAverage([w], 1.0).get_updates({w: w + 1})
    (average,) = updates.values()
    np.testing.assert_array_equal(average.eval(mode="FAST_COMPILE"), [1, 1])


def test_average_follows_the_new_values():
    w = pytensor.shared(np.array([1.0, 2.0], dtype="float32"), name="w", shape=(2,))
    mean = pytensor.shared(np.array([4.0], dtype="float32"), name="running_mean")
    count = pytensor.shared(np.int32(0), name="count")
    decay = schedules.saturating(0.9, 2)(count + np.int32(1))
    ema = ExponentialMovingAverage([w, mean], decay)
    updates = merge_updates(
        SGD(0.5).get_updates([w], [pt.ones(2, dtype="float32")]), {count: count + np.int32(1)}
    )
    updates = merge_updates(updates, ema.get_updates(updates))
    assert list(ema.state) == ["w.ema", "running_mean.ema"]
    assert [a.type for a in ema.averages] == [w.type, mean.type]
    step = pytensor.function([], [], updates=updates, mode="JAX")

    value, average = np.array([1.0, 2.0]), np.array([1.0, 2.0])
    for t in (1, 2, 3):
        step()
        value = value - 0.5
        d = 0.9 * (1 - np.exp(-t / 2))
        average = d * average + (1 - d) * value
    np.testing.assert_allclose(ema.averages[0].get_value(), average, rtol=1e-5)
    np.testing.assert_allclose(ema.averages[1].get_value(), [4.0], rtol=1e-6)
    # What is made from a parameter that a step in mode JAX has written is NumPy's again.
    assert isinstance(ExponentialMovingAverage([w], 0.9).averages[0].get_value(), np.ndarray)


@pytest.mark.parametrize("decay", [0.999, 0.9999, 0.99999, 0.999999])
def test_averages_of_constants_do_not_shrink(decay):
    """1 - decay and decay, each rounded to float32, add up to 1 - 2e-8."""
    value = np.random.default_rng(0).normal(1.3, 0.3, 64).astype("float32")
    w = pytensor.shared(value, name="w")
    ema = ExponentialMovingAverage([w], decay)
    step = pytensor.function([], [], updates=ema.get_updates(), mode="FAST_COMPILE")
    for _ in range(500):
        step()
    np.testing.assert_array_equal(ema.averages[0].get_value(), value)


def test_averages_and_sums_of_half_precision_do_not_stand_still():
    w = pytensor.shared(np.ones(2, "float16"), name="w")
    ema = ExponentialMovingAverage([w], 0.999)
    sums = GradientAccumulator([w])
    w.set_value(np.full(2, 2, "float16"))
    updates = merge_updates(ema.get_updates(), sums.add_updates([pt.ones(2, dtype="float16")]))
    step = pytensor.function([], [], updates=updates, mode="FAST_COMPILE")
    for _ in range(3000):
        step()
    np.testing.assert_allclose(ema.averages[0].get_value(), 2 - 0.999**3000, rtol=1e-4)
    np.testing.assert_array_equal(sums.gradients[0].get_value(), [3000, 3000])


def test_accumulated_step_is_the_step_of_the_sum():
    w = pytensor.shared(np.array([[1.0, -1.0]], dtype="float32"), name="w", shape=(1, 2))
    x = pt.tensor("x", dtype="float32", shape=(1, 2))
    sums = GradientAccumulator([w])
    assert [(g.name, g.type) for g in sums.gradients] == [("w.accumulated_gradient", w.type)]
    add = pytensor.function([x], [], updates=sums.add_updates([x * x]), mode="FAST_COMPILE")
    optimizer = SGD(0.5, momentum=0.5)
    updates = optimizer.get_updates([w], sums.gradients)
    updates = merge_updates(updates, sums.reset_updates())
    apply = pytensor.function([], [], updates=updates, mode="FAST_COMPILE")
    for _ in range(2):
        add(np.array([[1, 2]], dtype="float32"))
        add(np.array([[3, 0]], dtype="float32"))
        apply()
        np.testing.assert_array_equal(sums.gradients[0].get_value(), [[0, 0]])
    # gradients (10, 4) twice: buffers (10, 4) and (15, 6)
    np.testing.assert_allclose(w.get_value(), [[1 - 12.5, -1 - 5]])


def test_accumulated_means_are_of_samples():
    w = pytensor.shared(np.zeros(2, "float32"), name="w", shape=(2,))
    x = pt.matrix("x", dtype="float32", shape=(None, 2))
    means = GradientAccumulator([w], mean=True)
    assert list(means.state) == ["w.accumulated_gradient", "accumulated_samples"]
    updates = means.add_updates([x.mean(axis=0, dtype="float32")], samples=x.shape[0])
    add = pytensor.function([x], [], updates=updates, mode="FAST_COMPILE")
    reset = means.reset_updates()
    mean = pytensor.function([], means.gradients, updates=reset, mode="FAST_COMPILE")
    values = np.random.default_rng(0).normal(size=(7, 2)).astype("float32")
    for sizes in ((3, 3, 1), (2, 5)):
        for part in np.split(values, np.cumsum(sizes)[:-1]):
            add(part)
        np.testing.assert_allclose(mean()[0], values.mean(axis=0), rtol=1e-5)
    np.testing.assert_array_equal(mean()[0], [0, 0])


@pytest.mark.parametrize(("mean", "samples"), [(True, None), (False, 3)])
def test_samples_are_of_means(mean, samples):
    w = pytensor.shared(np.zeros(2), name="w")
    with pytest.raises(ValueError, match="samples must be given"):
        GradientAccumulator([w], mean=mean).add_updates([w], samples=samples)
    with pytest.raises(TypeError, match="samples must be an integer, got float64; cast it"):
        GradientAccumulator([w], mean=True).add_updates([w], samples=2.5)


def test_accumulator_checks_gradients():
    w = pytensor.shared(np.zeros(2), name="w")
    with pytest.raises(ValueError, match="parameter w has no gradient"):
        GradientAccumulator([w]).add_updates([None])


MODULES = ["pytensor.optimizers"] + [
    f"pytensor.optimizers.{module.name}"
    for module in pkgutil.iter_modules(pytensor.optimizers.__path__)
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
