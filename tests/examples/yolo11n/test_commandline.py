"""Mistakes in the command lines of the demo's programs get one line, before the slow imports."""

import os
import subprocess
import sys
from pathlib import Path

import commandline
import pytest

DEMO = Path(commandline.__file__).parent
SLOW = {"jax", "pytensor", "numba", "onnx", "onnxruntime", "matplotlib"}


def answer(*arguments):
    """Run a program; return its exit code, the lines on stderr, and what it imported of `SLOW`."""
    # A name that is imported ends a line of the report: "import time: 1 | 2 |   jax".
    command = [sys.executable, "-X", "importtime", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(DEMO.parents[2])}
    done = subprocess.run(command, cwd=DEMO, env=environment, capture_output=True, text=True)
    lines = done.stderr.splitlines()
    report = {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}
    said = [line for line in lines if not line.startswith("import time:")]
    return done.returncode, said, report & SLOW


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["train_yolo11n.py", "--epochz", "3"],
            "unknown argument --epochz; did you mean --epochs?",
        ),
        (["train_yolo11n.py", "--data", "nowhere"], "nowhere does not exist"),
        (["train_yolo11n.py", "--weights", "none.onnx"], "none.onnx does not exist"),
        (["evaluate_yolo11n.py", "real", "--data", "nowhere"], "nowhere does not exist"),
        (["evaluate_yolo11n.py", "none.onnx", "--data", "."], "none.onnx: no such file"),
        (["detect.py", "none.safetensors", "."], "none.safetensors: no such file"),
        (["export.py", "none.safetensors", "a.onnx"], "none.safetensors does not exist"),
        (["-m", "tools.build_demo", "nothing.onnx"], "nothing.onnx does not exist"),
        (["-m", "tools.quantize", "no.onnx", "a.onnx", "--data", "."], "no.onnx does not exist"),
        (["-m", "tools.compare_runtimes", "nothing.onnx"], "nothing.onnx does not exist"),
        (["-m", "tools.half_weights", "none", "a"], "none does not exist"),
        (["-m", "tools.mistakes", "real", "--data", "nowhere"], "nowhere does not exist"),
        (["-m", "tools.prelabel", "none.onnx", ".", "--out", "a"], "none.onnx: no such file"),
        (["-m", "data.coco", "a", "--clases", "dog"], "did you mean --classes?"),
        (["-m", "data.synthetic", "a", "--trian", "3"], "did you mean --train?"),
    ],
)
def test_a_mistake_gets_one_line_before_the_slow_imports(arguments, message):
    code, said, slow = answer(*arguments)
    assert code != 0
    [line] = said
    assert message in line
    assert not slow


@pytest.mark.slow
@pytest.mark.parametrize("name", ["samples", "teaching", "reference"])
def test_parts_of_a_program_name_it(name):
    code, said, _ = answer("-m", f"tools.{name}")
    assert code == 1
    assert said == ["this is a part of: python -m tools.build_demo MODEL.onnx"]
