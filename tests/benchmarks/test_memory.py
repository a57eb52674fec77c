"""The benchmark of memory measures what it says."""

import os

import numpy as np
import pytest

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


@pytest.mark.long
def test_memory_of_the_step(run_benchmark):
    options = "--image-size", "64", "--batch-size", "2", "--steps", "2"
    sides = run_benchmark("step.memory", *options)[0]["sides"]
    plain, donated, pure = (
        sides[name]["parts of the program"] for name in ("jax", "donated", "pure")
    )
    assert plain["results in arguments"] == 0
    # 3 floats and more a parameter: weights, momenta, averages
    assert donated["results in arguments"] > 3 * 4 * 2_590_214
    assert donated["arguments"] == pytest.approx(pure["arguments"], rel=0.01)
    assert donated["total"] < plain["total"]
