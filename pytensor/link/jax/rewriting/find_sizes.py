"""Find the integers that decide lengths, in a graph that is rewritten for JAX.

XLA compiles a program for arrays of known lengths.  Lengths that are computed from lengths of
arrays are known while JAX traces.  Others are computed from integers: inputs and shared variables.
`find_sizes` returns the integers that must be numbers of the program.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce, singledispatch
from operator import or_
from weakref import WeakKeyDictionary

from pytensor.compile.builders import OpFromGraph
from pytensor.conditional.op import IfElse, LazyIfElse
from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import AbstractFunctionGraph, FrozenFunctionGraph
from pytensor.link.jax.rewriting.host_integers import behind, in_order, is_leaf, leaves
from pytensor.scalar.basic import ScalarType
from pytensor.scan.op import Scan
from pytensor.tensor.basic import Alloc, AllocEmpty, ARange, Eye, Nonzero, Split
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.extra_ops import Bartlett, Repeat, Unique
from pytensor.tensor.fft import IRFFTOp, RFFTOp
from pytensor.tensor.pad import Pad
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.shape import Reshape, SpecifyShape
from pytensor.tensor.signal.conv import Convolve1d
from pytensor.tensor.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
)
from pytensor.tensor.type import TensorType, discrete_dtypes

__all__ = [
    "Sizes", "Undecided", "choice_inputs", "deciding_inputs", "find_sizes",
    "known_places_of_scan", "length_inputs", "nodes_of_lengths", "undecided_lengths",
    "variable_choices", "variable_lengths",
]  # fmt: skip

# What a variable is computed from, as bits: integers of inputs; lengths of arrays that the graph
# computes; values that only the device has.
INTEGERS, INNER_LENGTHS, ON_DEVICE = 1, 2, 4
# Only arrays of fewer elements become numbers of a program; for others those that they follow from
# do, and the rest is computed while JAX traces.  An array of unknown length never does.
FEW = 64


@dataclass(frozen=True)
class Undecided:
    """A length that depends on values that only the device has.

    Attributes
    ----------
    node : Apply
        Whose output has that length.
    variable : Variable
        The input of `node` that decides it.
    within : tuple of Apply
        Of whose inner graphs `node` is part, the outermost first.
    """

    node: Apply
    variable: Variable
    within: tuple[Apply, ...] = ()


@dataclass(frozen=True)
class Sizes:
    """Say what the lengths of a graph depend on, besides the lengths of its inputs.

    Attributes
    ----------
    variables : tuple of Variable
        Of the graph: what must be a number of the program.  Each is computed from `roots` and from
        lengths of inputs.
    roots : tuple of Variable
        The inputs of the graph, shared variables among them, from whose values those follow.
    undecided : tuple of Undecided
        What XLA can't do.
    """

    variables: tuple[Variable, ...] = ()
    roots: tuple[Variable, ...] = ()
    undecided: tuple[Undecided, ...] = ()


@singledispatch
def length_inputs(op, node: Apply) -> Iterable[int]:
    """Return the places of the inputs whose values decide a length of a node's outputs.

    It is asked about the node that reads an integer, such as the shape of an `Alloc`, not about the
    one that computes it.  Register an Op of yours if an integer decides a length of its outputs;
    one that isn't registered is taken to have no such input.  For an Op with an inner graph, these
    are the places that decide a length of any node in it.

    Examples
    --------
    ::

        @length_inputs.register(MyRepeat)
        def _(op, node):
            return (1,)
    """
    return ()


for _op_class, _places in {
    Alloc: slice(1, None),
    AllocEmpty: slice(None),
    ARange: slice(None),
    Bartlett: slice(None),
    Convolve1d: slice(2, 3),  # whether it is a full convolution
    Eye: slice(2),
    IRFFTOp: slice(1, 2),
    Pad: slice(1, 2),
    Repeat: slice(1, 2),
    Reshape: slice(1, 2),
    RFFTOp: slice(1, 2),
    SpecifyShape: slice(1, None),
    Split: slice(1, 2),
}.items():
    length_inputs.register(
        _op_class, lambda op, node, places=_places: range(len(node.inputs))[places]
    )


@length_inputs.register(Nonzero)
@length_inputs.register(Unique)
def _(op, node):
    return () if all(None not in v.type.shape for v in node.outputs) else (0,)


@length_inputs.register(RandomVariable)
def _(op, node):
    known = node.outputs[1].type.shape[: op.batch_ndim(node)]
    return (1,) if None in known else ()


@length_inputs.register(Subtensor)
@length_inputs.register(IncSubtensor)
@length_inputs.register(AdvancedSubtensor)
@length_inputs.register(AdvancedIncSubtensor)
def _(op, node):
    before = 1 if isinstance(op, Subtensor | AdvancedSubtensor) else 2
    places = []
    for entry in op.idx_list:
        if isinstance(entry, slice):
            bounds = (entry.start, entry.stop, entry.step)
            places += [before + k for k in bounds if k is not None]
        elif getattr(node.inputs[before + entry].type, "dtype", None) == "bool":
            places.append(before + entry)
    return places


@length_inputs.register(Blockwise)
def _(op, node):
    of_core = length_inputs.dispatch(type(op.core_op))
    if of_core is length_inputs.dispatch(object):
        return ()
    core = op._create_dummy_core_node(node.inputs, propagate_unbatched_core_inputs=True)
    return of_core(op.core_op, core)


@length_inputs.register(OpFromGraph)
def _(op, node):
    return _within(op.fgraph).deciding


@length_inputs.register(LazyIfElse)
def _(op, node):
    return sorted({1 + k for graph in _branches(op) for k in _within(graph).deciding})


@length_inputs.register(Scan)
def _(op, node):
    places = known_places_of_scan(op)
    steps = [] if op.info.as_while else [0]
    own = op.outer_nitsot(list(range(op.n_outer_inputs)))
    return sorted({*steps, *own, *(places[k] for k in _within_scan(op).deciding)})


@singledispatch
def choice_inputs(op, node: Apply) -> Iterable[int]:
    """Return the places of a node's inputs that choose between arrays of different lengths.

    Or within.  They are made numbers of the program where they can be; else JAX has both arrays,
    and takes them if their lengths are the same.
    """
    return ()


@choice_inputs.register(IfElse)
def _(op, node):
    then, other = node.inputs[1 : 1 + op.n_outs], node.inputs[1 + op.n_outs :]
    return (0,) if _may_differ(then, other) else ()


@choice_inputs.register(LazyIfElse)
def _(op, node):
    true, false = _branches(op)
    own = [0] if _may_differ(true.outputs, false.outputs) else []
    return sorted({*own, *(1 + k for graph in (true, false) for k in _within(graph).choosing)})


@choice_inputs.register(OpFromGraph)
def _(op, node):
    return _within(op.fgraph).choosing


@choice_inputs.register(Scan)
def _(op, node):
    places = known_places_of_scan(op)
    # A condition that changes from step to step isn't worth steps that are traced one by one.
    choosing = (k for k in _within_scan(op).choosing if k >= op.info.n_seqs)
    return sorted(places[k] for k in choosing)


def _may_differ(variables: Iterable[Variable], others: Iterable[Variable]) -> bool:
    """Return whether lengths of two lists of arrays aren't known to be the same, pair by pair."""
    for one, other in zip(variables, others, strict=True):
        shape = getattr(one.type, "shape", ())  # a generator's type has none
        if one is not other and (None in shape or shape != getattr(other.type, "shape", ())):
            return True
    return False


@singledispatch
def undecided_lengths(op, node: Apply) -> Iterable[Undecided]:
    """Return the lengths of a node's outputs, or within, that no input decides on the host."""
    return ()


@undecided_lengths.register(OpFromGraph)
def _(op, node):
    return _around(node, _within(op.fgraph).undecided)


@undecided_lengths.register(LazyIfElse)
def _(op, node):
    return _around(node, [one for graph in _branches(op) for one in _within(graph).undecided])


@undecided_lengths.register(Scan)
def _(op, node):
    ends = op.fgraph.outputs[-1].owner_op
    if op.info.as_while and _traces(op.info) and not getattr(ends, "all_rows", False):
        return [Undecided(node, node.outputs[0])]
    return _around(node, _within_scan(op).undecided)


def _around(node: Apply, undecided: Iterable[Undecided]) -> list[Undecided]:
    return [Undecided(one.node, one.variable, (node, *one.within)) for one in undecided]


def _branches(op: LazyIfElse) -> list[AbstractFunctionGraph]:
    return [op.true_branch.fgraph, op.false_branch.fgraph]


def _traces(info) -> int:
    """Return how many results of a loop have a row for each step."""
    return info.n_mit_mot + info.n_mit_sot + info.n_sit_sot + info.n_nit_sot


def known_places_of_scan(op: Scan) -> dict[int, int]:
    """Return the outer input of each inner one that can be known, by their places.

    They are what is the same for all steps, and sequences, whose steps can be traced one by one.
    """
    outer = op.outer_non_seqs(list(range(op.n_outer_inputs)))
    inner = op.inner_non_seqs(list(range(len(op.fgraph.inputs))))
    sequences = 0 if op.info.as_while else op.info.n_seqs
    return {k: k + 1 for k in range(sequences)} | dict(zip(inner, outer, strict=True))


@dataclass(frozen=True)
class _Within:
    """Hold what places of a graph's inputs decide in it, and lengths that none decides."""

    deciding: tuple[int, ...] = ()  # a length
    choosing: tuple[int, ...] = ()  # between arrays of different lengths
    undecided: tuple[Undecided, ...] = ()


# Many nodes share an inner graph.
_known: WeakKeyDictionary[FrozenFunctionGraph, dict[tuple[int, ...], _Within]] = WeakKeyDictionary()


def _within_scan(op: Scan) -> _Within:
    known = known_places_of_scan(op)
    return _within(op.fgraph, tuple(k for k in range(len(op.fgraph.inputs)) if k not in known))


def _within(fgraph: AbstractFunctionGraph, on_device: tuple[int, ...] = ()) -> _Within:
    """Look at an inner graph; the inputs at some places are on the device."""
    if not isinstance(fgraph, FrozenFunctionGraph):
        return _look_within(fgraph, on_device)
    known = _known.setdefault(fgraph, {})
    if on_device not in known:
        known[on_device] = _look_within(fgraph, on_device)
    return known[on_device]


def _look_within(fgraph: AbstractFunctionGraph, on_device: tuple[int, ...]) -> _Within:
    origins = _Origins(fgraph, [fgraph.inputs[k] for k in on_device])
    lengths, choices, undecided = _look_at(fgraph.toposort(), origins)

    def places(variables):
        roots = set(origins.roots(variables))
        return tuple(k for k, v in enumerate(fgraph.inputs) if v in roots and k not in on_device)

    choosing = [variable for variable in choices if not origins.of(variable) & ON_DEVICE]
    return _Within(places(lengths), places(choosing), undecided)


def deciding_inputs(fgraph: AbstractFunctionGraph) -> tuple[int, ...]:
    """Return the places of an inner graph's inputs that decide a length in it."""
    return _within(fgraph).deciding


def variable_lengths(nodes: Iterable[Apply]) -> list[tuple[Apply, Variable]]:
    """Return each node with each variable that decides a length in its outputs, but constants."""
    return _read_at(length_inputs, nodes)


def variable_choices(nodes: Iterable[Apply]) -> list[tuple[Apply, Variable]]:
    """Return each node with each variable that chooses between lengths there, but constants."""
    return _read_at(choice_inputs, nodes)


def _read_at(places, nodes: Iterable[Apply]) -> list[tuple[Apply, Variable]]:
    return [
        (node, node.inputs[place])
        for node in nodes
        for place in places(node.op, node)
        if not isinstance(node.inputs[place], Constant)
    ]


class _Origins:
    """Tells what the variables of a graph are computed from, by the bits above."""

    def __init__(self, fgraph: AbstractFunctionGraph, on_device: Iterable[Variable] = ()) -> None:
        self._inputs = set(fgraph.inputs)
        self._bits: dict[Variable, int] = dict.fromkeys(on_device, ON_DEVICE)

    def of(self, variable: Variable) -> int:
        """Return the bits of a variable; 0 if constants and lengths of inputs are enough."""
        for one in in_order([variable], self._bits):
            if one.owner is None:
                self._bits[one] = INTEGERS if _may_be_size(one) else ON_DEVICE
            elif getattr(one.owner.op, "is_of_device", False):
                self._bits[one] = ON_DEVICE
            elif is_leaf(one):
                self._bits[one] = 0 if one.owner.inputs[0] in self._inputs else INNER_LENGTHS
            else:
                self._bits[one] = reduce(or_, (self._bits.get(v, 0) for v in one.owner.inputs))
        return self._bits.get(variable, 0)

    def roots(self, variables: Iterable[Variable]) -> tuple[Variable, ...]:
        """Return the inputs of a graph from whose values these variables are computed."""
        return tuple(v for v in leaves(variables) if self.of(v) & INTEGERS)


def _look_at(
    order: list[Apply], origins: _Origins
) -> tuple[list[Variable], list[Variable], tuple[Undecided, ...]]:
    """Return what decides lengths, what chooses between them, and what the host can't decide."""
    lengths = variable_lengths(order)
    undecided = [one for node in order for one in undecided_lengths(node.op, node)]
    undecided += [Undecided(node, v) for node, v in lengths if origins.of(v) & ON_DEVICE]
    return [v for _, v in lengths], [v for _, v in variable_choices(order)], tuple(undecided)


def _may_be_size(variable: Variable) -> bool:
    """Return whether an input can decide lengths: integers, or a single number."""
    type_ = variable.type
    if not isinstance(type_, TensorType | ScalarType):
        return False
    return type_.dtype in discrete_dtypes or type_.ndim == 0


def _is_small(variable: Variable) -> bool:
    elements = 1
    for length in variable.type.shape:
        elements *= FEW if length is None else length
    return elements < FEW


def find_sizes(fgraph: AbstractFunctionGraph, order: list[Apply]) -> Sizes:
    """Find the variables that must be numbers of the program, because a length depends on them.

    They are as close to the length as possible, so that few values make few programs: ``n // 2``
    rather than ``n``.

    Parameters
    ----------
    fgraph : FunctionGraph
        After all rewrites.
    order : list of Apply
        Its nodes.
    """
    origins = _Origins(fgraph)
    lengths, choices, undecided = _look_at(order, origins)
    found: dict[Variable, None] = {}
    seen: set[Variable] = set()
    waiting = [*reversed(lengths + choices)]
    while waiting:
        variable = waiting.pop()
        if variable in seen:
            continue
        seen.add(variable)
        bits = origins.of(variable)
        if not bits & INTEGERS or bits & ON_DEVICE:
            continue
        if variable.owner is None or (bits == INTEGERS and _is_small(variable)):
            found[variable] = None
        else:
            waiting += reversed(variable.owner.inputs)
    return Sizes(tuple(found), origins.roots(found), undecided)


def nodes_of_lengths(
    fgraph: AbstractFunctionGraph, lengths: list[tuple[Apply, Variable]]
) -> set[Apply]:
    """Return the nodes that compute lengths, but those that values on the device decide.

    `lengths` comes from `variable_lengths`, and perhaps from `variable_choices`.
    """
    if not lengths:
        return set()
    origins = _Origins(fgraph)
    decided = [v for _, v in lengths if not origins.of(v) & ON_DEVICE]
    return {v.owner for v in behind(decided) if not is_leaf(v)}
