"""How mechanisms are left out: one that matters is told from one that doesn't."""

import os
import sys
from pathlib import Path

import numpy as np
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
    found = tool.ablate({"tiny": programs}, 1)
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
    assert f"| `{matters}` | 1 | 1 |  | " in text


def test_what_is_left_out_has_what_was_there_before(tool, monkeypatch):
    def correct(op):
        return "corrected"

    import ablate_guards as guards

    ours = {correct: Path("fixes/a")}
    monkeypatch.setattr(guards, "find_module", ours.get)
    table = guards.guarded_singledispatch(lambda op: "base")
    table.register(int, lambda op: "theirs")
    for cls in (int, bool, str):
        table.register(cls)(correct)
    for left_out, results in (
        ((), ["corrected", "corrected", "corrected"]),
        (("int",), ["theirs", "corrected", "corrected"]),
        (("bool",), ["corrected", "corrected", "corrected"]),
        (("int", "bool", "str"), ["theirs", "theirs", "base"]),
    ):
        monkeypatch.setattr(guards, "LEFT_OUT", {f"fixes/a {name}" for name in left_out})
        assert [table(1), table(True), table("")] == results


def test_a_rewrite_is_entered_if_it_changes_a_graph(tool, monkeypatch):
    import ablate_guards as guards

    monkeypatch.setattr(guards, "ENTERED", set())
    monkeypatch.setattr(guards, "LEFT_OUT", set())
    graph = []
    changed = guards.guard("append", lambda g, x: g.extend(x), lambda g, x: (0, *g))
    changed(graph, [])
    assert not guards.ENTERED
    changed(graph, [1])
    assert {"append"} == guards.ENTERED
    guards.LEFT_OUT.add("append")
    changed(graph, [2])
    assert graph == [1]


def test_a_program_that_ends_its_process_is_told(tool, monkeypatch):
    monkeypatch.setattr(tool, "prepare", int)  # nothing
    worker = tool.Worker()
    assert worker.ask(os._exit, 1).error == "it ended the process"
    assert worker.ask(os.getpid) != os.getpid()


def test_results_are_compared_with_a_tolerance(tool):
    x = np.array([1e3, np.nan, np.inf, 1e-9])
    assert tool.is_same(x, x + np.array([1e-6, 0, 0, 1e-6]))
    for other in (
        x + np.array([1, 0, 0, 0]),
        x.astype("float32"),
        x[:3],
        np.array([1e3, 0, np.inf, 0]),
    ):
        assert not tool.is_same(x, other)
    assert not tool.is_same(np.array([1, 2]), np.array([1, 3]))
