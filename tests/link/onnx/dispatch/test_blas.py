import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx
from pytensor.tensor.blas import BatchedDot, Dot22, Dot22Scalar, Gemm, Gemv
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types

RNG = np.random.default_rng(2)


def test_compiled_function():
    x, y, v = pt.matrix("x"), pt.matrix("y"), pt.vector("v")
    w = pytensor.shared(RNG.normal(size=(4, 5)), name="w")
    outputs = [0.5 * x @ w + y, w @ v, v + 2 * y @ v, x @ w * 2]
    f = pytensor.function([x, y, v], outputs, mode="FAST_COMPILE")
    model = export_onnx(f, verify=[RNG.normal(size=s) for s in ((5, 4), (5, 5), (5,))])
    assert op_types(model).count("MatMul") >= 3


def test_products_of_no_terms():
    x, y, z = pt.dmatrices("xyz")
    (u, v), (a, b) = pt.dvectors("uv"), pt.dscalars("ab")
    outputs = [
        Dot22()(x, y),
        Dot22Scalar()(x, y, a),
        Gemm(inplace=False)(z, a, x, y, b),
        Gemv(inplace=False)(u, a, x, v, b),
        BatchedDot()(x[None], y[None]),
    ]
    inputs = [x, y, z, u, v, a, b]
    shapes = (2, 0), (0, 4), (2, 4), (2,), (0,)
    values = [RNG.normal(size=shape) for shape in shapes]
    compare_onnx_and_py(inputs, outputs, [*values, 0.5, -2], optimize=False)


@pytest.mark.parametrize("is_constant", [True, False])
def test_zero_beta_drops_what_is_not_a_number(is_constant):
    z, x, b = pt.matrix("z"), pt.matrix("x"), pt.scalar("b")
    zero, one = pt.constant(0.0, dtype="float64"), pt.constant(1.0, dtype="float64")
    output = Gemm(inplace=False)(z, one, x, x, zero if is_constant else b)
    values = [np.full((2, 2), np.nan), RNG.normal(size=(2, 2)), 0]
    compare_onnx_and_py([z, x, b], output, values, optimize=False)
