"""A whole training step as one model: loss and new values of everything that it changes."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.graph.replace import clone_replace
from pytensor.link.onnx import export_onnx
from pytensor.optimizers import SGD
from pytensor.tensor.special import log_softmax
from tests.link.onnx.test_basic import run_session, session_of

STEPS, BATCH, CLASSES = 50, 6, 3


def shared(rng, name, *shape, scale=0.4):
    return pytensor.shared((scale * rng.normal(size=shape)).astype("float32"), name=name)


def training_step():
    """Return inputs, loss and updates of a small classifier."""
    rng = np.random.default_rng(4)
    images = pt.tensor("images", shape=(BATCH, 2, 10, 12), dtype="float32")
    labels = pt.tensor("labels", shape=(BATCH,), dtype="int64")
    first, second = shared(rng, "first", 4, 2, 3, 3), shared(rng, "second", 6, 2, 3, 2)
    dense, bias = shared(rng, "dense", 6, CLASSES), shared(rng, "bias", CLASSES, scale=0)
    gamma, beta = shared(rng, "gamma", 4, scale=1), shared(rng, "beta", 4, scale=0.1)
    mean, variance = shared(rng, "mean", 4, scale=0), shared(rng, "variance", 4, scale=0)

    x = pt.conv2d(images, first, border_mode="half", subsample=(2, 1))
    x, _, _, new_mean, new_variance = pt.batch_normalization_train(
        x, gamma, beta, axes="spatial", running_mean=mean, running_var=variance
    )
    x = pt.nn.max_pool2d(pt.silu(x), 3, stride=2, padding=1)
    x = pt.silu(pt.conv2d(x, second, num_groups=2, filter_dilation=(1, 2)))
    logits = x.mean(axis=(2, 3)) @ dense + bias
    picked = log_softmax(logits, axis=1) * pt.eq(labels[:, None], pt.arange(CLASSES))
    loss = -picked.sum() / images.shape[0].astype("float32")

    parameters = [first, second, dense, bias, gamma, beta]
    optimizer = SGD(learning_rate=0.05, momentum=0.9)
    updates = optimizer.get_updates(parameters, pytensor.grad(loss, parameters))
    return [images, labels], loss, {**updates, mean: new_mean, variance: new_variance}


def as_pure_function(inputs, loss, updates):
    """Return the step with inputs in place of the shared variables."""
    state = {v: v.type(name=v.name) for v in updates}
    outputs = clone_replace([loss, *updates.values()], replace=state)
    return [*inputs, *state.values()], outputs


def data():
    """Return a batch of images, and their classes."""
    rng = np.random.default_rng(5)
    labels = np.arange(BATCH) % CLASSES
    images = rng.normal(size=(BATCH, 2, 10, 12)) + labels[:, None, None, None]
    return images.astype("float32"), labels


def trained_in_jax():
    """Return the losses of all steps, and the state after them."""
    inputs, loss, updates = training_step()
    step = pytensor.function(inputs, loss, updates=updates, mode="JAX")
    losses = [step(*data()) for _ in range(STEPS)]
    return losses, [v.get_value() for v in updates]


@pytest.mark.slow
def test_training_step():
    inputs, loss, updates = training_step()
    arguments, outputs = as_pure_function(inputs, loss, updates)
    model = export_onnx(arguments, outputs, opset_version=18)
    session = session_of(model)
    state = [v.get_value() for v in updates]
    losses = []
    for _ in range(STEPS):
        result, *state = run_session(session, [*data(), *state])
        losses.append(result)
    expected, expected_state = trained_in_jax()
    np.testing.assert_allclose(losses, expected, rtol=1e-4, atol=1e-4)
    assert losses[-1] < 0.5 * losses[0]
    for value, wanted in zip(state, expected_state, strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-2, atol=1e-3)
