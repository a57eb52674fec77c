import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types

RNG = np.random.default_rng(6)
X = RNG.normal(size=(2, 4, 9, 11)).astype("float32")


def parameters(channels):
    values = [RNG.normal(size=channels) for _ in range(3)] + [RNG.uniform(0.5, 2, channels)]
    names = ("gamma", "beta", "mean", "variance")
    return [
        pytensor.shared(value.astype("float32"), name=f"bn.{name}")
        for name, value in zip(names, values, strict=True)
    ]


def test_batch_norm_alone():
    x = pt.tensor("x", shape=(None, 4, None, None), dtype="float32")
    y = pt.batch_normalization(x, *parameters(4), epsilon=1e-3)
    model = compare_onnx_and_py([x], y, [X])
    assert op_types(model) == ["BatchNormalization"]


def test_batch_norm_with_run_time_parameters():
    x = pt.tensor("x", shape=(None, 4, None, None), dtype="float32")
    vectors = [pt.tensor(name, shape=(4,), dtype="float32") for name in "abcd"]
    values = [p.get_value() for p in parameters(4)]
    compare_onnx_and_py([x, *vectors], pt.batch_normalization(x, *vectors), [X, *values])


def test_other_axes():
    x = pt.tensor("x", shape=(None, 4, 9, 11), dtype="float32")
    y = pt.batch_normalization(x, *parameters(11), axes=(0, 1, 2))
    compare_onnx_and_py([x], y, [X])


@pytest.mark.parametrize("spelled_out", [True, False])
def test_batch_norm_is_folded_into_the_convolution(spelled_out):
    x = pt.tensor("x", shape=(None, 4, None, None), dtype="float32")
    w = pytensor.shared(RNG.normal(size=(6, 4, 3, 2)).astype("float32"), name="conv.weight")
    gamma, beta, mean, variance = parameters(6)
    y = pt.conv2d(x, w, subsample=(2, 1))
    if spelled_out:
        g, b, m, v = (p[None, :, None, None] for p in (gamma, beta, mean, variance))
        y = (y - m) * (g / pt.sqrt(v + np.float32(1e-3))) + b
    else:
        y = pt.batch_normalization(y, gamma, beta, mean, variance, epsilon=1e-3)
    model = compare_onnx_and_py([x], pt.silu(y), [X], atol=1e-4)
    assert op_types(model) == ["Conv", "Sigmoid", "Mul"]
    names = [i.name for i in model.graph.initializer]
    assert names[0] == "conv.weight"
    assert len(names) == 2


def test_convolution_with_two_readers_is_not_folded():
    x = pt.tensor("x", shape=(None, 4, None, None), dtype="float32")
    w = pytensor.shared(RNG.normal(size=(6, 4, 3, 2)).astype("float32"), name="conv.weight")
    y = pt.conv2d(x, w)
    z = pt.batch_normalization(y, *parameters(6))
    model = compare_onnx_and_py([x], [y, z], [X], atol=1e-4)
    assert op_types(model) == ["Conv", "BatchNormalization"]
