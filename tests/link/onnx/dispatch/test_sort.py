import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import pytensor.tensor as pt
from pytensor.tensor.topk import TopKGrad
from tests.link.onnx.strategies import tensors_with_ties
from tests.link.onnx.test_basic import compare_onnx_and_py

X = np.random.default_rng(4).permutation(60).reshape(3, 4, 5)


def test_sort_is_stable():
    x = pt.dvector("x")
    value = np.resize([2.0, np.nan, 0.0, np.inf, -0.0, -np.inf], 1000)
    compare_onnx_and_py([x], [pt.argsort(x, stable=True), *pt.topk(x, 700)], [value])


@given(data=st.data())
def test_sort_of_any_dtype(data):
    x, value = data.draw(tensors_with_ties())
    axis = data.draw(st.sampled_from([None, *range(x.ndim)]))
    outputs = [pt.sort(x, axis=axis), pt.argsort(x, axis=axis, stable=True)]
    compare_onnx_and_py([x], outputs, [value], rtol=0, atol=0)


@given(data=st.data())
def test_topk_of_any_dtype(data):
    x, value = data.draw(tensors_with_ties(min_side=1, min_dims=1))
    axis = data.draw(st.integers(0, x.ndim - 1))
    k = data.draw(st.integers(1, value.shape[axis]))
    compare_onnx_and_py([x], pt.topk(x, k, axis=axis), [value], rtol=0, atol=0)


def test_topk_grad_of_another_dtype():
    x = pt.tensor("x", shape=(None, 4, 5), dtype="float16")
    weights = np.arange(3.0 * 2 * 5).reshape(3, 2, 5)
    _, indices = pt.topk(x, 2, axis=1)
    compare_onnx_and_py([x], TopKGrad(1)(x, indices, pt.as_tensor(weights)), [X])
