"""Training of the detector on several devices; `tests/link/jax/test_devices.py` has the rest."""

import numpy as np
import pytest

from tests.link.jax.data_parallel import finished, start, start_several


@pytest.mark.long
def test_first_steps_of_the_detector():
    """On 1, 2 and 8 devices of one process, and on one device in each of two.

    Float32, whose sums depend on their order: the losses of about 15 agree within 1e-5.
    """
    flags = "floatX=float32,on_opt_error=raise"
    worker = "tests.examples.parallel_worker"
    [single] = finished([start(worker, 8, flags=flags)], 1500)
    two = finished(start_several(worker, 2, 1, flags=flags), 1500)
    expected = np.array(single["1"]["losses"])
    results = {"2": single["2"], "8": single["8"], "processes": two[0]["2"]}
    assert two[0]["2"]["losses"] == two[1]["2"]["losses"]
    for found in results.values():
        losses = np.array(found["losses"])
        print(np.abs(losses - expected).max(axis=0), found["programs"])
        np.testing.assert_allclose(losses[:, :3], expected[:, :3], rtol=0, atol=1e-5)
        np.testing.assert_allclose(losses[:, 3], expected[:, 3], rtol=1e-4)
        assert found["identical"]
    # one program per count of devices; the first run's second call is another entry, but no other
    # program: its inputs come from the device
    assert two[0]["2"]["programs"] == 1
