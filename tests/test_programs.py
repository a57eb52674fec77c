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
    """By its module, or by its file, where it is in no package: as its users start it."""
    path = PROGRAMS[program]
    home = DEMO if path.is_relative_to(DEMO) else ROOT
    name = ".".join(path.relative_to(home).with_suffix("").parts)
    in_package = home == DEMO or name.startswith(("benchmarks.", "docs."))
    how = ["-m", name] if in_package else [path]
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{home}", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, *how, "--help"]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ")
    assert not [*tmp_path.iterdir()]
