"""Processes that compute together, on this machine; `several_processes` is one of them."""

import json
import re
import socket
import time

import numpy as np
import pytest

from pytensor.link.jax.parallel.devices import Devices, ParallelError
from pytensor.link.jax.parallel.processes import join, launched_together
from tests.link.jax.parallel.several_processes import finish, start


@pytest.mark.slow
def test_two_processes_train_as_two_devices_of_one():
    """All start at once: each of them needs seconds to import what it needs."""
    printed = []
    for code, out, err in finish([*start("train", 1, 2), *start("train", 2)]):
        assert code == 0, err
        printed.append(json.loads(out[out.index("{") :]))
    expected, *found = printed
    assert len({round(loss, 4) for loss in expected["losses"]}) > 15
    for own in found:
        np.testing.assert_allclose(own["losses"], expected["losses"], rtol=0, atol=1e-10)
        assert own["compiled_later"] == 0
    assert [own["rows"] for own in found] == [[0, 4], [4, 8]]
    assert [own["maximum"] for own in found] == [8, 8]
    assert [own["gathered"] for own in found] == [[11.0, 11.0]] * 2
    assert [own["local"] for own in found] == [[1, 0], [1, 2]]


def ends(what, count, lost):
    """Return what the others print when a process is lost, and after how many seconds they end."""
    started = start(what, count)
    for process in started:
        while "together" not in (line := process.stdout.readline()):
            assert line, process.stderr.read()
    begin = time.monotonic()
    others = [process for number, process in enumerate(started) if number != lost]
    try:
        printed = finish(others, timeout=60)
    finally:
        started[lost].kill()
        seconds = time.monotonic() - begin
        finish([started[lost]])
    return printed, seconds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "count", "lost", "message"),
    [
        ("kill 1", 2, 1, "process 1 on {host} is lost: it was killed"),
        pytest.param("kill 2", 3, 2, "process 2 on {host} is lost", marks=pytest.mark.long),
        ("kill 0", 2, 0, "process 0 on {host} is lost"),
        pytest.param("stop 1", 2, 1, "nothing was heard of it for 15 s", marks=pytest.mark.long),
        pytest.param("stop 0", 3, 0, "nothing was heard of it for 15 s", marks=pytest.mark.long),
        pytest.param(
            "raise 1", 3, 1, "process 1 on {host} ended: its own reason", marks=pytest.mark.long
        ),
        *(
            pytest.param(f"meet {lost} {s}", 4, lost, "process {lost} on", marks=pytest.mark.long)
            for s, lost in ((0, 0), (0.1, 1), (0.7, 3), (1.3, 0))
        ),
    ],
)
def test_a_lost_process_ends_the_others_and_is_named(what, count, lost, message):
    printed, seconds = ends(what, count, lost)
    assert seconds < 60
    for code, _, err in printed:
        assert code != 0
        assert message.format(host=socket.gethostname(), lost=lost) in err


@pytest.mark.long
def test_processes_wait_for_one_that_compiles_longer_than_gloo_waits():
    for code, out, err in finish(start("late", 2)):
        assert code == 0, out + err


@pytest.mark.long
@pytest.mark.parametrize(
    ("what", "devices", "message"),
    [
        ("uneven", [1, 2], "the processes have 1, 2 devices"),
        ("other", [1, 1], "has other weights than process 0"),
    ],
)
def test_processes_that_do_not_fit(what, devices, message):
    for code, _, err in finish(start(what, 2, devices)):
        assert code == 1
        assert message in err


@pytest.mark.parametrize(
    ("environment", "together"),
    [
        ({}, False),
        ({"SLURM_NTASKS": "4", "SLURM_PROCID": "0"}, False),  # a batch script, without srun
        (
            {"SLURM_NTASKS": "4", "SLURM_PROCID": "0", "SLURM_STEP_NODELIST": "n[1-4]"}, True,
        ),
        ({"SLURM_NTASKS": "1", "SLURM_PROCID": "0", "SLURM_STEP_NODELIST": "n1"}, False),
        ({"OMPI_COMM_WORLD_SIZE": "2"}, True),
    ],
)  # fmt: skip
def test_what_the_environment_says(environment, together):
    assert launched_together(environment) is together


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("somewhere", 2, 0), "'somewhere'; it must be HOST:PORT"),
        (("host:1", None, 0), "process 0 of None"),
        (("host:1", 2, 2), "process 2 of 2"),
        ((None, 2, 0), "needs the coordinator"),
    ],
)
def test_arguments(arguments, message):
    with pytest.raises(ParallelError, match=re.escape(message)):
        join(*arguments)


def test_one_process_needs_no_others():
    assert join(None, 1) is None
    devices = Devices(1)
    assert devices.local() is devices
    assert devices.rows(5) == range(5)
    assert devices.maximum(3) == 3
    rows = np.zeros((2, 3))
    assert devices.gather(rows) is rows
