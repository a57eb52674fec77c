"""Handwritten digits: a small network trained through JAX, exported, checked with onnxruntime.

    python train_mnist_cnn.py                        # scikit-learn's digits: 0.99, 11 s of CPU
    python train_mnist_cnn.py --mnist FOLDER_OR_URL  # MNIST's idx files, .gz or not

Fails if the exported model's accuracy on the test images is under 0.97 (MNIST: 0.985).
"""

import argparse
from itertools import pairwise

import onnxruntime
from digits import accuracy, load

import pytensor
import pytensor.tensor as pt
from pytensor import layers
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
pytensor.config.floatX = "float32"

parts = []
for n_in, n_out in pairwise([1, 16, 32, 64]):
    filters = layers.Conv2d(n_in, n_out, 3, padding="same", bias=False)
    layers.restart(filters.weight, layers.init.kaiming_normal())
    parts += [filters, layers.BatchNorm(n_out, eps=1e-4), pt.nn.silu]
    parts.append(lambda h: pt.nn.max_pool2d(h, 2))
head = layers.Linear(64, 10)
network = layers.Sequential(*parts, pt.nn.global_avg_pool, lambda h: h[:, :, 0, 0], head)

batch = pt.tensor("batch", dtype="float32", shape=(BATCH, *train_x.shape[1:]))
labels = pt.tensor("labels", dtype="int32", shape=(BATCH,))
with layers.training() as updates:
    loss = pt.nn.cross_entropy(network(batch), labels)
updates = Adam(2e-3).minimize(loss, network, updates)
step = pytensor.function([batch, labels], loss, updates=updates, mode=jax_mode())
images = pt.tensor("images", dtype="float32", shape=(None, *train_x.shape[1:]))
scores = network(images)
classify = pytensor.function([images], scores, mode=jax_mode())
data = layers.batches([train_x, train_y], BATCH, rng=0)
layers.fit(step, data, options.epochs, validate=lambda: accuracy(classify, test_x, test_y))

export_onnx(images, scores, "mnist_cnn.onnx")
session = onnxruntime.InferenceSession("mnist_cnn.onnx")
exported = accuracy(lambda part: session.run(None, {"images": part})[0], test_x, test_y)
print(f"mnist_cnn.onnx: accuracy {exported:.4f}")
if exported < target:
    raise SystemExit(f"the accuracy {exported:.4f} is under its target of {target}")
