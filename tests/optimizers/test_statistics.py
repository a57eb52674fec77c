"""Running statistics that are measured anew for averaged weights."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import jax_mode
from pytensor.optimizers import AveragedStatistics

FACTOR = 0.03


def shared(name, *shape):
    value = np.random.default_rng(len(name)).uniform(0.5, 2, shape).astype("float32")
    return pytensor.shared(value, name=name, shape=shape)


@pytest.fixture
def network(float32_everywhere):
    """Return two normalized layers and more: input, weights, new values of the statistics."""
    x = images = pt.tensor("x", dtype="float32", shape=(4, 3, 2, 5))
    weights, updates = [], {}
    for name, channels in [("a", 6), ("b", 2)]:
        filters, gamma = shared(name, channels, x.type.shape[1], 1, 1), shared(f"{name}g", channels)
        mean, variance = shared(f"{name}mean", channels), shared(f"{name}var", channels)
        x = pt.conv2d(x, filters, filter_flip=False)
        x, *_, updates[mean], updates[variance] = pt.batch_normalization_train(
            x, gamma, gamma, axes="spatial", running_average_factor=FACTOR, running_mean=mean,
            running_var=variance,
        )  # fmt: skip
        x = pt.tanh(x)
        weights += [filters, gamma]
    return images, [*weights, shared("unused", 7)], updates


def expected_statistics(weights, batches):
    """Return means over batches of each normalization's mean and unbiased variance before it."""
    found = []
    for batch in batches:
        x, row = batch.astype("float64"), []
        for filters, gamma in (weights[:2], weights[2:4]):
            x = np.einsum("nchw,oc->nohw", x, filters[:, :, 0, 0])
            mean, variance = x.mean((0, 2, 3)), x.var((0, 2, 3))
            row += [mean, x.var((0, 2, 3), ddof=1)]
            x = (x - mean[:, None, None]) / np.sqrt(variance + 1e-4)[:, None, None]
            x = np.tanh(x * gamma[:, None, None] + gamma[:, None, None])
        found.append(row)
    return [np.mean(column, axis=0) for column in zip(*found, strict=True)]


@pytest.mark.by_default("py")
@pytest.mark.parametrize("mode", ["FAST_COMPILE", jax_mode()], ids=["py", "jax"])
def test_statistics_are_those_of_the_averages(network, mode):
    x, weights, updates = network
    averages = {v: shared(f"{v.name} average", *v.type.shape) for v in (*weights, *updates)}
    before = {v: v.get_value() for v in (*averages, *averages.values())}
    statistics = AveragedStatistics([x], updates, averages, FACTOR, mode)
    rng = np.random.default_rng(0)
    for count in (3, 2):  # what was measured before doesn't count
        batches = [rng.normal(size=x.type.shape).astype("float32") for _ in range(count)]
        statistics.refresh([batch] for batch in batches)
        expected = expected_statistics([before[averages[v]] for v in weights], batches)
        for v, value in zip(updates, expected, strict=True):
            found = averages[v].get_value()
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, value, rtol=1e-4, atol=1e-6, err_msg=v.name)
    measured = {averages[v] for v in updates}
    for v, value in before.items():
        if v not in measured:
            np.testing.assert_array_equal(v.get_value(), value)


def test_no_batch(network):
    x, weights, updates = network
    averages = {v: shared(f"{v.name} average", *v.type.shape) for v in (*weights, *updates)}
    statistics = AveragedStatistics([x], updates, averages, FACTOR, "FAST_COMPILE")
    with pytest.raises(ValueError, match="no batch"):
        statistics.refresh([])


def test_statistics_of_open_shape():
    x = pt.vector("x")
    mean, average = pytensor.shared(np.full(2, 9.0)), pytensor.shared(np.zeros(2))
    updates, averages = {mean: 0.9 * mean + 0.1 * x}, {mean: average}
    AveragedStatistics([x], updates, averages, 0.1, "FAST_COMPILE").refresh([[np.array([1.0, 3])]])
    np.testing.assert_allclose(average.get_value(), [1, 3])
    with pytest.raises(ValueError, match="factor must be greater than 0"):
        AveragedStatistics([x], updates, averages, 0.0)
