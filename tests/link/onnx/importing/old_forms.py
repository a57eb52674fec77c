"""Nodes of old opsets in forms that newer ones don't have, with results by the standard's text."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.link.onnx.importing.with_onnxruntime import one_node, parsed

LATEST = 99


@dataclass
class Case:
    """A node that is valid in the opsets from `first` to `last`.

    `wanted` are its outputs by the text of the standard, None where only runtimes say them;
    `refused` is what the error says if it can't be imported.
    """

    op_type: str
    first: int
    last: int
    inputs: list
    attributes: dict = field(default_factory=dict)
    wanted: Any = None
    refused: str = ""
    types: list | None = None

    def model(self, version):
        """Return the node as a model of an opset."""
        types = self.types
        if types is None and self.wanted is not None:
            types = [v.dtype for v in self.wanted]
        n_outputs = len(types) if types else 1
        return one_node(
            self.op_type, self.inputs, n_outputs, version=version, types=types, **self.attributes
        )


@dataclass
class Graph:
    """A model in ONNX's text form, valid in the opsets from `first` to `last`; as a `Case`."""

    op_type: str
    first: int
    last: int
    inputs: list
    text: str
    wanted: Any = None
    refused: str = ""

    def model(self, version):
        """Return the model in an opset."""
        return parsed(self.text, version)


def _random(*shape):
    return np.random.default_rng(0).normal(size=shape).astype("float32")


A = _random(2, 3, 4, 5)
X = _random(2, 3, 4)
IMAGE = _random(1, 2, 3, 4)
# a second operand, the attributes, and the shape that it has beside the first
PLACED = [
    ((), {}, ()),
    ((1, 1), {}, ()),
    ((5,), {}, (5,)),
    ((4, 5), {}, (4, 5)),
    ((3, 4), {"axis": 1}, (3, 4, 1)),
    ((2,), {"axis": 0}, (2, 1, 1, 1)),
    ((3,), {"axis": 1}, (3, 1, 1)),
]
BINARY = {
    "Add": (np.add, 6),
    "And": (np.logical_and, 1),
    "Div": (np.divide, 6),
    "Equal": (np.equal, 1),
    "Greater": (np.greater, 1),
    "Less": (np.less, 1),
    "Mul": (np.multiply, 6),
    "Or": (np.logical_or, 1),
    "Pow": (np.power, 1),
    "Sub": (np.subtract, 6),
    "Xor": (np.logical_xor, 1),
}


def _operand(op_type, shape):
    x = np.random.default_rng(len(shape)).normal(size=shape) * 2
    if op_type in ("And", "Or", "Xor"):
        return np.asarray(x > 0)
    if op_type == "Equal":
        return np.asarray(x, "int32")
    return np.asarray(np.abs(x) + 0.5 if op_type == "Pow" else x, "float32")


def _binary():
    for op_type, (function, last) in BINARY.items():
        a = _operand(op_type, A.shape)
        for shape, attributes, beside in PLACED:
            b = _operand(op_type, shape)
            wanted = [function(a, b.reshape(beside))]
            yield Case(op_type, 1, last, [a, b], {"broadcast": 1, **attributes}, wanted)
        yield Case(op_type, 1, last, [a, a[::-1].copy()], {}, [function(a, a[::-1])])
        b = _operand(op_type, (5,))
        equal = "shapes that must be equal before opset 7 unless it has the attribute broadcast=1"
        yield Case(op_type, 1, last, [a, b], {}, [function(a, b)], equal)
        b = _operand(op_type, (3,))
        reason = "a shape that isn't a part of the first one's"
        yield Case(op_type, 1, last, [a, b], {"broadcast": 1}, [a], reason)
        if last == 6:
            yield Case(op_type, 1, 5, [a, a], {"consumed_inputs": [0, 0]}, [function(a, a)])


def _products():
    a, b, c = _random(2, 3), _random(3, 4), _random(4)
    yield Case("Gemm", 1, 6, [a, b, c], {"broadcast": 1, "beta": 0.5}, [a @ b + c / 2])
    yield Case("Gemm", 1, 6, [a, b, c[None]], {"broadcast": 1}, [a @ b + c])
    yield Case("Gemm", 1, 6, [a.T.copy(), b, a @ b], {"transA": 1}, [2 * (a @ b)])
    yield Case("Gemm", 1, 6, [a, b, c], {}, [a @ b + c], "must be a matrix before opset 7")
    slope, slopes = np.float32([10]), np.float32([1, 10])
    yield Case("PRelu", 1, 6, [IMAGE, slope], {}, [np.where(IMAGE < 0, IMAGE * 10, IMAGE)])
    wanted = np.where(IMAGE < 0, IMAGE * slopes[:, None, None], IMAGE)
    yield Case("PRelu", 1, 6, [IMAGE, slopes], {}, [wanted])


def _flattening():
    for op_type in ("Softmax", "LogSoftmax", "Hardmax"):
        yield Case(op_type, 1, 12, [X])
        for axis in (0, 1, 2):
            yield Case(op_type, 1, 12, [X], {"axis": axis})
            yield Case(op_type, 1, 12, [_random(2, 3, 1)], {"axis": axis})
        yield Case(op_type, 11, 12, [X], {"axis": -2})


def _training():
    values = [IMAGE, *np.abs(_random(4, 2))]
    scale, bias, mean, variance = (v[:, None, None] for v in values[1:])
    wanted = [(IMAGE - mean) / np.sqrt(variance + np.float32(1e-5)) * scale + bias]
    test = {"is_test": 1}
    yield Case("BatchNormalization", 1, 5, values, {**test, "consumed_inputs": [0] * 5}, wanted)
    yield Case("BatchNormalization", 6, 6, values, test, wanted)
    yield Case("BatchNormalization", 6, 6, values, {}, wanted)  # one output says so, too
    yield Case("BatchNormalization", 1, 6, values, {"is_test": 0}, wanted, "it trains")
    yield Case("BatchNormalization", 7, 8, values, {"spatial": 1, "epsilon": 0.1})
    yield Case("BatchNormalization", 9, 13, values)
    values = [IMAGE, *np.abs(_random(4, *IMAGE.shape[1:]))]
    yield Case("BatchNormalization", 7, 8, values, {"spatial": 0})
    _, scale, bias, mean, variance = values
    wanted = [(IMAGE - mean) / np.sqrt(variance + np.float32(1e-5)) * scale + bias]
    yield Case("BatchNormalization", 6, 6, values, {"spatial": 0, **test}, wanted)
    yield Case("Dropout", 1, 6, [X], {"is_test": 1, "ratio": 0.3}, [X])
    yield Case("Dropout", 1, 6, [X], {}, [X], "it drops at random, for is_test is 0")
    yield Case("Dropout", 7, 11, [X], {"ratio": 0.3})
    yield Case("Dropout", 10, 11, [X], {}, [X, X > 9], "its mask is read")


def _attributes():
    half = X.astype("float16")
    yield Case("Cast", 1, 5, [X], {"to": "INT32"}, [X.astype("int32")])
    yield Case("Cast", 1, 5, [X], {"to": "WHATEVER"}, [X], "there is no element type")
    yield Case("Clip", 1, 5, [X], {"min": -0.5, "max": 0.5}, [X.clip(-0.5, 0.5)])
    yield Case("Clip", 1, 5, [X], {"max": 0.5, "consumed_inputs": [0]}, [X.clip(None, 0.5)])
    for limits in ({}, {"min": 0.0}, {"max": 0.5}, {"min": -0.5, "max": 0.25}):
        yield Case("Clip", 6, 10, [X], limits)
        yield Case("Clip", 6, 10, [half], limits, [half.clip(*map(limits.get, ("min", "max")))])
    yield Case("Concat", 1, 3, [X, X], {}, [np.concatenate([X, X], 1)])
    yield Case("Concat", 1, 3, [X, X], {"axis": 2}, [np.concatenate([X, X], 2)])
    yield Case("Reshape", 1, 4, [X], {"shape": [0, -1]})
    yield Case("Selu", 1, 5, [X], {}, [np.float32(1.0507) * _elu(X, np.float32(1.6732))])
    yield Case("Selu", 6, LATEST, [X])
    for cut in (
        {"starts": [1, -3], "ends": [2, 2**31 - 1], "axes": [0, 2]},
        {"starts": [0, 1], "ends": [-1, 1000]},
    ):
        yield Case("Slice", 1, 9, [X], cut)
    parts, two = {"split": [1, 3], "axis": 2}, [X.dtype] * 2
    yield Case("Split", 2, 12, [X], parts, types=two)
    yield Case("Split", 2, 12, [X], {"axis": 2}, types=two)
    yield Case("Split", 1, 1, [X], parts, np.split(X, [1], axis=2))
    parts = np.float32([1, 3])
    yield Case("Split", 1, 1, [X, parts], {"axis": 2}, np.split(X, [1], axis=2))
    reason = "an axis that can't be cut into 2 equal parts"
    yield Case("Split", 2, 17, [X], {"axis": 1}, [X[:, :2], X[:, 2:]], reason)
    thin = _random(2, 1, 3, 1)
    for axes in ({}, {"axes": [1]}, {"axes": [1, 3]}):
        yield Case("Squeeze", 1, 12, [thin], axes)
    yield Case("Squeeze", 13, LATEST, [thin, np.zeros(0, "int64")], {}, [thin])
    yield Case("Unsqueeze", 1, 12, [X], {"axes": [0, 3]})
    yield Case("Unsqueeze", 11, 12, [X], {"axes": [-1]})
    tiles = [np.float32(3), np.float32(1)]
    yield Case("Tile", 1, 5, [X, *tiles], {}, [np.tile(X, (1, 3, 1))])
    yield Case("TopK", 1, 9, [X], {"k": 2}, types=["float32", "int64"])
    yield Case("TopK", 1, 9, [X], {"k": 2, "axis": 0}, types=["float32", "int64"])
    places, values = np.int64([0, 2, 3, -1]), np.float32([1, 5])
    wanted = np.float32([[5, 1, 1], [1, 1, 5], [1, 1, 1], [1, 1, 1]])
    yield Case("OneHot", 9, 10, [places, np.int64([3]), values], {}, [wanted])
    yield Case("Celu", 12, LATEST, [np.float32([-2, 3])], {"alpha": 0.0}, [np.float32([0, np.nan])])
    for op_type in ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax"):
        yield from _reductions(op_type, 17)
    for op_type in ("ReduceMean", "ReduceMin", "ReduceProd", "ReduceSumSquare"):
        yield from _reductions(op_type, 17)
    yield from _reductions("ReduceSum", 12)


def _elu(x, alpha):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _reductions(op_type, last):
    positive = np.abs(X)
    for attributes in ({}, {"axes": [0, 2]}, {"axes": [1], "keepdims": 0}):
        yield Case(op_type, 1, last, [positive], attributes)
    yield Case(op_type, 11, last, [positive], {"axes": [-1]})


def _max_of_regions(images, regions, pooled_shape, spatial_scale=1.0):
    """Pool bins of regions whose corners are whole cells, last included, as in Fast R-CNN.

    Bins that fall between cells take both; those beyond the image are 0.
    """
    pooled = np.zeros((len(regions), images.shape[1], *pooled_shape), images.dtype)
    for result, (image, *corners) in zip(pooled, regions, strict=True):
        left, top, right, bottom = (math.floor(v * spatial_scale + 0.5) for v in corners)
        for row, column in np.ndindex(*pooled_shape):
            cells = images[int(image)]
            for axis, (low, high, bin_, count) in enumerate(
                ((top, bottom, row, pooled_shape[0]), (left, right, column, pooled_shape[1]))
            ):
                length = max(high - low + 1, 1)
                first, last = low + bin_ * length // count, low - (-(bin_ + 1) * length // count)
                cells = cells.take(range(first, min(last, cells.shape[1 + axis])), 1 + axis)
            if cells.size:
                result[:, row, column] = cells.max((1, 2))
    return pooled


def _images():
    for pads in ([0, 0, 1, 2, 0, 0, 2, 1], [0, 0, -1, 1, 0, 0, 0, -2]):
        yield Case("Pad", 2, 10, [IMAGE], {"pads": pads, "value": 3.0})
    for mode in ("reflect", "edge"):
        yield Case("Pad", 2, 10, [IMAGE], {"pads": [0, 0, 1, 2, 0, 0, 2, 1], "mode": mode})
    wanted = np.pad(IMAGE, [(0, 0), (0, 0), (1, 1), (1, 1)])
    equal = {"paddings": [0, 0, 1, 1, 0, 0, 1, 1]}
    reason = "the standard contradicts itself about paddings"
    yield Case("Pad", 1, 1, [IMAGE], equal, [wanted], reason)
    yield Case("Pad", 1, 1, [_random(2, 2)], {"paddings": [1] * 4}, [np.pad(_random(2, 2), 1)])
    grown = IMAGE.repeat(2, 2).repeat(3, 3)
    scale = {"height_scale": 2.0, "width_scale": 3.0}
    yield Case("Upsample", 1, 6, [IMAGE], scale, [grown])
    two = {"height_scale": 1.0, "width_scale": 2.0, "mode": "bilinear"}
    mean = (IMAGE + np.roll(IMAGE, -1, 3)) / 2
    mean[..., -1] = IMAGE[..., -1]
    between = np.stack([IMAGE, mean], axis=-1).reshape(1, 2, 3, 8)
    yield Case("Upsample", 1, 6, [IMAGE], two, [between])
    for mode in ("nearest", "linear"):
        for scales in ([1, 1, 2, 2], [1, 1, 1.5, 2.7]):
            factors = [float(s) for s in scales]
            yield Case("Upsample", 7, 8, [IMAGE], {"scales": factors, "mode": mode})
            yield Case("Upsample", 9, 9, [IMAGE, np.float32(scales)], {"mode": mode})
        for scales in ([1, 1, 2, 2], [1, 1, 1.5, 0.6], [1, 1, 0.7, 0.3]):
            yield Case("Resize", 10, 10, [IMAGE, np.float32(scales)], {"mode": mode})
            no_region = np.zeros(0, "float32")
            yield Case("Resize", 11, 11, [IMAGE, no_region, np.float32(scales)], {"mode": mode})
    windows = np.lib.stride_tricks.sliding_window_view(IMAGE, (2, 2), (2, 3))
    cubes = (np.abs(windows) ** 3).sum((-1, -2)) ** (1 / 3)
    yield Case("LpPool", 1, 1, [IMAGE], {"kernel_shape": [2, 2], "p": 3.0}, [cubes])
    whole = (np.abs(IMAGE) ** 3).sum((2, 3), keepdims=True) ** (1 / 3)
    yield Case("GlobalLpPool", 1, 1, [IMAGE], {"p": 3.0}, [whole])
    yield Case("GlobalLpPool", 2, LATEST, [IMAGE], {"p": 3}, [whole])
    regions = np.float32([[0, 0, 1, 2, 2], [0, 1, 0, 3, 1], [0, 2, 1, 9, 9]])
    for more in ({"pooled_shape": [2, 3]}, {"pooled_shape": [3, 2], "spatial_scale": 0.6}):
        pooled = _max_of_regions(IMAGE, regions, **more)
        yield Case("MaxRoiPool", 1, LATEST, [IMAGE, regions], more, [pooled])
    pooling = {"kernel_shape": [2, 2], "pads": [1, 1, 0, 0], "strides": [2, 2]}
    counts = np.pad(np.ones((1, 2, 3, 4), "float32"), [(0, 0), (0, 0), (1, 0), (1, 0)])
    sums = np.pad(IMAGE, [(0, 0), (0, 0), (1, 0), (1, 0)])
    sums, counts = (
        np.lib.stride_tricks.sliding_window_view(v, (2, 2), (2, 3))[:, :, ::2, ::2].sum((-1, -2))
        for v in (sums, counts)
    )
    yield Case("AveragePool", 1, 6, [IMAGE], pooling, [sums / counts])
    for ceil in (0, 1):
        more = {"ceil_mode": ceil, "strides": [2, 2], "kernel_shape": [2, 3]}
        for included in (0, 1):
            yield Case("AveragePool", 10, 18, [IMAGE], {**more, "count_include_pad": included})
        yield Case("MaxPool", 10, LATEST, [IMAGE], {**more, "dilations": [2, 1]})
    yield Case("MaxPool", 1, 9, [IMAGE], {"kernel_shape": [2, 2], "auto_pad": "SAME_LOWER"})


def _recurrent():
    x = _random(3, 2, 4)
    for op_type, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        values = [x, _random(1, gates * 5, 4), _random(1, gates * 5, 5), _random(1, gates * 10)]
        plain, types = {"hidden_size": 5}, ["float32"] * (3 if op_type == "LSTM" else 2)
        yield Case(op_type, 7, 13, values, plain, types=types)
        old = {**plain, "output_sequence": 1}
        for direction in ("forward", "reverse"):
            ends = {"direction": direction}
            wanted = RECURRENT[op_type](*values, direction == "reverse")
            yield Case(op_type, 1, 6, values, {**old, **ends}, wanted)


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _over_time(step, x, states, backward):
    """Return all hidden states, and the last ones, by the equations of the standard's text."""
    hidden = []
    for row in x[::-1] if backward else x:
        states = step(row, *states)
        hidden.append(states[0])
    hidden = hidden[::-1] if backward else hidden
    return [np.stack(hidden)[:, None], *(v[None] for v in states)]


def _rnn(x, w, r, b, backward):
    w, r, b = w[0], r[0], b[0, :5] + b[0, 5:]

    def step(row, h):
        return (np.tanh(row @ w.T + h @ r.T + b),)

    return _over_time(step, x, [np.zeros((2, 5), "float32")], backward)


def _gru(x, w, r, b, backward):
    (wz, wr, wh), (rz, rr, rh) = np.split(w[0], 3), np.split(r[0], 3)
    bz, br, bh, cz, cr, ch = np.split(b[0], 6)

    def step(row, h):
        z = _sigmoid(row @ wz.T + h @ rz.T + bz + cz)
        reset = _sigmoid(row @ wr.T + h @ rr.T + br + cr)
        new = np.tanh(row @ wh.T + (reset * h) @ rh.T + ch + bh)
        return ((1 - z) * new + z * h,)

    return _over_time(step, x, [np.zeros((2, 5), "float32")], backward)


def _lstm(x, w, r, b, backward):
    w, r, b = np.split(w[0], 4), np.split(r[0], 4), np.split(b[0, :20] + b[0, 20:], 4)

    def step(row, h, c):
        i, o, f, g = (row @ w[n].T + h @ r[n].T + b[n] for n in range(4))
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        return _sigmoid(o) * np.tanh(c), c

    return _over_time(step, x, [np.zeros((2, 5), "float32")] * 2, backward)


def _bodies():
    x = np.float32([1, -2])
    counted = """g (int64 n, float[2] x) => (float[2] y, float[K, 2] ys) {
        y, ys = Loop (n, , x) <body = b (int64 i, bool c, float[2] h)
            => (bool d, float[2] k, float[2] s) {
                d = Identity (c) k = Add (h, h) s = Neg (k) }> }"""
    for trips in (0, 3):
        sums = np.float32([-(2 ** (i + 1)) * x for i in range(trips)]).reshape(trips, 2)
        yield Graph("Loop", 7, LATEST, [np.array(trips), x], counted, [x * 2**trips, sums])
        sums = np.float32([-x] * trips).reshape(trips, 2)
        kept = counted.replace("Add (h, h)", "Identity (h)")
        yield Graph("Loop", 1, 6, [np.array(trips), x], kept, [x, sums])
    scanned = """g (float[2] x, float[3, 2] z) => (float[2] y, float[3, 2] ys) {
        y, ys = Scan <num_scan_inputs = 1, body = b (float[2] h, float[2] r)
            => (float[2] k, float[2] s) { k = Add (h, r) s = Neg (k) }> (x, z) }"""
    yield Graph("Scan", 9, LATEST, [x, _random(3, 2)], scanned)
    yield from _scans_of_batches()
    branches = """g (bool c, float[2] x) => (float[2] y) { y = If (c) <
        then_branch = t () => (float[2] a) { a = Neg (x) },
        else_branch = e () => (float[2] b) { b = Exp (x) }> }"""
    for flag in (False, True):
        yield Graph("If", 1, LATEST, [np.array(flag), x], branches)
    optional = """g (float[2] x) => (float[2] y) {
        o = Optional (x) y = OptionalGetElement (o) }"""
    has = "g (float[2] x) => (bool y) { o = Optional (x) y = OptionalHasElement (o) }"
    for op_type, text in (
        ("Optional", optional), ("OptionalGetElement", optional), ("OptionalHasElement", has)
    ):  # fmt: skip
        yield Graph(op_type, 15, LATEST, [x], text, [x if "Get" in text else np.array(True)])
    in_two = """g (float[4] x) => (float[2] y) {
        n = Constant <value_int = 2> () i = Constant <value_int = 1> ()
        s = SplitToSequence (x, n) y = SequenceAt (s, i) }"""
    yield Graph("SplitToSequence", 12, LATEST, [_random(4)], in_two)


def _scans_of_batches():
    """Scan of opset 8: batches of sequences, each of its own length; wanted is the pseudo-code."""
    text = """g (int64[3] n, float[B, 2] h, float[B, T, 2] z, float[B, T, 2] v)
        => (float[B, 2] last, float[B, T, 2] all) {
        last, all = Scan <num_scan_inputs = 2, DIRECTIONS body = b (float[2] c, float[2] r,
            float[2] q) => (float[2] k, float[2] s)
            { a = Mul (c, q) k = Add (a, r) s = Neg (k) }> (LENGTHS, h, z, v) }"""
    h, z, v = _random(3, 2), _random(3, 4, 2), 1 + _random(3, 4, 2)
    for lengths, backward in (
        (None, (0, 0)), (None, (0, 1)), ([4, 2, 1], (0, 0)), ([1, 3, 4], (1, 0))
    ):  # fmt: skip
        given, numbers = ("n", lengths) if lengths else ("", [4, 4, 4])
        last, collected = h.copy(), np.zeros_like(z)
        for batch, n in enumerate(numbers):
            elements = [
                x[batch, :n][:: -1 if turned else 1]
                for x, turned in zip((z, v), backward, strict=True)
            ]
            for t, (r, q) in enumerate(zip(*elements, strict=True)):
                last[batch] = last[batch] * q + r
                collected[batch, t] = -last[batch]  # what follows the last is undefined: 0 here
        directions = f"directions = [{backward[0]}, {backward[1]}]," if any(backward) else ""
        form = text.replace("DIRECTIONS", directions).replace("LENGTHS", given)
        yield Graph("Scan", 8, 8, [np.array(numbers), h, z, v], form, [last, collected])


RECURRENT = {"RNN": _rnn, "GRU": _gru, "LSTM": _lstm}
CASES = [
    *_binary(),
    *_products(),
    *_flattening(),
    *_training(),
    *_attributes(),
    *_images(),
    *_recurrent(),
    *_bodies(),
]
