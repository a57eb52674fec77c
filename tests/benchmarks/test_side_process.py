"""Processes of the training step's sides: their answers, their errors, and that they end."""

import json
import mmap
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.common import side_process, step_sides
from benchmarks.common.child import ROOT
from benchmarks.common.side_process import DoesNotFit, ServedSide, SideError, SideProcess

NEW_PAGES = 5000
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

    def end(self, how):
        sys.stdout.flush()
        os._exit(3) if how == "exit" else os.kill(os.getpid(), 9)

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


def gone(pid, seconds=60.0):
    """Return whether a process ends in time; a zombie that nobody has asked for yet has ended."""
    end = time.monotonic() + seconds
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
    errors = capfd.readouterr().err
    assert "a library's message" in errors
    assert "ValueError: the reason" in errors


@pytest.mark.by_default("exit-exit status 3")
@pytest.mark.parametrize(
    ("how", "message"), [("exit", "exit status 3"), ("kill", "SIGKILL: too little memory")]
)
def test_process_that_ends(script, how, message):
    with SideProcess("a", script) as side, pytest.raises(SideError, match=message):
        side.call("end", how)


def test_all_that_a_side_started_ends_with_it(script):
    with SideProcess("a", script) as side:
        pids = side.call("start_another")
        assert not any(gone(pid, 0.1) for pid in pids)
    assert all(gone(pid) for pid in pids)
    # It was waited for: no zombie.
    assert not Path(f"/proc/{pids[0]}").exists()


@pytest.mark.by_default("15", "9")
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_sides_end_with_the_benchmark(script, number):
    code = PARENT.format(folder=str(ROOT), script=script)
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with parent:
        pids = [int(word) for word in parent.stdout.readline().split()]
        assert len(pids) == 4
        parent.send_signal(number)
        assert parent.wait(60) != 0
    assert all(gone(pid) for pid in pids)


class FakeSide:
    name = "fake"

    def __init__(self):
        self.ran = []

    def place(self, sample):
        return sample

    def run(self, sample, number):
        self.ran.append((number, int(sample.images.sum())))
        if len(self.ran) == 2:
            # NumPy would ask for large pages.
            with mmap.mmap(-1, NEW_PAGES * mmap.PAGESIZE) as memory:
                for k in range(NEW_PAGES):
                    memory[k * mmap.PAGESIZE] = 1
        return {"box_loss": np.float32(2)}, 1.0

    def wait(self):
        self.ran.append("wait")


@pytest.fixture
def served(monkeypatch, tmp_path):
    """Return a served side whose first step has run, and what `start` returned."""
    pytest.importorskip("jax")
    side, asked = FakeSide(), []

    def make_side(*arguments):
        asked.append(arguments)
        return side

    monkeypatch.setattr(side_process, "make_side", make_side)
    monkeypatch.setattr(step_sides, "keep_freed_memory", lambda: asked.append("kept") or True)
    np.savez(tmp_path / "w.npz", weight=np.arange(3))
    options = {"matmul_precision": "default", "precision": "float32"}
    served = ServedSide()
    assert served.set_allocator("default") == "default"
    assert not asked
    assert served.set_allocator("kept") == "kept"
    answer = served.start("pytensor", [32, 2], str(tmp_path / "w.npz"), options)
    return SimpleNamespace(it=served, side=side, asked=asked, answer=answer)


def test_start_of_a_side(served):
    first, (key, size, weights, options) = served.asked
    assert (first, key, size) == ("kept", "pytensor", [32, 2])
    np.testing.assert_array_equal(weights["weight"], [0, 1, 2])
    assert options.precision == "float32"
    json.dumps(served.answer)
    assert served.answer["name"] == "fake"
    assert served.answer["losses"] == {"box_loss": 2.0}


def test_block_of_a_side(served):
    served.side.ran.clear()
    time.sleep(0.2)
    block = served.it.run(7, 5)
    json.dumps(block)
    assert [entry[0] for entry in served.side.ran[:-1]] == [7, 8, 9, 10, 11]
    assert served.side.ran[-1] == "wait"
    # Four samples in turn.
    sums = [entry[1] for entry in served.side.ran[:-1]]
    assert len(set(sums[:4])) == 4
    assert sums[0] == sums[4]
    assert block["seconds"] > 0
    assert block["page_faults"] >= NEW_PAGES / 5
    assert block["waited"] >= 0.2
    assert block["idled"] < 0.15


def test_processor_time_while_a_side_waits(served):
    served.it.run(1, 1)
    while time.process_time() - served.it._clock.processor < 0.2:
        pass
    assert served.it.run(2, 1)["idled"] >= 0.2


def test_answer_to_a_method_that_fails(capsys):
    answer = side_process.answer_to(SimpleNamespace(run=lambda: 1 / 0), '["run"]')
    assert answer == {"error": "ZeroDivisionError: division by zero", "out_of_memory": False}
    assert "Traceback" in capsys.readouterr().err


def test_sides_of_torch_do_not_start_jax(tmp_path):
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
    code = "\n".join(line.strip() for line in code.splitlines())
    environment = os.environ | {"PYTENSOR_FLAGS": ""}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
