import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pytensor
import pytensor.tensor as pt
from tests.utils import (
    REFERENCE_MODE,
    TOLERANCES,
    compare_jax_and_py,
)

RNG = np.random.default_rng(3)
SHAPE = (2, 6, 3, 5)
X = RNG.normal(2, 3, size=SHAPE)


def over(x, axes, epsilon, centre=True):
    x = x.astype("longdouble")
    if centre:
        x = x - x.mean(axes, keepdims=True)
    return x / np.sqrt((x * x).mean(axes, keepdims=True) + epsilon)


def in_groups(x, epsilon):
    return over(x.reshape(2, 3, 2, 3, 5), (2, 3, 4), epsilon).reshape(SHAPE)


def per_channel(parameter):
    return parameter[:, None, None]


# Of variables; of arrays, without the parameters; the parameters' shape, and how they broadcast
CASES = {
    "layer": (
        lambda x, *p: pt.nn.layer_norm(x, x.type.shape[-1:], *p, eps=0.1),
        lambda x: over(x, (3,), 0.1),
        (5,),
        lambda p: p,
    ),
    "layer_over_two": (
        lambda x, *p: pt.nn.layer_norm(x, x.type.shape[2:], *p, eps=0.1),
        lambda x: over(x, (2, 3), 0.1),
        (3, 5),
        lambda p: p,
    ),
    "layer_over_all": (
        lambda x, *p: pt.nn.layer_norm(x, x.type.shape[-4:], *p, eps=0.1),
        lambda x: over(x, (0, 1, 2, 3), 0.1),
        SHAPE,
        lambda p: p,
    ),
    "rms": (
        lambda x, scale=None, bias=0: pt.nn.rms_norm(x, x.type.shape[-2:], scale, eps=0.1) + bias,
        lambda x: over(x, (2, 3), 0.1, centre=False),
        (3, 5),
        lambda p: p,
    ),
    "instance": (
        lambda x, *p: pt.nn.instance_norm(x, None, None, *p, eps=0.1),
        lambda x: over(x, (2, 3), 0.1),
        (6,),
        per_channel,
    ),
    "group": (
        lambda x, *p: pt.nn.group_norm(x, 3, *p, eps=0.1),
        lambda x: in_groups(x, 0.1),
        (6,),
        per_channel,
    ),
}


def values_of(name, dtype="float64"):
    shape = CASES[name][2]
    return [v.astype(dtype) for v in (X, RNG.uniform(0.5, 2, shape), RNG.normal(size=shape))]


def graph(name, dtype="float64", static=True):
    """Return inputs, the normalized output, and gradients of a cost of every place."""
    shapes = (SHAPE, CASES[name][2], CASES[name][2])
    inputs = [
        pt.tensor(label, shape=shape if static else (None,) * len(shape), dtype=dtype)
        for label, shape in zip(("x", "scale", "bias"), shapes, strict=True)
    ]
    out = CASES[name][0](*inputs)
    weight = pt.constant(np.linspace(-1, 2, X.size).reshape(SHAPE).astype(dtype))
    cost = (out * weight).sum(dtype=dtype)
    return inputs, [out, *pytensor.grad(cost, inputs)]


@pytest.mark.parametrize(
    ("dtype", "static"), [("float16", True), ("float32", False), ("float64", False)]
)
@pytest.mark.parametrize("name", CASES)
def test_values(name, static, dtype):
    inputs, (out, *_) = graph(name, dtype, static)
    assert out.type.dtype == dtype
    assert out.type.shape == inputs[0].type.shape
    values = values_of(name, dtype)
    result = pytensor.function(inputs, out, mode=REFERENCE_MODE)(*values)
    x, scale, bias = (v.astype("float64") for v in values)
    _, reference, _, spread = CASES[name]
    tolerance = {"float16": 3e-3, "float32": 3e-6, "float64": 1e-13}[dtype]
    expected = (reference(x) * spread(scale) + spread(bias)).astype("float64")
    np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


def test_batch_norm_without_parameters():
    """Also where only run time knows the number of channels."""
    axes = {"axis": (0, 2, 3), "keepdims": True}
    expected = (X - X.mean(**axes)) / np.sqrt(X.var(**axes) + 1e-5)
    for shape in (SHAPE, (None,) * 4):
        x = pt.tensor("x", shape=shape, dtype="float64")
        y, *_ = pt.nn.batch_norm(x, None, None, training=True)
        np.testing.assert_allclose(y.eval({x: X}, mode=REFERENCE_MODE), expected, rtol=1e-12)


@pytest.mark.slow
def test_jax_mode():
    """The parameters' gradients keep float32, which mode JAX makes float64."""
    pytest.importorskip("jax")
    from pytensor.link.jax import jax_mode

    inputs, outputs = graph("layer_over_two", "float32", True)
    values = values_of("layer_over_two", "float32")
    compare_jax_and_py(inputs, outputs, values, jax_mode=jax_mode())


@pytest.mark.parametrize("name", CASES)
def test_half_precision_does_not_overflow(name):
    x = pt.tensor("x", shape=SHAPE, dtype="float16")
    # 300**2 is beyond 65504, and so is the sum of 300 over all places
    value = (X * 100).astype("float16")
    out = CASES[name][0](x)
    result = pytensor.function([x], out, mode=REFERENCE_MODE)(value)
    expected = CASES[name][1](value.astype("float64"))
    rtol, atol = TOLERANCES["float16"]
    np.testing.assert_allclose(result, expected.astype("float64"), rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", [name for name in CASES if name != "rms"])
def test_large_mean(name):
    # The mean of squares, less the square of the mean, would have no digit left
    x = pt.tensor("x", shape=SHAPE, dtype="float32")
    value = (X + 1e4).astype("float32")
    result = pytensor.function([x], CASES[name][0](x), mode=REFERENCE_MODE)(value)
    expected = CASES[name][1](value).astype("float64")
    np.testing.assert_allclose(result, expected, atol=2e-3)


@pytest.mark.parametrize("shape", [(0, 6, 3), (2, 6, 0), (2, 0, 3)])
def test_empty(shape):
    x = pt.tensor3("x")
    outputs = [
        pt.nn.layer_norm(x, x.type.shape[-1:]),
        pt.nn.rms_norm(x, x.type.shape[-1:]),
        pt.nn.instance_norm(x),
        pt.nn.group_norm(x, 2),
    ]
    with np.errstate(invalid="ignore"):
        results = pytensor.function([x], outputs, mode=REFERENCE_MODE)(np.ones(shape))
    assert {result.shape for result in results} == {shape}


@pytest.mark.parametrize("shape", [(0, 6, 3), (2, 6, 0)])
def test_gradient_of_empty_groups(shape):
    x = pt.tensor3("x")
    gradient = pytensor.grad(pt.nn.group_norm(x, 2).sum(), x)
    f = pytensor.function([x], gradient, mode=REFERENCE_MODE)
    assert f(np.ones(shape)).shape == shape


def test_constant_examples_are_zero():
    x = pt.full((2, 6, 3), 7.25)
    for out in (
        pt.nn.layer_norm(x, x.type.shape[-1:]),
        pt.nn.instance_norm(x),
        pt.nn.group_norm(x, 2),
        pt.nn.rms_norm(x * 0, 3),
    ):
        np.testing.assert_array_equal(out.eval(mode=REFERENCE_MODE), np.zeros((2, 6, 3)))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x, p: pt.nn.layer_norm(x, ()), "the lengths of the last of the input's 4 axes"),
        (lambda x, p: pt.nn.layer_norm(x, 5.0), "normalized_shape must be an int, or"),
        (lambda x, p: pt.nn.layer_norm(x, (3, 4)), r"is \(3, 4\), .* have shape \(3, 5\)"),
        (lambda x, p: pt.nn.layer_norm(x, 5, p), r"weight must have shape \(5,\), .* got \(4,\)"),
        (lambda x, p: pt.nn.layer_norm(x, 5, None, p), r"bias must have shape"),
        (lambda x, p: pt.nn.rms_norm(x, (3, 5), p), r"weight must have shape \(3, 5\)"),
        (lambda x, p: pt.nn.instance_norm(x, weight=p), r"weight must have shape \(6,\)"),
        (lambda x, p: pt.nn.instance_norm(x, p), "give running_mean and running_var"),
        (lambda x, p: pt.nn.batch_norm(x, None, None), "unless training=True"),
        (lambda x, p: pt.nn.batch_norm(x, p, p), r"running_mean must have shape \(6,\)"),
        (lambda x, p: pt.nn.batch_norm(x, None, None, training=True, momentum=2), "momentum must"),
        (lambda x, p: pt.nn.instance_norm(x[0, 0]), "3 axes or more, got 2"),
        (lambda x, p: pt.nn.group_norm(x, 4), r"divide the number of channels \(6\), got 4"),
        (lambda x, p: pt.nn.group_norm(x, 0), "at least 1"),
        (lambda x, p: pt.nn.group_norm(x, 2.0), "must be an int"),
        (lambda x, p: pt.nn.group_norm(x, 2, eps=-1), "eps must be"),
        (lambda x, p: pt.nn.rms_norm(x, 5, eps=np.nan), "eps must be"),
    ],
)
def test_bad_arguments(function, message):
    x = pt.tensor("x", shape=SHAPE, dtype="float64")
    p = pt.tensor("p", shape=(4,), dtype="float64")
    with pytest.raises(ValueError, match=message):
        function(x, p)


def test_integers_are_refused():
    with pytest.raises(TypeError, match="floating point, got int64"):
        pt.nn.layer_norm([1, 2], 2)


def test_number_of_channels_is_checked_at_run_time():
    x = pt.tensor3("x")
    f = pytensor.function([x], pt.nn.group_norm(x, 4), mode=REFERENCE_MODE)
    with pytest.raises(ValueError, match="reshape"):
        f(np.ones((2, 6, 3)))


@pytest.mark.parametrize("name", [name for name in CASES if name != "layer_over_all"])
def test_nan_and_infinity_stay_in_their_example(name):
    x = pt.tensor("x", shape=SHAPE)
    compiled = pytensor.function([x], CASES[name][0](x), mode=REFERENCE_MODE)
    clean = compiled(X)
    for bad in (np.nan, np.inf):
        value = X.copy()
        value[1, 2, 0, 3] = bad
        with np.errstate(invalid="ignore"):
            result = compiled(value)
        np.testing.assert_array_equal(result[0], clean[0])
        assert not np.isfinite(result[1]).all()
        # Channels 2 and 3 are a group; statistics over the last axes aside, others are as they were
        np.testing.assert_array_equal(result[1, [0, 1, 4, 5]], clean[1, [0, 1, 4, 5]])


@pytest.mark.slow
@given(
    hnp.array_shapes(min_dims=2, max_dims=4, max_side=4),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.data(),
)
@settings(max_examples=40, deadline=None)
def test_any_shape(shape, static, scaled, shifted, data):
    groups = data.draw(st.sampled_from([n for n in range(1, 5) if shape[1] % n == 0]))
    axis = data.draw(st.integers(0, len(shape) - 1))
    rng = np.random.default_rng(len(shape))
    value = rng.normal(1, 2, shape)
    last, channels = (
        [rng.normal(size=n) if given else None for given in (scaled, shifted)]
        for n in (shape[axis:], shape[1:2])
    )
    x = pt.tensor("x", shape=shape if static else (None,) * len(shape))
    after = tuple(range(axis, len(shape)))
    grouped = value.reshape(shape[0], groups, -1)
    lengths = x.type.shape[axis:]
    cases = [
        (pt.nn.layer_norm(x, lengths, *last, eps=0.1), over(value, after, 0.1), last),
        (
            pt.nn.rms_norm(x, lengths, last[0], eps=0.1),
            over(value, after, 0.1, centre=False),
            [last[0], None],
        ),
        (
            pt.nn.group_norm(x, groups, *channels, eps=0.1),
            over(grouped, (2,), 0.1).reshape(shape),
            [p if p is None else p.reshape(-1, *[1] * (len(shape) - 2)) for p in channels],
        ),
    ]
    with pytensor.config.change_flags(cxx=""):
        compiled = pytensor.function([x], [out for out, *_ in cases], mode=REFERENCE_MODE)
        results = compiled(value)
    for result, (_, expected, (scale, bias)) in zip(results, cases, strict=True):
        expected = expected * (1 if scale is None else scale) + (0 if bias is None else bias)
        np.testing.assert_allclose(result, expected.astype("float64"), rtol=1e-10, atol=1e-11)


OVER_ONE = {
    "layer": (lambda x: pt.nn.layer_norm(x, (1, 1)), (1, 4, 1, 1)),
    "instance": (pt.nn.instance_norm, (1, 4, 1, 1)),
    "group": (lambda x: pt.nn.group_norm(x, 4), (1, 4, 1, 1)),
    "group_of_rows": (lambda x: pt.nn.group_norm(x, 4), (1, 4)),
    "batch": (lambda x: pt.nn.batch_norm(x, None, None, training=True)[0], (1, 4, 1, 1)),
}


@pytest.mark.parametrize("mode", ["FAST_COMPILE", "jax_mode", "ONNX"])
@pytest.mark.parametrize("name", OVER_ONE)
def test_what_is_not_a_number_stays_so_over_one_element(name, mode):
    function, shape = OVER_ONE[name]
    if mode == "jax_mode":
        mode = pytest.importorskip("pytensor.link.jax.mode").jax_mode()
    value = np.array([np.nan, np.inf, -np.inf, 2.0])
    x = pt.tensor("x", shape=shape)
    outputs = [function(x), pytensor.grad(function(x).sum(), x)]
    y, gradient = pytensor.function([x], outputs, mode=mode)(value.reshape(shape))
    np.testing.assert_array_equal(np.ravel(y), [np.nan, np.nan, np.nan, 0])
    assert np.ravel(gradient)[3] == 0
