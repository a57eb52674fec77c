"""The files that the README follows a batch through are those that a training step enters."""

import json
import os
import re
import subprocess
import sys

import pytest

from docs.tools.step_files import DEMO, ROOT


# Compiling the whole step is what takes long; .ci/structure.py runs the same count.
@pytest.mark.long
@pytest.mark.training
def test_the_readme_names_the_files_that_a_step_enters(tmp_path):
    command = [sys.executable, "-m", "docs.tools.step_files", "--json", tmp_path / "files.json"]
    # what XLA optimizes enters no file of the demo
    own = {"XLA_FLAGS": "--xla_backend_optimization_level=0"}
    done = subprocess.run(command, cwd=ROOT, env=os.environ | own, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    entered = json.loads((tmp_path / "files.json").read_text())
    compiled, run = (set(entered[moment]["demo"]) for moment in ("compiled", "run"))
    _, _, text = (DEMO / "README.md").read_text("utf-8").partition("## One batch, followed")
    text = text.partition("\n## ")[0]
    assert set(re.findall(r"`([\w/]+\.py)`", text)) == compiled | run
    numbers = re.search(r"the (\d+) files .*? (\d+) while .*? (\d+) each time", text, re.DOTALL)
    counted = [len(files) for files in (compiled | run, compiled, run)]
    assert [*map(int, numbers.groups())] == counted
