"""Data parallelism on virtual devices of the CPU; `data_parallel` is the process that has them."""

import numpy as np
import pytest

from tests.link.jax.parallel.data_parallel import DEVICES, MOMENTUM, batches, found_by

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found():
    return found_by("-m", "tests.link.jax.parallel.data_parallel", devices=DEVICES)


@pytest.mark.parametrize("devices", ["2", "8"])
class TestTraining:
    """Each device computes on its rows as one device does, and sums what it must."""

    def test_with_shared_statistics_losses_are_those_of_one_device(self, found, devices):
        losses = found["1"]["losses"]
        assert len(losses) == 50
        assert len({round(loss, 4) for loss in losses}) > 40  # it learns something all the while
        np.testing.assert_allclose(found[f"{devices} sync"]["losses"], losses, rtol=0, atol=1e-10)

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


def test_what_is_shared_and_refused():
    assert found_by("-m", "tests.link.jax.parallel.on_devices", devices=DEVICES) == DEVICES
