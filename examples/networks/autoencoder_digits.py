"""Autoencoder with transposed convolutions: a digit of 64 pixels as 8 numbers, and back."""

import onnxruntime
from sklearn import datasets, decomposition, utils

import pytensor.tensor as pt
from pytensor import config, function, layers
from pytensor.link.jax import jax_mode
from pytensor.link.onnx import export_onnx
from pytensor.optimizers import AdamW, schedules

config.floatX = "float32"
images = utils.shuffle(datasets.load_digits().images, random_state=0)
images = images.reshape(-1, 1, 8, 8).astype("float32") / 16
seen, unseen = images[:1400], images[1400:]

encoder = layers.Sequential(
    layers.Conv2d(1, 32, 4, stride=2, padding=1), pt.nn.gelu,  # 4 x 4
    layers.Conv2d(32, 64, 4, stride=2, padding=1), pt.nn.gelu,  # 2 x 2
    lambda x: x.flatten(ndim=2), layers.Linear(256, 8),
)  # fmt: skip
decoder = layers.Sequential(
    layers.Linear(8, 256), pt.nn.gelu, lambda x: x.reshape((-1, 64, 2, 2)),
    layers.ConvTranspose2d(64, 32, 4, stride=2, padding=1), pt.nn.gelu,
    layers.ConvTranspose2d(32, 1, 4, stride=2, padding=1),
)  # fmt: skip
net = layers.Sequential(encoder, decoder)
x, code = pt.tensor("images", shape=(None, 1, 8, 8)), pt.matrix("code", shape=(None, 8))
loss, epochs = pt.nn.mse_loss(net(x), x), 40
optimizer = AdamW(schedules.one_cycle(epochs * 28, peak=5e-3))
step = function([x], loss, updates=optimizer.minimize(loss, net), mode=jax_mode())
layers.fit(step, layers.batches([seen], 50, rng=0), epochs, optimizer=optimizer)

export_onnx(x, encoder(x), "encoder.onnx", output_names=["code"], verify=[unseen[:2]])
(codes,) = onnxruntime.InferenceSession("encoder.onnx").run(None, {"images": unseen})
export_onnx(code, decoder(code), "decoder.onnx", output_names=["images"], verify=[codes[:2]])
(found,) = onnxruntime.InferenceSession("decoder.onnx").run(None, {"code": codes})
error = ((found - unseen) ** 2).mean() / unseen.var(axis=0).mean()
linear = decomposition.PCA(8).fit(seen.reshape(-1, 64))
best = linear.inverse_transform(linear.transform(unseen.reshape(-1, 64))).reshape(unseen.shape)
best = ((best - unseen) ** 2).mean() / unseen.var(axis=0).mean()
print(f"encoder.onnx and decoder.onnx: {error:.1%} of the variance of unseen digits is lost; "
      f"{best:.1%} by the best linear map")  # fmt: skip
if error > 0.7 * best:
    raise SystemExit("the loss is above its target of 0.7 times that of the best linear map")
