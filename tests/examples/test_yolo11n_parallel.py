"""Training on several devices and in several processes, over the loopback interface.

What needs more than this process is done by `parallel_worker`.
"""

import json
import socket
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from pytensor.link.jax.devices import Devices, ParallelError, agree
from tests.link.jax.data_parallel import environment

ROOT = Path(__file__).parents[2]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def start(task, devices, *processes, flags=""):
    """Start a worker process with so many virtual devices."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.examples.parallel_worker", task, *map(str, processes)],
        cwd=ROOT,
        env=environment(devices) | ({"PYTENSOR_FLAGS": flags} if flags else {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(workers, seconds):
    """Findings of all workers; none outlives this call."""
    try:
        results = [worker.communicate(timeout=seconds) for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    for worker, (_, errors) in zip(workers, results, strict=True):
        assert worker.returncode == 0, errors[-3000:]
    # Gloo writes a line about its connections, too
    return [json.loads(output.splitlines()[-1]) for output, _ in results]


# --------------------------------------------------------------------------------- one device


class TestOneDevice:
    def test_everything_is_left_as_it_is(self):
        devices = Devices(1)
        arrays = [np.zeros((3, 2)), np.zeros(3)]
        assert all(a is b for a, b in zip(devices.shard(arrays), arrays, strict=True))
        devices.replicate([object()])  # isn't even looked at
        assert devices.local_rows(arrays[0]) is arrays[0]
        assert devices.fetch(arrays[0]) is arrays[0]
        found = {1: np.zeros((2, 6))}
        assert devices.merge(found) is found
        assert devices.largest([3, 0]) == [3, 0]
        assert devices.main_first(lambda: 7) == 7
        assert devices.rows(7) == slice(0, 7)
        assert (devices.count, devices.local_count, devices.part) == (1, 1, (0, 1))
        assert devices.is_main
        assert devices.mesh is None
        assert "1 device (" in devices.describe()
        devices.check_batch_size(7)
        agree({"seed": 1})

    def test_too_many_devices(self):
        there = jax.device_count()
        with pytest.raises(ParallelError, match=rf"{there + 1} devices asked .* {there} \(cpu\).*"
                           rf"device_count={there + 1}$"):  # fmt: skip
            Devices(there + 1)

    def test_no_device(self):
        with pytest.raises(ParallelError, match="0 devices asked for"):
            Devices(0)

    def test_batch_size(self):
        devices = Devices(1)
        devices.count = 8
        with pytest.raises(ParallelError, match=r"batch of 12 .* multiple of 8"):
            devices.check_batch_size(12)


# ----------------------------------------------------------------------------- two processes


@pytest.fixture(scope="module")
def pair():
    """Findings of two processes with two devices each."""
    address = f"127.0.0.1:{free_port()}"
    return finished([start("small", 2, address, 2, number) for number in range(2)], 300)


class TestTwoProcesses:
    def test_losses_are_those_of_one_device(self, pair):
        for found in pair:
            assert len(found["losses"]) == 50
            np.testing.assert_allclose(found["losses"], found["alone"], rtol=0, atol=1e-10)
        assert pair[0]["losses"] == pair[1]["losses"]

    def test_one_program_and_the_same_bits(self, pair):
        for found in pair:
            assert (found["compiled_first"], found["compiled_later"]) == (1, 0)
            assert found["identical"]

    def test_who_is_who(self, pair):
        assert [found["part"] for found in pair] == [[0, 2], [1, 2]]
        assert [found["is_main"] for found in pair] == [True, False]
        for found in pair:
            assert (found["count"], found["local_count"]) == (4, 2)
            assert found["description"] == "4 devices (cpu) of 2 processes"

    def test_main_process_reads_values_alone(self, pair):
        assert pair[0]["finite"]
        assert "finite" not in pair[1]

    def test_arrays_come_back(self, pair):
        for found in pair:
            assert found["whole"]
            assert found["own"]

    def test_detections_are_merged(self, pair):
        for found in pair:
            row = [float(np.float32(0.1))] * 6
            assert found["merged"] == {"0": [], "1": [row], "9": [], "10": []}
            assert list(found["merged"]) == ["0", "1", "9", "10"]
            assert found["merged_dtype"] == "float32"
            assert found["merged_empty"] == {}

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
            ("odd count", "3 devices can't be shared equally by 2 processes"),
            ("too many", "16 devices asked for, but there are 4 (cpu); to try it on a CPU, set "
             "XLA_FLAGS=--xla_force_host_platform_device_count=8"),
            ("rows", "array 0 has 3 rows, which 2 devices can't share equally"),
            ("again", "initialize() must be called before any JAX calls"),
        ],
    )  # fmt: skip
    def test_what_does_not_fit(self, pair, case, message):
        for found in pair:
            assert message in (found[case] or "no error")

    def test_a_process_that_dies_ends_the_other(self, pair):
        assert "death" not in pair[1]
        assert "Gloo" in pair[0]["death"] or "peer" in pair[0]["death"]
        assert pair[0]["death_seconds"] < 60


# ------------------------------------------------------------------------------------ YOLO11n


@pytest.mark.slow
def test_first_steps_of_the_detector():
    """On 1, 2 and 8 devices of one process, and on one device in each of two.

    Float32, whose sums depend on their order: the losses of about 15 agree within 1e-5.
    """
    flags = "floatX=float32,on_opt_error=raise"
    address = f"127.0.0.1:{free_port()}"
    [single] = finished([start("detector", 8, flags=flags)], 1500)
    two = finished(
        [start("detector", 1, address, 2, number, flags=flags) for number in range(2)], 1500
    )
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
