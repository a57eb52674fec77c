"""Writes networks/: small models as torch, scikit-learn's and JAX's exporters write them.

    python3.11 -m venv VENV
    VENV/bin/pip install torch==2.13.0 onnx==1.23.2 onnxscript==0.7.2 skl2onnx==1.20.0 \
        scikit-learn==1.9.1 jax==0.10.2 jax2onnx==0.17.1
    VENV/bin/python tests/link/onnx/importing/make_networks.py FOLDER [NAME ...] [--width 64]

The weights are random and the seeds fixed.  Beside the models, gradients.npz has inputs and the
gradients of the mean square of the first output, as torch and JAX compute them: of the input, and
of one weight where the exporter keeps its name.
"""

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx

OPSET = 18
MODELS = {}


def network(function):
    """Register what makes a network, its inputs, and the name of a weight; layers have a width."""
    MODELS[function.__name__] = function
    return function


# ---------------------------------------------------------------------------------------- torch


@network
def resnet18(width=1):
    """Build ResNet-18 (He et al., 2015), in the form for inference."""
    from torch import nn

    class Block(nn.Module):
        def __init__(self, before, after, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(after)
            self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(after)
            self.relu = nn.ReLU(inplace=True)
            self.shortcut = nn.Identity()
            if stride > 1 or before != after:
                self.shortcut = nn.Sequential(
                    nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)
                )

        def forward(self, x):
            h = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
            return self.relu(h + self.shortcut(x))

    widths = [width, width, 2 * width, 4 * width, 8 * width]
    blocks = [
        Block(before if i == 0 else after, after, 2 if i == 0 and after > width else 1)
        for before, after in pairwise(widths)
        for i in range(2)
    ]
    net = nn.Sequential(
        nn.Conv2d(3, width, 7, 2, 3, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
        *blocks,
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8 * width, 10 if width < 64 else 1000),
    )
    size = (25, 21) if width < 64 else (224, 224)
    return with_statistics(net), (numbers(2, 3, *size),), "14.weight"


@network
def unet(width=2):
    """Build a U-Net of two levels: up by a transposed convolution, and by interpolation."""
    import torch
    from torch import nn

    def convolutions(before, after):
        return nn.Sequential(
            nn.Conv2d(before, after, 3, padding=1),
            nn.GroupNorm(2, after),
            nn.SiLU(),
            nn.Conv2d(after, after, 3, padding=1, padding_mode="reflect"),
            nn.BatchNorm2d(after),
            nn.LeakyReLU(0.1),
        )

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.down1 = convolutions(3, width)
            self.down2 = convolutions(width, 2 * width)
            self.middle = convolutions(2 * width, 4 * width)
            self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2)
            self.join2 = convolutions(4 * width, 2 * width)
            self.up1 = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
            self.join1 = convolutions(3 * width, width)
            self.out = nn.Conv2d(width, 2, 1)
            self.pool = nn.MaxPool2d(2)

        def forward(self, x):
            a = self.down1(x)
            b = self.down2(self.pool(a))
            c = self.middle(self.pool(b))
            b = self.join2(torch.cat([self.up2(c), b], 1))
            return self.out(self.join1(torch.cat([self.up1(b), a], 1)))

    return with_statistics(UNet()), (numbers(2, 3, 8, 12),), "down1.0.weight"


@network
def transformer(width=2):
    """Build an encoder that reads tokens, some of them padding, and classifies what it read."""
    import torch
    from torch import nn

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(30, 4 * width)
            self.places = nn.Parameter(torch.randn(1, 16, 4 * width))
            layers = [
                nn.TransformerEncoderLayer(
                    4 * width, 4, 8 * width, 0.0, "gelu", batch_first=True, norm_first=first
                )
                for first in (False, True)
            ]
            self.layers = nn.ModuleList(layers)
            self.norm = nn.LayerNorm(4 * width)
            self.out = nn.Linear(4 * width, 5)

        def forward(self, tokens):
            padding = tokens == 0
            h = self.tokens(tokens) + self.places[:, : tokens.shape[1]]
            for layer in self.layers:
                h = layer(h, src_key_padding_mask=padding)
            kept = (~padding)[..., None].to(h.dtype)
            return self.out((self.norm(h) * kept).sum(1) / kept.sum(1))

    tokens = torch.tensor([[3, 7, 29, 1, 12, 5, 0], [8, 8, 2, 0, 0, 0, 0], [4, 1, 9, 6, 2, 2, 17]])
    return Encoder(), (tokens,), "out.weight"


@network
def lstm(width=2):
    """Build two layers in both directions, then one of one cell, whose last state is read."""
    from torch import nn

    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.both = nn.LSTM(3, 2 * width, 2, batch_first=True, bidirectional=True)
            self.gru = nn.GRU(4 * width, width, batch_first=True)
            self.out = nn.Linear(width, 4)

        def forward(self, x):
            states, _ = self.both(x)
            _, last = self.gru(states)
            return self.out(last[0])

    return Reader(), (numbers(2, 6, 3),), "out.weight"


@network
def maf(width=2):
    """Build a masked autoregressive flow (Papamakarios et al., 2017): log density, a step back."""
    import math

    import torch
    from torch import nn

    n, hidden = 3, 4 * width

    class Masked(nn.Linear):
        def __init__(self, before, after, *, last=False):
            super().__init__(len(before), len(after))
            mask = after[:, None] > before if last else after[:, None] >= before
            self.register_buffer("mask", mask.float())

        def forward(self, x):
            return nn.functional.linear(x, self.weight * self.mask, self.bias)

    class Made(nn.Module):
        def __init__(self):
            super().__init__()
            order, inner = torch.arange(1, n + 1), torch.arange(hidden) % (n - 1) + 1
            self.layers = nn.Sequential(
                Masked(order, inner),
                nn.Tanh(),
                Masked(inner, inner),
                nn.Tanh(),
                Masked(inner, torch.cat([order, order]), last=True),
            )

        def forward(self, x):
            shift, scale = self.layers(x).chunk(2, dim=-1)
            return (x - shift) * torch.exp(-scale), -scale.sum(-1)

        def inverse(self, u):
            x = torch.zeros_like(u)
            for i in range(n):
                shift, scale = self.layers(x).chunk(2, dim=-1)
                x[:, i] = u[:, i] * torch.exp(scale[:, i]) + shift[:, i]
            return x

    class Flow(nn.Module):
        def __init__(self):
            super().__init__()
            self.steps = nn.ModuleList([Made(), Made()])

        def forward(self, x, u):
            density = torch.zeros(x.shape[0])
            for step in self.steps:
                x, change = step(x)
                x, density = x.flip(-1), density + change
            density = density - 0.5 * (x**2).sum(-1) - 0.5 * n * math.log(2 * math.pi)
            return density, self.steps[1].inverse(u.flip(-1))

    return Flow(), (numbers(4, n), numbers(4, n)), "steps.0.layers.0.bias"


def numbers(*shape):
    import torch

    return torch.randn(shape)


def with_statistics(net):
    """Return the network, whose batch normalizations have seen data."""
    import torch

    for module in net.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.3)
            module.running_var.uniform_(0.5, 1.5)
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.normal_(module.bias, 0, 0.3)
    return net


def of_torch(folder, name, width):
    """Write a model by both of torch's exporters, whose batch is open; return gradients."""
    import torch

    torch.manual_seed(0)
    torch.backends.mha.set_fastpath_enabled(False)  # the older exporter can't write it
    net, inputs, weight = MODELS[name](width) if width else MODELS[name]()
    net.eval()
    names = [f"input_{i}" for i in range(len(inputs))]
    options = {"input_names": names, "opset_version": OPSET}
    batch = {name: {0: "batch"} for name in names}
    path = folder / f"torch_{name}.onnx"
    shapes = tuple({0: torch.export.Dim("batch")} for _ in inputs)
    torch.onnx.export(
        net, inputs, path, dynamo=True, dynamic_shapes=shapes, external_data=False, **options
    )
    with torch.no_grad():
        old = folder / f"torchscript_{name}.onnx"
        torch.onnx.export(net, inputs, old, dynamo=False, dynamic_axes=batch, **options)
    recorded = {key: value.numpy().copy() for key, value in zip(names, inputs, strict=True)}
    differentiable = [x.requires_grad_() for x in inputs if x.is_floating_point()]
    parameter = dict(net.named_parameters())[weight]
    (net(*inputs) if len(inputs) == 1 else net(*inputs)[0]).square().mean().backward()
    if differentiable:
        recorded["gradient"] = differentiable[0].grad.numpy()
    recorded[f"gradient of {weight}"] = parameter.grad.numpy()
    return recorded


# --------------------------------------------------------------------------------- scikit-learn


def of_sklearn(folder):
    """Write models of estimators, which learn three or two classes of the iris data."""
    from skl2onnx import to_onnx
    from sklearn.datasets import load_iris
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    def scaled(estimator):
        return make_pipeline(StandardScaler(), estimator)

    x, y = load_iris(return_X_y=True)
    x = x.astype("float32")
    options = {"random_state": 0}
    for name, estimator, target, classifies in (
        ("logistic_regression", LogisticRegression(**options), y, True),
        ("random_forest", RandomForestClassifier(8, max_depth=4, **options), y, True),
        ("gradient_boosting", GradientBoostingRegressor(n_estimators=12, **options), y, False),
        ("mlp", scaled(MLPClassifier([8], **options)), y, True),
        ("svc", scaled(SVC(C=0.2, **options)), y, True),
        ("svc_of_two", scaled(SVC(kernel="poly")), y > 1, True),
        ("svc_probability", scaled(SVC(probability=True, **options)), y, True),
    ):
        estimator.fit(x, target.astype("int64"))
        zipmap = {id(estimator): {"zipmap": False}} if classifies else None
        model = to_onnx(estimator, x[:1], options=zipmap, target_opset=OPSET)
        onnx.save(model, folder / f"sklearn_{name}.onnx")


# ------------------------------------------------------------------------------------------ JAX


def of_jax(folder):
    """Write models of functions: a convolutional network, and a recurrent one that scans."""
    import jax
    import jax.numpy as jnp
    from jax2onnx import to_onnx

    rng = np.random.default_rng(0)

    def weights(*shape):
        return rng.normal(0, 0.3, shape).astype("float32")

    w1, w2, w3 = weights(3, 4, 2, 6), weights(3, 3, 6, 8), weights(8, 5)

    def convolutional(x):
        dims = ("NHWC", "HWIO", "NHWC")
        h = jax.lax.conv_general_dilated(x, w1, (2, 1), "SAME", dimension_numbers=dims)
        pads, dilated = ((0, 1), (2, 1)), {"rhs_dilation": (1, 2)}
        h = jax.nn.gelu(h)
        h = jax.lax.conv_general_dilated(h, w2, (1, 1), pads, dimension_numbers=dims, **dilated)
        mean, var = h.mean(-1, keepdims=True), h.var(-1, keepdims=True)
        h = jax.nn.relu((h - mean) * jax.lax.rsqrt(var + 1e-5))
        return jax.nn.log_softmax(h.mean((1, 2)) @ w3)

    u, r, out = weights(3, 18), weights(6, 18), weights(6, 4)

    def recurrent(x):
        def step(h, x):
            a, b = x @ u, h @ r
            z, f = jax.nn.sigmoid(a[:6] + b[:6]), jax.nn.sigmoid(a[6:12] + b[6:12])
            h = (1 - z) * jnp.tanh(a[12:] + f * b[12:]) + z * h
            return h, h.max()

        last, largest = jax.lax.scan(step, jnp.zeros(6), x)
        return last @ out, largest

    recorded = {}
    for function, x in ((convolutional, weights(2, 9, 8, 2)), (recurrent, weights(7, 3))):
        path = folder / f"jax_{function.__name__}.onnx"
        shape = jax.ShapeDtypeStruct(x.shape, "float32")
        onnx.save(to_onnx(function, [shape], opset=OPSET + 3), path)

        def loss(x, function=function):
            y = function(x)
            return jnp.mean((y[0] if isinstance(y, tuple) else y) ** 2)

        recorded[function.__name__] = {"input_0": x, "gradient": np.asarray(jax.grad(loss)(x))}
    return recorded


def without_traces(path):
    """Take out what exporters note of the program that they exported; it holds paths of files."""
    model = onnx.load(path)
    graphs = [model.graph]
    for graph in graphs:
        values = (*graph.value_info, *graph.input, *graph.output, *graph.initializer)
        for item in (*graph.node, *values):
            del item.metadata_props[:]
            item.doc_string = ""
        del graph.metadata_props[:]
        graphs += [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    for function in model.functions:
        for node in function.node:
            del node.metadata_props[:]
            node.doc_string = ""
    onnx.save(model, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="networks of torch, 'sklearn', 'jax'; all if none")
    parser.add_argument("--width", type=int, help="of torch's networks; ResNet's own is 64")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    names = options.names or [*MODELS, "sklearn", "jax"]
    recorded = {}
    for name in names:
        if name in MODELS:
            recorded[name] = of_torch(options.folder, name, options.width)
    if "sklearn" in names:
        of_sklearn(options.folder)
    if "jax" in names:
        recorded |= of_jax(options.folder)
    for path in options.folder.glob("*.onnx"):
        without_traces(path)
    arrays = {f"{name}/{key}": v for name, found in recorded.items() for key, v in found.items()}
    np.savez_compressed(options.folder / "gradients.npz", **arrays)


if __name__ == "__main__":
    main()
