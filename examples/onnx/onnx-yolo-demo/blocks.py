"""The building blocks of YOLO11, as modules; images are (batch, channels, height, width)."""

import math
from typing import Any

import numpy as np

import pytensor.tensor as pt
from pytensor import layers
from pytensor.tensor.special import softmax

BN_EPSILON = 1e-3
BN_MOMENTUM = 0.03  # weight of the new value in the running statistics


class ConvBNSiLU(layers.Module):
    """Convolution without bias, batch normalization, SiLU (unless `activation` is False)."""

    def __init__(
        self, c_in: int, c_out: int, kernel: int = 1, stride: int = 1, *, groups: int = 1,
        activation: bool = True,
    ):  # fmt: skip
        self.conv = layers.Conv2d(
            c_in, c_out, kernel, stride, padding=kernel // 2, groups=groups, bias=False
        )
        self.bn = layers.BatchNorm(c_out, BN_EPSILON, BN_MOMENTUM)
        self.activation = activation

    def __call__(self, x: pt.TensorVariable) -> pt.TensorVariable:
        x = self.bn(self.conv(x))
        return pt.nn.silu(x) if self.activation else x


class Bottleneck(layers.Module):
    """Two 3x3 convolutions with a shortcut around them."""

    def __init__(self, channels: int, expansion: float):
        hidden = int(channels * expansion)
        self.cv1 = ConvBNSiLU(channels, hidden, 3)
        self.cv2 = ConvBNSiLU(hidden, channels, 3)

    def __call__(self, x: pt.TensorVariable) -> pt.TensorVariable:
        return x + self.cv2(self.cv1(x))


class C3k(layers.Module):
    """Two bottlenecks on one branch, a 1x1 convolution on the other, merged."""

    def __init__(self, channels: int):
        hidden = channels // 2
        self.cv1 = ConvBNSiLU(channels, hidden)
        self.cv2 = ConvBNSiLU(channels, hidden)
        self.cv3 = ConvBNSiLU(2 * hidden, channels)
        self.m = layers.Sequential(Bottleneck(hidden, 1.0), Bottleneck(hidden, 1.0))

    def __call__(self, x: pt.TensorVariable) -> pt.TensorVariable:
        return self.cv3(pt.concatenate([self.m(self.cv1(x)), self.cv2(x)], axis=1))


class C3k2(layers.Module):
    """Split in halves, a chain of inner blocks on the second, all parts merged."""

    def __init__(self, c_in: int, c_out: int, expansion: float, c3k: bool, repeats: int = 1):
        self.hidden = hidden = int(c_out * expansion)
        self.cv1 = ConvBNSiLU(c_in, 2 * hidden)
        self.cv2 = ConvBNSiLU((2 + repeats) * hidden, c_out)
        self.m = [C3k(hidden) if c3k else Bottleneck(hidden, 0.5) for _ in range(repeats)]

    def __call__(self, x: pt.TensorVariable) -> pt.TensorVariable:
        parts = list(pt.split(self.cv1(x), [self.hidden] * 2, n_splits=2, axis=1))
        for block in self.m:
            parts.append(block(parts[-1]))
        return self.cv2(pt.concatenate(parts, axis=1))


class SPPF(layers.Module):
    """Spatial pyramid pooling: three 5x5 maximum poolings, one on the other."""

    def __init__(self, channels: int):
        self.cv1 = ConvBNSiLU(channels, channels // 2)
        self.cv2 = ConvBNSiLU(channels * 2, channels)

    def __call__(self, x: pt.TensorVariable) -> pt.TensorVariable:
        parts = [self.cv1(x)]
        for _ in range(3):
            parts.append(pt.nn.max_pool2d(parts[-1], 5, stride=1, padding=2))
        return self.cv2(pt.concatenate(parts, axis=1))


class Attention(layers.Module):
    """Multi-head self-attention over the positions of a map, with a positional convolution."""

    def __init__(self, channels: int):
        self.channels = channels
        heads = max(channels // 64, 1)
        self.head_dim = channels // heads
        self.key_dim = self.head_dim // 2
        self.qkv = ConvBNSiLU(channels, channels + 2 * heads * self.key_dim, activation=False)
        self.proj = ConvBNSiLU(channels, channels, activation=False)
        self.pe = ConvBNSiLU(channels, channels, 3, groups=channels, activation=False)

    def __call__(self, x: pt.TensorVariable) -> pt.TensorVariable:
        height, width = x.type.shape[2:]
        sizes = [self.key_dim, self.key_dim, self.head_dim]
        # Channels are grouped by head, inside a head as q, k, v.  Batch and heads stay one axis.
        qkv = self.qkv(x).reshape((-1, sum(sizes), height * width))
        q, k, v = pt.split(qkv, sizes, n_splits=3, axis=1)
        scale = np.float32(self.key_dim**-0.5)
        weights = softmax(pt.matmul(q.swapaxes(-2, -1) * scale, k), axis=-1)
        out = pt.matmul(v, weights.swapaxes(-2, -1))
        shape = (-1, self.channels, height, width)
        return self.proj(out.reshape(shape) + self.pe(v.reshape(shape)))


class PSABlock(layers.Module):
    """Attention, then a two-layer network at each position, each with a shortcut."""

    def __init__(self, channels: int):
        self.attn = Attention(channels)
        self.ffn = layers.Sequential(
            ConvBNSiLU(channels, 2 * channels),
            ConvBNSiLU(2 * channels, channels, activation=False),
        )

    def __call__(self, x: pt.TensorVariable) -> pt.TensorVariable:
        x = x + self.attn(x)
        return x + self.ffn(x)


class C2PSA(layers.Module):
    """Half of the channels through `PSABlock`s."""

    def __init__(self, channels: int, repeats: int = 1):
        self.hidden = channels // 2
        self.cv1 = ConvBNSiLU(channels, channels)
        self.cv2 = ConvBNSiLU(channels, channels)
        self.m = layers.Sequential(*(PSABlock(self.hidden) for _ in range(repeats)))

    def __call__(self, x: pt.TensorVariable) -> pt.TensorVariable:
        a, b = pt.split(self.cv1(x), [self.hidden] * 2, n_splits=2, axis=1)
        return self.cv2(pt.concatenate([a, self.m(b)], axis=1))


class Detect(layers.Module):
    """The head: on each level, box logits (4 sides x 16 bins) and class logits.

    A head that was cut to fewer classes keeps the `class_width` it was trained with.
    """

    reg_max = 16
    strides = (8, 16, 32)

    def __init__(
        self, num_classes: int, channels: tuple[int, ...], class_width: int | None = None
    ):
        width = max(16, channels[0] // 4, 4 * self.reg_max)
        self.class_width = wide = class_width or max(channels[0], min(num_classes, 100))
        self.cv2 = [
            layers.Sequential(
                ConvBNSiLU(c, width, 3),
                ConvBNSiLU(width, width, 3),
                layers.Conv2d(width, 4 * self.reg_max, 1),
            )
            for c in channels
        ]
        self.cv3 = [
            layers.Sequential(
                layers.Sequential(ConvBNSiLU(c, c, 3, groups=c), ConvBNSiLU(c, wide)),
                layers.Sequential(ConvBNSiLU(wide, wide, 3, groups=wide), ConvBNSiLU(wide, wide)),
                layers.Conv2d(wide, num_classes, 1),
            )
            for c in channels
        ]
        for box, cls, stride in zip(self.cv2, self.cv3, self.strides, strict=True):
            # about 5 objects in an image of 640 pixels, spread over the classes and cells
            prior = math.log(5 / num_classes / (640 / stride) ** 2)
            layers.restart(box[2].bias, layers.init.constant(2.0))
            layers.restart(cls[2].bias, layers.init.constant(prior))
        bins = np.arange(self.reg_max, dtype="float32").reshape(1, self.reg_max, 1, 1)
        self.dfl = {"conv.weight": layers.buffer(bins)}

    def __call__(self, maps: list[Any]) -> list[Any]:
        """Map three levels to three (batch, 64 + num_classes, height, width), box logits first."""
        branches = zip(maps, self.cv2, self.cv3, strict=True)
        return [pt.concatenate([box(x), cls(x)], axis=1) for x, box, cls in branches]
