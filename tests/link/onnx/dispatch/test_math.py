import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import pytensor.tensor as pt
from tests.link.onnx.strategies import DTYPES, arrays
from tests.link.onnx.test_basic import compare_onnx_and_py

RNG = np.random.default_rng(2)


@pytest.mark.parametrize(
    ("axes", "right"), [(0, (5, 2)), (2, (3, 4, 5)), ([[0, 2], [2, 1]], (5, 4, 2))]
)
def test_tensordot(axes, right):
    shapes = (2, 3, 4), right
    # With sizes that aren't static, PyTensor checks them.
    x, y = (pt.tensor(name, dtype="int16", shape=s) for name, s in zip("xy", shapes, strict=True))
    values = [RNG.integers(-90, 90, s) for s in shapes]
    compare_onnx_and_py([x, y], pt.tensordot(x, y, axes=axes), values)


@st.composite
def operands(draw):
    """Draw two arrays that matmul multiplies, whose dtypes may differ, and what is static."""
    m, n, k = (draw(st.integers(0, 3)) for _ in range(3))
    batches = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=2, max_side=3))
    shapes = [(*batches.input_shapes[0], m, k), (*batches.input_shapes[1], k, n)]
    if draw(st.booleans()):
        shapes[0] = (k,)
    if draw(st.booleans()):
        shapes[1] = (k,)
    dtype = draw(st.sampled_from(DTYPES))
    dtypes = [dtype, draw(st.just(dtype) | st.sampled_from(DTYPES))]
    is_static = draw(st.booleans())
    # Sums of extremes of floats depend on their order.
    values = [
        draw(arrays(d, s, special=np.dtype(d).kind not in "f"))
        for d, s in zip(dtypes, shapes, strict=True)
    ]
    variables = [
        pt.tensor(name, dtype=v.dtype, shape=[n if is_static or n == 1 else None for n in v.shape])
        for name, v in zip("xy", values, strict=True)
    ]
    return variables, values


@given(operands())
def test_any_matmul(drawn):
    variables, values = drawn
    compare_onnx_and_py(variables, pt.matmul(*variables), values, exact=True)


def test_empty_products_of_a_broadcast_batch():
    x, y = pt.fmatrix("x"), pt.ftensor3("y")
    compare_onnx_and_py([x, y], x @ y, [np.ones((0, 0)), np.ones((2, 0, 0))], exact=True)
    compare_onnx_and_py([x, y], x @ y, [np.ones((2, 3)), np.ones((4, 3, 5))], exact=True)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dot_of_special_values(dtype):
    x, y = pt.matrix("x", dtype=dtype), pt.matrix("y", dtype=dtype)
    values = [[[np.nan, 0, 1], [0, 0, 2], [np.inf, 1, -np.inf]], [[0, 1], [3, 0], [0, 1]]]
    with np.errstate(invalid="ignore"):
        compare_onnx_and_py([x, y], x @ y, values)
