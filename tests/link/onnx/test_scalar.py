import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pytensor.tensor as pt
from pytensor.link.onnx import UnsupportedOpError, export_onnx
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types

REAL = np.array([-np.inf, -100, -2.5, -1.5, -0.5, -1e-4, 0, 1e-4, 0.5, 0.75, 1.5, 3, 90, np.inf])
UNARY_FLOAT = {
    "abs": pt.abs,
    "ceil": pt.ceil,
    "cos": pt.cos,
    "exp": pt.exp,
    "exp2": pt.exp2,
    "expm1": pt.expm1,
    "floor": pt.floor,
    "isinf": pt.isinf,
    "isnan": pt.isnan,
    "log": pt.log,
    "log10": pt.log10,
    "log1p": pt.log1p,
    "log2": pt.log2,
    "neg": pt.neg,
    "reciprocal": pt.reciprocal,
    "round": lambda x: pt.round(x, mode="half_to_even"),
    "round_away": lambda x: pt.round(x, mode="half_away_from_zero"),
    "sigmoid": pt.sigmoid,
    "sign": pt.sign,
    "silu": pt.silu,
    "sin": pt.sin,
    "softplus": pt.softplus,
    "sqr": pt.sqr,
    "sqrt": pt.sqrt,
    "tanh": pt.tanh,
    "trunc": pt.trunc,
}
# Without a kernel in double precision.
UNARY_FLOAT32 = {
    "arccos": pt.arccos,
    "arccosh": pt.arccosh,
    "arcsin": pt.arcsin,
    "arcsinh": pt.arcsinh,
    "arctan": pt.arctan,
    "arctanh": pt.arctanh,
    "cosh": pt.cosh,
    "erf": pt.erf,
    "sinh": pt.sinh,
    "tan": pt.tan,
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_unary_float(dtype):
    x = pt.vector("x", dtype=dtype)
    # Trigonometry of infinities is undefined, and so is SiLU's product of -inf and 0 in ONNX.
    finite = REAL[1:-1]
    limits = [f for name, f in UNARY_FLOAT.items() if name not in ("sin", "cos", "silu")]
    tight = {"rtol": 1e-5, "atol": 0} if dtype == "float32" else {"rtol": 1e-13, "atol": 1e-30}
    compare_onnx_and_py([x], [f(x) for f in limits], [REAL], **tight)
    compare_onnx_and_py([x], [pt.sin(x), pt.cos(x), pt.silu(x)], [finite], atol=1e-6)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_unary_float32():
    x = pt.vector("x", dtype="float32")
    outputs = [f(x) for f in UNARY_FLOAT32.values()]
    compare_onnx_and_py([x], outputs, [np.linspace(-3, 3, 25)], atol=1e-6, rtol=1e-4)


@pytest.mark.parametrize("name", UNARY_FLOAT32)
def test_no_silent_single_precision(name):
    x = pt.vector("x", dtype="float64")
    with pytest.raises(UnsupportedOpError, match=r"no .* for float64"):
        export_onnx([x], UNARY_FLOAT32[name](x))


def test_round_half():
    x = pt.vector("x", dtype="float32")
    values = np.float32([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999997, -0.49999997, 8388609])
    outputs = [pt.round(x, mode="half_to_even"), pt.round(x, mode="half_away_from_zero")]
    compare_onnx_and_py([x], outputs, [values], rtol=0, atol=0)


INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize("dtype", INTS)
def test_integer_arithmetic(dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    some = [low, low + 1, high, high - 1, 0, 1, 2, 3, 7, 100]
    if low:
        some += [-1, -2, -3, -7, -100]
    grid = [(a, b) for a in some for b in some if b != 0 and (a, b) != (low, -1)]
    # Through Python's integers: NumPy would make floats of uint64.
    columns = [np.array(column, dtype=dtype) for column in zip(*grid, strict=True)]
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
    outputs = [
        x + y, x - y, x * y, x // y, x % y, pt.maximum(x, y), pt.minimum(x, y),
        x < y, x <= y, x > y, x >= y, pt.eq(x, y), pt.neq(x, y),
        x & y, x | y, x ^ y, ~x, pt.switch(x > y, x, y), pt.sqr(x), abs(x), pt.sign(x),
        pt.clip(x, 2, 5), x // np.array(3, dtype), x % np.array(3, dtype),
    ]  # fmt: skip
    if low:
        # PyTensor's own rewrites fail for unsigned integers.
        outputs.append(-x)
    compare_onnx_and_py([x, y], outputs, columns)


def test_integer_division_by_zero():
    x, y = pt.ivectors("x", "y")
    values = np.array([5, -5, 0], "int32"), np.array([0, 0, 0], "int32")
    compare_onnx_and_py([x, y], [x // y, x % y], values)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_float_floor_division(dtype):
    values = [-7.5, -1, -0.3, 0.1, 0.3, 1, 2.5, 7, 1e6]
    grid = np.array([(a, b) for a in values for b in values], dtype=dtype)
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
    compare_onnx_and_py([x, y], [x // y, x % y], grid.T, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("left", "right"),
    [("int64", "float32"), ("float32", "float64"), ("int8", "uint8"), ("bool", "float32"),
     ("int32", "int64"), ("uint32", "int32"), ("bool", "bool"), ("float16", "int8")],
)  # fmt: skip
def test_mixed_dtypes(left, right):
    x, y = pt.vector("x", dtype=left), pt.vector("y", dtype=right)
    outputs = [pt.eq(x, y), pt.neq(x, y), x < y, x <= y, x > y, x >= y, x + y, x * y,
               pt.maximum(x, y), pt.switch(x, x, y)]  # fmt: skip
    if right != "bool":
        outputs += [x - y, x / y]
    second = [0.5, 1, 1.5, 3, 2, 0.25] if "float" in right else [1, 1, 1, 3, 2, 4]
    compare_onnx_and_py([x, y], outputs, [[0, 1, 1, 0, 2, 1], second], rtol=1e-3, atol=0)


def test_equality_is_not_computed_in_integers():
    x, n = pt.fvector("x"), pt.lvector("n")
    values = [np.float32([1.5, 1, 16777216]), np.array([1, 1, 16777217])]
    compare_onnx_and_py([x, n], [pt.eq(x, n), pt.lt(x, n)], values)


def test_unsigned_with_signed_comparison_is_refused():
    x, y = pt.vector("x", dtype="uint64"), pt.vector("y", dtype="int64")
    with pytest.raises(UnsupportedOpError, match="uint64"):
        export_onnx([x, y], x < y)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("to", ["bool", "int8", "int32", "int64", "uint8", "float32", "float64"])
@pytest.mark.parametrize("dtype", ["bool", "int32", "float32", "float64"])
def test_cast(dtype, to):
    x = pt.vector("x", dtype=dtype)
    compare_onnx_and_py([x], pt.cast(x, to), [[0, 1, 0.5, 2.75, 100]])


def test_pow_and_clip():
    x, y = pt.fvectors("x", "y")
    model = compare_onnx_and_py([x], [x**2, x**0.5, x ** (-1.0)], [[0.5, 1, 2]])
    assert "Pow" not in op_types(model)
    compare_onnx_and_py([x, y], [x**y, x**3, 2.0**x], [[0.5, 1, 2], [3, -1, 0.5]])
    model = compare_onnx_and_py([x], pt.clip(x, -1, 2), [[-3, 0, 5]])
    assert op_types(model) == ["Clip"]
    low, high = pt.fscalars("low", "high")
    compare_onnx_and_py([x, low, high], pt.clip(x, low, high), [[-3, 0, 5], 2, 1])


def test_integer_power_is_refused():
    x, y = pt.lvectors("x", "y")
    with pytest.raises(UnsupportedOpError, match="no exact integer power"):
        export_onnx([x, y], x**y)


number = st.floats(-1e3, 1e3, width=32)


@settings(max_examples=25, deadline=None)
@given(
    operators=st.lists(
        st.sampled_from([pt.add, pt.sub, pt.mul, pt.maximum, pt.minimum, pt.lt, pt.int_div]),
        min_size=1,
        max_size=4,
    ),
    dtypes=st.tuples(*[st.sampled_from(["int8", "int32", "int64", "float32", "float64"])] * 2),
    values=st.lists(st.tuples(st.integers(-10, 10), st.integers(1, 9)), min_size=1, max_size=4),
)
def test_chains_of_operators(operators, dtypes, values):
    x, y = (pt.vector(name, dtype=d) for name, d in zip("xy", dtypes, strict=True))
    result = x
    for operator in operators:
        result = operator(result.astype(x.dtype), y)
    compare_onnx_and_py([x, y], result, np.array(values).T, rtol=1e-5, atol=1e-4)
