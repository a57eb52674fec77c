"""Devices of one process, and of two that train together over the loopback interface."""

import jax
import numpy as np
import pytest

from pytensor.link.jax.devices import Devices, ParallelError, agree
from tests.link.jax.data_parallel import STEPS, finished, start_several


def test_one_device_leaves_everything_as_it_is():
    devices = Devices(1)
    arrays = [np.zeros((3, 2)), np.zeros(3)]
    assert all(a is b for a, b in zip(devices.shard(arrays), arrays, strict=True))
    devices.replicate([object()])  # isn't even looked at
    assert devices.local_rows(arrays[0]) is devices.fetch(arrays[0]) is arrays[0]
    found = {2: np.zeros((2, 6)), 1: None}
    assert devices.merge(found) is found
    assert devices.largest([3, 0]) == [3, 0]
    assert devices.main_first(lambda: 7) == 7
    assert devices.rows(7) == slice(0, 7)
    assert (devices.count, devices.local_count, devices.part) == (1, 1, (0, 1))
    assert devices.is_main
    devices.check_batch_size(7)
    agree({"seed": 1})


@pytest.mark.parametrize("count", [0, 1000])
def test_counts_that_are_not_there(count):
    message = f"^{count} devices asked for; it can be 1 to {jax.device_count()} "
    with pytest.raises(ParallelError, match=message):
        Devices(count)


def test_batch_size():
    devices = Devices(1)
    devices.count = 8
    with pytest.raises(ParallelError, match=r"batch of 12 .* multiple of 8"):
        devices.check_batch_size(12)


@pytest.fixture(scope="module")
def pair():
    """Findings of two processes with two devices each."""
    return finished(start_several("tests.link.jax.several_processes", 2, 2))


class TestTwoProcesses:
    @pytest.mark.slow
    def test_losses_are_those_of_one_device(self, pair):
        for found in pair:
            assert len(found["losses"]) == STEPS
            np.testing.assert_allclose(found["losses"], found["alone"], rtol=0, atol=1e-10)
        assert pair[0]["losses"] == pair[1]["losses"]

    def test_one_program_and_the_same_bits(self, pair):
        for found in pair:
            assert (found["compiled_first"], found["compiled_later"]) == (1, 0)
            assert found["identical"]

    def test_who_is_who(self, pair):
        assert [found["part"] for found in pair] == [[0, 2], [1, 2]]
        assert [found["is_main"] for found in pair] == [True, False]
        assert [found["count"] for found in pair] == [[4, 2]] * 2

    def test_what_comes_back(self, pair):
        for found in pair:
            assert found["whole"]
            assert found["own"]
            assert found["gathered"] == [{"own": ""}, {"own": "x" * 100}]
            assert found["merged"] == {
                "0": ["float32", 0, 6],
                "1": ["float32", 1, 6],
                "9": ["float64", 0, 6],
                "10": ["float64", 0, 6],
            }
            assert [*found["merged"]] == ["0", "1", "9", "10"]

    def test_process_0_goes_first(self, pair):
        assert pair[0]["largest"] == pair[1]["largest"] == [1, 5]
        assert pair[0]["first"] <= pair[1]["first"]
        assert pair[0]["failure"] == "the action's own error"
        assert pair[1]["failure"] == "process 0 has failed; its own message says why"

    @pytest.mark.parametrize(
        ("case", "message"),
        [
            ("settings", "process 1 differs from process 0: only here 1 instead of 'not set', "
             "seed 1 instead of 0"),
            ("values", "process 1 differs from process 0: 0 p"),
            ("odd count", "3 devices asked for; it can be 1 to 2 in each of 2 processes"),
            ("too many", "16 devices asked for; it can be 1 to 2 in each of 2 processes"),
            ("rows", "array 0 has 3 rows, which 2 devices can't share equally"),
        ],
    )  # fmt: skip
    def test_what_does_not_fit(self, pair, case, message):
        for found in pair:
            assert message in (found[case] or "no error")

    def test_a_process_that_dies_ends_the_other(self, pair):
        assert "death" not in pair[1]
        assert "Gloo" in pair[0]["death"] or "peer" in pair[0]["death"]
        assert pair[0]["death_seconds"] < 60
