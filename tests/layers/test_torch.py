"""Networks that load PyTorch's state dicts, and give its numbers."""

import json

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor import layers
from tests.layers.torch_networks import FILE, INPUTS, inputs, value_of
from tests.utils import REFERENCE_MODE

RECORDED = json.loads(FILE.read_text())


class Block(layers.Module):
    def __init__(self, n_in, n_out, stride):
        self.conv1 = layers.Conv2d(n_in, n_out, 3, stride, 1, bias=False)
        self.bn1 = layers.BatchNorm2d(n_out)
        self.conv2 = layers.Conv2d(n_out, n_out, 3, 1, 1, bias=False)
        self.bn2 = layers.BatchNorm2d(n_out)
        self.downsample = None
        if stride != 1 or n_in != n_out:
            self.downsample = layers.Sequential(
                layers.Conv2d(n_in, n_out, 1, stride, bias=False), layers.BatchNorm2d(n_out)
            )

    def __call__(self, x):
        y = self.bn2(self.conv2(pt.nn.relu(self.bn1(self.conv1(x)))))
        return pt.nn.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet18(layers.Module):
    def __init__(self, widths=(4, 4, 6, 8, 8)):
        self.conv1 = layers.Conv2d(3, widths[0], 7, 2, 3, bias=False)
        self.bn1 = layers.BatchNorm2d(widths[0])
        for k in range(1, 5):
            n_in, n_out = widths[k - 1], widths[k]
            blocks = Block(n_in, n_out, 1 if k == 1 else 2), Block(n_out, n_out, 1)
            setattr(self, f"layer{k}", layers.Sequential(*blocks))
        self.fc = layers.Linear(widths[-1], 5)

    def __call__(self, x):
        x = pt.nn.max_pool2d(pt.nn.relu(self.bn1(self.conv1(x))), 3, stride=2, padding=1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


class Transformer(layers.Module):
    def __init__(self):
        self.self_attn = layers.MultiHeadAttention(8, 2)
        self.linear1, self.linear2 = layers.Linear(8, 16), layers.Linear(16, 8)
        self.norm1, self.norm2 = layers.LayerNorm(8), layers.LayerNorm(8)

    def __call__(self, x):
        x = x + self.self_attn(self.norm1(x), causal=True)
        return x + self.linear2(pt.nn.gelu(self.linear1(self.norm2(x))))


class LSTM(layers.LSTM):
    def __call__(self, x, *state):
        y, last = super().__call__(x, state)
        return (y, *last)


NETWORKS = {
    "resnet18": ResNet18,
    "transformer": Transformer,
    "attention": lambda: layers.MultiHeadAttention(8, 2),
    "lstm": lambda: LSTM(3, 4, 2, bidirectional=True),
    "gru": lambda: layers.GRU(3, 4, 2),
    "normalizations": lambda: layers.Sequential(
        layers.BatchNorm1d(6, momentum=0.2), layers.GroupNorm(3, 6), layers.LayerNorm((6, 4)),
        layers.RMSNorm(4), layers.InstanceNorm1d(6, affine=True), layers.LayerNorm(4, bias=False),
    ),
    "convolutions": lambda: layers.Sequential(
        layers.Conv1d(4, 6, 3, 2, 1, groups=2), pt.nn.relu,
        layers.ConvTranspose1d(6, 2, 3, 2, 1, 1),
    ),
}  # fmt: skip


def outputs_of(net, variables):
    out = net(*variables)
    return list(out) if isinstance(out, tuple) else [out]


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_numbers_are_those_of_torch(name):
    recorded = RECORDED[name]
    net = NETWORKS[name]()
    net.load_state_dict({key: value_of(key, shape) for key, shape in recorded["shapes"].items()})
    variables = [pt.tensor(shape=(None,) * len(shape)) for shape in INPUTS[name]]
    if name == "resnet18":
        variables = [pt.tensor(shape=INPUTS[name][0])]
    plain = outputs_of(net, variables)
    with layers.training() as updates:
        trained = outputs_of(net, variables)
    cost = sum((v * pt.cos(pt.arange(v.size)).reshape(v.shape)).sum() for v in trained)
    named = net.named_parameters()
    gradients = pytensor.grad(cost, [*named.values()])
    norms = [pt.sqrt((gradient**2).sum()) for gradient in gradients]
    f = pytensor.function(
        variables, [*plain, *trained, *norms], updates=updates, mode=REFERENCE_MODE
    )
    results = f(*inputs(name))
    expected = recorded["eval"] + recorded["train"]
    for actual, wanted in zip(results[: len(expected)], expected, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=1e-6, atol=1e-8)
    actual = dict(zip(named, results[len(expected) :], strict=True))
    assert actual.keys() == recorded["gradients"].keys()
    for key, wanted in recorded["gradients"].items():
        np.testing.assert_allclose(actual[key], wanted, rtol=1e-6, atol=1e-8, err_msg=key)
    statistics = {key: v for key, v in net.state_dict().items() if "running" in key}
    assert statistics.keys() == recorded["statistics"].keys()
    for key, wanted in recorded["statistics"].items():
        np.testing.assert_allclose(statistics[key], wanted, rtol=1e-6, atol=1e-9, err_msg=key)


def test_names_are_those_of_torch():
    for name, network in NETWORKS.items():
        own = {key: [*v.shape] for key, v in network().state_dict().items()}
        names = {k: v for k, v in RECORDED[name]["shapes"].items() if not k.endswith("tracked")}
        assert own == names
