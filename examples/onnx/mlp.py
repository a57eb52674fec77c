"""Multilayer perceptron: exported with its weights and any batch size, run with onnxruntime."""

from itertools import pairwise

import numpy as np
import onnxruntime

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx

rng = np.random.default_rng(0)
sizes = [4, 32, 32, 3]
x = pt.tensor("features", shape=(None, 4), dtype="float32")
h = x
for layer, (n_in, n_out) in enumerate(pairwise(sizes)):
    weight = (rng.normal(size=(n_in, n_out)) / np.sqrt(n_in)).astype("float32")
    h = h @ pytensor.shared(weight, name=f"layer{layer}.weight")
    h = h + pytensor.shared(np.zeros(n_out, "float32"), name=f"layer{layer}.bias")
    h = pt.maximum(h, 0) if layer < 2 else pt.special.softmax(h, axis=1)

batch = rng.normal(size=(5, 4)).astype("float32")
model = export_onnx(
    x, h, "mlp.onnx", output_names="classes", dynamic_axes={"features": {0: "N"}}, verify=[batch]
)
(classes,) = onnxruntime.InferenceSession("mlp.onnx").run(None, {"features": batch})
print(len(model.graph.node), "nodes; rows sum to", classes.sum(axis=1))
