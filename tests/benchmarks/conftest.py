import json
import os
import subprocess
import sys

import pytest

from benchmarks.common.child import ROOT


@pytest.fixture(autouse=True, scope="module")
def sooner(compiled_sooner):
    """Use `compiled_sooner` in the whole folder: programs run a few times, and on little."""


@pytest.fixture
def run_benchmark(tmp_path):
    """Return a function that runs a benchmark; it returns the result, and what is printed."""

    def run(program, *options):
        path = tmp_path / "result.json"
        done = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{program}", *options, "--json", path],
            env=os.environ | {"PYTENSOR_FLAGS": "", "JAX_PLATFORMS": "cpu"},
            cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        return json.loads(path.read_text()), done.stdout

    return run
