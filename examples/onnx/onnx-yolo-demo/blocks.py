"""The building blocks of YOLO11, as functions from PyTensor graphs to PyTensor graphs.

Every block is made with the name of its parameters' prefix and a `Parameters` store, where it
creates its shared variables; calling it builds a graph.  Images are (batch, channels, height,
width), float32.  A call takes `updates`: None builds the inference graph; a list builds the
training graph, in which batch normalization uses the batch's statistics, and the (running
statistic, new value) pairs are appended to the list.
"""

import math
import zlib
from typing import Any

import numpy as np

import pytensor
import pytensor.tensor as pt
from pytensor.tensor.special import softmax

BN_EPSILON = 1e-3
BN_MOMENTUM = 0.03  # weight of the new value in the running statistics
type Updates = list[tuple[pt.TensorVariable, pt.TensorVariable]] | None


class Parameters:
    """All shared variables of a model, by name, in the order of their creation.

    They are `trainable`, `statistics` (running means and variances) or `fixed`: constants of the
    architecture.
    """

    def __init__(self, seed: int = 0):
        self.seed = seed
        self.all, self.trainable = dict[str, Any](), dict[str, Any]()
        self.statistics, self.fixed = dict[str, Any](), dict[str, Any]()

    def add(self, kind: str, name: str, value: np.ndarray) -> Any:
        if name in self.all:
            raise ValueError(f"two parameters are called {name}")
        value = np.asarray(value, dtype=np.float32)
        variable = pytensor.shared(value, name=name, shape=value.shape)
        self.all[name] = getattr(self, kind)[name] = variable
        return variable

    def conv_weight(self, name: str, shape: tuple[int, ...]) -> Any:
        """Add filters drawn from U(-b, b) with b = 1 / sqrt(fan in).

        The generator is seeded from the name, so that a parameter's start doesn't depend on which
        others the model has.
        """
        bound = 1 / math.sqrt(math.prod(shape[1:]))
        rng = np.random.default_rng([self.seed, zlib.crc32(name.encode())])
        return self.add("trainable", name, rng.uniform(-bound, bound, shape))


def _half(weight: Any) -> int:
    """Return the padding that keeps an image's size but for the stride."""
    return weight.type.shape[2] // 2


def _chain(layers: list[Any], x: pt.TensorVariable, updates: Updates) -> pt.TensorVariable:
    for layer in layers:
        x = layer(x, updates)
    return x


class Conv2d:
    """Plain convolution with bias; "same" padding."""

    def __init__(self, store: Parameters, name: str, c_in: int, c_out: int, kernel: int = 1):
        self.weight = store.conv_weight(f"{name}.weight", (c_out, c_in, kernel, kernel))
        self.bias = store.add("trainable", f"{name}.bias", np.zeros(c_out))

    def __call__(self, x: pt.TensorVariable, updates: Updates = None) -> pt.TensorVariable:
        return pt.nn.conv2d(x, self.weight, self.bias, padding=_half(self.weight))


class ConvBNSiLU:
    """Convolution without bias, batch normalization, SiLU (unless `activation` is False)."""

    def __init__(
        self, store: Parameters, name: str, c_in: int, c_out: int, kernel: int = 1,
        stride: int = 1, *, groups: int = 1, activation: bool = True,
    ):  # fmt: skip
        self.stride, self.groups, self.activation = stride, groups, activation
        shape = (c_out, c_in // groups, kernel, kernel)
        self.weight = store.conv_weight(f"{name}.conv.weight", shape)
        self.gamma = store.add("trainable", f"{name}.bn.weight", np.ones(c_out))
        self.beta = store.add("trainable", f"{name}.bn.bias", np.zeros(c_out))
        self.mean = store.add("statistics", f"{name}.bn.running_mean", np.zeros(c_out))
        self.variance = store.add("statistics", f"{name}.bn.running_var", np.ones(c_out))

    def __call__(self, x: pt.TensorVariable, updates: Updates = None) -> pt.TensorVariable:
        padding = _half(self.weight)
        x = pt.nn.conv2d(x, self.weight, stride=self.stride, padding=padding, groups=self.groups)
        parameters = self.mean, self.variance, self.gamma, self.beta
        if updates is None:
            x = pt.nn.batch_norm(x, *parameters, eps=BN_EPSILON)
        else:
            x, new_mean, new_variance = pt.nn.batch_norm(
                x, *parameters, training=True, momentum=BN_MOMENTUM, eps=BN_EPSILON
            )
            updates += [(self.mean, new_mean), (self.variance, new_variance)]
        return pt.nn.silu(x) if self.activation else x


class Bottleneck:
    """Two 3x3 convolutions with a shortcut around them."""

    def __init__(self, store: Parameters, name: str, channels: int, expansion: float):
        hidden = int(channels * expansion)
        self.cv1 = ConvBNSiLU(store, f"{name}.cv1", channels, hidden, 3)
        self.cv2 = ConvBNSiLU(store, f"{name}.cv2", hidden, channels, 3)

    def __call__(self, x: pt.TensorVariable, updates: Updates = None) -> pt.TensorVariable:
        return x + _chain([self.cv1, self.cv2], x, updates)


class C3k:
    """Two bottlenecks on one branch, a 1x1 convolution on the other, merged."""

    def __init__(self, store: Parameters, name: str, channels: int):
        hidden = channels // 2
        self.cv1 = ConvBNSiLU(store, f"{name}.cv1", channels, hidden)
        self.cv2 = ConvBNSiLU(store, f"{name}.cv2", channels, hidden)
        self.cv3 = ConvBNSiLU(store, f"{name}.cv3", 2 * hidden, channels)
        self.m = [Bottleneck(store, f"{name}.m.{i}", hidden, 1.0) for i in range(2)]

    def __call__(self, x: pt.TensorVariable, updates: Updates = None) -> pt.TensorVariable:
        branch = _chain([self.cv1, *self.m], x, updates)
        return self.cv3(pt.concatenate([branch, self.cv2(x, updates)], axis=1), updates)


class C3k2:
    """Split in halves, an inner block on the second, all three parts merged."""

    def __init__(
        self, store: Parameters, name: str, c_in: int, c_out: int, expansion: float, c3k: bool
    ):
        self.hidden = hidden = int(c_out * expansion)
        self.cv1 = ConvBNSiLU(store, f"{name}.cv1", c_in, 2 * hidden)
        self.cv2 = ConvBNSiLU(store, f"{name}.cv2", 3 * hidden, c_out)
        inner = f"{name}.m.0"
        self.m: Any = C3k(store, inner, hidden) if c3k else Bottleneck(store, inner, hidden, 0.5)

    def __call__(self, x: pt.TensorVariable, updates: Updates = None) -> pt.TensorVariable:
        y = self.cv1(x, updates)
        first, second = pt.split(y, [self.hidden, self.hidden], n_splits=2, axis=1)
        parts = [first, second, self.m(second, updates)]
        return self.cv2(pt.concatenate(parts, axis=1), updates)


class SPPF:
    """Spatial pyramid pooling: three 5x5 maximum poolings, one on the other."""

    def __init__(self, store: Parameters, name: str, channels: int):
        self.cv1 = ConvBNSiLU(store, f"{name}.cv1", channels, channels // 2)
        self.cv2 = ConvBNSiLU(store, f"{name}.cv2", channels * 2, channels)

    def __call__(self, x: pt.TensorVariable, updates: Updates = None) -> pt.TensorVariable:
        parts = [self.cv1(x, updates)]
        for _ in range(3):
            parts.append(pt.nn.max_pool2d(parts[-1], 5, stride=1, padding=2))
        return self.cv2(pt.concatenate(parts, axis=1), updates)


class Attention:
    """Multi-head self-attention over the positions of a map, with a positional convolution."""

    def __init__(self, store: Parameters, name: str, channels: int):
        self.channels = channels
        self.heads = max(channels // 64, 1)
        self.head_dim = channels // self.heads
        self.key_dim = self.head_dim // 2
        width = channels + 2 * self.heads * self.key_dim
        self.qkv = ConvBNSiLU(store, f"{name}.qkv", channels, width, activation=False)
        self.proj = ConvBNSiLU(store, f"{name}.proj", channels, channels, activation=False)
        self.pe = ConvBNSiLU(
            store, f"{name}.pe", channels, channels, 3, groups=channels, activation=False
        )

    def __call__(self, x: pt.TensorVariable, updates: Updates = None) -> pt.TensorVariable:
        height, width = x.type.shape[2:]
        sizes = [self.key_dim, self.key_dim, self.head_dim]
        # Channels are grouped by head, inside a head as q, k, v.  Batch and heads stay one axis.
        qkv = self.qkv(x, updates).reshape((-1, sum(sizes), height * width))
        q, k, v = pt.split(qkv, sizes, n_splits=3, axis=1)
        scale = np.float32(self.key_dim**-0.5)
        weights = softmax(pt.matmul(q.swapaxes(-2, -1) * scale, k), axis=-1)
        out = pt.matmul(v, weights.swapaxes(-2, -1))
        shape = (-1, self.channels, height, width)
        out = out.reshape(shape) + self.pe(v.reshape(shape), updates)
        return self.proj(out, updates)


class PSABlock:
    """Attention, then a two-layer network at each position, each with a shortcut."""

    def __init__(self, store: Parameters, name: str, channels: int):
        self.attn = Attention(store, f"{name}.attn", channels)
        self.ffn = [
            ConvBNSiLU(store, f"{name}.ffn.0", channels, 2 * channels),
            ConvBNSiLU(store, f"{name}.ffn.1", 2 * channels, channels, activation=False),
        ]

    def __call__(self, x: pt.TensorVariable, updates: Updates = None) -> pt.TensorVariable:
        x = x + self.attn(x, updates)
        return x + _chain(self.ffn, x, updates)


class C2PSA:
    """Half of the channels through a `PSABlock`."""

    def __init__(self, store: Parameters, name: str, channels: int):
        self.hidden = channels // 2
        self.cv1 = ConvBNSiLU(store, f"{name}.cv1", channels, channels)
        self.cv2 = ConvBNSiLU(store, f"{name}.cv2", channels, channels)
        self.m = PSABlock(store, f"{name}.m.0", self.hidden)

    def __call__(self, x: pt.TensorVariable, updates: Updates = None) -> pt.TensorVariable:
        y = self.cv1(x, updates)
        a, b = pt.split(y, [self.hidden, self.hidden], n_splits=2, axis=1)
        return self.cv2(pt.concatenate([a, self.m(b, updates)], axis=1), updates)


class Detect:
    """The head: on each level, box logits (4 sides x 16 bins) and class logits.

    A head that was cut to fewer classes keeps the `class_width` it was trained with.
    """

    reg_max = 16
    strides = (8, 16, 32)

    def __init__(
        self, store: Parameters, name: str, num_classes: int, channels: tuple[int, ...],
        class_width: int | None = None,
    ):  # fmt: skip
        box_width = max(16, channels[0] // 4, 4 * self.reg_max)
        self.class_width = class_width or max(channels[0], min(num_classes, 100))
        self.box: list[list[Any]] = [
            [
                ConvBNSiLU(store, f"{name}.cv2.{level}.0", c, box_width, 3),
                ConvBNSiLU(store, f"{name}.cv2.{level}.1", box_width, box_width, 3),
                Conv2d(store, f"{name}.cv2.{level}.2", box_width, 4 * self.reg_max),
            ]
            for level, c in enumerate(channels)
        ]
        wide = self.class_width
        self.cls: list[list[Any]] = [
            [
                ConvBNSiLU(store, f"{name}.cv3.{level}.0.0", c, c, 3, groups=c),
                ConvBNSiLU(store, f"{name}.cv3.{level}.0.1", c, wide),
                ConvBNSiLU(store, f"{name}.cv3.{level}.1.0", wide, wide, 3, groups=wide),
                ConvBNSiLU(store, f"{name}.cv3.{level}.1.1", wide, wide),
                Conv2d(store, f"{name}.cv3.{level}.2", wide, num_classes),
            ]
            for level, c in enumerate(channels)
        ]
        for box, cls, stride in zip(self.box, self.cls, self.strides, strict=True):
            box[-1].bias.set_value(np.full(4 * self.reg_max, 2.0, dtype=np.float32))
            # about 5 objects in an image of 640 pixels, spread over the classes and cells
            prior = math.log(5 / num_classes / (640 / stride) ** 2)
            cls[-1].bias.set_value(np.full(num_classes, prior, dtype=np.float32))
        bins = np.arange(self.reg_max).reshape(1, self.reg_max, 1, 1)
        self.dfl = store.add("fixed", f"{name}.dfl.conv.weight", bins)

    def __call__(self, maps: list[Any], updates: Updates = None) -> list[Any]:
        """Map three levels to three (batch, 64 + num_classes, height, width), box logits first."""
        outputs = []
        for x, *branches in zip(maps, self.box, self.cls, strict=True):
            parts = [_chain(branch, x, updates) for branch in branches]
            outputs.append(pt.concatenate(parts, axis=1))
        return outputs
