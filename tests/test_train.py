"""train.sh: which preset it chooses and what it hands on. The training itself is a stand-in."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYTHON = '#!/usr/bin/env bash\nprintf "platforms=%s\\n" "${JAX_PLATFORMS:-}"\nprintf "%s\\n" "$@"\n'


@pytest.fixture
def checkout(tmp_path):
    root = tmp_path / "check out"
    (root / ".venv/bin").mkdir(parents=True)
    shutil.copy(ROOT / "train.sh", root)
    write(root / ".venv/bin/python", PYTHON)
    return root


def write(path, text):
    path.write_text(text)
    path.chmod(0o755)


def start(root, *arguments, gpus=0, **environment):
    tools = root / "tools"
    tools.mkdir(exist_ok=True)
    cards = "\n".join(f"echo 'GPU {k}: NVIDIA H100'" for k in range(gpus))
    write(tools / "nvidia-smi", f"#!/bin/sh\n{cards or 'exit 9'}\n")
    return subprocess.Popen(
        ["bash", root / "train.sh", *arguments],
        env={
            "PATH": f"{tools}:{os.environ['PATH']}",
            "HOME": os.environ.get("HOME", "/"),
            **environment,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(*arguments, **options):
    process = start(*arguments, **options)
    out, err = process.communicate(timeout=60)
    return process.returncode, out.splitlines(), err


@pytest.mark.parametrize(("gpus", "preset"), [(0, "cpu"), (8, "gpu")])
def test_preset_and_arguments(checkout, gpus, preset):
    code, lines, _ = run(checkout, "--resume", "--classes", "a dog", gpus=gpus)
    assert code == 0
    demo = checkout / "examples/onnx/onnx-yolo-demo"
    assert lines[-9:] == [
        "platforms=", str(demo / "train_yolo11n.py"), "--preset", preset, "--settings",
        str(checkout / ".env"), "--resume", "--classes", "a dog",
    ]  # fmt: skip
    assert ("train: no GPU; training at a size for the CPU" in lines) == (preset == "cpu")


def test_cpu_where_there_is_a_gpu(checkout):
    code, lines, _ = run(checkout, "--cpu", "--resume", gpus=1)
    assert code == 0
    assert "platforms=cpu" in lines
    assert lines[-5:-3] == ["--preset", "cpu"]
    assert "--cpu" not in lines


def test_in_a_notebook(checkout):
    """Jupyter names a backend of matplotlib that its own environment has, and .venv hasn't."""
    write(checkout / ".venv/bin/python", '#!/bin/sh\necho "backend=$MPLBACKEND"\n')
    code, lines, _ = run(checkout, MPLBACKEND="module://matplotlib_inline.backend_inline")
    assert (code, lines[-1]) == (0, "backend=")


@pytest.mark.parametrize(("gpus", "platforms"), [(0, "cpu"), (1, "")])
def test_check_of_a_gpu_that_need_not_be_there(checkout, gpus, platforms):
    code, lines, _ = run(checkout, "--check", "h100", "--classes",
        "a dog", gpus=gpus)
    assert code == 0
    assert lines == [
        f"platforms={platforms}", "-m", "benchmarks.gpu.training_check", "h100", "--classes",
        "a dog", "--preset", "gpu", "--settings", str(checkout / ".env"),
    ]  # fmt: skip


def test_before_setup(checkout):
    shutil.rmtree(checkout / ".venv")
    code, _, err = run(checkout)
    assert code == 1
    assert "run: bash setup.sh" in err


def test_the_header_lists_the_settings():
    from training.options import SETTINGS

    header = (ROOT / "train.sh").read_text().partition("set -euo")[0]
    assert [name for name in SETTINGS if name not in header] == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_reach_the_training_and_its_exit_code_comes_back(checkout, number):
    """The process that was started is the training, whoever sends the signal."""
    write(
        checkout / ".venv/bin/python",
        f"#!{sys.executable}\n"
        "import signal, sys, time\n"
        f"signal.signal({int(number)}, lambda n, _: sys.exit(128 + n))\n"
        'print("training", flush=True)\n'
        "time.sleep(60)\n",
    )
    with start(checkout) as process:
        try:
            while process.stdout.readline() not in ("training\n", ""):
                pass
            process.send_signal(number)
            assert process.wait(60) == 128 + number
        finally:
            process.kill()
