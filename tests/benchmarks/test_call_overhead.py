"""The benchmark of calls runs, and its sides do their work."""

import json
import os
import subprocess
import sys

import pytest

from benchmarks.common.child import ROOT

pytest.importorskip("jax")


@pytest.mark.slow
def test_call_overhead(tmp_path):
    path = tmp_path / "result.json"
    process = subprocess.run(
        [sys.executable, "-m", "benchmarks.package.call_overhead", "--arrays", "3", "40",
         "--rounds", "12", "--json", path],
        env=os.environ | {"PYTENSOR_FLAGS": "", "JAX_PLATFORMS": "cpu"},
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    result = json.loads(path.read_text())
    assert [point["arrays"] for point in result["points"]] == [3, 40]
    for point in result["points"]:
        assert len(point["seconds"]) == 4
        for low, middle, high in point["seconds"].values():
            assert 0 < low <= middle <= high
        seconds = {name: values[1] for name, values in point["seconds"].items()}
        ours, theirs = seconds["mode JAX"], seconds["plain JAX"]
        assert point["ratios"]["mode JAX / plain JAX"] == pytest.approx(ours / theirs)
    assert "ratio jax_mode(donate=True) / plain JAX, donated" in process.stdout
