"""Every program that reads its command line answers `--help`."""

import os
import re
import subprocess
import sys
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
