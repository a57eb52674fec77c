"""Corners of integers and of division, each with the value that is known to go wrong."""

import numpy as np
import pytest

import pytensor.tensor as pt
from pytensor import function
from pytensor.link.onnx import UnsupportedOpError, export_onnx
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types, run
from tests.utils import REFERENCE_MODE


def grid(*columns):
    return [axis.ravel() for axis in np.meshgrid(*columns, indexing="ij")]


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64"])
def test_division_that_would_trap(dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    some = np.unique(np.array([low, low + 1, 0, 1, 2, 7, high - 1, high], dtype=dtype))
    some = np.append(some, np.array([-1, -2, -7], dtype=dtype)) if low else some
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
    outputs = [x // y, x % y, x // x, y % x]
    compare_onnx_and_py([x, y], outputs, grid(some, some))
    constants = [pt.constant(divisor) for divisor in some]
    operations = [*(x // c for c in constants), *(x % c for c in constants)]
    compare_onnx_and_py([x], operations, [some], opset_version=18, optimize=False)


# onnxruntime's kernels of int64 compare the lower halves as if they had a sign.
FAR = np.array([0, 1, -1, 2**31, 2**32 - 1, -(2**31) - 1, 2**40, 2**40 + 2**31, -(2**63)])


def test_order_of_int64():
    x, y = pt.lvectors("x", "y")
    outputs = [pt.maximum(x, y), pt.minimum(x, y), x < y, x <= y, x > y, x >= y, pt.eq(x, y)]
    outputs += [pt.sign(x), abs(x), pt.clip(x, 2**31, 2**40), pt.clip(x, y, 7), pt.switch(x, x, y)]
    compare_onnx_and_py([x, y], outputs, grid(np.tile(FAR, 4), FAR))


@pytest.mark.parametrize("signed", ["int32", "int64"])
def test_comparison_of_uint64_with_signed(signed):
    x, y = pt.vector("x", dtype="uint64"), pt.vector("y", dtype=signed)
    limits = np.iinfo(signed)
    large = np.array([0, 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1], dtype="uint64")
    values = grid(large, np.array([limits.min, -1, 0, 1, limits.max], dtype=signed))
    for a, b in ((x, y), (y, x)):
        outputs = [a < b, a <= b, a > b, a >= b, pt.eq(a, b), pt.neq(a, b)]
        compare_onnx_and_py([x, y], outputs, values)


def test_comparison_of_integers_with_floats():
    n, x, y = pt.lvector("n"), pt.dvector("x"), pt.fvector("y")
    values = grid([2**53, 2**53 + 1, -(2**53) - 1], [2.0**53, 2.0**53 + 2, np.nan, np.inf])
    compare_onnx_and_py([n, x], [n < x, n <= x, pt.eq(n, x), pt.neq(n, x)], values)
    # Not in integers, nor in float32
    compare_onnx_and_py([y, n], [pt.eq(y, n), y < n], [[1.5, 1, 2**24], [1, 1, 2**24 + 1]])


@pytest.mark.parametrize("dtype", ["int8", "uint64"])
def test_integer_power_wraps_around(dtype):
    limits = np.iinfo(dtype)
    bases = np.array([3, 2, 0, 1, 10, limits.max, limits.min], dtype=dtype)
    exponents = np.array([0, 1, 2, 5, 39, 63, 100, limits.max], dtype=dtype)
    x, n = pt.vector("x", dtype=dtype), pt.vector("n", dtype=dtype)
    model = compare_onnx_and_py([x, n], x**n, grid(bases, exponents))
    assert op_types(model).count("Loop") == 1
    powers = [pt.pow(x, pt.constant(exponent)) for exponent in exponents]
    compare_onnx_and_py([x], powers, [bases], opset_version=18, optimize=False)
    column = pt.constant(exponents[:, None])
    model = compare_onnx_and_py([x], pt.pow(x, column), [bases])
    assert "Loop" not in op_types(model)
    assert "Pow" not in op_types(model)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float32"])
def test_constant_powers_do_not_overflow_in_the_dtype_of_the_base(dtype):
    """PyTensor's rewrites compute them in that dtype."""
    high = 1e30 if dtype == "float32" else np.iinfo(dtype).max
    x = pt.vector("x", dtype=dtype)
    exponents = [np.float64(2), np.float64(3), np.float64(-2), 2.0, 7.0]
    outputs = [x ** pt.constant(exponent) for exponent in exponents]
    # In Python, too, the last two of float32 are float32, and infinite.
    outputs = outputs[:3] if dtype == "float32" else [*outputs, x ** pt.constant(2, dtype="int64")]
    values = np.array([high, 1], dtype)
    compare_onnx_and_py([x], outputs, [values])
    expected = function([x], outputs, mode=REFERENCE_MODE)(values)
    for actual, wanted in zip(function([x], outputs, mode="ONNX")(values), expected, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=1e-6, strict=True)


def test_power_of_nothing():
    x, n = pt.lvectors("x", "n")
    compare_onnx_and_py([x, n], x**n, [[], []])
    compare_onnx_and_py([x], pt.pow(x, pt.constant(np.zeros((2, 0), "int64"))), [[]])


def test_float_power():
    x, y = pt.fvectors("x", "y")
    model = compare_onnx_and_py([x], [x**2, x**0.5, x ** (-1.0)], [[0.5, 1, 2]])
    assert "Pow" not in op_types(model)
    compare_onnx_and_py([x, y], [x**y, x**3, 2.0**x], [[0.5, 1, 2], [3, -1, 0.5]])
    larger = pt.constant(np.float32([[2, 0.5, -1], [3, 2, 1]]))
    scalar = pt.fscalar("scalar")
    compare_onnx_and_py([scalar, x], [scalar**larger, x**larger], [2, [1, 2, 3]], optimize=False)


def test_clip():
    x, low, high = pt.fvector("x"), pt.fscalar("low"), pt.fscalar("high")
    some = [-3, 0, 5, np.nan, np.inf]
    model = compare_onnx_and_py([x], pt.clip(x, -1, 2), [some])
    assert op_types(model) == ["Clip"]
    clipped, several = pt.clip(x, low, high), ((-1, 2), (2, 1), (np.nan, 1), (0, np.nan))
    for bounds in several:
        compare_onnx_and_py([x, low, high], clipped, [some, *bounds])
    constant = [pt.clip(x, *np.float32(bounds)) for bounds in several]
    compare_onnx_and_py([x], constant, [some], optimize=False)
    wide = pt.constant(np.float32([[0]]))
    compare_onnx_and_py([x], pt.clip(x, wide, wide + 1), [some])


@pytest.mark.parametrize("dtype", ["uint8", "uint64"])
def test_negation_of_unsigned(dtype):
    x = pt.vector("x", dtype=dtype)
    # PyTensor's own rewrites fail for them.
    compare_onnx_and_py([x], -x, [[0, 1, 2, np.iinfo(dtype).max]], optimize=False)


def test_partial_sums_have_their_own_dtypes():
    n, x = pt.vector("n", dtype="int8"), pt.dvector("x")
    compare_onnx_and_py([n, x], [pt.add(n, n, x), pt.mul(n, n, x)], [[100, -100, 3], [0.5, 1, 2]])
    half = pt.vector("half", dtype="float16")
    total = pt.add(half, half, half, x.astype("float32"))
    compare_onnx_and_py([half, x], total, [[30000, 0.1, 2049], [1, 2, -4096]], rtol=0, atol=0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rounding_half_away_from_zero(dtype):
    # Not floor(x + 0.5), as PyTensor's Python code has it, but what its C code computes.
    x = pt.vector("x", dtype=dtype)
    below = np.nextafter(np.array(0.5, dtype), np.array(0, dtype))
    odd = 2 / np.finfo(dtype).eps - 1
    some = np.array([below, -below, 0.5, 1.5, -2.5, odd, -odd, np.inf, np.nan], dtype=dtype)
    (result,) = run(export_onnx([x], pt.round(x, mode="half_away_from_zero")), [some])
    np.testing.assert_array_equal(result, [0, 0, 1, 2, -3, odd, -odd, np.inf, np.nan])


def test_complex_numbers_are_refused():
    x = pt.fvector("x")
    with pytest.raises(UnsupportedOpError, match="no complex"):
        export_onnx([x], pt.complex(x, x).real)


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "bool"])
def test_sums_of_many_terms(dtype):
    shapes, rng = [(3, 1), (1, 4), (3, 4), (1, 1)], np.random.default_rng(0)
    x = [pt.tensor(dtype=dtype, shape=shapes[i % 4]) for i in range(30)]
    values = [(50 * rng.normal(size=v.type.shape)).astype(dtype) for v in x]
    compare_onnx_and_py(x, [pt.add(*x[:n]) for n in (8, 9, 30)], values)
