"""Transformer block: causal self-attention with several heads, then a feed-forward layer."""

import numpy as np

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx

rng = np.random.default_rng(0)
width, heads = 16, 4
x = pt.tensor("tokens", shape=(None, None, width), dtype="float32")  # batch, position, feature


def dense(x, name, n_out):
    n_in = x.type.shape[-1]
    weight = (rng.normal(size=(n_in, n_out)) / np.sqrt(n_in)).astype("float32")
    return x @ pytensor.shared(weight, name=name, shape=weight.shape)


def normalize(x):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / pt.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(1e-5))


def split_heads(x):
    return x.reshape((x.shape[0], x.shape[1], heads, width // heads)).transpose(0, 2, 1, 3)


h = normalize(x)
query, key, value = (split_heads(dense(h, name, width)) for name in ("query", "key", "value"))
scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(width / heads))
position = pt.arange(x.shape[1])
scores = pt.switch(position[:, None] >= position, scores, np.float32(-np.inf))
mixed = (pt.special.softmax(scores, axis=-1) @ value).transpose(0, 2, 1, 3).reshape(x.shape)
h = x + dense(mixed, "output", width)
y = h + dense(pt.nn.silu(dense(normalize(h), "up", 4 * width)), "down", width)

sample = rng.normal(size=(2, 5, width)).astype("float32")
axes = {"tokens": {0: "N", 1: "T"}}
model = export_onnx(x, y, "attention.onnx", dynamic_axes=axes, verify=[sample])
print(len(model.graph.node), "nodes")
