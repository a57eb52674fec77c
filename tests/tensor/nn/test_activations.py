
import numpy as np
import pytest
from scipy import special

import pytensor
import pytensor.tensor as pt
from pytensor.gradient import verify_grad
from pytensor.tensor.nn.activations import slopes_below_zero
from tests.catalogue.operators import OPERATORS
from tests.utils import REFERENCE_MODE

# Of CVM; and without a compiler PyTensor fuses no more than 31 operands, whatever the mode.
pytestmark = pytest.mark.usefixtures("compiler")


def normal(x):
    return special.ndtr(x), np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)


def gelu_tanh(x):
    u = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
    slope = np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x**2)
    # 1 + tanh(u), without the cancellation
    half = special.expit(2 * u)
    return x * half, half + 2 * x * slope * half * special.expit(-2 * u)


def mish(x):
    softplus = np.logaddexp(0, x)
    tanh = np.tanh(softplus)
    return x * tanh, tanh + x * special.expit(x) / np.cosh(np.minimum(softplus, 300)) ** 2


# Klambauer et al., appendix A.1: the fixed point of mean 0 and variance 1
GAMMA, ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717

# Of an array: what an activation of the catalogue gives, and its derivative
REFERENCES = {
    "gelu": lambda x: (x * normal(x)[0], normal(x)[0] + x * normal(x)[1]),
    "gelu, tanh": gelu_tanh,
    "hardsigmoid, other slope": lambda x: (
        np.clip(0.3 * x + 0.4, 0, 1),
        np.where((x > -4 / 3) & (x < 2), 0.3, 0),
    ),
    "hardswish": lambda x: (
        x * np.clip(x / 6 + 0.5, 0, 1),
        np.select([x <= -3, x >= 3], [0, 1], x / 3 + 0.5),
    ),
    "elu": lambda x: (
        np.where(x > 0, x, 1.5 * np.expm1(np.minimum(x, 0))),
        np.where(x > 0, 1, 1.5 * np.exp(np.minimum(x, 0))),
    ),
    "leaky_relu": lambda x: (np.where(x < 0, 0.1 * x, x), np.where(x > 0, 1, 0.1)),
    "selu": lambda x: (
        np.where(x > 0, GAMMA * x, GAMMA * ALPHA * np.expm1(np.minimum(x, 0))),
        np.where(x > 0, GAMMA, GAMMA * ALPHA * np.exp(np.minimum(x, 0))),
    ),
    "relu": lambda x: (np.maximum(x, 0), (x > 0) * 1.0),
    "prelu, one slope": lambda x: (np.where(x < 0, 0.3 * x, x), np.where(x > 0, 1, 0.3)),
    "relu6": lambda x: (np.clip(x, 0, 6), ((x > 0) & (x < 6)) * 1.0),
    "mish": mish,
    "softsign": lambda x: (x / (1 + abs(x)), (1 + abs(x)) ** -2.0),
    "silu": lambda x: (
        x * special.expit(x),
        special.expit(x) * (1 + x * special.expit(-x)),
    ),
}
ACTIVATIONS = {name: (OPERATORS[name].build, of) for name, of in REFERENCES.items()}
PLACES = [-1e4, -88, -20, -5.5, -3, -1.4, -1e-4, 0, 1e-4, 0.7, 1.9, 3, 5.9, 6, 20, 88, 1e4]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "mode"),
    [("float16", "CVM"), ("float32", REFERENCE_MODE), ("float64", REFERENCE_MODE)],
)
@pytest.mark.filterwarnings("ignore:Disabling C code")
def test_activations(dtype, mode):
    x = pt.vector("x", dtype=dtype)
    outs = [function(x) for function, _ in ACTIVATIONS.values()]
    gradients = [pytensor.grad(out.sum(dtype=dtype), x) for out in outs]
    assert {v.type.dtype for v in (*outs, *gradients)} == {dtype}
    value = np.array(PLACES).astype(dtype)
    results = pytensor.function([x], [*outs, *gradients], mode=mode)(value)
    expected = [reference(value.astype("float64")) for _, reference in ACTIVATIONS.values()]
    rtol, atol = {"float16": (1e-3, 1e-6), "float32": (5e-6, 1e-12), "float64": (2e-14, 1e-16)}[
        dtype
    ]
    # The slope of silu is computed by several Ops, each of which rounds
    rounded = {"float16": 2e-3, "float32": 2e-6, "float64": 1e-14}[dtype]
    wanted = [v for v, _ in expected] + [g for _, g in expected]
    names = [*ACTIVATIONS, *(f"gradient of {name}" for name in ACTIVATIONS)]
    for name, result, reference_value in zip(names, results, wanted, strict=True):
        assert result.dtype == dtype
        allowed = rounded if name.endswith("silu") else atol
        np.testing.assert_allclose(result, reference_value, rtol=rtol, atol=allowed, err_msg=name)


@pytest.mark.parametrize(
    ("mode", "dtype"), [(REFERENCE_MODE, "int8"), ("FAST_COMPILE", "uint8"), ("CVM", "int64")]
)
def test_activations_of_integers(mode, dtype):
    x = pt.vector("x", dtype=dtype)
    outs = [function(x) for function, _ in ACTIVATIONS.values()]
    value = np.array([0, 1, 1]).astype(dtype)
    if dtype.startswith("int"):
        value[1:] = -2, 3
    results = pytensor.function([x], outs, mode=mode)(value)
    for result, out, (_, reference) in zip(results, outs, ACTIVATIONS.values(), strict=True):
        assert result.dtype == out.type.dtype
        # NumPy's own rounding to half precision
        rtol = 2e-3 if result.dtype == "float16" else 1e-5
        np.testing.assert_allclose(result, reference(value.astype("float64"))[0], rtol=rtol)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_are_finite(name):
    x = pt.vector("x", dtype="float64")
    out = ACTIVATIONS[name][0](x)
    f = pytensor.function([x], [out, pytensor.grad(out.sum(), x)], mode=REFERENCE_MODE)
    assert np.isfinite(f([1e30, -1e30, 1e300, -1e300])).all()
    assert np.isnan(f([np.nan])[0]).all()


@pytest.mark.slow
def test_second_derivatives_are_finite():
    x = pt.fvector("x")
    seconds = []
    for function, _ in ACTIVATIONS.values():
        first = pytensor.grad(function(x).sum(), x)
        seconds.append(pytensor.grad(first.sum(), x))
    value = np.array(PLACES, "float32")
    results = pytensor.function([x], seconds, mode=REFERENCE_MODE)(value)
    for name, result in zip(ACTIVATIONS, results, strict=True):
        assert np.isfinite(result).all(), name
        # All of them are straight lines, or nearly so, far from zero
        far = np.abs(value.astype("float64")) >= 88
        np.testing.assert_allclose(np.asarray(result)[far], 0, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("shapes", [((2, 3), ()), ((1, 3), (2, 1))])
def test_prelu_with_trained_slopes(shapes):
    rng = np.random.default_rng(1)
    values = [rng.normal(size=shape) for shape in shapes]
    x, alpha = (pt.tensor(shape=shape) for shape in shapes)
    out = slopes_below_zero(x, alpha)
    expected = np.where(values[0] < 0, values[1] * values[0], values[0])
    for mode in (REFERENCE_MODE, "CVM"):
        result = pytensor.function([x, alpha], out, mode=mode)(*values)
        np.testing.assert_allclose(result, expected)
    verify_grad(slopes_below_zero, values, rng=rng, mode=REFERENCE_MODE)
    first = lambda x, a: pytensor.grad((slopes_below_zero(x, a) ** 2).sum(), a)  # noqa: E731
    verify_grad(first, values, rng=rng, mode=REFERENCE_MODE)


@pytest.mark.parametrize("shape", [(2, 3, 2), (None, None, None), (2, 1, 2), (None,)])
@pytest.mark.parametrize("slopes", [1, 3])
def test_prelu_whose_slopes_have_an_open_length(shape, slopes):
    """Shared variables have: one slope is for all channels, and its gradient their sum."""
    value = np.random.default_rng(2).normal(size=[n or 3 for n in shape])
    x, weight = pt.tensor(shape=shape), pytensor.shared(np.linspace(0.5, 0.1, slopes))
    assert weight.type.shape == (None,)
    out = pt.nn.prelu(x, weight)
    f = pytensor.function([x], [out, pytensor.grad(out.sum(), weight)], mode=REFERENCE_MODE)
    if slopes == 3 and (len(shape) == 1 or shape[1] == 1):
        with pytest.raises(AssertionError):
            f(value)
        return
    by_channel = weight.get_value().reshape(slopes, *[1] * (value.ndim - 2))
    below = np.where(value < 0, value, 0)
    sums = below.sum(tuple(a for a in range(value.ndim) if a != 1)) if slopes == 3 else below.sum()
    result, gradient = f(value)
    np.testing.assert_allclose(result, np.where(value < 0, value * by_channel, value))
    np.testing.assert_allclose(gradient, np.atleast_1d(sums))


def test_prelu_takes_the_dtype_of_the_input():
    for dtype, expected in [("float16", "float16"), ("float32", "float32"), ("int64", "float64")]:
        x, weight = pt.matrix("x", dtype=dtype), pt.vector("weight", dtype="float64")
        assert pt.nn.prelu(x, weight).type.dtype == expected


def test_derivatives_at_zero():
    x = pt.scalar("x")
    for function, expected in [(pt.nn.relu, 0), (pt.nn.selu, GAMMA * ALPHA)]:
        slope = pytensor.grad(function(x), x).eval({x: 0.0}, mode=REFERENCE_MODE)
        np.testing.assert_allclose(slope, expected)
    # Mish is smooth there, though it is written with two branches
    slope = pytensor.grad(pt.nn.mish(x), x)
    np.testing.assert_allclose(pytensor.grad(slope, x).eval({x: 0.0}, mode=REFERENCE_MODE), 0.64)
    alpha = pt.scalar("alpha")
    gradients = pytensor.grad(pt.nn.prelu(x, alpha), [x, alpha])
    slopes = pytensor.function([x, alpha], gradients, mode=REFERENCE_MODE)(0.0, 0.3)
    np.testing.assert_array_equal(slopes, [0.3, 0])


@pytest.mark.slow
def test_parameters_are_part_of_the_identity():
    x, outs = pt.scalar("x", dtype="float64"), []
    for function in (pt.nn.elu, pt.nn.leaky_relu):
        ops = [function(x, alpha).owner.op for alpha in (0.5, 0.5, 0.25)]
        assert ops[0] == ops[1] != ops[2]
        assert hash(ops[0]) == hash(ops[1])
        outs.append(function(x, 0.5) - function(x, 0.25))
    for mode in ("CVM", "NUMBA", REFERENCE_MODE):
        assert all(result != 0 for result in pytensor.function([x], outs, mode=mode)(-1.0))


def test_bad_arguments_of_activations():
    with pytest.raises(ValueError, match="gelu: approximate must be"):
        pt.nn.gelu(1.0, approximate=True)
    for function, name in ((pt.nn.elu, "alpha"), (pt.nn.leaky_relu, "negative_slope")):
        for value in (np.nan, np.inf, "1", True, None):
            with pytest.raises(ValueError, match=f"{name} must be a finite number"):
                function(1.0, value)
    for shape, slopes in [((2, 3), 2), ((3,), 3), ((), 2)]:
        with pytest.raises(ValueError, match="prelu: weight must have one slope, or one for each"):
            pt.nn.prelu(np.ones(shape), np.ones(slopes))
    with pytest.raises(ValueError, match="prelu: weight must have one axis or none, got 2"):
        pt.nn.prelu(np.ones((2, 3)), np.ones((3, 1)))
    with pytest.raises(TypeError, match="mish: x must be of real numbers, got complex128"):
        pt.nn.mish(pt.zvector())
    with pytest.raises(TypeError, match="silu: x must be of real numbers, got complex64"):
        pt.silu(pt.cmatrix())
