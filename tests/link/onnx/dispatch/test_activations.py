import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx
from pytensor.link.onnx.write.builder import GraphBuilder
from pytensor.tensor.nn.activations import slopes_below_zero
from tests.catalogue.operators import ACTIVATIONS, OPERATORS
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types
from tests.utils import in_turn

# Half precision has NaN for SiLU's second gradient at 1e4
FUNCTIONS = {name: OPERATORS[name].build for name in ACTIVATIONS if name != "silu"}
OPSETS = (18, 19, 20, 24)
SPECIAL = [np.nan, np.inf, -1e4, -88, -6, -3, -0.5, -1e-4, -0.0, 0, 1e-4, 0.7, 3, 6, 20, 1e4]
# onnxruntime's Gelu in single precision adds 1 to a number near -1
TOLERANCES = {"float16": (1e-3, 1e-5), "float32": (2e-6, 2e-6), "float64": (1e-13, 1e-300)}
# One node in single precision
NODES = {
    "gelu": ("Gelu", 20),
    "gelu, tanh": ("Gelu", 20),
    "hardsigmoid, other slope": ("HardSigmoid", 18),
    "hardswish": ("HardSwish", 18),
    "leaky_relu": ("LeakyRelu", 18),
    "prelu, one slope": ("PRelu", 18),
    "relu": ("Relu", 18),
    "relu6": ("Clip", 18),
    "selu": ("Selu", 18),
    "softsign": ("Softsign", 18),
}


@in_turn("opset, dtype", OPSETS, ["float16", "float32", "float64"])
def test_values(dtype, opset):
    x = pt.vector("x", dtype=dtype)
    rtol, atol = TOLERANCES[dtype]
    outputs = [function(x) for function in FUNCTIONS.values()]
    compare_onnx_and_py([x], outputs, [SPECIAL], rtol=rtol, atol=atol, opset_version=opset)


@pytest.mark.parametrize("name", NODES)
@pytest.mark.parametrize("opset", OPSETS)
def test_operator(name, opset):
    x = pt.vector("x", dtype="float32")
    operator, since = NODES[name]
    types = op_types(export_onnx([x], FUNCTIONS[name](x), opset_version=opset))
    assert (types == [operator]) == (opset >= since)


def test_small_numbers_keep_their_digits():
    x = pt.vector("x", dtype="float32")
    for name in ("elu", "mish", "softsign"):
        value = -np.logspace(-30, 0, 61)
        compare_onnx_and_py([x], FUNCTIONS[name](x), [value], rtol=2e-6, atol=0)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_gradients(dtype):
    x = pt.vector("x", dtype=dtype)
    sums = [function(x).sum(dtype=dtype) for function in FUNCTIONS.values()]
    rtol, atol = TOLERANCES[dtype]
    gradients = [pytensor.grad(total, x) for total in sums]
    compare_onnx_and_py([x], gradients, [SPECIAL[2:]], rtol=rtol, atol=atol)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("shapes", "static"),
    [(((2, 3, 4), (3, 1)), True), (((2, 3), ()), False), (((1, 3), (2, 1)), False)],
)
def test_prelu(shapes, static, dtype):
    values = [np.random.default_rng(0).normal(size=s) for s in shapes]
    x, alpha = (
        pt.tensor(name, shape=s if static else [1 if n == 1 else None for n in s], dtype=dtype)
        for name, s in zip(("x", "alpha"), shapes, strict=True)
    )
    out = slopes_below_zero(x, alpha)
    gradients = pytensor.grad(out.sum(dtype=dtype), [x, alpha])
    compare_onnx_and_py([x, alpha], [out, *gradients], values)
    # The operator doesn't broadcast its input
    single = dtype == "float32" and shapes[0][0] != 1
    types = op_types(export_onnx([x, alpha], out))
    assert ("PRelu" in types) == single


@pytest.mark.parametrize(("opset", "swish"), [(23, True), (24, False), (24, True)])
def test_swish(opset, swish):
    x = pt.vector("x", dtype="float32")
    out = pt.silu(x)
    builder = GraphBuilder(opset, swish=swish)
    builder.write([(x, "x")], {}, [(out, "y")])
    expected = ["Swish"] if swish and opset == 24 else ["Sigmoid", "Mul"]
    assert [node.op_type for node in builder.graph.nodes] == expected
