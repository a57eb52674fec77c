"""Multilayer perceptron: exported with its weights and any batch size, run with onnxruntime."""

import numpy as np
import onnxruntime

import pytensor.tensor as pt
from pytensor import config, layers
from pytensor.link.onnx import export_onnx

config.floatX = "float32"
net = layers.Sequential(
    layers.Linear(4, 32), pt.nn.relu, layers.Linear(32, 32), pt.nn.relu, layers.Linear(32, 3)
)
x = pt.matrix("features", shape=(None, 4))
classes = pt.nn.softmax(net(x), dim=1)

batch = np.random.default_rng(0).normal(size=(5, 4)).astype("float32")
model = export_onnx(
    x, classes, "mlp.onnx", output_names="classes", dynamic_axes={"features": {0: "N"}},
    verify=[batch],
)  # fmt: skip
(found,) = onnxruntime.InferenceSession("mlp.onnx").run(None, {"features": batch})
print(len(model.graph.node), "nodes; rows sum to", found.sum(axis=1))
