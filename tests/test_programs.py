"""Every program that reads its command line answers `--help`, and refuses what makes no sense."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "examples/onnx/onnx-yolo-demo"
READS = re.compile(r"\b(ArgumentParser|parse_arguments|commandline)\b")
RUNS = re.compile(r'^(parser = |if __name__ == "__main__":)', re.MULTILINE)
PROGRAMS = {
    path.relative_to(ROOT).as_posix(): path
    for pattern in ("benchmarks/**/*.py", "docs/tools/*.py", "examples/**/*.py", ".ci/*")
    for path in sorted(ROOT.glob(pattern))
    if path.is_file() and "node_modules" not in path.parts
    if READS.search(text := path.read_text()) and RUNS.search(text)
}


@pytest.mark.by_default("benchmarks/step/train_step.py", ".ci/release.py")
@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_help(program, tmp_path):
    """By its file, or, where it is one of a package, by its module."""
    path, home = PROGRAMS[program], DEMO if DEMO in PROGRAMS[program].parents else ROOT
    name = ".".join(path.relative_to(home).with_suffix("").parts)
    how = [path] if program.startswith(".ci") else ["-m", name]
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{home}", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, *how, "--help"]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("program", "arguments", "message"),
    [
        ("step.train_step", "--sides pytorch-mode --precision bf16", "has no bf16"),
        ("step.train_step", "--sides torch --devices 2", "run on several"),
        ("onnx.inference", "m.onnx --variants int8", "give --data"),
        ("onnx.inference", "m.onnx --variants float16", "give a .safetensors"),
        ("onnx.inference", "m.onnx --image-size 64", "an ONNX file has its own"),
        ("onnx.inference", "m.onnx --rounds 0", "--rounds must be at least 1"),
        ("onnx.inference", "m.onnx --threads 0", "--threads must be at least 1"),
        ("page.browser", "m.onnx --frames 0", "--frames must be at least 1"),
        ("gpu.suite", "--quick --batches 1 2", "--quick takes one batch size"),
        ("pymc.start", "--what density,nuts", "--what has nuts; there are density, numpyro"),
    ],
)
def test_options_of_a_benchmark_that_make_no_sense(program, arguments, message, capsys, monkeypatch):
    pytest.importorskip("pymc" if program.startswith("pymc") else "jax")
    monkeypatch.setenv("PYTENSOR_FLAGS", os.environ["PYTENSOR_FLAGS"])  # its own process's
    benchmark = import_module(f"benchmarks.{program}")
    monkeypatch.setattr("sys.argv", [program, *arguments.split()])
    with pytest.raises(SystemExit):
        benchmark.main()
    assert message in capsys.readouterr().err
