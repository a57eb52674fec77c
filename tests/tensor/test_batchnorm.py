import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pytensor
import pytensor.tensor as pt
from pytensor.gradient import verify_grad
from pytensor.tensor.batchnorm import inference_form
from tests.utils import REFERENCE_MODE, compare_mode_and_py, dtypes_of

AXES = {"spatial": (0, 2, 3), "per-activation": (0,), (1, 3): (1, 3)}
SHAPE = (3, 2, 4, 5)


def kept_shape(axes, broadcast):
    if broadcast:
        return tuple(1 if a in axes else n for a, n in enumerate(SHAPE))
    return tuple(n for a, n in enumerate(SHAPE) if a not in axes)


def reference(x, gamma, beta, axes, epsilon, ddof=1):
    """Return output, mean, inverse deviation and variance, statistics with axes kept."""
    mean = x.mean(axes, keepdims=True)
    variance = x.var(axes, keepdims=True)
    running = x.var(axes, keepdims=True, ddof=ddof)
    gamma, beta = gamma.reshape(mean.shape), beta.reshape(mean.shape)
    invstd = 1 / np.sqrt(variance + epsilon)
    return (x - mean) * invstd * gamma + beta, mean, invstd, running


def test_number_of_results():
    x, v = pt.tensor4(), pt.vector()
    assert len(pt.batch_normalization_train(x, v, v, "spatial")) == 3
    assert len(pt.batch_normalization_train(x, v, v, "spatial", running_mean=v)) == 4
    assert len(pt.batch_normalization_train(x, v, v, "spatial", running_var=v)) == 4


def test_single_element_keeps_a_finite_running_variance():
    x, v = np.ones((1, 2, 1, 1)), np.ones(2)
    *_, running_var = pt.batch_normalization_train(x, v, v, "spatial", running_var=v)
    np.testing.assert_allclose(running_var.eval(mode=REFERENCE_MODE), [0.9, 0.9])


@pytest.mark.parametrize("axes", AXES)
def test_inference(axes):
    rng = np.random.default_rng(1)
    shape = kept_shape(AXES[axes], broadcast=False)
    values = [rng.normal(size=SHAPE), *(rng.normal(size=shape) for _ in range(3))]
    values.append(rng.uniform(1, 2, shape))

    def infer(*inputs):
        return pt.batch_normalization(*inputs, epsilon=1e-2, axes=axes)

    full = kept_shape(AXES[axes], broadcast=True)
    _, gamma, beta, mean, variance = [values[0], *(v.reshape(full) for v in values[1:])]
    expected = (values[0] - mean) / np.sqrt(variance + 1e-2) * gamma + beta
    for arguments in (values, [values[0], gamma, beta, mean, variance]):
        out = infer(*arguments)
        assert out.type.shape == SHAPE
        np.testing.assert_allclose(out.eval(mode=REFERENCE_MODE), expected, rtol=1e-12)
    verify_grad(infer, values, rng=rng, mode=REFERENCE_MODE)


# Which results the loss looks at; running statistics count too
@pytest.mark.parametrize(("used", "ddof"), [((0, 1, 2, 3, 4), 0), ((3,), 1), ((4,), 1)])
def test_train_gradients(used, ddof):
    rng = np.random.default_rng(2)
    values = [rng.normal(size=(2, 2, 3, 2)), *rng.normal(size=(4, 2))]
    weights = [rng.normal(size=s) for s in [(2, 2, 3, 2), 2, 2, 2, 2]]

    def loss(x, gamma, beta, *running):
        results = pt.batch_normalization_train(
            x, gamma, beta, "spatial", 1e-1, 0.4, *running, running_var_ddof=ddof
        )
        # The zero keeps parameters connected where a statistic is all that counts
        used_terms = [(results[i] ** 2 * weights[i]).sum() for i in used]
        return sum(used_terms) + 0 * sum(p.sum() for p in (gamma, beta, *running))

    verify_grad(loss, values, rng=rng, mode=REFERENCE_MODE)


@pytest.mark.parametrize("shape", [(3, 2, 4, 5), (None, 2, None, None), (None,) * 4])
def test_float32_throughout(shape):
    x = pt.tensor("x", dtype="float32", shape=shape)
    gamma, beta, mean, var = (pt.vector(n, dtype="float32", shape=shape[1:2]) for n in "abmv")
    train = pt.batch_normalization_train(x, gamma, beta, "spatial", 1e-3, 0.03, mean, var)
    infer = pt.batch_normalization(x, gamma, beta, mean, var, 1e-3)
    for outputs, inputs in [(train, [x, gamma, beta]), ([infer], [x, gamma, beta, mean, var])]:
        loss = sum(out.sum(acc_dtype="float32") for out in outputs)
        gradients = pytensor.grad(loss, inputs)
        floats = {d for d in dtypes_of([*outputs, *gradients]) if d.startswith("float")}
        assert floats == {"float32"}


def test_parameters_take_the_dtype_of_the_input():
    x, v = pt.tensor4(dtype="float32"), pt.vector(dtype="float64")
    results = pt.batch_normalization_train(x, v, v, "spatial", running_mean=v, running_var=v)
    assert {r.type.dtype for r in results} == {"float32"}


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"axes": "channels"}, ValueError, "axes must be 'per-activation', 'spatial'"),
        ({"axes": (0, 4)}, ValueError, "axes must be"),
        ({"axes": (0, 0)}, ValueError, "axes must be"),
        ({"axes": (1, -3)}, ValueError, "axes must be"),
        ({"axes": ()}, ValueError, "axes must be"),
        ({"axes": (True,)}, ValueError, "axes must be"),
        ({"axes": 1.0}, ValueError, "axes must be"),
        ({"x": np.float64(1), "axes": "per-activation"}, ValueError, "1 axis or more, got 0"),
        ({"epsilon": -1e-3}, ValueError, "epsilon must be"),
        ({"epsilon": "1"}, ValueError, "epsilon must be"),
        ({"gamma": np.ones(3)}, ValueError, "gamma has length 3 where axis 1 of the input has 2"),
        ({"beta": np.ones((2, 2))}, ValueError, "beta must have 1 axes"),
        ({"gamma": np.ones((1, 2, 4, 1))}, ValueError, "gamma must have length 1 along"),
        ({"x": np.ones(SHAPE, "int64")}, TypeError, "input must be floating point, got int64"),
    ],
)
def test_bad_input(change, error, message):
    arguments = {"x": np.ones(SHAPE), "gamma": np.ones(2), "beta": np.ones(2), "axes": "spatial"}
    arguments |= change
    with pytest.raises(error, match=message) as raised:
        pt.batch_normalization(**arguments, mean=np.ones(2), variance=np.ones(2))
    assert "\n" not in str(raised.value)
    with pytest.raises(error, match=message):
        pt.batch_normalization_train(inputs=arguments.pop("x"), **arguments)


def test_half_precision_counts_beyond_its_range():
    """66,000 elements: more than float16 can count."""
    x = pt.tensor("x", dtype="float16", shape=(None, 2))
    gamma, beta = np.ones(2, "float16"), np.zeros(2, "float16")
    out, mean, *_ = pt.batch_normalization_train(x, gamma, beta, (0,))
    gradient = pytensor.grad(pt.sum(out[:4] + mean), x)
    assert {v.type.dtype for v in (out, mean, gradient)} == {"float16"}
    value = np.random.default_rng(0).normal(3, 1, (66_000, 2)).astype("float16")
    results = pytensor.function([x], [out, mean, gradient], mode=REFERENCE_MODE)(value)
    np.testing.assert_allclose(results[1], 3, atol=0.02)
    np.testing.assert_allclose(results[0].astype(float).std(), 1, atol=0.02)
    assert all(np.isfinite(r).all() for r in results)


def test_gradients_of_half_precision_with_a_variance_beyond_its_range():
    value = np.array([[-1000.0], [500.0], [700.0]])
    gradients = []
    for dtype in ("float16", "float64"):
        x, gamma, beta = (pt.constant(v, dtype=dtype) for v in (value, np.ones(1), np.zeros(1)))
        out, *_ = pt.batch_normalization_train(x, gamma, beta, (0,))
        cost = (out * np.array([[1], [2], [4]], dtype)).sum(dtype="float32")
        f = pytensor.function([], pytensor.grad(cost, [x, gamma]), mode=REFERENCE_MODE)
        gradients.append(f())
    for half, double in zip(*gradients, strict=True):
        np.testing.assert_allclose(half, double, rtol=0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"running_average_factor": 1.5}, "running_average_factor must be a number from 0 to 1"),
        ({"running_average_factor": np.nan}, "running_average_factor must be"),
        ({"running_average_factor": None}, "running_average_factor must be"),
        ({"running_var_ddof": 2}, "running_var_ddof must be 0 or 1, got 2"),
        ({"running_mean": np.ones(3)}, "running_mean has length 3 where axis 1"),
        ({"running_var": np.ones((1, 3, 1, 1))}, "running_var has length 3 where axis 1"),
    ],
)
def test_bad_arguments_for_training(change, message):
    with pytest.raises(ValueError, match=message):
        pt.batch_normalization_train(np.ones(SHAPE), np.ones(2), np.ones(2), "spatial", **change)


def training_values(shape, axes):
    rng = np.random.default_rng(7)
    kept = [n for a, n in enumerate(shape) if a not in axes]
    return [rng.normal(1, 2, shape), *(rng.uniform(0.5, 2, kept) for _ in range(4))]


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "static"), [("CVM", False), ("JAX", True)])
@pytest.mark.parametrize("shape", [(0, 2, 4), (3, 2, 0), (3, 0, 4), (1, 2, 1)])
def test_empty_and_single(shape, mode, static):
    """An empty batch has mean and variance 0, and changes no running statistics."""
    if mode == "JAX":
        pytest.importorskip("jax")
    values = training_values(shape, (0, 2))
    inputs = [pt.tensor(shape=v.shape if static else (None,) * v.ndim) for v in values]
    outputs = pt.batch_normalization_train(*inputs[:3], (0, 2), 0.1, 0.3, *inputs[3:])
    gradients = pytensor.grad(sum((out**3).sum() for out in outputs), inputs)
    results = compare_mode_and_py(
        mode, inputs, [*outputs, *gradients], values, rtol=1e-9, atol=1e-12
    )
    assert all(np.isfinite(v).all() for v in results)
    out, mean, invstd, new_mean, new_var = results[:5]
    assert out.shape == shape
    if 0 in shape:
        np.testing.assert_array_equal(mean, np.zeros(shape[1]))
        np.testing.assert_allclose(invstd, 1 / np.sqrt(np.full(shape[1], 0.1)))
        np.testing.assert_array_equal(new_mean, values[3])
        np.testing.assert_array_equal(new_var, values[4])
    else:
        np.testing.assert_allclose(new_var, values[4] * 0.7)


@st.composite
def shapes_and_axes(draw):
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=5, min_side=1, max_side=3))
    rank = len(shape)
    some = st.sets(st.integers(0, rank - 1), min_size=1).map(sorted)
    axes = draw(some)
    signed = [a - rank * draw(st.booleans()) for a in axes]
    return shape, tuple(axes), tuple(draw(st.permutations(signed)))


@pytest.mark.slow
@given(shapes_and_axes(), st.booleans(), st.booleans(), st.sampled_from([0, 1]))
@settings(max_examples=40, deadline=None)
def test_any_shape_and_axes(case, static, broadcast, ddof):
    shape, axes, given_axes = case
    size = np.prod([shape[a] for a in axes])
    values = training_values(shape, axes)
    full = [1 if a in axes else n for a, n in enumerate(shape)]
    if broadcast:
        values[1:] = [v.reshape(full) for v in values[1:]]
    inputs = [pt.tensor(shape=v.shape if static else (None,) * v.ndim) for v in values]
    outputs = pt.batch_normalization_train(
        *inputs[:3], given_axes, 0.1, 0.25, *inputs[3:], running_var_ddof=ddof
    )
    infer = pt.batch_normalization(*inputs, epsilon=0.1, axes=given_axes)
    with pytensor.config.change_flags(cxx=""):
        results = pytensor.function(inputs, [*outputs, infer], mode=REFERENCE_MODE)(*values)
    x, *parameters = values
    gamma, beta, mean, var = (v.reshape(full) for v in parameters)
    own = 0.0 if size == 1 else x.var(axes, keepdims=True, ddof=ddof)
    out, own_mean, invstd, _ = reference(x, gamma, beta, axes, 0.1, 0)
    expected = [
        out,
        own_mean,
        invstd,
        mean * 0.75 + own_mean * 0.25,
        var * 0.75 + own * 0.25,
        (x - mean) / np.sqrt(var + 0.1) * gamma + beta,
    ]
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, wanted.reshape(result.shape), rtol=1e-10, atol=1e-12)
    if static:
        assert [v.type.shape for v in (*outputs, infer)] == [result.shape for result in results]


def test_nan_and_infinity_stay_in_their_channel():
    x = pt.tensor("x", shape=(None, 4, None))
    four = [np.full(4, v) for v in (2.0, 1.0, 0.5, 3.0)]
    train = pt.batch_normalization_train(x, *four[:2], "spatial", 0.1, 0.1, *four[2:])
    outputs = [pt.batch_normalization(x, *four), *train]
    compiled = pytensor.function([x], outputs, mode=REFERENCE_MODE)
    value = np.random.default_rng(0).normal(size=(3, 4, 5))
    clean = compiled(value)
    value[0, 1, 2], value[1, 2, 0] = np.nan, np.inf
    with np.errstate(invalid="ignore"):
        results = compiled(value)
    for result, wanted in zip(results, clean, strict=True):
        axis = 1 if result.ndim == 3 else 0
        for channel in (0, 3):
            np.testing.assert_array_equal(result.take(channel, axis), wanted.take(channel, axis))
    # With given statistics nothing spreads at all
    assert np.isfinite(results[0]).sum() == value.size - 2
    assert all(np.isnan(results[1][:, 1]).ravel())


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_constant_input(dtype):
    x = pt.tensor("x", shape=(None, 2, None), dtype=dtype)
    gamma, beta = np.array([2, 3], dtype), np.array([0.5, -1], dtype)
    outputs = pt.batch_normalization_train(
        x, gamma, beta, "spatial", 0.25, running_var=np.ones(2, dtype)
    )
    gradient = pytensor.grad(pt.sum(outputs[0] ** 2, dtype=dtype), x)
    # 1000 such numbers are beyond what half precision counts
    value = np.full((10, 2, 100), 250.5, dtype)
    with np.errstate(all="raise", under="ignore"):
        out, mean, invstd, var, g = pytensor.function(
            [x], [*outputs, gradient], mode=REFERENCE_MODE
        )(value)
    np.testing.assert_array_equal(out, np.broadcast_to(beta[:, None], value.shape))
    np.testing.assert_array_equal(mean, [250.5, 250.5])
    np.testing.assert_array_equal(invstd, [2, 2])
    np.testing.assert_allclose(var, [0.9, 0.9], rtol=1e-3)
    assert np.isfinite(g).all()


def test_huge_mean_in_single_precision():
    rng = np.random.default_rng(5)
    value = (rng.normal(size=(4, 3, 20)) + 1e4).astype("float32")
    x = pt.tensor("x", shape=value.shape, dtype="float32")
    v = np.ones(3, "float32")
    out, _, invstd = pt.batch_normalization_train(x, v, v, "spatial", 1e-5)
    weight = rng.normal(size=value.shape)
    gradient = pytensor.grad(pt.sum(out * weight.astype("float32"), dtype="float32"), x)
    results = pytensor.function([x], [out, invstd, gradient], mode=REFERENCE_MODE)(value)
    x64 = value.astype("float64")
    expected, _, wanted, _ = reference(x64, np.ones(3), np.ones(3), (0, 2), 1e-5)
    normalized = expected - 1
    g = wanted * (
        weight
        - weight.mean((0, 2), keepdims=True)
        - normalized * (weight * normalized).mean((0, 2), keepdims=True)
    )
    np.testing.assert_allclose(results[0], expected, atol=2e-3)
    np.testing.assert_allclose(results[1], wanted.ravel(), rtol=1e-5)
    np.testing.assert_allclose(results[2], g, atol=2e-3)


def test_inference_form_of_one_output_and_of_several():
    x = pt.tensor("x", shape=(None, 2, None))
    one, two = np.ones(2), np.full(2, 2.0)
    out, mean, _, new_mean, new_var = pt.batch_normalization_train(
        x, one, one, "spatial", 0.1, running_mean=one, running_var=two
    )
    single = inference_form(pt.exp(out))
    several = inference_form([out, mean, new_mean, new_var])
    value = np.random.default_rng(0).normal(size=(3, 2, 4))
    expected = (value - 1) / np.sqrt(2 + 0.1) + 1
    results = pytensor.function([x], [single, *several], mode=REFERENCE_MODE)(value)
    np.testing.assert_allclose(results[0], np.exp(expected))
    np.testing.assert_allclose(results[1], expected)
    np.testing.assert_allclose(results[2], value.mean((0, 2)))
    np.testing.assert_array_equal(results[3:], [one, two])
    # The graph given is as it was
    assert out.eval({x: value}, mode=REFERENCE_MODE).std() == pytest.approx(1, rel=0.2)
    assert inference_form(x) is x
