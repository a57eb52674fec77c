"""The small examples run as they stand, in a folder of their own, and say what they should."""

import os
import re
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "onnx"
EXPECTED = {
    "attention": r"\d+ nodes",
    "bayesian_regression": r"mode near beta = \[ *1\.\d* +-1\.9\d* +0\.4\d*\]",
    "cnn": r"loss 0\.693 -> -?0\.0",
    "lstm": r"\['Loop', 'Loop'\]",
    "mlp": r"9 nodes; rows sum to \[[10.9 ]+\]",
}


def test_every_example_is_here():
    assert sorted(EXPECTED) == sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_example(name, tmp_path):
    result = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTENSOR_FLAGS": "", "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert re.search(EXPECTED[name], result.stdout), result.stdout
    (written,) = tmp_path.glob("*.onnx")
    onnx.checker.check_model(written, full_check=True)
