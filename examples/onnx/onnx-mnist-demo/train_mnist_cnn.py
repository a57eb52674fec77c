"""Handwritten digits: a small network trained through JAX, exported, checked with onnxruntime.

    python train_mnist_cnn.py                        # scikit-learn's digits: 0.99, 6 s of CPU time
    python train_mnist_cnn.py --mnist FOLDER_OR_URL  # MNIST's idx files, .gz or not

Fails if the exported model's accuracy on the test images is under 0.97 (MNIST: 0.985).
"""

import argparse
import os
from itertools import pairwise

os.environ["PYTENSOR_FLAGS"] = "floatX=float32," + os.environ.get("PYTENSOR_FLAGS", "")

import numpy as np
import onnxruntime
from digits import accuracy, load

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import jax_mode
from pytensor.link.onnx import export_onnx
from pytensor.optimizers import Adam

BATCH = 50

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--mnist", metavar="FOLDER_OR_URL", help="where its four idx files lie")
parser.add_argument("--epochs", type=int, default=8)
options = parser.parse_args()
(train_x, test_x), (train_y, test_y) = load(options.mnist)
data, target = ("MNIST", 0.985) if options.mnist else ("scikit-learn's digits", 0.97)
print(f"{data}: {len(train_x)} images to train with, {len(test_x)} to test with")
rng = np.random.default_rng(0)


def parameter(value):
    return pytensor.shared(np.asarray(value, "float32"), shape=np.shape(value))


layers, trained = [], [parameter(np.zeros((64, 10))), parameter(np.zeros(10))]
for n_in, n_out in pairwise([1, 16, 32, 64]):
    kernels = rng.normal(size=(n_out, n_in, 3, 3)) * np.sqrt(2 / (9 * n_in))
    one, zero = np.ones(n_out), np.zeros(n_out)
    layers.append([parameter(value) for value in (kernels, one, zero, zero, one)])
    trained += layers[-1][:3]


def network(h, training):
    statistics = {}  # new values of the running ones
    for kernels, gamma, beta, mean, var in layers:
        h = pt.nn.conv2d(h, kernels, padding="same")
        if training:
            h, statistics[mean], statistics[var] = pt.nn.batch_norm(
                h, mean, var, gamma, beta, training=True, eps=1e-4
            )
        else:
            h = pt.nn.batch_norm(h, mean, var, gamma, beta, eps=1e-4)
        h = pt.nn.max_pool2d(pt.nn.silu(h), 2)
    return pt.nn.global_avg_pool(h)[:, :, 0, 0] @ trained[0] + trained[1], statistics


batch = pt.tensor("batch", dtype="float32", shape=(BATCH, *train_x.shape[1:]))
labels = pt.tensor("labels", dtype="int32", shape=(BATCH,))
scores, statistics = network(batch, training=True)
loss = -pt.special.log_softmax(scores, axis=1)[np.arange(BATCH), labels].mean()
updates = Adam(2e-3).get_updates(trained, pt.grad(loss, trained)) | statistics
step = pytensor.function([batch, labels], loss, updates=updates, mode=jax_mode())
images = pt.tensor("images", dtype="float32", shape=(None, *train_x.shape[1:]))
scores, _ = network(images, training=False)
classify = pytensor.function([images], scores, mode=jax_mode())
for epoch in range(options.epochs):
    order = rng.permutation(len(train_x))
    losses = [step(train_x[rows], train_y[rows]) for rows in order.reshape(-1, BATCH)]
    right = accuracy(classify, test_x, test_y)
    print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}, accuracy {right:.4f}")

export_onnx(images, scores, "mnist_cnn.onnx")
session = onnxruntime.InferenceSession("mnist_cnn.onnx")
exported = accuracy(lambda part: session.run(None, {"images": part})[0], test_x, test_y)
print(f"mnist_cnn.onnx: accuracy {exported:.4f}")
if exported < target:
    raise SystemExit(f"the accuracy {exported:.4f} is under its target of {target}")
