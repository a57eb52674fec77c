import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types

RNG = np.random.default_rng(2)


@pytest.mark.parametrize(
    ("left", "right"),
    [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)),
     ((5, 2, 3), (5, 3, 4)), ((1, 6, 2, 3), (5, 1, 3, 4))],
)  # fmt: skip
def test_matmul(left, right):
    static = [tuple(1 if n == 1 else None for n in shape) for shape in (left, right)]
    x = pt.tensor("x", shape=static[0], dtype="float32")
    y = pt.tensor("y", shape=static[1], dtype="float32")
    values = [RNG.normal(size=shape) for shape in (left, right)]
    model = compare_onnx_and_py([x, y], pt.matmul(x, y), values)
    assert "MatMul" in op_types(model) or len(left) == len(right) == 1


def test_matmul_of_batches_is_one_node():
    x = pt.tensor("x", shape=(None, 2, 4, 5), dtype="float32")
    model = compare_onnx_and_py([x], pt.exp(x).mT @ pt.exp(x), [RNG.normal(size=(3, 2, 4, 5))])
    assert op_types(model) == ["Exp", "Transpose", "MatMul"]


def test_tensordot_and_einsum():
    x = pt.tensor("x", shape=(None, 3, 4), dtype="float32")
    y = pt.tensor("y", shape=(3, 4, None), dtype="float32")
    outputs = [pt.tensordot(x, y, axes=[[1, 2], [0, 1]]), pt.einsum("ijk,jkl->il", x, y)]
    values = [RNG.normal(size=(2, 3, 4)), RNG.normal(size=(3, 4, 5))]
    compare_onnx_and_py([x, y], outputs, values)


@pytest.mark.parametrize("dtype", ["int32", "int64", "int8", "float64"])
def test_dot_dtypes(dtype):
    x, y = pt.matrix("x", dtype=dtype), pt.matrix("y", dtype=dtype)
    compare_onnx_and_py([x, y], x @ y, [np.arange(6).reshape(2, 3), np.arange(12).reshape(3, 4)])


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_blas_of_compiled_functions(mode):
    x, y, v = pt.matrix("x"), pt.matrix("y"), pt.vector("v")
    w = pytensor.shared(RNG.normal(size=(4, 5)), name="w")
    outputs = [0.5 * x @ w + y, w @ v, v + 2 * y @ v, x @ w * 2]
    f = pytensor.function([x, y, v], outputs, mode=mode)
    model = export_onnx(f, verify=[RNG.normal(size=s) for s in ((5, 4), (5, 5), (5,))])
    assert op_types(model).count("MatMul") >= 3


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_argmax(axis):
    x = pt.tensor3("x", dtype="float32")
    values = RNG.integers(0, 4, size=(2, 3, 5))
    compare_onnx_and_py([x], [pt.argmax(x, axis=axis), pt.argmin(x, axis=axis)], [values])


def test_argmax_of_several_axes():
    x = pt.tensor3("x", dtype="int16")
    values = RNG.integers(0, 40, size=(2, 3, 5))
    compare_onnx_and_py([x], [pt.argmax(x, axis=(0, 2)), pt.argmax(x, axis=(0, 1))], [values])
