"""Residual network on handwritten digits: trained, exported and run with onnxruntime."""

import onnxruntime
from sklearn import datasets, utils

import pytensor.tensor as pt
from pytensor import config, function, layers
from pytensor.link.jax import jax_mode
from pytensor.link.onnx import export_onnx
from pytensor.optimizers import AdamW

config.floatX = "float32"
pixels, digits = utils.shuffle(*datasets.load_digits(return_X_y=True), random_state=0)
images, digits = pixels.reshape(-1, 1, 8, 8).astype("float32") / 16, digits.astype("int32")


class Residual(layers.Sequential):
    def __call__(self, x):
        return x + super().__call__(x)


def conv(n_in, n_out, stride=1):
    return layers.Conv2d(n_in, n_out, 3, stride, 1), layers.BatchNorm(n_out), pt.nn.relu


net = layers.Sequential(*conv(1, 32), Residual(*conv(32, 32)), *conv(32, 64, 2),
    Residual(*conv(64, 64)), lambda x: x.mean((2, 3)), layers.Linear(64, 10))  # fmt: skip
x, y = pt.tensor("x", shape=(None, 1, 8, 8)), pt.ivector("y")
with layers.training() as updates:
    loss = pt.nn.cross_entropy(net(x), y)
step = function([x, y], loss, updates=AdamW(3e-3).minimize(loss, net, updates), mode=jax_mode())
layers.fit(step, layers.batches([images[:1400], digits[:1400]], 50, rng=0), epochs=6)

scores = pt.nn.softmax(net(x), dim=1)
export_onnx(x, scores, "digits.onnx", output_names=["scores"], verify=[images[1400:1402]])
session = onnxruntime.InferenceSession("digits.onnx")
(found,) = session.run(None, {"x": images[1400:]})
accuracy = (found.argmax(axis=1) == digits[1400:]).mean()
print(f"digits.onnx: right on {accuracy:.1%} of 397 digits that it has not seen")
if accuracy < 0.97:
    raise SystemExit("the accuracy is under its target of 97 %")
