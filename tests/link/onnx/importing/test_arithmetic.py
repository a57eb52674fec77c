"""Arithmetic, reductions and casts through `from_onnx`: what ONNX's own vectors leave out."""

import numpy as np
import pytest

from pytensor import grad
from pytensor.graph.traversal import ancestors
from pytensor.link.onnx import ImportedOpError, from_onnx
from tests.link.onnx.importing.with_onnxruntime import PYTHON, in_pytensor, parsed

MIN, MAX = np.iinfo("int64").min, np.iinfo("int64").max


def computed(inputs, nodes, *values, out="float[N] y", opset=23):
    """Return the outputs of a model, in ONNX's text form, for values of its inputs."""
    results = in_pytensor(parsed(f"({inputs}) => ({out}) {{ {nodes} }}", opset), values)
    return results[0] if len(results) == 1 else results


def check(got, wanted, dtype):
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, np.asarray(wanted, dtype))


@pytest.mark.parametrize(
    ("node", "wanted"),
    [
        ("Div(x, y)", [-2, -2, 2, 0, MIN // 2]),
        ("Mod(x, y)", [2, -2, -1, 2, 0]),
        ("Mod<fmod = 1>(x, y)", [-1, 1, -1, -1, 0]),
    ],
)
def test_quotients_of_integers(node, wanted):
    x, y = np.array([-7, 7, -7, -1, MIN]), np.array([3, -3, -3, 3, 2])
    got = computed("int64[N] x, int64[N] y", f"z = {node}", x, y, out="int64[N] z")
    check(got, wanted, "int64")


def test_remainders_of_floats_are_exact():
    x = np.array([-1e10, 1e10, -3, 5, -0.5], "float32")
    y = np.array([3, -3, np.inf, -np.inf, 1], "float32")
    got = computed(
        "float[N] x, float[N] y", "z = Mod<fmod = 1>(x, y)", x, y, out="float[N] z"
    )
    check(got, np.fmod(x, y), "float32")


@pytest.mark.parametrize(
    ("base", "exponent"), [("float32", "int64"), ("int32", "float32"), ("int64", "int8")]
)
def test_powers_have_the_dtype_of_the_base(base, exponent):
    names = {"float32": "float", "int8": "int8", "int32": "int32", "int64": "int64"}
    got = computed(
        f"{names[base]}[N] x, {names[exponent]}[N] e",
        "y = Pow(x, e)",
        np.array([2, 3, -2], base),
        np.array([3, 2, 3], exponent),
        out=f"{names[base]}[N] y",
    )
    check(got, [8, 9, -8], base)


def test_powers_with_known_whole_exponents_are_computed_in_the_dtype_of_the_base():
    text = "(float[N] x) => (float[N] y) { two = Constant<value_int = 2>() y = Pow(x, two) }"
    power = from_onnx(parsed(text, 23)).outputs["y"]
    assert all(v.type.dtype == "float32" for v in ancestors([power]))


@pytest.mark.parametrize(
    ("dtype", "direction", "wanted"),
    [
        ("uint8", "LEFT", [254, 128, 0, 0]),
        ("uint8", "RIGHT", [127, 1, 0, 0]),
        ("int8", "LEFT", [-2, -128, 0, 0]),
        ("int8", "RIGHT", [-1, -1, -1, -1]),
    ],
)
def test_shifts_by_as_many_bits_as_there_are(dtype, direction, wanted):
    x = np.full(4, -1).astype(dtype)
    got = computed(
        f"{dtype}[N] x, {dtype}[N] n",
        f'y = BitShift<direction = "{direction}">(x, n)',
        x,
        np.array([1, 7, 8, 100], dtype),
        out=f"{dtype}[N] y",
        opset=28,
    )
    check(got, wanted, dtype)


def test_attributes_have_single_precision():
    """Of doubles, too; 0.01 is the default of the slope."""
    got = computed("double[1] x", "y = LeakyRelu(x)", np.array([-1.0]), out="double[1] y")
    check(got, [-float(np.float32(0.01))], "float64")


def test_clip_where_the_bounds_cross():
    got = computed(
        "float[N] x, float low, float high",
        "y = Clip(x, low, high)",
        np.array([0, 2, 9, np.nan], "float32"),
        np.float32(5),
        np.float32(1),
    )
    check(got, [1, 1, 1, np.nan], "float32")


def test_casts():
    x = np.array([-1.9, 0.4, np.nan, -0.0, 300.7])
    names = {"bool": 9, "int32": 6, "float16": 10}
    for dtype, wanted in {
        "bool": [True, True, True, False, True],
        "int32": [-1, 0, None, 0, 300],
        "float16": x,
    }.items():
        kept = slice(None) if dtype != "int32" else [0, 1, 3, 4]
        got = computed(
            "double[N] x", f"y = Cast<to = {names[dtype]}>(x)", x[kept], out=f"{dtype}[N] y"
        )
        check(got, np.array(wanted)[kept], dtype)


def test_sums_of_half_precision_do_not_overflow_on_the_way():
    x = np.array([60000, 60000, -60000, -59008], "float16")
    got = computed(
        "float16[4] x", "y = ReduceSum<keepdims = 0>(x)", x, out="float16 y"
    )
    check(got, 992, "float16")
    got = computed(
        "float16[4] x", "y = ReduceMean<keepdims = 0>(x)", x, out="float16 y"
    )
    check(got, 248, "float16")


def test_extremes_of_integers():
    x = np.array([[3, MIN, MAX], [MIN, 5, MIN]])
    nodes = """
        zero = Constant<value_ints = [1]>()
        a = ReduceMin<keepdims = 0>(x, zero)
        b = ArgMin<axis = 1, keepdims = 0, select_last_index = 1>(x)
        two = Constant<value_ints = [2]>()
        c, d = TopK<largest = 0>(x, two)
    """
    out = "int64[2] a, int64[2] b, int64[2, 2] c, int64[2, 2] d"
    a, b, c, d = computed("int64[2, 3] x", nodes, x, out=out)
    check(a, [MIN, MIN], "int64")
    check(b, [1, 2], "int64")
    check(c, [[MIN, 3], [MIN, MIN]], "int64")
    check(d, [[1, 0], [0, 2]], "int64")


@pytest.mark.parametrize("largest", [0, 1])
def test_as_many_entries_as_an_input_says(largest):
    nodes = f"y, z = TopK<axis = 0, largest = {largest}>(x, k)"
    x = np.array([[1, 4], [2, 4], [1, 3]])
    wanted = np.argsort(-x if largest else x, axis=0, kind="stable")
    arguments = "int64[N, M] x, int64[1] k", nodes, x
    for k in 0, 2, 3:
        values, places = computed(*arguments, np.array([k]), out="int64[K, M] y, int64[K, M] z")
        check(places, wanted[:k], "int64")
        check(values, np.take_along_axis(x, wanted[:k], 0), "int64")
    for k in -1, 4:
        with pytest.raises(AssertionError, match="SpecifyShape"):
            computed(*arguments, np.array([k]), out="int64[K, M] y, int64[K, M] z")


def test_all_entries_of_an_axis_of_open_length():
    nodes = """
        s = Shape(x)
        y, z = TopK(x, s)
        k = Constant<value_ints = [0]>()
        a, b = TopK(x, k)
    """
    out = "float[N] y, int64[N] z, float[0] a, int64[0] b"
    values, places, none, nowhere = computed(
        "float[N] x", nodes, np.array([1, 3, 2], "float32"), out=out
    )
    check(values, [3, 2, 1], "float32")
    check(places, [1, 2, 0], "int64")
    check(none, [], "float32")
    check(nowhere, [], "int64")


@pytest.mark.parametrize(
    ("node", "wanted"),
    [("ReduceMax", -np.inf), ("ReduceMin", np.inf), ("ReduceLogSum", -np.inf)],
)
def test_reductions_of_nothing_of_open_length(node, wanted):
    nodes = f"a = Constant<value_ints = [0]>() y = {node}<keepdims = 0>(x, a)"
    got = computed("float[N, 2] x", nodes, np.zeros((0, 2), "float32"), out="float[2] y")
    check(got, [wanted, wanted], "float32")


@pytest.mark.parametrize("upper", [0, 1])
def test_triangles_without_what_is_outside(upper):
    x = np.full((2, 3, 2), np.nan, "float32")
    k = np.int64(1)
    got = computed(
        "float[2, 3, 2] x, int64 k",
        f"y = Trilu<upper = {upper}>(x, k)",
        x,
        k,
        out="float[a, b, c] y",
    )
    wanted = (np.triu if upper else np.tril)(np.ones((3, 2)), 1)
    np.testing.assert_array_equal(np.isnan(got), np.broadcast_to(wanted, x.shape))


def test_small_integers_are_summed_in_their_dtype():
    x = np.array([100, 100, 2**31 - 1], "int32")
    nodes = "a = Constant<value_int = 0>() y = CumSum(x, a)"
    got = computed("int32[3] x", nodes, x, out="int32[3] y")
    check(got, np.array([100, 200, 2**31 + 199]).astype("int32"), "int32")


def test_products_of_integers_have_whole_factors():
    with pytest.raises(ImportedOpError, match="make the factor a whole number"):
        computed(
            "int32[2, 2] x", "y = Gemm<alpha = 0.5>(x, x)", np.zeros((2, 2)), out="int32[2, 2] y"
        )


@pytest.mark.parametrize(
    ("nodes", "wanted"),
    [("i = ArgMax<keepdims = 0>(c)", 1), ("s = Shape(c) v, i = TopK(c, s)", [1, 0])],
)
def test_gradient_past_integers(nodes, wanted):
    text = f"""(double[N] x) => (double[N] y) {{
        c = Cast<to = 7>(x) {nodes} j = Cast<to = 11>(i) y = Mul(x, j)
    }}"""
    model = from_onnx(parsed(text, 23))
    (x,) = model.inputs.values()
    gradient = grad(model.outputs["y"].sum(), x).eval({x: np.array([0.0, 3.0])}, mode=PYTHON)
    check(gradient, np.broadcast_to(wanted, 2), "float64")
