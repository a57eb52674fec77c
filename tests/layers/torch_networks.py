"""What PyTorch makes of networks whose parameters have values that follow from their names.

    python tests/layers/torch_networks.py

needs PyTorch, and writes ``torch_networks.json`` next to this file: names and shapes of the state
dicts, and results.  Values and inputs are drawn here, so that they need no space.
"""

import json
import zlib
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_suffix(".json")
INPUTS = {
    "resnet18": [(2, 3, 32, 32)],
    "transformer": [(2, 5, 8)],
    "attention": [(2, 5, 8), (2, 4, 8), (2, 4, 8)],
    "lstm": [(2, 5, 3), (4, 2, 4), (4, 2, 4)],
    "gru": [(2, 5, 3), (2, 2, 4)],
    "normalizations": [(2, 6, 4)],
    "convolutions": [(2, 4, 5)],
}


def value_of(name, shape):
    """Draw the value of a parameter or statistic, or an input; what is a variance is positive."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    value = rng.normal(size=shape) / np.sqrt(np.prod(shape[1:])) if shape else rng.normal()
    return np.abs(value) + 0.5 if name.endswith("running_var") else value


def inputs(network):
    return [value_of(f"{network} {k}", shape) for k, shape in enumerate(INPUTS[network])]


def networks():
    """Return PyTorch's networks by name, and how each is called."""
    from torch import nn
    from torch.nn import functional

    class Block(nn.Module):
        def __init__(self, n_in, n_out, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(n_in, n_out, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(n_out)
            self.conv2 = nn.Conv2d(n_out, n_out, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(n_out)
            self.downsample = None
            if stride != 1 or n_in != n_out:
                self.downsample = nn.Sequential(
                    nn.Conv2d(n_in, n_out, 1, stride, bias=False), nn.BatchNorm2d(n_out)
                )

        def forward(self, x):
            y = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
            return functional.relu(y + (x if self.downsample is None else self.downsample(x)))

    class ResNet18(nn.Module):
        def __init__(self, widths=(4, 4, 6, 8, 8)):
            super().__init__()
            self.conv1 = nn.Conv2d(3, widths[0], 7, 2, 3, bias=False)
            self.bn1 = nn.BatchNorm2d(widths[0])
            for k in range(1, 5):
                n_in, n_out = widths[k - 1], widths[k]
                blocks = Block(n_in, n_out, 1 if k == 1 else 2), Block(n_out, n_out, 1)
                setattr(self, f"layer{k}", nn.Sequential(*blocks))
            self.fc = nn.Linear(widths[-1], 5)

        def forward(self, x):
            x = functional.max_pool2d(functional.relu(self.bn1(self.conv1(x))), 3, 2, 1)
            x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
            return self.fc(x.mean((2, 3)))

    def transformer(net, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=x.dtype)
        return net(x, src_mask=mask, is_causal=True)

    def recurrent(net, x, *state):
        y, last = net(x, state if len(state) > 1 else state[0])
        return (y, *last) if isinstance(last, tuple) else (y, last)

    plain = lambda net, *x: net(*x)  # noqa: E731
    return {
        "resnet18": (ResNet18(), plain),
        "transformer": (
            nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu", batch_first=True, norm_first=True),
            transformer,
        ),
        "attention": (
            nn.MultiheadAttention(8, 2, batch_first=True),
            lambda net, *x: net(*x, need_weights=False)[0],
        ),
        "lstm": (nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True), recurrent),
        "gru": (nn.GRU(3, 4, 2, batch_first=True), recurrent),
        "normalizations": (
            nn.Sequential(
                nn.BatchNorm1d(6, momentum=0.2), nn.GroupNorm(3, 6), nn.LayerNorm((6, 4)),
                nn.RMSNorm(4), nn.InstanceNorm1d(6, affine=True), nn.LayerNorm(4, bias=False),
            ),
            plain,
        ),
        "convolutions": (
            nn.Sequential(
                nn.Conv1d(4, 6, 3, 2, 1, groups=2), nn.ReLU(), nn.ConvTranspose1d(6, 2, 3, 2, 1, 1),
            ),
            plain,
        ),
    }  # fmt: skip


def record():
    import torch

    recorded = {}
    for name, (net, call) in networks().items():
        net = net.double()
        state = net.state_dict()
        shapes = {key: list(v.shape) for key, v in state.items()}
        values = {key: torch.as_tensor(value_of(key, shape)) for key, shape in shapes.items()}
        net.load_state_dict(values)
        x = [torch.tensor(v) for v in inputs(name)]
        results = {}
        for mode in ("eval", "train"):
            getattr(net, mode)()
            out = call(net, *x)
            out = out if isinstance(out, tuple) else (out,)
            results[mode] = [v.detach().numpy().round(12).tolist() for v in out]
        changed = {
            key: v.numpy().round(12).tolist()
            for key, v in net.state_dict().items()
            if "running" in key
        }
        weights = [torch.cos(torch.arange(v.numel()).double()).view(v.shape) for v in out]
        cost = sum((v * weight).sum() for v, weight in zip(out, weights, strict=True))
        named = dict(net.named_parameters())
        gradients = torch.autograd.grad(cost, list(named.values()))
        sums = {key: float((g**2).sum().sqrt()) for key, g in zip(named, gradients, strict=True)}
        recorded[name] = {"shapes": shapes, **results, "statistics": changed, "gradients": sums}
    FILE.write_text(json.dumps(recorded, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    record()
