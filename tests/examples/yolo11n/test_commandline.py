"""Mistakes in the command lines of the demo's programs get one line, before the slow imports."""

import argparse
from pathlib import Path

import commandline
import pytest

from tests.examples.conftest import run_python

DEMO = Path(commandline.__file__).parent
SLOW = {"jax", "pytensor", "numba", "onnx", "onnxruntime", "matplotlib"}


def answer(*arguments):
    """Run a program; return its exit code, the lines on stderr, and what it imported of `SLOW`."""
    # A name that is imported ends a line of the report: "import time: 1 | 2 |   jax".
    environment = {"PYTHONPATH": str(DEMO.parents[2]), "PYTHONWARNINGS": ""}
    done = run_python(["-X", "importtime", *arguments], DEMO, **environment)
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
        (["train_yolo11n.py", "--data", "page:2", "nowhere"], "nowhere does not exist"),
        (["train_yolo11n.py", "--data", "page"], "no train part in page: looked for "),
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
        (
            ["train_yolo11n.py", "--output-dir", "utils.py/a"],
            "onnx-yolo-demo/utils.py is a file; give another folder",
        ),
        (["train_yolo11n.py", "--export-onnx", "data"], "data is a folder; give a file's name"),
        (
            ["evaluate_yolo11n.py", "real", "--data", ".", "--output-dir", "utils.py"],
            "can't write to utils.py: it is a file",
        ),
        (["detect.py", "real", ".", "--out", "utils.py/a"], "utils.py is a file"),
        (["export.py", "utils.py", "utils.py/a.onnx"], "can't write to utils.py: it is a file"),
        (["export.py", "utils.py", "data"], "data is a folder; give a file's name"),
        (["-m", "tools.build_demo", "utils.py", "--output", "utils.py"], "it is a file"),
        (["-m", "tools.quantize", "utils.py", "data", "--data", "."], "data is a folder"),
        (["-m", "tools.half_weights", "utils.py", "data"], "data is a folder"),
        (["-m", "tools.mistakes", "real", "--data", ".", "--draw", "utils.py"], "it is a file"),
        (["-m", "tools.prelabel", "real", ".", "--out", "utils.py/a"], "utils.py is a file"),
        (["-m", "data.coco", "utils.py"], "it is a file"),
        (["-m", "data.synthetic", "utils.py/a"], "utils.py is a file"),
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
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "holds a run already: --resume goes on with it, --overwrite replaces it"),
        (["--resume"], "nothing to resume: "),
    ],
)
def test_a_folder_is_looked_at_before_the_slow_imports(tmp_path, options, message):
    if not options:
        (tmp_path / "last.safetensors").write_bytes(b"precious")
    code, said, slow = answer("train_yolo11n.py", "--output-dir", tmp_path, *options)
    assert (code, slow) == (1, set())
    [line] = said
    assert message in line
    assert options or (tmp_path / "last.safetensors").read_bytes() == b"precious"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["samples", "teaching", "reference"])
def test_parts_of_a_program_name_it(name):
    code, said, _ = answer("-m", f"tools.{name}")
    assert code == 1
    assert said == ["this is a part of: python -m tools.build_demo MODEL.onnx"]


def test_a_protected_folder_is_not_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr(commandline.os, "access", lambda path, mode: path != tmp_path)
    assert commandline.output_folder(str(tmp_path.parent / "new")) == tmp_path.parent / "new"
    with pytest.raises(argparse.ArgumentTypeError, match="is write-protected; give another"):
        commandline.output_folder(str(tmp_path / "new/folder"))
