"""`compare_runtimes`: which runtime computes a model wrongly, and from which node on."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import onnx
from pytensor.link.onnx.compare.base import Runtime, RuntimeFailure
from pytensor.link.onnx.compare.exact import ExactNodes
from pytensor.link.onnx.compare.expected import Difference, Expected
from pytensor.link.onnx.compare.graph import ComparisonError, Model
from pytensor.link.onnx.compare.inputs import Case, checked, edge_cases, ordinary_cases
from pytensor.link.onnx.compare.runtimes import DEFAULT, open_runtimes
from pytensor.link.onnx.compare.search import Fault, Grown, Search
from pytensor.link.onnx.compare.smallest import Smallest, smallest_model


@dataclass
class Report:
    """What was found of one runtime with one case of inputs.

    Attributes
    ----------
    runtime, case : str
        Their names.
    node : str or None
        The first node that exceeds its bound, by operator and name; of a fusion, the first of its.
    nodes : list of str
        All nodes of a fusion; else that one.
    fused : bool
        The fault is there only while no value between the nodes is an output.
    difference : Difference or None
        From what the node should make of its inputs.
    used : float
        Where all is right: how much the outputs use of what rounding may do to them, at most.
    grown : str or None
        The output that is beyond what rounding may do, though no node is beyond its bound.
    failure, skipped : str or None
        Why the runtime doesn't run the model; the same with edge values, which it may refuse.
    dependents : int
        How many nodes depend on what the node makes.
    outputs : list of str
        The outputs that do.
    smallest : Smallest or None
        A model of at most three nodes that still differs.
    script : str
        Lines of Python that run a model in that runtime.
    """

    runtime: str
    case: str
    node: str | None = None
    nodes: Sequence[str] = ()
    fused: bool = False
    difference: Difference | None = None
    used: float = 0.0
    grown: str | None = None
    failure: str | None = None
    skipped: str | None = None
    dependents: int = 0
    outputs: Sequence[str] = ()
    smallest: Smallest | None = None
    script: str = ""

    @property
    def wrong(self) -> bool:
        """Whether a node is wrong, or the model doesn't run."""
        return self.node is not None or self.failure is not None


def compare_runtimes(
    model: str | os.PathLike[str] | bytes | onnx.ModelProto,
    inputs: Mapping[str, Any] | None = None,
    runtimes: Sequence[str | Callable[..., Any]] = DEFAULT,
    *,
    ort_web: str | os.PathLike[str] | None = None,
    edges: bool = False,
    seed: int = 0,
    sizes: Mapping[str, int] | None = None,
) -> list[Report]:
    """Find which runtime computes a model wrongly, and the first node that it gets wrong.

    Each runtime gets the model as it is.  Where its outputs are further from values in double
    precision than rounding explains, intermediate values are asked for, a few at a time, because a
    runtime fuses no nodes between which a value is an output.  An error belongs to the node that
    makes it: each is compared with what it should make of the inputs that it got.

    Parameters
    ----------
    model : str, path, bytes or onnx.ModelProto
    inputs : dict of str to array, optional
        By the model's names.  By default the folders ``test_data_set_N`` next to the file, or else
        random numbers.
    runtimes : list of str or callable
        "ort", "ort-basic", "ort-off": onnxruntime with all, basic and no optimizations;
        "web-wasm", "web-webgpu": onnxruntime-web in a Chromium; "reference": onnx's evaluator; any
        other text is a program, to which ``MODEL.onnx INPUTS.npz OUTPUTS.npz`` is appended.  A
        function gets the ModelProto and the inputs, and returns the outputs, both by name.
    ort_web : path, optional
        The folder of npm's package onnxruntime-web, for the web ones.
    edges : bool
        Also try zeros, ties, subnormal numbers, infinities, NaN, and lengths 1 and 0.
    seed : int
        Of the random numbers.
    sizes : dict of str to int, optional
        Lengths of axes that the model leaves open, by their names; others have 2.

    Returns
    -------
    list of Report
        For each case of inputs, one of each runtime.

    Raises
    ------
    ComparisonError
        If the model has a node that `from_onnx` can't read, or random ones; a ValueError.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor.link.onnx import export_onnx
    >>> from pytensor.link.onnx.compare import compare_runtimes
    >>> x = pt.matrix("x", dtype="float32", shape=(2, 3))
    >>> [report] = compare_runtimes(export_onnx([x], [pt.exp(x) * 2]), runtimes=["ort"])
    >>> report.wrong
    False
    """
    read = Model.read(model)
    if inputs is not None:
        cases = [Case("the inputs given", checked(read, inputs))]
    else:
        path = model if isinstance(model, str | os.PathLike) else None
        cases = ordinary_cases(read, path, seed, sizes or {})
    more = edge_cases(read, seed, sizes or {}) if edges else []
    return list(reports(read, chain(cases, more), runtimes, ort_web))


def reports(
    model: Model, cases: Iterable[Case], runtimes: Sequence[Any], ort_web: Any = None
) -> Iterator[Report]:
    """Yield a report for each case and runtime."""
    opened = open_runtimes(runtimes, ort_web)
    reader = ExactNodes(model.opsets)
    try:
        for case in cases:
            try:
                expected = Expected(model, case.inputs, reader)
                for runtime in opened:
                    yield report(runtime, expected, case)
            except ComparisonError as error:
                if not case.is_edge:
                    raise
                yield Report("all", case.name, skipped=str(error))
    finally:
        for runtime in opened:
            runtime.close()


def report(runtime: Runtime, expected: Expected, case: Case) -> Report:
    """Return what is found of one runtime with one case."""
    search = Search(runtime, expected, case.inputs)
    made = Report(runtime.name, case.name, script=runtime.script)
    try:
        values = search.record([])
        found = search.find(values)
    except RuntimeFailure as error:
        reason = " ".join(str(error).split())
        made.skipped, made.failure = (reason, None) if case.is_edge else (None, reason)
        return made
    made.used = max((expected.used(n, values[n]) for n in expected.model.outputs), default=0.0)
    if isinstance(found, Grown):
        made.grown, made.difference = found.output, found.difference
    if isinstance(found, Fault):
        labels = [expected.model.label(i) for i in found.nodes]
        made.node, made.nodes, made.fused = labels[0], labels, found.fused
        made.difference = found.difference
        made.dependents, made.outputs = expected.model.dependents(found.nodes[0])
        made.smallest = smallest_model(runtime, expected, found)
    return made
