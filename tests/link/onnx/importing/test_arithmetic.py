"""Arithmetic, reductions and casts through `from_onnx`: what ONNX's own vectors leave out."""

import numpy as np
import pytest
from onnx import defs, helper

from pytensor import grad
from pytensor.graph.traversal import ancestors
from pytensor.link.onnx import from_onnx
from tests.link.onnx.importing.with_onnxruntime import PYTHON, in_pytensor, parsed

OPSET = defs.onnx_opset_version()
MIN, MAX, NAN = np.iinfo("int64").min, np.iinfo("int64").max, np.nan
BIG = 2**53 + 1  # which float64 skips


def single(*values):
    return np.array(values, "float32")


QUOTIENTS = np.array([-7, 7, -7, -1, MIN]), np.array([3, -3, -3, 3, 2])
REMAINDERS = single(-1e10, 1e10, -3, 5, -0.5), single(3, -3, np.inf, -np.inf, 1)
NUMBERS = np.array([-1.9, 0.4, -0.0, 300.7])
EVERY_BIT, BITS = np.full(4, -1), np.array([1, 7, 8, 100])
UPPER = np.where(np.triu(np.ones((3, 2)), 1), NAN, [[[0.0]], [[0.0]]])
LOWER = np.where(np.tril(np.ones((3, 2)), 1), NAN, [[[0.0]], [[0.0]]])

# A model in ONNX's text form, values of its inputs, and of its outputs
CASES = {
    "quotients are cut off": (
        """(int64[N] x, int64[N] y) => (int64[N] q, int64[N] r, int64[N] f)
        { q = Div(x, y) r = Mod(x, y) f = Mod<fmod = 1>(x, y) }""",
        QUOTIENTS,
        [-2, -2, 2, 0, MIN // 2],
        [2, -2, -1, 2, 0],
        [-1, 1, -1, -1, 0],
    ),
    "remainders of floats are exact": (
        "(float[N] x, float[N] y) => (float[N] z) { z = Mod<fmod = 1>(x, y) }",
        REMAINDERS,
        np.fmod(*REMAINDERS),
    ),
    "powers have the dtype of the base": (
        """(float[N] a, int64[N] i, int32[N] b, float[N] j, int64[N] c, int8[N] k)
        => (float[N] x, int32[N] y, int64[N] z) { x = Pow(a, i) y = Pow(b, j) z = Pow(c, k) }""",
        [[2, 3, -2], [3, 2, 3]] * 3,
        *[[8, 9, -8]] * 3,
    ),
    "shifts by as many bits as there are, and more": (
        """(uint8[N] x, uint8[N] n) => (uint8[N] l, uint8[N] r)
        { l = BitShift<direction = "LEFT">(x, n) r = BitShift<direction = "RIGHT">(x, n) }""",
        (EVERY_BIT, BITS),
        [254, 128, 0, 0],
        [127, 1, 0, 0],
    ),
    "shifts of signed numbers": (
        """(int8[N] x, int8[N] n) => (int8[N] l, int8[N] r)
        { l = BitShift<direction = "LEFT">(x, n) r = BitShift<direction = "RIGHT">(x, n) }""",
        (EVERY_BIT, BITS),
        [-2, -128, 0, 0],
        [-1, -1, -1, -1],
    ),
    "attributes have single precision, of doubles too": (
        "(double[N] x) => (double[N] y) { y = LeakyRelu(x) }",  # by default 0.01
        [[-1.0]],
        [-float(np.float32(0.01))],
    ),
    "clip where the bounds cross": (
        "(float[N] x, float low, float high) => (float[N] y) { y = Clip(x, low, high) }",
        ([0, 2, 9, NAN], 5, 1),
        [1, 1, 1, NAN],
    ),
    "casts": (
        """(double[N] x) => (bool[N] b, int32[N] i, float16[N] h)
        { b = Cast<to = 9>(x) i = Cast<to = 6>(x) h = Cast<to = 10>(x) }""",
        [NUMBERS],
        [True, True, False, True],
        [-1, 0, 0, 300],
        NUMBERS,
    ),
    "casts of NaN": (
        "(double[N] x) => (bool[N] b, float16[N] h) { b = Cast<to = 9>(x) h = Cast<to = 10>(x) }",
        [[NAN]],
        [True],
        [NAN],
    ),
    "sums of half precision do not overflow on the way": (
        """(float16[4] x) => (float16 s, float16 m)
        { s = ReduceSum<keepdims = 0>(x) m = ReduceMean<keepdims = 0>(x) }""",
        [[60000, 60000, -60000, -59008]],
        992,
        248,
    ),
    "extremes of integers": (
        """(int64[2, 3] x) => (int64[2] a, int64[2] b, int64[2, 2] c, int64[2, 2] d)
        <int64[1] one = {1}, int64[1] two = {2}>
        { a = ReduceMin<keepdims = 0>(x, one) c, d = TopK<largest = 0>(x, two)
          b = ArgMin<axis = 1, keepdims = 0, select_last_index = 1>(x) }""",
        [[[3, MIN, MAX], [MIN, 5, MIN]]],
        [MIN, MIN],
        [1, 2],
        [[MIN, 3], [MIN, MIN]],
        [[1, 0], [0, 2]],
    ),
    "all entries of an axis of open length, and none": (
        """(float[N] x) => (float[N] y, int64[N] z, float[0] a, int64[0] b) <int64[1] k = {0}>
        { s = Shape(x) y, z = TopK(x, s) a, b = TopK(x, k) }""",
        [[1, 3, 2]],
        [3, 2, 1],
        [1, 2, 0],
        [],
        [],
    ),
    "reductions of nothing of open length": (
        """(float[N, 2] x) => (float[2] a, float[2] b, float[2] c) <int64[1] k = {0}>
        { a = ReduceMax<keepdims = 0>(x, k) b = ReduceMin<keepdims = 0>(x, k)
          c = ReduceLogSum<keepdims = 0>(x, k) }""",
        [np.zeros((0, 2))],
        [-np.inf] * 2,
        [np.inf] * 2,
        [-np.inf] * 2,
    ),
    "triangles without what is outside": (
        """(float[2, 3, 2] x, int64 k) => (float[2, 3, 2] u, float[2, 3, 2] l)
        { u = Trilu<upper = 1>(x, k) l = Trilu<upper = 0>(x, k) }""",
        (np.full((2, 3, 2), NAN), 1),
        UPPER,
        LOWER,
    ),
    "small integers are summed in their dtype": (
        "(int32[3] x) => (int32[3] y) <int64 a = {0}> { y = CumSum(x, a) }",
        [[100, 100, 2**31 - 1]],
        [100, 200, 199 - 2**31],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_values(case):
    text, values, *wanted = CASES[case]
    model = parsed(text, OPSET)
    inputs, outputs = (
        [helper.tensor_dtype_to_np_dtype(v.type.tensor_type.elem_type) for v in infos]
        for infos in (model.graph.input, model.graph.output)
    )
    values = [np.asarray(v).astype(dtype) for v, dtype in zip(values, inputs, strict=True)]
    for got, want, dtype in zip(in_pytensor(model, values), wanted, outputs, strict=True):
        np.testing.assert_array_equal(got, np.asarray(want, dtype), strict=True)


@pytest.mark.parametrize(
    ("node", "wanted"),
    [
        ("Add(x, one)", [BIG + 1, 1 - BIG]),
        ("Div(x, one)", [BIG, -BIG]),
        ("Div(x, two)", [BIG // 2, -(BIG // 2)]),
        ("Mod(x, two)", [1, 1]),
        ("Mod<fmod = 1>(x, two)", [1, -1]),
        ("Clip(x, x0)", [BIG, BIG]),
        ("Max(x, x0)", [BIG, BIG]),
        ("Abs(x)", [BIG, BIG]),
        ("ReduceSum<keepdims = 0>(parts)", 2 * BIG + 1),
        ("ReduceMax<keepdims = 0>(x)", BIG),
        ("ReduceMin<keepdims = 0>(least)", MIN),
        ("CumSum(x, zero)", [BIG, 0]),
        ("Where(yes, x, one)", [BIG, -BIG]),
        ("Mul(x, one)", [BIG, -BIG]),
        ("Cast<to = 7>(x)", [BIG, -BIG]),
        ("ArgMin<keepdims = 0>(least)", 1),
        ("Pow(x, one)", [BIG, -BIG]),
    ],
)
def test_integers_beyond_the_floats(node, wanted):
    out = "int64[N] y" if np.ndim(wanted) else "int64 y"
    model = parsed(f"""(int64[2] x) => ({out})
        <int64 one = {{1}}, int64 two = {{2}}, int64 zero = {{0}}, bool yes = {{1}},
         int64 x0 = {{{BIG}}}, int64[2] parts = {{{BIG}, {BIG + 1}}},
         int64[2] bounds = {{{BIG + 1}, {MIN}}}>
        {{ nothing = Sub(x, x) least = Add(nothing, bounds) y = {node} }}""", OPSET)
    np.testing.assert_array_equal(in_pytensor(model, [np.array([BIG, -BIG])])[0], wanted)


def test_powers_with_known_whole_exponents_are_computed_in_the_dtype_of_the_base():
    text = "(float[N] x) => (float[N] y) <int64 two = {2}> { y = Pow(x, two) }"
    power = from_onnx(parsed(text, OPSET)).outputs["y"]
    assert all(v.type.dtype == "float32" for v in ancestors([power]))


@pytest.mark.parametrize("largest", [0, 1])
def test_as_many_entries_as_an_input_says(largest):
    model = parsed(f"""(int64[N, M] x, int64[1] k) => (int64[K, M] y, int64[K, M] z)
        {{ y, z = TopK<axis = 0, largest = {largest}>(x, k) }}""", OPSET)
    x = np.array([[1, 4], [2, 4], [1, 3]])
    wanted = np.argsort(-x if largest else x, axis=0, kind="stable")
    for k in 0, 2, 3:
        values, places = in_pytensor(model, [x, np.array([k])])
        np.testing.assert_array_equal(places, wanted[:k])
        np.testing.assert_array_equal(values, np.take_along_axis(x, wanted[:k], 0))
    for k in -1, 4:
        with pytest.raises(AssertionError, match="SpecifyShape"):
            in_pytensor(model, [x, np.array([k])])


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [("i = ArgMax<keepdims = 0>(c)", 1), ("s = Shape(c) v, i = TopK(c, s)", [1, 0])],
)
def test_gradient_past_integers(nodes, wanted):
    model = from_onnx(parsed(f"""(double[N] x) => (double[N] y)
        {{ c = Cast<to = 7>(x) {nodes} j = Cast<to = 11>(i) y = Mul(x, j) }}""", OPSET))
    (x,) = model.inputs.values()
    gradient = grad(model.outputs["y"].sum(), x).eval({x: np.array([0.0, 3.0])}, mode=PYTHON)
    np.testing.assert_array_equal(gradient, np.broadcast_to(wanted, 2))
