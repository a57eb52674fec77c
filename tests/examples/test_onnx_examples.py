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
    "finetune_onnx": r"tuned.onnx: accuracy 0\.9",
    "likelihood_onnx": r"threshold +1\.5",
    "lstm": r"\['Loop', 'Loop'\]",
    "mlp": r"9 nodes; rows sum to \[[10.9 ]+\]",
    "sklearn_gradients": r"d P\(class 1\) / d hue = 0\.7",
}
NEEDS = {"likelihood_onnx": "pymc", "sklearn_gradients": "skl2onnx"}  # which no other test does


def test_every_example_is_here():
    assert sorted(EXPECTED) == sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_example(name, tmp_path):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"the example is about {NEEDS[name]}")
    warnings = "default" if name in NEEDS else "error"  # those libraries have warnings of their own
    result = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTENSOR_FLAGS": "", "PYTHONWARNINGS": warnings},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert re.search(EXPECTED[name], result.stdout), result.stdout
    written = [*tmp_path.glob("*.onnx")]
    assert written
    for path in written:
        onnx.checker.check_model(path, full_check=True)
