"""Statistics of the averaged weights, measured over training images."""

from types import SimpleNamespace

import numpy as np
import pytest
from blocks import ConvBNSiLU
from training.finishing import measure_statistics
from training.onnx_weights import measure_normalizations
from training.train_step import HostImages

import pytensor
from pytensor import layers
from pytensor.link.jax.parallel.devices import Devices

SIZE, BATCH = 4, 3


class Network(layers.Module):
    """Two normalized layers; the weights of the second don't decide its input's statistics."""

    def __init__(self):
        self.a, self.b = ConvBNSiLU(3, 2), ConvBNSiLU(2, 4)

    def __call__(self, x):
        return {"p3": self.b(self.a(x))}


@pytest.fixture
def network():
    return Network()


@pytest.fixture
def step(network):
    """Return a step of it whose averages are not the model's weights."""
    rng = np.random.default_rng(2)
    averages = {
        name: pytensor.shared(rng.normal(size=v.type.shape).astype("float32"), shape=v.type.shape)
        for name, v in network.named_variables().items()
    }
    placed = []
    return SimpleNamespace(
        model=network,
        images=HostImages(SIZE, BATCH),
        averages=averages,
        mode="FAST_COMPILE",
        placed=placed,
        place_variables=lambda: placed.append(True),
    )


class Loader:
    """Two batches an epoch, of noise."""

    batch_size = BATCH

    def __len__(self):
        return 2

    def epoch(self, number):
        rng = np.random.default_rng(number)
        for _ in range(2):
            yield SimpleNamespace(
                images=rng.integers(0, 256, (BATCH, 3, SIZE, SIZE), dtype=np.uint8)
            )


def expected_statistics(averages, batches):
    """Return means over batches of each normalization's mean and unbiased variance before it."""
    found = []
    for batch in batches:
        x, row = batch.images.astype("float64") / 255, []
        for name in ("a", "b"):
            weights = averages[f"{name}.conv.weight"][:, :, 0, 0]
            x = np.einsum("nchw,oc->nohw", x, weights)
            mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
            row += [mean, x.var((0, 2, 3), ddof=1)]
            x = (x - mean[:, None, None]) / np.sqrt(variance + 1e-3)[:, None, None]
            x = x * averages[f"{name}.bn.weight"][:, None, None]
            x = x + averages[f"{name}.bn.bias"][:, None, None]
            x = x / (1 + np.exp(-x))
        found.append(row)
    return [np.mean(column, axis=0) for column in zip(*found, strict=True)]


@pytest.mark.usefixtures("float32_everywhere")
@pytest.mark.parametrize(("images", "count"), [(BATCH + 1, 2), (999, 4)])
def test_statistics_are_those_of_the_averages(network, step, images, count):
    """Over the batches that would come after the training, of two epochs at most."""
    options = SimpleNamespace(statistics_images=images, epochs=7)
    run = SimpleNamespace(options=options, step=step, loader=Loader())
    batches = [*run.loader.epoch(7), *run.loader.epoch(8)][:count]
    before = {name: v.get_value() for name, v in step.averages.items()}
    own = network.state_dict()
    measure = measure_statistics(run, Devices(1))
    for _ in range(2):  # what was measured before doesn't count
        measure()
        names = [f"{n}.bn.running_{k}" for n in "ab" for k in ("mean", "var")]
        for name, value in zip(names, expected_statistics(before, batches), strict=True):
            average = step.averages[name].get_value()
            assert average.dtype == np.float32
            np.testing.assert_allclose(average, value, rtol=1e-4, atol=1e-6, err_msg=name)
    assert step.placed == [True, True]
    for name, value in before.items():
        if name not in names:
            np.testing.assert_array_equal(step.averages[name].get_value(), value)
    for name, value in own.items():
        np.testing.assert_array_equal(network.state_dict()[name], value)


@pytest.mark.usefixtures("float32_everywhere")
def test_training_begins_where_inference_was(network, step):
    for name, average in step.averages.items():
        network.named_variables()[name].set_value(abs(average.get_value()))
    [images] = step.images.variables
    forms = [network(step.images.images)["p3"]]
    with layers.training():
        forms.append(network(step.images.images)["p3"])
    run = pytensor.function([images], forms, mode="FAST_COMPILE")
    batch = next(Loader().epoch(3)).images
    before, other = run(batch)
    assert np.abs(before - other).max() > 0.1
    measure_normalizations(network, batch)
    for after in run(batch):
        np.testing.assert_allclose(after, before, rtol=1e-4, atol=1e-5)
