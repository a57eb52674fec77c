"""Data parallelism on virtual devices of the CPU; `data_parallel` is the process that has them."""

import re

import numpy as np
import pytest

from tests.link.jax.parallel.data_parallel import DEVICES, MOMENTUM, batches, found_by

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found():
    return found_by("tests.link.jax.parallel.data_parallel", DEVICES)


@pytest.mark.parametrize("devices", ["2", "8"])
class TestTraining:
    def test_losses_are_those_of_one_device(self, found, devices):
        losses = found["1"]["losses"]
        assert len(losses) == 50
        assert len({round(loss, 4) for loss in losses}) > 40  # it learns something all the while
        np.testing.assert_allclose(found[devices]["losses"], losses, rtol=0, atol=1e-10)

    def test_statistics_are_those_of_the_whole_batch(self, found, devices):
        images, _ = next(batches())
        mean, variance = found[devices]["statistics"]
        np.testing.assert_allclose(mean, MOMENTUM * images.mean((0, 2, 3)), rtol=1e-12)
        unbiased = images.var((0, 2, 3), ddof=1)
        np.testing.assert_allclose(variance, 1 - MOMENTUM + MOMENTUM * unbiased, rtol=1e-12)
        # the test's data can tell: a device's own rows have another variance
        assert images[: 8 // int(devices)].var() < 0.5 * images.var()

    def test_one_program_is_compiled(self, found, devices):
        assert found[devices]["compiled_first"] == 1
        assert found[devices]["compiled_later"] == 0

    def test_state_stays_whole_on_every_device(self, found, devices):
        assert found[devices]["replicated"] is True

    def test_all_devices_hold_the_same_bits(self, found, devices):
        assert found[devices]["identical"]

    def test_only_sums_pass_between_devices(self, found, devices):
        """Each device convolves its own rows: images are not gathered."""
        assert set(found[devices]["collectives"]) == {"all-reduce"}


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("indivisible", "array 1 has 6 rows, which 8 devices can't share equally"),
        ("scalar", "array 0 is a scalar"),
        ("generator", "generator holds a Generator"),
        ("twice", "a device comes twice"),
        ("none", "no device is given"),
    ],
)
def test_errors(found, case, message):
    assert message in (found["other"][case] or "no error")


def test_what_is_replicated_already_stays(found):
    assert found["other"]["stays"] is True
    assert found["other"]["both"] == [True, True]


def test_what_is_not_replicated(found):
    assert found["other"]["not placed"] is False
    # An update with the batch's axis stays in parts.
    assert found["other"]["table"] is False


def test_random_numbers_are_those_of_one_device(found):
    assert found["other"]["noise"] == {"equal": True, "shards": 8}
    assert found["other"]["noise in turns"]


@pytest.mark.parametrize("devices", ["2", "8"])
class TestOwnRows:
    """Each device computes on its rows as one device does, and sums what it must."""

    def test_with_shared_statistics_losses_are_those_of_one_device(self, found, devices):
        losses = found[f"{devices} sync"]["losses"]
        np.testing.assert_allclose(losses, found["1"]["losses"], rtol=0, atol=1e-10)

    def test_own_statistics(self, found, devices):
        """As a graph of one device that normalizes each part of the rows by itself."""
        losses, of_all = (np.array(found[f"{devices} {how}"]["losses"]) for how in ("own", "sync"))
        np.testing.assert_allclose(losses, found[f"{devices} parts"]["losses"], rtol=0, atol=1e-10)
        assert abs(losses - of_all).max() > 0.01  # the batches can tell

    def test_running_statistics(self, found, devices):
        images, _ = next(batches())
        parts = images.reshape(int(devices), -1, *images.shape[1:])
        of_parts = [part.var((0, 2, 3), ddof=1) for part in parts]
        for how, expected in [
            ("sync", images.var((0, 2, 3), ddof=1)), ("own", np.mean(of_parts, axis=0))
        ]:  # fmt: skip
            mean, variance = found[f"{devices} {how}"]["statistics"]
            np.testing.assert_allclose(mean, MOMENTUM * images.mean((0, 2, 3)), rtol=1e-12)
            np.testing.assert_allclose(variance, 1 - MOMENTUM + MOMENTUM * expected, rtol=1e-12)

    def test_messages(self, found, devices):
        """One for the loss's divisor, one for everything else."""
        assert found[f"{devices} own"]["collectives"] == ["all-reduce"] * 2
        # And one for each of three normalizations, and for two of their gradients.  XLA may send
        # the divisor with the first normalization's: neither waits for the other.
        assert set(found[f"{devices} sync"]["collectives"]) == {"all-reduce"}
        assert len(found[f"{devices} sync"]["collectives"]) in (6, 7)

    @pytest.mark.parametrize("how", ["own", "sync"])
    def test_state(self, found, devices, how):
        findings = found[f"{devices} {how}"]
        assert findings["compiled_later"] == 0
        assert findings["replicated"] is findings["identical"] is True


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("output", r"ValueError: output 0 \(total\) depends on a device's own rows: reduce it"),
        ("update", "ValueError: the update of table depends on a device's own rows"),
        ("draws", "ValueError: generator: random numbers would be the same on all devices"),
        ("statistics", "NotImplementedError: sync_batchnorm: .* mean or variance is read"),
        ("float16", "NotImplementedError: sync_batchnorm: .* is of float16"),
        ("axes", r"ValueError: the mesh has the axes \('rows',\); it must have one, 'data'"),
    ],
)
def test_refused(found, case, message):
    assert re.match(message, found["other"]["refused"][case] or "no error")
