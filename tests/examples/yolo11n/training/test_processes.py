"""Runs of train_yolo11n.py in several processes, against one with as many devices."""

import shutil
import socket
import time

import numpy as np
import pytest
from training.checkpoint import load_weights

from tests.examples.yolo11n.training.runs import read_rows, without_times
from tests.examples.yolo11n.training.test_runs import FLAGS, ROUNDING, Sessions

pytestmark = [pytest.mark.long, pytest.mark.training, pytest.mark.usefixtures("compiler")]

DEVICES = f"{FLAGS} --xla_force_host_platform_device_count="
# Whatever number of devices has a batch, it is normalized as one. Devices add up in another order
# than processes; from random weights, the first of so few steps make far more of that.
RUN = [
    "--epochs", 7, "--val-every", 7, "--mosaic", 1, "--close-mosaic", 2, "--no-export",
    "--sync-batchnorm", "--workers", 1, "--statistics-images", 8,
    "--weights", "real", "--lr", 0.0005, "--warmup-epochs", 0,
]  # fmt: skip
STEPS = 20


@pytest.fixture(scope="module")
def sessions(tmp_path_factory):
    return Sessions(tmp_path_factory.mktemp("processes"))


def start(sessions, name, count, *arguments):
    """Start so many processes of a run."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        where = ["--coordinator", f"127.0.0.1:{free.getsockname()[1]}", "--processes", count]
    return [
        sessions.start(name, *RUN, *where, "--process", k, *arguments, XLA_FLAGS=f"{DEVICES}1")
        for k in range(count)
    ]


def one(sessions, name, devices, *arguments):
    flags = f"{DEVICES}{devices}"
    return sessions.run(name, *RUN, "--devices", devices, *arguments, XLA_FLAGS=flags)


@pytest.fixture(scope="module")
def alone(sessions):
    one(sessions, "alone", 4)
    return sessions.losses("alone")


def test_losses_files_and_scores(sessions, alone):
    first, *others = sessions.finish(*start(sessions, "four", 4))
    found = sessions.losses("four")
    np.testing.assert_allclose(found[:STEPS], alone[:STEPS], rtol=1e-4)
    assert "mAP@0.5" in first[0]
    assert not any("mAP" in out for out, _ in others)
    [*_, row], [*_, expected] = (
        without_times(read_rows(sessions.root / name / "results.csv")) for name in ("four", "alone")
    )
    assert float(row["map50"]) == pytest.approx(float(expected["map50"]), abs=0.05)
    assert (sessions.root / "four/metrics.json").exists()


def test_another_number_of_processes_goes_on(sessions, alone):
    sessions.finish(*start(sessions, "stopped", 4, "--stop-after", 2))
    for count in (1, 2):
        name = f"resumed by {count}"
        shutil.copytree(sessions.root / "stopped", sessions.root / name)
        if count == 1:
            one(sessions, name, 1, "--resume")
        else:
            sessions.finish(*start(sessions, name, count, "--resume"))
        assert len(sessions.losses(name)) == len(alone)
        np.testing.assert_allclose(sessions.losses(name)[:10], alone[:10], rtol=ROUNDING)


@pytest.mark.parametrize("lost", [0, 1])
def test_a_killed_process_ends_the_others(sessions, lost):
    """Nothing older than the last checkpoint is lost."""
    name = f"without {lost}"
    started = start(sessions, name, 2, "--checkpoint-minutes", 0)
    steps = sessions.root / name / "steps.csv"
    end = time.monotonic() + 600
    while not steps.exists() or len(steps.read_text().splitlines()) < 6:
        assert all(process.poll() is None for process in started)
        assert time.monotonic() < end
        time.sleep(0.01)
    started[lost].kill()
    begin = time.monotonic()
    _, err = started[1 - lost].communicate(timeout=60)
    assert time.monotonic() - begin < 60
    assert started[1 - lost].returncode != 0
    assert f"process {lost} on {socket.gethostname()} is lost" in err
    started[lost].communicate()
    _, info = load_weights(sessions.root / name / "last.safetensors")
    assert info["progress"]["iteration"] >= 4
    sessions.finish(*start(sessions, name, 2, "--resume"))
