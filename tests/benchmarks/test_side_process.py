"""Processes of benchmarks: their answers, their errors, their time limits, and that they end."""

import json
import mmap
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from benchmarks.common import child, side_process, step_sides
from benchmarks.common.child import ROOT
from benchmarks.common.side_process import DoesNotFit, ServedSide, SideError, SideProcess

NEW_PAGES = 1000
SCRIPT = f"""
import os, subprocess, sys, time
sys.path.insert(0, {str(ROOT)!r})
from benchmarks.common import side_process

class Served:
    def double(self, value):
        print("a library's message", flush=True)
        return 2 * value

    def fail(self, kind):
        raise {{"memory": MemoryError, "value": ValueError}}[kind]("the reason\\nand more")

    def exit(self):
        os._exit(3)

    def start_another(self):
        self.other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        return [os.getpid(), self.other.pid]

    def sleep(self):
        time.sleep(600)

side_process.ServedSide = Served
side_process.main()
"""
# Starts two processes, of which one is busy, and tells their ids and those of what they started.
PARENT = """
import os, sys, threading
sys.path.insert(0, {folder!r})
from contextlib import ExitStack
from benchmarks.common.child import end_children_when_terminated
from benchmarks.common.side_process import SideProcess

end_children_when_terminated()
with ExitStack() as stack:
    sides = [stack.enter_context(SideProcess(key, {script})) for key in "ab"]
    print(*(pid for side in sides for pid in side.call("start_another")), flush=True)
    sides[0].call("sleep")
"""


@pytest.fixture
def script(tmp_path):
    (tmp_path / "served.py").write_text(SCRIPT)
    return [sys.executable, str(tmp_path / "served.py")]


def gone(pid):
    """Return whether a process ends soon; a zombie that nobody has asked for yet has ended."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


def test_answers_and_errors(script, capfd):
    with SideProcess("a", script) as side:
        assert side.call("double", 2) == 4
        with pytest.raises(SideError, match=r"^side a: ValueError: the reason$") as error:
            side.call("fail", "value")
        assert not isinstance(error.value, DoesNotFit)
        with pytest.raises(DoesNotFit, match="MemoryError"):
            side.call("fail", "memory")
        # It goes on afterwards.
        assert side.call("double", [1]) == [1, 1]
        with pytest.raises(SideError, match="the process of the side a ended: exit status 3"):
            side.call("exit")
    errors = capfd.readouterr().err
    assert "a library's message" in errors
    assert "ValueError: the reason" in errors


@pytest.mark.by_default("None", "15")
@pytest.mark.slow
@pytest.mark.parametrize("number", [None, signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_sides_and_all_that_they_started_end_with_the_benchmark(script, number):
    """Or, without a signal, when they are closed."""
    if number is None:
        with SideProcess("a", script) as side:
            pids = side.call("start_another")
    else:
        code = PARENT.format(folder=str(ROOT), script=script)
        command = [sys.executable, "-c", code]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(command, text=True, **pipes) as parent:
            pids = [int(word) for word in parent.stdout.readline().split()]
            assert len(pids) == 4
            parent.send_signal(number)
            assert parent.wait(60) != 0
    assert all(map(gone, pids))


class FakeSide:
    name = "fake"

    def __init__(self):
        self.ran = []

    def place(self, sample):
        return sample

    def run(self, sample, number):
        self.ran.append((number, int(sample.images.sum())))
        with mmap.mmap(-1, NEW_PAGES * mmap.PAGESIZE) as memory:  # NumPy asks for large pages
            for k in range(NEW_PAGES):
                memory[k * mmap.PAGESIZE] = 1
        return {"box_loss": np.float32(2)}, 1.0

    def wait(self):
        self.ran.append("wait")


def test_a_side_runs_blocks_of_steps_on_four_samples(monkeypatch, tmp_path):
    pytest.importorskip("jax")
    side = FakeSide()
    monkeypatch.setattr(side_process, "make_side", lambda *arguments: side)
    monkeypatch.setattr(step_sides, "keep_freed_memory", lambda: True)
    np.savez(tmp_path / "w.npz", weight=np.arange(3))
    served = ServedSide()
    assert [served.set_allocator(choice) for choice in ("default", "kept")] == ["default", "kept"]
    options = {"matmul_precision": "default", "precision": "float32"}
    answer = served.start("pytensor", [32, 2], str(tmp_path / "w.npz"), options)
    json.dumps(answer)
    assert (answer["name"], answer["losses"]) == ("fake", {"box_loss": 2.0})
    side.ran.clear()
    time.sleep(0.2)
    block = served.run(7, 5)
    json.dumps(block)
    *steps, last = side.ran
    assert last == "wait"
    assert [number for number, _ in steps] == [7, 8, 9, 10, 11]
    assert len({total for _, total in steps}) == 4
    assert steps[0][1] == steps[4][1]
    assert block["seconds"] > 0
    assert block["page_faults"] >= NEW_PAGES
    assert block["waited"] >= 0.2
    assert block["idled"] < 0.15
    while time.process_time() - served._clock.processor < 0.2:
        pass
    assert served.run(12, 1)["idled"] >= 0.2


def test_sides_of_torch_do_not_start_jax():
    pytest.importorskip("torch", reason="PyTorch isn't installed: it is a side of benchmarks alone")
    code = f"""
    import sys
    sys.path.insert(0, {str(ROOT)!r})
    from benchmarks.common import step_sides
    from types import SimpleNamespace
    from benchmarks.common import side_process, torch_yolo11n
    options = SimpleNamespace(precision="float32", backend="cpu")
    model = torch_yolo11n.YOLO11n(2)
    weights = {{name: value.numpy() for name, value in model.state_dict().items()}}
    side_process.make_side("torch", (32, 1), weights, options)
    assert "jax" not in sys.modules and "pytensor" not in sys.modules
    """
    environment = os.environ | {"PYTENSOR_FLAGS": ""}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    subprocess.run(command, env=environment, check=True)


# ------------------------------------------------------------------------------- child.py


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Return a function that writes a benchmark and runs it within a time limit."""
    monkeypatch.setattr(child, "ROOT", tmp_path)
    (tmp_path / "benchmarks").mkdir()

    def run(code, seconds=60.0, environment=None):
        start = "import os, sys, time\nfrom pathlib import Path\nout = Path(sys.argv[-1])\n"
        (tmp_path / "benchmarks/script.py").write_text(start + textwrap.dedent(code))
        return child.run_benchmark("script", [1], seconds, environment)

    return run


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("out.write_text(f'[{sys.argv[1]}, {os.environ['NUMBER']}]')", ([1, 2], None)),
        ("raise ValueError('the reason')", (None, "exit status 1: ValueError: the reason")),
        (
            "out.write_text('{}')\nos.kill(os.getpid(), 9)",  # what it has written is kept
            ({}, "ended by SIGKILL: too little memory?"),
        ),
    ],
)
def test_how_a_program_of_a_benchmark_ended(run, code, found):
    assert run(code, environment={"NUMBER": "2"}) == found


@pytest.mark.slow
def test_a_program_that_takes_too_long_ends_with_its_children(run, tmp_path, monkeypatch):
    written, pid = tmp_path / "written", tmp_path / "pid"
    code = f"""
    import subprocess
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path({str(pid)!r}).write_text(str(process.pid))
    out.write_text("{{}}")
    Path({str(written)!r}).touch()
    time.sleep(600)
    """
    wait = child.subprocess.Popen.wait

    def wait_until_it_has_written(process, timeout=None):
        while timeout and process.poll() is None and not written.exists():
            time.sleep(0.05)
        return wait(process, timeout and 0.1)

    monkeypatch.setattr(child.subprocess.Popen, "wait", wait_until_it_has_written)
    assert run(code, seconds=8) == ({}, "took longer than 8 s")
    assert gone(pid.read_text())
