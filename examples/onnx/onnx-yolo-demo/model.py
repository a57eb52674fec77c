"""YOLO11n: the network, its weights by name, and the decoding of its output.

>>> model, x, predictions = build_yolo11n(num_classes=2, input_size=320)
>>> sorted(predictions)
['p3', 'p4', 'p5']
>>> len(model.params), model.num_parameters
(255, 2590230)
"""

import math
from typing import Any

import numpy as np
from blocks import C2PSA, SPPF, C3k2, ConvBNSiLU, Detect, Parameters

import pytensor.tensor as pt
from pytensor.tensor.special import softmax

LEVELS = ("p3", "p4", "p5")


class YOLO11n:
    """The parameters of a YOLO11n; calling it builds a graph on them.

    `class_width` is that of the head's class branch, where it isn't what the architecture gives.
    `updates` are the running statistics and their new values, as pairs, of the latest graph built
    with ``training=True``.
    """

    def __init__(self, num_classes: int = 2, seed: int = 0, class_width: int | None = None):
        if num_classes < 1:
            raise ValueError(f"num_classes must be at least 1, got {num_classes}")
        self.num_classes = num_classes
        self.updates = list[Any]()
        self.store = store = Parameters(seed)

        def conv(i: int, c_in: int, c_out: int) -> ConvBNSiLU:
            return ConvBNSiLU(store, f"model.{i}", c_in, c_out, kernel=3, stride=2)

        def c3k2(i: int, c_in: int, c_out: int, expansion: float, c3k: bool) -> C3k2:
            return C3k2(store, f"model.{i}", c_in, c_out, expansion, c3k)

        # Created in the order of the layers, which is the order of the state dict.
        self.layers: dict[int, Any] = {
            0: conv(0, 3, 16),
            1: conv(1, 16, 32),
            2: c3k2(2, 32, 64, 0.25, c3k=False),
            3: conv(3, 64, 64),
            4: c3k2(4, 64, 128, 0.25, c3k=False),
            5: conv(5, 128, 128),
            6: c3k2(6, 128, 128, 0.5, c3k=True),
            7: conv(7, 128, 256),
            8: c3k2(8, 256, 256, 0.5, c3k=True),
            9: SPPF(store, "model.9", 256),
            10: C2PSA(store, "model.10", 256),
            13: c3k2(13, 384, 128, 0.5, c3k=False),
            16: c3k2(16, 256, 64, 0.5, c3k=False),
            17: conv(17, 64, 64),
            19: c3k2(19, 192, 128, 0.5, c3k=False),
            20: conv(20, 128, 128),
            22: c3k2(22, 384, 256, 0.5, c3k=True),
            23: Detect(store, "model.23", num_classes, (64, 128, 256), class_width),
        }
        self.class_width: int = self.layers[23].class_width

    @property
    def params(self) -> list[Any]:
        """The 255 trainable variables, each named as in the reference's state dict."""
        return list(self.store.trainable.values())

    @property
    def num_parameters(self) -> int:
        """Number of weights, the 16 fixed ones of the distribution head counted in."""
        weights = self.store.trainable | self.store.fixed
        return sum(math.prod(v.type.shape) for v in weights.values())

    def __call__(self, x: pt.TensorVariable, training: bool = False) -> dict[str, Any]:
        """Build the graph of the raw predictions of RGB images in 0..1.

        `x` is float32 (batch, 3, height, width) with static multiples of 32 for sides; the batch
        may be symbolic.  In `training`, batch normalization uses the batch's statistics.

        The result is ``"p3"``, ``"p4"``, ``"p5"``: float32 (batch, 64 + num_classes, height / s,
        width / s) for s = 8, 16, 32; 4 sides x 16 bins of box logits first, then class logits.
        """
        maps = self.feature_maps(x, training)
        updates = self.updates if training else None
        outputs = self.layers[23]([maps[i] for i in (16, 19, 22)], updates)
        return dict(zip(LEVELS, outputs, strict=True))

    def feature_maps(self, x: pt.TensorVariable, training: bool = False) -> dict[int, Any]:
        """Return the outputs of modules 0 to 22 by number; see `__call__`."""
        if x.type.dtype != "float32" or x.type.ndim != 4 or x.type.shape[1] not in (3, None):
            raise ValueError(f"images must be float32 (batch, 3, height, width), got {x.type}")
        sides = x.type.shape[2:]
        if None in sides or any(side < 32 or side % 32 for side in sides):
            raise ValueError(f"sides must be static multiples of 32, got {sides[0]} x {sides[1]}")
        if training:
            self.updates = []  # which each layer appends to
        updates = self.updates if training else None
        out, layer = dict[int, Any](), self.layers

        def upsample(v: pt.TensorVariable) -> pt.TensorVariable:
            return pt.nn.interpolate(v, scale_factor=2)

        def join(*parts: pt.TensorVariable) -> Any:
            return pt.concatenate(parts, axis=1)

        for i in range(11):
            out[i] = x = layer[i](x, updates)
        out[11] = upsample(out[10])
        out[12] = join(out[11], out[6])
        out[13] = layer[13](out[12], updates)
        out[14] = upsample(out[13])
        out[15] = join(out[14], out[4])
        out[16] = layer[16](out[15], updates)
        out[17] = layer[17](out[16], updates)
        out[18] = join(out[17], out[13])
        out[19] = layer[19](out[18], updates)
        out[20] = layer[20](out[19], updates)
        out[21] = join(out[20], out[10])
        out[22] = layer[22](out[21], updates)
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
        bins = self.layers[23].dfl.reshape((n, 1))
        # In two axes: PyTensor computes lengths for a product in four, and mode JAX traces them.
        distance = pt.dot(distribution.reshape((-1, n)), bins).reshape((-1, 4, len(stride)))
        left_top, right_bottom = pt.split(distance, [2, 2], n_splits=2, axis=1)
        middle = centres + (right_bottom - left_top) * np.float32(0.5)
        boxes = pt.concatenate([middle, left_top + right_bottom], axis=1)
        return pt.concatenate([boxes * stride, pt.sigmoid(cls)], axis=1)

    def state_dict(self) -> dict[str, np.ndarray]:
        """Return all 418 arrays by name (499 in the reference, with its 81 batch counters)."""
        return {name: v.get_value() for name, v in self.store.all.items()}

    def load_state_dict(self, mapping: dict[str, np.ndarray]) -> None:
        """Set the parameters and statistics from arrays by name.

        ValueError, before any is set, unless names and shapes are exactly `state_dict`'s.
        """
        own = {name: v.type.shape for name, v in self.store.all.items()}
        given = {name: np.shape(value) for name, value in mapping.items()}
        problems = {
            "missing": [name for name in own if name not in given],
            "unexpected": [name for name in given if name not in own],
            "of another shape": [
                f"{name} {given[name]} instead of {shape}"
                for name, shape in own.items()
                if given.get(name, shape) != shape
            ],
        }
        found = [
            f"{len(names)} {what} ({', '.join(names[:3])}{', …' if len(names) > 3 else ''})"
            for what, names in problems.items()
            if names
        ]
        if found:
            raise ValueError(
                f"these weights are not of this YOLO11n with {self.num_classes} classes: "
                + "; ".join(found)
            )
        for name, variable in self.store.all.items():
            variable.set_value(np.asarray(mapping[name], dtype=np.float32))


def build_yolo11n(
    num_classes: int = 2, input_size: Any = 320, training: bool = False, seed: int = 0
) -> tuple[YOLO11n, pt.TensorVariable, dict[str, Any]]:
    """Make a YOLO11n and build its graph, for sides of `input_size` or (height, width).

    Returns the model, the input ``images`` (batch, 3, height, width) and the raw predictions.
    """
    height, width = (input_size,) * 2 if isinstance(input_size, int) else input_size
    x = pt.tensor("images", dtype="float32", shape=(None, 3, height, width))
    model = YOLO11n(num_classes, seed)
    return model, x, model(x, training=training)


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
