"""A share of the random programs; the comparison finds faults, and the shrinker their cause.

All of them: ``python -m tests.fuzz --graphs 10000 --out FILE.json``.
"""

import json
import sys
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from tests.catalogue.random_graphs.programs import SIZES, Graph, Step, fits, random_graph
from tests.fuzz.__main__ import Run, summarize, table
from tests.fuzz.compare import LINKERS, UNGUARDED, Comparison
from tests.fuzz.shrink import shrink

# Programs of both dtypes and of every order of derivatives, one with static shapes, which JAX
# compiles for each size, and one with an operator of the catalogue; and how many sizes of each.
# Numba takes ten seconds for a program, and more for the long ones, of our own Ops: it has a short
# one.
TRUSTED = [linker for linker in LINKERS if linker != UNGUARDED]
WITHOUT_NUMBA = [linker for linker in TRUSTED if linker != "NUMBA"]
SHARE = [
    (0, WITHOUT_NUMBA, 2), (5, WITHOUT_NUMBA, 2), (278, WITHOUT_NUMBA, 2), (19, TRUSTED, 1),
    *(pytest.param(k, TRUSTED, 4, marks=pytest.mark.long) for k in (0, 1, 3, 5, 278)),
]  # fmt: skip
# The first ones of each dtype and order of derivatives
KINDS = (0, 1, 2, 4, 12, 13)


@pytest.mark.slow
@pytest.mark.parametrize(("program", "linkers", "sizes"), SHARE)
def test_linkers_agree(program, linkers, sizes):
    compare = Comparison(linkers)
    for number in range(program * SIZES, program * SIZES + sizes):
        graph = random_graph(number)
        verdict = compare(graph)
        assert not verdict.wrong, f"{verdict.wrong}\n{graph}"


def test_a_number_is_a_graph():
    for number in range(0, 2000, 95):
        graph = random_graph(number)
        assert fits(graph)
        again = random_graph(number)
        assert graph == again
        for value, other in zip(graph.values(), again.values(), strict=True):
            np.testing.assert_array_equal(value, other)
    assert random_graph(1).steps == random_graph(2).steps != random_graph(SIZES).steps


def scaled_element(result):
    """Put one element of the middle off by a hundredth of what is usual."""
    result = result.copy()
    result.flat[result.size // 2] += 1e-2 * (np.sqrt(np.mean(result**2)) or 1)
    return result


FAULTS = {
    "rubbish": lambda result: result * 1e13 + 1e13,
    "zeros": lambda result: result * 0 + (not result.any()),
    "one element": scaled_element,
    "one percent": lambda result: result * 1.01 + 0.01 * (not result.any()),
    "nan": lambda result: np.where(
        np.arange(result.size).reshape(result.shape) == 0, np.nan, result
    ),
    "other dtype": lambda result: result.astype("float16"),
    "other shape": lambda result: result[None],
}


def falsified(fault):
    """Return what changes FAST_COMPILE's results, and keeps the dtype unless that is the fault."""

    def falsify(linker, results):
        if linker != "FAST_COMPILE":
            return results
        broken = [FAULTS[fault](result) for result in results]
        if fault == "other dtype":
            return broken
        return [new.astype(old.dtype) for new, old in zip(broken, results, strict=True)]

    return falsify


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_a_fault_is_found():
    """In each of these graphs, of either dtype, with derivatives and without."""
    compare, seen = Comparison(["FAST_COMPILE"]), set()
    for program in KINDS:
        graph = random_graph(program * SIZES + 1)
        for fault in FAULTS:
            compare.falsify = falsified(fault)
            verdict = compare(graph)
            assert list(verdict.wrong) == ["FAST_COMPILE"], f"{fault}\n{graph}"
        seen.add((graph.dtype, graph.order))
    assert len(seen) == 6


@pytest.mark.slow
def test_rounding_is_no_fault():
    """A last bit that differs, and an output that cancels to nothing but rounding."""
    cancelling = Graph(
        0,
        "float32",
        False,
        {"b": 5, "n": 60},
        (("b", "n", "n"),),
        (Step("matmul", (0, 0)), Step("einsum", (0, 0), ("bij,bjk->bik",)),
         Step("elementwise2", (1, 2), ("subtract",))),
    )  # fmt: skip

    def falsify(linker, results):
        if linker != "FAST_COMPILE":
            return results
        return [result * np.asarray(1 + 3e-7, result.dtype) for result in results]

    compare = Comparison(["FAST_COMPILE"], falsify)
    for graph in [cancelling, *(random_graph(program * SIZES + 1) for program in KINDS)]:
        if graph.dtype == "float32":
            assert not compare(graph).wrong, graph


@dataclass(frozen=True)
class Filled(Graph):
    """A graph whose inputs are one number, repeated."""

    value: float = 0

    def values(self):
        return [np.full(shape, self.value, self.dtype) for shape in self.shapes()]


@pytest.mark.slow
def test_a_sum_of_one_number_after_the_other_is_no_fault():
    """As XLA adds, where NumPy adds in pairs: of numbers of both signs, and of equal ones."""
    compare = Comparison(["ONNX"])
    for number in range(120):
        graph = Graph(
            number, "float32", False, {"b": 7, "n": 60}, (("b", "n", "n"),),
            (Step("reduce", (0,), ("sum", None, False)),),
        )  # fmt: skip
        if number >= 60:
            graph = Filled(**vars(graph), value=graph.values()[0].flat[0])
        (values,) = graph.values()
        one_by_one = np.cumsum(values)[-1]  # in float32
        compare.falsify = lambda linker, results, s=one_by_one: (
            [np.broadcast_to(s, r.shape) for r in results] if linker == "ONNX" else results
        )
        assert not compare(graph).wrong, graph
        compare.falsify = lambda linker, results, s=one_by_one: (
            [np.broadcast_to(s * np.float32(1.01), r.shape) for r in results]
            if linker == "ONNX"
            else results
        )
        assert compare(graph).wrong, graph


@pytest.mark.slow
def test_smallest_graph():
    """A fault of products of 24 rows or more, found in a long program."""
    graph = next(
        graph
        for graph in map(random_graph, range(0, 10_000, SIZES))
        if len(graph.steps) > 4
        and graph.order
        and "matmul" in [step.operation for step in graph.steps[1:-1]]
        and graph.sizes.get("n", 0) > 24
    )

    def is_wrong(candidate):
        if not fits(candidate) or candidate.sizes.get("n", 0) < 24:
            return False
        return any(step.operation == "matmul" for step in candidate.steps)

    smallest = shrink(graph, is_wrong)
    assert [step.operation for step in smallest.steps] == ["matmul"]
    assert smallest.order == 0
    assert smallest.sizes["n"] == 24
    assert all(length == 1 for name, length in smallest.sizes.items() if name != "n")


CHILD = """#!{python}
import json, os, sys
start, count = (int(sys.argv[sys.argv.index(name) + 1]) for name in ("--start", "--graphs"))
for number in range(start, start + count):
    print(json.dumps({{"begun": number}}), flush=True)
    if number == 3:
        os.abort()
    verdict = {{"wrong": {{}}, "refused": {{}}, "vague": 0, "seconds": {{"ONNX": 1}}}}
    print(json.dumps({{"graph": number, **verdict}}), flush=True)
"""


def test_a_crash_is_the_graphs_and_the_run_goes_on(tmp_path, monkeypatch, capsys):
    child = tmp_path / "child"
    child.write_text(CHILD.format(python=sys.executable))
    child.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(child))
    options = SimpleNamespace(
        start=0, graphs=6, out=tmp_path / "o.json", linkers="ONNX", values=False
    )
    run = Run(options)
    for bounds in run.shards():
        run.shard(bounds)
    summary = summarize(run)
    assert summary["graphs"] == 6
    assert summary["crashed"] == [3]
    assert summary["linkers"]["ONNX"]["compared"] == 5
    assert "graph 3: process: the process ended with -6" in capsys.readouterr().out
    assert "1 ended the process: [3]" in table(summary)
    options.graphs = 8
    assert list(Run(options).shards()) == [(6, 8)]  # what is done is not done again
    assert json.dumps(summary)
