"""YOLO11n and its larger sizes: the network, and the decoding of its output.

>>> model = YOLO11n(num_classes=2)
>>> images = pt.tensor("images", dtype="float32", shape=(None, 3, 320, 320))
>>> sorted(model(images))
['p3', 'p4', 'p5']
>>> len(model.parameters()), len(model.state_dict())
(255, 418)
"""

import contextvars
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from blocks import C2PSA, SPPF, C3k2, ConvBNSiLU, Detect

import pytensor.tensor as pt
from pytensor import config, layers
from pytensor.tensor.special import softmax

LEVELS = ("p3", "p4", "p5")
BACKBONE = 11  # modules: 0 to 10


class Size(NamedTuple):
    """How the sizes of YOLO11 differ."""

    width: float  # factor of the channels
    most: int  # channels before that factor
    c3k: bool  # whether every C3k2 has a C3k inside
    repeats: int = 1  # blocks inside a C3k2 and a C2PSA


SIZES = {
    "n": Size(0.25, 1024, False),
    "s": Size(0.5, 1024, False),
    "m": Size(1.0, 512, True),
    "l": Size(1.0, 512, True, repeats=2),
}


def size_of(channels: int, repeats: int = 1) -> str | None:
    """Return the size of `SIZES` with `channels` filters in its first convolution, or None.

    Sizes m and l differ in `repeats` only.
    """
    found = channels / 64, repeats
    return next((name for name, s in SIZES.items() if (s.width, s.repeats) == found), None)


class YOLO11n(layers.Module):
    """A YOLO11n in float32, with the names of the reference's state dict.

    `size` is one of `SIZES`: the larger ones have the same modules with more channels or blocks.
    The first `kept` modules keep their weights and statistics in a training.
    `class_width` is that of the head's class branch, where it isn't what the architecture gives.
    """

    @config.change_flags(floatX="float32")  # type: ignore[untyped-decorator]
    def __init__(
        self, num_classes: int = 2, seed: int = 0, class_width: int | None = None,
        size: str = "n", kept: int = 0,
    ):  # fmt: skip
        if num_classes < 1:
            raise ValueError(f"num_classes must be at least 1, got {num_classes}")
        if size not in SIZES:
            raise ValueError(f"size must be one of {', '.join(SIZES)}, got {size!r}")
        self.num_classes, self.size, self.kept = num_classes, size, kept
        width, most, c3k, repeats = SIZES[size]
        a, b, c, d, e = (
            math.ceil(min(channels, most) * width / 8) * 8 for channels in (64, 128, 256, 512, 1024)
        )
        self.layers: dict[int, Any] = {
            0: ConvBNSiLU(3, a, 3, stride=2),
            1: ConvBNSiLU(a, b, 3, stride=2),
            2: C3k2(b, c, 0.25, c3k, repeats),
            3: ConvBNSiLU(c, c, 3, stride=2),
            4: C3k2(c, d, 0.25, c3k, repeats),
            5: ConvBNSiLU(d, d, 3, stride=2),
            6: C3k2(d, d, 0.5, True, repeats),
            7: ConvBNSiLU(d, e, 3, stride=2),
            8: C3k2(e, e, 0.5, True, repeats),
            9: SPPF(e),
            10: C2PSA(e, repeats),
            13: C3k2(e + d, d, 0.5, c3k, repeats),
            16: C3k2(d + d, c, 0.5, c3k, repeats),
            17: ConvBNSiLU(c, c, 3, stride=2),
            19: C3k2(c + d, d, 0.5, c3k, repeats),
            20: ConvBNSiLU(d, d, 3, stride=2),
            22: C3k2(d + e, e, 0.5, True, repeats),
            23: Detect(num_classes, (c, d, e), class_width),
        }
        self.class_width: int = self.layers[23].class_width
        self.initialize(seed)

    def children(self) -> Iterator[tuple[str, Any]]:
        """Yield the layers under the name that the reference has for them."""
        yield "model", self.layers

    def named_parameters(self) -> dict[str, Any]:
        """Return the parameters that a training changes, by name."""
        own = super().named_parameters()
        return {name: v for name, v in own.items() if int(name.split(".")[1]) >= self.kept}

    def __call__(self, x: pt.TensorVariable) -> dict[str, Any]:
        """Build the graph of the raw predictions of RGB images in 0..1.

        `x` is float32 (batch, 3, height, width) with static multiples of 32 for sides; the batch
        may be symbolic.

        The result is ``"p3"``, ``"p4"``, ``"p5"``: float32 (batch, 64 + num_classes, height / s,
        width / s) for s = 8, 16, 32; 4 sides x 16 bins of box logits first, then class logits.
        """
        maps = self.feature_maps(x)
        outputs = self.layers[23]([maps[i] for i in (16, 19, 22)])
        return dict(zip(LEVELS, outputs, strict=True))

    def feature_maps(self, x: pt.TensorVariable) -> dict[int, Any]:
        """Return the outputs of modules 0 to 22 by number; see `__call__`."""
        if x.type.dtype != "float32" or x.type.ndim != 4 or x.type.shape[1] not in (3, None):
            raise ValueError(f"images must be float32 (batch, 3, height, width), got {x.type}")
        sides = x.type.shape[2:]
        if None in sides or any(side < 32 or side % 32 for side in sides):
            raise ValueError(f"sides must be static multiples of 32, got {sides[0]} x {sides[1]}")
        out, layer = dict[int, Any](), self.layers

        def upsample(v: pt.TensorVariable) -> pt.TensorVariable:
            return pt.nn.interpolate(v, scale_factor=2)

        def join(*parts: pt.TensorVariable) -> Any:
            return pt.concatenate(parts, axis=1)

        for i in range(BACKBONE):
            if i < self.kept:  # out of the context of `layers.training`
                out[i] = x = contextvars.Context().run(layer[i], x)
            else:
                out[i] = x = layer[i](x)
        out[11] = upsample(out[10])
        out[12] = join(out[11], out[6])
        out[13] = layer[13](out[12])
        out[14] = upsample(out[13])
        out[15] = join(out[14], out[4])
        out[16] = layer[16](out[15])
        out[17] = layer[17](out[16])
        out[18] = join(out[17], out[13])
        out[19] = layer[19](out[18])
        out[20] = layer[20](out[19])
        out[21] = join(out[20], out[10])
        out[22] = layer[22](out[21])
        return out

    def decode(self, predictions: dict[str, Any]) -> Any:
        """Return boxes and scores, float32 (batch, 4 + num_classes, anchors), of raw predictions.

        Centre x, centre y, width, height in input pixels, then the classes' probabilities.
        """
        maps = [predictions[level] for level in LEVELS]
        channels, n = maps[0].type.shape[1], Detect.reg_max
        centres, stride = make_anchors([m.type.shape[2:] for m in maps])
        flat = [m.reshape((-1, channels, math.prod(m.type.shape[2:]))) for m in maps]
        sizes = [4 * n, channels - 4 * n]
        box, cls = pt.split(pt.concatenate(flat, axis=2), sizes, n_splits=2, axis=1)
        # The bins come last: onnxruntime copies for a softmax over another axis, there and back.
        distribution = softmax(box.reshape((-1, 4, n, len(stride))).swapaxes(2, 3), axis=-1)
        bins = self.layers[23].dfl["conv.weight"].reshape((n, 1))
        # In two axes: PyTensor computes lengths for a product in four, and mode JAX traces them.
        distance = pt.dot(distribution.reshape((-1, n)), bins).reshape((-1, 4, len(stride)))
        left_top, right_bottom = pt.split(distance, [2, 2], n_splits=2, axis=1)
        middle = centres + (right_bottom - left_top) * np.float32(0.5)
        boxes = pt.concatenate([middle, left_top + right_bottom], axis=1)
        return pt.concatenate([boxes * stride, pt.sigmoid(cls)], axis=1)


def make_anchors(
    shapes: list[tuple[int, int]], strides: tuple[int, ...] = Detect.strides
) -> tuple[np.ndarray, np.ndarray]:
    """Make an anchor in each cell of maps of `shapes` (height, width), level by level, by rows.

    Returns their centres x and y in grid units, float32 (2, anchors), and strides (anchors,).
    """
    centres, stride = [], []
    for (height, width), s in zip(shapes, strides, strict=True):
        y, x = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
        centres.append(np.stack([x.ravel(), y.ravel()]) + 0.5)
        stride.append(np.full(height * width, s))
    return np.hstack(centres).astype(np.float32), np.hstack(stride).astype(np.float32)
