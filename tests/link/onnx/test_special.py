import numpy as np
import pytest

import pytensor.tensor as pt
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types

X = np.random.default_rng(3).normal(size=(2, 3, 4)) * 20


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("function", [pt.special.softmax, pt.special.log_softmax])
def test_softmax(function, axis):
    x = pt.tensor3("x", dtype="float32")
    model = compare_onnx_and_py([x], function(x, axis=axis), [X])
    assert len(op_types(model)) == 1


def test_softmax_over_several_axes():
    x = pt.tensor3("x", dtype="float32")
    outputs = [pt.special.softmax(x, axis=None), pt.special.log_softmax(x, axis=(0, 2))]
    compare_onnx_and_py([x], outputs, [X])


def test_softmax_is_recognized():
    x = pt.fmatrix("x")
    e = pt.exp(x)
    model = compare_onnx_and_py([x], e / e.sum(axis=1, keepdims=True), [X[0] / 20])
    assert op_types(model) == ["Softmax"]


def test_logsumexp():
    x = pt.tensor3("x", dtype="float32")
    compare_onnx_and_py([x], pt.logsumexp(x, axis=1), [X])
