"""train.sh: what it runs, and when it refuses. The training command itself is a stand-in."""

import os
import shutil
import signal
import subprocess
import sys
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

# Lists GPUS cards (one by default), of which the last has FREE_MIB of memory free.
NVIDIA_SMI = """#!/usr/bin/env bash
for ((k = 0; k < ${GPUS:-1}; k++)); do
    case $1 in
    -L) echo "GPU $k: NVIDIA H100" ;;
    *) [ $((k + 1)) -eq "${GPUS:-1}" ] && echo "${FREE_MIB-80000}" || echo 81000 ;;
    esac
done
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
    write(tools / "nvidia-smi", NVIDIA_SMI if gpu else "#!/bin/sh\nexit 9\n")
    path = f"{tools}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", root / "train.sh", *arguments],
        cwd=root,
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
        (["--overwrite"], {}, True),
        ([], {"SEED": "3"}, False),
        (["--epochs", "1"], {}, False),
        ([], {"IMAGE_SIZE": "64"}, False),
        ([], {"WARMUP_EPOCHS": "0"}, False),
        ([], {"PATIENCE": "3"}, False),
        ([], {"WEIGHTS": "a.safetensors"}, False),
        ([], {"VAL_EVERY": "1"}, False),
        ([], {"OUTPUT_DIR": "runs/b", "CACHE": "disk", "CHECKPOINT_MINUTES": "2.5"}, True),
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


@pytest.mark.parametrize(
    ("environment", "batch"),
    [
        ({}, 64),
        ({"FREE_MIB": "10000", "GPUS": "2"}, 32),
        ({"FREE_MIB": "10000", "IMAGE_SIZE": "640"}, 8),
        ({"FREE_MIB": "100"}, 4),
        ({"FREE_MIB": "[N/A]"}, 64),
        ({"FREE_MIB": "10000", "BATCH_SIZE": "24"}, 24),
    ],
)
def test_batch_for_the_free_memory(checkout, environment, batch):
    result = run(checkout, gpu=True, JAX_ANSWER="NVIDIA H100", **environment)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("--batch-size") == 1
    assert f"--batch-size {batch}" in result.stdout
    if "BATCH_SIZE" in environment:
        assert "memory" not in result.stderr
    elif environment.get("FREE_MIB") == "[N/A]":
        assert "does not say how much memory is free; batch 64" in result.stderr
    else:
        free = environment.get("FREE_MIB", "80000")
        assert f"{free} MiB of GPU memory are free: batch {batch} at" in result.stderr


def test_several_gpus(checkout):
    result = run(checkout, gpu=True, JAX_ANSWER="NVIDIA H100", GPUS="8")
    assert "one of 8 GPUs is used; DEVICES=8 uses all" in result.stdout
    result = run(checkout, gpu=True, JAX_ANSWER="NVIDIA H100", GPUS="8", DEVICES="8")
    assert "GPUs is used" not in result.stdout
    assert "--devices 8" in result.stdout


def test_settings_file(checkout):
    lines = ["# a comment", "", "EPOCHS=7", 'export OUTPUT_DIR="a b"', "SEED='3'\r", "LR=0.5"]
    (checkout / ".env").write_text("\n".join([*lines, "CLASSES=person,cell phone"]))
    result = run(checkout, LR="0.25")
    last = result.stdout.splitlines()[-1]
    for setting in (
        "--epochs 7", "--output-dir a b", "--seed 3", "--lr 0.25", "--classes person cell phone",
    ):  # fmt: skip
        assert setting in last
    assert "--require-map50" not in last


@pytest.mark.parametrize("line", ["EPOCHS 7", "$(touch made)=1", "9A=1", "touch made"])
def test_settings_file_is_not_run(checkout, line):
    (checkout / ".env").write_text(f"SEED=1\n{line}\n")
    result = run(checkout)
    assert result.returncode == 1
    assert f".env, line 2: expected NAME=VALUE, found: {line}" in result.stderr
    assert not (checkout / "made").exists()


@pytest.mark.parametrize("name", ["LD_PRELOAD", "PYTHONPATH", "XLA_FLAGS", "EPOCH", "PATH"])
def test_settings_file_knows_its_names(checkout, name):
    (checkout / ".env").write_text(f"SEED=1\n{name}=x\n")
    result = run(checkout)
    assert result.returncode == 1
    assert f".env, line 2: there is no setting {name}; there are DATASET, " in result.stderr
    assert "XLA_PYTHON_CLIENT_MEM_FRACTION" in result.stderr
    assert "--data" not in result.stdout


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("JAX_PLATFORMS", "cuda,cpu"),
        ("XLA_PYTHON_CLIENT_MEM_FRACTION", ".9"),
        ("XLA_PYTHON_CLIENT_PREALLOCATE", "false"),
        ("COCO_BASE_URL", "https://mirror.example/coco"),
    ],
)
def test_settings_file_may_set_up_jax_and_the_download(checkout, name, value):
    write(checkout / ".venv/bin/python", f"#!/bin/sh\necho {name} is ${name}\n")
    (checkout / ".env").write_text(f"{name}={value}\n")
    assert f"{name} is {value}\n" in run(checkout).stdout
    assert f"{name} is {value[:2]}\n" in run(checkout, **{name: value[:2]}).stdout


COMMAND = "batch[$(touch made)]"
WRONG = [
    ("IMAGE_SIZE", COMMAND, "a whole number"),
    ("IMAGE_SIZE", "batch", "a whole number"),
    ("EPOCHS", "010", "a whole number"),
    ("SEED", "-1", "a whole number"),
    ("LR", "0,01", "a number"),
    ("LR", "nan", "a number"),
    ("MOSAIC", ".", "a number"),
    ("OPTIMIZER", "sgd --overwrite", "a word"),
    ("CLASSES", "person,--overwrite", "names separated by commas"),
    ("CLASSES", "person,,dog", "names separated by commas"),
    ("OUTPUT_DIR", "--overwrite", "a path"),
]


@pytest.mark.parametrize(("name", "value", "wanted"), WRONG)
@pytest.mark.parametrize("gpu", [True, False])
def test_values_are_checked(checkout, name, value, wanted, gpu):
    """In the file and in the environment; bash would run commands in what it calculates with."""
    where = {"gpu": gpu, "JAX_ANSWER": "NVIDIA H100"}
    result = run(checkout, **where, **{name: value})
    (checkout / ".env").write_text(f"# mine\n{name}={value}\n")
    for found, place in [(result, ""), (run(checkout, **where), ".env, line 2: ")]:
        assert found.returncode == 1
        assert f"{place}{name} must be {wanted}, not '{value}'\n" in found.stderr
        assert "--data" not in found.stdout
    assert not list(checkout.rglob("made"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LR", "1e-3"),
        ("LR", ".5"),
        ("WARMUP_EPOCHS", "2.5"),
        ("IMAGE_SIZE", "640"),
        ("PATIENCE", "0"),
        ("WEIGHTS", "a folder/yolo é.safetensors"),
    ],
)
def test_values_that_are_right(checkout, name, value):
    result = run(checkout, gpu=True, JAX_ANSWER="NVIDIA H100", **{name: value})
    assert f"--{name.lower().replace('_', '-')} {value}" in result.stdout, result.stderr


def test_the_header_lists_the_settings():
    text = (ROOT / "train.sh").read_text()
    header = text.partition("set -euo")[0]
    table = text.partition("settings=(")[2].partition("\n)")[0]
    names = [line.split()[0].strip('"') for line in table.splitlines() if line.strip()]
    assert len(names) > 25
    for name in names:
        assert name in header, name


def test_settings_file_values_are_literal(checkout):
    (checkout / ".env").write_text("OUTPUT_DIR=$(touch made)`touch made`")
    result = run(checkout)
    assert "--output-dir $(touch made)`touch made`" in result.stdout
    assert not list(checkout.glob("**/made"))


def test_builds_the_page(checkout):
    assert " --build-page " in run(checkout).stdout.splitlines()[-1]
    result = run(checkout, "--no-build-page")
    # The last one counts, and it says nothing about the training itself.
    assert result.stdout.splitlines()[-1].endswith("--no-build-page")
    assert "--require-map50" in result.stdout


@pytest.mark.parametrize("code", [0, 1, 130])
def test_exit_code_of_the_training(checkout, code):
    write(checkout / ".venv/bin/python", f"#!/bin/sh\nexit {code}\n")
    assert run(checkout).returncode == code


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_reach_the_training(checkout, number):
    """The process that was started is the training, whoever sends the signal."""
    write(
        checkout / ".venv/bin/python",
        f"#!{sys.executable}\n"
        "import signal, sys, time\n"
        f"signal.signal({int(number)}, lambda n, _: sys.exit(128 + n))\n"
        'print("training", flush=True)\n'
        "time.sleep(60)\n",
    )
    tools = checkout / "tools"
    tools.mkdir()
    write(tools / "nvidia-smi", "#!/bin/sh\nexit 9\n")
    process = subprocess.Popen(
        ["bash", checkout / "train.sh"],
        env={"PATH": f"{tools}:{os.environ['PATH']}", "HOME": "/"},
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            for line in process.stdout:
                if line == "training\n":
                    break
            process.send_signal(number)
            assert process.wait(20) == 128 + number
        finally:
            process.kill()
