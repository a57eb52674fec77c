"""Statistics of the averaged weights, measured over training images."""

from types import SimpleNamespace

import numpy as np
import pytest
from blocks import ConvBNSiLU, Parameters
from training.batch_statistics import chosen_batches, measure_statistics
from training.train_step import HostImages

import pytensor

SIZE, BATCH = 4, 3


class Network:
    """Two normalized layers; the weights of the second don't decide its input's statistics."""

    def __init__(self):
        self.store = Parameters(seed=1)
        self.layers = [ConvBNSiLU(self.store, "a", 3, 2), ConvBNSiLU(self.store, "b", 2, 4)]

    def __call__(self, x, training):
        self.updates = []
        for layer in self.layers:
            x = layer(x, self.updates)
        return {"p3": x}


class OneDevice:
    def __init__(self):
        self.placed = 0

    def shard(self, arrays):
        return list(arrays)

    def fetch(self, array):
        return np.asarray(array)


@pytest.fixture
def network():
    return Network()


@pytest.fixture
def step(network):
    """A step of it whose averages are not the model's weights."""
    rng = np.random.default_rng(2)
    averages = {
        name: pytensor.shared(rng.normal(size=v.type.shape).astype("float32"), shape=v.type.shape)
        for name, v in (network.store.trainable | network.store.statistics).items()
    }
    placed = []
    return SimpleNamespace(
        images=HostImages(SIZE, BATCH),
        averages=averages,
        mode="FAST_COMPILE",
        placed=placed,
        place_variables=lambda: placed.append(True),
    )


def draw(count):
    rng = np.random.default_rng(3)
    shape = (BATCH, 3, SIZE, SIZE)
    return [
        SimpleNamespace(images=rng.integers(0, 256, shape, dtype=np.uint8)) for _ in range(count)
    ]


def expected_statistics(averages, batches):
    """Means over batches of the mean and the unbiased variance before each normalization."""
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
def test_statistics_are_those_of_the_averages(network, step):
    batches = draw(3)
    before = {name: v.get_value() for name, v in step.averages.items()}
    own = {name: v.get_value() for name, v in network.store.all.items()}
    measure = measure_statistics(network, step, OneDevice())
    for _ in range(2):  # what was measured before doesn't count
        measure(batches)
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
        np.testing.assert_array_equal(network.store.all[name].get_value(), value)


class Loader:
    """Batches by name; it knows how many epochs are open."""

    batch_size = 4

    def __init__(self, length):
        self.length, self.open = length, 0

    def __len__(self):
        return self.length

    def epoch(self, number):
        self.open += 1
        try:
            for k in range(self.length):
                yield number, k
        finally:
            self.open -= 1


@pytest.mark.parametrize(
    ("images", "expected"),
    [
        (1, [(7, 0)]),
        (8, [(7, 0), (7, 1)]),
        (9, [(7, 0), (7, 1), (7, 2)]),
        (13, [(7, 0), (7, 1), (7, 2), (8, 0)]),
        (1000, [(7, 0), (7, 1), (7, 2), (8, 0), (8, 1), (8, 2)]),
    ],
)
def test_batches_are_those_after_the_training(images, expected):
    loader = Loader(3)
    assert list(chosen_batches(loader, 7, images)) == expected
    assert loader.open == 0


def test_an_early_end_closes_the_loader():
    loader = Loader(3)
    batches = chosen_batches(loader, 7, 12)
    next(batches)
    batches.close()
    assert loader.open == 0
