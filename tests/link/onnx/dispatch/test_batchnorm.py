import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import get_mode
from pytensor.link.onnx import export_onnx
from pytensor.tensor.batchnorm import inference_form
from tests.link.onnx.test_basic import compare_onnx_and_py, op_types, run

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


def test_other_axes_and_broadcast_parameters():
    x = pt.tensor("x", shape=(None, 4, 9, 11), dtype="float32")
    y = pt.batch_normalization(x, *parameters(11), axes=(0, 1, 2))
    vectors = [np.full(1, value, "float32") for value in (2, 1, 0.5, 3)]
    open_lengths = pt.tensor4("open_lengths", dtype="float32")
    outputs = [y, pt.batch_normalization(open_lengths, *vectors)]
    compare_onnx_and_py([x, open_lengths], outputs, [X, X])


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


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_other_precisions(dtype):
    x = pt.tensor("x", shape=(None, 4, None, None), dtype=dtype)
    # With little variance epsilon counts, and ONNX's attribute for it has single precision
    vectors = [p.get_value().astype(dtype) for p in parameters(4)[:3]] + [np.full(4, 1e-6, dtype)]
    tolerance = {"rtol": 1e-13} if dtype == "float64" else {"rtol": 1e-2}
    y = pt.batch_normalization(x, *vectors, epsilon=1e-3)
    compare_onnx_and_py([x], y, [X], atol=0, **tolerance)


@pytest.mark.parametrize("shape", [(3, 4, 5, 2), (1, 4), (1, 4, 1, 1)])
def test_running_statistics(shape):
    x = pt.tensor("x", shape=shape, dtype="float32")
    four = [pt.tensor(name, shape=(4,), dtype="float32") for name in "gbmv"]
    outputs = pt.batch_normalization_train(
        x,
        *four[:2],
        axes="spatial",
        running_mean=four[2],
        running_var=four[3],
        running_var_ddof=1,
    )
    value = RNG.normal(3, 1, shape)
    if shape[0] > 1:
        value[0, 1, 2, 1], value[1, 2, 0, 0] = np.nan, np.inf
    values = [value, *(RNG.uniform(0.5, 2, 4) for _ in four)]
    model = compare_onnx_and_py([x, *four], [*outputs], values)
    # onnxruntime's kernel for training_mode takes differences of large products, and mistakes
    # inputs with equal values for one another.
    assert "BatchNormalization" not in op_types(model)


@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 4, 0)])
def test_empty_batch(shape):
    x = pt.tensor("x", shape=shape, dtype="float32")
    four = [pt.tensor(name, shape=(4,), dtype="float32") for name in "gbmv"]
    outputs = pt.batch_normalization_train(
        x, *four[:2], axes="spatial", running_mean=four[2], running_var=four[3]
    )
    gradients = pt.grad(pt.sum(outputs[0] ** 2) + pt.sum(outputs[4] ** 2), [x, *four[:2]])
    values = [np.ones(shape), *(RNG.uniform(0.5, 2, 4) for _ in four)]
    compare_onnx_and_py([x, *four], [*outputs, *gradients], values, exact=True)


def test_inference_form_folds():
    x = pt.tensor("x", shape=(None, 4, None, None), dtype="float32")
    w = pytensor.shared(RNG.normal(size=(6, 4, 3, 2)).astype("float32"), name="conv.weight")
    gamma, beta, mean, variance = parameters(6)
    out, *_ = pt.batch_normalization_train(
        pt.conv2d(x, w), gamma, beta, "spatial", running_mean=mean, running_var=variance
    )
    model = compare_onnx_and_py([x], inference_form(out), [X], atol=1e-4)
    assert op_types(model) == ["Conv"]
    # So does a function that was compiled with the convolution's filters scaled in the graph
    for mode in ("CVM", get_mode("CVM").including("batch_normalization_inference")):
        compiled = pytensor.function([x], inference_form(out), mode=mode)
        exported = export_onnx(compiled)
        assert op_types(exported) == ["Conv"]
        names = [i.name for i in exported.graph.initializer]
        assert names == [i.name for i in model.graph.initializer]
        np.testing.assert_allclose(run(exported, [X])[0], run(model, [X])[0], atol=1e-4)
