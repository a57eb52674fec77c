"""train.sh: what it runs, and when it refuses. The training command itself is a stand-in."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# Prints its arguments; as a probe of JAX it answers what JAX_ANSWER says.
PYTHON = """#!/usr/bin/env bash
if [ "$1" = -c ]; then
    printf '%s\\n' "${JAX_ANSWER:-RuntimeError: no GPU}"
    [ -n "${JAX_ANSWER:-}" ]
    exit
fi
printf 'platforms=%s\\n' "${JAX_PLATFORMS:-}"
printf '%s\\n' "$*"
"""


@pytest.fixture
def checkout(tmp_path):
    root = tmp_path / "checkout"
    (root / ".venv/bin").mkdir(parents=True)
    shutil.copy(ROOT / "train.sh", root)
    write(root / ".venv/bin/python", PYTHON)
    return root


def write(path, text):
    path.write_text(text)
    path.chmod(0o755)


def run(root, *arguments, gpu=False, **environment):
    tools = root / "tools"
    tools.mkdir(exist_ok=True)
    answer = "echo 'GPU 0: NVIDIA H100'" if gpu else "exit 9"
    write(tools / "nvidia-smi", f"#!/bin/sh\n{answer}\n")
    path = f"{tools}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", root / "train.sh", *arguments],
        env={"PATH": path, "HOME": os.environ.get("HOME", "/"), **environment},
        capture_output=True,
        text=True,
    )


def test_without_gpu(checkout):
    result = run(checkout)
    assert result.returncode == 0, result.stderr
    assert "--data synthetic" in result.stdout
    assert "--require-map50 0.40" in result.stdout
    assert "no GPU" in result.stdout


def test_with_gpu(checkout):
    result = run(checkout, gpu=True, JAX_ANSWER="NVIDIA H100")
    assert result.returncode == 0, result.stderr
    assert "on NVIDIA H100" in result.stdout
    for setting in ("--data coco", "--image-size 320", "--batch-size 64", "--epochs 100"):
        assert setting in result.stdout
    assert "--require-map50" not in result.stdout
    assert "platforms=\n" in result.stdout


def test_gpu_that_jax_does_not_see(checkout):
    result = run(checkout, gpu=True)
    assert result.returncode == 1
    assert "JAX sees none: RuntimeError: no GPU" in result.stderr
    assert "setup.sh --gpu" in result.stderr
    assert "--data" not in result.stdout
    forced = run(checkout, "--cpu", gpu=True)
    assert forced.returncode == 0
    assert "platforms=cpu" in forced.stdout
    assert "--cpu" not in forced.stdout.splitlines()[-1]


def test_settings_and_options_are_passed_through(checkout):
    result = run(
        checkout, "--resume", "--classes", "person", DATASET="some/folder", EPOCHS="3", LR="0.5",
        OUTPUT_DIR="a b",
    )  # fmt: skip
    last = result.stdout.splitlines()[-1]
    assert "--data some/folder" in last
    assert last.endswith("--resume --classes person")
    assert last.index("--epochs 22") < last.index("--epochs 3")
    assert "--lr 0.5" in last
    assert "--output-dir a b" in last


@pytest.mark.parametrize(
    ("arguments", "environment", "promised"),
    [
        (["--resume"], {}, True),
        (["--overwrite"], {"SEED": "3"}, True),
        (["--epochs", "1"], {}, False),
        ([], {"IMAGE_SIZE": "64"}, False),
        ([], {"EPOCHS": "1", "REQUIRE_MAP50": "0.1"}, True),
    ],
)
def test_the_target_belongs_to_the_default_settings(checkout, arguments, environment, promised):
    result = run(checkout, *arguments, **environment)
    assert ("--require-map50" in result.stdout) == promised


def test_before_setup(checkout):
    shutil.rmtree(checkout / ".venv")
    result = run(checkout)
    assert result.returncode == 1
    assert "run: bash setup.sh" in result.stderr
