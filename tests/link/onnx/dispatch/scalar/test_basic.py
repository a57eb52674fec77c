"""Every scalar Op of real numbers, with any dtypes, shapes and values, against Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pytensor.scalar as ps
import pytensor.tensor as pt
from pytensor.link.onnx import onnx_funcify
from pytensor.link.onnx.dispatch.scalar.basic import SINGLE_NODE
from pytensor.scalar import basic
from pytensor.tensor.elemwise import Elemwise
from tests.link.onnx.strategies import DTYPES, FLOATS, INTEGERS
from tests.link.onnx.test_basic import compare_onnx_and_py

NUMBERS = [*INTEGERS, *FLOATS]
MIXED = [(a, b) for a in DTYPES for b in DTYPES]
BITS = [(a, b) for a in INTEGERS for b in INTEGERS if np.result_type(a, b).kind != "f"] + [
    ("bool", "bool")
]


# NumPy computes these in half precision, although the result's type is float32.
HALVES = [("float16", dtype) for dtype in ("bool", "int8", "uint8")]

# Functions whose results have no rounding error but that of the result, and their dtypes.
EXACT = {
    "abs": (pt.abs, DTYPES),
    "ceil": (pt.ceil, DTYPES),
    "conj": (Elemwise(ps.conj), NUMBERS),
    "floor": (pt.floor, DTYPES),
    "identity": (Elemwise(ps.identity), DTYPES),
    "imag": (Elemwise(ps.imag), DTYPES),
    "invert": (pt.invert, ["bool", *INTEGERS]),
    "isinf": (pt.isinf, DTYPES),
    "isnan": (pt.isnan, DTYPES),
    "neg": (pt.neg, [*INTEGERS[:4], *FLOATS]),
    "real": (Elemwise(ps.real), DTYPES),
    "reciprocal": (pt.reciprocal, DTYPES),
    "round": (lambda x: pt.round(x, mode="half_to_even"), FLOATS),
    "round_away": (lambda x: pt.round(x, mode="half_away_from_zero"), FLOATS[:2]),
    "sign": (pt.sign, NUMBERS),
    "sqr": (pt.sqr, DTYPES),
    "sqrt": (pt.sqrt, DTYPES),
    "trunc": (pt.trunc, DTYPES),
    "add": (pt.add, MIXED),
    "eq": (pt.eq, MIXED),
    "ge": (pt.ge, MIXED),
    "gt": (pt.gt, MIXED),
    "int_div": (pt.int_div, MIXED),
    "le": (pt.le, MIXED),
    "lt": (pt.lt, MIXED),
    "maximum": (pt.maximum, MIXED),
    "minimum": (pt.minimum, MIXED),
    "mod": (pt.mod, MIXED),
    "mul": (pt.mul, MIXED),
    "neq": (pt.neq, MIXED),
    "second": (pt.second, MIXED),
    "sub": (pt.sub, MIXED[1:]),  # NumPy has no difference of booleans
    "true_div": (pt.true_div, MIXED),
    "and": (pt.bitwise_and, BITS),
    "or": (pt.bitwise_or, BITS),
    "xor": (pt.bitwise_xor, BITS),
    "add3": (pt.add, [(a, b, c) for a, b in MIXED for c in DTYPES]),
    "clip": (pt.clip, [(a, b, c) for a, b in MIXED for c in DTYPES]),
    "switch": (pt.switch, [(a, b, c) for a, b in MIXED for c in DTYPES]),
}
ROUNDED = {
    "arccos": (pt.arccos, DTYPES),
    "arccosh": (pt.arccosh, DTYPES),
    "arcsin": (pt.arcsin, DTYPES),
    "arcsinh": (pt.arcsinh, DTYPES),
    "arctan": (pt.arctan, DTYPES),
    "arctan2": (pt.arctan2, [pair for pair in MIXED if pair not in HALVES]),
    "arctanh": (pt.arctanh, DTYPES),
    "cos": (pt.cos, DTYPES),
    "cosh": (pt.cosh, DTYPES),
    "deg2rad": (pt.deg2rad, DTYPES),
    "exp": (pt.exp, DTYPES),
    "exp2": (pt.exp2, DTYPES),
    "expm1": (pt.expm1, DTYPES),
    "log": (pt.log, DTYPES),
    "log10": (pt.log10, DTYPES),
    "log1p": (pt.log1p, DTYPES),
    "log2": (pt.log2, DTYPES),
    "pow": (pt.pow, MIXED),
    "rad2deg": (pt.rad2deg, DTYPES),
    "sin": (pt.sin, DTYPES),
    "sinh": (pt.sinh, DTYPES),
    "tan": (pt.tan, DTYPES),
    "tanh": (pt.tanh, DTYPES),
}
# NumPy leaves open which zero is the larger one, and onnxruntime's Where loses the sign of zeros.
ANY_ZERO = ("maximum", "minimum", "clip", "switch")
# What is relative to the size of the argument near the zeros of sine and cosine.
ABSOLUTE = {"sin": 1e-15, "cos": 1e-15}
RTOL = {"float16": 2e-3, "float32": 1e-6, "float64": 3e-15}


def values(dtype, minimum=None):
    """Draw elements of a dtype, the awkward ones more often."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return st.booleans()
    if dtype.kind == "f":
        special = [np.nan, np.inf, -np.inf, -0.0, 0.0, 0.5, -0.5, 1.0, -1.0, 2.5]
        return st.sampled_from(special) | st.floats(width=8 * dtype.itemsize) | _moderate(dtype)
    limits = np.iinfo(dtype)
    low = int(limits.min if minimum is None else minimum)
    special = [v for v in (low, low + 1, -1, 0, 1, 2, 3, limits.max - 1, limits.max) if v >= low]
    return st.sampled_from(special) | st.integers(low, int(limits.max))


def _moderate(dtype):
    return st.floats(-128, 128, width=8 * dtype.itemsize)


def variable_for(name, value):
    """Return an input of the array's dtype whose type says which axes are broadcast."""
    shape = tuple(1 if size == 1 else None for size in value.shape)
    return pt.tensor(name, shape=shape, dtype=value.dtype)


@st.composite
def calls(draw, names):
    """Draw one of the functions, and arrays of mutually broadcastable shapes."""
    table = EXACT | ROUNDED
    name = draw(st.sampled_from(names))
    dtypes = draw(st.sampled_from(table[name][1]))
    dtypes = (dtypes,) if isinstance(dtypes, str) else dtypes
    shapes = draw(
        hnp.mutually_broadcastable_shapes(
            num_shapes=len(dtypes), max_dims=3, min_side=0, max_side=4
        )
    ).input_shapes
    arrays = []
    for number, (dtype, shape) in enumerate(zip(dtypes, shapes, strict=True)):
        # Integers to negative powers are an error in Python.
        positive = name == "pow" and number == 1 and np.result_type(*dtypes).kind != "f"
        elements = values(dtype, minimum=0 if positive else None)
        arrays.append(draw(hnp.arrays(dtype, shape, elements=elements)))
    return name, arrays


def check(name, function, arrays, constant, opset, *, rtol, atol=0.0):
    inputs = [variable_for(f"x{i}", array) for i, array in enumerate(arrays)]
    operands = [
        pt.constant(array) if i in constant else variable
        for i, (variable, array) in enumerate(zip(inputs, arrays, strict=True))
    ]
    result = function(*operands)
    outputs = [result]
    if name not in ANY_ZERO and result.dtype.startswith("float"):
        outputs.append(pt.arctan2(result, np.float32(-1)) < 0)
    # PyTensor's rewrites with constants are not all exact: NaN * 0 is one.
    compare_onnx_and_py(
        inputs, outputs, arrays, rtol=rtol, atol=atol, optimize=not constant, opset_version=opset
    )


ABSTRACT = {
    basic.BinaryScalarOp,
    basic.FixedLogicalComparison,
    basic.ScalarInnerGraphOp,
    basic.ScalarOp,
    basic.UnaryBitOp,
    basic.UnaryScalarOp,
}


def test_every_scalar_op_has_a_converter():
    classes = {
        c for c in vars(basic).values() if isinstance(c, type) and issubclass(c, ps.ScalarOp)
    }
    fallback = onnx_funcify.dispatch(ps.ScalarOp)
    missing = {c for c in classes if onnx_funcify.dispatch(c) is fallback} - set(SINGLE_NODE)
    assert missing == ABSTRACT


constants = st.frozensets(st.integers(0, 2))
opsets = st.sampled_from([18, 24])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(call=calls(list(EXACT)), constant=constants, opset=opsets)
def test_exact(call, constant, opset):
    name, arrays = call
    check(name, EXACT[name][0], arrays, constant, opset, rtol=0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(call=calls(list(ROUNDED)), constant=constants, opset=opsets)
def test_rounded(call, constant, opset):
    name, arrays = call
    function = ROUNDED[name][0]
    dtype = function(*[variable_for("x", array) for array in arrays]).dtype
    if not dtype.startswith("float"):
        return check(name, function, arrays, constant, opset, rtol=0)
    atol = max(ABSOLUTE.get(name, 0), 64 * float(np.finfo(dtype).smallest_subnormal))
    check(name, function, arrays, constant, opset, rtol=RTOL[dtype], atol=atol)
