"""The benchmark of memory measures what it says."""

import argparse
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from benchmarks.common.child import ROOT

jax = pytest.importorskip("jax")


@pytest.fixture(scope="module")
def memory():
    """Load the script as a module; it sets variables of the environment, for its processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTENSOR_FLAGS", os.environ.get("PYTENSOR_FLAGS", ""))
        from benchmarks.step import memory

    return memory


@pytest.mark.slow
def test_growth_of_the_host(memory):
    """What the function holds for a while counts; what was there before does not."""
    before = np.ones(20_000_000)
    growth = memory.host_growth(lambda: np.ones(5_000_000).sum())
    if growth is None:
        pytest.skip("this system can't tell")
    assert growth == pytest.approx(40e6, rel=0.2)
    assert before.all()


def test_ratios(memory):
    figures = dict.fromkeys(memory.FIGURES)
    sides = {"donated": figures | {"program": 30}, "pure": figures | {"program": 20}}
    assert memory.ratios(sides) == {"donated / pure": {"program": 1.5}}
    assert memory.ratios({"jax": figures}) == {}


class SmallStep:
    """A step as those of the sides: its state is 4 MB, which is donated."""

    def __init__(self):
        self.numbers = []
        self.state = jax.numpy.zeros(1_000_000, "float32")
        self.step = jax.jit(
            lambda state, sample: (state + sample.sum(), sample.sum()), donate_argnums=0
        )

    def place(self, sample):
        return sample.images

    def run(self, images, number):
        self.numbers.append(number)
        self.state, _ = self.step(self.state, images)

    def wait(self):
        self.state.block_until_ready()

    def program(self):
        return self.step, [self.state, np.zeros((2, 3, 64, 64), "uint8")]


@pytest.mark.slow
def test_figures_of_a_side(memory, monkeypatch):
    side = SmallStep()
    monkeypatch.setattr(memory, "make_side", lambda *arguments: side)
    options = argparse.Namespace(image_size=64, batch_size=2, steps=3)
    found = memory.measure_here("pure", {}, options)
    assert side.numbers == [0, 1, 2, 3, 4]
    parts = found["parts of the program"]
    assert parts["results in arguments"] == 4_000_000
    assert parts["arguments"] == 4_000_000 + 2 * 3 * 64 * 64
    # the state, the images, and little beside them: the new state is in the old one's place
    assert 4_000_000 <= found["program"] - 2 * 3 * 64 * 64 < 4_400_000
    if jax.default_backend() == "cpu":
        assert found["device peak"] is None


@pytest.mark.long
def test_memory_of_the_step(tmp_path):
    path = tmp_path / "result.json"
    subprocess.run(
        [sys.executable, "-m", "benchmarks.step.memory", "--image-size", "64", "--batch-size", "2",
         "--steps", "2", "--json", path],
        env=os.environ | {"PYTENSOR_FLAGS": "", "JAX_PLATFORMS": "cpu"},
        cwd=ROOT,
        check=True,
    )  # fmt: skip
    sides = json.loads(path.read_text())["sides"]
    plain, donated, pure = (
        sides[name]["parts of the program"] for name in ("jax", "donated", "pure")
    )
    assert plain["results in arguments"] == 0
    # 3 floats and more a parameter: weights, momenta, averages
    assert donated["results in arguments"] > 3 * 4 * 2_590_214
    assert donated["arguments"] == pytest.approx(pure["arguments"], rel=0.01)
    assert donated["total"] < plain["total"]
