import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from pytensor.gradient import verify_grad
from tests.utils import REFERENCE_MODE

AXES = {"spatial": (0, 2, 3), "per-activation": (0,), (1, 3): (1, 3), (0, 1, 2, 3): (0, 1, 2, 3)}
SHAPE = (3, 2, 4, 5)


def kept_shape(axes, broadcast):
    if broadcast:
        return tuple(1 if a in axes else n for a, n in enumerate(SHAPE))
    return tuple(n for a, n in enumerate(SHAPE) if a not in axes)


def reference(x, gamma, beta, axes, epsilon):
    """Output, mean, inverse deviation and unbiased variance, statistics with axes kept."""
    mean = x.mean(axes, keepdims=True)
    variance = x.var(axes, keepdims=True)
    unbiased = x.var(axes, keepdims=True, ddof=1)
    gamma, beta = gamma.reshape(mean.shape), beta.reshape(mean.shape)
    invstd = 1 / np.sqrt(variance + epsilon)
    return (x - mean) * invstd * gamma + beta, mean, invstd, unbiased


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("broadcast", [True, False])
@pytest.mark.parametrize("axes", AXES)
def test_train_against_numpy(axes, broadcast, static):
    rng = np.random.default_rng(0)
    reduced = AXES[axes]
    shape = kept_shape(reduced, broadcast)
    values = [rng.normal(2, 3, SHAPE), *(rng.normal(size=shape) for _ in range(3))]
    values.append(rng.uniform(1, 2, shape))
    inputs = [pt.tensor(shape=v.shape if static else (None,) * v.ndim) for v in values]
    x, gamma, beta, running_mean, running_var = inputs
    outputs = pt.batch_normalization_train(
        x, gamma, beta, axes, 1e-2, 0.3, running_mean, running_var
    )
    results = pytensor.function(inputs, [*outputs], mode=REFERENCE_MODE)(*values)

    out, mean, invstd, unbiased = reference(*values[:3], reduced, 1e-2)
    statistics = [v.reshape(shape) for v in (mean, invstd, unbiased)]
    expected = [
        out,
        *statistics[:2],
        values[3] * 0.7 + statistics[0] * 0.3,
        values[4] * 0.7 + statistics[2] * 0.3,
    ]
    for variable, result, wanted in zip(outputs, results, expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-10, atol=1e-12)
        if static:
            assert variable.type.shape == wanted.shape


def test_number_of_results():
    x, v = pt.tensor4(), pt.vector()
    assert len(pt.batch_normalization_train(x, v, v, "spatial")) == 3
    assert len(pt.batch_normalization_train(x, v, v, "spatial", running_mean=v)) == 4
    assert len(pt.batch_normalization_train(x, v, v, "spatial", running_var=v)) == 4


def test_single_element_keeps_a_finite_running_variance():
    x, v = np.ones((1, 2, 1, 1)), np.ones(2)
    *_, running_var = pt.batch_normalization_train(x, v, v, "spatial", running_var=v)
    np.testing.assert_allclose(running_var.eval(mode=REFERENCE_MODE), [0.9, 0.9])


@pytest.mark.parametrize("axes", ["spatial", "per-activation", (1, 3)])
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
@pytest.mark.parametrize("used", [(0,), (1,), (2,), (4,), (0, 1, 2, 3, 4)])
def test_train_gradients(used):
    rng = np.random.default_rng(2)
    values = [rng.normal(size=(2, 2, 3, 2)), rng.normal(size=2), rng.normal(size=2)]
    weights = [rng.normal(size=s) for s in [(2, 2, 3, 2), 2, 2, 2, 2]]

    def loss(x, gamma, beta):
        results = pt.batch_normalization_train(
            x, gamma, beta, "spatial", 1e-1, 0.4, np.ones(2), np.ones(2)
        )
        # The zero keeps gamma and beta connected where a statistic is all that counts
        used_terms = [(results[i] ** 2 * weights[i]).sum() for i in used]
        return sum(used_terms) + 0 * (gamma.sum() + beta.sum())

    verify_grad(loss, values, rng=rng, mode=REFERENCE_MODE)


def test_second_order():
    rng = np.random.default_rng(3)
    values = [rng.normal(size=(2, 2, 3)), rng.normal(size=2), rng.normal(size=2)]
    weights = rng.normal(size=(2, 2, 3))

    def first(x, gamma, beta):
        out, mean, *_ = pt.batch_normalization_train(x, gamma, beta, "spatial", 1e-1)
        loss = (out**2 * weights).sum() + (mean**3).sum()
        grads = pytensor.grad(loss, [x, gamma, beta])
        return pt.concatenate([g.ravel() for g in grads])

    verify_grad(first, values, rng=rng, mode=REFERENCE_MODE)


def dtypes_in(variables):
    """Floating dtypes of every variable of a graph, those of inner graphs included."""
    found, pending, seen = set(), list(variables), set()
    while pending:
        v = pending.pop()
        if v in seen:
            continue
        seen.add(v)
        if hasattr(v.type, "dtype") and v.type.dtype.startswith("float"):
            found.add(v.type.dtype)
        if v.owner:
            pending.extend([*v.owner.inputs, *v.owner.outputs])
            if isinstance(v.owner.op, OpFromGraph):
                pending.extend(v.owner.op.inner_outputs)
    return found


@pytest.mark.parametrize("shape", [(3, 2, 4, 5), (None, 2, None, None), (None,) * 4])
def test_float32_throughout(shape):
    x = pt.tensor("x", dtype="float32", shape=shape)
    gamma, beta, mean, var = (pt.vector(n, dtype="float32", shape=shape[1:2]) for n in "abmv")
    train = pt.batch_normalization_train(x, gamma, beta, "spatial", 1e-3, 0.03, mean, var)
    infer = pt.batch_normalization(x, gamma, beta, mean, var, 1e-3)
    for outputs, inputs in [(train, [x, gamma, beta]), ([infer], [x, gamma, beta, mean, var])]:
        loss = sum(out.sum(acc_dtype="float32") for out in outputs)
        gradients = pytensor.grad(loss, inputs)
        assert dtypes_in([*outputs, *gradients]) == {"float32"}


def test_parameters_take_the_dtype_of_the_input():
    x, v = pt.tensor4(dtype="float32"), pt.vector(dtype="float64")
    results = pt.batch_normalization_train(x, v, v, "spatial", running_mean=v, running_var=v)
    assert {r.type.dtype for r in results} == {"float32"}


def test_large_offset():
    # The one-pass formula, mean of squares minus square of mean, would lose everything here
    x = (np.arange(8.0).reshape(2, 1, 4) + 1e6).astype("float32")
    v = np.ones(1, "float32")
    _, _, invstd = pt.batch_normalization_train(x, v, v, "spatial", 0.0)
    np.testing.assert_allclose(
        invstd.eval(mode=REFERENCE_MODE), 1 / np.arange(8.0).std(keepdims=True), rtol=1e-3
    )


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"axes": "channels"}, ValueError, "axes must be 'per-activation', 'spatial'"),
        ({"axes": (0, 4)}, ValueError, "axes must be"),
        ({"axes": (0, 0)}, ValueError, "axes must be"),
        ({"axes": ()}, ValueError, "axes must be"),
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


def test_negative_axes():
    x = pt.tensor("x", shape=SHAPE)
    outs = [
        pt.batch_normalization_train(x, np.ones(SHAPE[1]), np.zeros(SHAPE[1]), axes=axes)[0]
        for axes in [(0, -1, -2), (0, 2, 3)]
    ]
    assert outs[0].owner.op == outs[1].owner.op
    with pytest.raises(ValueError, match="axes must be"):
        pt.batch_normalization_train(x, np.ones(2), np.zeros(2), axes=(1, -3))


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
