"""Arithmetic of a file where real numbers would allow another."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.graph.replace import vectorize_graph
from pytensor.link.jax import jax_mode
from pytensor.link.onnx import export_onnx, from_onnx
from tests.link.onnx.importing.with_onnxruntime import in_onnxruntime, in_pytensor, parsed
from tests.link.onnx.test_basic import op_types, run

TENTH, THIRD = np.float32(0.1), np.float32(0.3)
TENTHS = np.arange(-300, 300, dtype="float32") * THIRD
FAST, MICROSOFTS = "FAST_COMPILE", ', "com.microsoft": 1'
SPECIAL = np.array([0, 2, np.inf, np.nan], "float32")

# Nodes, what `c` is, and the values of `x`
CASES = {
    "quotient, rounded": ("q = Div(x, c) y = Floor(q)", THIRD, TENTHS),
    "two quotients, rounded": ("p = Div(x, c) q = Div(p, c) y = Ceil(q)", THIRD, TENTHS),
    "quotient, cast": ("q = Div(x, c) i = Cast<to = 7>(q) y = Cast<to = 1>(i)", THIRD, TENTHS),
    "quotient, compared": (
        "q = Div(x, c) r = Round(q) e = Equal(q, r) y = Cast<to = 1>(e)",
        TENTH,
        TENTHS,
    ),
    "computed scale": ("s = Div(c, c) t = Mul(s, c) q = Div(x, t) y = Floor(q)", THIRD, TENTHS),
    "reshaped": (
        "q = Div(x, c) a = Constant<value_ints = [2, -1]>() r = Reshape(q, a) y = Floor(r)",
        THIRD,
        TENTHS,
    ),
    "equal to itself": ("e = Equal(x, x) y = Cast<to = 1>(e)", TENTH, SPECIAL),
    "added and subtracted": ("a = Add(x, c) y = Sub(a, c)", np.float32(12582912), TENTHS),
    "subtracted and added": ("a = Sub(c, x) y = Sub(c, a)", np.float32(12582912), TENTHS),
    "divided by itself": ("y = Div(x, x)", TENTH, SPECIAL),
    "multiplied and divided": ("p = Mul(x, c) y = Div(p, x)", TENTH, SPECIAL),
    "less itself": ("y = Sub(x, x)", TENTH, SPECIAL),
    "zero times": ("y = Mul(x, c)", np.float32(0), SPECIAL),
}  # fmt: skip
MODES = ["FAST_COMPILE", "FAST_RUN", "NUMBA", "ONNX", "jax_mode", "exported again"]


def model_of(case):
    nodes, c, x = CASES[case]
    shape = "[M, K]" if case == "reshaped" else "[N]"
    text = f"(float[N] x) => (float{shape} y) <float c = {{{c:.9g}}}> {{ {nodes} }}"
    return parsed(text, 20), x


def computed(model, x, mode):
    read = from_onnx(model)
    inputs, outputs = [*read.inputs.values()], [*read.outputs.values()]
    if mode == "exported again":
        return in_onnxruntime(export_onnx(inputs, outputs), [x])[0]
    mode = jax_mode() if mode == "jax_mode" else mode
    return np.asarray(pytensor.function(inputs, outputs, mode=mode)(x)[0])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES)
def test_arithmetic_of_the_file(case, mode):
    model, x = model_of(case)
    np.testing.assert_array_equal(computed(model, x, mode), in_onnxruntime(model, [x])[0])


def test_what_only_real_numbers_read_stays_plain():
    """Models of floats cost what they did: their Ops are those that PyTensor's rewrites know."""
    text = "p = Mul(x, c) q = Add(p, x) r = Div(q, c) y = Sub(r, c)"
    model = parsed(f"(float[N] x) => (float[N] y) <float c = {{2}}> {{ {text} }}", 20)
    y = from_onnx(model).outputs["y"]
    nodes = pytensor.graph.traversal.toposort([y])
    assert not any("AsWritten" in type(getattr(n.op, "scalar_op", None)).__name__ for n in nodes)


def test_gradient_and_vectorization():
    """What is kept has the gradient of a quotient, and one node computes a batch."""
    model, _ = model_of("multiplied and divided")
    read = from_onnx(model)
    x, y = read.inputs["x"], read.outputs["y"]
    g = pytensor.grad((y**2).sum(), x)
    batch = pt.matrix("x", dtype="float32")
    value = np.arange(1, 7, dtype="float32").reshape(2, 3)
    results = vectorize_graph([y, g], {x: batch})
    f = pytensor.function([batch], results, mode="FAST_COMPILE")
    for result, wanted in zip(f(value), (0.1, 0), strict=True):
        np.testing.assert_allclose(result, np.full((2, 3), wanted), atol=1e-7)


def test_export_has_no_trace_of_it():
    model, _ = model_of("quotient, rounded")
    read = from_onnx(model)
    again = export_onnx([*read.inputs.values()], [*read.outputs.values()])
    assert op_types(again) == ["Div", "Floor"]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_quantized_numbers(dtype):
    """onnxruntime divides in float32, and so is int32 times a float16 scale."""
    kind = {"float16": "float16", "float32": "float"}[dtype]
    model = parsed(f"""({kind}[N] x) => (int8[N] y, {kind}[N] z)
        <float s = {{0.1}}, float t = {{0.001}}, int8 zero = {{3}}, int32 k = {{1000}}>
        {{ scale = CastLike(s, x) tiny = CastLike(t, x)
           y = QuantizeLinear(x, scale, zero)
           number = Cast<to = 6>(y) large = Mul(number, k)
           z = DequantizeLinear(large, tiny) }}""", 21)
    x = (np.arange(-800, 800) / 64).astype(dtype)
    for result, wanted in zip(in_pytensor(model, [x], FAST), run(model, [x]), strict=True):
        np.testing.assert_array_equal(result, wanted)


def test_scores_of_half_precision():
    """Sums beyond 65,504 are in single precision, as in onnxruntime."""
    rng = np.random.default_rng(0)
    feed = [(rng.normal(size=(1, 4, 16)) * s).astype("float16") for s in (120, 120, 1)]
    model = parsed("""
        (float16[1, 4, 16] q, float16[1, 4, 16] k, float16[1, 4, 16] v) => (float16[1, 4, 16] y)
        { y = com.microsoft.MultiHeadAttention<num_heads = 2>(q, k, v) }""", domains=MICROSOFTS)
    (result,), (wanted,) = in_pytensor(model, feed, FAST), run(model, feed)
    np.testing.assert_allclose(result, wanted, rtol=2e-3, atol=2e-3)


def test_quantized_products():
    """onnxruntime multiplies by one quotient of scales; each pair of bytes is compared."""
    model = parsed("""(uint8[256, 1] a, uint8[1, 256] b) => (uint8[256, 256] y)
        <float s = {0.013}, float t = {0.007}, float u = {0.021}, uint8 z = {100}>
        { y = com.microsoft.QLinearMul(a, s, z, b, t, z, u, z) }""", domains=MICROSOFTS)
    every = np.arange(256, dtype="uint8")
    feed = every[:, None], every[None]
    np.testing.assert_array_equal(in_pytensor(model, feed, FAST), run(model, feed))
