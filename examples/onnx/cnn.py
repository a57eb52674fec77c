"""Convolutional network: trained by onnxruntime, a whole step in one function, then exported."""

import numpy as np

import pytensor
import pytensor.tensor as pt
from pytensor.link.onnx import export_onnx
from pytensor.optimizers import SGD

rng = np.random.default_rng(0)
images = pt.tensor("images", shape=(None, 1, 12, 12), dtype="float32")
labels = pt.tensor("labels", shape=(None,), dtype="int64")
kernels = pytensor.shared(rng.normal(size=(8, 1, 3, 3)).astype("float32") / 3, name="kernels")
weight = pytensor.shared(np.zeros((8, 2), "float32"), name="weight")
h = pt.nn.max_pool2d(pt.nn.silu(pt.nn.conv2d(images, kernels)), 2)
logits = h.mean(axis=(2, 3)) @ weight
loss = -pt.special.log_softmax(logits, axis=1)[pt.arange(labels.shape[0]), labels].mean()
parameters = [kernels, weight]
updates = SGD(0.5, momentum=0.9).get_updates(parameters, pt.grad(loss, parameters))
step = pytensor.function([images, labels], loss, updates=updates, mode="ONNX")

# Horizontal against vertical stripes.
stripes = np.tile(np.float32([0, 1]), (2, 1, 12, 6))
data = np.concatenate([stripes, stripes.swapaxes(2, 3)])
data += rng.normal(size=data.shape).astype("float32") / 5
losses = [float(step(data, [0, 0, 1, 1])) for _ in range(30)]
print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}")
export_onnx(images, logits, "cnn.onnx", verify=[data])
