import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import pytensor.tensor as pt
from tests.link.onnx.strategies import DTYPES, axes_of, tensors
from tests.link.onnx.test_basic import compare_onnx_and_py


def test_argmax_keeps_axes_without_elements():
    x = pt.tensor("x", shape=(None, 3, None, None), dtype="float32")
    outputs = [pt.argmax(x, axis=axis) for axis in (1, (1, 2), (1, 3))]
    compare_onnx_and_py([x], outputs, [np.zeros((0, 3, 5, 2))])
    compare_onnx_and_py([x], outputs[1:2], [np.zeros((2, 3, 5, 0))])


def test_argmax_of_special_values():
    x = pt.fmatrix("x")
    value = [
        [0, np.nan, 1, np.nan], [np.inf, 2, np.nan, 9], [1, np.inf, np.inf, -1], [-1, -0.0, 0, -2]
    ]  # fmt: skip
    outputs = [f(x, axis=axis) for f in (pt.argmax, pt.argmin) for axis in (None, 0, 1)]
    compare_onnx_and_py([x], outputs, [value])


@given(data=st.data())
def test_argmax_of_any_dtype(data):
    x, value = data.draw(tensors(DTYPES, min_side=1))
    compare_onnx_and_py([x], pt.argmax(x, axis=data.draw(axes_of(x.ndim))), [value])
