import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import UnsupportedOpError, export_onnx
from pytensor.scalar import xor
from pytensor.tensor.elemwise import CAReduce
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types

RNG = np.random.default_rng(1)
X = RNG.normal(size=(2, 3, 4))


def test_broadcasting():
    x = pt.tensor("x", shape=(None, 3, 4), dtype="float32")
    row, scalar = pt.fvector("row"), pt.fscalar("scalar")
    outputs = [x + row, x * scalar, row - scalar, x + x[:, :1], x * 2]
    compare_onnx_and_py([x, row, scalar], outputs, [X, [1, 2, 3, 4], 5])


def test_composite_of_a_fused_function():
    x, y = pt.fmatrices("x", "y")
    f = pytensor.function([x, y], pt.exp(x * 2) + pt.tanh(y) / 3, mode="FAST_RUN")
    model = export_onnx(f, verify=[X[0], X[1]])
    assert set(op_types(model)) <= {"Mul", "Exp", "Tanh", "Div", "Add"}
    assert not any("Composite" in p.value for n in model.graph.node for p in n.metadata_props)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ((2, 0, 1), ["Transpose"]),
        ((0, "x", 1, 2), ["Unsqueeze"]),
        (("x", 2, 1, "x", 0), ["Transpose", "Unsqueeze"]),
        ((0, 1, 2), []),
    ],
)
def test_dimshuffle(order, expected):
    x = pt.tensor3("x", dtype="float32")
    model = compare_onnx_and_py([x], pt.exp(x).dimshuffle(order), [X])
    assert sorted(op_types(model)) == sorted(["Exp", *expected])


def test_dimshuffle_drop():
    x = pt.tensor("x", shape=(None, 1, 3, 1), dtype="float32")
    values = X[:, None, :, :1]
    compare_onnx_and_py([x], [x.dimshuffle(2, 0), pt.squeeze(x)], [values])


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "uint16", "bool"])
def test_reductions(dtype, axis):
    x = pt.tensor3("x", dtype=dtype)
    values = np.abs(X * 3) if dtype.startswith("u") else X * 3
    outputs = [f(x, axis=axis) for f in (pt.sum, pt.prod, pt.any, pt.all)]
    outputs += [f(x, axis=axis) for f in (pt.max, pt.min)]
    compare_onnx_and_py([x], outputs, [values.astype(dtype)], rtol=1e-5)


def test_mean_variance_keepdims():
    x = pt.tensor("x", shape=(None, 3, 4), dtype="float32")
    outputs = [x.mean(axis=(1, 2)), x.var(axis=0, keepdims=True), x.std(axis=-1), x.argmax(axis=1)]
    compare_onnx_and_py([x], outputs, [X])


def test_reduction_without_onnx_counterpart():
    x = pt.lmatrix("x")
    with pytest.raises(UnsupportedOpError, match="reduction"):
        export_onnx([x], CAReduce(xor, axis=0)(x))
