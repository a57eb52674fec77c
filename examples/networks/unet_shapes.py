"""U-Net that finds drawn discs and squares, in pictures of any size."""

from itertools import pairwise

import numpy as np
import onnxruntime

import pytensor.tensor as pt
from pytensor import config, function, layers
from pytensor.link.jax import jax_mode
from pytensor.link.onnx import export_onnx
from pytensor.optimizers import AdamW, schedules

config.floatX = "float32"


def draw(count, height, width, rng):
    """Draw noisy pictures (count, 1, height, width) and their classes: nothing, disc, square."""
    y, x = np.mgrid[:height, :width]
    classes = np.zeros((count, height, width), "int32")
    for kind, distance in (1, np.hypot), (2, np.maximum):
        row, column = (rng.integers(4, n - 4, (count, 1, 1)) for n in (height, width))
        radius = rng.integers(5, 9, (count, 1, 1))
        classes[distance(abs(y - row), abs(x - column)) <= radius] = kind
    pictures = (classes > 0) * rng.uniform(0.5, 1, (count, 1, 1))
    return np.float32(pictures + rng.normal(0, 0.2, classes.shape))[:, None], classes


def conv(n_in, n_out):
    return layers.Sequential(
        layers.Conv2d(n_in, n_out, 3, padding=1, bias=False), layers.BatchNorm(n_out), pt.nn.relu
    )


class UNet(layers.Module):
    def __init__(self, n_in, widths, n_out):
        self.down = [conv(a, b) for a, b in pairwise([n_in, *widths])]
        steps = [(b, a) for a, b in pairwise(widths)][::-1]
        self.up = [layers.ConvTranspose2d(b, a, 2, stride=2) for b, a in steps]
        self.join = [conv(2 * a, a) for _, a in steps]
        self.head = layers.Conv2d(widths[0], n_out, 1)

    def __call__(self, x):
        first, *rest = self.down
        found = [first(x)]
        for block in rest:
            found.append(block(pt.nn.max_pool2d(found[-1], 2)))
        x = found.pop()
        for up, join in zip(self.up, self.join, strict=True):
            x = join(pt.concatenate([up(x), found.pop()], axis=1))
        return self.head(x)


net, rng = UNet(1, [16, 32, 64], 3), np.random.default_rng(0)
x = pt.tensor("pictures", shape=(None, 1, None, None))
y = pt.tensor("classes", shape=(None, None, None), dtype="int32")
with layers.training() as updates:
    loss = pt.nn.cross_entropy(net(x), y)
optimizer = AdamW(schedules.one_cycle(steps=5 * 50, peak=5e-3))
step = function([x, y], loss, updates=optimizer.minimize(loss, net, updates), mode=jax_mode())
data = layers.batches(draw(1600, 32, 32, rng), 32, rng)
layers.fit(step, data, epochs=5, optimizer=optimizer)

pictures, classes = draw(100, 48, 80, rng)
found = net(x).argmax(axis=1)
export_onnx(x, found, "shapes.onnx", output_names=["found"], verify=[pictures[:2]])
session = onnxruntime.InferenceSession("shapes.onnx")
(found,) = session.run(None, {"pictures": pictures})
pairs = [(found == k, classes == k) for k in (1, 2)]
overlaps = [(a & b).sum() / (a | b).sum() for a, b in pairs]
print("shapes.onnx: overlap (IoU) of discs {:.3f} and of squares {:.3f}".format(*overlaps))
if min(overlaps) < 0.9:
    raise SystemExit("an overlap is under its target of 0.9")
