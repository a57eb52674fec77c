"""How mechanisms are left out: one that matters is told from one that doesn't."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def tool():
    sys.path.insert(0, str(ROOT / ".ci"))
    import ablate

    yield ablate
    sys.path.remove(str(ROOT / ".ci"))
    for name in ("ablate", "ablate_guards", "ablate_programs"):
        del sys.modules[name]


def programs():
    """Return two tiny programs, and one that fails."""
    import pytensor.tensor as pt
    from pytensor import function
    from pytensor.link.jax import jax_mode

    n = pt.lvector("n")

    def divide():
        for _ in range(3):
            function([n], n // 2 + n // n, mode=jax_mode())([0, 3])

    return {
        "divide": divide,
        "count": lambda: function([n], n.sum(), mode=jax_mode())([1, 2]),
        "fail": lambda: function([n], pt.exp("x")),
    }


@pytest.mark.slow
def test_a_mechanism_that_matters_is_told_from_one_that_does_not(tool):
    pytest.importorskip("jax")
    found = tool.ablate({"tiny": programs}, jobs=1, most=2)
    # Of 0 // 0 XLA makes -1, and NumPy 0.
    (matters,) = (name for name in found.trials if name.endswith(" IntDiv"))
    assert found.trials[matters].names == found.trials[matters].changed == ["tiny/divide"]
    (candidate,) = found.candidates()
    assert candidate.endswith(" CAReduce")
    assert found.together.names == ["tiny/count"]
    assert not found.together.changed
    assert {*found.failed} == {"tiny/fail"}
    assert "rewrite jax_masks" in found.known - {*found.trials}
    text = tool.page(found, "command", 60)
    assert f"| `{matters}` | 1 of 1 | 1 |  | " in text


def test_programs_are_taken_at_equal_distances(tool):
    assert tool.spread([1, 2, 3, 4, 5], most=2) == [1, 4]
    assert tool.spread([1, 2], most=12) == [1, 2]
