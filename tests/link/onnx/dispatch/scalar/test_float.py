"""Accuracy of functions of floats, close to where it is hard to have."""

import numpy as np
import pytest

import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx
from tests.link.onnx.test_basic import compare_onnx_and_py, run

RNG = np.random.default_rng(7)
SIZES = np.concatenate([np.exp(RNG.uniform(-700, 700, 500)), np.exp(RNG.uniform(-40, 7, 500))])
LIMITS = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 5e-324, -5e-324, np.finfo("float64").max]
NEAR_ONE = np.concatenate(
    [1 - np.exp(RNG.uniform(-37, 0, 300)), 1 + np.exp(RNG.uniform(-37, 0, 9))]
)
QUARTERS = np.pi / 2 * np.arange(-12, 13)
DOUBLES = np.concatenate([SIZES, -SIZES, NEAR_ONE, -NEAR_ONE, QUARTERS, QUARTERS * (1 + 1e-14)])
DOUBLES = np.append(DOUBLES, LIMITS)
FUNCTIONS = {
    "arccos": pt.arccos,
    "arccosh": pt.arccosh,
    "arcsin": pt.arcsin,
    "arcsinh": pt.arcsinh,
    "arctan": pt.arctan,
    "arctanh": pt.arctanh,
    "cosh": pt.cosh,
    "exp": pt.exp,
    "exp2": pt.exp2,
    "expm1": pt.expm1,
    "log": pt.log,
    "log10": pt.log10,
    "log1p": pt.log1p,
    "log2": pt.log2,
    "sinh": pt.sinh,
    "tan": pt.tan,
    "tanh": pt.tanh,
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_accuracy(name, dtype):
    x = pt.vector("x", dtype=dtype)
    rtol, atol = {"float32": (5e-7, 1e-42), "float64": (1.5e-15, 1e-323)}[dtype]
    y = FUNCTIONS[name](x)
    compare_onnx_and_py([x], [y, pt.arctan2(y, -1) > 0], [DOUBLES], rtol=rtol, atol=atol)


def test_sine_and_cosine():
    # Relative to 1: onnxruntime's kernels have no digits left at multiples of pi.
    x = pt.dvector("x")
    finite = DOUBLES[np.isfinite(DOUBLES)]
    compare_onnx_and_py([x], [pt.sin(x), pt.cos(x)], [finite], rtol=1e-15, atol=1e-15)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_arctan2():
    y, x = pt.fvectors("y", "x")
    some = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-7, -3e4, 2.5])
    values = [axis.ravel() for axis in np.meshgrid(some, some, indexing="ij")]
    z = pt.arctan2(y, x)
    compare_onnx_and_py([y, x], [z, 1 / z > 0], values, rtol=2e-7, atol=0)


def test_no_overflow_on_the_way():
    y, x = pt.dvectors("y", "x")
    values = [[1e308, 5e-324, 1e-300, 1e300], [1e-308, 1e308, 5e-324, -1e300]]
    compare_onnx_and_py([y, x], pt.arctan2(y, x), values, rtol=1e-15, atol=0)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_logarithms_of_powers_are_exact(dtype):
    x = pt.vector("x", dtype=dtype)
    limits = np.finfo(dtype)
    exponents = np.arange(limits.minexp - limits.nmant, limits.maxexp)
    powers = np.ldexp(np.ones((), dtype), exponents)
    model = export_onnx([x], [pt.log2(x), pt.exp2(pt.log2(x))])
    for result, expected in zip(run(model, [powers]), (exponents, powers), strict=True):
        np.testing.assert_array_equal(result, expected)
    decimals = {"float16": range(5), "float32": range(39), "float64": range(-307, 309)}[dtype]
    powers = np.array([f"1e{n}" for n in decimals]).astype(dtype)
    (result,) = run(export_onnx([x], pt.log10(x)), [powers])
    np.testing.assert_array_equal(result, decimals)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_floor_division():
    x, y = (pt.vector(name, dtype="float16") for name in "xy")
    some = [-7.5, -1, -0.3, 0.1, 0.3, 1, 2.5, 7, 1e4, 0.0, -0.0, np.inf, -np.inf, np.nan]
    values = [axis.ravel() for axis in np.meshgrid(some, some, indexing="ij")]
    quotient, rest = x // y, x % y
    signs = [pt.arctan2(z, -1) > 0 for z in (quotient, rest)]
    compare_onnx_and_py([x, y], [quotient, rest, *signs], values, rtol=0, atol=0)


def test_rounding():
    x = pt.vector("x", dtype="float16")
    some = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.4998, 1023.5, -0.3, 0.3, 0.0, -0.0, np.inf, np.nan]
    rounded = [
        pt.round(x, mode="half_to_even"),
        pt.round(x, mode="half_away_from_zero"),
        *(f(x) for f in (pt.trunc, pt.floor, pt.ceil)),
    ]
    signs = [pt.arctan2(y, -1) > 0 for y in rounded]
    compare_onnx_and_py([x], [*rounded, *signs], [some], rtol=0, atol=0)
