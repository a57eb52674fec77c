"""Networks of pytensor-ml, exported; and one that is trained in `jax_mode`."""

import numpy as np
import pytest
from sklearn import datasets

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import jax_mode
from pytensor.link.onnx import export_onnx

pytest.importorskip("pytensor_ml", reason="pytensor-ml isn't installed")

from pytensor_ml import activations, layers, loss, model, optim, pytensorf, util
from pytensor_ml.layers.conv import Im2Col

from tests.link.onnx.test_basic import run

RNG = np.random.default_rng(0)
IMAGES, SEQUENCES = (None, 6, None, 4), (None, 5, 4)
CHANNELS = {"in_channels": 4, "out_channels": 3}
LAYERS = {
    "conv": (IMAGES, {"Conv"}, lambda: layers.Conv2D(
        **CHANNELS, kernel_size=(3, 2), stride=(1, 2), dilation=(2, 1), padding="same")),
    "conv1d": (SEQUENCES, {"Conv"}, lambda: layers.Conv1D(**CHANNELS, kernel_size=2, bias=False)),
    "conv_transpose": (IMAGES, {"ConvTranspose"}, lambda: layers.ConvTranspose2D(
        **CHANNELS, kernel_size=3, stride=2, padding=1, output_padding=1)),
    # onnxruntime 1.31.1 breaks the gradient over an open length: an optimization of its transposes.
    "max_pool": ((None, 6, 7, 4), {"MaxPool"}, lambda: layers.MaxPool2D(kernel_size=3, stride=1)),
    "average_pool": (IMAGES, {"AveragePool"}, lambda: layers.AvgPool2D(padding=1)),
    "windows": (IMAGES, {"Slice"}, lambda: Im2Col((2, 3), (2, 1), (1, 2))),
    "upsampling": (IMAGES, set(), lambda: layers.Upsample2D(scale_factor=2)),
    "reflection": (IMAGES, {"Pad"}, lambda: layers.ReflectionPad2D(padding=2)),
    "linear": (SEQUENCES, {"MatMul"}, lambda: layers.Linear(n_in=4, n_out=3)),
    "batch_norm": (IMAGES, set(), lambda: layers.BatchNorm(n_in=4)),
    "group_norm": (IMAGES, set(), lambda: layers.GroupNorm(n_groups=2, n_in=4)),
    "layer_norm": (SEQUENCES, set(), lambda: layers.LayerNorm(n_in=4)),
    "rms_norm": (SEQUENCES, set(), lambda: layers.RMSNorm(n_in=4)),
    "dropout": (IMAGES, set(), lambda: layers.Dropout(p=0.5)),
    "attention": (SEQUENCES, {"Softmax"}, lambda: layers.MultiheadAttention(
        n_embd=4, n_head=2, is_causal=True)),
    "transformer": (SEQUENCES, {"Softmax"}, lambda: layers.TransformerBlock(
        d_model=4, n_head=2, dropout=0.1)),
    "gru": (SEQUENCES, {"Loop"}, lambda: layers.GRU(n_in=4, n_hidden=3)),
    "lstm": (SEQUENCES, {"Loop"}, lambda: layers.LSTM(n_in=4, n_hidden=3)),
}  # fmt: skip
GRADIENTS = ["conv", "conv_transpose", "max_pool", "average_pool", "windows"]


@pytest.fixture(autouse=True)
def single_precision():
    with pytensor.config.change_flags(floatX="float32"):
        yield


def called(name):
    """Return a layer's input, the inference graph of its output, and numbers for the input."""
    shape, _, make = LAYERS[name]
    x = layers.Input("x", shape=shape)
    y = make()(x)
    (y,) = pytensorf.rewrite_for_prediction([y[0] if isinstance(y, list | tuple) else y])
    size = [n or [2, 0, 7][axis] for axis, n in enumerate(shape)]
    return x, y, RNG.normal(size=size).astype("float32")


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_exported(name):
    """`verify` compares with PyTensor."""
    x, y, numbers = called(name)
    file = export_onnx(x, y, verify=[numbers])
    assert {node.op_type for node in file.graph.node} >= LAYERS[name][1]


@pytest.mark.slow
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_exported(name):
    x, y, numbers = called(name)
    export_onnx(x, pt.grad((y**2).sum(), x), verify=[numbers])


@pytest.mark.slow
def test_a_network_is_trained_in_jax_mode_and_exported():
    images, digits = datasets.load_digits(return_X_y=True)
    images, digits = images.reshape(-1, 8, 8, 1)[:600] / 16, np.eye(10)[digits[:600]]
    network = layers.Sequential(
        layers.Conv2D(in_channels=1, out_channels=8, kernel_size=3, padding="same"),
        activations.ReLU(), layers.MaxPool2D(), layers.Dropout(p=0.2, random_state=0),
        layers.Flatten, layers.Linear(n_in=128, n_out=10),
    )  # fmt: skip
    x = layers.Input("x", shape=(None, 8, 8, 1))
    net = model.Model(network(x), {"mode": jax_mode()}).initialize(seed=0)
    cost = loss.CrossEntropy(expect_onehot_labels=True, expect_logits=True)
    step = net.compile_train(optim.adam(1e-2), cost)
    batches = util.DataLoader(images[:500], digits[:500], batch_size=50, random_state=0)
    for _ in range(60):
        step(*batches())
    new = images[500:].astype("float32")
    file = export_onnx(x, pytensorf.rewrite_for_prediction(net.y), output_names=["y"], verify=[new])
    (y,) = run(file, [new])
    np.testing.assert_allclose(y, net.predict(new), rtol=1e-4, atol=1e-4)
    assert (y.argmax(axis=1) == digits[500:].argmax(axis=1)).mean() > 0.6
