"""Transformer block: causal self-attention with several heads, then a feed-forward layer."""

import numpy as np

import pytensor.tensor as pt
from pytensor import config, layers
from pytensor.link.onnx import export_onnx

config.floatX = "float32"


class Block(layers.Module):
    def __init__(self, width, heads):
        self.norm1, self.norm2 = layers.LayerNorm(width), layers.LayerNorm(width)
        self.attention = layers.MultiHeadAttention(width, heads)
        self.up, self.down = layers.Linear(width, 4 * width), layers.Linear(4 * width, width)

    def __call__(self, x):
        x = x + self.attention(self.norm1(x), causal=True)
        return x + self.down(pt.nn.silu(self.up(self.norm2(x))))


x = pt.tensor("tokens", shape=(None, None, 16))  # batch, position, feature
sample = np.random.default_rng(0).normal(size=(2, 5, 16)).astype("float32")
axes = {"tokens": {0: "N", 1: "T"}}
block = Block(16, heads=4)
model = export_onnx(x, block(x), "attention.onnx", dynamic_axes=axes, verify=[sample])
print(len(model.graph.node), "nodes")
