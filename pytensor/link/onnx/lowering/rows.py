"""Find where a graph computes one row of its data from others.

Of a model whose first axis is open, each row's result should be its own: one that is centred by the
mean of its data, say, has other results for a row as soon as others are sent with it.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.op import Op
from pytensor.graph.replace import clone_replace
from pytensor.link.onnx.errors import MixedRowsWarning
from pytensor.raise_op import CheckAndRaise
from pytensor.scan.op import Scan
from pytensor.tensor.basic import Alloc, ARange
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle
from pytensor.tensor.extra_ops import CumOp
from pytensor.tensor.math import Argmax, Dot
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.shape import Reshape, Shape, Shape_i
from pytensor.tensor.sort import ArgSortOp, SortOp
from pytensor.tensor.special import LogSoftmax, Softmax
from pytensor.tensor.subtensor import AdvancedSubtensor, Subtensor, indices_from_subtensor
from pytensor.tensor.topk import TopK

# By axis, the names of the data whose rows lie along it.
Rows = dict[int, frozenset[str]]


@dataclass
class MixedRows:
    """Where the rows of data are mixed.

    Attributes
    ----------
    nodes : list of (Apply, set of str)
        Reductions, cumulations, sorts, scans, products and picks over rows, and the names of the
        data, in topological order.
    rows : dict of Variable to dict of int to frozenset of str
        The axes along which a variable has rows, and the names of their data.
    statistics : set of Variable
        What follows from such nodes and has no rows itself.
    ends : list of Variable
        The last of them on the way to an output: what is to be replaced by the value that it has
        for other data.
    """

    nodes: list[tuple[Apply, set[str]]] = field(default_factory=list)
    rows: dict[Variable, Rows] = field(default_factory=dict)
    statistics: set[Variable] = field(default_factory=set)
    ends: list[Variable] = field(default_factory=list)

    def __str__(self) -> str:
        said = dict.fromkeys(
            f"{node.op} over the rows of {', '.join(map(repr, sorted(names)))}"
            for node, names in self.nodes
        )
        return "; ".join(said)


def find_mixed_rows(outputs: Sequence[Variable], inputs: Mapping[Variable, str]) -> MixedRows:
    """Find where the rows of `inputs`, their first axes, are mixed on the way to `outputs`.

    Checks and shapes don't count.  Of Ops that this module doesn't know, results have their rows
    where the first input has them.

    Parameters
    ----------
    outputs : sequence of Variable
    inputs : dict of Variable to str
        Names of the data.
    """
    found = MixedRows(rows={v: {0: frozenset([name])} for v, name in inputs.items()})
    for node, mixed in _mixing(outputs, found.rows):
        if mixed:
            found.nodes.append((node, mixed))
        if mixed or not found.statistics.isdisjoint(_read(node)):
            found.statistics |= {v for v in node.outputs if not found.rows[v]}
    wanted = dict.fromkeys(v for v in outputs if v in found.statistics)
    for node in _order(outputs, inputs):
        if found.statistics.isdisjoint(node.outputs):
            wanted |= dict.fromkeys(v for v in _read(node) if v in found.statistics)
    found.ends = list(wanted)
    return found


def with_statistics_of(outputs: Sequence[Variable], inputs: Mapping[Variable, Variable]) -> Any:
    """Compute what is made of all rows of `inputs` from other data instead.

    Parameters
    ----------
    outputs : sequence of Variable
    inputs : dict of Variable to Variable
        And the data that statistics are taken of.

    Raises
    ------
    ValueError
        If rows are mixed where each has a result of its own, as by a cumulative sum.
    """
    found = find_mixed_rows(outputs, {v: str(v.name) for v in inputs})
    if kept := [node for node, _ in found.nodes if found.statistics.isdisjoint(node.outputs)]:
        raise ValueError(f"{kept[0].op} has a result for each row: no other data's can replace it")
    replaced = clone_replace(found.ends, dict(inputs)) if found.ends else []
    return clone_replace(list(outputs), dict(zip(found.ends, replaced, strict=True)))


def warn_of_mixed_rows(outputs: Sequence[Variable], inputs: Mapping[Variable, str]) -> None:
    """Warn where a graph mixes the rows of `inputs`, which are given with their names."""
    mixed = find_mixed_rows(outputs, inputs)
    if mixed.nodes:
        warnings.warn(
            f"a row's result depends on the other rows that the model is given with it: {mixed}",
            MixedRowsWarning,
            stacklevel=4,
        )


def _read(node: Apply) -> list[Variable]:
    """List the inputs whose values count."""
    if isinstance(node.op, CheckAndRaise | Alloc):
        return node.inputs[:1]
    if isinstance(node.op, RandomVariable):
        return list(node.op.dist_params(node))
    return [] if isinstance(node.op, Shape | Shape_i) else node.inputs


def _order(outputs: Iterable[Variable], known: Iterable[Variable]) -> list[Apply]:
    """Sort the nodes that values of `outputs` come from topologically."""
    order: dict[Apply, None] = {}
    stop, waiting = set(known), [(v.owner, False) for v in outputs if v.owner and v not in known]
    while waiting:
        node, ready = waiting.pop()
        if ready:
            order[node] = None
        elif node not in order:
            waiting.append((node, True))
            waiting += [(v.owner, False) for v in _read(node) if v.owner and v not in stop]
    return list(order)


def _mixing(outputs: Iterable[Variable], rows: dict[Variable, Rows]) -> Iterator[Any]:
    """Add the rows of what `outputs` come from; yield each node, and the names of what it mixes."""
    for node in _order(outputs, rows):
        read = _read(node)
        given = [rows.get(v, {}) if v in read else {} for v in node.inputs]
        results, mixed = rows_of(node.op, node, given)
        rows |= dict(zip(node.outputs, results, strict=True))
        yield node, mixed


def _shifted(rows: Rows, by: int) -> Rows:
    return {axis + by: names for axis, names in rows.items() if axis + by >= 0}


def _merged(rows: Iterable[Rows]) -> Rows:
    merged: Rows = {}
    for each in rows:
        for axis, names in each.items():
            merged[axis] = merged.get(axis, frozenset()) | names
    return merged


def _names(rows: Rows) -> set[str]:
    return set().union(*rows.values())


def _aligned(node: Apply, rows: Sequence[Rows], ndim: int) -> Rows:
    """Return the rows of all inputs, whose last axes are an output's."""
    pairs = zip(node.inputs, rows, strict=True)
    return _merged(_shifted(r, ndim - v.type.ndim) for v, r in pairs if r)


@singledispatch
def rows_of(op: Op, node: Apply, rows: Sequence[Rows]) -> tuple[list[Rows], set[str]]:
    """Return the rows of a node's outputs, and the names of those that it mixes."""
    ndims = [getattr(v.type, "ndim", 0) for v in node.outputs]
    return [_aligned(node, rows, ndim) for ndim in ndims], set()


@rows_of.register(Shape)
@rows_of.register(Shape_i)
def rows_of_Shape(op, node, rows):
    return [{}], set()


@rows_of.register(DimShuffle)
def rows_of_DimShuffle(op, node, rows):
    places = {axis: to for to, axis in enumerate(op.new_order) if axis != "x"}
    return [{places[a]: names for a, names in rows[0].items() if a in places}], set()


@rows_of.register(CAReduce)
@rows_of.register(Argmax)
def rows_of_reduction(op, node, rows):
    ndim = node.inputs[0].type.ndim
    axes = set(range(ndim)) if op.axis is None else {axis % ndim for axis in op.axis}
    kept = {a: to for to, a in enumerate(sorted(set(range(ndim)) - axes))}
    mixed = _names({a: names for a, names in rows[0].items() if a in axes})
    result = {kept[a]: names for a, names in rows[0].items() if a in kept}
    return [result] * len(node.outputs), mixed


@rows_of.register(CumOp)
@rows_of.register(SortOp)
@rows_of.register(ArgSortOp)
@rows_of.register(Softmax)
@rows_of.register(LogSoftmax)
def rows_of_function_along_axes(op, node, rows):
    ndim = node.inputs[0].type.ndim
    given = range(ndim) if op.axis is None else op.axis
    axes = {axis % ndim for axis in (given if hasattr(given, "__iter__") else [given])}
    return [rows[0]], _names({a: names for a, names in rows[0].items() if a in axes})


@rows_of.register(TopK)
def rows_of_TopK(op, node, rows):
    axis = op.axis % node.inputs[0].type.ndim
    result = {a: names for a, names in rows[0].items() if a != axis}
    return [result] * len(node.outputs), set(rows[0].get(axis, ()))


@rows_of.register(Dot)
def rows_of_Dot(op, node, rows):
    x, y = (v.type.ndim for v in node.inputs)
    summed = (x - 1, max(y - 2, 0))
    mixed = {*rows[0].get(summed[0], ()), *rows[1].get(summed[1], ())}
    left = {a: names for a, names in rows[0].items() if a != summed[0]}
    right = {a + x - 2: names for a, names in rows[1].items() if a != summed[1]}
    return [_merged([left, right])], mixed


@rows_of.register(Blockwise)
def rows_of_Blockwise(op, node, rows):
    sizes = [len(signature) for signature in op.inputs_sig]
    batches, cores = [], []
    for v, r, size in zip(node.inputs, rows, sizes, strict=True):
        start = v.type.ndim - size
        batches.append({a - start: names for a, names in r.items() if a < start})
        cores.append({a - start: names for a, names in r.items() if a >= start})
    if isinstance(op.core_op, Dot):
        core_node = op._create_dummy_core_node(node.inputs)
        results, mixed = rows_of_Dot(op.core_op, core_node, cores)
    else:
        results, mixed = [{} for _ in node.outputs], _names(_merged(cores))
    outputs = []
    for v, signature, result in zip(node.outputs, op.outputs_sig, results, strict=True):
        start = v.type.ndim - len(signature)
        outputs.append(_merged([*(_shifted(b, start) for b in batches), _shifted(result, start)]))
    return outputs, mixed


@rows_of.register(RandomVariable)
def rows_of_RandomVariable(op, node, rows):
    batches, mixed, ndim = [], set(), node.outputs[1].type.ndim - op.ndim_supp
    for v, r, core in zip(node.inputs[2:], rows[2:], op.ndims_params, strict=True):
        start = v.type.ndim - core
        mixed |= _names({a: names for a, names in r.items() if a >= start})
        batches.append({a + ndim - start: names for a, names in r.items() if a < start})
    return [{}, _merged(batches)], mixed


@rows_of.register(Reshape)
def rows_of_Reshape(op, node, rows):
    return [{0: rows[0][0]} if 0 in rows[0] else {}], set()


@rows_of.register(Subtensor)
@rows_of.register(AdvancedSubtensor)
def rows_of_Subtensor(op, node, rows):
    places = iter(range(1, len(node.inputs)))
    entries = indices_from_subtensor([next(places) for _ in node.inputs[1:]], op.idx_list)
    picked = [node.inputs[entry] for entry in entries if not isinstance(entry, slice)]
    width = max((v.type.ndim for v in picked), default=0)  # axes of the result that they make
    parts, mixed, to, first = [], set(), 0, None
    rest = node.inputs[0].type.ndim - len(entries)
    for axis, entry in enumerate((*entries, *[slice(None)] * rest)):
        here = rows[0].get(axis, frozenset())
        if isinstance(entry, slice):
            start = None if entry.start is None else node.inputs[entry.start]
            if isinstance(start, Constant) and start.data:
                mixed |= set(here)  # as in a difference between rows
            parts.append({to: here} if here else {})
            to += 1
            continue
        if first is None:
            first, to = to, to + width
        index = node.inputs[entry]
        begin = first + width - index.type.ndim
        if (own := _axis_of_first_entries(index)) is None:
            mixed |= set(here)  # a row that is picked
        elif here:
            parts.append({begin + own: here})
        parts.append(_shifted(rows[entry], begin))
    return [_merged(parts)], mixed


def _axis_of_first_entries(index):
    """Return along which axis an index is 0, 1, 2 and so on; None if it isn't."""
    # A number's type, of a scalar, has no shape.
    ones = getattr(index.type, "broadcastable", ())
    axes = [axis for axis, is_one in enumerate(ones) if not is_one]
    if index.owner is not None and isinstance(index.owner.op, DimShuffle | Reshape):
        index = index.owner.inputs[0]
    if index.owner is None or not isinstance(index.owner.op, ARange) or len(axes) != 1:
        return None
    first, _, step = index.owner.inputs
    known = isinstance(first, Constant) and isinstance(step, Constant)
    return axes[0] if known and first.data == 0 and step.data == 1 else None


@rows_of.register(Scan)
def rows_of_Scan(op, node, rows):
    sequences = _merged(rows[1 : 1 + op.info.n_seqs])
    along = {0: sequences[0]} if 0 in sequences else {}
    states = op.info.n_mit_mot + op.info.n_mit_sot + op.info.n_sit_sot
    return [along] * len(node.outputs), set(_names(along)) if states else set()


@rows_of.register(OpFromGraph)
def rows_of_OpFromGraph(op, node, rows):
    known = dict(zip(op.fgraph.inputs, rows, strict=True))
    mixed = set().union(*(names for _, names in _mixing(op.fgraph.outputs, known)))
    return [known.get(v, {}) for v in op.fgraph.outputs], mixed
